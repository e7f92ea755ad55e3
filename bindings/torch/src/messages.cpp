// torch.ops.syncyte.isend, irecv, wait_message: messages between two ranks, differentiable.
//
// y_receiver = x_sender; the adjoint is the reverse message, x_sender's cotangent = y_receiver's. A start returns a
// ticket (requests.hpp). Backward of the receiver's wait starts to send the cotangent, backward of its start waits for
// that; backward of the sender's wait starts to receive it, backward of its start waits and has the gradient.
//
// Every message carries a label: a number that its sender gives no other one, and whether it records gradients. The
// answer, which travels back in backward, has that number for its tag, so that answers find their messages in whatever
// order the ranks run backward; and it travels in the next channel, so that answers to answers (higher derivatives) do
// not meet those either.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <atomic>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "answers.hpp"
#include "buffers.hpp"
#include "collect.hpp"
#include "dummies.hpp"
#include "forward_mode.hpp"
#include "linear.hpp"
#include "ordered.hpp"
#include "profile.hpp"
#include "requests.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// ---- Labels ----

std::int64_t new_label(bool needs_gradient) {
  static std::atomic<std::int64_t> last{0};
  return 2 * ++last + (needs_gradient ? 1 : 0);
}
bool records_gradient(std::int64_t label) { return label % 2 != 0; }
std::int32_t answer_tag(std::int64_t label) {
  std::int32_t highest = 0;
  check(syncyte_message_highest_tag(&highest));
  return static_cast<std::int32_t>(label / 2 % (std::int64_t{highest} + 1));
}

// ---- Starts ----

/// Where a message goes to or comes from.
struct route {
  std::int64_t comm;
  std::int64_t peer;
  std::int64_t tag;
  std::int64_t channel;
};

/// Of a message that has ended, whose status (wait_message) is given.
std::int64_t label_in(const at::Tensor& status) { return status.cpu().const_data_ptr<std::int64_t>()[1]; }

/// To the other side of such a message.
route answer_to(const at::Tensor& status, std::int64_t comm, std::int64_t channel) {
  const auto* const peer_and_label = status.const_data_ptr<std::int64_t>();
  return {comm, peer_and_label[0], answer_tag(peer_and_label[1]), channel};
}

answer_key key_of(const at::Tensor& status, std::int64_t comm, std::int64_t channel, bool is_send) {
  const auto* const peer_and_label = status.const_data_ptr<std::int64_t>();
  return {comm, peer_and_label[0], peer_and_label[1], channel, is_send};
}

std::int32_t narrowed(std::int64_t value, const char* argument) {
  TORCH_CHECK_VALUE(value == static_cast<std::int32_t>(value), argument, " is ", value, "; expected a rank or tag");
  return static_cast<std::int32_t>(value);
}

syncyte_message_options_t options_for(const route& way, std::int64_t label) {
  TORCH_CHECK_NOT_IMPLEMENTED(way.channel <= 7, "messages can be differentiated 7 times");
  syncyte_message_options_t options SYNCYTE_MESSAGE_OPTIONS_INIT;
  options.channel = static_cast<std::int32_t>(way.channel);
  options.label = label;
  return options;
}

std::string text_of(const char* operation, const char* preposition, const route& way) {
  const std::string message = std::string(operation) + ' ' + preposition + " rank " + std::to_string(way.peer);
  if (way.channel == 0) return message + ", tag " + std::to_string(way.tag);
  return message + ", of the derivative of message " + std::to_string(way.tag);
}

std::unique_ptr<outstanding> start_send(const at::Tensor& input, const route& way, bool needs_gradient) {
  const at::Tensor source = input.resolve_conj().resolve_neg();
  auto started = std::make_unique<outstanding>();
  // A copy: the input may change, or a compiled graph use its memory for something else, before the wait.
  started->memory = copy_to_pool(source);
  started->operation = text_of("isend", "to", way);
  const auto options = options_for(way, new_label(needs_gradient));
  started->status.source = narrowed(way.peer, "dest");
  started->status.label = options.label;
  const syncyte_buffer_t buffer = buffer_of(started->memory);
  check(syncyte_comm_isend(group_of(way.comm), &buffer, started->status.source, narrowed(way.tag, "tag"), &options,
                           &started->request));
  return started;
}

