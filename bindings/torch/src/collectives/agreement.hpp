#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <utility>

#include "syncyte.h"

namespace syncyte::torch_binding {

/// Makes the exception in flight this thread's last error and returns the matching status, for an agreement that tells
/// all ranks.
syncyte_status_t keep_exception();

/// Runs a step that may fail on this rank alone. Its exception becomes a status and the last error; so does the status
/// that it returns.
template <class Step>
syncyte_status_t status_of(Step&& step) {
  try {
    return std::forward<Step>(step)();
  } catch (...) {
    return keep_exception();
  }
}

/// What differentiation has to do with an operation: equal on all ranks, or some would wait for others that never come,
/// or get what belongs to another operation.
struct derivatives {
  bool needs_gradient = false;      ///< backward will be run
  bool has_tangent = false;         ///< forward mode: the operation follows once more, for the tangent
  std::int64_t forward_number = 0;  ///< in a backward pass: which forward it belongs to; 0: not known, or no backward
};

using fact_list = c10::SmallVector<syncyte_fact_t, 16>;

fact_list facts_of(derivatives asked);

/// The shape, extent by extent.
void add_shape(fact_list& facts, at::IntArrayRef shape);

/// Takes part in the other ranks' agreement on `operation` after an exception on this one: call it while that is
/// handled. Throws the error that all ranks get; with SYNCYTE_CHECK=off there is no agreement, and the exception is
/// this rank's alone.
[[noreturn]] void fail_together(syncyte_comm_t comm, const char* operation);

}  // namespace syncyte::torch_binding
