#pragma once
// Linear operations in autograd, y = A x over all ranks' x together: backward applies the adjoint of A, itself such an
// operation, so that both can be differentiated any number of times; forward mode applies A to the tangent.

#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue_inl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>
#include <vector>

#include "autograd/derivatives.hpp"
#include "autograd/ordered.hpp"
#include "autograd/profile.hpp"
#include "autograd/tensor_modes.hpp"

namespace syncyte::torch_binding {

/// The extents, which a compiled graph is then specialised to.
inline std::vector<std::int64_t> concrete_shape(c10::SymIntArrayRef sizes) {
  std::vector<std::int64_t> result;
  for (const c10::SymInt& extent : sizes) result.push_back(extent.guard_int(__FILE__, __LINE__));
  return result;
}
inline std::vector<std::int64_t> concrete_shape(const at::Tensor& tensor) { return concrete_shape(tensor.sym_sizes()); }

/// The node of an operation, a value with its arguments:
///
///     struct some_operation {
///       const char* profiled_as() const;
///       at::Tensor call(const at::Tensor& input, derivatives asked) const;       // by the dispatcher
///       at::Tensor run(const at::Tensor& input, derivatives asked) const;        // without a node in the graph
///       at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef input_sizes, derivatives asked) const;
///       std::int64_t number_of_forward(const at::Tensor& input) const;           // of the run that has just ended
///       struct references;  // made of the operation: keeps its communicator or tensors
///     };
///
/// A tensor among its arguments is a member `index`.
template <class Operation>
class linear_node : public torch::autograd::Function<linear_node<Operation>> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input, const Operation& what,
                            derivatives asked) {
    asked.needs_gradient = true;
    at::Tensor result = what.run(input, asked);
    auto kept = c10::make_intrusive<kept_of_forward>(what);
    kept->sizes = input.sym_sizes().vec();
    kept->number = what.number_of_forward(input);
    if constexpr (requires { what.index; }) {
      context->save_for_backward({what.index});
      kept->what.index.reset();
    }
    context->saved_data["kept"] = at::IValue::make_capsule(std::move(kept));
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto capsule = context->saved_data["kept"].toCapsule();
    const auto& kept = static_cast<const kept_of_forward&>(*capsule);
    Operation what = kept.what;
    if constexpr (requires { what.index; }) what.index = context->get_saved_variables()[0];
    const backward_range range(what.profiled_as(), gradients);
    return {what.adjoint(gradients[0], kept.sizes, {.forward_number = kept.number}), at::Tensor(), at::Tensor()};
  }

 private:
  struct kept_of_forward final : torch::CustomClassHolder {
    explicit kept_of_forward(const Operation& operation) : references(operation), what(operation) {}
    typename Operation::references references;
    Operation what;
    std::vector<c10::SymInt> sizes;
    std::int64_t number = 0;
  };
};

/// The operation in autograd; below(input) runs it where nothing is recorded.
template <class Operation, class Below>
at::Tensor differentiated(const at::Tensor& input, const Operation& what, derivatives asked, Below&& below) {
  if (carries_tangent(input))
    return apply_to_dual(input, [&](const at::Tensor& part, bool tangent_follows) {
      return what.call(part, {.has_tangent = tangent_follows, .forward_number = asked.forward_number});
    });
  return in_order(input, [&](const at::Tensor& ordered) {
    return is_recorded(ordered) ? linear_node<Operation>::apply(ordered, what, asked) : below(ordered);
  });
}

}  // namespace syncyte::torch_binding
