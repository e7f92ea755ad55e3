// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// An explicit order of communications: while a scope is open (torch.ops.syncyte.enter_order, leave_order), every
// operation of its thread that records gradients depends on the one before, so that backward runs them in the reverse
// order, even operations whose results nobody uses.

#include <ATen/core/Tensor.h>

#include "autograd/tensor_modes.hpp"

namespace syncyte::torch_binding {

/// Whether a scope is open in this thread, and gradients are recorded.
bool is_ordered();

/// Whether an operation takes part in the order.
enum class takes_part {
  if_recorded,  ///< only if it has a backward pass outside of a scope too
  always
};

/// `input`, in the graph after the scope's last operation.
at::Tensor after_the_last(const at::Tensor& input, takes_part when = takes_part::if_recorded);

/// Makes an operation, whose result is given, the scope's last one.
void make_last(const at::Tensor& result);

/// Runs run(input) in the order of the open scope, if there is one.
template <class Run>
at::Tensor in_order(const at::Tensor& input, Run&& run, takes_part when = takes_part::if_recorded) {
  // In forward mode the operation is called once more for either part, and each of these is ordered.
  if (!is_ordered() || carries_tangent(input)) [[likely]]
    return run(input);
  at::Tensor result = run(after_the_last(input, when));
  make_last(result);
  return result;
}

}  // namespace syncyte::torch_binding
