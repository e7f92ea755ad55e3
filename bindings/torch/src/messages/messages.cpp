// torch.ops.syncyte.isend, irecv, wait_message: messages between two ranks, differentiable.
//
// y_receiver = x_sender; the adjoint is the reverse message, x_sender's cotangent = y_receiver's. A start returns a
// ticket (requests.hpp). Backward of the receiver's wait starts to send the cotangent, backward of its start waits for
// that; backward of the sender's wait starts to receive it, backward of its start waits and has the gradient.
//
// Every message carries a label: a number that its sender gives no other one, how many of the sender's backward passes
// have failed (backward_pass.hpp), and whether it records gradients. The answer, which travels back in backward, has
// that number for its tag, so that answers find their messages in whatever order the ranks run backward; and it travels
// in the next channel, so that answers to answers (higher derivatives) do not meet those either.

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "autograd/backward_pass.hpp"
#include "collectives/communicators.hpp"
#include "messages/messages.hpp"
#include "messages/tickets.hpp"
#include "tensors/buffers.hpp"
#include "tensors/operation_memory.hpp"

namespace syncyte::torch_binding {
namespace {

// ---- Labels ----

std::atomic<std::int64_t>& last_number() {
  static std::atomic<std::int64_t> last{0};
  return last;
}
std::int64_t new_label(std::int64_t failures, bool needs_gradient) {
  return (++last_number() * failure_range + failures % failure_range) * 2 + (needs_gradient ? 1 : 0);
}
std::int32_t answer_tag(std::int64_t label) {
  std::int32_t highest = 0;
  check(syncyte_message_highest_tag(&highest));
  return static_cast<std::int32_t>(label / 2 / failure_range % (std::int64_t{highest} + 1));
}

// ---- Starts ----

/// The route with its other rank and tag: those of the message that it answers, if it does.
route resolved(const route& given) {
  if (!given.answered) return given;
  const auto* const peer_and_label = given.answered->const_data_ptr<std::int64_t>();
  return {given.comm, peer_and_label[0], answer_tag(peer_and_label[1]), given.answered, given.channel};
}

std::int32_t narrowed(std::int64_t value, const char* argument) {
  TORCH_CHECK_VALUE(value == static_cast<std::int32_t>(value), argument, " is ", value, "; expected a rank or tag");
  return static_cast<std::int32_t>(value);
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

std::unique_ptr<outstanding> start_send(const at::Tensor& input, const route& way, bool needs_gradient) {
  require_few_dimensions(input.sizes());
  const at::Tensor source = input.resolve_conj().resolve_neg();
  auto started = std::make_unique<outstanding>();
  // A copy: the input may change, or a compiled graph use its memory for something else, before the wait.
  started->memory = copy_to_pool(source);
  started->operation = text_of("isend", "to", way);
  const auto options = options_for(way, new_label(failed_passes(way.comm, way.peer), needs_gradient), started->memory);
  started->status.source = narrowed(way.peer, "dest");
  started->status.label = options.label;
  const syncyte_buffer_t buffer = buffer_of(started->memory);
  check(syncyte_comm_isend(group_of(way.comm), &buffer, started->status.source, narrowed(way.tag, "tag"), &options,
                           &started->request));
  return started;
}

std::unique_ptr<outstanding> start_receive(at::IntArrayRef shape, at::ScalarType dtype, const route& way) {
  require_few_dimensions(shape);
  auto started = std::make_unique<outstanding>();
  started->memory = empty_from_pool(shape, dtype);
  if (way.peer == SYNCYTE_PROC_NULL) {  // nothing arrives, for which a wait on another stream would wait
    started->memory.zero_();
    wait_for_stream(started->memory.device());
  }
  started->operation = text_of("irecv", "from", way);
  const auto options = options_for(way, 0, started->memory);
  started->status.source = narrowed(way.peer, "source");
  const syncyte_buffer_t buffer = buffer_of(started->memory);
  check(syncyte_comm_irecv(group_of(way.comm), started->status.source, narrowed(way.tag, "tag"), &options, &buffer,
                           &started->status, &started->request));
  return started;
}

// ---- On tensors with memory ----

/// A message that its ticket's holder waits for.
at::Tensor own_ticket(std::unique_ptr<outstanding> started, std::int64_t comm, bool is_receive) {
  const extents shape = started->memory.sizes().vec();
  started->wait = [=, dtype = started->memory.scalar_type()](const at::Tensor& ticket) {
    return std::get<0>(call_wait(ticket, comm, shape, dtype, is_receive, 0, follow));
  };
  return ticket_for(std::move(started), unclaimed::warns);
}

/// A rank that repeats a pass that failed sends this in place of a cotangent, so that its receiver fails too.
void send_no_cotangent(const route& way) {
  leave(ticket_for(start_send(at::empty({}, at::kBool), way, false), unclaimed::waits));
}

/// Starts a message; a cotangent's for the backward pass that this thread is in.
at::Tensor started(const route& way, bool is_send, c10::function_ref<std::unique_ptr<outstanding>()> start) {
  if (!way.answered) return own_ticket(start(), way.comm, !is_send);
  const auto pass = backward_pass::current();
  if (pass == nullptr) return ticket_for(start(), unclaimed::waits);
  const cotangent_message message{way.comm, way.peer, label_in(*way.answered), way.channel, is_send};
  const bool is_repeated = is_of_failed_pass(message);
  if (is_repeated && is_send) send_no_cotangent(way);
  TORCH_CHECK(!is_repeated, "a backward pass that failed has ", is_send ? "sent" : "started to receive",
              " the cotangent of a message ", is_send ? "to" : "from", " rank ", way.peer,
              ", so the pass cannot be repeated; expected a new forward on all ranks");
  const at::Tensor ticket = ticket_for(start(), unclaimed::waits);
  pass->add(ticket, message);
  return ticket;
}

at::Tensor isend_cpu(const at::Tensor& input, std::int64_t comm, std::int64_t dest, std::int64_t tag,
                     std::int64_t packed, const std::optional<at::Tensor>& answered, std::int64_t channel) {
  const route way = resolved({comm, dest, tag, answered, channel});
  return started(way, true, [&] { return start_send(input, way, derivatives::unpacked(packed).needs_gradient); });
}

at::Tensor irecv_cpu(const at::Tensor& like, std::int64_t comm, std::int64_t source, std::int64_t tag,
                     const std::optional<at::Tensor>& answered, std::int64_t channel) {
  const route way = resolved({comm, source, tag, answered, channel});
  return started(way, false, [&] { return start_receive(like.sizes(), like.scalar_type(), way); });
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

void require_alike(const outstanding& ended, bool sender_records, std::int64_t asked) {
  TORCH_CHECK_VALUE(asked >= follow || sender_records == (asked == needed), ended.operation, ": the sender ",
                    sender_records ? "records" : "does not record", " gradients, but the receiver does",
                    sender_records ? " not" : "", "; expected both or neither");
}

value_and_status wait_cpu(const at::Tensor& ticket, std::int64_t comm, at::IntArrayRef shape, at::ScalarType dtype,
                          bool is_receive, std::int64_t channel, std::int64_t asked) {
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
  if (ended->status.source != SYNCYTE_PROC_NULL) require_alike(*ended, records_gradient(ended->status.label), asked);
  return {ended->memory, status};
}

// ---- On tensors without ----

value_and_status wait_meta(const at::Tensor& ticket, std::int64_t, at::IntArrayRef shape, at::ScalarType dtype,
                           bool is_receive, std::int64_t, std::int64_t) {
  return {is_receive ? at::empty(shape, ticket.options().dtype(dtype)) : at::empty_like(ticket),
          at::empty({2}, ticket.options().dtype(at::kLong))};
}

bool test_message(const at::Tensor& ticket) { return has_ended(ticket); }

/// For tests of numbers that wrap round: the last message's number, after `count` numbers that no message gets.
std::int64_t skip_message_numbers(std::int64_t count) { return last_number() += count; }

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  library.impl("requests_under_way", requests_under_way);
  library.impl("skip_message_numbers", skip_message_numbers);
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("isend", isend_cpu);
  library.impl("irecv", irecv_cpu);
  library.impl("wait_message", wait_cpu);
  library.impl("test_message", test_message);
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("wait_message", wait_meta); }
