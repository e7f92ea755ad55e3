#include "whole_tensors/rows.hpp"

#include <ATen/ops/empty.h>

#include "tensors/buffers.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {

at::IValue reference_to(std::int64_t tensor) {
  return tensor == 0 ? at::IValue() : capsule_of<tensor_reference>(tensor);
}

syncyte_status_t gather_rows(syncyte_tensor_t tensor, const at::Tensor& index, const at::Tensor& local,
                             at::Tensor& result) {
  const at::Tensor rows = index.contiguous();
  at::Tensor target = empty_from_pool(gathered_sizes(rows.sizes(), local.sizes()), local.scalar_type());
  const syncyte_buffer_t from = buffer_of(rows);
  const syncyte_buffer_t to = buffer_of(target);
  const syncyte_status_t status = syncyte_tensor_gather(tensor, &from, &to);
  if (status == SYNCYTE_SUCCESS) result = std::move(target);
  return status;
}

syncyte_status_t add_rows(syncyte_tensor_t tensor, const at::Tensor& index, const at::Tensor& rows) {
  const at::Tensor where = index.contiguous();
  const at::Tensor what = rows.resolve_conj().contiguous();
  const syncyte_buffer_t from = buffer_of(where);
  const syncyte_buffer_t values = buffer_of(what);
  return syncyte_tensor_scatter_add(tensor, &from, &values);
}

at::Tensor gathered_meta(const at::Tensor& local, const at::Tensor& index) {
  return at::empty_symint(gathered_sizes(index.sym_sizes(), local.sym_sizes()), local.options());
}

}  // namespace syncyte::torch_binding
