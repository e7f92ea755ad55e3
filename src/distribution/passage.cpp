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
