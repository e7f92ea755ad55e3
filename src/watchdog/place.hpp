#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "watchdog/application_line.hpp"

namespace syncyte::watchdog {

constexpr int lanes = 4;        // long waits of a rank's threads at the same time; further ones are not watched
constexpr int collectives = 4;  // communicators in whose collectives threads of a rank are at the same time
constexpr int listings = 16;    // requests of a rank that are named; further ones are counted
constexpr int starts = 16;      // non-blocking collectives, likewise

std::int64_t now_ns();

/// An operation on a communicator. Written by one thread, read by everybody: a torn text only blurs a message.
struct operation_name {
  std::atomic<std::uint64_t> sequence;
  char operation[48];
  char comm[48];

  void set(const char* new_operation, const std::string& new_comm, std::uint64_t new_sequence);
  bool is(const operation_name& other) const;
  std::string text() const;
};

/// The operation that one thread is in, or was in last.
struct lane {
  std::atomic<std::int32_t> is_taken;
  std::atomic<std::int32_t> is_inside;
  std::atomic<std::int32_t> kind;  // scope::kind
  std::atomic<std::int64_t> since_ns;
  std::atomic<std::int64_t> begun_ns;  // of the last that was not limited
  std::atomic<std::int32_t> ranks;     // that enter the operation; 0: not one of a whole communicator
  operation_name name;
};

/// An operation that was started and has not ended.
struct listing {
  std::atomic<std::int32_t> is_taken;
  std::atomic<std::int32_t> is_shown;
  std::atomic<std::int64_t> since_ns;
  operation_name name;
};

/// One rank's place on the board.
struct place {
  std::int32_t world_rank;
  std::int32_t pid;
  std::atomic<std::int64_t> last_report_ns;  // only the node's first place is used
  std::atomic<std::int32_t> has_told_open;   // likewise: a wait that may be open-ended was reported
  std::atomic<std::int64_t> departed_ns;     // when this rank had come to finalize; 0: not yet
  std::atomic<std::int32_t> has_lines;       // whether this rank can say at which line of its program it is
  std::atomic<std::int64_t> asked_ns;        // when a rank that reports has asked for it last
  std::atomic<std::int64_t> answered_ns;     // the question that `line` answers
  char line[line_bytes];
  lane lanes[watchdog::lanes + watchdog::collectives];  // the first ones are taken by threads, the others by the thread
                                                        // that looks at communicators
  listing listings[watchdog::listings + watchdog::starts];  // likewise
  std::atomic<std::int32_t> unlisted;                       // of the first ones
};

/// The place where this process writes its scopes (scope.hpp); null if nobody looks.
place* place_of_scopes();
place* place_of_started_scopes();
void publish_places(place* of_scopes, place* of_started_scopes);
/// Only atomics change.
void forget_places() noexcept;

}  // namespace syncyte::watchdog
