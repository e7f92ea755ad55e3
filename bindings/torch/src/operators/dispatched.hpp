// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Operators and kernels of the dispatcher.

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace syncyte::torch_binding {

/// A name as a template's argument.
template <std::size_t Length>
struct operator_name {
  constexpr operator_name(const char (&name)[Length]) { std::copy_n(name, Length, text); }
  char text[Length];
};

/// The operator of this name: dispatched<at::Tensor(const at::Tensor&), "syncyte::some">().call(input).
template <class Signature, operator_name Name>
const auto& dispatched() {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(Name.text, "").template typed<Signature>();
  return op;
}

/// A boxed kernel: run(operator, dispatch keys, stack).
template <class Run>
torch::CppFunction boxed(Run run) {
  struct kernel final : c10::OperatorKernel {
    explicit kernel(Run what) : run(std::move(what)) {}
    void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) const {
      run(op, keys, *stack);
    }
    Run run;
  };
  return torch::CppFunction::makeFromBoxedFunctor(std::make_unique<kernel>(std::move(run)));
}

}  // namespace syncyte::torch_binding
