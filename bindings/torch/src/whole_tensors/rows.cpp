// SPDX-License-Identifier: BSD-3-Clause
#include "whole_tensors/rows.hpp"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>

#include "tensors/buffers.hpp"
#include "tensors/operation_memory.hpp"
#include "tensors/thread_stream.hpp"

namespace syncyte::torch_binding {
namespace {

/// Shape of gathered rows: index's shape, then a row's.
template <class Sizes>
auto gathered_sizes(const Sizes& index, const Sizes& local) {
  TORCH_CHECK_VALUE(!local.empty(), "gather: local has no dimension; expected this rank's rows");
  auto sizes = index.vec();
  sizes.insert(sizes.end(), local.begin() + 1, local.end());
  return sizes;
}

/// Calls a method that changes rows of a whole tensor.
void change_rows(void (syncyte::tensor::*change)(const const_buffer&, const const_buffer&) const, std::int64_t tensor,
                 const at::Tensor& index, const at::Tensor& rows) {
  const at::Tensor where = index.contiguous();
  const at::Tensor what = rows.resolve_conj().contiguous();
  const on_current_stream queued(rows.device());
  checked([&] { ((*object_of<syncyte::tensor>(tensor)).*change)(const_buffer_of(where), const_buffer_of(what)); });
}

}  // namespace

at::Tensor gathered_meta(const at::Tensor& local, const at::Tensor& index) {
  return at::empty_symint(gathered_sizes(index.sym_sizes(), local.sym_sizes()), local.options());
}

at::Tensor gather_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& local) {
  const at::Tensor rows = index.contiguous();
  const auto sizes = gathered_sizes(rows.sizes(), local.sizes());
  at::Tensor result = local.is_cpu() ? empty_from_pool(sizes, local.scalar_type()) : at::empty(sizes, local.options());
  const on_current_stream queued(local.device());
  checked([&] { object_of<syncyte::tensor>(tensor)->gather(const_buffer_of(rows), buffer_of(result)); });
  return result;
}

void add_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& rows) {
  // Kernels add in any order; torch.use_deterministic_algorithms() asks for an error, or a warning.
  if (!rows.is_cpu() && !at::isIntegralType(rows.scalar_type(), /*includeBool=*/true))
    at::globalContext().alertNotDeterministic("scatter_add of a whole tensor in device memory");
  change_rows(&syncyte::tensor::scatter_add, tensor, index, rows);
}

void update_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& gradients) {
  change_rows(&syncyte::tensor::apply_gradients, tensor, index, gradients);
}

}  // namespace syncyte::torch_binding
