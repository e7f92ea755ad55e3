// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/collective.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sum.h>

#include <algorithm>
#include <array>
#include <cstring>
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

/// In the order of the enumeration.
constexpr collective_traits all_traits[] = {
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
static_assert(std::size(all_traits) == static_cast<std::size_t>(kind::neighbor_alltoall) + 1);

constexpr std::pair<std::int64_t, const char*> op_names[] = {
    {SYNCYTE_OP_SUM, "sum"},   {SYNCYTE_OP_PROD, "prod"}, {SYNCYTE_OP_MIN, "min"},   {SYNCYTE_OP_MAX, "max"},
    {SYNCYTE_OP_LAND, "land"}, {SYNCYTE_OP_LOR, "lor"},   {SYNCYTE_OP_LXOR, "lxor"}, {SYNCYTE_OP_BAND, "band"},
    {SYNCYTE_OP_BOR, "bor"},   {SYNCYTE_OP_BXOR, "bxor"}};

/// Null for an op that reductions do not have.
const char* op_name(std::int64_t op) {
  const auto* const found = std::ranges::find(op_names, op, [](const auto& each) { return each.first; });
  return found == std::end(op_names) ? nullptr : found->second;
}

}  // namespace

const collective_traits& collective::traits() const { return all_traits[static_cast<std::size_t>(kind)]; }
std::string collective::operator_name() const { return std::string(traits().name) + (is_along() ? "_along" : ""); }
bool collective::is_along() const { return traits().gathers || traits().scatters; }

collective collective::adjoint() const {
  collective result = *this;
  result.kind = traits().adjoint;
  result.reverse = !reverse;
  std::swap(result.gathered, result.scattered);
  return result;
}

at::Tensor of_input_shape(const at::Tensor& cotangent, const collective& forward, c10::SymIntArrayRef input_sizes) {
  if (forward.kind != kind::scatter || rank_in(forward.comm) == forward.root) return cotangent;
  // Zeros, connected to a tensor without elements: its gradient must travel on, though it is nothing.
  return cotangent.sum().expand_symint(input_sizes);
}

/// The C function checks counts too, but the result's shape, which follows from them, is needed before it.
void require_counts(const char* name, const partition& parts, std::int64_t comm) {
  const auto& counts = parts.counts;
  TORCH_CHECK_VALUE(counts.size() == size_of(comm), name, " has ", counts.size(), " numbers; expected ", size_of(comm),
                    ", one per rank");
  for (std::size_t i = 0; i < counts.size(); ++i)
    TORCH_CHECK_VALUE(counts[i] >= 0, name, "[", i, "] is ", counts[i], "; expected 0 or more");
}

