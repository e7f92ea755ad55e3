// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// References of a node in the graph to Syncyte's objects: its backward needs them, however soon the application drops
// them.

#include <ATen/core/ivalue_inl.h>
#include <torch/custom_class.h>

#include <cstdint>
#include <utility>

#include "syncyte/comm.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {

/// The object that a schema's integer stands for. The application owns it.
template <class Object>
borrowed<Object> object_of(std::int64_t number) {
  return borrowed<Object>(reinterpret_cast<typename borrowed<Object>::handle>(number));
}

/// One reference to it; 0 is no object.
template <class Object>
Object reference_to(std::int64_t number) {
  return number == 0 ? Object() : checked([&] { return object_of<Object>(number)->retain(); });
}

/// References to the objects that a value names: its communicator `comm`, or what its references() returns.
template <class Value>
auto references_of(const Value& value) {
  if constexpr (requires { value.comm; })
    return reference_to<communicator>(value.comm);
  else
    return value.references();
}

/// A node's value in its saved data, with the references that its backward needs.
template <class Value>
struct kept_value final : torch::CustomClassHolder {
  explicit kept_value(Value what) : references(references_of(what)), value(std::move(what)) {}
  decltype(references_of(std::declval<const Value&>())) references;
  Value value;
};

template <class Value, class Context>
void keep(Context* context, Value value) {
  context->saved_data["kept"] = at::IValue::make_capsule(c10::make_intrusive<kept_value<Value>>(std::move(value)));
}

/// The value, which lives as long as the node's saved data.
template <class Value, class Context>
const Value& kept(Context* context) {
  return static_cast<const kept_value<Value>&>(*context->saved_data["kept"].toCapsule()).value;
}

}  // namespace syncyte::torch_binding
