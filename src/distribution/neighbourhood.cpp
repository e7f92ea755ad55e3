// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/neighbourhood.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace syncyte::distribution {
namespace {

/// The places of a block's array along one axis, from 0 for the first stored point: an inner range, and all.
struct span_of_places {
  range inner, all;
};

/// An inner box of a block's array and the box around it, axis by axis.
using surroundings = std::vector<span_of_places>;

constexpr std::size_t index_of(int axis) { return static_cast<std::size_t>(axis); }

/// The points at places of a block's array along an axis; offsets count from the range's first place.
std::vector<run> points_at(const layout& of, int block, int axis, range places) {
  const std::int64_t stored = of.shape_of(block)[index_of(axis)];
  if (places == range{0, stored}) return of.runs_of(block, index_of(axis), holding::stored);
  const range unwrapped{of.first_of(block)[index_of(axis)] + places.first, places.count};
  return of.axes()[index_of(axis)].runs(unwrapped);
}

/// Calls visitor(part) with the parts of the array that lie outside of the inner box, each place once. `part.offset` is
/// the place of the first point.
void for_each_rim(const layout& of, int block, const surroundings& around,
                  const std::function<void(const block_part&)>& visitor) {
  std::vector<range> places(around.size());
  for (int rim_axis = 0; rim_axis < of.ndim(); ++rim_axis) {
    const auto& [inner, all] = around[index_of(rim_axis)];
    for (const range rim : {range{all.first, inner.first - all.first}, range{inner.end(), all.end() - inner.end()}}) {
      if (rim.count <= 0) continue;
      for (int axis = 0; axis < of.ndim(); ++axis)
        places[index_of(axis)] = axis < rim_axis    ? around[index_of(axis)].inner
                                 : axis == rim_axis ? rim
                                                    : around[index_of(axis)].all;
      std::vector<std::vector<run>> runs;
      for (int axis = 0; axis < of.ndim(); ++axis) {
        runs.push_back(points_at(of, block, axis, places[index_of(axis)]));
        for (run& each : runs.back()) each.offset += places[index_of(axis)].first;
      }
      for (const block_part& part : boxes_of(block, runs)) visitor(part);
    }
  }
}

/// Whether a block has no place that a halo fills: without points of a grid it has no neighbours.
bool is_empty(const layout& of, int block) {
  return volume({{}, of.lists() != nullptr ? of.allocated_of(block) : of.shape_of(block)}) == 0;
}

/// The places whose own copy is right, and all places that a halo of this depth fills.
surroundings ghosts_around(const layout& of, int block, std::int64_t depth) {
  surroundings result;
  for (int axis = 0; axis < of.ndim(); ++axis) {
    const std::int64_t stored = of.shape_of(block)[index_of(axis)];
    const std::int64_t low = std::min(of.ghosts().low[index_of(axis)], depth);
    const std::int64_t high = std::min(of.ghosts().high[index_of(axis)], depth);
    range inner{0, stored};
    const shared_points rule = of.axes()[index_of(axis)].shared;
    if (rule == shared_points::lower || rule == shared_points::upper) {
      const auto owned = of.runs_of(block, index_of(axis), holding::owned);
      inner.first = owned.empty() ? stored : owned.front().offset;
      inner.count = owned.empty() ? 0 : owned.back().offset + owned.back().count - inner.first;
    }
    result.push_back({inner, {-low, low + stored + high}});
  }
  return result;
}

/// The places that other blocks do not store, and all that the block stores.
surroundings borders_around(const layout& of, int block) {
  surroundings result;
  for (int axis = 0; axis < of.ndim(); ++axis) {
    const points& kind = of.axes()[index_of(axis)];
    const std::int64_t stored = of.shape_of(block)[index_of(axis)], first = of.first_of(block)[index_of(axis)];
    const bool has_low = kind.is_shared() && (kind.periodic || first > 0);
    const bool has_high = kind.is_shared() && (kind.periodic || first + stored < kind.extent());
    result.push_back({{has_low, stored - has_low - has_high}, {0, stored}});
  }
  return result;
}

/// The passages into a block; `what`: which copies of the points outside of the inner box are sent.
std::vector<passage> passages_into(const layout& of, int block, const surroundings& around, holding what) {
  std::vector<passage> result;
  for_each_rim(of, block, around, [&](const block_part& mine) {
    for (const block_part& theirs : of.parts_in(mine.points, what))
      result.push_back({theirs.block, theirs.offset, block,
                        shifted(mine.offset, mine.points.first, theirs.points.first), theirs.points.count});
  });
  return result;
}

/// The passages to some places of a block's list.
std::vector<passage> passages_to_listed(const layout& of, int block, std::span<const run> places, holding what) {
  std::vector<passage> result;
  box points{{}, of.extents()};
  for (const run& each : places) {
    points.first[0] = each.first;
    points.count[0] = each.count;
    for (const block_part& theirs : of.parts_in(points, what)) {
      per_axis place = theirs.points.first;
      place[0] += each.offset - each.first;
      result.push_back({theirs.block, theirs.offset, block, place, theirs.points.count});
    }
  }
  return result;
}

/// The passages to a block's ghosts, and to its copies that are not right if other copies are not always equal.
std::vector<passage> passages_to_listed_ghosts(const layout& of, int block, std::int64_t depth) {
  using kind = point_lists::kind;
  std::vector<run> places;
  if (depth > 0) places = of.lists()->runs(block, kind::ghost);
  if (const shared_points rule = of.lists()->rule(); rule == shared_points::lower || rule == shared_points::upper)
    std::ranges::copy(of.lists()->runs(block, kind::copy), std::back_inserter(places));
  return passages_to_listed(of, block, places, holding::owned);
}

/// Blocks that have a point of this block among their points or at most `before` and `after` places from them.
std::set<int> blocks_near(const layout& of, int block, const per_axis& before, const per_axis& after) {
  std::vector<std::vector<run>> runs;
  for (int axis = 0; axis < of.ndim(); ++axis) {
    const std::int64_t low = before[index_of(axis)], high = after[index_of(axis)];
    runs.push_back(points_at(of, block, axis, {-low, low + of.shape_of(block)[index_of(axis)] + high}));
  }
  std::set<int> result;
  for (const block_part& part : boxes_of(block, runs))
    for (const block_part& near : of.parts_in(part.points, holding::stored)) result.insert(near.block);
  return result;
}

/// Blocks that have ghosts at points of a rank's blocks, or store them.
std::set<int> blocks_near_own(const layout& of, int rank, std::int64_t depth) {
  per_axis before{}, after{};
  for (std::size_t axis = 0; axis < before.size(); ++axis) {
    before[axis] = std::min(of.ghosts().high[axis], depth);  // a block before this one has ghosts at its high end
    after[axis] = std::min(of.ghosts().low[axis], depth);
  }
  std::set<int> result;
  if (of.lists() != nullptr) {
    for (const int block : of.blocks_of(rank))
      for (const run& each : of.lists()->runs(block, point_lists::kind::stored))
        result.merge(of.lists()->blocks_at({each.first, each.count}));
    return result;
  }
  for (const int block : of.blocks_of(rank))
    if (!is_empty(of, block)) result.merge(blocks_near(of, block, before, after));
  return result;
}

using passages_of = std::function<std::vector<passage>(int block)>;

/// The passages into a rank's own blocks.
std::vector<passage> passages_into_own(const layout& of, int rank, const passages_of& into) {
  std::vector<passage> result;
  for (const int block : of.blocks_of(rank))
    if (!is_empty(of, block)) std::ranges::copy(into(block), std::back_inserter(result));
  return result;
}

/// The passages into all blocks that get points of a rank's blocks; `depth`: the ghosts that they fill.
std::vector<passage> passages_into_near(const layout& of, int rank, std::int64_t depth, const passages_of& into) {
  std::vector<passage> result;
  for (const int block : blocks_near_own(of, rank, depth)) std::ranges::copy(into(block), std::back_inserter(result));
  return result;
}

/// One end of a passage: its block.
using end_of_passage = int passage::*;

/// What a rank sends: from blocks at one end of the passages to every rank that has the block at the other end.
std::vector<peer_passage> sent_by(int rank, const layout& of, std::span<const passage> all, end_of_passage from,
                                  end_of_passage to) {
  std::vector<peer_passage> result;
  for (const passage& each : all)
    for (const int receiver : of.ranks_of(each.*to))
      if (sender_for(receiver, of.ranks_of(each.*from)) == rank) result.push_back({receiver, each});
  return result;
}

/// What a rank that has the block at the end `to` receives.
std::vector<peer_passage> received_by(int rank, const layout& of, std::span<const passage> all, end_of_passage from,
                                      end_of_passage to) {
  std::vector<peer_passage> result;
  for (const passage& each : all)
    if (std::ranges::binary_search(of.ranks_of(each.*to), rank))
      result.push_back({sender_for(rank, of.ranks_of(each.*from)), each});
  return result;
}

passages_of ghosts_of(const layout& of, std::int64_t depth) {
  if (of.lists() != nullptr) return [&of, depth](int block) { return passages_to_listed_ghosts(of, block, depth); };
  return [&of, depth](int block) { return passages_into(of, block, ghosts_around(of, block, depth), holding::owned); };
}

}  // namespace