std::unique_ptr<outstanding> start_receive(at::IntArrayRef shape, at::ScalarType dtype, const route& way) {
  auto started = std::make_unique<outstanding>();
  started->memory = empty_from_pool(shape, dtype);
  if (way.peer == SYNCYTE_NOBODY) started->memory.zero_();  // nothing arrives
  started->operation = text_of("irecv", "from", way);
  const auto options = options_for(way, 0);
  started->status.source = narrowed(way.peer, "source");
  const syncyte_buffer_t buffer = buffer_of(started->memory);
  check(syncyte_comm_irecv(group_of(way.comm), started->status.source, narrowed(way.tag, "tag"), &options, &buffer,
                           &started->status, &started->request));
  return started;
}

// ---- Operators ----

/// Whether derivatives of a wait's result are recorded.
enum gradients : std::int64_t {
  none = 0,    // the sender must not record any either
  needed = 1,  // it must
  follow = 2,  // as it does
  free = 3     // as it does where that is possible
};

using send_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, std::int64_t, bool);
using receive_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, std::int64_t);
using send_answer_signature = at::Tensor(const at::Tensor&, const at::Tensor&, std::int64_t, std::int64_t, bool);
using receive_answer_signature = at::Tensor(const at::Tensor&, const at::Tensor&, std::int64_t, std::int64_t,
                                            at::IntArrayRef, at::ScalarType);
using value_and_status = std::tuple<at::Tensor, at::Tensor>;
using wait_signature = value_and_status(const at::Tensor&, std::int64_t, at::IntArrayRef, at::ScalarType, bool,
                                        std::int64_t, std::int64_t);

template <class Signature>
auto operator_of(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").template typed<Signature>();
}

const auto& isend_operator() {
  static const auto op = operator_of<send_signature>("syncyte::isend");
  return op;
}
const auto& irecv_operator() {
  static const auto op = operator_of<receive_signature>("syncyte::irecv");
  return op;
}
const auto& isend_answer_operator() {
  static const auto op = operator_of<send_answer_signature>("syncyte::isend_answer");
  return op;
}
const auto& irecv_answer_operator() {
  static const auto op = operator_of<receive_answer_signature>("syncyte::irecv_answer");
  return op;
}
const auto& wait_operator() {
  static const auto op = operator_of<wait_signature>("syncyte::wait_message");
  return op;
}

// ---- On tensors with memory ----

at::Tensor isend_cpu(const at::Tensor& input, std::int64_t comm, std::int64_t dest, std::int64_t tag,
                     bool needs_gradient) {
  return ticket_for(start_send(input, {comm, dest, tag, 0}, needs_gradient), unclaimed::warns);
}

at::Tensor irecv_cpu(const at::Tensor& like, std::int64_t comm, std::int64_t source, std::int64_t tag) {
  return ticket_for(start_receive(like.sizes(), like.scalar_type(), {comm, source, tag, 0}), unclaimed::warns);
}

at::Tensor isend_answer_cpu(const at::Tensor& input, const at::Tensor& status, std::int64_t comm, std::int64_t channel,
                            bool needs_gradient) {
  return start_answer(key_of(status, comm, channel, true), status, input, needs_gradient,
                      [&] { return start_send(input, answer_to(status, comm, channel), needs_gradient); });
}

at::Tensor irecv_answer_cpu(const at::Tensor&, const at::Tensor& status, std::int64_t comm, std::int64_t channel,
                            at::IntArrayRef shape, at::ScalarType dtype) {
  return start_answer(key_of(status, comm, channel, false), status, {}, false,
                      [&] { return start_receive(shape, dtype, answer_to(status, comm, channel)); });
}

void require_alike(const outstanding& ended, bool sender_records, std::int64_t asked) {
  TORCH_CHECK_VALUE(asked >= follow || sender_records == (asked == needed), ended.operation, ": the sender ",
                    sender_records ? "records" : "does not record", " gradients, but the receiver does",
                    sender_records ? " not" : "", "; expected both or neither");
}

value_and_status wait_cpu(const at::Tensor& ticket, std::int64_t, at::IntArrayRef shape, at::ScalarType dtype,
                          bool is_receive, std::int64_t, std::int64_t asked) {
  const at::Tensor status = empty_from_pool({2}, at::kLong);
  auto* const peer_and_label = status.mutable_data_ptr<std::int64_t>();
  if (is_no_ticket(ticket)) {
    peer_and_label[0] = SYNCYTE_NOBODY;
    peer_and_label[1] = 0;
    return {is_receive ? at::zeros(shape, dtype) : at::zeros({}, at::kDouble), status};
  }
  const auto ended = wait_for(ticket);
  keep_answer(*ended);
  peer_and_label[0] = ended->status.source;
  peer_and_label[1] = ended->status.label;
  if (!is_receive) return {at::zeros({}, at::kDouble), status};
  if (ended->status.source != SYNCYTE_NOBODY) require_alike(*ended, records_gradient(ended->status.label), asked);
  return {ended->memory, status};
}

