#include "collectives/collective.hpp"

#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>
#include <variant>

#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"
#include "operators/refused_tensors.hpp"
#include "tensors/buffers.hpp"
#include "tensors/operation_memory.hpp"

namespace syncyte::torch_binding {
namespace {

using kind = collective_kind;

struct description {
  const char* name;
  kind adjoint;
  bool has_op = false;
  bool has_root = false;
  bool gathers = false;
  bool scatters = false;
  bool has_start = false;
};

/// In the order of the enumeration.
constexpr description descriptions[] = {
    {.name = "allreduce", .adjoint = kind::allreduce, .has_op = true, .has_start = true},
    {.name = "bcast", .adjoint = kind::reduce, .has_root = true, .has_start = true},
    {.name = "reduce", .adjoint = kind::bcast, .has_op = true, .has_root = true, .has_start = true},
    {.name = "scan", .adjoint = kind::scan, .has_op = true},
    {.name = "exscan", .adjoint = kind::exscan, .has_op = true},
    {.name = "allgather", .adjoint = kind::reduce_scatter, .gathers = true, .has_start = true},
    {.name = "gather", .adjoint = kind::scatter, .has_root = true, .gathers = true},
    {.name = "scatter", .adjoint = kind::gather, .has_root = true, .scatters = true},
    {.name = "reduce_scatter", .adjoint = kind::allgather, .has_op = true, .scatters = true, .has_start = true},
    {.name = "alltoall", .adjoint = kind::alltoall, .gathers = true, .scatters = true, .has_start = true},
    {.name = "neighbor_alltoall", .adjoint = kind::neighbor_alltoall}};
static_assert(std::size(descriptions) == collective_kinds);

const description& of(kind which) { return descriptions[static_cast<std::size_t>(which)]; }

constexpr const char* op_names[] = {"sum", "prod", "min", "max", "land", "lor", "band", "bor", "bxor"};
const char* op_name(std::int64_t op) {
  if (op == SYNCYTE_OP_LXOR) return "lxor";
  return op >= SYNCYTE_OP_SUM && op <= SYNCYTE_OP_BXOR ? op_names[op - SYNCYTE_OP_SUM] : nullptr;
}

std::size_t wrapped(std::int64_t axis, std::size_t dimensions) {
  const auto count = static_cast<std::int64_t>(dimensions);
  TORCH_CHECK_VALUE(count > 0, "input has no dimension; expected 1 or more");
  TORCH_CHECK_INDEX(axis >= -count && axis < count, "axis is ", axis, "; expected ", -count, " to ", count - 1);
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

void require_counts(const char* name, const partition& parts, std::int64_t comm) {
  const auto& counts = parts.counts;
  TORCH_CHECK_VALUE(counts.size() == size_of(comm), name, " has ", counts.size(), " numbers; expected ", size_of(comm),
                    ", one per rank");
  for (std::size_t i = 0; i < counts.size(); ++i)
    TORCH_CHECK_VALUE(counts[i] >= 0, name, "[", i, "] is ", counts[i], "; expected 0 or more");
}

std::size_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
}

/// Arguments as the C interface has them.
struct c_arguments {
  explicit c_arguments(const collective& of)
      : comm(group_of(of.comm)),
        op(static_cast<syncyte_op_t>(of.op)),
        root(static_cast<std::int32_t>(of.root)),
        first(of.reverse ? SYNCYTE_SCAN_FROM_LAST : SYNCYTE_SCAN_FROM_FIRST),
        gathered(of.gathered),
        scattered(of.scattered) {}

  struct parts {
    explicit parts(const partition& of)
        : axis(static_cast<std::int32_t>(of.axis)),
          counts(of.counts.data()),
          ranks(static_cast<std::int64_t>(of.counts.size())) {}
    std::int32_t axis;
    const std::int64_t* counts;
    std::int64_t ranks;
  };

