// SPDX-License-Identifier: BSD-3-Clause
#include "comm/start_queue.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace syncyte::comm {
namespace {

/// Time for which the end of a communicator waits for what other ranks may never have started. If all have started it,
/// an agreement ends at once. Without checks there is no agreement: the wait is for the data, which takes longer.
constexpr auto grace_period = std::chrono::seconds(5);
constexpr auto unchecked_grace_period = std::chrono::seconds(60);

}  // namespace

void start_queue::add(entry started, std::uint64_t sequence) {
  std::vector<entry> ended;  // freed without the lock: they may hold the last reference to the communicator
  const std::lock_guard lock(mutex_);
  end_orphans(ended);
  active_.emplace(started.get(), started);
  try {
    if (!started->begin(sequence)) unposted_.push_back(started);
  } catch (...) {
    active_.erase(started.get());
    throw;
  }
  post_some();
  enter(*started);
}

/// All waits make progress on a queue for as long as it has something to post, or orphans.
void start_queue::enter(const pending_operation& added) {
  if (has_entered_progress_ || (unposted_.empty() && orphans_.empty())) return;
  mpi::enter_progress({added.owner(), this});
  has_entered_progress_ = true;
}

void start_queue::leave_if_idle() noexcept {
  if (has_entered_progress_ && unposted_.empty() && orphans_.empty()) {
    mpi::leave_progress(*this);
    has_entered_progress_ = false;
  }
}

void start_queue::orphan(const entry& operation) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (active_.count(operation.get()) == 0) return;  // has ended
    orphans_.push_back(operation);
    enter(*operation);
  } catch (...) {  // out of memory: it stays until the end of the communicator
  }
}

void start_queue::post_some() {
  while (!unposted_.empty() && unposted_.front()->advance()) unposted_.pop_front();
  leave_if_idle();
}

void start_queue::end_orphans(std::vector<entry>& ended) {
  for (entry& orphan : orphans_) {
    if (!orphan->end_if_done()) continue;
    active_.erase(orphan.get());
    ended.push_back(std::move(orphan));
  }
  std::erase(orphans_, nullptr);
  leave_if_idle();
}

void start_queue::progress() {
  std::vector<entry> ended;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another thread is at it
  post_some();
  end_orphans(ended);
}

bool start_queue::is_posted(const pending_operation& operation) {
  const std::lock_guard lock(mutex_);
  post_some();
  return operation.is_posted();
}

bool start_queue::has_ended(pending_operation& operation) {
  const std::lock_guard lock(mutex_);
  post_some();
  if (!operation.end_if_done()) return false;
  active_.erase(&operation);  // the caller has another reference
  return true;
}

void start_queue::post_all(watchdog::long_wait& wait) {
  watchdog::poll_until([this] { return is_all_posted(); }, wait);
}

/// Posts what can be posted, and ends orphans, before it answers.
bool start_queue::is_all_posted() {
  std::vector<entry> ended;
  const std::lock_guard lock(mutex_);
  post_some();
  end_orphans(ended);
  return unposted_.empty();
}

void start_queue::visit(const std::function<void(pending_operation&)>& visit) {
  const std::unique_lock lock(mutex_, std::chrono::milliseconds(100));
  if (!lock.owns_lock()) return;
  for (const auto& [key, each] : active_) visit(*each);
}

bool start_queue::have_ended_or_never_will(std::chrono::steady_clock::time_point begin) {
  std::vector<entry> ended;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, each] : active_)
    if (each->end_if_done()) ended.push_back(each);
  for (const entry& each : ended) active_.erase(each.get());
  const auto longest = unposted_.empty() ? unchecked_grace_period : grace_period;
  const bool may_never_end =
      std::any_of(active_.begin(), active_.end(), [](const auto& each) { return !each.second->has_agreed(); });
  return active_.empty() || (may_never_end && std::chrono::steady_clock::now() - begin > longest);
}

bool start_queue::settle() noexcept {
  try {
    const auto begin = std::chrono::steady_clock::now();
    mpi::poll_until([&] {
      progress();
      if (have_ended_or_never_will(begin)) return true;
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // the end is not in a hurry
      return false;
    });
    std::vector<entry> ended;
    const std::lock_guard lock(mutex_);
    ended.swap(orphans_);
    const bool have_all_ended = active_.empty();
    give_up();
    leave_if_idle();
    return have_all_ended;
  } catch (...) {  // out of memory: what is not completed is left to MPI
  }
  return false;
}

/// Gives up what has not ended: it never will.
void start_queue::give_up() {
  unposted_.clear();
  for (const auto& [key, each] : active_) {
    each->give_up();
    mpi::keep_for_ever(each);
  }
  active_.clear();
}

}  // namespace syncyte::comm
