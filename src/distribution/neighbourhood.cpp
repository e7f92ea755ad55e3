// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/neighbourhood.hpp"

#include <algorithm>
#include <functional>
#include <set>
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

/// What the array of a block has around an inner box, whose extents it has along each axis.
using surroundings = std::vector<span_of_places>;

constexpr std::size_t number(int axis) { return static_cast<std::size_t>(axis); }

/// The points at places of a block's array along an axis; offsets count from the range's first place.
std::vector<run> points_at(const layout& of, int block, int axis, range places) {
  const std::int64_t stored = of.shape_of(block)[number(axis)];
  if (places == range{0, stored}) return of.runs_of(block, number(axis), holding::stored);
  const range unwrapped{of.first_of(block)[number(axis)] + places.first, places.count};
  return of.axes()[number(axis)].runs(unwrapped);
}

/// Calls visitor(part) with the parts of the array that lie outside of the inner box, each place once. `part.offset` is
/// the place of the first point.
void for_each_rim(const layout& of, int block, const surroundings& around,
                  const std::function<void(const block_part&)>& visitor) {
  std::vector<range> places(around.size());
  for (int rim_axis = 0; rim_axis < of.ndim(); ++rim_axis) {
    const auto& [inner, all] = around[number(rim_axis)];
    for (const range rim : {range{all.first, inner.first - all.first}, range{inner.end(), all.end() - inner.end()}}) {
      if (rim.count <= 0) continue;
      for (int axis = 0; axis < of.ndim(); ++axis)
        places[number(axis)] = axis < rim_axis    ? around[number(axis)].inner
                               : axis == rim_axis ? rim
                                                  : around[number(axis)].all;
      std::vector<std::vector<run>> runs;
      for (int axis = 0; axis < of.ndim(); ++axis) {
        runs.push_back(points_at(of, block, axis, places[number(axis)]));
        for (run& each : runs.back()) each.offset += places[number(axis)].first;
      }
      for (const block_part& part : boxes_of(block, runs)) visitor(part);
    }
  }
}

bool is_empty(const layout& of, int block) { return volume({{}, of.shape_of(block)}) == 0; }

/// The places whose own copy is right, and all places that a halo of this depth fills.
surroundings ghosts_around(const layout& of, int block, std::int64_t depth) {
  surroundings result;
  for (int axis = 0; axis < of.ndim(); ++axis) {
    const std::int64_t stored = of.shape_of(block)[number(axis)];
    const std::int64_t low = std::min(of.ghosts().low[number(axis)], depth);
    const std::int64_t high = std::min(of.ghosts().high[number(axis)], depth);
    range inner{0, stored};
    const shared_points rule = of.axes()[number(axis)].shared;
    if (rule == shared_points::lower || rule == shared_points::upper) {
      const auto owned = of.runs_of(block, number(axis), holding::owned);
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
    const points& kind = of.axes()[number(axis)];
    const std::int64_t stored = of.shape_of(block)[number(axis)], first = of.first_of(block)[number(axis)];
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

/// Blocks that have a point of this block among their points or at most `before` and `after` places from them.
std::set<int> blocks_near(const layout& of, int block, const per_axis& before, const per_axis& after) {
  std::vector<std::vector<run>> runs;
  for (int axis = 0; axis < of.ndim(); ++axis) {
    const std::int64_t low = before[number(axis)], high = after[number(axis)];
    runs.push_back(points_at(of, block, axis, {-low, low + of.shape_of(block)[number(axis)] + high}));
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
  for (const int block : of.blocks_of(rank))
    if (!is_empty(of, block)) result.merge(blocks_near(of, block, before, after));
  return result;
}

using passages_of = std::function<std::vector<passage>(int block)>;

/// `depth`: the ghosts that the passages fill.
std::vector<peer_passage> sends_of(const layout& of, int rank, std::int64_t depth, const passages_of& into) {
  std::vector<peer_passage> result;
  for (const int target : blocks_near_own(of, rank, depth))
    for (const passage& each : into(target))
      for (const int receiver : of.ranks_of(target))
        if (sender_for(receiver, of.ranks_of(each.source)) == rank) result.push_back({receiver, each});
  return result;
}

std::vector<peer_passage> receives_of(const layout& of, int rank, const passages_of& into) {
  std::vector<peer_passage> result;
  for (const int block : of.blocks_of(rank))
    if (!is_empty(of, block))
      for (const passage& each : into(block)) result.push_back({sender_for(rank, of.ranks_of(each.source)), each});
  return result;
}

}  // namespace

void require_neighbours(const layout& of) {
  for (int axis = 0; axis < of.ndim(); ++axis) {
    const std::int64_t width = std::max(of.ghosts().low[number(axis)], of.ghosts().high[number(axis)]);
    base::expect(width == 0 || of.is_contiguous(number(axis)), SYNCYTE_ERR_ARGUMENT, {"ghosts", axis, of.ndim()}, width,
                 "0: the axis is dealt out in blocks, which have no neighbours");
  }
}

std::int64_t widest_ghosts(const layout& of) {
  return std::max(std::ranges::max(of.ghosts().low), std::ranges::max(of.ghosts().high));
}

route find_halo(const layout& of, int rank, std::int64_t depth) {
  const auto into = [&](int block) {
    return passages_into(of, block, ghosts_around(of, block, depth), holding::owned);
  };
  auto sends = sends_of(of, rank, depth, into);
  auto receives = receives_of(of, rank, into);
  std::ranges::sort(sends);
  std::ranges::sort(receives);
  return {as_sends(sends), as_receives(receives)};
}

route find_adjoint(const layout& of, int rank, std::int64_t depth) {
  const auto into = [&](int block) {
    return passages_into(of, block, ghosts_around(of, block, depth), holding::owned);
  };
  std::vector<peer_passage> sends, receives;
  for (const int block : of.blocks_of(rank)) {
    if (is_empty(of, block)) continue;
    for (const passage& each : into(block))
      for (const int receiver : of.ranks_of(each.source))
        if (sender_for(receiver, of.ranks_of(block)) == rank) sends.push_back({receiver, each});
  }
  for (const int block : blocks_near_own(of, rank, depth))
    for (const passage& each : into(block))
      if (std::ranges::binary_search(of.ranks_of(each.source), rank))
        receives.push_back({sender_for(rank, of.ranks_of(block)), each});
  std::ranges::sort(sends);
  std::ranges::sort(receives);
  return {as_receives(sends), as_sends(receives)};
}

route find_copies(const layout& of, int rank) {
  const auto into = [&](int block) { return passages_into(of, block, borders_around(of, block), holding::stored); };
  const auto by_copy = [&](const peer_passage& each) {
    return std::tuple(of.ranks_of(each.what.source).front(), each.what, each.peer);
  };
  auto sends = sends_of(of, rank, 0, into);
  auto receives = receives_of(of, rank, into);
  std::ranges::sort(sends, {}, by_copy);
  std::ranges::sort(receives, {}, by_copy);
  return {as_sends(sends), as_receives(receives)};
}

}  // namespace syncyte::distribution
