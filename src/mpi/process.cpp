// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process.hpp"

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "base/log.hpp"
#include "mpi/deaths.hpp"

namespace syncyte::mpi {
namespace {

constexpr int forked_level = -1;  // none of MPI's: checks of the thread level find forked children too

std::atomic<bool> started{false};
std::atomic<bool> finished{false};
std::atomic<bool> forked{false};
std::atomic<int> level{0};
std::atomic<void (*)() noexcept> before_abort{nullptr};

}  // namespace

bool is_started() { return started; }

bool is_forked_child() { return forked.load(std::memory_order_relaxed); }

bool was_finished() { return finished; }

void require_rank_process() {
  if (!is_forked_child()) [[likely]]
    return;
  base::fail(
      SYNCYTE_ERR_UNSUPPORTED,
      "this process is a forked child of rank {0}, and no rank; expected the process of rank {0} itself. A child "
      "can read rows that are mapped (gather, get_box, a store's pull, views), and use COMM_SELF in blocking "
      "collectives and to load checkpoints",
      base::process_rank());
}

void require_started_or_forked() {
  if (!is_forked_child()) require_started();
}

void require_started() {
  if (is_started()) [[likely]]
    return;
  require_rank_process();
  base::require(!was_finished(), SYNCYTE_ERR_NOT_INITIALIZED,
                "Syncyte is already finalized (syncyte_finalize or MPI_Finalize was called)");
  base::fail(SYNCYTE_ERR_NOT_INITIALIZED, "Syncyte is not initialized; call syncyte_init first");
}

int thread_level() { return level.load(std::memory_order_relaxed); }

bool mpi_is(int (*question)(int*)) {
  int flag = 0;
  question(&flag);
  return flag != 0;
}

void call_before_abort(void (*last_step)() noexcept) { before_abort = last_step; }

void abort_job(int exit_code) {
  if (!is_forked_child()) {
    if (const auto last_step = before_abort.load()) last_step();
    // MPICH's mpirun drops output that it has not read yet.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (mpi_is(MPI_Initialized) && !mpi_is(MPI_Finalized)) MPI_Abort(MPI_COMM_WORLD, exit_code);
  }
  ::_exit(exit_code);
}

void set_thread_level(int mpi_level) {  // MPI's constants are in this order, but need not be 0 to 3
  level =
      (mpi_level >= MPI_THREAD_FUNNELED) + (mpi_level >= MPI_THREAD_SERIALIZED) + (mpi_level >= MPI_THREAD_MULTIPLE);
}

void set_started() { started = true; }

void set_finished() {
  finished = true;
  started = false;
}

bool become_forked_child() noexcept {
  if (!started) return false;
  forked = true;
  started = false;
  level = forked_level;
  stop_looking_for_deaths();
  return true;
}

}  // namespace syncyte::mpi
