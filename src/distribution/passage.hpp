// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "distribution/box.hpp"

namespace syncyte::distribution {

/// A box of points that goes from one block's array to another's. Places are those of its first point; ghosts are not
/// counted.
struct passage {
  int source;
  per_axis at_source;
  int target;
  per_axis at_target;
  per_axis count;
  auto operator<=>(const passage&) const = default;
};

/// A passage between this rank and a peer.
struct peer_passage {
  int peer;
  passage what;
  auto operator<=>(const peer_passage&) const = default;
};

/// The rank among those with a block (ascending) that sends it to `receiver`.
int sender_for(int receiver, std::span<const int> holders);

/// The passages in order of peers, and in an order between two ranks that is equal on both. Those that go on along the
/// first axis where the one before ends are one.
std::vector<peer_passage> in_order(std::vector<peer_passage> all);

/// The place `offset` of a point `from`, moved to the point `to`.
per_axis shifted(per_axis offset, const per_axis& from, const per_axis& to);

/// A box of points that two ranks' arrays have in common.
struct shipment {
  int peer;         // the other rank; this one itself for a copy
  int block;        // of this rank, in its own layout
  per_axis offset;  // of the first point in the block's array, ghosts not counted
  per_axis count;
};

/// The boxes that a rank sends and receives when an array goes from one layout to another. The boxes between two ranks
/// have the same order on both.
struct route {
  std::vector<shipment> sends;
  std::vector<shipment> receives;
};

/// This rank's side of its passages, in their order.
std::vector<shipment> as_sends(std::span<const peer_passage> all);
std::vector<shipment> as_receives(std::span<const peer_passage> all);

}  // namespace syncyte::distribution
