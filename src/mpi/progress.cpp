#include "mpi/progress.hpp"

#include <mpi.h>

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

/// Nothing else is locked while its mutex is held; members that go do so outside of it.
struct progress_table {
  std::mutex mutex;
  members all;
  std::atomic<int> count{0};
};

progress_table& table() {
  static auto* const the_table = new progress_table;  // leaked: requests may outlive static objects
  return *the_table;
}

}  // namespace

void enter_progress(std::shared_ptr<progressing> member) {
  progress_table& under_way = table();
  const std::lock_guard lock(under_way.mutex);
  under_way.all.push_back(std::move(member));
  ++under_way.count;
}

void leave_progress(const progressing& member) noexcept {
  progress_table& under_way = table();
  std::shared_ptr<progressing> gone;
  const std::lock_guard lock(under_way.mutex);
  for (auto& each : under_way.all) {
    if (each.get() != &member) continue;
    gone = std::exchange(each, std::move(under_way.all.back()));
    under_way.all.pop_back();
    --under_way.count;
    return;
  }
}

void forget_progress() noexcept {
  progress_table& under_way = table();
  members gone;
  const std::lock_guard lock(under_way.mutex);
  gone.swap(under_way.all);
  under_way.count = 0;
}

void stop_needing_progress() noexcept { table().count = 0; }

bool needs_progress() { return table().count.load(std::memory_order_relaxed) > 0; }

void progress_all() {
  const try_thread_guard now_or_later;
  if (!now_or_later) return;
  members now;
  {
    const std::lock_guard lock(table().mutex);
    now = table().all;
  }
  for (const auto& member : now) member->progress();
}

namespace {

constexpr int multiple = 3;

/// With level serialized, another thread of the application may be inside MPI, unseen by the guard: MPI is then called
/// only by operations that the user has called.
bool may_call_unasked() { return thread_level() != 2; }

}  // namespace

void let_progress() {
  if (!is_started() || !may_call_unasked()) return;
  const try_thread_guard now_or_later;
  if (!now_or_later) return;
  if (needs_progress()) progress_all();
  probe();
}

namespace {

/// A communicator without messages: MPICH makes no progress in a probe of MPI_COMM_SELF, nor Open MPI in a probe that
/// finds a message.
struct probe_communicator {
  std::mutex mutex;
  MPI_Comm comm = MPI_COMM_NULL;
};

probe_communicator& the_probe() {
  static auto* const the_one = new probe_communicator;  // leaked: threads may wait while static objects are destroyed
  return *the_one;
}

}  // namespace

void open_probe(MPI_Comm world) {
  const std::lock_guard lock(the_probe().mutex);
  check(MPI_Comm_dup(world, &the_probe().comm), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(the_probe().comm, MPI_ERRORS_RETURN);
}

void close_probe() {
  const std::lock_guard lock(the_probe().mutex);
  if (the_probe().comm != MPI_COMM_NULL) MPI_Comm_free(&the_probe().comm);
}

MPI_Request start_probe_barrier() {
  MPI_Request result = MPI_REQUEST_NULL;
  MPI_Ibarrier(the_probe().comm, &result);
  return result;
}

void probe() {
  probe_communicator& here = the_probe();
  const std::unique_lock lock(here.mutex, std::try_to_lock);  // another thread's probe does the same for this one
  if (!lock.owns_lock() || here.comm == MPI_COMM_NULL) return;
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, here.comm, &found, MPI_STATUS_IGNORE);
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
  thread_ = std::thread([this] {
    while (!is_ending_ && needs_progress()) {
      try {
        progress_all();
      } catch (...) {  // out of memory: perhaps not the next time
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
}

background_progress::~background_progress() {
  is_ending_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace syncyte::mpi
