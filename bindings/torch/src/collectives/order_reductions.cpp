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

#include "collectives/order_reductions.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue_inl.h>
#include <ATen/ops/conj.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <limits>

#include "tensors/buffers.hpp"
#include "collectives/calls.hpp"
#include "tensors/handle_reference.hpp"
#include "autograd/ordered.hpp"
#include "autograd/profile.hpp"

namespace syncyte::torch_binding {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const char* name_of(std::int64_t op) {
  constexpr std::array names{"sum", "prod", "min", "max", "land", "lor", "band", "bor", "bxor"};
  if (op == SYNCYTE_OP_LXOR) return "lxor";
  return op >= SYNCYTE_OP_SUM && op <= SYNCYTE_OP_BXOR ? names[static_cast<std::size_t>(op - SYNCYTE_OP_SUM)] : nullptr;
}

/// m_s / sum_t m_t: a constant, also for double backward.
at::Tensor share_of_ties(const at::Tensor& x, const at::Tensor& result, const order_reduction& given,
                         derivatives asked) {
  const at::NoGradGuard no_grad;
  const at::Tensor y =
      given.root == order_reduction::all_ranks ? result : call_bcast(result, given.comm, given.root, asked);
  // Half precision cannot count to any number of ranks.
  const bool is_half = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
  const at::Tensor ties = x.eq(y)
                              .to(is_half ? at::kFloat : x.scalar_type())
                              .masked_fill(x.isnan(), std::numeric_limits<double>::quiet_NaN());
  return (ties / call_allreduce(ties, given.comm, SYNCYTE_OP_SUM, false, asked)).to(x.scalar_type());
}

/// All ranks' x multiplied but this one's, as differentiable operations.
at::Tensor product_of_gathered(const at::Tensor& x, std::int64_t comm, derivatives asked) {
  const std::int64_t own = rank_in(comm);
  const auto ranks = static_cast<std::int64_t>(size_of(comm));
  const at::Tensor all =
      call_allgather_along(x.reshape({1, x.numel()}), comm, 0, extents(static_cast<std::size_t>(ranks), 1), asked);
  at::Tensor product = at::ones_like(all[0]);
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    if (rank != own) product = product * all[rank];
  return product.reshape(x.sizes());
}

at::Tensor product_of_others(const at::Tensor& x, std::int64_t comm, derivatives asked) {
  if (at::GradMode::is_enabled()) return product_of_gathered(x, comm, asked);
  const at::Tensor before = call_exscan(x, comm, false, SYNCYTE_OP_PROD, asked);
  const at::Tensor after = call_exscan(x, comm, true, SYNCYTE_OP_PROD, asked);
  return before * after;
}

/// S ybar.
at::Tensor spread(const at::Tensor& gradient, const order_reduction& given, derivatives asked) {
  if (given.root != order_reduction::all_ranks) return call_bcast(gradient, given.comm, given.root, asked);
  if (given.identity_adjoint) return replicated(gradient, given.comm, asked);
  return call_allreduce(gradient, given.comm, SYNCYTE_OP_SUM, false, asked);
}

class order_function : public torch::autograd::Function<order_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const order_reduction& given,
                            derivatives asked) {
    at::Tensor result = reduce(input, given, asked);
    auto kept = c10::make_intrusive<kept_of_forward>(given.comm);
    kept->given = given;
    kept->number = number_of_forward(given.comm, input);
    context->saved_data["kept"] = at::IValue::make_capsule(std::move(kept));
    if (given.op == SYNCYTE_OP_PROD)
      context->save_for_backward({input});
    else
      context->save_for_backward({input, result});
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto capsule = context->saved_data["kept"].toCapsule();
    const auto& kept = static_cast<const kept_of_forward&>(*capsule);
    const backward_range range(kept.given.root == order_reduction::all_ranks ? "syncyte::allreduce" : "syncyte::reduce",
                               gradients);
    const derivatives asked{.forward_number = kept.number};
    const variable_list saved = unpack(context, kept.given.comm);
    const at::Tensor factor = kept.given.op == SYNCYTE_OP_PROD
                                  ? product_of_others(saved[0], kept.given.comm, asked).conj()
                                  : share_of_ties(saved[0], saved[1], kept.given, asked);
    return {factor * spread(gradients[0], kept.given, asked), at::Tensor(), at::Tensor()};
  }

 private:
  struct kept_of_forward final : torch::CustomClassHolder {
    explicit kept_of_forward(std::int64_t comm) : reference(comm) {}
    comm_reference reference;
    order_reduction given;
    std::int64_t number = 0;
  };

  static at::Tensor reduce(const at::Tensor& input, const order_reduction& given, derivatives asked) {
    const at::AutoDispatchBelowADInplaceOrView below;
    asked.needs_gradient = true;
    return given.root == order_reduction::all_ranks
               ? call_allreduce(input, given.comm, given.op, given.identity_adjoint, asked)
               : call_reduce(input, given.comm, given.root, given.op, asked);
  }

  /// If a tensor has been changed since on one rank, all are told.
  static variable_list unpack(AutogradContext* context, std::int64_t comm) {
    try {
      return context->get_saved_variables();
    } catch (...) {
      fail_together(group_of(comm), "backward");
    }
  }
};

class replicated_function : public torch::autograd::Function<replicated_function> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gradient, std::int64_t comm,
                            std::int64_t number) {
    context->saved_data["comm"] = comm;
    context->saved_data["comm reference"] = capsule_of<comm_reference>(comm);
    context->saved_data["number"] = number;
    return gradient;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const derivatives asked{.forward_number = context->saved_data["number"].toInt()};
    return {call_allreduce(gradients[0], context->saved_data["comm"].toInt(), SYNCYTE_OP_SUM, true, asked),
            at::Tensor(), at::Tensor()};
  }
};

}  // namespace

bool has_adjoint(std::int64_t op) { return op >= SYNCYTE_OP_SUM && op <= SYNCYTE_OP_MAX; }

void require_derivative(const char* operation, std::int64_t op, bool orders, derivatives asked) {
  require_32_bits("op", op);
  if (op == SYNCYTE_OP_SUM || name_of(op) == nullptr) return;  // what is no op the C function refuses
  TORCH_CHECK_NOT_IMPLEMENTED(!asked.has_tangent, "op ", name_of(op), " of ", operation,
                              " has no forward-mode derivative; use sum");
  TORCH_CHECK_NOT_IMPLEMENTED(!asked.needs_gradient || (orders && has_adjoint(op)), "op ", name_of(op), " of ",
                              operation, " has no adjoint; detach the input or use sum");
}

at::Tensor differentiable(const at::Tensor& input, const order_reduction& reduction, derivatives asked) {
  return order_function::apply(input, reduction, asked);
}

at::Tensor replicated(const at::Tensor& gradient, std::int64_t comm, derivatives asked) {
  if (!at::GradMode::is_enabled()) return gradient;
  std::int32_t level = 0;
  check(syncyte_comm_check_level(group_of(comm), &level));
  if (level > 0 && !gradient.unsafeGetTensorImpl()->is_python_dispatch()) {
    const fact_list facts = facts_of({gradient.requires_grad(), false, asked.forward_number});
    check(syncyte_comm_agree(group_of(comm), SYNCYTE_SUCCESS, "allreduce's backward",
                             static_cast<std::int32_t>(facts.size()), facts.data()));
  }
  return gradient.requires_grad() ? replicated_function::apply(gradient, comm, asked.forward_number) : gradient;
}

}  // namespace syncyte::torch_binding