// ---- On tensors without ----

at::Tensor ticket_like(const at::Tensor& tensor) { return at::empty({}, tensor.options().dtype(at::kDouble)); }

at::Tensor isend_meta(const at::Tensor& input, std::int64_t, std::int64_t, std::int64_t, bool) {
  return ticket_like(input);
}
at::Tensor irecv_meta(const at::Tensor& like, std::int64_t, std::int64_t, std::int64_t) { return ticket_like(like); }
at::Tensor isend_answer_meta(const at::Tensor& input, const at::Tensor&, std::int64_t, std::int64_t, bool) {
  return ticket_like(input);
}
at::Tensor irecv_answer_meta(const at::Tensor& token, const at::Tensor&, std::int64_t, std::int64_t, at::IntArrayRef,
                             at::ScalarType) {
  return ticket_like(token);
}
value_and_status wait_meta(const at::Tensor& ticket, std::int64_t, at::IntArrayRef shape, at::ScalarType dtype,
                           bool is_receive, std::int64_t, std::int64_t) {
  return {is_receive ? at::empty(shape, ticket.options().dtype(dtype)) : ticket_like(ticket),
          at::empty({2}, ticket.options().dtype(at::kLong))};
}

// ---- In autograd ----

/// While a graph is traced, tensors have no values.
bool is_traced(const at::Tensor& tensor) {
  return tensor.is_meta() || tensor.key_set().has(c10::DispatchKey::Python) ||
         tensor.key_set().has(c10::DispatchKey::Functionalize);
}

bool is_recorded(const at::Tensor& tensor) { return tensor.requires_grad() && at::GradMode::is_enabled(); }

void save_shape(AutogradContext* context, at::IntArrayRef shape, at::ScalarType dtype) {
  context->saved_data["shape"] = shape;
  context->saved_data["dtype"] = static_cast<std::int64_t>(dtype);
}
extents saved_shape(AutogradContext* context) { return context->saved_data["shape"].toIntVector(); }
at::ScalarType saved_dtype(AutogradContext* context) {
  return static_cast<at::ScalarType>(context->saved_data["dtype"].toInt());
}
std::int64_t saved(AutogradContext* context, const char* name) { return context->saved_data[name].toInt(); }

/// What isend and isend_answer share.
class send_function : public torch::autograd::Function<send_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, c10::function_ref<at::Tensor()> start,
                            std::int64_t comm, std::int64_t channel) {
    save_shape(context, concrete_shape(input), input.scalar_type());
    context->saved_data["comm"] = comm;
    context->saved_data["channel"] = channel;
    const at::AutoDispatchBelowADInplaceOrView below;
    return start();
  }

  static variable_list backward(AutogradContext* context, variable_list tickets) {
    TORCH_CHECK(is_traced(tickets[0]) || !is_no_ticket(tickets[0]),
                "backward reached an isend, but not its wait; expected the wait's result in the graph of what is "
                "differentiated: syncyte.torch.join_dummies");
    const eager_node node;
    const backward_range range("syncyte::isend", tickets);
    const auto [gradient, status] =
        wait_operator().call(tickets[0], saved(context, "comm"), saved_shape(context), saved_dtype(context),
                             /*is_receive=*/true, saved(context, "channel") + 1, follow);
    return {gradient, at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

/// What irecv and irecv_answer share: of the tensor that starts them only its place in the graph counts.
class receive_function : public torch::autograd::Function<receive_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& like, c10::function_ref<at::Tensor()> start,
                            std::int64_t comm, std::int64_t channel, at::IntArrayRef shape, at::ScalarType dtype) {
    save_shape(context, shape, dtype);
    context->saved_data["like"] = at::zeros({}, like.options()).expand(concrete_shape(like));
    context->saved_data["comm"] = comm;
    context->saved_data["channel"] = channel;
    const at::AutoDispatchBelowADInplaceOrView below;
    return start();
  }

  static variable_list backward(AutogradContext* context, variable_list tickets) {
    const backward_range range("syncyte::irecv", tickets);
    const auto [token, status] =
        wait_operator().call(tickets[0], saved(context, "comm"), saved_shape(context), saved_dtype(context),
                             /*is_receive=*/false, saved(context, "channel") + 1, follow);
    variable_list result(6);
    result[0] = join_dummies(at::zeros_like(context->saved_data["like"].toTensor()), {token});
    return result;
  }
};

