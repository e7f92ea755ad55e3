// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace syncyte::atomics {

/// Waits for another process or thread: spins at first, then yields the processor, then sleeps, up to a millisecond at
/// a time.
class backoff {
 public:
  using seconds = std::chrono::duration<double>;

  /// Sleeps for `longest` at most.
  void pause(seconds longest = seconds(1e-3));

  /// True once per millisecond: it is then worth the cost to check whether the other process lives.
  bool is_time_to_poll();

 private:
  int turns_ = 0;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

}  // namespace syncyte::atomics
