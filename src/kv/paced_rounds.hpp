// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>

namespace syncyte::kv {

/// Times of rounds in which changes of copies are sent: the first one at once, each further one a pause after the one
/// before, so that a round takes the changes of many operations together.
class paced_rounds {
 public:
  using time = std::chrono::nanoseconds;
  static constexpr time pause = std::chrono::milliseconds(1);

  /// Whether a round is due; if so, it is now.
  bool begin(time now) {
    if (now < next_) return false;
    next_ = now + pause;
    return true;
  }
  time time_left(time now) const { return std::max(time(0), next_ - now); }

 private:
  time next_{};
};

}  // namespace syncyte::kv
