// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file torch.hpp
/// The operators of torch.ops.syncyte as C++ functions, for programs with libtorch (CMake: syncyte::Torch).
/// docs/pytorch.md shows their use; docs/differentiable-collectives.md and docs/differentiable-messages.md define
/// their results and gradients.
///
/// Started forms (iallreduce, isend) return a ticket, which wait() takes once. Errors are c10::Error, as of torch's own
/// operators; a collective throws on all ranks.

#include "syncyte/comm.hpp"
#include "syncyte/generated/operators.hpp"

namespace syncyte::torch_ops {

/// A scope in which operations follow each other in the graph too, in the order in which this thread calls them:
/// docs/differentiable-collectives.md, "Ordered scopes".
class ordered {
 public:
  ordered() { enter_order(); }
  ordered(const ordered&) = delete;
  ordered& operator=(const ordered&) = delete;
  ~ordered() { leave_order(); }

  /// `input`, which depends on all operations of the scope so far; operations that follow depend on it. Local.
  at::Tensor join(const at::Tensor& input) const { return join_order(input); }
};

}  // namespace syncyte::torch_ops
