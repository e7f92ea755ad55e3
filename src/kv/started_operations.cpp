// SPDX-License-Identifier: BSD-3-Clause
#include "kv/started_operations.hpp"

#include <algorithm>

#include "mpi/process.hpp"

namespace syncyte::kv {
namespace {

/// Most operations in flight that have asked for keys of this node; each key of a further one is looked for in all.
constexpr std::size_t most_asking = 64;

}  // namespace

/// Looks at all operations, but only when their number has doubled since the last time. Several threads may add in
/// another order than they have begun.
void started_operations::add(const std::shared_ptr<access::started>& started,
                             const unanswered_operations& until_its_end) {
  const std::lock_guard lock(mutex_);
  if (operations_.size() >= forget_at_) {
    forget([](const in_flight& each) { return each.operation->has_ended(); });
    forget_at_ = std::max<std::size_t>(16, 2 * operations_.size());
  }
  const auto grants = until_its_end.grants;
  for (auto each = operations_.rbegin(); each != operations_.rend() && each->grants > grants; ++each)
    each->grants = grants;
  operations_.push_back({started, grants, until_its_end.asked.empty() ? nullptr : until_its_end.asked.front()});
  asking_ += operations_.back().asked ? 1 : 0;
}

template <class Which>
void started_operations::forget(Which&& which) {
  std::erase_if(operations_, [&](const in_flight& each) {
    if (!which(each)) return false;
    asking_ -= each.asked ? 1 : 0;
    return true;
  });
}

void started_operations::give_up(const std::shared_ptr<access::started>& started) {
  const std::lock_guard lock(mutex_);
  forget([&](const in_flight& each) { return each.operation == started; });
}

std::shared_ptr<access::started> started_operations::first_of_too_many() {
  const std::lock_guard lock(mutex_);
  if (asking_ <= most_asking) return nullptr;
  return std::ranges::find_if(operations_, [](const in_flight& each) { return each.asked != nullptr; })->operation;
}

unanswered_operations started_operations::unanswered() {
  if (mpi::is_forked_child()) return {};  // its operations are those of the rank's threads, which it does not have
  while (const auto first = first_of_too_many()) end(first);
  const std::lock_guard lock(mutex_);
  if (asking_ > 0) forget([](const in_flight& each) { return each.asked && each.operation->has_ended(); });
  while (!operations_.empty() && operations_.front().operation->has_ended()) {
    asking_ -= operations_.front().asked ? 1 : 0;
    operations_.pop_front();
  }
  unanswered_operations result;
  if (operations_.empty()) return result;
  result.grants = operations_.front().grants;
  for (const in_flight& each : operations_)
    if (asking_ > result.asked.size() && each.asked) result.asked.push_back(each.asked);
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

void started_operations::limit(std::size_t most) {
  const auto first_beyond = [&]() -> std::shared_ptr<access::started> {
    const std::lock_guard lock(mutex_);
    return operations_.size() > most ? operations_.front().operation : nullptr;
  };
  while (const auto first = first_beyond()) end(first);
}

/// Waits for an operation, and forgets it.
void started_operations::end(const std::shared_ptr<access::started>& which) {
  which->await_end();
  give_up(which);
}

std::size_t started_operations::size() const {
  const std::lock_guard lock(mutex_);
  return operations_.size();
}

}  // namespace syncyte::kv
