// torch.ops.syncyte.allreduce, bcast, reduce, scan, exscan, *_along: the kernels of all blocking collectives.
//
// allreduce: y_r = sum_s x_s on every rank r; its own adjoint. bcast: y_r = x_root. Adjoint: reduce, xbar_root = sum_r
// ybar_r, nothing elsewhere. reduce: y_root = sum_r x_r, zeros elsewhere. scan: y_r = sum of x_s over s <= r (exscan:
// s < r). Adjoint: the scan from the other end. Other reductions than the sum: see order_reductions.cpp.
//
// Along an axis, a part on each rank: allgather: y_r = x, the parts joined, on every rank. Adjoint: reduce_scatter, the
// sum over ranks of the cotangents' parts. gather: y_root = x. Adjoint: scatter. alltoall: y is x partitioned along
// another axis, a permutation of elements. Adjoint: its inverse, the axes exchanged.

#include <ATen/core/stack.h>
#include <ATen/ops/sum.h>
#include <c10/util/FunctionRef.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"
#include "collectives/collective.hpp"
#include "collectives/order_reductions.hpp"
#include "operators/refused_tensors.hpp"
#include "tensors/buffers.hpp"
#include "tensors/handle_reference.hpp"

namespace syncyte::torch_binding {
namespace {

using kind = collective_kind;

/// A linear collective for its node in the graph.
struct linear_collective : collective {
  struct references : comm_reference {
    explicit references(const linear_collective& of) : comm_reference(of.comm) {}
  };

  std::string profiled_as() const { return "syncyte::" + operator_name(); }
  at::Tensor call(const at::Tensor& input, derivatives asked) const { return torch_binding::call(*this, input, asked); }
  at::Tensor run(const at::Tensor& input, derivatives asked) const { return call_below(*this, input, asked); }
  std::int64_t number_of_forward(const at::Tensor& input) const {
    return torch_binding::number_of_forward(comm, input);
  }

  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef input_sizes, derivatives asked) const {
    if (identity_adjoint) return replicated(gradient, comm, asked);
    collective back = collective::adjoint();
    if (kind == kind::gather) {  // scatter needs the whole on all ranks
      back.shape = concrete_shape(input_sizes);
      const auto axis =
          gathered.axis < 0 ? gathered.axis + static_cast<std::int64_t>(back.shape.size()) : gathered.axis;
      back.shape.at(static_cast<std::size_t>(axis)) = sum_of(gathered.counts);
    }
    at::Tensor result = torch_binding::call(back, gradient, asked);
    if (kind != kind::scatter || rank_in(comm) == root) return result;
    // Zeros, connected to a tensor without elements: its gradient must travel on, though it is nothing.
    return result.sum().expand_symint(input_sizes);
  }
};

/// One without a node, or with that of a reduction which is not linear; all ranks are told by the kernel of one that
/// has no such derivative.
at::Tensor call_reduction(const collective& what, const at::Tensor& input, derivatives asked) {
  asked.needs_gradient = asked.needs_gradient || is_recorded(input);
  asked.has_tangent = asked.has_tangent || carries_tangent(input);
  const bool has_node = is_recorded(input) && (what.kind == kind::allreduce || what.kind == kind::reduce);
  if (has_node && has_adjoint(what.op) && !asked.has_tangent) return differentiable(input, what, asked);
  return call_below(what, input, asked);
}

using torch::jit::Stack;

at::Tensor run(kind which, const Stack& stack) {
  const collective_arguments& arguments = operator_of(which).arguments;
  const at::Tensor& input = stack[stack.size() - arguments.size()].toTensor();
  return arguments.load(which, stack).run(input, derivatives::unpacked(stack.back().toInt()));
}

at::Tensor run_meta(kind which, const Stack& stack) {
  const collective_arguments& arguments = operator_of(which).arguments;
  return arguments.load(which, stack).meta_result(stack[stack.size() - arguments.size()].toTensor());
}

/// Autograd has no part in it. Small messages are spared the cost of a node. In a compiled graph the derivatives are
/// those that were found when it was traced.
bool is_plain(const at::Tensor& input) {
  return !is_recorded(input) && !carries_tangent(input) && !is_ordered() && !is_plain_meta(input);
}

/// `below` runs the operator without a node on what is on the stack.
at::Tensor run_in_autograd(kind which, Stack& stack, c10::function_ref<at::Tensor()> below) {
  const collective_arguments& arguments = operator_of(which).arguments;
  c10::IValue& first = stack[stack.size() - arguments.size()];
  const at::Tensor input = first.toTensor();
  if (is_plain_meta(input)) [[unlikely]] {
    const refused_tensor refusal(meta_text(operator_of(which).handle.schema().name().c_str()));
    first = stand_in(input);
    return run(which, stack);
  }
  const linear_collective what{arguments.load(which, stack)};
  const auto asked = derivatives::unpacked(stack.back().toInt());
  if (what.has_op() && what.op != SYNCYTE_OP_SUM)
    return in_order(input, [&](const at::Tensor& ordered) { return call_reduction(what, ordered, asked); });
  return differentiated(input, what, asked, [&](const at::Tensor& ordered) {
    first = ordered;
    return below();
  });
}

class collective_kernel final : public c10::OperatorKernel {
 public:
  collective_kernel(kind which, c10::DispatchKey key) : kind_(which), key_(key) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) const {
    const auto below = keys & c10::after_ADInplaceOrView_keyset;
    const std::size_t arguments = operator_of(kind_).arguments.size();
    if (key_ == c10::DispatchKey::Autograd && is_plain((*stack)[stack->size() - arguments].toTensor()))
      return op.redispatchBoxed(below, stack);
    const auto redispatch = [&] {
      Stack copy(stack->end() - static_cast<std::ptrdiff_t>(arguments), stack->end());
      op.redispatchBoxed(below, &copy);
      return std::move(copy.back()).toTensor();
    };
    give_result(*stack, operator_of(kind_),
                key_ == c10::DispatchKey::CPU    ? run(kind_, *stack)
                : key_ == c10::DispatchKey::Meta ? run_meta(kind_, *stack)
                                                 : run_in_autograd(kind_, *stack, redispatch));
  }

