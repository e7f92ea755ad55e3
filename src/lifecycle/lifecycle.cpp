// SPDX-License-Identifier: BSD-3-Clause
#include "lifecycle/lifecycle.hpp"

#include <mpi.h>
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "comm/collective_call.hpp"
#include "fabric/group.hpp"
#include "lifecycle/watched_job.hpp"
#include "mpi/call.hpp"
#include "mpi/deaths.hpp"
#include "mpi/library.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "mpi/rank_process.hpp"
#include "mpi/thread_guard.hpp"
#include "runtime/roots.hpp"
#include "watchdog/watchdog.hpp"

namespace syncyte::lifecycle {
namespace {

struct lifecycle_state {
  std::mutex mutex;
  bool owns_mpi = false;  // guarded by the mutex
  std::atomic<requests_end> end_requests{nullptr};
};

lifecycle_state& state = *new lifecycle_state;  // leaked: MPI may be finalized while static objects are destroyed

/// Called in a forked child right after the fork: other threads do not exist and locks may be held, so only atomics are
/// touched.
void leave_the_ranks() {
  if (!mpi::become_forked_child()) return;
  watchdog::forget();
  mpi::stop_needing_progress();
}

void watch_forks() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, leave_the_ranks);
  base::require(registered == 0, SYNCYTE_ERR_MEMORY, "pthread_atfork has no memory for another handler");
}

void end_all_but_mpi() {
  end_library_requests(state.end_requests);
  const std::lock_guard lock(state.mutex);
  if (mpi::is_started() && !end_core()) state.owns_mpi = false;
  watchdog::stop();  // also after a start that failed half-way
}

/// MPI_Finalize deletes MPI_COMM_SELF's attributes first, and so calls this if the application ends MPI before Syncyte.
int on_mpi_finalize(MPI_Comm, int, void*, void*) {
  if (!mpi::is_forked_child()) end_all_but_mpi();
  return MPI_SUCCESS;
}

/// From now on waits find out if another rank of this node has died.
void watch_node(const topology::node_group& node) {
  std::vector<mpi::rank_process> others;
  for (int place = 0; place < node.size; ++place)
    if (const auto at = static_cast<std::size_t>(place); place != node.rank)
      others.push_back({node.world_ranks[at], node.processes[at]});
  mpi::watch_processes(others);
}

void start_mpi(int wanted_level) {
  mpi::require_library_of_header();
  base::require(!mpi::mpi_is(MPI_Finalized), SYNCYTE_ERR_NOT_INITIALIZED,
                "MPI is already finalized; call syncyte_init before MPI_Finalize");
  if (!mpi::mpi_is(MPI_Initialized)) {
    mpi::refuse_second_process_of_rank();
    int level = 0;
    mpi::check(MPI_Init_thread(nullptr, nullptr, wanted_level, &level), "MPI_Init_thread");
    state.owns_mpi = true;
  }
  int level = 0;
  mpi::check(MPI_Query_thread(&level), "MPI_Query_thread");
  mpi::set_thread_level(level);
  mpi::name_rank_process();
}

void watch_mpi_finalize() {
  int key = MPI_KEYVAL_INVALID;
  mpi::check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_mpi_finalize, &key, nullptr), "MPI_Comm_create_keyval");
  mpi::check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  MPI_Comm_free_keyval(&key);
}

constexpr bool is_level(int thread_level) { return thread_level >= 0 && thread_level <= 3; }

/// Makes the roots and starts the watchdog, or nothing: if the ranks agree on an error, all undo what is done.
void start_roots(const std::optional<base::error>& error) {
  comm::communicator& world = runtime::open_roots(error);
  mpi::warn_of_other_launcher(world.size());
  try {
    watch_job(world);
  } catch (const comm::agreed_error&) {
    runtime::free_roots();
    throw;
  }
  watch_mpi_finalize();
  watch_forks();
  watch_node(world.node());
}

void finalize_mpi() {
  std::unique_lock lock(state.mutex);
  if (mpi::mpi_is(MPI_Finalized) || !std::exchange(state.owns_mpi, false)) return;  // once, of any number of threads
  lock.unlock();
  MPI_Finalize();  // calls on_mpi_finalize(), which takes the lock and has nothing left to do
}

/// start() without the fabric, one thread at a time.
bool start_core(int thread_level, std::optional<base::error> error) {
  const std::lock_guard lock(state.mutex);
  if (!error)
    error = base::error_of([&] {
      base::expect(is_level(thread_level), SYNCYTE_ERR_ARGUMENT, "options->thread_level", thread_level,
                   "0 (single) to 3 (multiple)");
    });
  if (mpi::is_started()) {  // the other ranks return at once, so this error is this rank's own
    if (error) throw *error;
    return false;
  }
  base::require(!mpi::was_finished(), SYNCYTE_ERR_NOT_INITIALIZED,
                "Syncyte is already finalized and cannot start again in this process");
  constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  start_mpi(levels[is_level(thread_level) ? thread_level : 3]);
  const mpi::thread_guard guard("init");
  start_roots(error);
  mpi::set_started();
  return true;
}

}  // namespace

bool start(int thread_level, const std::optional<base::error>& error, requests_end end_requests) {
  if (mpi::is_forked_child() || !start_core(thread_level, error)) return false;
  state.end_requests = end_requests;
  fabric::group::open_at_start(*runtime::world());
  return true;
}

void finish() {
  if (mpi::is_forked_child()) return;
  if (mpi::is_started() && mpi::thread_level() < mpi::serialized && !mpi::knows_death())
    const mpi::thread_guard asked("finalize");  // throws if this thread may not call MPI; held for this check only
  end_all_but_mpi();
  finalize_mpi();
}

}  // namespace syncyte::lifecycle