  syncyte_comm_t comm;
  syncyte_op_t op;
  std::int32_t root;
  syncyte_scan_t first;
  parts gathered, scattered;
};

syncyte_status_t call_c(const collective& what, const syncyte_buffer_t& from,
                        const syncyte_collective_options_t& options, const syncyte_buffer_t& to) {
  const auto [comm, op, root, first, gathered, scattered] = c_arguments(what);
  const auto& [gather_axis, joined, ranks] = gathered;
  const auto& [scatter_axis, cut, same_ranks] = scattered;
  switch (what.kind) {
    case kind::allreduce:
      return syncyte_comm_allreduce(comm, &from, op, &options, &to);
    case kind::bcast:
      return syncyte_comm_bcast(comm, root, &options, &to);
    case kind::reduce:
      return syncyte_comm_reduce(comm, &from, op, root, &options, &to);
    case kind::scan:
      return syncyte_comm_scan(comm, &from, op, first, &options, &to);
    case kind::exscan:
      return syncyte_comm_exscan(comm, &from, op, first, &options, &to);
    case kind::allgather:
      return syncyte_comm_allgather_along(comm, &from, gather_axis, joined, ranks, &options, &to);
    case kind::gather:
      return syncyte_comm_gather_along(comm, &from, gather_axis, joined, ranks, root, &options, &to);
    case kind::scatter:
      return syncyte_comm_scatter_along(comm, &from, scatter_axis, cut, same_ranks, root, &options, &to);
    case kind::reduce_scatter:
      return syncyte_comm_reduce_scatter_along(comm, &from, scatter_axis, cut, same_ranks, op, &options, &to);
    case kind::alltoall:
      return syncyte_comm_alltoall_along(comm, &from, gather_axis, joined, ranks, scatter_axis, cut, same_ranks,
                                         &options, &to);
    case kind::neighbor_alltoall:
      return syncyte_comm_neighbor_alltoall(comm, &from, &options, &to);
  }
  return SYNCYTE_ERR_INTERNAL;
}

}  // namespace

const char* collective::name() const { return of(kind).name; }
std::string collective::operator_name() const { return std::string(name()) + (is_along() ? "_along" : ""); }
bool collective::is_along() const { return gathers() || scatters(); }
bool collective::has_op() const { return of(kind).has_op; }
bool collective::has_root() const { return of(kind).has_root; }
bool collective::gathers() const { return of(kind).gathers; }
bool collective::scatters() const { return of(kind).scatters; }

collective collective::adjoint() const {
  collective result = *this;
  result.kind = of(kind).adjoint;
  result.reverse = !reverse;
  std::swap(result.gathered, result.scattered);
  return result;
}

bool has_adjoint(std::int64_t op) { return op >= SYNCYTE_OP_SUM && op <= SYNCYTE_OP_MAX; }

void collective::require_valid(const std::string& operation, bool is_blocking, derivatives asked) const {
  if (has_root()) require_32_bits("root", root);
  if (gathers()) require_32_bits("axis", gathered.axis);
  if (scatters()) require_32_bits("axis", scattered.axis);
  if (gathers()) require_counts(scatters() ? "gather_counts" : "counts", gathered, comm);
  if (scatters()) require_counts(gathers() ? "scatter_counts" : "counts", scattered, comm);
  if (!has_op()) return;
  require_32_bits("op", op);
  const char* const called = op_name(op);
  if (op == SYNCYTE_OP_SUM || called == nullptr) return;  // what is no op the C function refuses
  const bool has_one = is_blocking && (kind == kind::allreduce || kind == kind::reduce) && has_adjoint(op);
  TORCH_CHECK_NOT_IMPLEMENTED(!asked.has_tangent, "op ", called, " of ", operation,
                              " has no forward-mode derivative; use sum");
  TORCH_CHECK_NOT_IMPLEMENTED(!asked.needs_gradient || has_one, "op ", called, " of ", operation,
                              " has no adjoint; detach the input or use sum");
}

extents collective::result_shape(at::IntArrayRef input) const {
  extents result = kind == kind::scatter ? shape : input.vec();
  if (gathers()) {
    const bool is_elsewhere = kind == kind::gather && rank_in(comm) != root;
    result.at(wrapped(gathered.axis, result.size())) = is_elsewhere ? 0 : sum_of(gathered.counts);
  }
  if (scatters()) {
    require_counts("counts", scattered, comm);
    result.at(wrapped(scattered.axis, result.size())) = scattered.counts[static_cast<std::size_t>(rank_in(comm))];
  }
  return result;
}

collective_kind started_kind(const std::string& name) {
  std::string known;
  for (std::size_t i = 0; i < collective_kinds; ++i) {
    if (!descriptions[i].has_start) continue;
    if (name == descriptions[i].name) return static_cast<collective_kind>(i);
    known += (known.empty() ? "" : ", ") + std::string(descriptions[i].name);
  }
  TORCH_CHECK_VALUE(false, "collective is '", name, "'; expected one of ", known);
}

std::int64_t extent_along(const at::Tensor& input, std::int64_t axis) {
  const auto sizes = input.sym_sizes();
  return sizes[wrapped(axis, sizes.size())].guard_int(__FILE__, __LINE__);
}

at::Tensor collective::meta_result(const at::Tensor& input) const {
  if (!is_along()) return at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
  return at::empty(result_shape(concrete_shape(input)), input.options());
}

at::Tensor collective::run(const at::Tensor& input, derivatives asked) const {
  at::Tensor source;
  at::Tensor result;
  fact_list facts = facts_of(asked);
  try {
    refused_tensor::check();
    require_valid(operator_name(), true, asked);
    source = input.resolve_conj().resolve_neg();
    if (is_along()) {
      require_few_dimensions(input.sizes());
      result = empty_from_pool(result_shape(input.sizes()), input.scalar_type());
    } else {
      source = source.contiguous();
      if (kind == kind::allreduce) facts.push_back({"identity as adjoint", identity_adjoint});
      add_shape(facts, source.sizes());
      const bool is_copy = kind == kind::bcast && operation_memory::current() != nullptr;
      result = is_copy ? copy_to_pool(source) : empty_from_pool(source.sizes(), source.scalar_type());
    }
  } catch (...) {
    fail_together(group_of(comm), ("comm_" + operator_name()).c_str());
  }
  const syncyte_buffer_t from = buffer_of(source);
  const syncyte_buffer_t to = buffer_of(result);
  if (to.data != from.data && input.numel() > 0) {
    const bool is_not_root = kind == kind::reduce && rank_in(comm) != root;
    if (is_not_root || kind == kind::neighbor_alltoall) std::memset(to.data, 0, bytes_of(input));
    if (kind == kind::bcast && rank_in(comm) == root) std::memcpy(to.data, from.data, bytes_of(input));
  }
  check(call_c(*this, from, options_with(facts), to));
  return result;
}

syncyte_status_t collective::start(const syncyte_buffer_t& from, const syncyte_collective_options_t& options,
                                   const syncyte_buffer_t& to, syncyte_request_t* request) const {
  const c_arguments c(*this);
  const auto& [gather_axis, joined, ranks] = c.gathered;
  const auto& [scatter_axis, cut, same_ranks] = c.scattered;
  switch (kind) {
    case kind::bcast:
      return syncyte_comm_ibcast(c.comm, c.root, &options, &to, request);
    case kind::allgather:
      return syncyte_comm_iallgather_along(c.comm, &from, gather_axis, joined, ranks, &options, &to, request);
    case kind::reduce_scatter:
      return syncyte_comm_ireduce_scatter_along(c.comm, &from, scatter_axis, cut, same_ranks, c.op, &options, &to,
                                                request);
    case kind::alltoall:
      return syncyte_comm_ialltoall_along(c.comm, &from, gather_axis, joined, ranks, scatter_axis, cut, same_ranks,
                                          &options, &to, request);
    default:  // on all ranks; of reduce the others than root's are dropped
      return syncyte_comm_iallreduce(c.comm, &from, c.op, &options, &to, request);
  }
}

// ---- Arguments of schemas ----

namespace {

constexpr const char* member_names[] = {"comm",           "op",     "root",        "reverse",       "identity_adjoint",
                                        "axis",           "counts", "gather_axis", "gather_counts", "scatter_axis",
                                        "scatter_counts", "shape"};
using argument = std::variant<std::int64_t*, bool*, extents*>;

/// In the order of their names.
std::array<argument, std::size(member_names)> members_of(collective& what) {
  partition& only = what.gathers() ? what.gathered : what.scattered;
  return {&what.comm,
          &what.op,
          &what.root,
          &what.reverse,
          &what.identity_adjoint,
          &only.axis,
          &only.counts,
          &what.gathered.axis,
          &what.gathered.counts,
          &what.scattered.axis,
          &what.scattered.counts,
          &what.shape};
}

void read(const c10::IValue& value, std::int64_t* member) { *member = value.toInt(); }
void read(const c10::IValue& value, bool* member) { *member = value.toBool(); }
void read(const c10::IValue& value, extents* member) { *member = value.toIntVector(); }

}  // namespace

collective_arguments::collective_arguments(const c10::FunctionSchema& schema) {
  for (const c10::Argument& each : schema.arguments()) {
    const auto found = std::find(std::begin(member_names), std::end(member_names), std::string_view(each.name()));
    members_.push_back(static_cast<std::size_t>(found - member_names));
  }
}

collective collective_arguments::load(collective_kind kind, const torch::jit::Stack& stack) const {
  collective result{.kind = kind};
  const auto members = members_of(result);
  const c10::IValue* value = stack.data() + stack.size() - members_.size();
  for (const std::size_t each : members_) {
    if (each < members.size()) std::visit([&](auto* member) { read(*value, member); }, members[each]);
    ++value;
  }
  return result;
}

torch::jit::Stack collective_arguments::stack_of(collective what) const {
  const auto members = members_of(what);
  torch::jit::Stack stack(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i] < members.size()) std::visit([&](auto* member) { stack[i] = *member; }, members[members_[i]]);
  return stack;
}

