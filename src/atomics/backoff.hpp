#pragma once

#include <chrono>

namespace syncyte::atomics {

/// Waits for another process or thread: a moment spinning, then giving the processor away, then asleep, up to a
/// millisecond at a time.
class backoff {
 public:
  using seconds = std::chrono::duration<double>;

  /// Sleeps for `longest` at most.
  void pause(seconds longest = seconds(1e-3));

  /// Whether at least a millisecond has passed since the beginning or the last time this said so: then it is worth the
  /// cost to look whether the other process still lives.
  bool is_time_to_look();

 private:
  int turns_ = 0;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();
};

}  // namespace syncyte::atomics
