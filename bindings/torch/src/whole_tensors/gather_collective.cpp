// torch.ops.syncyte.gather_collective and gather_adjoint: rows of a whole tensor as a pure function of the ranks'
// `local` parts, called equally often by all ranks.
//
// y = G W as in gather.cpp. The adjoint G^T ybar adds into a scratch tensor, waits for all ranks, and returns the true
// gradient; differentiable any number of times, because each is the other's adjoint.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tensors/buffers.hpp"
#include "collectives/communicators.hpp"
#include "autograd/forward_mode.hpp"
#include "autograd/ordered.hpp"
#include "autograd/profile.hpp"
#include "operators/refused_tensors.hpp"
#include "whole_tensors/rows.hpp"
#include "collectives/agreement.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using collective_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, const at::Tensor&, bool, bool,
                                        std::int64_t);
using adjoint_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, const at::Tensor&, c10::SymInt,
                                     bool, bool, std::int64_t);

at::Tensor call_collective(const at::Tensor& local, std::int64_t tensor, std::int64_t scratch, const at::Tensor& index,
                           derivatives asked) {
  static const auto op = find_op<collective_signature>("syncyte::gather_collective");
  return op.call(local, tensor, scratch, index, asked.needs_gradient, asked.has_tangent, asked.forward_number);
}

at::Tensor call_adjoint(const at::Tensor& gradient, std::int64_t tensor, std::int64_t scratch, const at::Tensor& index,
                        const c10::SymInt& rows, derivatives asked) {
  static const auto op = find_op<adjoint_signature>("syncyte::gather_adjoint");
  return op.call(gradient, tensor, scratch, index, rows, asked.needs_gradient, asked.has_tangent, asked.forward_number);
}

constexpr const char* forward_name = "gather_collective";
constexpr const char* backward_name = "gather_collective's backward";

/// The communicator of a whole tensor, for the verdicts of a collective operation.
class tensor_comm {
 public:
  explicit tensor_comm(syncyte_tensor_t tensor) { check(syncyte_tensor_comm(tensor, &comm_)); }
  ~tensor_comm() { syncyte_comm_release(comm_); }
  tensor_comm(const tensor_comm&) = delete;
  tensor_comm& operator=(const tensor_comm&) = delete;

  /// Success on all ranks, or the error of one of them on all. What was read or added before is complete after.
  syncyte_status_t agree(syncyte_status_t status, const char* operation, const fact_list& facts = {}) const {
    return syncyte_comm_agree(comm_, status, operation, static_cast<std::int32_t>(facts.size()), facts.data());
  }

