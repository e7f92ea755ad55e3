#include "operators/operators.hpp"

#include <ATen/ops/empty.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/library.h>

#include <string>
#include <vector>

#include "operators/dispatched.hpp"

namespace syncyte::torch_binding {
namespace {

using enum batching;
using enum device_use;

/// A collective: all ranks call it, and get its errors.
constexpr operator_row collective_row(const char* schema, device_use device = through_host, batching batch = once) {
  return {.schema = schema, .is_effectful = true, .device = device, .batch = batch};
}

/// A collective that collects all ranks' counts first, and then calls the operator with counts.
constexpr operator_row collecting_row(const char* schema) {
  return {.schema = schema, .is_effectful = true, .batch = once};
}

/// An operator that starts an operation.
constexpr operator_row start_row(const char* schema, operator_row row) {
  row.schema = schema;
  row.is_effectful = row.gives_ticket = true;
  row.batch = refused;
  return row;
}

/// An operator that waits for an operation, or tests it.
constexpr operator_row ticket_row(const char* schema, operator_row row) {
  row.schema = schema;
  row.device = through_host;
  row.batch = refused;
  row.takes_ticket = row.fails_alone = true;
  return row;
}

/// A one-sided read or change of rows.
constexpr operator_row one_sided_row(const char* schema, batching batch) {
  return {.schema = schema, .is_effectful = true, .device = through_host, .batch = batch, .fails_alone = true};
}

/// An operator that is made of others, or does not communicate.
constexpr operator_row composed_row(const char* schema, batching batch = by_parts) {
  return {.schema = schema, .batch = batch};
}

// C++ has a generated function for each schema, except for operators that are parts of others or of backward passes, or
// that the C++ interface or an environment variable replaces:
// @internal start_collective, wait_collective, wait_message, requests_in_flight, skip_message_numbers, apply_gradients
// @internal keep_gradients, overwrite, comm_rank, comm_size, use_device_memory, serve_from_cache, raise_interruption
// @internal operator_table
//
// Arguments that are no plain parameters there: `handle(TYPE)` is a handle of the C interface, which C++ passes as a
// TYPE; `reduction` is an op; `hidden` is not a parameter: the operator gets the default, or by `hidden(VALUE)` VALUE.
// @param comm {handle(communicator)} ranks that call the operator
// @param halo {handle(syncyte::halo)} a halo
// @param tensor {handle(syncyte::tensor)} a whole tensor
// @param companion {handle(syncyte::tensor)} its gradients
// @param scratch {handle(syncyte::tensor)} memory of a backward pass
// @param op {reduction} a reduction
// @param derivatives {hidden} derivatives::packed()
// @param extent {hidden} extent of the result along the axis of the joined parts, if known before (in a backward pass)
// @param answered {hidden} status of a message whose cotangent this one is; then the other rank and the tag are its own
// @param channel {hidden} channel of a message
// @param keep {hidden} whether to give gradients to a TableOptimizer, whose kernel is in the Python package
// @param anchor {hidden(at::empty({0}))} a tensor for the dispatcher; not read
constexpr operator_row rows[] = {
    // ---- Collectives
    collective_row(
        "allreduce(Tensor input, int comm, int op=1, bool identity_adjoint=False, int derivatives=0) -> Tensor"),
    collective_row("bcast(Tensor input, int comm, int root, int derivatives=0) -> Tensor", direct),
    collective_row("reduce(Tensor input, int comm, int root, int op=1, int derivatives=0) -> Tensor"),
    collective_row("scan(Tensor input, int comm, int op=1, bool reverse=False, int derivatives=0) -> Tensor"),
    collective_row("exscan(Tensor input, int comm, int op=1, bool reverse=False, int derivatives=0) -> Tensor"),
    collective_row("neighbor_alltoall(Tensor input, int comm, int derivatives=0) -> Tensor", through_host, each),
    collecting_row(
        "allgather_along(Tensor input, int comm, int axis, SymInt? extent=None, int derivatives=0) -> Tensor"),
    collecting_row(
        "gather_along(Tensor input, int comm, int axis, int root, SymInt? extent=None, int derivatives=0) -> "
        "Tensor"),
    collecting_row("scatter_along(Tensor input, int comm, int axis, int root, SymInt count, SymInt[]? shape=None, "
                   "int derivatives=0) -> Tensor"),
    collecting_row(
        "reduce_scatter_along(Tensor input, int comm, int axis, SymInt count, int op=1, int derivatives=0) -> "
        "Tensor"),
    collecting_row("alltoall_along(Tensor input, int comm, int gather_axis, int scatter_axis, SymInt count, "
                   "SymInt? extent=None, int derivatives=0) -> Tensor"),
    collective_row(
        "allgather_along.counts(Tensor input, int comm, int axis, int[] counts, int derivatives=0) -> Tensor",
        direct_along_first_axis),
    collective_row(
        "gather_along.counts(Tensor input, int comm, int axis, int root, int[] counts, int derivatives=0) -> Tensor",
        direct_along_first_axis),
    collective_row("scatter_along.counts(Tensor input, int comm, int axis, int root, int[] counts, int[] shape, "
                   "int derivatives=0) -> Tensor",
                   direct_along_first_axis),
    collective_row("reduce_scatter_along.counts(Tensor input, int comm, int axis, int[] counts, int op=1, "
                   "int derivatives=0) -> Tensor"),
    collective_row("alltoall_along.counts(Tensor input, int comm, int gather_axis, int scatter_axis, "
                   "int[] gather_counts, int[] scatter_counts, int derivatives=0) -> Tensor",
                   direct_along_first_axis),
    composed_row("bcast_(Tensor(a!) input, int comm, int root, bool mixed_grad=False) -> ()", in_place),
    composed_row("reduce_(Tensor(a!) input, int comm, int root, int op=1, bool mixed_grad=False) -> ()", in_place),
    composed_row("mixed_grad(Tensor(a) input) -> Tensor(a)", first_tensor),
    composed_row("parallel_copy(Tensor(a) input, int comm) -> Tensor(a)"),
    composed_row("relocate(Tensor input, int comm, *, int? from_dim=None, int[] from_counts=[], int? to_dim=None, "
                 "int[] to_counts=[]) -> Tensor"),
    collective_row("barrier(Tensor anchor, int comm) -> ()", no_kernel, by_parts),
    collective_row("halo_exchange(Tensor input, int halo, bool adjoint=False, int derivatives=0) -> Tensor",
                   through_host, each),

    // ---- Started collectives, by the blocking one's name
    start_row("start_collective(Tensor input, str collective, int comm, *, int op=1, int root=0, int gather_axis=0, "
              "int[] gather_counts=[], int scatter_axis=0, int[] scatter_counts=[], int derivatives=0) -> Tensor",
              {.device = through_host}),
    ticket_row("wait_collective(Tensor ticket, str collective, int comm, int[] input_shape, ScalarType dtype, *, "
               "int op=1, int root=0, int gather_axis=0, int[] gather_counts=[], int scatter_axis=0, "
               "int[] scatter_counts=[]) -> Tensor",
               {.is_effectful = true}),
    composed_row("iallreduce(Tensor input, int comm, int op=1) -> Tensor"),
    composed_row("ibcast(Tensor input, int comm, int root) -> Tensor"),
    composed_row("iallgather_along(Tensor input, int comm, int axis, int[] counts) -> Tensor"),
    composed_row("ireduce_scatter_along(Tensor input, int comm, int axis, int[] counts, int op=1) -> Tensor"),
    composed_row("ialltoall_along(Tensor input, int comm, int gather_axis, int scatter_axis, int[] gather_counts, "
                 "int[] scatter_counts) -> Tensor"),

    // ---- Messages
    start_row("isend(Tensor input, int comm, int dest, int tag, int derivatives=0, Tensor? answered=None, "
              "int channel=0) -> Tensor",
              {.device = direct, .fails_alone = true}),
    start_row("irecv(Tensor like, int comm, int source, int tag, Tensor? answered=None, int channel=0) -> Tensor",
              {.device = direct, .reads_first = false, .fails_alone = true}),
    // `gradients` is a gradient_rule (messages.hpp); the default is as_sender.
    ticket_row("wait_message(Tensor ticket, int comm, int[] shape, ScalarType dtype, bool is_receive, int channel=0, "
               "int gradients=2) -> (Tensor value, Tensor status)",
               {.is_effectful = true}),
    ticket_row("test_message(Tensor ticket) -> bool", {}),
    composed_row("wait(Tensor ticket) -> Tensor"),
    composed_row("wait_all(Tensor[] tickets) -> Tensor[]"),
    composed_row("send(Tensor input, int comm, int dest, int tag=0) -> Tensor"),
    composed_row("recv(Tensor like, int comm, int source, int tag=0) -> Tensor"),
    composed_row("sendrecv(Tensor input, int comm, int dest, Tensor like, int source, int tag=0, int recv_tag=0) -> "
                 "Tensor"),
    composed_row("requests_in_flight() -> int"),
    composed_row("skip_message_numbers(int count) -> int"),

    // ---- Whole tensors
    one_sided_row("gather(Tensor local, int tensor, int companion, Tensor index) -> Tensor", each),
    one_sided_row("scatter_add(Tensor source, int tensor, Tensor index) -> ()", refused),
    one_sided_row("embedding(Tensor local, int tensor, Tensor index, int padding, bool keep=False) -> Tensor", each),
    one_sided_row("apply_gradients(Tensor gradients, int tensor, Tensor index, int padding) -> ()", refused),
    // Gives gradients to the TableOptimizer of a layer; the Python package has its kernel.
    one_sided_row("keep_gradients(Tensor gradients, int tensor, Tensor index, int padding) -> ()", refused),
    collective_row(
        "gather_collective(Tensor local, int tensor, int scratch, Tensor index, int derivatives=0) -> Tensor",
        through_host, each),
    collective_row("gather_adjoint(Tensor gradient, int tensor, int scratch, Tensor index, SymInt rows, "
                   "int derivatives=0) -> Tensor",
                   through_host, each),

    // ---- Graphs, memory, the process
    composed_row("join_dummies(Tensor input, Tensor[] dummies) -> Tensor", first_tensor),
    composed_row("enter_order() -> ()"),
    composed_row("leave_order() -> ()"),
    composed_row("join_order(Tensor input) -> Tensor", first_tensor),
    composed_row("overwrite(Tensor(a!) input, Tensor result) -> Tensor(a!)", refused),
    composed_row("comm_rank(int comm) -> int"),
    composed_row("comm_size(int comm) -> int"),
    composed_row("use_device_memory(int use) -> ()"),
    composed_row("serve_from_cache() -> int"),
    composed_row("raise_interruption() -> ()"),
    composed_row("operator_table() -> str[]"),
};

const char* name_of(batching batch) {
  constexpr const char* names[] = {"by_parts", "once", "in_place", "each", "first_tensor", "refused"};
  return names[static_cast<int>(batch)];
}

/// Lines of the table that the Python package reads, one for each operator: name, overload, whether it is effectful,
/// how it is batched, and the positions of arguments that are axes, and shapes.
std::vector<std::string> described() {
  std::vector<std::string> result;
  for (const operator_row& row : rows) {
    const auto schema = torch::jit::parseSchema(row.schema);
    std::string axes, shapes;
    for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
      const std::string& name = schema.arguments()[i].name();
      if (is_axis(name)) axes += c10::str(i, " ");
      if (name == "shape") shapes += c10::str(i, " ");
    }
    const std::string overload = schema.overload_name().empty() ? "default" : schema.overload_name();
    result.push_back(c10::str(schema.name(), ",", overload, ",", row.is_effectful ? "effectful" : "", ",",
                              name_of(row.batch), ",", axes, ",", shapes));
  }
  return result;
}

void ticket_meta(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack& stack) {
  const auto first = stack.end() - static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  const at::Tensor ticket = at::empty({}, first->toTensor().options().dtype(at::kDouble));
  stack.erase(first, stack.end());
  stack.emplace_back(ticket);
}

}  // namespace

c10::ArrayRef<operator_row> operator_table() { return rows; }

TORCH_LIBRARY_FRAGMENT(syncyte, library) {
  for (const operator_row& row : rows) {
    const std::vector<at::Tag> tags(row.is_effectful ? 1 : 0, at::Tag::pt2_compliant_tag);
    library.def(row.schema, tags);
  }
}
TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) { library.impl("operator_table", described); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  for (const operator_row& row : rows)
    if (row.gives_ticket) library.impl(name_of(row).c_str(), boxed(ticket_meta));
}

}  // namespace syncyte::torch_binding
