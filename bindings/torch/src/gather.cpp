// torch.ops.syncyte.gather and gather_collective: rows of a whole tensor, differentiable.
//
// y = G W, where W is the whole tensor and G selects rows: y_i = W[index_i]. The adjoint adds rows: Wbar = G^T ybar.
//
// gather:             any rank, any number of times. Backward adds ybar one-sided into a companion tensor; nothing
// flows to
//                     `local` (autograd.grad with respect to it therefore raises); sync_grad() brings the companion
//                     home.
// gather_collective:  a pure function of the ranks' `local` parts, called equally often by all ranks. Its adjoint
//                     adds into a scratch tensor, waits for all ranks, and returns the true gradient; differentiable
//                     twice, because each is the other's adjoint.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "buffers.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

syncyte_tensor_t handle(std::int64_t number) { return reinterpret_cast<syncyte_tensor_t>(number); }

template <class Signature>
auto find_op(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

/// Shape of gathered rows: index's shape, then a row's.
template <class Sizes>
auto gathered_sizes(const Sizes& index, const Sizes& local) {
  TORCH_CHECK_VALUE(!local.empty(), "gather: local has no dimension; expected this rank's rows");
  auto sizes = index.vec();
  sizes.insert(sizes.end(), local.begin() + 1, local.end());
  return sizes;
}

at::Tensor gather_rows(syncyte_tensor_t tensor, const at::Tensor& index, const at::Tensor& local) {
  const at::Tensor rows = index.contiguous();
  at::Tensor result = empty_from_pool(gathered_sizes(rows.sizes(), local.sizes()), local.scalar_type());
  const syncyte_buffer_t from = buffer_of(rows);
  const syncyte_buffer_t to = buffer_of(result);
  check(syncyte_tensor_gather(tensor, &from, &to));
  return result;
}

void add_rows(syncyte_tensor_t tensor, const at::Tensor& index, const at::Tensor& rows) {
  const at::Tensor where = index.contiguous();
  const at::Tensor what = rows.resolve_conj().contiguous();
  const syncyte_buffer_t from = buffer_of(where);
  const syncyte_buffer_t values = buffer_of(what);
  check(syncyte_tensor_scatter_add(tensor, &from, &values));
}

/// This rank's part of a whole tensor, in place.
syncyte_buffer_t local_part(syncyte_tensor_t tensor) {
  syncyte_buffer_t part{};
  check(syncyte_tensor_local(tensor, &part));
  return part;
}

std::size_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
}

// ---- gather, one-sided
// -------------------------------------------------------------------------------------------------

using gather_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, const at::Tensor&);
using gather_backward_signature = void(const at::Tensor&, std::int64_t, const at::Tensor&);

at::Tensor call_gather(const at::Tensor& local, std::int64_t tensor, std::int64_t companion, const at::Tensor& index) {
  static const auto op = find_op<gather_signature>("syncyte::gather");
  return op.call(local, tensor, companion, index);
}

void call_gather_backward(const at::Tensor& gradient, std::int64_t companion, const at::Tensor& index) {
  static const auto op = find_op<gather_backward_signature>("syncyte::gather_backward");
  op.call(gradient, companion, index);
}

at::Tensor gather_cpu(const at::Tensor& local, std::int64_t tensor, std::int64_t, const at::Tensor& index) {
  return gather_rows(handle(tensor), index, local);
}

at::Tensor gather_meta(const at::Tensor& local, std::int64_t, std::int64_t, const at::Tensor& index) {
  return at::empty_symint(gathered_sizes(index.sym_sizes(), local.sym_sizes()), local.options());
}

void gather_backward_cpu(const at::Tensor& gradient, std::int64_t companion, const at::Tensor& index) {
  add_rows(handle(companion), index, gradient);
}

void gather_backward_meta(const at::Tensor&, std::int64_t, const at::Tensor&) {}

class gather_function : public torch::autograd::Function<gather_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& local, std::int64_t tensor,
                            std::int64_t companion, const at::Tensor& index) {
    context->saved_data["companion"] = companion;
    context->save_for_backward({index});
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_gather(local, tensor, companion, index);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    TORCH_CHECK(!(at::GradMode::is_enabled() && gradients[0].requires_grad()),
                "gather: its backward adds into a companion tensor and cannot be differentiated again; use "
                "gather(..., collective=True) for double backward");
    const std::int64_t companion = context->saved_data["companion"].toInt();
    TORCH_CHECK(companion != 0,
                "gather: the whole tensor has no companion for gradients; call its requires_grad_() first");
    call_gather_backward(gradients[0], companion, saved[0]);
    return {at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor gather_autograd(const at::Tensor& local, std::int64_t tensor, std::int64_t companion,
                           const at::Tensor& index) {
  if (local.requires_grad() && at::GradMode::is_enabled())
    return gather_function::apply(local, tensor, companion, index);
  const at::AutoDispatchBelowADInplaceOrView below;
  return call_gather(local, tensor, companion, index);
}

// ---- gather_collective
// -------------------------------------------------------------------------------------------------

using collective_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, const at::Tensor&);
using adjoint_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, const at::Tensor&, c10::SymInt);

