// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "fabric/peer.hpp"

namespace syncyte::kv {

/// Times at which all keys are looked at for ranks that have died: ten times a second, but if there are many keys, so
/// often that the looks take a twentieth of the time.
class looks_for_deaths {
 public:
  using time = std::chrono::nanoseconds;

  /// Calls look() if it is due.
  template <class Look>
  void begin(time now, Look&& look) {
    constexpr time least_pause = std::chrono::milliseconds(100);
    if (now < next_) return;
    std::forward<Look>(look)();
    const time end = fabric::now();
    next_ = end + std::max(least_pause, 20 * (end - now));
  }

 private:
  time next_{};
};

}  // namespace syncyte::kv
