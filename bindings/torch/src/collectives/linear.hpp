#pragma once
// Collectives in autograd. Those that are linear, y = A x over all ranks' x together: backward applies the adjoint of
// A, itself such a collective, so that both can be differentiated any number of times; forward mode applies A to the
// tangent. Reductions are linear where they add; of the others see reductions.hpp.

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue_inl.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <cstdint>
#include <tuple>
#include <utility>

#include "collectives/communicators.hpp"
#include "autograd/forward_mode.hpp"
#include "tensors/handle_reference.hpp"
#include "autograd/ordered.hpp"
#include "autograd/profile.hpp"
#include "collectives/order_reductions.hpp"
#include "operators/refused_tensors.hpp"

namespace syncyte::torch_binding {

/// An operation names its operator (`name`, `overload`), the types of its parameters after the input, which the
/// dispatcher can pass, the communicator first, its kernels and its adjoint:
///
///     struct some_collective {
///       static constexpr const char* name = "syncyte::some_collective";
///       static constexpr const char* overload = "";
///       using parameters = std::tuple<std::int64_t, extents>;
///       static at::Tensor forward(const at::Tensor& input, std::int64_t comm, const extents& lengths, derivatives);
///       static at::Tensor meta(const at::Tensor& input, std::int64_t comm, const extents& lengths);
///       static at::Tensor adjoint(const at::Tensor& gradient, const extents& input_shape, derivatives asked,
///                                 std::int64_t comm, const extents& lengths);
///     };
///
/// Its schema is (Tensor input, <parameters>, bool needs_gradient=False, bool has_tangent=False, int forward_number=0)
/// -> Tensor. A reduction has two members more, `forward` refuses what has no derivative (require_derivative()):
///
///       static std::int64_t op_of(const parameters& given);
///       /// The result with a node in the graph, for a reduction that has an adjoint and is not the sum.
///       static at::Tensor differentiate(const at::Tensor& input, const parameters& given, derivatives asked);
template <class Operation>
class linear;

/// How the dispatcher passes a parameter.
template <class T>
struct passed {
  using type = T;
};
template <>
struct passed<extents> {
  using type = at::IntArrayRef;
};

/// The extents, which a compiled graph is then specialised to.
inline extents concrete_shape(const at::Tensor& tensor) {
  extents result;
  for (const c10::SymInt& extent : tensor.sym_sizes()) result.push_back(extent.guard_int(__FILE__, __LINE__));
  return result;
}

template <class Operation, class Parameters = typename Operation::parameters>
struct linear_operator;

/// The operator and its kernels; `T` are the parameters' types.
template <class Operation, class... T>
struct linear_operator<Operation, std::tuple<T...>> {
  using parameters = std::tuple<T...>;
  using signature = at::Tensor(const at::Tensor&, typename passed<T>::type..., bool, bool, std::int64_t);

  static const auto& handle() {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow(Operation::name, Operation::overload)
                               .template typed<signature>();
    return op;
  }

  static at::Tensor call(const at::Tensor& input, const parameters& given, derivatives asked) {
    return std::apply(
        [&](const T&... each) {
          return handle().call(input, each..., asked.needs_gradient, asked.has_tangent, asked.forward_number);
        },
        given);
  }

  /// call() without a node in the graph.
  static at::Tensor call_below(const at::Tensor& input, const parameters& given, derivatives asked) {
    const at::AutoDispatchBelowADInplaceOrView below;
    return call(input, given, asked);
  }

  static at::Tensor cpu(const at::Tensor& input, typename passed<T>::type... given, bool needs_gradient,
                        bool has_tangent, std::int64_t forward_number) {
    return Operation::forward(input, own(given)..., {needs_gradient, has_tangent, forward_number});
  }

  static at::Tensor meta(const at::Tensor& input, typename passed<T>::type... given, bool, bool, std::int64_t) {
    return Operation::meta(input, own(given)...);
  }

