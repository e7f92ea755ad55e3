// torch.ops.syncyte.start_collective, wait_collective: linear collectives that are started and waited for, with other
// work between. A start returns a ticket (tickets.hpp).
//
// Backward of the wait starts the adjoint, backward of the start waits for it; both are these two operations again, so
// that they can be differentiated any number of times. Other reductions than the sum have no adjoint.

#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "autograd/backward_pass.hpp"
#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"
#include "collectives/collective.hpp"
#include "messages/tickets.hpp"
#include "operators/refused_tensors.hpp"
#include "tensors/buffers.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
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
  const c10::IValue& name = stack[stack.size() - op.arguments.size() + 1];
  return op.arguments.load(started_kind(name.toStringRef()), stack);
}

std::string started_name(const collective& what) { return std::string("i") + what.name(); }

/// The ticket of a collective, by the dispatcher.
at::Tensor start(const at::Tensor& input, const collective& what, derivatives asked) {
  Stack stack = start_operator().arguments.stack_of(what);
  stack.front() = input;
  stack[1] = what.name();
  stack.back() = asked.packed();
  return start_operator().call(std::move(stack));
}

/// A collective and its input, as both nodes of a started one know them.
struct started_collective {
  collective what;
  extents input_shape;
  at::ScalarType dtype;
  std::int64_t forward_number = 0;  ///< of a wait

  started_collective adjoint() const {
    // The result of what this rank gives: of reduce on all ranks.
    return {what.adjoint(), what.result_shape(input_shape), dtype};
  }

  at::Tensor wait(const at::Tensor& ticket) const {
    Stack stack = wait_operator().arguments.stack_of(what);
    stack.front() = ticket;
    stack[1] = what.name();
    stack[3] = input_shape;
    stack[4] = dtype;
    return wait_operator().call(std::move(stack));
  }

  static started_collective of_wait(const Stack& stack) {
    const std::size_t first = stack.size() - wait_operator().arguments.size();
    return {loaded(wait_operator(), stack), stack[first + 3].toIntVector(), stack[first + 4].toScalarType()};
  }
};

std::unique_ptr<outstanding> prepared(const at::Tensor& input, const collective& what, derivatives asked) {
  refused_tensor::check();
  what.require_valid(started_name(what), false, asked);
  if (what.is_along()) require_few_dimensions(input.sizes());
  auto made = std::make_unique<outstanding>();
  const at::Tensor source = input.resolve_conj().resolve_neg();
  made->operation = started_name(what);
  made->memory = empty_from_pool(what.result_shape(input.sizes()), source.scalar_type());
  // A copy: the input may change, or a compiled graph use its memory for something else, before the wait.
  made->input = copy_to_pool(source);
  if (what.kind == collective_kind::bcast && rank_in(what.comm) == what.root) made->memory.copy_(source);
  return made;
}

at::Tensor run_start(const at::Tensor& input, const collective& what, derivatives asked) {
  const range range([&] { return "syncyte::" + started_name(what); }, input);
  const bool is_in_backward = asked.forward_number != 0;
  asked.forward_number = std::max(asked.forward_number, std::int64_t{0});
  std::unique_ptr<outstanding> made;
  try {
    made = prepared(input, what, asked);
  } catch (...) {
    const std::string operation = "comm_i" + what.operator_name();
    check(syncyte_comm_ifail(group_of(what.comm), keep_exception(), operation.c_str()));
    throw;
  }
  fact_list facts = facts_of(asked);
  add_shape(facts, what.is_along() ? at::IntArrayRef() : input.sizes());
  check(what.start(buffer_of(made->input), options_with(facts), buffer_of(made->memory), &made->request));
  check(syncyte_comm_sequence(group_of(what.comm), &made->status.label));
  if (!is_in_backward) {
    const started_collective given{what, input.sizes().vec(), input.scalar_type()};
    made->wait = [given](const at::Tensor& ticket) { return given.wait(ticket); };
    return ticket_for(std::move(made), unclaimed::warns);
  }
  const at::Tensor ticket = ticket_for(std::move(made), unclaimed::waits);
  if (const auto pass = backward_pass::current()) pass->add(ticket);
  return ticket;
}

at::Tensor run_wait(const at::Tensor& ticket, const started_collective& given) {
  TORCH_CHECK(!is_no_ticket(ticket),
              "backward reached the start of a collective, but not its wait; expected the wait's result in the graph "
              "of what is differentiated");
  const collective& what = given.what;
  const range range([&] { return "syncyte::" + started_name(what) + "_wait"; }, ticket);
  const auto ended = wait_for(ticket);
  if (what.kind == collective_kind::reduce && rank_in(what.comm) != what.root)
    return at::zeros(given.input_shape, given.dtype);
  return ended->memory;
}

// ---- In autograd ----

