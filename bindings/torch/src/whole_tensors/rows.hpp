#pragma once
// Rows of whole tensors as torch tensors: reads and writes through the C interface.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "syncyte/tensor.h"

namespace syncyte::torch_binding {

/// The whole tensor that a schema's integer stands for.
inline syncyte_tensor_t handle(std::int64_t number) { return reinterpret_cast<syncyte_tensor_t>(number); }

/// Gathered rows without data. `local` has the shape and type of this rank's rows.
at::Tensor gathered_meta(const at::Tensor& local, const at::Tensor& index);

/// tensor[index], a new tensor of local's element type.
at::Tensor gather_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& local);

/// tensor[index] += rows.
void add_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& rows);

/// Updates tensor[index] by the tensor's optimizer.
void update_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& gradients);

}  // namespace syncyte::torch_binding