std::size_t normalized_axis(const char* argument, std::int64_t axis, std::size_t dimensions) {
  const auto count = static_cast<std::int64_t>(dimensions);
  TORCH_CHECK_VALUE(count > 0, "input has no dimension; expected 1 or more");
  TORCH_CHECK_INDEX(axis >= -count && axis < count, argument, " is ", axis, "; expected ", -count, " to ", count - 1);
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

bool has_adjoint(std::int64_t op) {
  return op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_PROD || op == SYNCYTE_OP_MIN || op == SYNCYTE_OP_MAX;
}

void collective::require_valid(const std::string& operation, bool is_blocking, derivatives wanted) const {
  if (traits().has_root) narrowed("root", root);
  if (traits().gathers) narrowed("axis", gathered.axis);
  if (traits().scatters) narrowed("axis", scattered.axis);
  if (traits().gathers) require_counts(traits().scatters ? "gather_counts" : "counts", gathered, comm);
  if (traits().scatters) require_counts(traits().gathers ? "scatter_counts" : "counts", scattered, comm);
  if (!traits().has_op) return;
  narrowed("op", op);
  const char* const name = op_name(op);
  if (op == SYNCYTE_OP_SUM || name == nullptr) return;  // the C function refuses an unknown op
  const bool has_one = is_blocking && (kind == kind::allreduce || kind == kind::reduce) && has_adjoint(op);
  TORCH_CHECK_NOT_IMPLEMENTED(!wanted.has_tangent, "op ", name, " of ", operation,
                              " has no forward-mode derivative; use sum");
  TORCH_CHECK_NOT_IMPLEMENTED(!wanted.needs_gradient || has_one, "op ", name, " of ", operation,
                              " has no adjoint; detach the input or use sum");
}

extents collective::result_shape(at::IntArrayRef input) const {
  extents result = kind == kind::scatter ? shape : input.vec();
  if (traits().gathers) {
    const bool is_elsewhere = kind == kind::gather && rank_in(comm) != root;
    result.at(normalized_axis("axis", gathered.axis, result.size())) = is_elsewhere ? 0 : sum_of(gathered.counts);
  }
  if (traits().scatters) {
    require_counts("counts", scattered, comm);
    result.at(normalized_axis("axis", scattered.axis, result.size())) =
        scattered.counts[static_cast<std::size_t>(rank_in(comm))];
  }
  return result;
}

std::vector<collective> all_collectives() {
  std::vector<collective> result;
  for (std::size_t i = 0; i < std::size(all_traits); ++i) result.push_back({.kind = static_cast<kind>(i)});
  return result;
}

collective_kind started_kind(const std::string& name) {
  std::string known;
  for (const collective& each : all_collectives()) {
    if (!each.traits().has_start) continue;
    if (name == each.traits().name) return each.kind;
    known += (known.empty() ? "" : ", ") + std::string(each.traits().name);
  }
  TORCH_CHECK_VALUE(false, "collective is '", name, "'; expected one of ", known);
}

std::int64_t extent_along(const at::Tensor& input, const char* argument, std::int64_t axis) {
  const auto sizes = input.sym_sizes();
  return sizes[normalized_axis(argument, axis, sizes.size())].guard_int(__FILE__, __LINE__);
}

at::Tensor collective::meta_result(const at::Tensor& input) const {
  if (!is_along()) return at::empty_like(input, input.options(), at::MemoryFormat::Contiguous);
  return at::empty(result_shape(concrete_shape(input)), input.options());
}

at::Tensor collective::run_on_cpu(const at::Tensor& input, derivatives wanted) const {
  at::Tensor source;
  at::Tensor result;
  fact_list facts = facts_of(wanted);
  try {
    refused_tensor::check();
    require_valid(operator_name(), true, wanted);
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
    fail_together(comm, "comm_" + operator_name());
  }
  if (!result.is_same(source) && input.numel() > 0) {
    // Elements that the C function does not write.
    const bool is_not_root = kind == kind::reduce && rank_in(comm) != root;
    if (is_not_root || kind == kind::neighbor_alltoall) std::memset(result.mutable_data_ptr(), 0, input.nbytes());
    if (kind == kind::bcast && rank_in(comm) == root)
      std::memcpy(result.mutable_data_ptr(), source.const_data_ptr(), input.nbytes());
  }
  check(call_c(const_buffer_of(source), facts, buffer_of(result), nullptr));
  return result;
}

syncyte_status_t collective::call_c(const const_buffer& from, const fact_list& facts, const buffer& to,
                                    syncyte_request_t* request) const {
  const syncyte_collective_options_t options = options_with(facts);
  const syncyte_comm_t group = group_of(comm)->get();
  const auto c_op = static_cast<syncyte_op_t>(op);
  const auto c_root = static_cast<std::int32_t>(root);
  const auto gather_axis = static_cast<std::int32_t>(gathered.axis);
  const auto scatter_axis = static_cast<std::int32_t>(scattered.axis);
  const std::int64_t* const joined = gathered.counts.data();
  const std::int64_t* const cut = scattered.counts.data();
  const auto ranks = static_cast<std::int64_t>(std::max(gathered.counts.size(), scattered.counts.size()));
  const auto either = [request](auto blocking, auto start, auto... arguments) {
    return request == nullptr ? blocking(arguments...) : start(arguments..., request);
  };
  switch (kind) {
    case kind::reduce:
      if (request == nullptr) return syncyte_comm_reduce(group, from.get(), c_op, c_root, &options, to.get());
      [[fallthrough]];  // the results of the other ranks than root are dropped
    case kind::allreduce:
      return either(syncyte_comm_allreduce, syncyte_comm_iallreduce, group, from.get(), c_op, &options, to.get());
    case kind::bcast:
      return either(syncyte_comm_bcast, syncyte_comm_ibcast, group, c_root, &options, to.get());
    case kind::scan:
      return syncyte_comm_scan(group, from.get(), c_op, reverse, &options, to.get());
    case kind::exscan:
      return syncyte_comm_exscan(group, from.get(), c_op, reverse, &options, to.get());
    case kind::allgather:
      return either(syncyte_comm_allgather_along, syncyte_comm_iallgather_along, group, from.get(), gather_axis, ranks,
                    joined, &options, to.get());
    case kind::gather:
      return syncyte_comm_gather_along(group, from.get(), gather_axis, c_root, ranks, joined, &options, to.get());
    case kind::scatter:
      return syncyte_comm_scatter_along(group, from.get(), scatter_axis, c_root, ranks, cut, &options, to.get());
    case kind::reduce_scatter:
      return either(syncyte_comm_reduce_scatter_along, syncyte_comm_ireduce_scatter_along, group, from.get(),
                    scatter_axis, c_op, ranks, cut, &options, to.get());
    case kind::alltoall:
      return either(syncyte_comm_alltoall_along, syncyte_comm_ialltoall_along, group, from.get(), gather_axis,
                    scatter_axis, ranks, joined, ranks, cut, &options, to.get());
    case kind::neighbor_alltoall:
      return syncyte_comm_neighbor_alltoall(group, from.get(), &options, to.get());
  }
  return SYNCYTE_ERR_INTERNAL;
}

// ---- Arguments of schemas ----

namespace {

using argument = std::variant<std::int64_t*, bool*, extents*>;

/// Names of arguments in schemas, and the members that they are.
auto members_of(collective& what) {
  partition& only = what.traits().gathers ? what.gathered : what.scattered;
  return std::to_array<std::pair<std::string_view, argument>>({{"comm", &what.comm},
                                                               {"op", &what.op},
                                                               {"root", &what.root},
                                                               {"reverse", &what.reverse},
                                                               {"identity_adjoint", &what.identity_adjoint},
                                                               {"axis", &only.axis},
                                                               {"counts", &only.counts},
                                                               {"gather_axis", &what.gathered.axis},
                                                               {"gather_counts", &what.gathered.counts},
                                                               {"scatter_axis", &what.scattered.axis},
                                                               {"scatter_counts", &what.scattered.counts},
                                                               {"shape", &what.shape}});
}

}  // namespace

collective_operator::collective_operator(const c10::OperatorHandle& given) : handle(given) {
  collective any{};
  const auto members = members_of(any);
  for (const c10::Argument& each : handle.schema().arguments()) {
    if (each.type()->kind() == c10::TypeKind::OptionalType) {  // known only to its caller
      members_.push_back(members.size());
      continue;
    }
    const auto found = std::ranges::find(members, std::string_view(each.name()), [](const auto& m) { return m.first; });
    members_.push_back(static_cast<std::size_t>(found - members.begin()));
  }
}

collective_operator::collective_operator(const char* name, const char* overload)
    : collective_operator(c10::Dispatcher::singleton().findSchemaOrThrow(name, overload)) {}

const c10::IValue* collective_operator::arguments(const torch::jit::Stack& stack) const {
  return stack.data() + stack.size() - members_.size();
}

collective collective_operator::load(collective_kind kind, const torch::jit::Stack& stack) const {
  collective result{.kind = kind};
  const auto members = members_of(result);
  const c10::IValue* value = arguments(stack);
  for (const std::size_t each : members_) {
    const auto read = [&](auto* member) { *member = value->to<std::decay_t<decltype(*member)>>(); };
    if (each < members.size()) std::visit(read, members[each].second);
    ++value;
  }
  return result;
}

torch::jit::Stack collective_operator::stack_of(const at::Tensor& input, collective what) const {
  const auto members = members_of(what);
  torch::jit::Stack stack(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i] < members.size())
      std::visit([&](auto* member) { stack[i] = *member; }, members[members_[i]].second);
  stack.front() = input;
  return stack;
}