class wait_function : public torch::autograd::Function<wait_function> {
 public:
  /// `anchor` requires gradients where the ticket does not, but the sender may.
  static variable_list forward(AutogradContext* context, const at::Tensor& ticket,
                               const std::optional<at::Tensor>& anchor, std::int64_t comm, at::IntArrayRef shape,
                               at::ScalarType dtype, bool is_receive, std::int64_t channel, std::int64_t asked) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const auto [value, status] = wait_operator().call(ticket, comm, shape, dtype, is_receive, channel, asked);
    variable_list constants{status};
    if (anchor && !records_gradient(label_in(status))) constants.push_back(value);
    context->mark_non_differentiable(constants);
    context->save_for_backward({status});
    save_shape(context, shape, dtype);
    context->saved_data["comm"] = comm;
    context->saved_data["channel"] = channel;
    context->saved_data["is receive"] = is_receive;
    context->saved_data["is anchored"] = anchor.has_value();
    return {value, status};
  }

  static variable_list backward(AutogradContext* context, variable_list cotangents) {
    refuse_batch(cotangents[0], "a message");
    const at::Tensor status = context->get_saved_variables()[0];
    const bool is_receive = context->saved_data["is receive"].toBool();
    const backward_range range(is_receive ? "syncyte::irecv_wait" : "syncyte::isend_wait", cotangents);
    const at::Tensor ticket = is_receive ? send_cotangent(context, cotangents[0], status)
                                         : irecv_answer_operator().call(cotangents[0], status, saved(context, "comm"),
                                                                        saved(context, "channel") + 1,
                                                                        saved_shape(context), saved_dtype(context));
    variable_list result(8);
    if (context->saved_data["is anchored"].toBool()) {
      leave(ticket);
    } else {
      result[0] = ticket;
    }
    return result;
  }

 private:
  static at::Tensor send_cotangent(AutogradContext* context, const at::Tensor& cotangent, const at::Tensor& status) {
    if (!is_traced(status) && !records_gradient(label_in(status)))
      return join_dummies(no_ticket(status.device()), {cotangent});
    TORCH_CHECK(!context->saved_data["is anchored"].toBool() || !is_recorded(cotangent),
                "the backward of a received message is to be differentiated again, but the receive is not part of a "
                "graph on this rank; expected the tensor given to recv or irecv to require gradients");
    return isend_answer_operator().call(cotangent, status, saved(context, "comm"), saved(context, "channel") + 1,
                                        is_recorded(cotangent));
  }
};

void refuse_tangent(const at::Tensor& input) {
  TORCH_CHECK_NOT_IMPLEMENTED(!carries_tangent(input),
                              "isend: messages carry no tangents of forward mode; expected a collective, or reverse "
                              "mode");
}

at::Tensor isend_autograd(c10::DispatchKeySet keys, const at::Tensor& input, std::int64_t comm, std::int64_t dest,
                          std::int64_t tag, bool needs_gradient) {
  refuse_tangent(input);
  return in_order(input, [&](const at::Tensor& ordered) {
    if (is_recorded(ordered))
      return send_function::apply(
          ordered, [&] { return isend_operator().call(ordered, comm, dest, tag, true); }, comm, 0);
    return isend_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, ordered, comm, dest, tag,
                                       needs_gradient);
  });
}

at::Tensor irecv_autograd(c10::DispatchKeySet keys, const at::Tensor& like, std::int64_t comm, std::int64_t source,
                          std::int64_t tag) {
  const auto start = [&](const at::Tensor& ordered) {
    if (is_recorded(ordered))
      return receive_function::apply(
          ordered, [&] { return irecv_operator().call(ordered, comm, source, tag); }, comm, 0, concrete_shape(ordered),
          ordered.scalar_type());
    return irecv_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, ordered, comm, source, tag);
  };
  // What is received may require gradients though nothing on this rank does.
  const bool can_be_recorded = like.is_floating_point() || like.is_complex();
  return in_order(like, start, can_be_recorded ? place::always : place::if_recorded);
}