  static at::Tensor autograd(c10::DispatchKeySet keys, const at::Tensor& input, typename passed<T>::type... given,
                             bool needs_gradient, bool has_tangent, std::int64_t forward_number) {
    if (is_plain_meta(input)) [[unlikely]] {
      const refusal told(meta_text(Operation::name));
      return cpu(stand_in(input), given..., needs_gradient, has_tangent, forward_number);
    }
    return in_order(input, [&](const at::Tensor& ordered) {
      return record(keys, ordered, given..., {needs_gradient, has_tangent, forward_number});
    });
  }

 private:
  static at::Tensor record(c10::DispatchKeySet keys, const at::Tensor& input, typename passed<T>::type... given,
                           derivatives asked) {
    const bool is_recorded = input.requires_grad() && at::GradMode::is_enabled();
    if (is_recorded || carries_tangent(input))
      return differentiate(input, parameters(own(given)...), {is_recorded, asked.has_tangent, asked.forward_number});
    // Small messages are spared the cost of a node and of finding the kernel from the start. In a compiled graph the
    // flags are those that were found when it was traced.
    return handle().redispatch(keys & c10::after_ADInplaceOrView_keyset, input, given..., asked.needs_gradient,
                               asked.has_tangent, asked.forward_number);
  }

  static at::Tensor differentiate(const at::Tensor& input, const parameters& given, derivatives asked) {
    if constexpr (requires { Operation::op_of(given); })
      if (Operation::op_of(given) != SYNCYTE_OP_SUM) return differentiate_other(input, given, asked);
    if (carries_tangent(input))
      return apply_to_dual(input, [&](const at::Tensor& part, bool tangent_follows) {
        return call(part, given, {.has_tangent = tangent_follows, .forward_number = asked.forward_number});
      });
    return linear<Operation>::apply(input, given, asked.has_tangent, asked.forward_number);
  }

  /// What has no such derivative, all ranks are told by the kernel.
  static at::Tensor differentiate_other(const at::Tensor& input, const parameters& given, derivatives asked) {
    if (carries_tangent(input)) asked.has_tangent = true;
    if constexpr (requires { Operation::differentiate(input, given, asked); })
      if (has_adjoint(Operation::op_of(given)) && !asked.has_tangent)
        return Operation::differentiate(input, given, asked);
    return call_below(input, given, asked);
  }

  template <class P>
  static P own(P value) {
    return value;
  }
  static extents own(at::IntArrayRef list) { return list.vec(); }
};

template <class Operation>
class linear : public torch::autograd::Function<linear<Operation>> {
 public:
  using parameters = typename Operation::parameters;

  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& input, const parameters& given,
                            bool has_tangent, std::int64_t forward_number) {
    at::Tensor result = linear_operator<Operation>::call_below(input, given, {true, has_tangent, forward_number});
    auto kept = c10::make_intrusive<kept_of_forward>(std::get<0>(given));
    kept->given = given;
    kept->shape = concrete_shape(input);
    kept->number = number_of_forward(std::get<0>(given), input);
    context->saved_data["kept"] = at::IValue::make_capsule(std::move(kept));
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto capsule = context->saved_data["kept"].toCapsule();
    const auto& kept = static_cast<const kept_of_forward&>(*capsule);
    const backward_range range(Operation::name, gradients);
    const derivatives asked{.forward_number = kept.number};
    at::Tensor adjoint = std::apply(
        [&](const auto&... each) { return Operation::adjoint(gradients[0], kept.shape, asked, each...); }, kept.given);
    return {adjoint, at::Tensor(), at::Tensor(), at::Tensor()};
  }

 private:
  struct kept_of_forward final : torch::CustomClassHolder {
    explicit kept_of_forward(std::int64_t comm) : reference(comm) {}
    comm_reference reference;
    parameters given;
    extents shape;
    std::int64_t number = 0;
  };
};

/// Registers the kernel for a dispatch key.
template <class Operation>
void implement(torch::Library& library, const char* name, c10::DispatchKey key) {
  using op = linear_operator<Operation>;
  if (key == c10::DispatchKey::CPU) library.impl(name, op::cpu);
  if (key == c10::DispatchKey::Meta) library.impl(name, op::meta);
  if (key == c10::DispatchKey::Autograd) library.impl(name, op::autograd);
}

}  // namespace syncyte::torch_binding
