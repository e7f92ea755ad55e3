// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/patches.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace syncyte::distribution {
namespace {

std::size_t axis_of_most_beginnings(const std::vector<box>& boxes) {
  std::size_t best = 0;
  std::size_t most = 0;
  for (std::size_t axis = 0; axis < box().first.size(); ++axis) {
    std::set<std::int64_t> beginnings;
    for (const box& each : boxes) beginnings.insert(each.first[axis]);
    if (beginnings.size() > most) most = beginnings.size(), best = axis;
  }
  return best;
}

}  // namespace

patches::patches(std::vector<box> boxes) : boxes_(std::move(boxes)), axis_(axis_of_most_beginnings(boxes_)) {
  for (int number = 0; number < std::ssize(boxes_); ++number) {
    const box& each = boxes_[static_cast<std::size_t>(number)];
    if (volume(each) == 0) continue;
    order_.push_back(number);
    longest_ = std::max(longest_, each.count[axis_]);
  }
  std::ranges::stable_sort(order_, {},
                           [&](int number) { return boxes_[static_cast<std::size_t>(number)].first[axis_]; });
}

std::vector<int> patches::meeting(const box& some) const {
  const auto first_of = [&](int number) { return boxes_[static_cast<std::size_t>(number)].first[axis_]; };
  // A box that begins before this one reaches it only if it is long enough.
  auto next = std::ranges::upper_bound(order_, some.first[axis_] - longest_, {}, first_of);
  std::vector<int> result;
  for (; next != order_.end() && first_of(*next) < some.first[axis_] + some.count[axis_]; ++next)
    if (volume(intersection(boxes_[static_cast<std::size_t>(*next)], some)) > 0) result.push_back(*next);
  std::ranges::sort(result);
  return result;
}

}  // namespace syncyte::distribution