at::Tensor call_collective(const at::Tensor& local, std::int64_t tensor, std::int64_t scratch,
                           const at::Tensor& index) {
  static const auto op = find_op<collective_signature>("syncyte::gather_collective");
  return op.call(local, tensor, scratch, index);
}

at::Tensor call_adjoint(const at::Tensor& gradient, std::int64_t tensor, std::int64_t scratch, const at::Tensor& index,
                        const c10::SymInt& rows) {
  static const auto op = find_op<adjoint_signature>("syncyte::gather_adjoint");
  return op.call(gradient, tensor, scratch, index, rows);
}

/// The communicator of a whole tensor, for the verdicts of a collective operation.
class tensor_comm {
 public:
  explicit tensor_comm(syncyte_tensor_t tensor) { check(syncyte_tensor_comm(tensor, &comm_)); }
  ~tensor_comm() { syncyte_comm_release(comm_); }
  tensor_comm(const tensor_comm&) = delete;
  tensor_comm& operator=(const tensor_comm&) = delete;

  /// Success on all ranks, or the error of one of them on all. What was read or added before is complete after.
  syncyte_status_t agree(syncyte_status_t status, const char* operation) const {
    return syncyte_comm_agree(comm_, status, operation, 0, nullptr);
  }

  /// Whether the flag is set on all ranks.
  bool all(bool flag) const {
    std::int32_t value = flag;
    syncyte_buffer_t buffer;
    check(syncyte_buffer_init(&value, SYNCYTE_INT32, 0, nullptr, &buffer));
    check(syncyte_comm_allreduce(comm_, nullptr, SYNCYTE_OP_MIN, nullptr, &buffer));
    return value != 0;
  }

 private:
  syncyte_comm_t comm_ = nullptr;
};

/// Gathers from a tensor that all ranks have brought up to date; ends with a verdict, so that nobody changes a row that
/// another rank still reads, and an error of one rank is everybody's.
at::Tensor gather_together(const tensor_comm& comm, syncyte_tensor_t tensor, const at::Tensor& index,
                           const at::Tensor& local) {
  check(syncyte_tensor_sync(tensor));
  const at::Tensor rows = index.contiguous();
  at::Tensor result = empty_from_pool(gathered_sizes(rows.sizes(), local.sizes()), local.scalar_type());
  const syncyte_buffer_t from = buffer_of(rows);
  const syncyte_buffer_t to = buffer_of(result);
  check(comm.agree(syncyte_tensor_gather(tensor, &from, &to), "gather_collective"));
  return result;
}

/// Whether values can stand for this rank's part of a whole tensor; sets the last error if not.
syncyte_status_t fits(const at::Tensor& values, const syncyte_buffer_t& part, const char* name) {
  const syncyte_buffer_t given = buffer_of(values);
  const bool same_shape = values.dim() == part.ndim && std::equal(part.shape, part.shape + part.ndim, given.shape);
  if (given.dtype == part.dtype && same_shape) return SYNCYTE_SUCCESS;
  const at::IntArrayRef expected(part.shape, static_cast<std::size_t>(part.ndim));
  const std::string message =
      c10::str(name, " is ", syncyte_dtype_name(given.dtype), " of shape ", values.sizes(), "; expected ",
               syncyte_dtype_name(part.dtype), " of shape ", expected, ", as this rank's part of the whole tensor");
  return syncyte_error_set(given.dtype == part.dtype ? SYNCYTE_ERR_SHAPE : SYNCYTE_ERR_TYPE, message.c_str());
}

void clear(const syncyte_buffer_t& part, std::size_t bytes) {
  if (bytes > 0) std::memset(part.data, 0, bytes);
}

at::Tensor collective_cpu(const at::Tensor& local, std::int64_t tensor, std::int64_t scratch, const at::Tensor& index) {
  const tensor_comm comm(handle(tensor));
  const syncyte_buffer_t own = local_part(handle(tensor));
  check(comm.agree(fits(local, own, "local"), "gather_collective"));
  if (comm.all(own.data == local.const_data_ptr() || local.numel() == 0))
    return gather_together(comm, handle(tensor), index, local);
  // Values that are not the whole tensor's own memory (double backward, gradcheck) go through scratch, which is zero
  // between operations, also after one that failed.
  const at::Tensor values = local.resolve_conj().contiguous();
  const syncyte_buffer_t part = local_part(handle(scratch));
  if (values.numel() > 0) std::memcpy(part.data, values.const_data_ptr(), bytes_of(values));
  at::Tensor result;
  try {
    result = gather_together(comm, handle(scratch), index, local);
  } catch (...) {
    clear(part, bytes_of(values));
    throw;
  }
  clear(part, bytes_of(values));
  check(syncyte_tensor_sync(handle(scratch)));
  return result;
}

