// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.start_collective, wait_collective: linear collectives that are started and waited for, with other
// work between. A start returns a ticket (tickets.hpp).
//
// Backward of the wait starts the adjoint, backward of the start waits for it; both are these two operations again, so
// that they can be differentiated any number of times. Other reductions than the sum have no adjoint.

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "autograd/backward_pass.hpp"
#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"
#include "collectives/collective.hpp"
#include "operators/dispatched.hpp"
#include "operators/refused_tensors.hpp"
#include "requests/tickets.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::jit::Stack;

constexpr std::int64_t unknown_forward = -1;  // of a backward pass in a compiled graph

const collective_operator& start_operator() {
  static const auto* const op = new collective_operator("syncyte::start_collective", "");
  return *op;
}
const collective_operator& wait_operator() {
  static const auto* const op = new collective_operator("syncyte::wait_collective", "");
  return *op;
}

/// The collective of a start or a wait, whose second argument is its name.
collective loaded(const collective_operator& op, const Stack& stack) {
  return op.load(started_kind(op.arguments(stack)[1].toStringRef()), stack);
}

std::string started_name(const collective& what) { return std::string("i") + what.traits().name; }

/// A collective and its input, as both nodes of a started one know them.
struct started_collective : collective {
  extents input_shape;
  at::ScalarType dtype;

  static started_collective of_wait(const Stack& stack) {
    const c10::IValue* const arguments = wait_operator().arguments(stack);
    return {loaded(wait_operator(), stack), arguments[3].toIntVector(), arguments[4].toScalarType()};
  }

  started_collective adjoint() const {
    // The result of what this rank gives: of reduce on all ranks.
    return {collective::adjoint(), result_shape(input_shape), dtype};
  }
};

/// The start as an operation in autograd, from the input to the ticket.
struct collective_start : started_collective {
  std::string profiled_as() const { return "syncyte::" + started_name(*this); }
  at::Tensor call(const at::Tensor& input, derivatives wanted) const {
    Stack stack = start_operator().stack_of(input, *this);
    stack[1] = traits().name;
    stack.back() = wanted.packed();
    return start_operator().call(std::move(stack));
  }
  at::Tensor adjoint(const at::Tensor& ticket, c10::SymIntArrayRef, derivatives) const;
  std::int64_t number_of_forward() const { return 0; }
};

/// The wait, from the ticket to the result.
struct collective_wait : started_collective {
  std::int64_t number = 0;  ///< of the collective that has been started

  std::string profiled_as() const { return "syncyte::" + started_name(*this) + "_wait"; }
  at::Tensor call(const at::Tensor& ticket, derivatives = {}) const {
    Stack stack = wait_operator().stack_of(ticket, *this);
    stack[1] = traits().name;
    stack[3] = input_shape;
    stack[4] = dtype;
    return wait_operator().call(std::move(stack));
  }
  at::Tensor adjoint(const at::Tensor& cotangent, c10::SymIntArrayRef, derivatives wanted) const {
    refuse_batch(cotangent, "a started collective");
    if (wanted.forward_number == 0) wanted.forward_number = unknown_forward;
    return collective_start{started_collective::adjoint()}.call(cotangent, wanted);
  }
  std::int64_t number_of_forward() const { return number; }
};

at::Tensor collective_start::adjoint(const at::Tensor& ticket, c10::SymIntArrayRef, derivatives) const {
  return collective_wait{started_collective::adjoint()}.call(ticket);
}

at::Tensor run_start(const at::Tensor& input, const collective& what, derivatives wanted) {
  const range range([&] { return "syncyte::" + started_name(what); }, input);
  const bool is_in_backward = wanted.forward_number != 0;
  wanted.forward_number = std::max(wanted.forward_number, std::int64_t{0});
  auto made = std::make_unique<outstanding>();
  made->operation = started_name(what);
  try {
    refused_tensor::check();
    what.require_valid(started_name(what), false, wanted);
    if (what.is_along()) require_few_dimensions(input.sizes());
    const at::Tensor source = input.resolve_conj().resolve_neg();
    made->memory = empty_from_pool(what.result_shape(input.sizes()), source.scalar_type());
    // A copy: the input may change, or a compiled graph use its memory for something else, before the wait.
    made->input = copy_to_pool(source);
    if (what.kind == collective_kind::bcast && rank_in(what.comm) == what.root) made->memory.copy_(source);
  } catch (...) {
    const std::string operation = "comm_i" + what.operator_name();
    check(syncyte_comm_ifail(group_of(what.comm)->get(), keep_exception(), operation.c_str()));
    throw;
  }
  fact_list facts = facts_of(wanted);
  add_shape(facts, what.is_along() ? at::IntArrayRef() : input.sizes());
  check(what.call_c(const_buffer_of(made->input), facts, buffer_of(made->memory), &made->request));
  made->collective_number = number_of_forward(what.comm);
  if (!is_in_backward) {
    const collective_wait own{{what, input.sizes().vec(), input.scalar_type()}};
    made->wait = [own](const at::Tensor& ticket) { return own.call(ticket); };
    return ticket_for(std::move(made), if_abandoned::warns);
  }
  const at::Tensor ticket = ticket_for(std::move(made), if_abandoned::waits);
  if (const auto pass = backward_pass::current()) pass->add(ticket);
  return ticket;
}

