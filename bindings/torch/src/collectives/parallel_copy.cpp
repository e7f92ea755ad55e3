// torch.ops.syncyte.parallel_copy: x as it is on every rank; backward is the sum over all ranks of the cotangents.
//
// For x of which all ranks have the same copy and each computes a part of the result. Its conjugate is the allreduce
// with the identity as adjoint: either one's adjoint is the other. (f and g of Shoeybi et al., Megatron-LM,
// arXiv:1909.08053, section 3.)

#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "collectives/calls.hpp"
#include "autograd/forward_mode.hpp"
#include "tensors/handle_reference.hpp"
#include "autograd/ordered.hpp"
#include "autograd/profile.hpp"
#include "collectives/agreed_step.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* name = "parallel_copy";

void agree(const at::Tensor& input, std::int64_t comm, bool is_recorded) {
  run_agreed(name, comm, input, {.needs_gradient = is_recorded}, {}, [] {});
}

class copy_function : public torch::autograd::Function<copy_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, std::int64_t comm) {
    agree(input, comm, true);
    context->saved_data["comm"] = comm;
    context->saved_data["comm reference"] = capsule_of<comm_reference>(comm);
    context->saved_data["number"] = number_of_forward(comm, input);
    return input;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const backward_range range("syncyte::parallel_copy", gradients);
    const derivatives asked{.forward_number = context->saved_data["number"].toInt()};
    return {call_allreduce(gradients[0], context->saved_data["comm"].toInt(), SYNCYTE_OP_SUM, true, asked),
            at::Tensor()};
  }
};

at::Tensor parallel_copy(const at::Tensor& input, std::int64_t comm) {
  if (carries_tangent(input))
    return apply_to_dual(input, [&](const at::Tensor& part, bool) { return parallel_copy(part, comm); });
  return in_order(input, [&](const at::Tensor& ordered) {
    if (is_recorded(ordered)) return copy_function::apply(ordered, comm);
    agree(ordered, comm, false);
    return ordered;
  });
}

}  // namespace
}  // namespace syncyte::torch_binding

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  library.def("parallel_copy(Tensor(a) input, int comm) -> Tensor(a)", syncyte::torch_binding::parallel_copy);
}
