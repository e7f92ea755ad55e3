#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "atomics/backoff.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::atomics {

/// A wait for a lock, whose word names its holder: after every look at it pause() lets others run, and says when to
/// look whether the holder lives.
class holder_wait {
 public:
  /// `what` is locked, `owner` is the name of what it belongs to and `number` its own, if any, all for the watchdog.
  holder_wait(std::string what, const std::string& owner, std::uint64_t number = 0)
      : what_(std::move(what)), owner_(owner), number_(number) {}

  /// Returns true about once a millisecond while the word stays as it was seen.
  bool pause(std::uint64_t seen);

 private:
  std::string what_;
  const std::string& owner_;
  std::uint64_t number_;
  std::uint64_t watched_ = 0;
  backoff pauses_;
  std::optional<watchdog::scope> shown_;
};

}  // namespace syncyte::atomics
