// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/route.hpp"

#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "base/buffer.hpp"
#include "base/error.hpp"

namespace syncyte::distribution {
namespace {

per_axis minus(per_axis a, const per_axis& b) {
  for (std::size_t axis = 0; axis < a.size(); ++axis) a[axis] -= b[axis];
  return a;
}

box moved(box some, const per_axis& by) {
  for (std::size_t axis = 0; axis < by.size(); ++axis) some.first[axis] += by[axis];
  return some;
}

/// The parts of all blocks of a rank that lie in a box.
std::vector<block_part> parts_within(const layout& of, int rank, holding what, const box& within) {
  std::vector<block_part> result;
  for (const int block : of.blocks_of(rank)) {
    const std::vector<block_part> parts = of.parts_of(block, what, within);
    result.insert(result.end(), parts.begin(), parts.end());
  }
  return result;
}

/// A layout, and the number of each point of its array in the other one's: the point's own plus `shift`.
struct side {
  const layout& cut;
  per_axis shift;

  /// The points that the other array has too.
  box common(const side& other) const {
    return intersection({{}, cut.extents()}, moved({{}, other.cut.extents()}, other.shift));
  }
};

/// Calls visitor(own part, its place there, part of the other side) for the boxes that a rank's parts have in common
/// with the blocks of all ranks.
template <class Visitor>
void for_each_passage(const side& own, holding what, const side& other, holding others, int rank, Visitor&& visitor) {
  for (const block_part& mine : parts_within(own.cut, rank, what, own.common(other)))
    for (const block_part& theirs : other.cut.parts_in(moved(mine.points, own.shift), others))
      visitor(mine, shifted(mine.offset, mine.points.first, moved(theirs.points, other.shift).first), theirs);
}

std::vector<shipment> find_sends(const side& from, const side& to, int rank) {
  std::vector<peer_passage> found;
  for_each_passage(from, holding::owned, to, holding::stored, rank,
                   [&](const block_part& mine, const per_axis& place, const block_part& theirs) {
                     const passage what{mine.block, place, theirs.block, theirs.offset, theirs.points.count};
                     for (const int receiver : to.cut.ranks_of(theirs.block))
                       if (sender_for(receiver, from.cut.ranks_of(mine.block)) == rank)
                         found.push_back({receiver, what});
                   });
  return as_sends(in_order(std::move(found)));
}

std::vector<shipment> find_receives(const side& from, const side& to, int rank) {
  std::vector<peer_passage> found;
  for_each_passage(to, holding::stored, from, holding::owned, rank,
                   [&](const block_part& mine, const per_axis& place, const block_part& theirs) {
                     found.push_back({sender_for(rank, from.cut.ranks_of(theirs.block)),
                                      {theirs.block, theirs.offset, mine.block, place, theirs.points.count}});
                   });
  return as_receives(in_order(std::move(found)));
}

/// Whether an array is a box of another one, and begins at its point `first`.
bool fits(const layout& part, const per_axis& first, const layout& whole) {
  for (std::size_t axis = 0; axis < first.size(); ++axis)
    if (first[axis] < 0 || first[axis] > whole.extents()[axis] - part.extents()[axis]) return false;
  return true;
}

std::string extents_text(const layout& of) {
  const per_axis extents = of.extents();
  return base::shape_text(std::span<const std::int64_t>(extents).first(static_cast<std::size_t>(of.ndim())));
}

void refuse_box(const layout& from, const layout& to, const per_axis& first) {
  for (int axis = 0; axis < from.ndim(); ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    const std::int64_t most = std::abs(from.extents()[at] - to.extents()[at]);
    base::expect(first[at] >= 0 && first[at] <= most, SYNCYTE_ERR_SHAPE, {"first", axis, from.ndim()}, first[at],
                 "0 to {}: a box of one array is the other one", most);
  }
  base::expect(false, SYNCYTE_ERR_SHAPE, "extents of the second layout", extents_text(to), "a box of {}, or around it",
               extents_text(from));
}

void require_same(const layout& from, const layout& to) {
  base::expect(from.ndim() == to.ndim(), SYNCYTE_ERR_SHAPE, "axes of the second layout", to.ndim(), "{}", from.ndim());
  base::expect(from.size() == to.size(), SYNCYTE_ERR_SHAPE, "ranks of the second layout", to.size(), "{}", from.size());
}

route find_route(const side& from, const side& to, int rank) {
  return {find_sends(from, to, rank), find_receives(from, to, rank)};
}

}  // namespace

route find_route(const layout& from, const layout& to, int rank) {
  require_same(from, to);
  for (int axis = 0; axis < from.ndim(); ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    base::expect(from.extents()[at] == to.extents()[at], SYNCYTE_ERR_SHAPE,
                 {"extents of the second layout", axis, to.ndim()}, to.extents()[at], "{}", from.extents()[at]);
  }
  return find_route(side{from, {}}, side{to, {}}, rank);
}

route find_route(const layout& from, const layout& to, int rank, const per_axis& first) {
  require_same(from, to);
  const bool is_into_box = fits(to, first, from);
  if (!is_into_box && !fits(from, first, to)) refuse_box(from, to, first);
  const per_axis shift = is_into_box ? minus({}, first) : first;
  return find_route(side{from, shift}, side{to, minus({}, shift)}, rank);
}

}  // namespace syncyte::distribution
