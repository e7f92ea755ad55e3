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

/// One reference to an object of the C interface.
template <class Handle, syncyte_status_t (*retain)(Handle), syncyte_status_t (*release)(Handle)>
class handle_reference {
 public:
  explicit handle_reference(std::int64_t object) : object_(reinterpret_cast<Handle>(object)) { check(retain(object_)); }
  ~handle_reference() { release(object_); }
  handle_reference(const handle_reference&) = delete;
  handle_reference& operator=(const handle_reference&) = delete;

 private:
  Handle object_;
};

using comm_reference = handle_reference<syncyte_comm_t, syncyte_comm_retain, syncyte_comm_release>;
using halo_reference = handle_reference<syncyte_halo_t, syncyte_halo_retain, syncyte_halo_release>;
using tensor_reference = handle_reference<syncyte_tensor_t, syncyte_tensor_retain, syncyte_tensor_release>;

/// One for a node's saved data.
template <class Reference>
at::IValue capsule_of(std::int64_t object) {
  struct capsule final : torch::CustomClassHolder {
    explicit capsule(std::int64_t what) : reference(what) {}
    Reference reference;
  };
  return at::IValue::make_capsule(c10::make_intrusive<capsule>(object));
}

/// A node's value in its saved data, with a reference to the communicator that its backward needs.
template <class Value>
struct kept_value final : torch::CustomClassHolder {
  kept_value(std::int64_t comm, Value what) : reference(comm), value(std::move(what)) {}
  comm_reference reference;
  Value value;
};

template <class Value, class Context>
void keep(Context* context, std::int64_t comm, Value value) {
  context->saved_data["kept"] =
      at::IValue::make_capsule(c10::make_intrusive<kept_value<Value>>(comm, std::move(value)));
}

/// The value, which lives as long as the node's saved data.
template <class Value, class Context>
const Value& kept(Context* context) {
  return static_cast<const kept_value<Value>&>(*context->saved_data["kept"].toCapsule()).value;
}

}  // namespace syncyte::torch_binding
