// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.isend, irecv, wait_message, send, recv, sendrecv: messages between two ranks, differentiable.
//
// y_receiver = x_sender; the adjoint is the reverse message, x_sender's cotangent = y_receiver's. A start returns a
// ticket (tickets.hpp). Backward of the receiver's wait starts to send the cotangent, backward of its start waits for
// that; backward of the sender's wait starts to receive it, backward of its start waits and has the gradient.
//
// Every message carries a label: a number that its sender gives to no other message, how many of the sender's backward
// passes have failed (backward_pass.hpp), and whether it records gradients. The answer, which travels back in backward,
// has that number for its tag, so that answers find their messages in whatever order the ranks run backward; and it
// travels in the next channel, so that answers to answers (higher derivatives) do not meet answers.

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "autograd/backward_pass.hpp"
#include "autograd/join_dummies.hpp"
#include "collectives/communicators.hpp"
#include "messages/messages.hpp"
#include "requests/tickets.hpp"
#include "tensors/buffers.hpp"
#include "tensors/operation_memory.hpp"

namespace syncyte::torch_binding {
namespace {

// ---- Labels ----

std::atomic<std::int64_t> last_number{0};

std::int64_t new_label(std::int64_t failures, bool needs_gradient) {
  return (++last_number * failure_range + failures % failure_range) * 2 + (needs_gradient ? 1 : 0);
}
std::int32_t answer_tag(std::int64_t label) {
  const std::int32_t highest = checked(highest_tag);
  return static_cast<std::int32_t>(label / 2 / failure_range % (std::int64_t{highest} + 1));
}

// ---- Starts ----

/// The route with its rank and tag, which are taken from the message that it answers, if it answers one.
route resolved(const route& given) {
  if (!given.answered) return given;
  const auto* const peer_and_label = given.answered->const_data_ptr<std::int64_t>();
  return {given.comm, peer_and_label[0], answer_tag(peer_and_label[1]), given.answered, given.channel};
}

syncyte_message_options_t options_for(const route& way, std::int64_t label, const at::Tensor& memory) {
  TORCH_CHECK_NOT_IMPLEMENTED(way.channel <= 7, "messages can be differentiated 7 times");
  syncyte_message_options_t options SYNCYTE_MESSAGE_OPTIONS_INIT;
  options.channel = static_cast<std::int32_t>(way.channel);
  options.label = label;
  options.room = memory.is_cpu() ? 0 : SYNCYTE_MESSAGE_ROOM;  // operation_memory.hpp
  return options;
}

std::string text_of(const char* operation, const char* preposition, const route& way) {
  const std::string message = std::string(operation) + ' ' + preposition + " rank " + std::to_string(way.peer);
  if (!way.answered) return message + ", tag " + std::to_string(way.tag);
  return message + ", of the derivative of message " + std::to_string(way.tag);
}

/// Starts a message. A receive needs only the shape and the dtype of its tensor.
std::unique_ptr<outstanding> start(const at::Tensor& tensor, const route& way, bool is_send, bool needs_gradient) {
  require_few_dimensions(tensor.sizes());
  auto started = std::make_unique<outstanding>();
  started->operation = is_send ? text_of("isend", "to", way) : text_of("irecv", "from", way);
  started->status.source = narrowed(is_send ? "dest" : "source", way.peer);
  if (is_send) {
    // A copy: the input may change, or a compiled graph use its memory for something else, before the wait.
    started->memory = copy_to_pool(tensor.resolve_conj().resolve_neg());
    started->status.label = new_label(failed_passes(way.comm, way.peer), needs_gradient);
  } else {
    started->memory = empty_from_pool(tensor.sizes(), tensor.scalar_type());
    if (way.peer == SYNCYTE_PROC_NULL) {  // nothing arrives, for which a wait on another stream would wait
      started->memory.zero_();
      wait_for_stream(started->memory.device());
    }
  }
  const auto options = options_for(way, started->status.label, started->memory);
  const borrowed<communicator> group = group_of(way.comm);
  const buffer array = buffer_of(started->memory);
  const std::int32_t peer = started->status.source;
  const std::int32_t tag = narrowed("tag", way.tag);
  check(is_send
            ? syncyte_comm_isend(group->get(), array.get(), peer, tag, &options, &started->request)
            : syncyte_comm_irecv(group->get(), peer, tag, &options, array.get(), &started->status, &started->request));
  return started;
}

// ---- On tensors with memory ----

/// A rank that repeats a pass that failed sends this in place of a cotangent, so that its receiver fails too.
void send_no_cotangent(const route& way) {
  abandon(ticket_for(start(at::empty({}, at::kBool), way, true, false), if_abandoned::waits));
}

/// Starts a message; a message with a cotangent belongs to the backward pass that this thread is in.
at::Tensor start_message(const at::Tensor& tensor, const route& given, bool is_send, bool needs_gradient) {
  const route way = resolved(given);
  if (!way.answered) {
    auto started = start(tensor, way, is_send, needs_gradient);
    started->wait = [own = message{way.comm, tensor.sizes().vec(), tensor.scalar_type(), !is_send}](
                        const at::Tensor& ticket) { return std::get<0>(call_wait(ticket, own)); };
    return ticket_for(std::move(started), if_abandoned::warns);
  }
  const auto pass = backward_pass::current();
  const cotangent_message cotangent{way.comm, way.peer, label_in(*way.answered), way.channel, is_send};
  const bool is_repeated = pass != nullptr && is_of_failed_pass(cotangent);
  if (is_repeated && is_send) send_no_cotangent(way);
  TORCH_CHECK(!is_repeated, "a backward pass that failed has ", is_send ? "sent" : "started to receive",
              " the cotangent of a message ", is_send ? "to" : "from", " rank ", way.peer,
              ", so the pass cannot be repeated; expected a new forward on all ranks");
  const at::Tensor ticket = ticket_for(start(tensor, way, is_send, needs_gradient), if_abandoned::waits);
  if (pass != nullptr) pass->add(ticket, cotangent);
  return ticket;
}

at::Tensor isend_cpu(const at::Tensor& input, std::int64_t comm, std::int64_t dest, std::int64_t tag,
                     std::int64_t packed, const std::optional<at::Tensor>& answered, std::int64_t channel) {
  const bool needs_gradient = derivatives::unpacked(packed).needs_gradient;
  return start_message(input, {comm, dest, tag, answered, channel}, true, needs_gradient);
}

at::Tensor irecv_cpu(const at::Tensor& like, std::int64_t comm, std::int64_t source, std::int64_t tag,
                     const std::optional<at::Tensor>& answered, std::int64_t channel) {
  return start_message(like, {comm, source, tag, answered, channel}, false, false);
}

/// Waits for a cotangent, which is of the same pass on its sender as the others that have come from there.
std::unique_ptr<outstanding> wait_for_cotangent(const at::Tensor& ticket, std::int64_t comm) {
  std::unique_ptr<outstanding> ended;
  try {
    ended = wait_for(ticket);
  } catch (const c10::ValueError& error) {
    TORCH_CHECK_VALUE(false, error.what_without_backtrace(),
                      ": the sender repeats a backward pass that failed there; expected a new forward on all ranks");
  }
  if (const auto pass = backward_pass::current(); pass != nullptr && ended->status.source != SYNCYTE_PROC_NULL)
    pass->require_one_pass(comm, ended->status.source, failures_in(ended->status.label));
  return ended;
}

void require_alike(const outstanding& ended, gradient_rule rule) {
  const bool sender_records = records_gradient(ended.status.label);
  const bool is_allowed = depends_on_sender(rule) || sender_records == (rule == gradient_rule::required);
  TORCH_CHECK_VALUE(is_allowed, ended.operation, ": the sender ", sender_records ? "records" : "does not record",
                    " gradients, but the receiver does", sender_records ? " not" : "", "; expected both or neither");
}

value_and_status wait_cpu(const at::Tensor& ticket, std::int64_t comm, at::IntArrayRef shape, at::ScalarType dtype,
                          bool is_receive, std::int64_t channel, std::int64_t rule) {
  const at::Tensor status = empty_from_pool({2}, at::kLong);
  auto* const peer_and_label = status.mutable_data_ptr<std::int64_t>();
  if (is_no_ticket(ticket)) {
    peer_and_label[0] = SYNCYTE_PROC_NULL;
    peer_and_label[1] = 0;
    return {is_receive ? at::zeros(shape, dtype) : at::zeros({}, at::kDouble), status};
  }
  const auto ended = is_receive && channel > 0 ? wait_for_cotangent(ticket, comm) : wait_for(ticket);
  peer_and_label[0] = ended->status.source;
  peer_and_label[1] = ended->status.label;
  if (!is_receive) return {at::zeros({}, at::kDouble), status};
  if (ended->status.source != SYNCYTE_PROC_NULL) require_alike(*ended, gradient_rule{rule});
  return {ended->memory, status};
}

// ---- On tensors without memory ----

value_and_status wait_meta(const at::Tensor& ticket, std::int64_t, at::IntArrayRef shape, at::ScalarType dtype,
                           bool is_receive, std::int64_t, std::int64_t) {
  return {is_receive ? at::empty(shape, ticket.options().dtype(dtype)) : at::empty_like(ticket),
          at::empty({2}, ticket.options().dtype(at::kLong))};
}

/// For tests of numbers that wrap round: the last message's number, after `count` numbers that no message gets.
std::int64_t skip_message_numbers(std::int64_t count) { return last_number += count; }

// ---- For C++ and TorchScript, which have no request objects ----

at::Tensor send(const at::Tensor& input, std::int64_t comm, std::int64_t dest, std::int64_t tag) {
  return wait_for_result(call_isend(input, {comm, dest, tag}, {}));
}

at::Tensor recv(const at::Tensor& like, std::int64_t comm, std::int64_t source, std::int64_t tag) {
  return wait_for_result(call_irecv(like, {comm, source, tag}));
}

at::Tensor sendrecv(const at::Tensor& input, std::int64_t comm, std::int64_t dest, const at::Tensor& like,
                    std::int64_t source, std::int64_t tag, std::int64_t recv_tag) {
  const at::Tensor sent = call_isend(input, {comm, dest, tag}, {});
  const at::Tensor received = recv(join_dummies(like, {sent}), comm, source, recv_tag);
  return join_dummies(received, {wait_for_result(sent)});
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("send", send);
  library.impl("recv", recv);
  library.impl("sendrecv", sendrecv);
  library.impl("skip_message_numbers", skip_message_numbers);
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("isend", isend_cpu);
  library.impl("irecv", irecv_cpu);
  library.impl("wait_message", wait_cpu);
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("wait_message", wait_meta); }

}  // namespace syncyte::torch_binding
