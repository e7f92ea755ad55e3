#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "watchdog/scope.hpp"

namespace syncyte::rows {

/// A wait for a lock's word, which names its holder: after every look at it pause() lets others run, and says when to
/// look whether the holder lives.
class lock_wait {
 public:
  /// `what` is locked, `owner` is that of what it belongs to, both for the watchdog.
  lock_wait(std::string what, const std::string& owner) : what_(std::move(what)), owner_(owner) {}

  /// Returns true about once a millisecond while the word stays as it was seen.
  bool pause(std::uint64_t seen);

 private:
  std::string what_;
  const std::string& owner_;
  std::uint64_t watched_ = 0;
  std::chrono::steady_clock::time_point since_;
  std::optional<watchdog::scope> shown_;
};

}  // namespace syncyte::rows