at::Tensor collective_operator::call(torch::jit::Stack stack) const {
  handle.callBoxed(&stack);
  return std::move(stack.front()).toTensor();
}

c10::IValue& collective_operator::argument(torch::jit::Stack& stack, const char* name) const {
  const auto place = *handle.schema().argumentIndexWithName(name);
  return stack[stack.size() - members_.size() + static_cast<std::size_t>(place)];
}

bool collective_operator::has_argument(const char* name) const {
  return handle.schema().argumentIndexWithName(name).has_value();
}

void collective_operator::give_result(torch::jit::Stack& stack, at::Tensor result) const {
  stack.resize(stack.size() - members_.size());
  stack.emplace_back(std::move(result));
}

const collective_operator& operator_of(collective_kind kind) {
  static const auto* const all = [] {
    auto* const made = new std::vector<collective_operator>;
    for (const collective& each : all_collectives())
      made->emplace_back(("syncyte::" + each.operator_name()).c_str(), each.is_along() ? "counts" : "");
    return made;
  }();
  return (*all)[static_cast<std::size_t>(kind)];
}

at::Tensor collective::call(const at::Tensor& input, derivatives wanted) const {
  const collective_operator& own = operator_of(kind);
  torch::jit::Stack stack = own.stack_of(input, *this);
  stack.back() = wanted.packed();
  return own.call(std::move(stack));
}

}  // namespace syncyte::torch_binding
