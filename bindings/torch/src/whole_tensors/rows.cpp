#include "whole_tensors/rows.hpp"

#include <ATen/ops/empty.h>

#include "tensors/buffers.hpp"
#include "tensors/operation_memory.hpp"

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

/// Calls a function that changes rows of a whole tensor.
void change_rows(syncyte_status_t (*change)(syncyte_tensor_t, const syncyte_buffer_t*, const syncyte_buffer_t*),
                 std::int64_t tensor, const at::Tensor& index, const at::Tensor& rows) {
  const at::Tensor where = index.contiguous();
  const at::Tensor what = rows.resolve_conj().contiguous();
  const syncyte_buffer_t from = buffer_of(where);
  const syncyte_buffer_t values = buffer_of(what);
  check(change(handle(tensor), &from, &values));
}

}  // namespace

at::Tensor gathered_meta(const at::Tensor& local, const at::Tensor& index) {
  return at::empty_symint(gathered_sizes(index.sym_sizes(), local.sym_sizes()), local.options());
}

at::Tensor gather_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& local) {
  const at::Tensor rows = index.contiguous();
  at::Tensor result = empty_from_pool(gathered_sizes(rows.sizes(), local.sizes()), local.scalar_type());
  const syncyte_buffer_t from = buffer_of(rows);
  const syncyte_buffer_t to = buffer_of(result);
  check(syncyte_tensor_gather(handle(tensor), &from, &to));
  return result;
}

void add_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& rows) {
  change_rows(syncyte_tensor_scatter_add, tensor, index, rows);
}

void update_rows(std::int64_t tensor, const at::Tensor& index, const at::Tensor& gradients) {
  change_rows(syncyte_tensor_apply_gradients, tensor, index, gradients);
}

}  // namespace syncyte::torch_binding
