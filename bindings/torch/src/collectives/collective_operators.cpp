// SPDX-License-Identifier: BSD-3-Clause
// torch.ops.syncyte.allreduce, bcast, reduce, scan, exscan, *_along: the kernels of all blocking collectives.
//
// allreduce: y_r = sum_s x_s on every rank r; its own adjoint. bcast: y_r = x_root. Adjoint: reduce, xbar_root = sum_r
// ybar_r, nothing elsewhere. reduce: y_root = sum_r x_r, zeros elsewhere. scan: y_r = sum of x_s over s <= r (exscan:
// s < r). Adjoint: the scan from the other end. Other reductions than the sum: see nonlinear_reductions.cpp.
//
// Along an axis, a part on each rank: allgather: y_r = x, the parts joined, on every rank. Adjoint: reduce_scatter, the
// sum over ranks of the cotangents' parts. gather: y_root = x. Adjoint: scatter. alltoall: y is x partitioned along
// another axis, a permutation of elements. Adjoint: its inverse, the axes exchanged.

#include <torch/library.h>

#include <functional>
#include <string>

#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"
#include "collectives/collective.hpp"
#include "collectives/nonlinear_reductions.hpp"
#include "operators/dispatched.hpp"
#include "tensors/buffers.hpp"

namespace syncyte::torch_binding {
namespace {

using kind = collective_kind;

/// A collective for its node in the graph, where it is linear.
struct linear_collective : collective {
  std::string profiled_as() const { return "syncyte::" + operator_name(); }

  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef input_sizes, derivatives wanted) const {
    if (identity_adjoint) return replicated(gradient, comm, wanted);
    collective back = collective::adjoint();
    if (kind == kind::gather) {  // scatter needs the whole on all ranks
      back.shape = concrete_shape(input_sizes);
      back.shape.at(normalized_axis("axis", gathered.axis, back.shape.size())) = sum_of(gathered.counts);
    }
    return of_input_shape(back.call(gradient, wanted), *this, input_sizes);
  }
};

/// A reduction other than the sum. The kernel tells all ranks if it has no such derivative.
at::Tensor call_reduction(const collective& what, const at::Tensor& input, derivatives wanted) {
  wanted.needs_gradient = wanted.needs_gradient || is_recorded(input);
  wanted.has_tangent = wanted.has_tangent || carries_tangent(input);
  const bool has_node = is_recorded(input) && (what.kind == kind::allreduce || what.kind == kind::reduce);
  if (has_node && has_adjoint(what.op) && !wanted.has_tangent) return reduce_with_gradient(input, what, wanted);
  return run_without_node(what, input, wanted);
}

at::Tensor run_in_autograd(const linear_collective& what, const at::Tensor& input, derivatives wanted) {
  if (!what.traits().has_op || what.op == SYNCYTE_OP_SUM || is_plain_meta(input))
    return apply_in_autograd(input, what, wanted);
  return in_order(input, [&](const at::Tensor& ordered) { return call_reduction(what, ordered, wanted); });
}

/// Whether autograd has no part in an operation: small messages are spared the cost of a node. In a compiled graph the
/// derivatives were found when the graph was traced.
bool is_plain(const at::Tensor& input) {
  return !is_recorded(input) && !carries_tangent(input) && !is_ordered() && !is_plain_meta(input);
}

using torch::jit::Stack;

/// Registers run(collective, input, derivatives) for all kinds.
template <class Run>
void implement_all(torch::Library& library, bool is_autograd, Run run) {
  for (const collective& each : all_collectives()) {
    const auto kernel = [=](const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack& stack) {
      const collective_operator& own = operator_of(each.kind);
      const at::Tensor& input = own.arguments(stack)->toTensor();
      if (is_autograd && is_plain(input)) return op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, &stack);
      const linear_collective what{own.load(each.kind, stack)};
      own.give_result(stack, run(what, input, derivatives::unpacked(stack.back().toInt())));
    };
    library.impl((each.operator_name() + (each.is_along() ? ".counts" : "")).c_str(), boxed(kernel));
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(syncyte, CPU, library) { implement_all(library, false, std::mem_fn(&collective::run_on_cpu)); }
TORCH_LIBRARY_IMPL(syncyte, Meta, library) {
  implement_all(library, false,
                [](const collective& what, const at::Tensor& input, derivatives) { return what.meta_result(input); });
}
TORCH_LIBRARY_IMPL(syncyte, Autograd, library) { implement_all(library, true, run_in_autograd); }
}  // namespace syncyte::torch_binding
