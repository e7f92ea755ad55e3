#pragma once
// Operators as the dispatcher calls them.

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <cstddef>

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

}  // namespace syncyte::torch_binding
