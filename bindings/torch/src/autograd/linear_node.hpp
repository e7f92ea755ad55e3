// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Linear operations in autograd, y = A x over all ranks' x together: backward applies the adjoint of A, itself such an
// operation, so that both can be differentiated any number of times; forward mode applies A to the tangent.

#include <torch/csrc/autograd/custom_function.h>

#include <utility>
#include <vector>

#include "autograd/communication_order.hpp"
#include "autograd/derivatives.hpp"
#include "autograd/profile.hpp"
#include "autograd/tensor_modes.hpp"
#include "collectives/communicators.hpp"
#include "operators/refused_tensors.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {

/// The extents, which a compiled graph is then specialised to.
inline std::vector<std::int64_t> concrete_shape(c10::SymIntArrayRef sizes) {
  std::vector<std::int64_t> result;
  for (const c10::SymInt& extent : sizes) result.push_back(extent.guard_int(__FILE__, __LINE__));
  return result;
}
inline std::vector<std::int64_t> concrete_shape(const at::Tensor& tensor) { return concrete_shape(tensor.sym_sizes()); }

/// Runs an operation without a node in the graph.
template <class Operation>
at::Tensor run_without_node(const Operation& what, const at::Tensor& input, derivatives wanted) {
  const at::AutoDispatchBelowADInplaceOrView below;
  if constexpr (requires { what.run(input, wanted); })
    return what.run(input, wanted);
  else
    return what.call(input, wanted);
}

/// The node of an operation, a value with its arguments:
///
///     struct some_operation {
///       std::int64_t comm;                  // its communicator, which the node keeps; operations without one have
///                                           // references() and number_of_forward()
///       const char* profiled_as() const;
///       at::Tensor call(const at::Tensor& input, derivatives wanted) const;  // by the dispatcher
///       at::Tensor run(const at::Tensor& input, derivatives wanted) const;   // without a node; default: call()
///       at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef input_sizes, derivatives wanted) const;
///       auto references() const;                  // the objects that the node keeps
///       std::int64_t number_of_forward() const;   // of the run that has just ended; see derivatives
///     };
///
/// A tensor among its arguments is a member `index`.
template <class Operation>
class linear_node : public torch::autograd::Function<linear_node<Operation>> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input, Operation what,
                            derivatives wanted) {
    wanted.needs_gradient = true;
    at::Tensor result = run_without_node(what, input, wanted);
    // While a graph is traced, its constants are of one call, and it runs many times.
    const std::int64_t number = input.unsafeGetTensorImpl()->is_python_dispatch() ? 0 : number_of(what);
    if constexpr (requires { what.index; }) context->save_for_backward({std::exchange(what.index, {})});
    keep(context, forward_call{std::move(what), input.sym_sizes().vec(), number});
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto& call = kept<forward_call>(context);
    Operation what = call.what;
    if constexpr (requires { what.index; }) what.index = context->get_saved_variables()[0];
    const backward_range range(what.profiled_as(), gradients);
    return {what.adjoint(gradients[0], call.sizes, {.forward_number = call.number}), at::Tensor(), at::Tensor()};
  }

 private:
  struct forward_call {
    Operation what;
    std::vector<c10::SymInt> sizes;
    std::int64_t number;

    auto references() const { return references_of(what); }
  };

  static std::int64_t number_of(const Operation& what) {
    if constexpr (requires { what.number_of_forward(); })
      return what.number_of_forward();
    else
      return torch_binding::number_of_forward(what.comm);
  }
};

/// Runs an operation, with a node in the graph if its input is recorded.
template <class Operation>
at::Tensor run_with_node_if_recorded(const at::Tensor& input, const Operation& what, derivatives wanted) {
  return is_recorded(input) ? linear_node<Operation>::apply(input, what, wanted)
                            : run_without_node(what, input, wanted);
}

/// The operation in autograd. If one rank gives a tensor on the meta device, all ranks that take part get the error.
template <class Operation>
at::Tensor apply_in_autograd(const at::Tensor& input, const Operation& what, derivatives wanted) {
  if (is_plain_meta(input)) [[unlikely]] {
    const refused_tensor refusal(meta_text(what.profiled_as()));
    return what.call(stand_in(input), wanted);
  }
  if (carries_tangent(input))
    return apply_to_dual(input, [&](const at::Tensor& part, bool tangent_follows) {
      return what.call(part, {.has_tangent = tangent_follows, .forward_number = wanted.forward_number});
    });
  return in_order(input, [&](const at::Tensor& ordered) { return run_with_node_if_recorded(ordered, what, wanted); });
}

}  // namespace syncyte::torch_binding
