// SPDX-License-Identifier: BSD-3-Clause
// The operators *_along without counts. They collect the counts of all ranks, and call the operator with counts.
//
// While a graph is traced nothing is sent, because other ranks may have their graphs already: such an operator is one
// operation of the graph, and counts are collected when it runs. The Python package has the rules for shapes of its
// results, because only Python makes extents that are not known before a graph runs (_torch_shapes.py). Its adjoint is
// such an operator too, in place of one with the counts of the forward.

#include <torch/library.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"
#include "collectives/collective.hpp"
#include "operators/dispatched.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

using kind = collective_kind;
using torch::jit::Stack;

const collective_operator& collecting_operator_of(collective_kind which) {
  static const auto* const all = [] {
    auto* const made = new std::vector<std::optional<collective_operator>>;
    for (const collective& each : all_collectives()) {
      auto& added = made->emplace_back();
      if (each.is_along()) added.emplace(("syncyte::" + each.operator_name()).c_str(), "");
    }
    return made;
  }();
  return *(*all)[static_cast<std::size_t>(which)];
}

// ---- When it runs ----

/// All ranks' counts along an axis, of which this rank has `mine`.
partition collect_counts(std::int64_t comm, std::int64_t axis, std::int64_t mine) {
  return {axis, checked([&] { return group_of(comm)->counts(mine); })};
}

/// The shape of root's input, on all ranks.
extents shape_on(std::int64_t root, const at::Tensor& input, std::int64_t comm) {
  std::array<std::int64_t, SYNCYTE_MAX_NDIM + 1> message{};  // how many, which
  together(comm, "comm_bcast", [&] {
    narrowed("root", root);
    const extents shape = concrete_shape(input);
    if (rank_in(comm) == root) require_few_dimensions(shape);
    message[0] = static_cast<std::int64_t>(std::min(shape.size(), message.size() - 1));
    std::copy_n(shape.begin(), message[0], message.begin() + 1);
  });
  checked([&] { group_of(comm)->bcast(static_cast<std::int32_t>(root), message); });
  return {message.begin() + 1, message.begin() + 1 + message[0]};
}

/// The collective with all ranks' counts; its other arguments are on the stack. `count` is that of this rank's part of
/// the result.
collective with_counts(const collective_operator& own, collective what, Stack& stack) {
  const at::Tensor input = own.arguments(stack)->toTensor();
  if (what.kind == kind::scatter) {
    const c10::IValue& shape = own.argument(stack, "shape");
    what.shape = shape.isNone() ? shape_on(what.root, input, what.comm) : concrete_shape(shape.toSymIntVector());
  }
  if (what.traits().gathers) {
    const std::int64_t axis = what.gathered.axis;
    const auto mine = together(what.comm, "comm_counts", [&] { return extent_along(input, "axis", axis); });
    what.gathered = collect_counts(what.comm, axis, mine);
  }
  if (what.traits().scatters) {
    const std::int64_t count = own.argument(stack, "count").toSymInt().guard_int(__FILE__, __LINE__);
    what.scattered = collect_counts(what.comm, what.scattered.axis, count);
  }
  return what;
}

/// Throws on all ranks if the result is not as long as a compiled graph takes it to be.
void require_extent(const collective_operator& own, const collective& what, Stack& stack) {
  if (!own.has_argument("extent") || own.argument(stack, "extent").isNone()) return;
  const std::int64_t extent = own.argument(stack, "extent").toSymInt().guard_int(__FILE__, __LINE__);
  const bool is_elsewhere = what.kind == kind::gather && rank_in(what.comm) != what.root;
  const std::int64_t found = is_elsewhere ? 0 : sum_of(what.gathered.counts);
  together(what.comm, "comm_" + what.operator_name(), [&] {
    TORCH_CHECK_VALUE(extent == found, "extent is ", extent, "; expected ", found, ", the sum of all ranks' extents");
  });
}

void collect_and_call(const collective_operator& own, collective_kind which, Stack& stack) {
  const collective what = with_counts(own, own.load(which, stack), stack);
  require_extent(own, what, stack);
  const at::Tensor input = own.arguments(stack)->toTensor();
  own.give_result(stack, what.call(input, derivatives::unpacked(stack.back().toInt())));
}

