#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "watchdog/board.hpp"
#include "watchdog/place.hpp"

namespace syncyte::watchdog {

/// The end of every hang that no agreement can see (SYNCYTE_WATCHDOG=seconds): a thread looks whether this rank has
/// been inside one operation for longer than the limit; then it prints what every rank of the node is doing, and what
/// it has started and not completed, and aborts the job (SYNCYTE_WATCHDOG_ACTION=report: goes on instead). Unset: it
/// reports after 60 s and goes on; 0: there is no such thread. The same thread looks in which collectives this rank is
/// (comm/live_communicators.hpp); long waits tell it themselves (long_wait.hpp). Where ranks
/// are is kept on a board in memory that the node shares, which a rank blocked inside MPI cannot withhold. The board
/// ends at the node: ranks of other nodes are named only in the reports of their own nodes, which appear where a rank
/// is stuck as well; a node of which no rank is stuck ends with the job, without a word.
///
/// The board is there in any case: comm/departures.hpp.

struct settings {
  double limit = 0.0;         // seconds; 0: off
  bool is_watched = false;    // some rank of the job looks
  bool is_asked_for = false;  // by SYNCYTE_WATCHDOG: otherwise it only reports, and costs nothing but long waits
  bool only_reports = false;
};

/// The settings in this rank's environment. Throws SYNCYTE_ERR_ARGUMENT for a wrong value.
settings settings_of_environment();

/// In which collective of a communicator a rank is, or was last.
struct collective_seen {
  const char* operation = nullptr;  // null: none yet
  const std::string* comm = nullptr;
  std::uint64_t sequence = 0;
  int ranks = 0;
  bool is_inside = false;
  bool is_patient = false;
  std::int64_t since_ns = 0;  // when it first looked like this
};

/// Brings to the board in which collectives this rank is, or which it has left last, and what it has started.
class collectives_writer {
 public:
  explicit collectives_writer(place& mine) : mine_(mine) {}
  void add(const collective_seen& seen);
  void add_started(const char* operation, const std::string& comm, std::uint64_t sequence, std::int64_t since_ns);
  /// Nothing else is to be added.
  void finish();

 private:
  place& mine_;
  int next_lane_ = lanes;
  int next_listing_ = listings;
  std::optional<collective_seen> left_;
};

/// Publishes the board, of which `mine` is this rank's place, and starts the thread, which calls `write_collectives`
/// again and again.
void start(const settings& chosen, board places, place& mine, void (*write_collectives)(collectives_writer&));
/// Other threads may be inside scopes, and write to the board: it stays.
void stop();

/// In a forked child: it has no place on the board. Only atomics change.
void forget() noexcept;

}  // namespace syncyte::watchdog
