// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Agreements of all ranks on an operation, also where it has failed on one of them.

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <string>
#include <type_traits>

#include "autograd/derivatives.hpp"
#include "syncyte/comm.hpp"

namespace syncyte::torch_binding {

/// Makes the exception in flight this thread's last error and returns the matching status, for an agreement that tells
/// all ranks.
syncyte_status_t keep_exception();

/// Runs a step that may fail on this rank alone. Its exception becomes a status and the last error; so does the status
/// that it returns.
template <class Step>
syncyte_status_t status_of(Step step) {
  try {
    if constexpr (!std::is_void_v<std::invoke_result_t<Step>>) return step();
    step();
    return SYNCYTE_SUCCESS;
  } catch (...) {
    return keep_exception();
  }
}

using fact_list = c10::SmallVector<fact, 16>;

fact_list facts_of(derivatives wanted);

/// The shape, extent by extent.
void add_shape(fact_list& facts, at::IntArrayRef shape);

/// Options of a collective whose ranks agree on the facts, which must outlive them.
inline syncyte_collective_options_t options_with(const fact_list& facts) {
  syncyte_collective_options_t options SYNCYTE_COLLECTIVE_OPTIONS_INIT;
  options.fact_count = static_cast<std::int64_t>(facts.size());
  options.facts = facts.data();
  return options;
}

/// The communicator's level of checks, SYNCYTE_CHECK: 0 is off.
std::int32_t check_level(std::int64_t comm);

/// Ends an operation's step on all ranks. Throws on all of them if `own` is an error on one, or a fact differs.
void agree(std::int64_t comm, const char* operation, syncyte_status_t own, const fact_list& facts = {});

/// Takes part in the other ranks' agreement on `operation` after an exception on this one: call it in the catch block.
/// Throws the error that all ranks get; with SYNCYTE_CHECK=off there is no agreement, and the exception is this rank's
/// alone.
[[noreturn]] void fail_together(std::int64_t comm, const std::string& operation);

/// step()'s result. If it fails on this rank, all ranks fail in their agreement on `operation`.
template <class Step>
auto together(std::int64_t comm, const std::string& operation, Step step) {
  try {
    return step();
  } catch (...) {
    fail_together(comm, operation);
  }
}

}  // namespace syncyte::torch_binding
