// torch.ops.syncyte.start_collective, wait_collective: linear collectives that are started and waited for, with other
// work between. A start returns a ticket (requests.hpp).
//
// Backward of the wait starts the adjoint, backward of the start waits for it; both are these two operations again, so
// that they can be differentiated any number of times. The pairs of adjoints: allreduce with itself, bcast and reduce,
// allgather and reduce_scatter, alltoall with itself, its axes exchanged. Other reductions than the sum have none.

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "answers.hpp"
#include "buffers.hpp"
#include "collect.hpp"
#include "forward_mode.hpp"
#include "handle_reference.hpp"
#include "linear.hpp"
#include "ordered.hpp"
#include "profile.hpp"
#include "recording.hpp"
#include "refusal.hpp"
#include "requests.hpp"
#include "started_collective.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t unknown_forward = -1;  // of a backward pass in a compiled graph

constexpr const char* names[] = {"iallreduce", "ibcast", "ireduce", "iallgather", "ireduce_scatter", "ialltoall"};

bool is_known(collective kind) { return static_cast<std::uint64_t>(kind) < std::size(names); }

const char* name_of(collective kind) {
  return is_known(kind) ? names[static_cast<std::size_t>(kind)] : "start_collective";
}

/// A collective and its arguments, as of call_start().
struct plan {
  collective kind;
  extents arguments;

  bool has_root() const { return kind == collective::bcast || kind == collective::reduce; }
  bool has_axis() const { return kind != collective::allreduce && !has_root(); }
  std::int64_t root() const { return arguments.at(0); }
  std::int32_t axis(std::size_t which) const { return static_cast<std::int32_t>(arguments.at(which)); }
  const std::int64_t* lengths(std::size_t from) const { return arguments.data() + from; }

  std::string profiled_as() const { return std::string("syncyte::") + name_of(kind); }

  plan adjoint() const {
    switch (kind) {
      case collective::bcast:
        return {collective::reduce, arguments};
      case collective::reduce:
        return {collective::bcast, arguments};
      case collective::allgather:
        return {collective::reduce_scatter, arguments};
      case collective::reduce_scatter:
        return {collective::allgather, arguments};
      case collective::alltoall:
        return {collective::alltoall, exchanged()};
      default:
        return *this;
    }
  }

 private:
  extents exchanged() const {
    const auto ranks = static_cast<std::ptrdiff_t>(arguments.size() - 2) / 2;
    extents result{arguments.at(1), arguments.at(0)};
    result.insert(result.end(), arguments.begin() + 2 + ranks, arguments.end());
    result.insert(result.end(), arguments.begin() + 2, arguments.begin() + 2 + ranks);
    return result;
  }
};

syncyte_status_t start(const plan& what, syncyte_op_t op, syncyte_comm_t comm, const syncyte_buffer_t& from,
                       const syncyte_collective_options_t& options, const syncyte_buffer_t& to,
                       syncyte_request_t* request) {
  const std::size_t numbers = what.arguments.size();
  const auto ranks = static_cast<std::int64_t>(what.kind == collective::alltoall ? (numbers - 2) / 2 : numbers - 1);
  switch (what.kind) {
    case collective::bcast:
      return syncyte_comm_ibcast(comm, static_cast<std::int32_t>(what.root()), &options, &to, request);
    case collective::allgather:
      return syncyte_comm_iallgather_along(comm, &from, what.axis(0), what.lengths(1), ranks, &options, &to, request);
    case collective::reduce_scatter:
      return syncyte_comm_ireduce_scatter_along(comm, &from, what.axis(0), what.lengths(1), ranks, op, &options, &to,
                                                request);
    case collective::alltoall:
      return syncyte_comm_ialltoall_along(comm, &from, what.axis(0), what.lengths(2), ranks, what.axis(1),
                                          what.lengths(static_cast<std::size_t>(2 + ranks)), ranks, &options, &to,
                                          request);
    default:  // on all ranks; of reduce the others than root's are dropped
      return syncyte_comm_iallreduce(comm, &from, op, &options, &to, request);
  }
}

