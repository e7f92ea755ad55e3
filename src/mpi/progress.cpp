// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/progress.hpp"

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/call.hpp"
#include "mpi/process.hpp"
#include "mpi/thread_guard.hpp"

namespace syncyte::mpi {
namespace {

using members = std::vector<std::shared_ptr<progressing>>;

/// No other lock is taken while its mutex is held, and no member is destroyed.
struct progress_table {
  std::mutex mutex;
  members all;
  std::atomic<int> count{0};
};

/// A communicator without messages: MPICH makes no progress in a probe of MPI_COMM_SELF, nor Open MPI in a probe that
/// finds a message.
struct probe_communicator {
  std::mutex mutex;
  MPI_Comm comm = MPI_COMM_NULL;
};

// Leaked: requests may outlive static objects, and threads may wait while these are destroyed.
progress_table& table = *new progress_table;
probe_communicator& the_probe = *new probe_communicator;

}  // namespace

void enter_progress(std::shared_ptr<progressing> member) {
  const std::lock_guard lock(table.mutex);
  table.all.push_back(std::move(member));
  ++table.count;
}

void leave_progress(const progressing& member) noexcept {
  std::shared_ptr<progressing> removed;  // destroyed after the lock is released
  const std::lock_guard lock(table.mutex);
  for (auto& each : table.all) {
    if (each.get() != &member) continue;
    removed = std::exchange(each, std::move(table.all.back()));
    table.all.pop_back();
    --table.count;
    return;
  }
}

void forget_progress() noexcept {
  members removed;
  const std::lock_guard lock(table.mutex);
  removed.swap(table.all);
  table.count = 0;
}

void stop_needing_progress() noexcept { table.count = 0; }

bool needs_progress() { return table.count.load(std::memory_order_relaxed) > 0; }

void progress_all() {
  const try_thread_guard now_or_later;
  if (!now_or_later.may_call()) return;
  members now;
  {
    const std::lock_guard lock(table.mutex);
    now = table.all;
  }
  for (const auto& member : now) member->progress();
}

void let_progress() {
  // With level serialized, another thread of the application may be inside MPI, unseen by the guard: MPI is then called
  // only by operations that the user has called.
  if (!is_started() || thread_level() == serialized) return;
  const try_thread_guard now_or_later;
  if (!now_or_later.may_call()) return;
  if (needs_progress()) progress_all();
  probe();
}

void open_probe(MPI_Comm world) {
  const std::lock_guard lock(the_probe.mutex);
  check(MPI_Comm_dup(world, &the_probe.comm), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(the_probe.comm, MPI_ERRORS_RETURN);
}

void close_probe() {
  const std::lock_guard lock(the_probe.mutex);
  if (the_probe.comm != MPI_COMM_NULL) MPI_Comm_free(&the_probe.comm);
}

MPI_Request start_probe_barrier() {
  MPI_Request result = MPI_REQUEST_NULL;
  MPI_Ibarrier(the_probe.comm, &result);
  return result;
}

void probe() {
  if (knows_death()) return;
  const std::unique_lock lock(the_probe.mutex, std::try_to_lock);  // another thread's probe does the same for this one
  if (!lock.owns_lock() || the_probe.comm == MPI_COMM_NULL) return;
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, the_probe.comm, &found, MPI_STATUS_IGNORE);
}

void keep_for_ever(std::shared_ptr<void> object) {
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(object));
}

void wait_for(MPI_Request& request, const char* call) {
  poll_until([&] { return has_ended(request, call); });
}

background_progress::background_progress() {
  if (!needs_progress() || thread_level() != multiple) return;
  progress_all();  // often all there is to do
  if (!needs_progress()) return;
  thread_ = std::jthread([](const std::stop_token& end) {
    while (!end.stop_requested() && needs_progress()) {
      try {
        progress_all();
      } catch (...) {  // out of memory: perhaps not the next time
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
}

}  // namespace syncyte::mpi
