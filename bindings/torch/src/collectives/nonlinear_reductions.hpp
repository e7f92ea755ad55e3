// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Derivatives of the reductions max, min and prod.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "autograd/derivatives.hpp"
#include "collectives/collective.hpp"

namespace syncyte::torch_binding {

/// Runs an allreduce or a reduce with max, min or prod, with a node in the graph.
at::Tensor reduce_with_gradient(const at::Tensor& input, const collective& reduction, derivatives wanted);

/// The cotangent of the one result that all ranks have, on each of them: nothing is sent. Its derivative is the
/// allreduce whose adjoint this is.
at::Tensor replicated(const at::Tensor& gradient, std::int64_t comm, derivatives wanted);

}  // namespace syncyte::torch_binding
