// SPDX-License-Identifier: BSD-3-Clause
#include "window/remote_mutex.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "atomics/holder_wait.hpp"
#include "base/error.hpp"
#include "fabric/process_engine.hpp"
#include "mpi/call.hpp"
#include "mpi/deaths.hpp"
#include "mpi/progress.hpp"

namespace syncyte::window {

namespace {

constexpr const char* no_rma =
    "MPI_Win_create failed: this MPI has no one-sided communication between these ranks, and they do not use the "
    "fabric, which would replace it: {}. With Open MPI 4 try `mpirun --mca pml ucx --mca osc ucx --mca "
    "opal_common_ucx_tls any --mca opal_common_ucx_devices any`, or keep all ranks on one node";

}  // namespace

MPI_Win open_window(const comm::communicator& comm, void* data, std::size_t bytes) {
  MPI_Win window = MPI_WIN_NULL;
  const int code = MPI_Win_create(data, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm.data(), &window);
  if (code != MPI_SUCCESS) base::fail(SYNCYTE_ERR_UNSUPPORTED, no_rma, fabric::reason_for_none());
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  mpi::check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
  return window;
}

void close_window(MPI_Win& window) noexcept {
  if (window == MPI_WIN_NULL) return;
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  window = MPI_WIN_NULL;
}

void remote_mutex::create() {
  name_ = static_cast<std::uint64_t>(comm_.rank()) + 1;
  window_ = open_window(comm_, &mine_, sizeof(mine_));
}

void remote_mutex::free() noexcept { close_window(window_); }

std::uint64_t remote_mutex::swap(int rank, std::uint64_t value) {
  mpi::require_no_death();
  std::uint64_t previous = 0;
  mpi::check(MPI_Fetch_and_op(&value, &previous, MPI_UINT64_T, rank, offsetof(words, held), MPI_REPLACE, window_),
             "MPI_Fetch_and_op");
  mpi::check(MPI_Win_flush(rank, window_), "MPI_Win_flush");
  return previous;
}

void remote_mutex::lock(int rank) {
  atomics::holder_wait wait(fmt::format("rank {}'s elements", rank), comm_.name());
  while (true) {
    // MPICH gives a rank its own mutex before it serves requests that arrived earlier: a rank that polls one of its own
    // elements would lock the others out. The probe serves those requests first.
    if (rank == comm_.rank()) mpi::probe();
    const std::uint64_t held = swap(rank, 1);
    if (held == 0) break;
    if (wait.pause(held)) require_holder_alive(rank);  // the end of a wait for a holder that died on this node
    mpi::probe();
  }
  // Waiting ranks read the holder's name; the put is complete at the latest when the mutex is unlocked.
  mpi::check(MPI_Put(&name_, 1, MPI_UINT64_T, rank, offsetof(words, holder), 1, MPI_UINT64_T, window_), "MPI_Put");
}

void remote_mutex::unlock(int rank) { swap(rank, 0); }

void remote_mutex::require_holder_alive(int rank) {
  std::uint64_t name = 0;
  mpi::check(MPI_Get(&name, 1, MPI_UINT64_T, rank, offsetof(words, holder), 1, MPI_UINT64_T, window_), "MPI_Get");
  mpi::check(MPI_Win_flush(rank, window_), "MPI_Win_flush");
  const int holder = static_cast<int>(name) - 1;
  if (holder < 0 || !comm_.node().is_here(holder)) return;
  if (comm_.node().is_alive(comm_.node().node_rank(holder))) return;
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = comm_.name(), .rank = comm_.world_rank(holder)},
               fmt::format("rank {} died while it changed elements of rank {}; they may be damaged", holder, rank));
}

void remote_mutex::unlock_after_error(int rank) noexcept {
  try {
    unlock(rank);
  } catch (const base::error&) {
    // MPI is broken; the error on its way tells so.
  }
}

}  // namespace syncyte::window