collective_operator::collective_operator(const char* name, const char* overload)
    : handle(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload)), arguments(handle.schema()) {}

at::Tensor collective_operator::call(torch::jit::Stack stack) const {
  handle.callBoxed(&stack);
  return std::move(stack.front()).toTensor();
}

void give_result(torch::jit::Stack& stack, const collective_operator& op, at::Tensor result) {
  stack.resize(stack.size() - op.arguments.size());
  stack.emplace_back(std::move(result));
}

const collective_operator& operator_of(collective_kind kind) {
  static const auto* const all = [] {
    auto* const made = new std::vector<collective_operator>;
    for (std::size_t i = 0; i < collective_kinds; ++i) {
      const collective each{.kind = static_cast<collective_kind>(i)};
      made->emplace_back(("syncyte::" + each.operator_name()).c_str(), each.is_along() ? "counts" : "");
    }
    return made;
  }();
  return (*all)[static_cast<std::size_t>(kind)];
}

at::Tensor call(const collective& what, const at::Tensor& input, derivatives asked) {
  const collective_operator& op = operator_of(what.kind);
  torch::jit::Stack stack = op.arguments.stack_of(what);
  stack.front() = input;
  stack.back() = asked.packed();
  return op.call(std::move(stack));
}

at::Tensor call_below(const collective& what, const at::Tensor& input, derivatives asked) {
  const at::AutoDispatchBelowADInplaceOrView below;
  return call(what, input, asked);
}

}  // namespace syncyte::torch_binding
