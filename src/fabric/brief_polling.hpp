// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace syncyte::fabric {

/// Decides whether a thread that has nothing to do polls for a moment before it sleeps: to be woken takes it longer
/// than the way of a short message. It does where the latest request came soon after the one before, and where no other
/// thread wants its core.
class brief_polling {
 public:
  using time = std::chrono::nanoseconds;

  static constexpr time longest = std::chrono::microseconds(50);
  /// A longer call of sched_yield() has let another thread compute. A message would wait for the end of that thread's
  /// time slice; a thread that sleeps is woken in its place.
  static constexpr time longest_yield = std::chrono::microseconds(500);
  /// Time without polling after such a call.
  static constexpr time pause = std::chrono::milliseconds(100);

  /// A request came, and has been served.
  void served(time from, time to) {
    pays_ = from - served_ < 2 * longest;
    served_ = to;
  }

  bool goes_on(time when) const { return pays_ && when - served_ < longest && when >= again_; }

  /// Tells how long a call of sched_yield() took.
  void yielded(time from, time to) {
    if (to - from > longest_yield) again_ = to + pause;
  }

 private:
  time served_{};  // the end of the latest request
  time again_{};   // when it may poll again
  bool pays_ = false;
};

}  // namespace syncyte::fabric
