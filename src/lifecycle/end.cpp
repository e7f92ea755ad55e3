// SPDX-License-Identifier: BSD-3-Clause
#include "lifecycle/end.hpp"

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "base/log.hpp"
#include "comm/collective_call.hpp"
#include "comm/dead_ranks.hpp"
#include "comm/departures.hpp"
#include "fabric/process_engine.hpp"
#include "mpi/call.hpp"
#include "mpi/deaths.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "runtime/roots.hpp"
#include "watchdog/long_wait.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::lifecycle {

using namespace comm;
namespace {

struct end_state {
  std::mutex mutex;
  bool has_begun = false;                       // guarded by the mutex
  MPI_Request all_are_here = MPI_REQUEST_NULL;  // a barrier that every rank enters when it comes to the end
};

end_state& ending = *new end_state;  // leaked: MPI may be finalized while static objects are destroyed

/// All ranks end together. A rank, or a thread of this rank, that is in another collective of the world gets
/// SYNCYTE_ERR_MISMATCH there, and this function waits until it calls finalize too. Any other error is logged and ends
/// the wait; SYNCYTE_ERR_PEER_DIED is thrown, because after a death the ranks cannot end together.
void meet_in_finalize(communicator& world) {
  for (bool is_logged = false;;) {
    try {
      return collective_call(world, "finalize", collective_call::finalize).agree();
    } catch (const agreed_error& others) {
      if (!std::exchange(is_logged, true))
        base::log(SYNCYTE_LOG_ERROR, "{}; waiting for the others to come to finalize", others.what());
    } catch (const base::error& own) {
      if (own.status() == SYNCYTE_ERR_PEER_DIED) throw;
      if (own.status() != SYNCYTE_ERR_BUSY) return base::log(SYNCYTE_LOG_ERROR, "finalize: {}", own.what());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

/// Makes progress of this rank's started operations, for which other ranks may wait, until all ranks are here.
/// Operations that all ranks have started then end while the communicators are freed.
void progress_until_all_are_here(communicator& world) {
  bool are_here = false;
  members_wait wait("finalize", world, 0, members_wait::everyone);
  watchdog::poll_until(
      [&] {
        if (mpi::needs_progress()) are_here = mpi::has_ended(ending.all_are_here, "MPI_Ibarrier");
        return are_here || !mpi::needs_progress();
      },
      wait);
}

/// The reason why this rank cannot finish together with all others; empty if it can.
std::string reason_to_end_alone(const communicator& world) {
  mpi::look_for_deaths_now();
  if (mpi::knows_death()) return base::error_of([&] { comm::fail_by_death(world); })->what();
  return world.is_out_of_step() ? "a collective of the world was interrupted on this rank" : "";
}

/// Frees nothing: that would wait for the other ranks for ever. Returns false.
bool end_alone(const std::string& reason) {
  base::log(SYNCYTE_LOG_ERROR, "finalize: {}; nothing is freed, and MPI is not finalized", reason);
  mpi::stop_watching_processes();
  mpi::set_finished();
  mpi::forget_progress();
  return false;
}

/// Closes the fabric's links. This rank takes part until all ranks have closed theirs: none may be gone before.
void close_links() {
  fabric::stop_engine();
  // Not on the world's own communicators, where a rank may have started a collective that others have not.
  MPI_Request all_have_closed = mpi::start_probe_barrier();
  // A rank whose barrier has ended may end its process before this rank sees the barrier's end. So a process that is
  // gone has been killed only if the barrier does not end soon.
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (!mpi::has_ended(all_have_closed, "MPI_Ibarrier")) {
    fabric::progress_links();
    if (std::chrono::steady_clock::now() > late) mpi::look_for_deaths();
    mpi::pause_polling();
  }
  mpi::stop_watching_processes();
}

/// Waits for all ranks and frees all; false if this rank has ended alone. The watchdog sees the wait for a rank that
/// never comes; it could not see it inside MPI_Finalize.
bool end_together(communicator& world) {
  if (const std::string reason = reason_to_end_alone(world); !reason.empty()) return end_alone(reason);
  const watchdog::scope watched("finalize", world.name(), 0, world.size());
  mpi::set_finished();
  try {
    mpi::poll_until(fabric::is_drained);  // other ranks serve this one's accesses until all have met
    progress_until_all_are_here(world);
    mark_departed();
    meet_in_finalize(world);
    members_wait wait("finalize", world, 0, members_wait::everyone);
    watchdog::poll_mpi_until([] { return mpi::has_ended(ending.all_are_here, "MPI_Ibarrier"); }, wait);
    close_links();
  } catch (const base::error& error) {
    return end_alone(error.what());
  }
  runtime::free_roots();
  mpi::forget_progress();
  return true;
}

}  // namespace

void end_library_requests(requests_end end_requests) {
  const std::lock_guard lock(ending.mutex);
  if (!mpi::is_started() || std::exchange(ending.has_begun, true)) return;
  const auto world = runtime::world();
  if (!reason_to_end_alone(*world).empty()) return;
  const watchdog::scope watched("finalize", world->name(), 0, world->size());
  ending.all_are_here = mpi::start_probe_barrier();
  if (end_requests == nullptr) return;
  bool are_here = false;
  members_wait wait("finalize", *world, 0, members_wait::everyone);
  const auto have_ended = [&] {
    are_here = are_here || mpi::has_ended(ending.all_are_here, "MPI_Ibarrier");
    return end_requests(are_here);
  };
  try {
    watchdog::poll_until(have_ended, wait);
  } catch (const base::error&) {  // end_together() gets it too, and logs it
  }
}

bool end_core() {
  const bool is_together = end_together(*runtime::world());
  fabric::end_engine();
  return is_together;
}

}  // namespace syncyte::lifecycle
