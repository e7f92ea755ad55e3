#pragma once
// Linear collectives in autograd. y = A x over all ranks' x together; backward applies the adjoint of A, itself such a
// collective, so that both can be differentiated any number of times; forward mode applies A to the tangent.

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "collect.hpp"
#include "forward_mode.hpp"

namespace syncyte::torch_binding {

/// An operation names its operator (`name`, `overload`), the types of its parameters after the input, which IValue can
/// hold, its kernels and its adjoint:
///
///     struct some_collective {
///       static constexpr const char* name = "syncyte::some_collective";
///       static constexpr const char* overload = "";
///       using parameters = std::tuple<std::int64_t, extents>;
///       static at::Tensor forward(const at::Tensor& input, std::int64_t comm, const extents& lengths, derivatives);
///       static at::Tensor meta(const at::Tensor& input, std::int64_t comm, const extents& lengths);
///       static at::Tensor adjoint(const at::Tensor& gradient, const extents& input_shape, std::int64_t comm,
///                                 const extents& lengths);
///     };
///
/// Its schema is (Tensor input, <parameters>, bool needs_gradient=False, bool has_tangent=False) -> Tensor.
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
  using signature = at::Tensor(const at::Tensor&, typename passed<T>::type..., bool, bool);

  static const auto& handle() {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow(Operation::name, Operation::overload)
                               .template typed<signature>();
    return op;
  }

  static at::Tensor call(const at::Tensor& input, const parameters& given, derivatives asked) {
    return std::apply(
        [&](const T&... each) { return handle().call(input, each..., asked.needs_gradient, asked.has_tangent); },
        given);
  }

  static at::Tensor cpu(const at::Tensor& input, typename passed<T>::type... given, bool needs_gradient,
                        bool has_tangent) {
    return Operation::forward(input, own(given)..., {needs_gradient, has_tangent});
  }

  static at::Tensor meta(const at::Tensor& input, typename passed<T>::type... given, bool, bool) {
    return Operation::meta(input, own(given)...);
  }

  static at::Tensor autograd(c10::DispatchKeySet keys, const at::Tensor& input, typename passed<T>::type... given,
                             bool needs_gradient, bool has_tangent) {
    if (carries_tangent(input))
      return apply_to_dual(input, [&](const at::Tensor& part, bool tangent_follows) {
        return call(part, parameters(own(given)...), {.has_tangent = tangent_follows});
      });
    if (input.requires_grad() && at::GradMode::is_enabled())
      return linear<Operation>::apply(input, parameters(own(given)...), has_tangent);
    return handle().redispatch(keys & c10::after_ADInplaceOrView_keyset, input, given..., needs_gradient, has_tangent);
  }

 private:
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
                            bool has_tangent) {
    save(context, given, std::make_index_sequence<std::tuple_size_v<parameters>>{});
    context->saved_data["shape"] = concrete_shape(input);
    const at::AutoDispatchBelowADInplaceOrView below;
    return linear_operator<Operation>::call(input, given, {.needs_gradient = true, .has_tangent = has_tangent});
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {adjoint(context, gradients[0], std::make_index_sequence<std::tuple_size_v<parameters>>{}), at::Tensor(),
            at::Tensor()};
  }

 private:
  using context_type = torch::autograd::AutogradContext;

  template <std::size_t... I>
  static void save(context_type* context, const parameters& given, std::index_sequence<I...>) {
    ((context->saved_data[std::to_string(I)] = std::get<I>(given)), ...);
  }

  template <std::size_t... I>
  static at::Tensor adjoint(context_type* context, const at::Tensor& gradient, std::index_sequence<I...>) {
    auto& saved = context->saved_data;
    return Operation::adjoint(gradient, saved["shape"].toIntVector(),
                              saved[std::to_string(I)].template to<std::tuple_element_t<I, parameters>>()...);
  }
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