void require_arguments(const plan& what, std::int64_t comm) {
  TORCH_CHECK_VALUE(is_known(what.kind), "kind is ", static_cast<std::int64_t>(what.kind), "; expected 0 to ",
                    std::size(names) - 1);
  const std::size_t size = size_of(comm);
  const bool is_alltoall = what.kind == collective::alltoall;
  const std::size_t numbers = is_alltoall ? 2 : what.kind == collective::allreduce ? 0 : 1;  // axes, or a root
  const std::size_t wanted = numbers + (is_alltoall ? 2 * size : what.has_axis() ? size : 0);
  TORCH_CHECK_VALUE(what.arguments.size() == wanted, "lengths: there are ", what.arguments.size(),
                    " arguments; expected ", wanted, ", with one length per rank");
  for (std::size_t i = 0; i < numbers; ++i) require_32_bits(what.has_root() ? "root" : "axis", what.arguments[i]);
}

std::unique_ptr<outstanding> prepared(const at::Tensor& input, const plan& what, std::int64_t comm,
                                      at::IntArrayRef result_shape, std::int64_t op, derivatives asked) {
  refusal::check();
  require_arguments(what, comm);
  require_derivative(name_of(what.kind), op, false, asked);
  if (what.has_axis()) require_few_dimensions(input.sizes());
  auto made = std::make_unique<outstanding>();
  const at::Tensor source = input.resolve_conj().resolve_neg();
  made->operation = name_of(what.kind);
  made->memory = empty_from_pool(result_shape, source.scalar_type());
  // A copy: the input may change, or a compiled graph use its memory for something else, before the wait.
  made->input = copy_to_pool(source);
  if (what.kind == collective::bcast && rank_in(comm) == what.root()) made->memory.copy_(source);
  return made;
}

using start_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, at::IntArrayRef, at::IntArrayRef,
                                   bool, std::int64_t, std::int64_t);
using wait_signature = at::Tensor(const at::Tensor&, std::int64_t, std::int64_t, at::IntArrayRef, at::IntArrayRef,
                                  at::IntArrayRef, at::ScalarType);

const auto& start_operator() {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("syncyte::start_collective", "").typed<start_signature>();
  return op;
}
const auto& wait_operator() {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("syncyte::wait_collective", "").typed<wait_signature>();
  return op;
}

/// What both nodes of a started collective know of it.
struct record {
  std::int64_t comm;
  plan what;
  extents input_shape;
  extents result_shape;
  at::ScalarType dtype;

  void save(AutogradContext* context) const {
    auto& saved = context->saved_data;
    saved["comm"] = comm;
    saved["comm reference"] = capsule_of<comm_reference>(comm);
    saved["kind"] = static_cast<std::int64_t>(what.kind);
    saved["arguments"] = what.arguments;
    saved["input"] = input_shape;
    saved["result"] = result_shape;
    saved["dtype"] = static_cast<std::int64_t>(dtype);
  }
  static record load(AutogradContext* context) {
    auto& saved = context->saved_data;
    return {saved["comm"].toInt(),
            {static_cast<collective>(saved["kind"].toInt()), saved["arguments"].toIntVector()},
            saved["input"].toIntVector(),
            saved["result"].toIntVector(),
            static_cast<at::ScalarType>(saved["dtype"].toInt())};
  }
  /// Of the adjoint: what was the input is its result.
  record adjoint() const { return {comm, what.adjoint(), result_shape, input_shape, dtype}; }

  at::Tensor start(const at::Tensor& input, bool needs_gradient, std::int64_t forward_number,
                   std::int64_t op = SYNCYTE_OP_SUM) const {
    return start_operator().call(input, comm, static_cast<std::int64_t>(what.kind), what.arguments, result_shape,
                                 needs_gradient, forward_number, op);
  }
  at::Tensor wait(const at::Tensor& ticket) const {
    return wait_operator().call(ticket, comm, static_cast<std::int64_t>(what.kind), what.arguments, input_shape,
                                result_shape, dtype);
  }
};