 private:
  kind kind_;
  c10::DispatchKey key_;
};

void implement_all(torch::Library& library, c10::DispatchKey key) {
  for (std::size_t i = 0; i < collective_kinds; ++i) {
    const auto which = static_cast<kind>(i);
    const collective each{.kind = which};
    library.impl((each.operator_name() + (each.is_along() ? ".counts" : "")).c_str(),
                 torch::CppFunction::makeFromBoxedFunctor(std::make_unique<collective_kernel>(which, key)));
  }
}

// ---- Without counts ----
//
// They are collected first. A compiled graph is specialised to what was collected when it was traced; if another rank's
// counts change, the agreement finds that on all ranks.

/// All ranks' counts along an axis, of which this rank has `mine`.
partition collect_counts(std::int64_t comm, std::int64_t axis, std::int64_t mine) {
  partition result{axis, extents(size_of(comm))};
  check(syncyte_comm_counts(group_of(comm), mine, nullptr, result.counts.data(),
                            static_cast<std::int64_t>(result.counts.size())));
  return result;
}

partition parts_of(const at::Tensor& input, std::int64_t comm, std::int64_t axis) {
  std::int64_t mine = 0;
  try {
    mine = extent_along(input, axis);
  } catch (...) {
    fail_together(group_of(comm), "comm_counts");
  }
  return collect_counts(comm, axis, mine);
}

/// The shape of root's input, on all ranks.
extents shape_on(std::int64_t root, const at::Tensor& input, std::int64_t comm) {
  std::array<std::int64_t, SYNCYTE_MAX_NDIM + 1> message{};  // how many, which
  try {
    require_32_bits("root", root);
    const extents shape = concrete_shape(input);
    TORCH_CHECK_VALUE(rank_in(comm) != root || shape.size() < message.size(), "input has ", shape.size(),
                      " dimensions; expected at most ", SYNCYTE_MAX_NDIM);
    message[0] = static_cast<std::int64_t>(std::min(shape.size(), message.size() - 1));
    std::copy_n(shape.begin(), message[0], message.begin() + 1);
  } catch (...) {
    fail_together(group_of(comm), "comm_bcast");
  }
  const std::int64_t count[] = {static_cast<std::int64_t>(message.size())};
  syncyte_buffer_t buffer;
  check(syncyte_buffer_init(message.data(), SYNCYTE_INT64, 1, count, &buffer));
  check(syncyte_comm_bcast(group_of(comm), static_cast<std::int32_t>(root), nullptr, &buffer));
  return {message.begin() + 1, message.begin() + 1 + message[0]};
}

/// The operator without counts, which has this rank's `count` where the result is cut.
class collecting_kernel final : public c10::OperatorKernel {
 public:
  explicit collecting_kernel(kind which) : kind_(which) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) const {
    const collective_arguments arguments(op.schema());
    collective what = arguments.load(kind_, *stack);
    const std::size_t first = stack->size() - arguments.size();
    const at::Tensor input = (*stack)[first].toTensor();
    if (kind_ == kind::scatter) what.shape = shape_on(what.root, input, what.comm);
    if (what.gathers()) what.gathered = parts_of(input, what.comm, what.gathered.axis);
    if (what.scatters()) {
      const auto count = static_cast<std::size_t>(*op.schema().argumentIndexWithName("count"));
      what.scattered = collect_counts(what.comm, what.scattered.axis, (*stack)[first + count].toInt());
    }
    stack->resize(first);
    stack->emplace_back(call(what, input, {}));
  }

 private:
  kind kind_;
};

}  // namespace
}  // namespace syncyte::torch_binding

using namespace syncyte::torch_binding;

TORCH_LIBRARY_IMPL(syncyte, CPU, library) { implement_all(library, c10::DispatchKey::CPU); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) { implement_all(library, c10::DispatchKey::Meta); }
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { implement_all(library, c10::DispatchKey::Autograd); }
TORCH_LIBRARY_IMPL(syncyte, CompositeImplicitAutograd, library) {
  for (std::size_t i = 0; i < collective_kinds; ++i) {
    const collective each{.kind = static_cast<collective_kind>(i)};
    if (each.is_along())
      library.impl(each.operator_name().c_str(),
                   torch::CppFunction::makeFromBoxedFunctor(std::make_unique<collecting_kernel>(each.kind)));
  }
}
