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
using use = device_use;

/// A collective: all ranks call it, and learn of its errors.
constexpr operator_row collective(const char* schema, use device = use::through_host, batching batch = once) {
  return {.schema = schema, .is_effectful = true, .device = device, .batch = batch};
}

/// An operator that starts an operation, or waits for it.
constexpr operator_row start(const char* schema, use device, bool reads_first, bool fails_alone) {
  return {.schema = schema,
          .is_effectful = true,
          .device = device,
          .batch = refused,
          .reads_first = reads_first,
          .gives_ticket = true,
          .fails_alone = fails_alone};
}
constexpr operator_row wait(const char* schema, bool is_effectful) {
  return {.schema = schema,
          .is_effectful = is_effectful,
          .device = use::through_host,
          .batch = refused,
          .takes_ticket = true,
          .fails_alone = true};
}

/// A one-sided read or add of rows.
constexpr operator_row local(const char* schema, batching batch) {
  return {.schema = schema, .is_effectful = true, .device = use::through_host, .batch = batch, .fails_alone = true};
}

/// One that is made of the others, or does not communicate.
constexpr operator_row composed(const char* schema, batching batch = by_parts) {
  return {.schema = schema, .batch = batch};
}

// `derivatives` is derivatives::packed(); comm, halo, tensor, companion and scratch are handles of the C interface.
constexpr operator_row rows[] = {
    // ---- Collectives
    collective("allreduce(Tensor input, int comm, int op=1, bool identity_adjoint=False, int derivatives=0) -> Tensor"),
    collective("bcast(Tensor input, int comm, int root, int derivatives=0) -> Tensor", use::as_it_is),
    collective("reduce(Tensor input, int comm, int root, int op=1, int derivatives=0) -> Tensor"),
    collective("scan(Tensor input, int comm, bool reverse=False, int op=1, int derivatives=0) -> Tensor"),
    collective("exscan(Tensor input, int comm, bool reverse=False, int op=1, int derivatives=0) -> Tensor"),
    collective("neighbor_alltoall(Tensor input, int comm, int derivatives=0) -> Tensor", use::through_host, each),
    composed("allgather_along(Tensor input, int comm, int axis) -> Tensor", once),
    composed("gather_along(Tensor input, int comm, int axis, int root) -> Tensor", once),
    composed("scatter_along(Tensor input, int comm, int axis, int count, int root) -> Tensor", once),
    composed("reduce_scatter_along(Tensor input, int comm, int axis, int count, int op=1) -> Tensor", once),
    composed("alltoall_along(Tensor input, int comm, int gather_axis, int scatter_axis, int count) -> Tensor", once),
    collective("allgather_along.counts(Tensor input, int comm, int axis, int[] counts, int derivatives=0) -> Tensor",
               use::along_the_first_axis),
    collective("gather_along.counts(Tensor input, int comm, int axis, int[] counts, int root, int derivatives=0) -> "
               "Tensor",
               use::along_the_first_axis),
    collective("scatter_along.counts(Tensor input, int comm, int axis, int[] counts, int root, int[] shape, "
               "int derivatives=0) -> Tensor",
               use::along_the_first_axis),
    collective("reduce_scatter_along.counts(Tensor input, int comm, int axis, int[] counts, int op=1, "
               "int derivatives=0) -> Tensor"),
    collective("alltoall_along.counts(Tensor input, int comm, int gather_axis, int[] gather_counts, "
               "int scatter_axis, int[] scatter_counts, int derivatives=0) -> Tensor",
               use::along_the_first_axis),
    composed("bcast_(Tensor(a!) input, int comm, int root, bool mixed_grad=False) -> ()", in_place),
    composed("reduce_(Tensor(a!) input, int comm, int root, int op=1, bool mixed_grad=False) -> ()", in_place),
    composed("mixed_grad(Tensor(a) input) -> Tensor(a)", first_tensor),
    composed("parallel_copy(Tensor(a) input, int comm) -> Tensor(a)"),
    composed("relocate(Tensor input, int comm, *, int? from_dim=None, int[] from_counts=[], int? to_dim=None, "
             "int[] to_counts=[]) -> Tensor"),
    collective("barrier(Tensor anchor, int comm) -> ()", use::no_kernel, by_parts),
    collective("halo_exchange(Tensor input, int halo, bool adjoint=False, int derivatives=0) -> Tensor",
               use::through_host, each),

    // ---- Started collectives, by the blocking one's name
    start("start_collective(Tensor input, str collective, int comm, *, int op=1, int root=0, int gather_axis=0, "
          "int[] gather_counts=[], int scatter_axis=0, int[] scatter_counts=[], int derivatives=0) -> Tensor",
          use::through_host, true, false),
    wait("wait_collective(Tensor ticket, str collective, int comm, int[] input_shape, ScalarType dtype, *, int op=1, "
         "int root=0, int gather_axis=0, int[] gather_counts=[], int scatter_axis=0, int[] scatter_counts=[]) -> "
         "Tensor",
         true),
    composed("iallreduce(Tensor input, int comm, int op=1) -> Tensor"),
    composed("ibcast(Tensor input, int comm, int root) -> Tensor"),
    composed("iallgather_along(Tensor input, int comm, int axis, int[] counts) -> Tensor"),
    composed("ireduce_scatter_along(Tensor input, int comm, int axis, int[] counts, int op=1) -> Tensor"),
    composed("ialltoall_along(Tensor input, int comm, int gather_axis, int[] gather_counts, int scatter_axis, "
             "int[] scatter_counts) -> Tensor"),

    // ---- Messages
    // `answered`: the status of a message whose cotangent this one is; then the other rank and the tag are its own.
    start(
        "isend(Tensor input, int comm, int dest, int tag, int derivatives=0, Tensor? answered=None, int channel=0) -> "
        "Tensor",
        use::as_it_is, true, true),
    start("irecv(Tensor like, int comm, int source, int tag, Tensor? answered=None, int channel=0) -> Tensor",
          use::as_it_is, false, true),
    // The values of `gradients` are those of the enumeration in messages.hpp.
    wait("wait_message(Tensor ticket, int comm, int[] shape, ScalarType dtype, bool is_receive, int channel=0, "
         "int gradients=2) -> (Tensor value, Tensor status)",
         true),
    wait("test_message(Tensor ticket) -> bool", false),
    composed("wait(Tensor ticket) -> Tensor"),
    composed("wait_all(Tensor[] tickets) -> Tensor[]"),
    composed("send(Tensor input, int comm, int dest, int tag=0) -> Tensor"),
    composed("recv(Tensor like, int comm, int source, int tag=0) -> Tensor"),
    composed("sendrecv(Tensor input, int comm, int dest, Tensor like, int source, int tag=0, int recv_tag=0) -> "
             "Tensor"),
    composed("requests_under_way() -> int"),
    composed("skip_message_numbers(int count) -> int"),

    // ---- Whole tensors
    local("gather(Tensor local, int tensor, int companion, Tensor index) -> Tensor", each),
    local("gather_backward(Tensor gradient, int companion, Tensor index) -> ()", refused),
    collective("gather_collective(Tensor local, int tensor, int scratch, Tensor index, int derivatives=0) -> Tensor",
               use::through_host, each),
    collective("gather_adjoint(Tensor gradient, int tensor, int scratch, Tensor index, SymInt rows, "
               "int derivatives=0) -> Tensor",
               use::through_host, each),

    // ---- Graphs, memory, the process
    composed("join_dummies(Tensor input, Tensor[] dummies) -> Tensor", first_tensor),
    composed("enter_order() -> ()"),
    composed("leave_order() -> ()"),
    composed("join_order(Tensor input) -> Tensor", first_tensor),
    composed("overwrite(Tensor(a!) input, Tensor result) -> Tensor(a!)", refused),
    composed("comm_rank(int comm) -> int"),
    composed("comm_size(int comm) -> int"),
    composed("use_device_memory(int use) -> ()"),
    composed("serve_from_cache() -> int"),
    composed("operator_table() -> str[]"),
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