// ---- While a graph is traced ----

/// The collective with what the graph knows of its extents.
struct traced_collective : collective {
  c10::SymInt count{};                              // of this rank's part, where the result is cut
  std::optional<c10::SymInt> extent{};              // of the result, where parts are joined
  std::optional<std::vector<c10::SymInt>> whole{};  // scatter: shape of root's input

  std::string profiled_as() const { return "syncyte::" + operator_name(); }

  at::Tensor call(const at::Tensor& input, derivatives wanted) const {
    const collective_operator& own = collecting_operator_of(kind);
    Stack stack = own.stack_of(input, *this);
    if (traits().scatters) own.argument(stack, "count") = count;
    if (own.has_argument("extent") && extent) own.argument(stack, "extent") = *extent;
    if (own.has_argument("shape") && whole) own.argument(stack, "shape") = *whole;
    stack.back() = wanted.packed();
    return own.call(std::move(stack));
  }

  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef input_sizes, derivatives wanted) const {
    const auto input_extent = [&](const partition& parts) {
      return input_sizes[normalized_axis("axis", parts.axis, input_sizes.size())];
    };
    traced_collective back{collective::adjoint()};
    if (back.traits().scatters) back.count = input_extent(back.scattered);
    if (back.traits().gathers && has_two_axes(input_sizes.size())) back.extent = input_extent(back.gathered);
    if (back.kind == kind::gather && rank_in(comm) != root) back.extent = 0;
    if (back.kind == kind::scatter) back.whole = input_sizes.vec();  // its extent along the axis is not read
    return of_input_shape(back.call(gradient, wanted), *this, input_sizes);
  }

 private:
  /// Whether the axes differ along which parts are joined and cut: only then the input's extent is that of the whole.
  bool has_two_axes(std::size_t dimensions) const {
    return kind != kind::alltoall || normalized_axis("gather_axis", gathered.axis, dimensions) !=
                                         normalized_axis("scatter_axis", scattered.axis, dimensions);
  }
};

traced_collective traced(const collective_operator& own, collective_kind which, Stack& stack) {
  traced_collective result{own.load(which, stack)};
  if (result.traits().scatters) result.count = own.argument(stack, "count").toSymInt();
  if (own.has_argument("extent") && !own.argument(stack, "extent").isNone())
    result.extent = own.argument(stack, "extent").toSymInt();
  if (own.has_argument("shape") && !own.argument(stack, "shape").isNone())
    result.whole = own.argument(stack, "shape").toSymIntVector();
  return result;
}

at::Tensor run_traced(const traced_collective& what, const at::Tensor& input, derivatives wanted) {
  if (what.traits().has_op && what.op != SYNCYTE_OP_SUM) {  // it has no adjoint: all ranks get the error when it runs
    wanted.needs_gradient = wanted.needs_gradient || is_recorded(input);
    return run_without_node(what, input, wanted);
  }
  return apply_in_autograd(input, what, wanted);
}

void implement(torch::Library& library, const collective& each, bool is_autograd) {
  const auto kernel = [=, which = each.kind](const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack& stack) {
    const collective_operator& own = collecting_operator_of(which);
    const at::Tensor input = own.arguments(stack)->toTensor();
    if (!is_autograd || !input.unsafeGetTensorImpl()->is_python_dispatch()) return collect_and_call(own, which, stack);
    if (!is_recorded(input) && !carries_tangent(input))
      return op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, &stack);
    const auto wanted = derivatives::unpacked(stack.back().toInt());
    own.give_result(stack, run_traced(traced(own, which, stack), input, wanted));
  };
  library.impl(each.operator_name().c_str(), boxed(kernel));
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CompositeExplicitAutograd, library) {
  for (const collective& each : all_collectives())
    if (each.is_along()) implement(library, each, false);
}
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) {
  for (const collective& each : all_collectives())
    if (each.is_along()) implement(library, each, true);
}

}  // namespace syncyte::torch_binding
