// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <sched.h>

#include <memory>
#include <thread>

#include "mpi/deaths.hpp"

namespace syncyte::mpi {

/// Operations that need calls to make progress, and that other ranks may wait for: the non-blocking collectives of a
/// communicator (start_queue), a halo's exchange of several phases.
class progressing {
 public:
  virtual ~progressing() = default;

  /// Makes progress as far as possible without waiting. Any thread may call it, several at once; errors are kept for
  /// the call that ends the operation.
  virtual void progress() = 0;
};

/// Adds a member to the process's table, and removes it: all waits of Syncyte call progress() of the members. Members
/// may enter and leave while they hold locks of their own, which progress() takes.
void enter_progress(std::shared_ptr<progressing> member);
void leave_progress(const progressing& member) noexcept;

/// Empties the table for ever, at the end of Syncyte.
void forget_progress() noexcept;

/// Called in a forked child: its rank goes on with the members. Only an atomic changes.
void stop_needing_progress() noexcept;

/// Whether there is a member. Blocking waits then poll instead of blocking.
bool needs_progress();

/// progress() of all members, if this thread may call MPI now.
void progress_all();

/// Keeps memory of an operation that can never end: MPI may still write to it.
void keep_for_ever(std::shared_ptr<void> object);

/// Makes and frees the communicator of probe(), a duplicate of the world. Collective over it.
void open_probe(MPI_Comm world);
void close_probe();

/// Starts a barrier of all ranks on the communicator of probe(), which has no other collectives.
MPI_Request start_probe_barrier();

/// Lets MPI make progress, serving other ranks' one-sided requests too, between open_probe() and close_probe(). Call it
/// only from a thread that MPI's thread level allows.
void probe();

/// Makes progress of the table's members and of MPI, if this thread may call it now. Waits outside of MPI call it about
/// once a millisecond: Open MPI 5 ends a rank that has lost its mpirun only inside MPI (open-mpi/ompi#8925).
void let_progress();

/// Lets other threads and processes run.
inline void pause_polling() { ::sched_yield(); }

/// Polls until `is_done()`, which need not call MPI, and makes progress of all members; calls `other_progress` now
/// and then. Throws SYNCYTE_ERR_PEER_DIED once a rank of the job is known to have died.
template <class Condition>
void poll_until(Condition&& is_done, void (*other_progress)() = let_progress) {
  constexpr unsigned often = 64;
  for (unsigned round = 1;; ++round) {
    require_no_death();
    if (is_done()) return;
    if (needs_progress()) progress_all();
    if (round % often == 0) {
      other_progress();
      look_for_deaths();
    }
    pause_polling();
  }
}

/// Waits for a request and makes progress of all members. Throws as check().
void wait_for(MPI_Request& request, const char* call);

/// Makes progress of all members by another thread while it lives, if there are any and any thread may call MPI. To be
/// used around a blocking call of MPI, which another rank may enter only after an operation here has made progress.
class background_progress {
 public:
  background_progress();

 private:
  std::jthread thread_;  // its destructor ends it
};

}  // namespace syncyte::mpi
