// SPDX-License-Identifier: BSD-3-Clause
// Messages in autograd: the adjoint of a message is the one that goes back. messages.cpp says how they find each other.

#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <optional>
#include <vector>

#include "autograd/join_dummies.hpp"
#include "autograd/linear_node.hpp"
#include "messages/messages.hpp"
#include "requests/tickets.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The start of a message, from a tensor to the ticket. The gradient of a receive's tensor is zero.
struct message_start : route {
  bool is_send;
  c10::TensorOptions options;  // of the tensor

  const char* profiled_as() const { return is_send ? "syncyte::isend" : "syncyte::irecv"; }
  at::Tensor call(const at::Tensor& input, derivatives wanted) const {
    return is_send ? call_isend(input, *this, wanted) : call_irecv(input, *this);
  }
  at::Tensor adjoint(const at::Tensor& ticket, c10::SymIntArrayRef sizes, derivatives) const {
    TORCH_CHECK(!is_send || torch_binding::is_traced(ticket) || !is_no_ticket(ticket),
                "backward reached an isend, but not its wait; expected the wait's result in the graph of what is "
                "differentiated: syncyte.torch.join_dummies");
    const message cotangent{comm, concrete_shape(sizes), c10::typeMetaToScalarType(options.dtype()), is_send,
                            channel + 1};
    const at::Tensor value = std::get<0>(call_wait(ticket, cotangent));
    return is_send ? value : join_dummies(at::zeros(cotangent.shape, options), {value});
  }
  std::int64_t number_of_forward() const { return 0; }
};

at::Tensor start_autograd(const at::Tensor& input, const message_start& what, derivatives wanted, takes_part when) {
  const auto start = [&](const at::Tensor& ordered) { return run_with_node_if_recorded(ordered, what, wanted); };
  return what.answered ? start(input) : in_order(input, start, when);
}

at::Tensor isend_autograd(const at::Tensor& input, std::int64_t comm, std::int64_t dest, std::int64_t tag,
                          std::int64_t packed, const std::optional<at::Tensor>& answered, std::int64_t channel) {
  TORCH_CHECK_NOT_IMPLEMENTED(!carries_tangent(input),
                              "isend: messages carry no tangents of forward mode; expected a collective, or reverse "
                              "mode");
  const message_start what{{comm, dest, tag, answered, channel}, true, input.options()};
  return start_autograd(input, what, derivatives::unpacked(packed), takes_part::if_recorded);
}

at::Tensor irecv_autograd(const at::Tensor& like, std::int64_t comm, std::int64_t source, std::int64_t tag,
                          const std::optional<at::Tensor>& answered, std::int64_t channel) {
  const message_start what{{comm, source, tag, answered, channel}, false, like.options()};
  // A message that is received may require gradients though nothing on this rank does.
  const bool can_be_recorded = like.is_floating_point() || like.is_complex();
  return start_autograd(like, what, {}, can_be_recorded ? takes_part::always : takes_part::if_recorded);
}

/// A message that has been waited for.
struct waited_message : message {
  bool is_anchored;  ///< the ticket does not require gradients, but the sender may
};

class wait_function : public torch::autograd::Function<wait_function> {
 public:
  /// `anchor` requires gradients where the ticket does not.
  static variable_list forward(AutogradContext* context, const at::Tensor& ticket,
                               const std::optional<at::Tensor>& anchor, const message& what, gradient_rule rule) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const auto [value, status] = call_wait(ticket, what, rule);
    variable_list constants{status};
    if (anchor && !records_gradient(label_in(status))) constants.push_back(value);
    context->mark_non_differentiable(constants);
    context->save_for_backward({status});
    keep(context, waited_message{what, anchor.has_value()});
    return {value, status};
  }

  static variable_list backward(AutogradContext* context, variable_list cotangents) {
    refuse_batch(cotangents[0], "a message");
    const at::Tensor status = context->get_saved_variables()[0];
    const auto& what = kept<waited_message>(context);
    const backward_range range(what.is_receive ? "syncyte::irecv_wait" : "syncyte::isend_wait", cotangents);
    const at::Tensor ticket =
        what.is_receive ? send_cotangent(what, cotangents[0], status) : receive_cotangent(what, cotangents[0], status);
    variable_list result(4);
    if (what.is_anchored)
      abandon(ticket);
    else
      result[0] = ticket;
    return result;
  }

 private:
  static route answer(const message& what, const at::Tensor& status) {
    return {.comm = what.comm, .answered = status, .channel = what.channel + 1};
  }

  static at::Tensor send_cotangent(const waited_message& what, const at::Tensor& cotangent, const at::Tensor& status) {
    if (!is_traced(status) && !records_gradient(label_in(status)))
      return join_dummies(no_ticket(status.device()), {cotangent});
    TORCH_CHECK(!what.is_anchored || !is_recorded(cotangent),
                "the backward of a received message is to be differentiated again, but the receive is not part of a "
                "graph on this rank; expected the tensor given to recv or irecv to require gradients");
    return call_isend(cotangent, answer(what, status), {.needs_gradient = is_recorded(cotangent)});
  }

  static at::Tensor receive_cotangent(const message& what, const at::Tensor& token, const at::Tensor& status) {
    const auto like = at::zeros({}, token.options().dtype(what.dtype)).expand(what.shape);
    return call_irecv(join_dummies(like, {token}), answer(what, status));
  }
};

/// The rule where the sender does not decide: in a graph that is traced, and where gradients are not recorded.
gradient_rule decided(gradient_rule rule, const at::Tensor& ticket) {
  const bool is_ticket_decisive =
      is_traced(ticket) ? depends_on_sender(rule) : rule == gradient_rule::as_sender && !at::GradMode::is_enabled();
  if (!is_ticket_decisive) return rule;
  return is_recorded(ticket) ? gradient_rule::required : gradient_rule::refused;
}

value_and_status wait_autograd(const at::Tensor& given, std::int64_t comm, at::IntArrayRef shape, at::ScalarType dtype,
                               bool is_receive, std::int64_t channel, std::int64_t rule) {
  const message what{comm, shape.vec(), dtype, is_receive, channel};
  const gradient_rule how = decided(gradient_rule{rule}, given);
  const bool may_follow = depends_on_sender(how) && is_receive && at::GradMode::is_enabled();
  if (!is_recorded(given) && !may_follow) {
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_wait(given, what, how);
  }
  at::Tensor ticket = given;
  std::optional<at::Tensor> anchor;
  if (!is_recorded(ticket)) anchor = at::zeros({}, at::kDouble).set_requires_grad(true);
  if (is_ordered()) (anchor ? *anchor : ticket) = after_the_last(anchor ? *anchor : ticket);
  const variable_list both = wait_function::apply(ticket, anchor, what, how);
  if (is_ordered()) make_last(both[0]);
  return {both[0], both[1]};
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("isend", isend_autograd);
  library.impl("irecv", irecv_autograd);
  library.impl("wait_message", wait_autograd);
}

}  // namespace syncyte::torch_binding
