// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Rows of whole tensors as torch tensors: reads and writes through the C++ interface.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "syncyte/tensor.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {

/// Gathered rows without data. `local` has the shape and type of this rank's rows.
at::Tensor gathered_meta(const at::Tensor& local, const at::Tensor& index);

/// tensor[index], a new tensor of local's element type.
at::Tensor gather_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& local);

/// tensor[index] += rows.
void add_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& rows);

/// Updates tensor[index] by the tensor's optimizer.
void update_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& gradients);

}  // namespace syncyte::torch_binding