at::Tensor isend_answer_autograd(c10::DispatchKeySet keys, const at::Tensor& input, const at::Tensor& status,
                                 std::int64_t comm, std::int64_t channel, bool needs_gradient) {
  refuse_tangent(input);
  if (is_recorded(input))
    return send_function::apply(
        input, [&] { return isend_answer_operator().call(input, status, comm, channel, true); }, comm, channel);
  return isend_answer_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, input, status, comm, channel,
                                            needs_gradient);
}

at::Tensor irecv_answer_autograd(c10::DispatchKeySet keys, const at::Tensor& token, const at::Tensor& status,
                                 std::int64_t comm, std::int64_t channel, at::IntArrayRef shape, at::ScalarType dtype) {
  if (is_recorded(token))
    return receive_function::apply(
        token, [&] { return irecv_answer_operator().call(token, status, comm, channel, shape, dtype); }, comm, channel,
        shape, dtype);
  return irecv_answer_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, token, status, comm, channel,
                                            shape, dtype);
}

/// Without gradients, and in a graph that is traced, the sender cannot be followed.
std::int64_t decided(std::int64_t asked, const at::Tensor& ticket) {
  const bool is_open = is_traced(ticket) ? asked >= follow : asked == follow && !at::GradMode::is_enabled();
  if (!is_open) return asked;
  return is_recorded(ticket) ? needed : none;
}

value_and_status wait_autograd(c10::DispatchKeySet keys, const at::Tensor& given, std::int64_t comm,
                               at::IntArrayRef shape, at::ScalarType dtype, bool is_receive, std::int64_t channel,
                               std::int64_t asked) {
  const std::int64_t how = decided(asked, given);
  const bool may_follow = how >= follow && is_receive && at::GradMode::is_enabled();
  if (!is_recorded(given) && !may_follow)
    return wait_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, given, comm, shape, dtype, is_receive,
                                      channel, how);
  at::Tensor ticket = given;
  std::optional<at::Tensor> anchor;
  if (!is_recorded(ticket)) anchor = at::zeros({}, at::kDouble).set_requires_grad(true);
  if (is_ordered()) (anchor ? *anchor : ticket) = after_the_last(anchor ? *anchor : ticket);
  const variable_list both = wait_function::apply(ticket, anchor, comm, shape, dtype, is_receive, channel, how);
  if (is_ordered()) make_last(both[0]);
  return {both[0], both[1]};
}

/// For tests of leaks.
std::int64_t count_requests() {
  give_up_answers();
  return requests_under_way();
}

bool test_message(const at::Tensor& ticket) { return has_ended(ticket); }

void implement_all(torch::Library& library, c10::DispatchKey key) {
  const auto either = [&](const char* name, auto* cpu, auto* meta, auto* autograd) {
    if (key == c10::DispatchKey::CPU) library.impl(name, cpu);
    if (key == c10::DispatchKey::Meta) library.impl(name, meta);
    if (key == c10::DispatchKey::Autograd) library.impl(name, autograd);
  };
  either("isend", isend_cpu, isend_meta, isend_autograd);
  either("irecv", irecv_cpu, irecv_meta, irecv_autograd);
  either("isend_answer", isend_answer_cpu, isend_answer_meta, isend_answer_autograd);
  either("irecv_answer", irecv_answer_cpu, irecv_answer_meta, irecv_answer_autograd);
  either("wait_message", wait_cpu, wait_meta, wait_autograd);
}

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  library.def("isend(Tensor input, int comm, int dest, int tag, bool needs_gradient=False) -> Tensor", tags);
  library.def("irecv(Tensor like, int comm, int source, int tag) -> Tensor", tags);
  library.def("isend_answer(Tensor input, Tensor status, int comm, int channel, bool needs_gradient=False) -> Tensor",
              tags);
  library.def(
      "irecv_answer(Tensor token, Tensor status, int comm, int channel, int[] shape, ScalarType dtype) -> Tensor",
      tags);
  // The values of `gradients` are those of the enumeration above.
  library.def(
      "wait_message(Tensor ticket, int comm, int[] shape, ScalarType dtype, bool is_receive, int channel=0, "
      "int gradients=2) -> (Tensor value, Tensor status)",
      tags);
  library.def("test_message(Tensor ticket) -> bool");
  library.def("requests_under_way() -> int", count_requests);
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  implement_all(library, c10::DispatchKey::CPU);
  library.impl("test_message", test_message);
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { implement_all(library, c10::DispatchKey::Meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { implement_all(library, c10::DispatchKey::Autograd); }
