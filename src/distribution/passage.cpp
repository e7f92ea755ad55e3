// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/passage.hpp"

#include <algorithm>

namespace syncyte::distribution {

int sender_for(int receiver, std::span<const int> holders) {
  if (std::ranges::binary_search(holders, receiver)) return receiver;
  return holders[static_cast<std::size_t>(receiver) % holders.size()];
}

per_axis shifted(per_axis offset, const per_axis& from, const per_axis& to) {
  for (std::size_t axis = 0; axis < offset.size(); ++axis) offset[axis] += to[axis] - from[axis];
  return offset;
}

namespace {

/// Whether a passage goes on along the first axis where another one ends, on both sides.
bool follows(const peer_passage& next, const peer_passage& last) {
  const auto behind = [&](per_axis place) {
    place[0] += last.what.count[0];
    return place;
  };
  per_axis count = next.what.count;
  count[0] = last.what.count[0];
  return next.peer == last.peer && next.what.source == last.what.source && next.what.target == last.what.target &&
         next.what.at_source == behind(last.what.at_source) && next.what.at_target == behind(last.what.at_target) &&
         count == last.what.count;
}

}  // namespace

std::vector<peer_passage> in_order(std::vector<peer_passage> all) {
  std::ranges::sort(all);
  std::vector<peer_passage> result;
  for (const peer_passage& each : all)
    if (!result.empty() && follows(each, result.back()))
      result.back().what.count[0] += each.what.count[0];
    else
      result.push_back(each);
  return result;
}

std::vector<shipment> as_sends(std::span<const peer_passage> all) {
  std::vector<shipment> result;
  result.reserve(all.size());
  for (const auto& [peer, what] : all) result.push_back({peer, what.source, what.at_source, what.count});
  return result;
}

std::vector<shipment> as_receives(std::span<const peer_passage> all) {
  std::vector<shipment> result;
  result.reserve(all.size());
  for (const auto& [peer, what] : all) result.push_back({peer, what.target, what.at_target, what.count});
  return result;
}

}  // namespace syncyte::distribution
