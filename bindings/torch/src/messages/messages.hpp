#pragma once
// Messages as the dispatcher calls them; messages.cpp says what they do, message_gradients.cpp how they are
// differentiated.

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <tuple>

#include "autograd/derivatives.hpp"

namespace syncyte::torch_binding {

constexpr std::int64_t failure_range = 1 << 16;  ///< a label holds the number of failed passes modulo this

/// Whether the sender of a message with this label records gradients.
inline bool records_gradient(std::int64_t label) { return label % 2 != 0; }

/// How many of the sender's backward passes had failed, modulo failure_range.
inline std::int64_t failures_in(std::int64_t label) { return label / 2 % failure_range; }

/// Of a message that has ended, whose status (wait_message) is given.
inline std::int64_t label_in(const at::Tensor& status) { return status.cpu().const_data_ptr<std::int64_t>()[1]; }

/// Whether derivatives of a wait's result are recorded.
enum gradients : std::int64_t {
  none = 0,    // the sender must not record any either
  needed = 1,  // it must
  follow = 2,  // as it does
  free = 3     // as it does where that is possible
};

using send_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
using receive_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, std::int64_t);
using send_answer_signature = at::Tensor(const at::Tensor&, const at::Tensor&, std::int64_t, std::int64_t,
                                         std::int64_t);
using receive_answer_signature = at::Tensor(const at::Tensor&, const at::Tensor&, std::int64_t, std::int64_t,
                                            at::IntArrayRef, at::ScalarType);
using value_and_status = std::tuple<at::Tensor, at::Tensor>;
using wait_signature = value_and_status(const at::Tensor&, std::int64_t, at::IntArrayRef, at::ScalarType, bool,
                                        std::int64_t, std::int64_t);

template <class Signature>
auto message_operator(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").template typed<Signature>();
}

inline const auto& isend_operator() {
  static const auto op = message_operator<send_signature>("syncyte::isend");
  return op;
}
inline const auto& irecv_operator() {
  static const auto op = message_operator<receive_signature>("syncyte::irecv");
  return op;
}
inline const auto& isend_answer_operator() {
  static const auto op = message_operator<send_answer_signature>("syncyte::isend_answer");
  return op;
}
inline const auto& irecv_answer_operator() {
  static const auto op = message_operator<receive_answer_signature>("syncyte::irecv_answer");
  return op;
}
inline const auto& wait_operator() {
  static const auto op = message_operator<wait_signature>("syncyte::wait_message");
  return op;
}

}  // namespace syncyte::torch_binding
