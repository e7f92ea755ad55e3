#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "operators/dispatched.hpp"
#include "syncyte.h"

namespace syncyte::torch_binding {

/// The whole tensor that a schema's integer stands for.
inline syncyte_tensor_t handle(std::int64_t number) { return reinterpret_cast<syncyte_tensor_t>(number); }

/// A reference to a whole tensor as something that an autograd node can save: the tensor lives as long as the graph
/// that will add to it or read it, also if its owner drops it first. 0 is no tensor.
at::IValue reference_to(std::int64_t tensor);

/// Shape of gathered rows: index's shape, then a row's.
template <class Sizes>
auto gathered_sizes(const Sizes& index, const Sizes& local) {
  TORCH_CHECK_VALUE(!local.empty(), "gather: local has no dimension; expected this rank's rows");
  auto sizes = index.vec();
  sizes.insert(sizes.end(), local.begin() + 1, local.end());
  return sizes;
}

/// tensor[index], a new tensor of local's element type. Writes `result` on success.
syncyte_status_t gather_rows(syncyte_tensor_t tensor, const at::Tensor& index, const at::Tensor& local,
                             at::Tensor& result);

/// tensor[index] += rows.
syncyte_status_t add_rows(syncyte_tensor_t tensor, const at::Tensor& index, const at::Tensor& rows);

/// Shape and element type of gathered rows, for tracing.
at::Tensor gathered_meta(const at::Tensor& local, const at::Tensor& index);

}  // namespace syncyte::torch_binding
