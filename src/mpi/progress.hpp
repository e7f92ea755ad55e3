#pragma once

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <thread>

namespace syncyte::mpi {

/// Something under way that goes on only when somebody looks after it, and that other ranks may wait for: the
/// non-blocking collectives of a communicator (start_queue), a halo's exchange of several phases.
class progressing {
 public:
  virtual ~progressing() = default;

  /// As far as possible without waiting. Any thread may call it, several at once; its errors wait for whoever asks for
  /// the operation's end.
  virtual void progress() = 0;
};

/// All waits of Syncyte look after the members of one table of the process, from enter_progress() to leave_progress().
/// Members may enter and leave while they hold locks of their own, which progress() takes.
void enter_progress(std::shared_ptr<progressing> member);
void leave_progress(const progressing& member) noexcept;

/// Nobody looks after anything any longer: the end of Syncyte.
void forget_progress() noexcept;

/// In a forked child: what its rank has started is the rank's. Only an atomic changes.
void stop_needing_progress() noexcept;

/// Whether there is a member. Blocking waits look, and then poll instead of blocking.
bool needs_progress();

/// progress() of all members, if this thread may call MPI now.
void progress_all();

/// Memory of what can never end, for MPI, which may still write to it.
void keep_for_ever(std::shared_ptr<void> object);

/// The communicator of probe_mpi(): a duplicate of the world. Collective over it.
void open_probe(MPI_Comm world);
void close_probe();

/// A barrier of all ranks on that communicator. No thread of the application's has other collectives there.
MPI_Request start_probe_barrier();

/// Lets MPI make progress, serving other ranks' one-sided requests too, between open_probe() and close_probe(). Call it
/// only from a thread that MPI's thread level allows.
void probe();

/// For waits outside of MPI, about once a millisecond: what is under way goes on, and MPI does what it has to, where
/// this thread may call it. Open MPI 5 ends a rank that has lost its mpirun only there (open-mpi/ompi#8925); it would
/// wait for ever.
void let_progress();

/// Lets other threads and processes run.
inline void pause_polling() { ::sched_yield(); }

/// Polls until `is_done()`, which need not call MPI, while everything that is under way goes on; `let_progress` is
/// called now and then.
template <class Condition>
void poll_until(Condition&& is_done, void (*let_progress)() = let_progress) {
  constexpr unsigned often = 64;
  for (unsigned round = 1; !is_done(); ++round) {
    if (needs_progress()) progress_all();
    if (round % often == 0) let_progress();
    pause_polling();
  }
}

/// Waits for a request while everything that is under way goes on. Throws as check_mpi().
void wait_for(MPI_Request& request, const char* call);

/// While it lives another thread looks after what is under way, if there is something and MPI may be called by any
/// thread: for blocking calls of MPI's, which other ranks may enter only after what they wait for.
class background_progress {
 public:
  background_progress();
  ~background_progress();
  background_progress(const background_progress&) = delete;
  background_progress& operator=(const background_progress&) = delete;

 private:
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace syncyte::mpi
