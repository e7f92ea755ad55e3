#pragma once
// What reductions other than the sum have for derivatives.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "collectives/agreement.hpp"

namespace syncyte::torch_binding {

/// Whether allreduce and reduce have an adjoint: sum, max, min, prod.
bool has_adjoint(std::int64_t op);

/// Throws if a derivative is asked for of a reduction that has none; for the steps before a collective's agreement.
/// `operation` is its name for users, `orders` whether max, min and prod have an adjoint there.
void require_derivative(const char* operation, std::int64_t op, bool orders, derivatives asked);

/// An allreduce or a reduce that is no sum, but has an adjoint.
struct order_reduction {
  static constexpr std::int64_t all_ranks = -1;

  std::int64_t comm = 0;
  std::int64_t op = 0;
  std::int64_t root = all_ranks;  ///< who gets the result
  bool identity_adjoint = false;  ///< allreduce: each rank's cotangent is that of the one result
};

/// Its result, with a node in the graph.
at::Tensor differentiable(const at::Tensor& input, const order_reduction& reduction, derivatives asked);

/// The cotangent of the one result that all ranks have, on each of them: nothing is sent. Its derivative is the
/// allreduce whose adjoint this is.
at::Tensor replicated(const at::Tensor& gradient, std::int64_t comm, derivatives asked);

}  // namespace syncyte::torch_binding
