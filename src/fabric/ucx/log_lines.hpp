// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace syncyte::fabric::ucx {

/// Takes part in UCX's log of this process from now on, unless the user has set UCX_LOG_LEVEL. Call it once.
void take_log_lines();

/// Keeps errors and warnings that UCX logs in this thread, while it lives: processes that end are no errors
/// here, and functions that fail throw. Other threads, and MPI's use of UCX, log as before.
class kept_log_lines {
 public:
  kept_log_lines();
  ~kept_log_lines();
  kept_log_lines(const kept_log_lines&) = delete;
  kept_log_lines& operator=(const kept_log_lines&) = delete;

  /// The latest line in this thread's scope; empty if there is none.
  static std::string latest();
};

}  // namespace syncyte::fabric::ucx
