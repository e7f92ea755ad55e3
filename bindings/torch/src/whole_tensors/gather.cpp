// torch.ops.syncyte.gather: rows of a whole tensor, one-sided and differentiable.
//
// y = G W, where W is the whole tensor and G selects rows: y_i = W[index_i]. The adjoint adds rows: Wbar = G^T ybar.
//
// Any rank gathers any number of times. Backward adds ybar one-sided into a companion tensor; nothing flows to `local`
// (autograd.grad with respect to it therefore raises); sync_grad() brings the companion home.

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "autograd/profile.hpp"
#include "autograd/tensor_modes.hpp"
#include "tensors/buffers.hpp"
#include "whole_tensors/rows.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using gather_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, const at::Tensor&);
using gather_backward_signature = void(const at::Tensor&, std::int64_t, const at::Tensor&);

at::Tensor call_gather(const at::Tensor& local, std::int64_t tensor, std::int64_t companion, const at::Tensor& index) {
  return dispatched<gather_signature, "syncyte::gather">().call(local, tensor, companion, index);
}

void call_gather_backward(const at::Tensor& gradient, std::int64_t companion, const at::Tensor& index) {
  dispatched<gather_backward_signature, "syncyte::gather_backward">().call(gradient, companion, index);
}

at::Tensor gather_cpu(const at::Tensor& local, std::int64_t tensor, std::int64_t, const at::Tensor& index) {
  at::Tensor result;
  check(gather_rows(handle(tensor), index, local, result));
  return result;
}

at::Tensor gather_meta(const at::Tensor& local, std::int64_t, std::int64_t, const at::Tensor& index) {
  return gathered_meta(local, index);
}

void gather_backward_cpu(const at::Tensor& gradient, std::int64_t companion, const at::Tensor& index) {
  check(add_rows(handle(companion), index, gradient));
}

void gather_backward_meta(const at::Tensor&, std::int64_t, const at::Tensor&) {}

class gather_function : public torch::autograd::Function<gather_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& local, std::int64_t tensor,
                            std::int64_t companion, const at::Tensor& index) {
    context->saved_data["companion"] = companion;
    context->saved_data["reference"] = reference_to(companion);
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
    const backward_range range("syncyte::gather", gradients);
    call_gather_backward(gradients[0], companion, saved[0]);
    return {at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

at::Tensor gather_autograd(const at::Tensor& local, std::int64_t tensor, std::int64_t companion,
                           const at::Tensor& index) {
  TORCH_CHECK_NOT_IMPLEMENTED(!carries_tangent(local),
                              "gather: the tangents of other ranks' rows are not on this rank, and a one-sided gather "
                              "cannot ask for them; use gather(..., collective=True) in forward mode");
  if (local.requires_grad() && at::GradMode::is_enabled())
    return gather_function::apply(local, tensor, companion, index);
  const at::AutoDispatchBelowADInplaceOrView below;
  return call_gather(local, tensor, companion, index);
}

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("gather", gather_cpu);
  library.impl("gather_backward", gather_backward_cpu);
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  library.impl("gather", gather_meta);
  library.impl("gather_backward", gather_backward_meta);
}
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { library.impl("gather", gather_autograd); }