void require_neighbours(const layout& of) {
  for (int axis = 0; axis < of.ndim(); ++axis) {
    const std::int64_t width = std::max(of.ghosts().low[index_of(axis)], of.ghosts().high[index_of(axis)]);
    base::expect(width == 0 || of.is_contiguous(index_of(axis)), SYNCYTE_ERR_ARGUMENT, {"ghosts", axis, of.ndim()},
                 width, "0: the axis is dealt out in blocks, which have no neighbours");
  }
}

std::int64_t widest_ghosts(const layout& of) {
  if (of.lists() != nullptr) return of.lists()->has_ghosts() ? 1 : 0;
  return std::max(std::ranges::max(of.ghosts().low), std::ranges::max(of.ghosts().high));
}

route find_halo(const layout& of, int rank, std::int64_t depth) {
  const passages_of into = ghosts_of(of, depth);
  auto sends = sent_by(rank, of, passages_into_near(of, rank, depth, into), &passage::source, &passage::target);
  auto receives = received_by(rank, of, passages_into_own(of, rank, into), &passage::source, &passage::target);
  return {as_sends(in_order(std::move(sends))), as_receives(in_order(std::move(receives)))};
}

route find_adjoint(const layout& of, int rank, std::int64_t depth) {
  const passages_of into = ghosts_of(of, depth);
  auto sends = sent_by(rank, of, passages_into_own(of, rank, into), &passage::target, &passage::source);
  auto receives = received_by(rank, of, passages_into_near(of, rank, depth, into), &passage::target, &passage::source);
  // From the ghosts to the points that they copy.
  return {as_receives(in_order(std::move(sends))), as_sends(in_order(std::move(receives)))};
}

route find_copies(const layout& of, int rank) {
  const passages_of into = [&of](int block) {
    if (of.lists() != nullptr)
      return passages_to_listed(of, block, of.lists()->runs(block, point_lists::kind::shared), holding::stored);
    return passages_into(of, block, borders_around(of, block), holding::stored);
  };
  const auto by_copy = [&](const peer_passage& each) {
    return std::tuple(of.ranks_of(each.what.source).front(), each.what, each.peer);
  };
  auto sends = sent_by(rank, of, passages_into_near(of, rank, 0, into), &passage::source, &passage::target);
  auto receives = received_by(rank, of, passages_into_own(of, rank, into), &passage::source, &passage::target);
  std::ranges::sort(sends, {}, by_copy);
  std::ranges::sort(receives, {}, by_copy);
  return {as_sends(sends), as_receives(receives)};
}

}  // namespace syncyte::distribution
