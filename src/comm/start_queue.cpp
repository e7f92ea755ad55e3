#include "comm/start_queue.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "comm/communicator.hpp"
#include "comm/runtime.hpp"
#include "comm/started_collective.hpp"

namespace syncyte::comm {
namespace {

/// Communicators with something to post. A queue takes this lock while it holds its own, never the other way round.
struct posting_table {
  std::mutex mutex;
  std::vector<std::shared_ptr<communicator>> comms;
  std::atomic<int> count{0};
};

posting_table& table() {
  static auto* const the_table = new posting_table;  // leaked: requests may outlive static objects
  return *the_table;
}

void enter(const std::shared_ptr<communicator>& comm) {
  posting_table& all = table();
  const std::lock_guard lock(all.mutex);
  all.comms.push_back(comm);
  ++all.count;
}

void leave(const communicator& comm) {
  posting_table& all = table();
  const std::lock_guard lock(all.mutex);
  all.count -= static_cast<int>(std::erase_if(all.comms, [&](const auto& each) { return each.get() == &comm; }));
}

/// How long the end of a communicator waits for what other ranks may never have started. An agreement takes no time
/// where they have; without checks there is none, and the data themselves have to arrive.
constexpr auto patience = std::chrono::seconds(5);
constexpr auto unchecked_patience = std::chrono::seconds(60);

/// What can never end, for MPI, which still writes to it.
void keep_for_ever(std::shared_ptr<started_collective> operation) {
  static auto* const kept = new std::vector<std::shared_ptr<started_collective>>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(operation));
}

}  // namespace

bool any_unposted() { return table().count.load(std::memory_order_relaxed) > 0; }

void progress_starts() {
  std::vector<std::shared_ptr<communicator>> comms;
  {
    const std::lock_guard lock(table().mutex);
    comms = table().comms;
  }
  for (const auto& comm : comms) comm->starts().progress();
}

void pause_polling() { ::sched_yield(); }

void start_queue::add(entry started, std::uint64_t sequence) {
  std::vector<entry> ended;  // freed without the lock: they may hold the last reference to the communicator
  const std::lock_guard lock(mutex_);
  end_orphans(ended);
  const bool is_posted = started->begin(sequence);
  active_.emplace(started.get(), started);
  if (!started->terms().is_well()) orphans_.push_back(started);
  if (is_posted) return;
  if (unposted_.empty()) enter(started->comm());
  unposted_.push_back(std::move(started));
  post_some();
}

void start_queue::post_some() {
  while (!unposted_.empty() && unposted_.front()->advance()) {
    if (unposted_.size() == 1) leave(*unposted_.front()->comm());
    unposted_.pop_front();
  }
}

void start_queue::end_orphans(std::vector<entry>& ended) {
  for (entry& orphan : orphans_) {
    if (!orphan->end_if_done()) continue;
    active_.erase(orphan.get());
    ended.push_back(std::move(orphan));
  }
  std::erase(orphans_, nullptr);
}

void start_queue::progress() {
  std::vector<entry> ended;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another thread is at it
  post_some();
  end_orphans(ended);
}

bool start_queue::is_posted(const started_collective& operation) {
  const std::lock_guard lock(mutex_);
  post_some();
  return operation.is_posted();
}

bool start_queue::has_ended(started_collective& operation) {
  const std::lock_guard lock(mutex_);
  post_some();
  if (!operation.end_if_done()) return false;
  active_.erase(&operation);  // the caller has another reference
  return true;
}

void start_queue::post_all() {
  if (!any_unposted()) [[likely]]
    return;
  poll_until([&] {
    const std::lock_guard lock(mutex_);
    post_some();
    return unposted_.empty();
  });
}

bool start_queue::settle() noexcept {
  try {
    const auto begin = std::chrono::steady_clock::now();
    poll_until([&] {
      progress();
      std::vector<entry> ended;
      const std::lock_guard lock(mutex_);
      for (const auto& [key, each] : active_)
        if (each->end_if_done()) ended.push_back(each);
      for (const entry& each : ended) active_.erase(each.get());
      const auto longest = unposted_.empty() ? unchecked_patience : patience;
      const bool may_never_end =
          std::any_of(active_.begin(), active_.end(), [](const auto& each) { return !each.second->has_agreed(); });
      return active_.empty() || (may_never_end && std::chrono::steady_clock::now() - begin > longest);
    });
    std::vector<entry> ended;
    const std::lock_guard lock(mutex_);
    ended.swap(orphans_);
    if (active_.empty()) return true;
    give_up();
  } catch (...) {  // out of memory: what is not completed is left to MPI
  }
  return false;
}

void start_queue::give_up() {
  if (!unposted_.empty()) leave(*unposted_.front()->comm());
  unposted_.clear();
  for (const auto& [key, each] : active_) {
    each->give_up();
    keep_for_ever(each);
  }
  active_.clear();
}

background_progress::background_progress() {
  constexpr int multiple = 3;
  if (!any_unposted() || thread_level() != multiple) return;
  thread_ = std::thread([this] {
    while (!is_ending_ && any_unposted()) {
      progress_starts();
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
}

background_progress::~background_progress() {
  is_ending_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace syncyte::comm