at::Tensor run_wait(const at::Tensor& ticket, const started_collective& what) {
  TORCH_CHECK(!is_no_ticket(ticket),
              "backward reached the start of a collective, but not its wait; expected the wait's result in the graph "
              "of what is differentiated");
  const range range([&] { return "syncyte::" + started_name(what) + "_wait"; }, ticket);
  const auto ended = wait_for(ticket);
  if (what.kind == collective_kind::reduce && rank_in(what.comm) != what.root)
    return at::zeros(what.input_shape, what.dtype);
  return ended->memory;
}

// ---- Kernels ----

using c10::DispatchKeySet;
using c10::OperatorHandle;

void start_cpu(const OperatorHandle&, DispatchKeySet, Stack& stack) {
  const collective_operator& own = start_operator();
  const auto wanted = derivatives::unpacked(stack.back().toInt());
  own.give_result(stack, run_start(own.arguments(stack)->toTensor(), loaded(own, stack), wanted));
}

void wait_cpu(const OperatorHandle&, DispatchKeySet, Stack& stack) {
  const collective_operator& own = wait_operator();
  own.give_result(stack, run_wait(own.arguments(stack)->toTensor(), started_collective::of_wait(stack)));
}

void wait_meta(const OperatorHandle&, DispatchKeySet, Stack& stack) {
  const started_collective what = started_collective::of_wait(stack);
  const auto options = wait_operator().arguments(stack)->toTensor().options().dtype(what.dtype);
  wait_operator().give_result(stack, at::empty(what.result_shape(what.input_shape), options));
}

void start_autograd(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const collective_operator& own = start_operator();
  const at::Tensor input = own.arguments(stack)->toTensor();
  TORCH_CHECK_NOT_IMPLEMENTED(!carries_tangent(input),
                              "a started collective carries no tangents of forward mode; expected a blocking one, or "
                              "reverse mode");
  if (!is_plain_meta(input) && !is_recorded(input) && !is_ordered())
    return op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, &stack);
  const collective_start what{{loaded(own, stack), concrete_shape(input), input.scalar_type()}};
  own.give_result(stack, apply_in_autograd(input, what, derivatives::unpacked(stack.back().toInt())));
}

void wait_autograd(const OperatorHandle& op, DispatchKeySet keys, Stack& stack) {
  const collective_operator& own = wait_operator();
  const at::Tensor ticket = own.arguments(stack)->toTensor();
  if (!is_recorded(ticket)) return op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, &stack);
  const bool is_traced = ticket.unsafeGetTensorImpl()->is_python_dispatch();
  const collective_wait what{started_collective::of_wait(stack), is_traced ? 0 : collective_number_of(ticket)};
  own.give_result(stack, apply_in_autograd(ticket, what, {}));
}

/// The operator that starts one collective, for C++ and TorchScript.
void implement_start(torch::Library& library, const collective& each) {
  const auto kernel = [each](const OperatorHandle& op, DispatchKeySet, Stack& stack) {
    const collective_operator own(op);
    const at::Tensor input = own.arguments(stack)->toTensor();
    const collective_start what{{own.load(each.kind, stack), {}, input.scalar_type()}};
    own.give_result(stack, what.call(input, {}));
  };
  library.impl(("i" + each.operator_name()).c_str(), boxed(kernel));
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("start_collective", boxed(start_cpu));
  library.impl("wait_collective", boxed(wait_cpu));
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { library.impl("wait_collective", boxed(wait_meta)); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("start_collective", boxed(start_autograd));
  library.impl("wait_collective", boxed(wait_autograd));
}
TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  for (const collective& each : all_collectives())  // reduce is started only as the adjoint of bcast
    if (each.traits().has_start && each.kind != collective_kind::reduce) implement_start(library, each);
}

}  // namespace syncyte::torch_binding
