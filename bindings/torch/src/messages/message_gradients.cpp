// Messages in autograd: the adjoint of a message is the one that goes back. messages.cpp says how they find each other.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <optional>
#include <utility>
#include <vector>

#include "autograd/join_dummies.hpp"
#include "autograd/linear_node.hpp"
#include "autograd/ordered.hpp"
#include "autograd/profile.hpp"
#include "autograd/tensor_modes.hpp"
#include "collectives/communicators.hpp"
#include "messages/messages.hpp"
#include "messages/tickets.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// A message as its node keeps it for backward.
struct message {
  std::int64_t comm, channel;
  std::vector<std::int64_t> shape;
  at::ScalarType dtype;
  c10::TensorOptions options;  // of the tensor that starts it

  value_and_status wait_for_cotangent(const at::Tensor& ticket, bool is_receive) const {
    return call_wait(ticket, comm, shape, dtype, is_receive, channel + 1, follow);
  }
};

message message_of(const at::Tensor& tensor, const route& way) {
  return {way.comm, way.channel, concrete_shape(tensor), tensor.scalar_type(), tensor.options()};
}

class send_function : public torch::autograd::Function<send_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const route& way) {
    keep(context, way.comm, message_of(input, way));
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_isend(input, way, {.needs_gradient = true});
  }

  static variable_list backward(AutogradContext* context, variable_list tickets) {
    TORCH_CHECK(is_traced(tickets[0]) || !is_no_ticket(tickets[0]),
                "backward reached an isend, but not its wait; expected the wait's result in the graph of what is "
                "differentiated: syncyte.torch.join_dummies");
    const backward_range range("syncyte::isend", tickets);
    return {std::get<0>(kept<message>(context).wait_for_cotangent(tickets[0], true)), at::Tensor()};
  }
};

/// Only the place in the graph counts of the tensor that starts a receive.
class receive_function : public torch::autograd::Function<receive_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& like, const route& way) {
    keep(context, way.comm, message_of(like, way));
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_irecv(like, way);
  }

  static variable_list backward(AutogradContext* context, variable_list tickets) {
    const backward_range range("syncyte::irecv", tickets);
    const message& given = kept<message>(context);
    const at::Tensor token = std::get<0>(given.wait_for_cotangent(tickets[0], false));
    return {join_dummies(at::zeros(given.shape, given.options), {token}), at::Tensor()};
  }
};

class wait_function : public torch::autograd::Function<wait_function> {
 public:
  /// `anchor` requires gradients where the ticket does not, but the sender may.
  static variable_list forward(AutogradContext* context, const at::Tensor& ticket,
                               const std::optional<at::Tensor>& anchor, const message& given, bool is_receive,
                               std::int64_t asked) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const auto [value, status] =
        call_wait(ticket, given.comm, given.shape, given.dtype, is_receive, given.channel, asked);
    variable_list constants{status};
    if (anchor && !records_gradient(label_in(status))) constants.push_back(value);
    context->mark_non_differentiable(constants);
    context->save_for_backward({status});
    keep(context, given.comm, given);
    context->saved_data["is receive"] = is_receive;
    context->saved_data["is anchored"] = anchor.has_value();
    return {value, status};
  }

  static variable_list backward(AutogradContext* context, variable_list cotangents) {
    refuse_batch(cotangents[0], "a message");
    const at::Tensor status = context->get_saved_variables()[0];
    const bool is_receive = context->saved_data["is receive"].toBool();
    const bool is_anchored = context->saved_data["is anchored"].toBool();
    const backward_range range(is_receive ? "syncyte::irecv_wait" : "syncyte::isend_wait", cotangents);
    const message& given = kept<message>(context);
    const route way{.comm = given.comm, .answered = status, .channel = given.channel + 1};
    const at::Tensor ticket = is_receive ? send_cotangent(cotangents[0], status, way, is_anchored)
                                         : receive_cotangent(given, cotangents[0], way);
    variable_list result(6);
    if (is_anchored)
      leave(ticket);
    else
      result[0] = ticket;
    return result;
  }

 private:
  static at::Tensor send_cotangent(const at::Tensor& cotangent, const at::Tensor& status, const route& way,
                                   bool is_anchored) {
    if (!is_traced(status) && !records_gradient(label_in(status)))
      return join_dummies(no_ticket(status.device()), {cotangent});
    TORCH_CHECK(!is_anchored || !is_recorded(cotangent),
                "the backward of a received message is to be differentiated again, but the receive is not part of a "
                "graph on this rank; expected the tensor given to recv or irecv to require gradients");
    return call_isend(cotangent, way, {.needs_gradient = is_recorded(cotangent)});
  }

  static at::Tensor receive_cotangent(const message& given, const at::Tensor& token, const route& way) {
    const auto like = at::zeros({}, token.options().dtype(given.dtype)).expand(given.shape);
    return call_irecv(join_dummies(like, {token}), way);
  }
};

at::Tensor isend_autograd(const at::Tensor& input, std::int64_t comm, std::int64_t dest, std::int64_t tag,
                          std::int64_t packed, const std::optional<at::Tensor>& answered, std::int64_t channel) {
  TORCH_CHECK_NOT_IMPLEMENTED(!carries_tangent(input),
                              "isend: messages carry no tangents of forward mode; expected a collective, or reverse "
                              "mode");
  const route way{comm, dest, tag, answered, channel};
  const auto start = [&](const at::Tensor& ordered) {
    if (is_recorded(ordered)) return send_function::apply(ordered, way);
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_isend(ordered, way, derivatives::unpacked(packed));
  };
  return answered ? start(input) : in_order(input, start);
}

at::Tensor irecv_autograd(const at::Tensor& like, std::int64_t comm, std::int64_t source, std::int64_t tag,
                          const std::optional<at::Tensor>& answered, std::int64_t channel) {
  const route way{comm, source, tag, answered, channel};
  const auto start = [&](const at::Tensor& ordered) {
    if (is_recorded(ordered)) return receive_function::apply(ordered, way);
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_irecv(ordered, way);
  };
  // A message that is received may require gradients though nothing on this rank does.
  const bool can_be_recorded = like.is_floating_point() || like.is_complex();
  return answered ? start(like) : in_order(like, start, can_be_recorded ? place::always : place::if_recorded);
}

/// Without gradients, and in a graph that is traced, the sender cannot be followed.
std::int64_t decided(std::int64_t asked, const at::Tensor& ticket) {
  const bool is_open = is_traced(ticket) ? asked >= follow : asked == follow && !at::GradMode::is_enabled();
  if (!is_open) return asked;
  return is_recorded(ticket) ? needed : none;
}

value_and_status wait_autograd(const at::Tensor& given, std::int64_t comm, at::IntArrayRef shape, at::ScalarType dtype,
                               bool is_receive, std::int64_t channel, std::int64_t asked) {
  const std::int64_t how = decided(asked, given);
  const bool may_follow = how >= follow && is_receive && at::GradMode::is_enabled();
  if (!is_recorded(given) && !may_follow) {
    const at::AutoDispatchBelowADInplaceOrView below;
    return call_wait(given, comm, shape, dtype, is_receive, channel, how);
  }
  at::Tensor ticket = given;
  std::optional<at::Tensor> anchor;
  if (!is_recorded(ticket)) anchor = at::zeros({}, at::kDouble).set_requires_grad(true);
  if (is_ordered()) (anchor ? *anchor : ticket) = after_the_last(anchor ? *anchor : ticket);
  const message what{comm, channel, shape.vec(), dtype, {}};
  const variable_list both = wait_function::apply(ticket, anchor, what, is_receive, how);
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