  /// As torch_binding::number_of_forward().
  std::int64_t number_of_forward(const at::Tensor& input) const {
    return torch_binding::number_of_forward(reinterpret_cast<std::int64_t>(comm_), input);
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

/// This rank's part of a whole tensor, in place.
syncyte_buffer_t local_part(syncyte_tensor_t tensor) {
  syncyte_buffer_t part{};
  check(syncyte_tensor_local(tensor, &part));
  return part;
}

std::size_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
}

void clear(const syncyte_buffer_t& part, std::size_t bytes) {
  if (bytes > 0) std::memset(part.data, 0, bytes);
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

/// Gathers from a tensor that all ranks have brought up to date; ends with a verdict, so that nobody changes a row that
/// another rank still reads, and an error of one rank is everybody's.
at::Tensor gather_together(const tensor_comm& comm, syncyte_tensor_t tensor, const at::Tensor& index,
                           const at::Tensor& local) {
  check(syncyte_tensor_sync(tensor));
  at::Tensor result;
  check(comm.agree(status_of([&] { return gather_rows(tensor, index, local, result); }), forward_name));
  return result;
}

/// What a collective gather reads, once all ranks know that they can: `local` and the memory that it goes through where
/// it is not the whole tensor's own (double backward, gradcheck).
struct operands {
  at::Tensor values;
  syncyte_buffer_t scratch{};
  bool in_place = false;
};

syncyte_status_t prepare(operands& made, const at::Tensor& local, syncyte_tensor_t tensor, syncyte_tensor_t scratch) {
  refusal::check();
  const syncyte_buffer_t own = local_part(tensor);
  made.scratch = local_part(scratch);
  if (const syncyte_status_t status = fits(local, own, "local"); status != SYNCYTE_SUCCESS) return status;
  if (const syncyte_status_t status = fits(local, made.scratch, "local"); status != SYNCYTE_SUCCESS) return status;
  made.values = local.resolve_conj().contiguous();
  made.in_place = own.data == made.values.const_data_ptr() || local.numel() == 0;
  return SYNCYTE_SUCCESS;
}

at::Tensor collective_cpu(const at::Tensor& local, std::int64_t tensor, std::int64_t scratch, const at::Tensor& index,
                          bool needs_gradient, bool has_tangent, std::int64_t forward_number) {
  const tensor_comm comm(handle(tensor));
  operands given;
  const syncyte_status_t status = status_of([&] { return prepare(given, local, handle(tensor), handle(scratch)); });
  check(comm.agree(status, forward_name, facts_of({needs_gradient, has_tangent, forward_number})));
  if (comm.all(given.in_place)) return gather_together(comm, handle(tensor), index, local);
  // Scratch is zero between operations, also after one that failed.
  const std::size_t bytes = bytes_of(given.values);
  if (bytes > 0) std::memcpy(given.scratch.data, given.values.const_data_ptr(), bytes);
  at::Tensor result;
  try {
    result = gather_together(comm, handle(scratch), index, local);
  } catch (...) {
    clear(given.scratch, bytes);
    throw;
  }
  clear(given.scratch, bytes);
  check(syncyte_tensor_sync(handle(scratch)));
  return result;
}

at::Tensor collective_meta(const at::Tensor& local, std::int64_t, std::int64_t, const at::Tensor& index, bool, bool,
                           std::int64_t) {
  return gathered_meta(local, index);
}

/// The adjoint's result, before it has values.
syncyte_status_t prepare_adjoint(at::Tensor& result, const at::Tensor& gradient, const syncyte_buffer_t& part,
                                 std::int64_t rows) {
  refusal::check();
  result = empty_from_pool(at::IntArrayRef(part.shape, static_cast<std::size_t>(part.ndim)), gradient.scalar_type());
  if (rows != part.shape[0]) return syncyte_error_set(SYNCYTE_ERR_SHAPE, "rows is not this rank's number of rows");
  return fits(result, part, "gradient");
}

at::Tensor adjoint_cpu(const at::Tensor& gradient, std::int64_t, std::int64_t scratch, const at::Tensor& index,
                       std::int64_t rows, bool needs_gradient, bool has_tangent, std::int64_t forward_number) {
  const tensor_comm comm(handle(scratch));
  const syncyte_buffer_t part = local_part(handle(scratch));
  at::Tensor result;
  syncyte_status_t status = status_of([&] { return prepare_adjoint(result, gradient, part, rows); });
  check(comm.agree(status, backward_name, facts_of({needs_gradient, has_tangent, forward_number})));
  status = status_of([&] { return add_rows(handle(scratch), index, gradient); });
  if (status == SYNCYTE_SUCCESS) status = syncyte_tensor_flush(handle(scratch));
  status = comm.agree(status, backward_name);
  if (result.numel() > 0) std::memcpy(result.mutable_data_ptr(), part.data, bytes_of(result));
  clear(part, bytes_of(result));
  check(status);
  check(syncyte_tensor_sync(handle(scratch)));
  return result;
}

at::Tensor adjoint_meta(const at::Tensor& gradient, std::int64_t, std::int64_t, const at::Tensor& index,
                        c10::SymInt rows, bool, bool, std::int64_t) {
  auto sizes = gradient.sym_sizes().slice(index.dim()).vec();
  sizes.insert(sizes.begin(), std::move(rows));
  return at::empty_symint(sizes, gradient.options());
}

/// What backward needs of forward, once that has ended: the handles, which keep the whole tensors, index, and which
/// forward it was.
void save(AutogradContext* context, const at::Tensor& input, std::int64_t tensor, std::int64_t scratch,
          const at::Tensor& index) {
  context->saved_data["number"] = tensor_comm(handle(scratch)).number_of_forward(input);
  context->saved_data["tensor"] = tensor;
  context->saved_data["scratch"] = scratch;
  context->saved_data["tensor reference"] = reference_to(tensor);
  context->saved_data["scratch reference"] = reference_to(scratch);
  context->save_for_backward({index});
}

derivatives asked_by(AutogradContext* context) { return {.forward_number = context->saved_data["number"].toInt()}; }

class collective_function : public torch::autograd::Function<collective_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& local, std::int64_t tensor,
                            std::int64_t scratch, const at::Tensor& index, derivatives asked) {
    context->saved_data["rows"] = local.sym_size(0);
    const at::AutoDispatchBelowADInplaceOrView below;
    at::Tensor result = call_collective(local, tensor, scratch, index, asked);
    save(context, local, tensor, scratch, index);
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const backward_range range("syncyte::gather_collective", gradients);
    return {call_adjoint(gradients[0], context->saved_data["tensor"].toInt(), context->saved_data["scratch"].toInt(),
                         saved[0], context->saved_data["rows"].toSymInt(), asked_by(context)),
            at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

class adjoint_function : public torch::autograd::Function<adjoint_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gradient, std::int64_t tensor,
                            std::int64_t scratch, const at::Tensor& index, const c10::SymInt& rows, derivatives asked) {
    const at::AutoDispatchBelowADInplaceOrView below;
    at::Tensor result = call_adjoint(gradient, tensor, scratch, index, rows, asked);
    save(context, gradient, tensor, scratch, index);
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const backward_range range("syncyte::gather_adjoint", gradients);
    return {call_collective(gradients[0], context->saved_data["tensor"].toInt(), context->saved_data["scratch"].toInt(),
                            saved[0], asked_by(context)),
            at::Tensor(),
            at::Tensor(),
            at::Tensor(),
            at::Tensor(),
            at::Tensor()};
  }
};

at::Tensor collective_autograd(const at::Tensor& local, std::int64_t tensor, std::int64_t scratch,
                               const at::Tensor& index, bool needs_gradient, bool has_tangent,
                               std::int64_t forward_number) {
  if (carries_tangent(local))
    return apply_to_dual(local, [&](const at::Tensor& part, bool tangent_follows) {
      return call_collective(part, tensor, scratch, index,
                             {.has_tangent = tangent_follows, .forward_number = forward_number});
    });
  return in_order(local, [&](const at::Tensor& ordered) {
    if (ordered.requires_grad() && at::GradMode::is_enabled())
      return collective_function::apply(ordered, tensor, scratch, index,
                                        derivatives{true, has_tangent, forward_number});
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_collective(ordered, tensor, scratch, index, {needs_gradient, has_tangent, forward_number});
  });
}

at::Tensor adjoint_autograd(const at::Tensor& gradient, std::int64_t tensor, std::int64_t scratch,
                            const at::Tensor& index, c10::SymInt rows, bool needs_gradient, bool has_tangent,
                            std::int64_t forward_number) {
  if (carries_tangent(gradient))
    return apply_to_dual(gradient, [&](const at::Tensor& part, bool tangent_follows) {
      return call_adjoint(part, tensor, scratch, index, rows,
                          {.has_tangent = tangent_follows, .forward_number = forward_number});
    });
  return in_order(gradient, [&](const at::Tensor& ordered) {
    if (ordered.requires_grad() && at::GradMode::is_enabled())
      return adjoint_function::apply(ordered, tensor, scratch, index, rows,
                                     derivatives{true, has_tangent, forward_number});
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_adjoint(ordered, tensor, scratch, index, rows, {needs_gradient, has_tangent, forward_number});
  });
}

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  // The flags are as in allreduce.
  library.def(
      "gather_collective(Tensor local, int tensor, int scratch, Tensor index, bool needs_gradient=False, "
      "bool has_tangent=False, int forward_number=0) -> Tensor",
      tags);
  library.def(
      "gather_adjoint(Tensor gradient, int tensor, int scratch, Tensor index, SymInt rows, bool needs_gradient=False, "
      "bool has_tangent=False, int forward_number=0) -> Tensor",
      tags);
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("gather_collective", collective_cpu);
  library.impl("gather_adjoint", adjoint_cpu);
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  library.impl("gather_collective", collective_meta);
  library.impl("gather_adjoint", adjoint_meta);
}
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("gather_collective", collective_autograd);
  library.impl("gather_adjoint", adjoint_autograd);
}
