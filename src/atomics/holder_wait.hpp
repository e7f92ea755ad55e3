// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "atomics/backoff.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::atomics {

/// A wait for a lock whose word names its holder. Call pause() after each read of the word: it yields, and tells when
/// to check whether the holder lives.
class holder_wait {
 public:
  /// The watchdog shows the arguments: `what` is the locked item, `owner` the tensor or store it belongs to, `number`
  /// the operation's number, if any.
  holder_wait(std::string what, const std::string& owner, std::uint64_t number = 0)
      : what_(std::move(what)), owner_(owner), number_(number) {}

  /// Returns true about once a millisecond while the word is unchanged.
  bool pause(std::uint64_t seen);

  /// Calls the interrupt function ten times a second, and throws watchdog::interrupted. Waits for locks that the
  /// application takes call it each time that pause() has returned true.
  void poll_for_interrupt();

 private:
  std::string what_;
  const std::string& owner_;
  std::uint64_t number_;
  std::uint64_t watched_ = 0;
  unsigned polls_ = 0;
  backoff pauses_;
  std::optional<watchdog::scope> shown_;
};

}  // namespace syncyte::atomics
