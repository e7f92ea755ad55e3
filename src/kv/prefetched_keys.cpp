// SPDX-License-Identifier: BSD-3-Clause
#include "kv/prefetched_keys.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace syncyte::kv {
namespace {

/// A pull in flight that collects more changes than this, as a multiple of its own values, is not worth its memory.
constexpr std::size_t most_changes = 8;

}  // namespace

prefetched_keys::prefetched_keys(const store& of, std::span<const std::int64_t> list,
                                 std::shared_ptr<fabric::stream> in)
    : list_(list.begin(), list.end()),
      distinct_(list),
      places_(of.places(distinct_.keys())),
      began_after_(of.synchronizations()),
      room_(std::make_shared<kept_values>(std::move(in), places_.back())) {}

prefetched_keys::state prefetched_keys::look() {
  if (!pull_->has_ended()) return state::in_flight;
  return base::error_of([&] { pull_->test(); }) ? state::failed : state::here;
}

bool prefetched_keys::await_values() {
  pull_->await_end();
  return look() == state::here;
}

bool prefetched_keys::change(const struct operation& what, std::span<const std::int64_t> keys,
                             std::span<const std::int64_t> places, const float* values) {
  changes made{&what};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::int64_t place = distinct_.find(keys[i]);
    if (place < 0) continue;
    if (what.change == nullptr) return false;
    made.keys.push_back(place);
    made.values.insert(made.values.end(), values + places[i], values + places[i + 1]);
  }
  if (made.keys.empty()) return true;
  later_values_ += made.values.size();
  later_.push_back(std::move(made));
  const auto own = static_cast<std::size_t>(places_.back());
  if (later_values_ > own && look() == state::here) apply_changes();
  return later_values_ <= most_changes * own;
}

void prefetched_keys::apply_changes() {
  for (const changes& each : later_) {
    const float* given = each.values.data();
    for (const std::int64_t place : each.keys) {
      const auto values = values_of(place);
      each.what->change(values, given);
      given += values.size();
    }
  }
  later_.clear();
  later_values_ = 0;
}

std::span<float> prefetched_keys::values_of(std::int64_t place) const {
  const auto at = static_cast<std::size_t>(place);
  return {room_->values.get() + places_[at], static_cast<std::size_t>(places_[at + 1] - places_[at])};
}

void prefetched_keys::copy(form which, float* to) {
  apply_changes();
  if (which == form::distinct || !distinct_.has_repeats()) {
    std::copy_n(room_->values.get(), places_.back(), to);
    return;
  }
  for (const std::int64_t place : distinct_.inverse()) to = std::ranges::copy(values_of(place), to).out;
}

}  // namespace syncyte::kv
