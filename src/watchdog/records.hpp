// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "watchdog/application_line.hpp"

namespace syncyte::watchdog {

// Sizes of a rank's record.
constexpr int threads = 16;     // threads in long waits; further ones are not watched
constexpr int collectives = 4;  // blocking collectives in flight, one per communicator; further ones are not watched
constexpr int listings = 16;    // requests by name; further ones are counted
constexpr int starts = 16;      // non-blocking collectives by name

std::int64_t now_ns();

/// An operation on a communicator. One thread writes it, all processes read it: a torn read only garbles a message.
struct operation_name {
  std::atomic<std::uint64_t> sequence;
  char operation[48];
  char comm[48];

  void set(const char* new_operation, const std::string& new_comm, std::uint64_t new_sequence);
  bool is(const operation_name& other) const;
  std::string text() const;
};

/// The operation that one thread is inside, or left last.
struct thread_record {
  std::atomic<std::int32_t> is_taken;
  std::atomic<std::int32_t> is_inside;
  std::atomic<std::int32_t> kind;  // scope::kind
  std::atomic<std::int64_t> since_ns;
  std::atomic<std::int64_t> begun_ns;  // begin of the last operation that was not limited
  std::atomic<std::int32_t> ranks;     // number of ranks that enter the operation; 0: not a collective
  operation_name name;
};

/// An operation that was started and is not complete.
struct listing {
  std::atomic<std::int32_t> is_taken;
  std::atomic<std::int32_t> is_shown;
  std::atomic<std::int64_t> since_ns;
  operation_name name;
};

/// The operations of one rank.
struct rank_record {
  std::int32_t world_rank;
  std::int32_t pid;
  std::atomic<std::int64_t> last_report_ns;  // of the node; used only in its first record
  std::atomic<std::int32_t> has_reported;    // scope::reported_once, of the node; used only in its first record
  std::atomic<std::int64_t> departed_ns;     // when this rank entered finalize; 0: not yet
  std::atomic<std::int32_t> has_lines;       // whether this rank has a line function
  std::atomic<std::int64_t> asked_ns;        // when a reporting rank last asked for the source line
  std::atomic<std::int64_t> answered_ns;     // the value of asked_ns that `line` answers
  char line[line_bytes];
  // First those that waiting threads write, then those that the watchdog's thread writes.
  thread_record records[watchdog::threads + watchdog::collectives];
  listing listings[watchdog::listings + watchdog::starts];  // likewise
  std::atomic<std::int32_t> unlisted;                       // number of requests beyond `listings`
};

/// The record in which this process writes its scopes, and its started scopes (scope.hpp); null if there is no
/// watchdog.
inline std::atomic<rank_record*> record_of_scopes{nullptr}, record_of_started_scopes{nullptr};

}  // namespace syncyte::watchdog
