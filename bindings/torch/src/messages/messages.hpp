// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Messages as the dispatcher calls them; messages.cpp says how they work, message_gradients.cpp how they are
// differentiated.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "autograd/derivatives.hpp"
#include "operators/dispatched.hpp"

namespace syncyte::torch_binding {

constexpr std::int64_t failure_range = 1 << 16;  ///< a label holds the number of failed passes modulo this

/// Whether the sender of a message with this label records gradients.
inline bool records_gradient(std::int64_t label) { return label % 2 != 0; }

/// The number of the sender's backward passes that had failed, modulo failure_range.
inline std::int64_t failures_in(std::int64_t label) { return label / 2 % failure_range; }

/// The label in the status of a message that has ended (wait_message).
inline std::int64_t label_in(const at::Tensor& status) { return status.cpu().const_data_ptr<std::int64_t>()[1]; }

/// Whether gradients of a received message are recorded: the argument `gradients` of wait_message, default as_sender.
/// The Python package repeats the last number (_torch_operators.py).
enum class gradient_rule : std::int64_t {
  refused = 0,               ///< no; a sender that records them is an error
  required = 1,              ///< yes; a sender that does not record them is an error
  as_sender = 2,             ///< as the sender does; in a graph that is traced, as the ticket does
  as_sender_if_possible = 3  ///< as_sender, without an error where the receiver cannot record gradients
};

inline bool depends_on_sender(gradient_rule rule) {
  return rule == gradient_rule::as_sender || rule == gradient_rule::as_sender_if_possible;
}

/// A message: its communicator, the other rank and the tag; or the status of the message that it answers, in a channel
/// of its own.
struct route {
  std::int64_t comm;
  std::int64_t peer = 0;
  std::int64_t tag = 0;
  std::optional<at::Tensor> answered = {};
  std::int64_t channel = 0;
};

/// A message as its wait knows it.
struct message {
  std::int64_t comm;
  std::vector<std::int64_t> shape;
  at::ScalarType dtype;
  bool is_receive;
  std::int64_t channel = 0;
};

using value_and_status = std::tuple<at::Tensor, at::Tensor>;

using isend_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                                   const std::optional<at::Tensor>&, std::int64_t);
using irecv_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, std::int64_t,
                                   const std::optional<at::Tensor>&, std::int64_t);
using wait_signature = value_and_status(const at::Tensor&, std::int64_t, at::IntArrayRef, at::ScalarType, bool,
                                        std::int64_t, std::int64_t);

inline at::Tensor call_isend(const at::Tensor& input, const route& way, derivatives wanted) {
  const auto& op = dispatched<isend_signature, "syncyte::isend">();
  return op.call(input, way.comm, way.peer, way.tag, wanted.packed(), way.answered, way.channel);
}

inline at::Tensor call_irecv(const at::Tensor& like, const route& way) {
  const auto& op = dispatched<irecv_signature, "syncyte::irecv">();
  return op.call(like, way.comm, way.peer, way.tag, way.answered, way.channel);
}

inline value_and_status call_wait(const at::Tensor& ticket, const message& what,
                                  gradient_rule rule = gradient_rule::as_sender) {
  const auto& op = dispatched<wait_signature, "syncyte::wait_message">();
  return op.call(ticket, what.comm, what.shape, what.dtype, what.is_receive, what.channel,
                 static_cast<std::int64_t>(rule));
}

}  // namespace syncyte::torch_binding