at::Tensor start_cpu(const at::Tensor& input, std::int64_t comm, std::int64_t kind, at::IntArrayRef arguments,
                     at::IntArrayRef result_shape, bool needs_gradient, std::int64_t forward_number, std::int64_t op) {
  const plan what{static_cast<collective>(kind), arguments.vec()};
  const range range([&] { return what.profiled_as(); }, input);
  const derivatives asked{.needs_gradient = needs_gradient,
                          .forward_number = std::max(forward_number, std::int64_t{0})};
  std::unique_ptr<outstanding> made;
  try {
    made = prepared(input, what, comm, result_shape, op, asked);
  } catch (...) {
    const syncyte_status_t status = keep_exception();
    check(syncyte_comm_ifail(group_of(comm), status, (std::string("comm_") + name_of(what.kind)).c_str()));
    throw;
  }
  fact_list facts = facts_of(asked);
  add_shape(facts, what.has_axis() ? at::IntArrayRef() : input.sizes());
  syncyte_collective_options_t options SYNCYTE_COLLECTIVE_OPTIONS_INIT;
  options.facts = facts.data();
  options.fact_count = static_cast<std::int32_t>(facts.size());
  check(start(what, static_cast<syncyte_op_t>(op), group_of(comm), buffer_of(made->input), options,
              buffer_of(made->memory), &made->request));
  check(syncyte_comm_sequence(group_of(comm), &made->status.label));
  if (forward_number == 0) {
    const record given{comm, what, input.sizes().vec(), result_shape.vec(), input.scalar_type()};
    made->wait = [given](const at::Tensor& ticket) { return given.wait(ticket); };
    return ticket_for(std::move(made), unclaimed::warns);
  }
  const at::Tensor ticket = ticket_for(std::move(made), unclaimed::waits);
  if (const auto pass = backward_pass::current()) pass->add(ticket);
  return ticket;
}

at::Tensor start_meta(const at::Tensor& input, std::int64_t, std::int64_t, at::IntArrayRef, at::IntArrayRef, bool,
                      std::int64_t, std::int64_t) {
  return at::empty({}, input.options().dtype(at::kDouble));
}

at::Tensor wait_cpu(const at::Tensor& ticket, std::int64_t comm, std::int64_t kind, at::IntArrayRef arguments,
                    at::IntArrayRef, at::IntArrayRef result_shape, at::ScalarType dtype) {
  TORCH_CHECK(!is_no_ticket(ticket),
              "backward reached the start of a collective, but not its wait; expected the wait's result in the graph "
              "of what is differentiated");
  const plan what{static_cast<collective>(kind), arguments.vec()};
  const range range([&] { return what.profiled_as() + "_wait"; }, ticket);
  const auto ended = wait_for(ticket);
  if (what.kind == collective::reduce && rank_in(comm) != what.root()) return at::zeros(result_shape, dtype);
  return ended->memory;
}

at::Tensor wait_meta(const at::Tensor& ticket, std::int64_t, std::int64_t, at::IntArrayRef, at::IntArrayRef,
                     at::IntArrayRef result_shape, at::ScalarType dtype) {
  return at::empty(result_shape, ticket.options().dtype(dtype));
}

// ---- In autograd ----

