// SPDX-License-Identifier: BSD-3-Clause
#include "kv/intents.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace syncyte::kv {
namespace {

constexpr double weight = 0.1;  // of the newest time
constexpr std::int64_t most_clocks_ahead = 1000;

}  // namespace

/// The variance is that of West (1979), Communications of the ACM 22 (9), with a constant weight.
void recent_times::add(nanoseconds time) {
  const auto newest = static_cast<double>(time.count());
  if (std::exchange(is_empty_, false)) {
    mean_ = newest;
    return;
  }
  const double difference = newest - mean_;
  mean_ += weight * difference;
  variance_ = (1 - weight) * (variance_ + weight * difference * difference);
}

recent_times::nanoseconds recent_times::nearly_longest() const {
  return nanoseconds(static_cast<std::int64_t>(2 * mean_ + 3 * std::sqrt(variance_)));
}

std::vector<intents::window> intents::open(std::int64_t now, std::int64_t last) {
  std::vector<window> result;
  const auto end = waiting_.upper_bound(last);
  for (auto each = waiting_.begin(); each != end; ++each) {
    if (each->second->end <= now) continue;
    open_.emplace(each->second->end, each->second);
    result.push_back(std::move(each->second));
  }
  waiting_.erase(waiting_.begin(), end);
  return result;
}

std::vector<intents::window> intents::close(std::int64_t now) {
  std::vector<window> result;
  const auto end = open_.upper_bound(now);
  for (auto each = open_.begin(); each != end; ++each) result.push_back(std::move(each->second));
  open_.erase(open_.begin(), end);
  return result;
}

bool intents::remove(const window& which) {
  const auto erase_from = [&](std::multimap<std::int64_t, window>& list, std::int64_t at) {
    const auto [first, end] = list.equal_range(at);
    const auto found = std::find_if(first, end, [&](const auto& each) { return each.second == which; });
    if (found == end) return false;
    list.erase(found);
    return true;
  };
  erase_from(waiting_, which->start);
  return erase_from(open_, which->end);
}

std::vector<intents::window> intents::remove_all() {
  std::vector<window> result;
  for (auto& [end, each] : std::exchange(open_, {})) result.push_back(std::move(each));
  waiting_.clear();
  return result;
}

void clock_ahead::advance(std::chrono::nanoseconds now) {
  if (last_) between_.add(now - *last_);
  last_ = now;
}

std::int64_t clock_ahead::clocks(std::chrono::nanoseconds coming) const {
  const std::int64_t one = std::max<std::int64_t>(1, between_.mean().count());
  return std::clamp<std::int64_t>((coming.count() + one - 1) / one, 1, last_ ? most_clocks_ahead : 1);
}

}  // namespace syncyte::kv
