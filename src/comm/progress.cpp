#include "comm/progress.hpp"

#include <mpi.h>

#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "comm/mpi_turn.hpp"
#include "comm/runtime.hpp"

namespace syncyte::comm {
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
  const mpi_chance now_or_later;
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

/// With level serialized the application may be inside of MPI in another thread, which mpi_chance does not see: only
/// who calls MPI for a reason of its own does so.
bool may_call_unasked() { return thread_level() != 2; }

}  // namespace

void let_mpi_progress() {
  if (!is_started() || !may_call_unasked()) return;
  const mpi_chance now_or_later;
  if (!now_or_later) return;
  if (needs_progress()) progress_all();
  probe_mpi();
}

void probe_mpi() {
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
}

void keep_for_ever(std::shared_ptr<void> object) {
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(object));
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

}  // namespace syncyte::comm