class start_function : public torch::autograd::Function<start_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const record& given,
                            std::int64_t forward_number, std::int64_t op) {
    given.save(context);
    const at::AutoDispatchBelowADInplaceOrView below;
    return given.start(input, true, forward_number, op);
  }
  static variable_list backward(AutogradContext* context, variable_list tickets) {
    const record given = record::load(context);
    const backward_range range([&] { return given.what.profiled_as(); }, tickets);
    return {given.adjoint().wait(tickets[0]), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

class wait_function : public torch::autograd::Function<wait_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& ticket, const record& given) {
    given.save(context);
    context->saved_data["forward number"] =
        ticket.unsafeGetTensorImpl()->is_python_dispatch() ? unknown_forward : label_of(ticket);
    const at::AutoDispatchBelowADInplaceOrView below;
    return given.wait(ticket);
  }
  static variable_list backward(AutogradContext* context, variable_list cotangents) {
    refuse_batch(cotangents[0], "a started collective");
    const bool again = is_recorded(cotangents[0]);
    const record given = record::load(context);
    const backward_range range([&] { return given.what.profiled_as() + "_wait"; }, cotangents);
    return {given.adjoint().start(cotangents[0], again, context->saved_data["forward number"].toInt()), at::Tensor()};
  }
};

at::Tensor start_autograd(c10::DispatchKeySet keys, const at::Tensor& input, std::int64_t comm, std::int64_t kind,
                          at::IntArrayRef arguments, at::IntArrayRef result_shape, bool needs_gradient,
                          std::int64_t forward_number, std::int64_t op) {
  TORCH_CHECK_NOT_IMPLEMENTED(!carries_tangent(input),
                              "a started collective carries no tangents of forward mode; expected a blocking one, or "
                              "reverse mode");
  if (is_plain_meta(input)) {
    const refusal told(meta_text(name_of(static_cast<collective>(kind))));
    return start_cpu(stand_in(input), comm, kind, arguments, result_shape, needs_gradient, forward_number, op);
  }
  return in_order(input, [&](const at::Tensor& ordered) {
    if (!is_recorded(ordered))
      return start_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, ordered, comm, kind, arguments,
                                         result_shape, needs_gradient, forward_number, op);
    const record given{comm,
                       {static_cast<collective>(kind), arguments.vec()},
                       concrete_shape(ordered),
                       result_shape.vec(),
                       ordered.scalar_type()};
    return start_function::apply(ordered, given, forward_number, op);
  });
}

at::Tensor wait_autograd(c10::DispatchKeySet keys, const at::Tensor& ticket, std::int64_t comm, std::int64_t kind,
                         at::IntArrayRef arguments, at::IntArrayRef input_shape, at::IntArrayRef result_shape,
                         at::ScalarType dtype) {
  if (!is_recorded(ticket))
    return wait_operator().redispatch(keys & c10::after_ADInplaceOrView_keyset, ticket, comm, kind, arguments,
                                      input_shape, result_shape, dtype);
  const record given{
      comm, {static_cast<collective>(kind), arguments.vec()}, input_shape.vec(), result_shape.vec(), dtype};
  return in_order(ticket, [&](const at::Tensor& ordered) { return wait_function::apply(ordered, given); });
}

}  // namespace

at::Tensor call_start(const at::Tensor& input, std::int64_t comm, collective kind, at::IntArrayRef arguments,
                      at::IntArrayRef result_shape, std::int64_t op) {
  return start_operator().call(input, comm, static_cast<std::int64_t>(kind), arguments, result_shape, false, 0, op);
}

}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  // kind: the enumeration of started_collective.hpp; forward_number: 0, or in a backward pass which forward's it is, -1
  // if not known.
  library.def(
      "start_collective(Tensor input, int comm, int kind, int[] arguments, int[] result_shape, "
      "bool needs_gradient=False, int forward_number=0, int op=1) -> Tensor",
      tags);
  library.def(
      "wait_collective(Tensor ticket, int comm, int kind, int[] arguments, int[] input_shape, int[] result_shape, "
      "ScalarType dtype) -> Tensor",
      tags);
}
TORCH_LIBRARY_IMPL(syncyte, CPU, library) {
  library.impl("start_collective", start_cpu);
  library.impl("wait_collective", wait_cpu);
}
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  library.impl("start_collective", start_meta);
  library.impl("wait_collective", wait_meta);
}
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  library.impl("start_collective", start_autograd);
  library.impl("wait_collective", wait_autograd);
}