class start_function : public torch::autograd::Function<start_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const started_collective& given,
                            derivatives asked) {
    keep(context, given.what.comm, given);
    asked.needs_gradient = true;
    const at::AutoDispatchBelowADInplaceOrView below;
    return start(input, given.what, asked);
  }
  static variable_list backward(AutogradContext* context, variable_list tickets) {
    const auto& given = kept<started_collective>(context);
    const backward_range range("syncyte::" + started_name(given.what), tickets);
    return {given.adjoint().wait(tickets[0]), at::Tensor(), at::Tensor()};
  }
};

class wait_function : public torch::autograd::Function<wait_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& ticket, started_collective given) {
    given.forward_number = ticket.unsafeGetTensorImpl()->is_python_dispatch() ? unknown_forward : label_of(ticket);
    keep(context, given.what.comm, given);
    const at::AutoDispatchBelowADInplaceOrView below;
    return given.wait(ticket);
  }
  static variable_list backward(AutogradContext* context, variable_list cotangents) {
    refuse_batch(cotangents[0], "a started collective");
    const auto& given = kept<started_collective>(context);
    const backward_range range("syncyte::" + started_name(given.what) + "_wait", cotangents);
    const derivatives asked{.needs_gradient = is_recorded(cotangents[0]), .forward_number = given.forward_number};
    return {start(cotangents[0], given.what.adjoint(), asked), at::Tensor()};
  }
};

// ---- Kernels ----

at::Tensor given_tensor(const Stack* stack, const collective_operator& op) {
  return (*stack)[stack->size() - op.arguments.size()].toTensor();
}

void start_cpu(const c10::OperatorHandle&, c10::DispatchKeySet, Stack* stack) {
  const collective what = loaded(start_operator(), *stack);
  const auto asked = derivatives::unpacked(stack->back().toInt());
  give_result(*stack, start_operator(), run_start(given_tensor(stack, start_operator()), what, asked));
}

void wait_cpu(const c10::OperatorHandle&, c10::DispatchKeySet, Stack* stack) {
  const auto given = started_collective::of_wait(*stack);
  give_result(*stack, wait_operator(), run_wait(given_tensor(stack, wait_operator()), given));
}

void wait_meta(const c10::OperatorHandle&, c10::DispatchKeySet, Stack* stack) {
  const auto given = started_collective::of_wait(*stack);
  const auto options = given_tensor(stack, wait_operator()).options().dtype(given.dtype);
  give_result(*stack, wait_operator(), at::empty(given.what.result_shape(given.input_shape), options));
}

void start_autograd(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const at::Tensor input = given_tensor(stack, start_operator());
  TORCH_CHECK_NOT_IMPLEMENTED(!carries_tangent(input),
                              "a started collective carries no tangents of forward mode; expected a blocking one, or "
                              "reverse mode");
  if (!is_plain_meta(input) && !is_recorded(input) && !is_ordered())
    return op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  const collective what = loaded(start_operator(), *stack);
  const auto asked = derivatives::unpacked(stack->back().toInt());
  if (is_plain_meta(input)) {
    const refused_tensor refusal(meta_text(started_name(what).c_str()));
    return give_result(*stack, start_operator(), run_start(stand_in(input), what, asked));
  }
  give_result(*stack, start_operator(), in_order(input, [&](const at::Tensor& ordered) {
    if (is_recorded(ordered))
      return start_function::apply(ordered, started_collective{what, concrete_shape(ordered), ordered.scalar_type()},
                                   asked);
    const at::AutoDispatchBelowADInplaceOrView below;
    return start(ordered, what, asked);
  }));
}

void wait_autograd(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const at::Tensor ticket = given_tensor(stack, wait_operator());
  if (!is_recorded(ticket)) return op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  const auto given = started_collective::of_wait(*stack);
  give_result(*stack, wait_operator(),
              in_order(ticket, [&](const at::Tensor& ordered) { return wait_function::apply(ordered, given); }));
}

// ---- By name, for C++ and TorchScript ----

class start_by_name final : public c10::OperatorKernel {
 public:
  explicit start_by_name(collective_kind kind) : kind_(kind) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) const {
    const collective_arguments arguments(op.schema());
    const std::size_t first = stack->size() - arguments.size();
    const at::Tensor ticket = start((*stack)[first].toTensor(), arguments.load(kind_, *stack), {});
    stack->resize(first);
    stack->emplace_back(ticket);
  }

 private:
  collective_kind kind_;
};

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;
using torch::CppFunction;

TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("start_collective", CppFunction::makeFromBoxedFunction<&start_cpu>());
  library.impl("wait_collective", CppFunction::makeFromBoxedFunction<&wait_cpu>());
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  library.impl("wait_collective", CppFunction::makeFromBoxedFunction<&wait_meta>());
}
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("start_collective", CppFunction::makeFromBoxedFunction<&start_autograd>());
  library.impl("wait_collective", CppFunction::makeFromBoxedFunction<&wait_autograd>());
}
TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  for (const char* const name : {"allreduce", "bcast", "allgather", "reduce_scatter", "alltoall"}) {
    const collective each{.kind = started_kind(name)};
    library.impl(std::string("i").append(each.operator_name()).c_str(),
                 CppFunction::makeFromBoxedFunctor(std::make_unique<start_by_name>(each.kind)));
  }
}
