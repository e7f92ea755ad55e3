// SPDX-License-Identifier: BSD-3-Clause
#include "kv/started_operations.hpp"

#include <algorithm>

namespace syncyte::kv {

/// Looks at all operations, but only when their number has doubled since the last time.
void started_operations::add(const std::shared_ptr<access::started>& started,
                             const unanswered_operations& until_its_end) {
  const std::lock_guard lock(mutex_);
  if (operations_.size() >= forget_at_) {
    forget_ended();
    forget_at_ = std::max<std::size_t>(16, 2 * operations_.size());
  }
  operations_.push_back({started, until_its_end});
}

void started_operations::forget_ended() {
  std::erase_if(operations_, [](const in_flight& each) { return each.operation->has_ended(); });
}

unanswered_operations started_operations::unanswered() {
  const std::lock_guard lock(mutex_);
  if (operations_.empty()) return {};
  forget_ended();
  unanswered_operations result;
  for (const in_flight& each : operations_) {
    result.grants = std::min(result.grants, each.until_its_end.grants);
    result.asked.insert(result.asked.end(), each.until_its_end.asked.begin(), each.until_its_end.asked.end());
  }
  return result;
}

std::vector<std::shared_ptr<access::started>> started_operations::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<access::started>> result;
  for (const in_flight& each : operations_) result.push_back(each.operation);
  return result;
}

void started_operations::await_ends() {
  for (const auto& each : all()) each->await_end();
}

std::size_t started_operations::size() const {
  const std::lock_guard lock(mutex_);
  return operations_.size();
}

}  // namespace syncyte::kv
