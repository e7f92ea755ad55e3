#pragma once
// References of a node in the graph to Syncyte's objects: its backward needs them, however soon the application drops
// them.

#include <ATen/core/ivalue_inl.h>
#include <torch/custom_class.h>

#include <cstdint>
#include <utility>

#include "syncyte/comm.h"
#include "syncyte/halo.h"
#include "syncyte/tensor.h"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {

/// One reference to an object of the C interface; 0 is no object.
template <class Handle, syncyte_status_t (*retain)(Handle), syncyte_status_t (*release)(Handle)>
class handle_reference {
 public:
  explicit handle_reference(std::int64_t object) : object_(reinterpret_cast<Handle>(object)) {
    if (object_ != nullptr) check(retain(object_));
  }
  ~handle_reference() {
    if (object_ != nullptr) release(object_);
  }
  handle_reference(const handle_reference&) = delete;
  handle_reference& operator=(const handle_reference&) = delete;

 private:
  Handle object_;
};

using comm_reference = handle_reference<syncyte_comm_t, syncyte_comm_retain, syncyte_comm_release>;
using halo_reference = handle_reference<syncyte_halo_t, syncyte_halo_retain, syncyte_halo_release>;
using tensor_reference = handle_reference<syncyte_tensor_t, syncyte_tensor_retain, syncyte_tensor_release>;

/// References to the objects that a value names: its communicator `comm`, or what its references() returns.
template <class Value>
auto references_of(const Value& value) {
  if constexpr (requires { value.comm; })
    return comm_reference(value.comm);
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