at::Tensor adjoint_cpu(const at::Tensor& gradient, std::int64_t, std::int64_t scratch, const at::Tensor& index,
                       std::int64_t rows) {
  const tensor_comm comm(handle(scratch));
  const syncyte_buffer_t part = local_part(handle(scratch));
  std::vector<std::int64_t> sizes(part.shape, part.shape + part.ndim);
  at::Tensor result = empty_from_pool(sizes, gradient.scalar_type());
  syncyte_status_t status = fits(result, part, "gradient");
  if (rows != part.shape[0]) status = syncyte_error_set(SYNCYTE_ERR_SHAPE, "rows is not this rank's number of rows");
  check(comm.agree(status, "gather_collective's backward"));
  const at::Tensor where = index.contiguous();
  const at::Tensor what = gradient.resolve_conj().contiguous();
  const syncyte_buffer_t from = buffer_of(where);
  const syncyte_buffer_t values = buffer_of(what);
  status = syncyte_tensor_scatter_add(handle(scratch), &from, &values);
  if (status == SYNCYTE_SUCCESS) status = syncyte_tensor_flush(handle(scratch));
  status = comm.agree(status, "gather_collective's backward");
  if (result.numel() > 0) std::memcpy(result.mutable_data_ptr(), part.data, bytes_of(result));
  clear(part, bytes_of(result));
  check(status);
  check(syncyte_tensor_sync(handle(scratch)));
  return result;
}

at::Tensor adjoint_meta(const at::Tensor& gradient, std::int64_t, std::int64_t, const at::Tensor& index,
                        c10::SymInt rows) {
  auto sizes = gradient.sym_sizes().slice(index.dim()).vec();
  sizes.insert(sizes.begin(), std::move(rows));
  return at::empty_symint(sizes, gradient.options());
}

class collective_function : public torch::autograd::Function<collective_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& local, std::int64_t tensor,
                            std::int64_t scratch, const at::Tensor& index) {
    context->saved_data["tensor"] = tensor;
    context->saved_data["scratch"] = scratch;
    context->saved_data["rows"] = local.sym_size(0);
    context->save_for_backward({index});
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_collective(local, tensor, scratch, index);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    return {call_adjoint(gradients[0], context->saved_data["tensor"].toInt(), context->saved_data["scratch"].toInt(),
                         saved[0], context->saved_data["rows"].toSymInt()),
            at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

class adjoint_function : public torch::autograd::Function<adjoint_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gradient, std::int64_t tensor,
                            std::int64_t scratch, const at::Tensor& index, const c10::SymInt& rows) {
    context->saved_data["tensor"] = tensor;
    context->saved_data["scratch"] = scratch;
    context->save_for_backward({index});
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_adjoint(gradient, tensor, scratch, index, rows);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    return {call_collective(gradients[0], context->saved_data["tensor"].toInt(), context->saved_data["scratch"].toInt(),
                            saved[0]),
            at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor collective_autograd(const at::Tensor& local, std::int64_t tensor, std::int64_t scratch,
                               const at::Tensor& index) {
  if (local.requires_grad() && at::GradMode::is_enabled())
    return collective_function::apply(local, tensor, scratch, index);
  const at::AutoDispatchBelowADInplaceOrView below;
  return call_collective(local, tensor, scratch, index);
}

at::Tensor adjoint_autograd(const at::Tensor& gradient, std::int64_t tensor, std::int64_t scratch,
                            const at::Tensor& index, c10::SymInt rows) {
  if (gradient.requires_grad() && at::GradMode::is_enabled())
    return adjoint_function::apply(gradient, tensor, scratch, index, rows);
  const at::AutoDispatchBelowADInplaceOrView below;
  return call_adjoint(gradient, tensor, scratch, index, rows);
}

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  library.def("gather(Tensor local, int tensor, int companion, Tensor index) -> Tensor", tags);
  library.def("gather_backward(Tensor gradient, int companion, Tensor index) -> ()", tags);
  library.def("gather_collective(Tensor local, int tensor, int scratch, Tensor index) -> Tensor", tags);
  library.def("gather_adjoint(Tensor gradient, int tensor, int scratch, Tensor index, SymInt rows) -> Tensor", tags);
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("gather", gather_cpu);
  library.impl("gather_backward", gather_backward_cpu);
  library.impl("gather_collective", collective_cpu);
  library.impl("gather_adjoint", adjoint_cpu);
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  library.impl("gather", gather_meta);
  library.impl("gather_backward", gather_backward_meta);
  library.impl("gather_collective", gather_meta);
  library.impl("gather_adjoint", adjoint_meta);
}
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("gather", gather_autograd);
  library.impl("gather_collective", collective_autograd);
  library.impl("gather_adjoint", adjoint_autograd);
}
