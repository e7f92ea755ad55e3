// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/struct_size.hpp"
#include "mpi/process.hpp"
#include "syncyte/base.h"
#include "trace.hpp"

namespace syncyte::capi {

/// A thread's last error.
struct thread_error {
  std::string message;
  /// The error, without "... failed on rank ..." before its text. The text of an agreed error names the ranks
  /// nevertheless; only its field `reason` does not.
  base::error reason{SYNCYTE_SUCCESS, ""};
  int agreed_rank = -1;  ///< comm::agreed_error::own_rank
};

/// The error that syncyte_last_error() returns to this thread.
thread_error& last_error();

/// Makes the exception in flight this thread's last error, and returns its status.
syncyte_status_t keep_current_error(const char* operation) noexcept;

/// Processes that may call a function: only ranks, or also their forked children, which can read mapped memory and use
/// communicators of one rank.
enum class callers { ranks, forks_too };
constexpr callers forks_too = callers::forks_too;

/// Throws SYNCYTE_ERR_NOT_INITIALIZED unless syncyte_init() was called, and SYNCYTE_ERR_UNSUPPORTED in a forked child
/// unless `allowed` includes it.
inline void require_started(callers allowed) {
  allowed == forks_too ? mpi::require_started_or_forked() : mpi::require_started();
}

/// Runs the body of a C function and turns exceptions into a status. `operation` is the function's name without
/// "syncyte_".
template <class Body>
syncyte_status_t guarded(const char* operation, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return SYNCYTE_SUCCESS;
  } catch (...) {
    return keep_current_error(operation);
  }
}

/// guarded(), which also counts and traces the call. Every body has a counter of its own.
template <class Body>
syncyte_status_t counted(const char* operation, Body&& body) noexcept {
  static operation_counter counter(operation);
  call_scope call;
  const syncyte_status_t status = guarded(operation, std::forward<Body>(body));
  call.end(counter, status);
  return status;
}

/// counted(), with require_started() before the body: for functions that need syncyte_init().
template <callers allowed = callers::ranks, class Body>
syncyte_status_t after_init(const char* operation, Body&& body) noexcept {
  return counted(operation, [&] {
    require_started(allowed);
    std::forward<Body>(body)();
  });
}

/// guarded(), with require_started() before the body: for lookups, which are neither counted nor traced, and by default
/// allowed in forked children.
template <callers allowed = callers::forks_too, class Body>
syncyte_status_t lookup_after_init(const char* operation, Body&& body) noexcept {
  return guarded(operation, [&] {
    require_started(allowed);
    std::forward<Body>(body)();
  });
}

/// counted(), for a body that may complete an operation started earlier: it returns that operation's status, or nothing
/// if the operation is not complete; the call is then neither counted nor traced.
template <class Body>
syncyte_status_t completing(const char* operation, Body&& body) noexcept {
  call_scope call;
  std::optional<syncyte_status_t> ended;
  const syncyte_status_t status = guarded(operation, [&] { ended = std::forward<Body>(body)(); });
  if (status == SYNCYTE_SUCCESS && !ended) return status;
  static operation_counter counter(operation);
  const syncyte_status_t result = status != SYNCYTE_SUCCESS ? status : *ended;
  call.end(counter, result);
  return result;
}

/// A text in options, where null means none.
inline std::string text_or_empty(const char* given) { return given != nullptr ? given : ""; }

/// An options struct: the defaults, overwritten by the members that the caller's struct has (base/struct_size.hpp).
template <class Options>
Options options_or(const Options* given, const Options& defaults) {
  return given != nullptr ? base::read_struct(given, "options", defaults) : defaults;
}

/// Throws if an output struct is null or of a size that no version of it has.
template <class Struct>
void require_output(const Struct* given, const char* name) {
  base::require_struct(given, base::first_size<Struct>, sizeof(Struct), name);
}

/// Returns an output parameter; throws if it is null.
template <class T>
T& out(T* pointer, const char* argument) {
  base::expect(pointer != nullptr, SYNCYTE_ERR_ARGUMENT, argument, "null", "an address for the result");
  return *pointer;
}

/// Runs checks of arguments before a collective, which then reports their error on all ranks.
using base::error_of;

}  // namespace syncyte::capi
