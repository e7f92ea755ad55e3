// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "watchdog/board.hpp"
#include "watchdog/records.hpp"

namespace syncyte::watchdog {

/// Ends hangs that no agreement can detect (SYNCYTE_WATCHDOG=seconds). A thread checks whether this rank has been
/// inside one operation for longer than the limit. If so, it prints what every rank of the node is doing and has
/// started, and aborts the job (with SYNCYTE_WATCHDOG_ACTION=report it continues). If the variable is unset, the thread
/// reports after 60 s and continues; if it is 0, there is no thread.
///
/// The thread itself looks up this rank's collectives (comm/communicator.hpp); long waits publish themselves
/// (long_wait.hpp). They are kept on a board in memory that the node shares, so that a rank blocked inside MPI can
/// still be read. A board covers one node: each node with a stuck rank writes a report of its own ranks, the other
/// nodes write none. The board exists without the watchdog too: comm/departures.hpp uses it.

struct settings {
  double limit = 0.0;         // seconds; 0: off
  bool is_watched = false;    // some rank of the job has a watchdog
  bool is_asked_for = false;  // SYNCYTE_WATCHDOG is set: otherwise it only reports
  bool only_reports = false;
};

/// The settings in this rank's environment. Throws SYNCYTE_ERR_ARGUMENT for a wrong value.
settings settings_of_environment();

/// The collective of a communicator that a rank is inside, or left last.
struct collective_seen {
  const char* operation = nullptr;  // null: none yet
  const std::string* comm = nullptr;
  std::uint64_t sequence = 0;
  int ranks = 0;
  bool is_inside = false;
  bool is_unlimited = false;
  std::int64_t since_ns = 0;  // when the watchdog first saw it in this state
};

/// Writes to the board the collectives that this rank is inside, has left last, and has started.
class collectives_writer {
 public:
  explicit collectives_writer(rank_record& mine) : mine_(mine) {}
  void add(const collective_seen& seen);
  void add_started(const char* operation, const std::string& comm, std::uint64_t sequence, std::int64_t since_ns);
  /// Adds the collective that was left last, and clears the remaining slots.
  void finish();

 private:
  rank_record& mine_;
  int next_record_ = threads;
  int next_listing_ = listings;
  std::optional<collective_seen> left_;
};

/// Publishes the board, of which `mine` is this rank's record, and starts the thread, which calls `write_collectives`
/// periodically.
void start(const settings& chosen, board all_ranks, rank_record& mine, void (*write_collectives)(collectives_writer&));
/// Stops the thread. The board stays, because other threads may be inside scopes and write to it.
void stop();

/// Called in a forked child, which has no record on the board. Changes only atomics.
void forget() noexcept;

}  // namespace syncyte::watchdog
