#pragma once
// Derivatives of the reductions max, min and prod.

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "autograd/derivatives.hpp"
#include "collectives/collective.hpp"

namespace syncyte::torch_binding {

/// The result of an allreduce or a reduce that is no sum, but has an adjoint, with a node in the graph.
at::Tensor differentiable(const at::Tensor& input, const collective& reduction, derivatives asked);

/// The cotangent of the one result that all ranks have, on each of them: nothing is sent. Its derivative is the
/// allreduce whose adjoint this is.
at::Tensor replicated(const at::Tensor& gradient, std::int64_t comm, derivatives asked);

}  // namespace syncyte::torch_binding
