// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "distribution/box.hpp"
#include "distribution/layout.hpp"

namespace syncyte::distribution {

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

/// The boxes that `rank` sends and receives, in order of peers: every place of a block of `to` gets the point that the
/// owner in `from` has, of the points in `within`. Blocks that several ranks have are sent by all of them: each rank
/// receives from itself if it can, otherwise from the one with its number modulo theirs. Throws SYNCYTE_ERR_SHAPE
/// unless both layouts are of arrays of the same extents and of as many ranks.
route find_route(const layout& from, const layout& to, int rank, const box& within);
route find_route(const layout& from, const layout& to, int rank);

}  // namespace syncyte::distribution
