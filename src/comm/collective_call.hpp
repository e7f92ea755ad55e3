// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>

#include "comm/agreement.hpp"
#include "comm/members_wait.hpp"
#include "comm/small_reduction.hpp"
#include "mpi/progress.hpp"
#include "mpi/thread_guard.hpp"
#include "watchdog/watchdog.hpp"

namespace syncyte::comm {

/// Tells all ranks of `comm` the error of one rank (reporting_rank()). Collective; at least one rank must have an
/// error. `comm_name` names the communicator in the message.
[[noreturn]] void share_error(MPI_Comm comm, const std::optional<base::error>& mine, const char* operation,
                              const std::string& comm_name);

/// Gives this thread alone the right to call MPI and to use a communicator; another thread gets SYNCYTE_ERR_BUSY.
class collective_guard {
 public:
  /// `starts`: the operation is only started.
  collective_guard(communicator& comm, const char* operation, bool starts = false);
  ~collective_guard();

  void lift_time_limit();
  /// This rank has left a collective that the others are still in: no thread gets the right again.
  void lose_step();
  std::uint64_t sequence() const { return sequence_; }  ///< this collective's number on the communicator

 private:
  [[noreturn]] static void fail_busy(const communicator& comm, const char* operation);

  mpi::thread_guard in_mpi_;
  communicator& comm_;
  std::uint64_t sequence_;
};

/// One collective operation, from its local checks to its agreement:
///
///     collective_call call(comm, "tensor_create", collective_call::always_agrees);
///     call.attempt([&] { ... everything that can fail on this rank alone ... });
///     call.fact("dtype", dtype);
///     call.agree();      // throws the same error on all ranks, or succeeds on all
///     ... move data ...
///
/// While it lives the communicator is busy: a second thread gets SYNCYTE_ERR_BUSY.
class collective_call : public agreement {
 public:
  enum kind {
    agrees_if_checked,  // SYNCYTE_CHECK=off skips the agreement
    always_agrees,      // and frees what all ranks have dropped
    finalize            // as always_agrees, also if the ranks have made different numbers of calls before
  };

  collective_call(communicator& comm, const char* operation, kind how = agrees_if_checked);

  /// The watchdog shows this call, and never ends the job for it: other ranks may have long work to do before theirs.
  void lift_time_limit() { guard_.lift_time_limit(); }

  /// Number of this collective on its communicator, equal on all ranks once they have agreed.
  std::uint64_t sequence() const { return guard_.sequence(); }

  /// All ranks learn whether all are well and share the facts. Throws agreed_error on all ranks, or on none. May be
  /// called again after further attempts and facts. First posts what non-blocking collectives of this communicator have
  /// to post: other ranks may wait for them before they call this.
  void agree() { agree(nullptr); }

  /// Agrees, and reduces `carried` if it is not null. With `carried` it agrees even if SYNCYTE_CHECK=off: the agreement
  /// then needs no message of its own. `carried` needs may_carry().
  void agree(small_reduction* carried);

  /// Whether reductions may travel with the votes: between nodes. On one node a reduction in memory takes less time.
  static bool may_carry(const communicator& comm);

 private:
  vote_t reduce(const vote_t& local, small_reduction* carried);
  members_wait::kind kind_of_wait() const;
  void post_starts();
  void agree_without_mpi() const;
  [[noreturn]] void explain_mismatch() const;

  kind kind_;
  collective_guard guard_;
  std::optional<mpi::background_progress> meanwhile_;  // while data moves without an agreement
};

}  // namespace syncyte::comm
