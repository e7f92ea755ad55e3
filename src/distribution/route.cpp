// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/route.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace syncyte::distribution {
namespace {

/// The parts of all blocks of a rank that lie in a box.
std::vector<block_part> parts_within(const layout& of, int rank, holding what, const box& within) {
  std::vector<block_part> result;
  for (const int block : of.blocks_of(rank))
    for (block_part part : of.parts_of(block, what)) {
      const box both = intersection(part.points, within);
      if (volume(both) == 0) continue;
      part.offset = shifted(part.offset, part.points.first, both.first);
      part.points = both;
      result.push_back(part);
    }
  return result;
}

std::vector<shipment> find_sends(const layout& from, const layout& to, int rank, const box& within) {
  std::vector<peer_passage> found;
  for (const block_part& mine : parts_within(from, rank, holding::owned, within))
    for (const block_part& theirs : to.parts_in(mine.points, holding::stored)) {
      const per_axis place = shifted(mine.offset, mine.points.first, theirs.points.first);
      const passage what{mine.block, place, theirs.block, theirs.offset, theirs.points.count};
      for (const int receiver : to.ranks_of(theirs.block))
        if (sender_for(receiver, from.ranks_of(mine.block)) == rank) found.push_back({receiver, what});
    }
  std::ranges::sort(found);
  return as_sends(found);
}

std::vector<shipment> find_receives(const layout& from, const layout& to, int rank, const box& within) {
  std::vector<peer_passage> found;
  for (const block_part& mine : parts_within(to, rank, holding::stored, within))
    for (const block_part& theirs : from.parts_in(mine.points, holding::owned)) {
      const per_axis place = shifted(mine.offset, mine.points.first, theirs.points.first);
      found.push_back({sender_for(rank, from.ranks_of(theirs.block)),
                       {theirs.block, theirs.offset, mine.block, place, theirs.points.count}});
    }
  std::ranges::sort(found);
  return as_receives(found);
}

}  // namespace

route find_route(const layout& from, const layout& to, int rank, const box& within) {
  base::expect(from.ndim() == to.ndim(), SYNCYTE_ERR_SHAPE, "axes of the second layout", to.ndim(), "{}", from.ndim());
  for (int axis = 0; axis < from.ndim(); ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    base::expect(from.extents()[at] == to.extents()[at], SYNCYTE_ERR_SHAPE,
                 {"extents of the second layout", axis, to.ndim()}, to.extents()[at], "{}", from.extents()[at]);
  }
  base::expect(from.size() == to.size(), SYNCYTE_ERR_SHAPE, "ranks of the second layout", to.size(), "{}", from.size());
  return {find_sends(from, to, rank, within), find_receives(from, to, rank, within)};
}

route find_route(const layout& from, const layout& to, int rank) {
  return find_route(from, to, rank, {{}, from.extents()});
}

}  // namespace syncyte::distribution
