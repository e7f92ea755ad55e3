// Messages in autograd: the adjoint of a message is the one that goes back. messages.cpp says how they find each other.

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <optional>

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

const std::int64_t needs_gradient = derivatives{.needs_gradient = true}.packed();

/// What backward needs to know of a message.
void save(AutogradContext* context, std::int64_t comm, std::int64_t channel, at::IntArrayRef shape,
          at::ScalarType dtype) {
  context->saved_data["comm"] = comm;
  context->saved_data["comm reference"] = capsule_of<comm_reference>(comm);
  context->saved_data["channel"] = channel;
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
    save(context, comm, channel, concrete_shape(input), input.scalar_type());
    const at::AutoDispatchBelowADInplaceOrView below;
    return start();
  }

  static variable_list backward(AutogradContext* context, variable_list tickets) {
    TORCH_CHECK(is_traced(tickets[0]) || !is_no_ticket(tickets[0]),
                "backward reached an isend, but not its wait; expected the wait's result in the graph of what is "
                "differentiated: syncyte.torch.join_dummies");
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
    save(context, comm, channel, shape, dtype);
    context->saved_data["like"] = at::zeros({}, like.options()).expand(concrete_shape(like));
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
    save(context, comm, channel, shape, dtype);
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
                                        derivatives{.needs_gradient = is_recorded(cotangent)}.packed());
  }
};

void refuse_tangent(const at::Tensor& input) {
  TORCH_CHECK_NOT_IMPLEMENTED(!carries_tangent(input),
                              "isend: messages carry no tangents of forward mode; expected a collective, or reverse "
                              "mode");
}

at::Tensor isend_autograd(c10::DispatchKeySet keys, const at::Tensor& input, std::int64_t comm, std::int64_t dest,
                          std::int64_t tag, std::int64_t packed) {
  refuse_tangent(input);
  return in_order(input, [&](const at::Tensor& ordered) {
    if (is_recorded(ordered))
      return send_function::apply(
          ordered, [&] { return isend_operator().call(ordered, comm, dest, tag, needs_gradient); }, comm, 0);
    return isend_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, ordered, comm, dest, tag, packed);
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
                                 std::int64_t comm, std::int64_t channel, std::int64_t packed) {
  refuse_tangent(input);
  if (is_recorded(input))
    return send_function::apply(
        input, [&] { return isend_answer_operator().call(input, status, comm, channel, needs_gradient); }, comm,
        channel);
  return isend_answer_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, input, status, comm, channel,
                                            packed);
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

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("isend", isend_autograd);
  library.impl("irecv", irecv_autograd);
  library.impl("isend_answer", isend_answer_autograd);
  library.impl("irecv_answer", irecv_answer_autograd);
  library.impl("wait_message", wait_autograd);
}

}  // namespace syncyte::torch_binding
