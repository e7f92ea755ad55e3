#include "kv/started_operations.hpp"

#include <algorithm>
#include <utility>

namespace syncyte::kv {

std::int64_t started_operations::add(std::unique_ptr<spread_operation> started) {
  if (!started) return complete;
  const std::lock_guard lock(mutex_);
  if (operations_.size() >= forget_at_) forget_ended();
  operations_.emplace(started_, std::move(started));
  return started_++;
}

/// Looks at all operations, but only when their number has doubled since the last time.
void started_operations::forget_ended() {
  std::size_t failed = 0;
  std::erase_if(operations_, [&](const auto& each) {
    if (!each.second->has_ended()) return false;
    failed += each.second->error() ? 1 : 0;
    return !each.second->error();
  });
  for (auto each = operations_.begin(); failed > most_failed;) {
    const bool has_failed = each->second->has_ended();
    failed -= has_failed ? 1 : 0;
    each = has_failed ? operations_.erase(each) : std::next(each);
  }
  forget_at_ = std::max<std::size_t>(16, 2 * operations_.size());
}

std::shared_ptr<spread_operation> started_operations::find(std::int64_t timestamp) const {
  const std::lock_guard lock(mutex_);
  base::expect(timestamp >= complete && timestamp < started_, SYNCYTE_ERR_ARGUMENT, "timestamp", timestamp,
               "-1, or another timestamp that an operation of this worker returned");
  const auto found = operations_.find(timestamp);
  return found != operations_.end() ? found->second : nullptr;
}

started_operations::operations started_operations::all() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

std::size_t started_operations::size() const {
  const std::lock_guard lock(mutex_);
  return operations_.size();
}

bool started_operations::has_ended(std::int64_t timestamp) {
  const auto found = find(timestamp);
  return !found || found->has_ended();
}

void started_operations::wait(std::int64_t timestamp) {
  const auto found = find(timestamp);
  if (!found) return;
  found->await_end();
  {
    const std::lock_guard lock(mutex_);
    operations_.erase(timestamp);
  }
  if (found->error()) throw *found->error();
}

void started_operations::wait_all() {
  const operations waited = all();
  for (const auto& [timestamp, each] : waited) each->await_end();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [timestamp, each] : waited) operations_.erase(timestamp);
  }
  for (const auto& [timestamp, each] : waited)
    if (each->error()) throw *each->error();
}

void started_operations::await_ends() {
  for (const auto& [timestamp, each] : all()) each->await_end();
}

}  // namespace syncyte::kv
