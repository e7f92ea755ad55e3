// SPDX-License-Identifier: BSD-3-Clause
#include "kv/started_operations.hpp"

#include <algorithm>

namespace syncyte::kv {

/// Looks at all operations, but only when their number has doubled since the last time.
void started_operations::add(const std::shared_ptr<access::started>& started) {
  const std::lock_guard lock(mutex_);
  if (operations_.size() >= forget_at_) {
    std::erase_if(operations_, [](const auto& each) { return each->has_ended(); });
    forget_at_ = std::max<std::size_t>(16, 2 * operations_.size());
  }
  operations_.push_back(started);
}

std::vector<std::shared_ptr<access::started>> started_operations::all() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

void started_operations::await_ends() {
  for (const auto& each : all()) each->await_end();
}

std::size_t started_operations::size() const {
  const std::lock_guard lock(mutex_);
  return operations_.size();
}

}  // namespace syncyte::kv
