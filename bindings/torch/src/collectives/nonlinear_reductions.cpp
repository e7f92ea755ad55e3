// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of allreduce and reduce with max, min and prod. S is what brings the result's cotangent to all ranks: the
// sum over ranks (allreduce), nothing at all (allreduce with the identity as adjoint), root's broadcast (reduce).
//
// max, min: y = max_s x_s. With m_s = 1 where x_s = y, otherwise 0: xbar_s = m_s / (sum_t m_t) S ybar, as torch.amax
// shares it among ties. Where an element is NaN on some rank, it is NaN on all ranks.
//
// prod: y = prod_s x_s, xbar_s = conj(prod of x_t over t != s) S ybar. The product of the others comes from an
// exclusive scan from either end, not from a division: any of them may be zero. If the backward pass is to be
// differentiated, it is multiplied up from all ranks' x, so that torch knows its derivative with respect to each of
// them.

#include "collectives/nonlinear_reductions.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/conj.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <string>

#include "autograd/linear_node.hpp"
#include "collectives/agreement.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using kind = collective_kind;

at::Tensor sum_over_ranks(const at::Tensor& x, std::int64_t comm, derivatives wanted) {
  return collective{.kind = kind::allreduce, .comm = comm}.call(x, wanted);
}

/// `x` of the reduction's root, on all ranks.
at::Tensor from_root(const at::Tensor& x, const collective& given, derivatives wanted) {
  return collective{.kind = kind::bcast, .comm = given.comm, .root = given.root}.call(x, wanted);
}

/// m_s / sum_t m_t: a constant, also for double backward.
at::Tensor share_of_ties(const at::Tensor& x, const at::Tensor& result, const collective& given, derivatives wanted) {
  const at::NoGradGuard no_grad;
  const at::Tensor y = given.traits().has_root ? from_root(result, given, wanted) : result;
  // Half precision cannot count to any number of ranks.
  const bool is_half = at::isReducedFloatingType(x.scalar_type());
  const at::Tensor ties = x.eq(y)
                              .to(is_half ? at::kFloat : x.scalar_type())
                              .masked_fill(x.isnan(), std::numeric_limits<double>::quiet_NaN());
  return (ties / sum_over_ranks(ties, given.comm, wanted)).to(x.scalar_type());
}

/// All ranks' x multiplied but this one's, as differentiable operations.
at::Tensor product_of_gathered(const at::Tensor& x, std::int64_t comm, derivatives wanted) {
  const std::int64_t own = rank_in(comm);
  const auto ranks = static_cast<std::int64_t>(size_of(comm));
  const partition rows{0, extents(static_cast<std::size_t>(ranks), 1)};
  const collective gather{.kind = kind::allgather, .comm = comm, .gathered = rows};
  const at::Tensor all = gather.call(x.reshape({1, x.numel()}), wanted);
  at::Tensor product = at::ones_like(all[0]);
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    if (rank != own) product = product * all[rank];
  return product.reshape(x.sizes());
}

at::Tensor product_of_others(const at::Tensor& x, std::int64_t comm, derivatives wanted) {
  if (at::GradMode::is_enabled()) return product_of_gathered(x, comm, wanted);
  collective scan{.kind = kind::exscan, .comm = comm, .op = SYNCYTE_OP_PROD};
  const at::Tensor before = scan.call(x, wanted);
  scan.reverse = true;
  return before * scan.call(x, wanted);
}

/// S ybar.
at::Tensor spread(const at::Tensor& gradient, const collective& given, derivatives wanted) {
  if (given.traits().has_root) return from_root(gradient, given, wanted);
  if (given.identity_adjoint) return replicated(gradient, given.comm, wanted);
  return sum_over_ranks(gradient, given.comm, wanted);
}

/// A reduction and which forward it was.
struct numbered_reduction : collective {
  std::int64_t number;
};

class reduction_function : public torch::autograd::Function<reduction_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const collective& given,
                            derivatives wanted) {
    wanted.needs_gradient = true;
    at::Tensor result = run_without_node(given, input, wanted);
    const bool is_traced = input.unsafeGetTensorImpl()->is_python_dispatch();
    keep(context, numbered_reduction{given, is_traced ? 0 : number_of_forward(given.comm)});
    context->save_for_backward(given.op == SYNCYTE_OP_PROD ? variable_list{input} : variable_list{input, result});
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto& given = kept<numbered_reduction>(context);
    const backward_range range(std::string("syncyte::") + given.traits().name, gradients);
    const derivatives wanted{.forward_number = given.number};
    // If a saved tensor has been changed on one rank, all ranks get the error.
    const auto saved = together(given.comm, "backward", [&] { return context->get_saved_variables(); });
    const at::Tensor factor = given.op == SYNCYTE_OP_PROD ? product_of_others(saved[0], given.comm, wanted).conj()
                                                          : share_of_ties(saved[0], saved[1], given, wanted);
    return {factor * spread(gradients[0], given, wanted), at::Tensor(), at::Tensor()};
  }
};

/// The cotangent that each rank has of one result.
struct replicated_cotangent {
  std::int64_t comm;
  std::int64_t number;

  const char* profiled_as() const { return "syncyte::allreduce_backward"; }
  at::Tensor run(const at::Tensor& input, derivatives) const { return input; }
  at::Tensor adjoint(const at::Tensor& gradient, c10::SymIntArrayRef, derivatives wanted) const {
    return collective{.kind = kind::allreduce, .comm = comm, .identity_adjoint = true}.call(gradient, wanted);
  }
  std::int64_t number_of_forward() const { return number; }
};

}  // namespace

at::Tensor reduce_with_gradient(const at::Tensor& input, const collective& reduction, derivatives wanted) {
  return reduction_function::apply(input, reduction, wanted);
}

at::Tensor replicated(const at::Tensor& gradient, std::int64_t comm, derivatives wanted) {
  if (!at::GradMode::is_enabled()) return gradient;
  if (check_level(comm) > 0 && !gradient.unsafeGetTensorImpl()->is_python_dispatch())
    agree(comm, "allreduce's backward", SYNCYTE_SUCCESS,
          facts_of({gradient.requires_grad(), false, wanted.forward_number}));
  if (!gradient.requires_grad()) return gradient;
  return linear_node<replicated_cotangent>::apply(gradient, replicated_cotangent{comm, wanted.forward_number}, wanted);
}

}  // namespace syncyte::torch_binding
