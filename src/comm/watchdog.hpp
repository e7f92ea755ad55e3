#pragma once

#include <cstdint>
#include <string>

namespace syncyte::comm {

class communicator;

/// The end of every hang that no agreement can see (SYNCYTE_WATCHDOG=seconds): a thread looks whether this rank has
/// been inside one operation for longer than the limit; then it prints what every rank of the node is doing, and what
/// it has started and not completed, and aborts the job (SYNCYTE_WATCHDOG_ACTION=report: goes on instead). Unset: it
/// reports after 60 s and goes on; 0: there is no such thread. The same thread looks in which collectives this rank is
/// (live_communicators.hpp); long waits tell it themselves (long_wait.hpp). Where ranks
/// are is kept on a board in memory that the node shares, which a rank blocked inside MPI cannot withhold. The board
/// ends at the node: ranks of other nodes are named only in the reports of their own nodes, which appear where a rank
/// is stuck as well; a node of which no rank is stuck ends with the job, without a word.
///
/// Collective over the world communicator. The board is there in any case: departures.hpp.
void start_watchdog(communicator& world);
void stop_watchdog();

/// In a forked child: it has no place on the board. Only an atomic changes.
void forget_watchdog() noexcept;

/// Marks this thread as inside an operation for its lifetime. Costs a test of a flag when no watchdog runs.
/// `sequence` is the operation's number on its communicator, 0 if it has none; `ranks` how many enter the operation, 0
/// where it does not wait for all of a communicator. A `patient` operation may last as long as it likes: it is shown to
/// others, but never ends the job. Nor does an `open_ended` one, which may be a hang: the first of a node that outlasts
/// the limit is reported.
class watchdog_scope {
 public:
  enum kind { limited, patient, open_ended };

  watchdog_scope(const char* operation, const std::string& comm, std::uint64_t sequence, int ranks = 0,
                 kind how = limited);
  ~watchdog_scope();
  watchdog_scope(const watchdog_scope&) = delete;
  watchdog_scope& operator=(const watchdog_scope&) = delete;

 private:
  int lane_;  // -1: not watched
};

/// Lists an operation that was started and has not ended, for its lifetime; that alone never ends the job. Costs a test
/// of a flag when no watchdog runs.
class watchdog_listing {
 public:
  watchdog_listing(const char* operation, const std::string& comm, std::uint64_t sequence);
  ~watchdog_listing();
  watchdog_listing(const watchdog_listing&) = delete;
  watchdog_listing& operator=(const watchdog_listing&) = delete;

 private:
  static constexpr int none = -1;
  static constexpr int unnamed = -2;  // only counted
  int slot_;
};

}  // namespace syncyte::comm
