// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The points at the places of a layout's arrays, ghosts included: slow and obvious.

#include <cstdint>
#include <optional>

#include "distribution/layout.hpp"
#include "layout_arrays.hpp"
#include "random_layout.hpp"

namespace syncyte::reference {

inline per_axis negative(per_axis of) {
  for (auto& each : of) each = -each;
  return of;
}

/// The point at a place, by counting along each axis; none beyond an edge.
inline std::optional<per_axis> point_at(const distribution::layout& of, int block, const per_axis& place) {
  per_axis result{};
  for (std::size_t axis = 0; axis < of.axes().size(); ++axis) {
    const std::int64_t extent = of.axes()[axis].extent(), index = of.first_of(block)[axis] + place[axis];
    if (!of.is_contiguous(axis)) {
      auto runs = of.runs_of(block, axis, distribution::holding::stored);
      if (of.lists() != nullptr)
        for (const auto& ghosts : of.lists()->runs(block, distribution::point_lists::kind::ghost))
          runs.push_back(ghosts);
      for (const auto& run : runs)
        if (place[axis] >= run.offset && place[axis] < run.offset + run.count)
          result[axis] = run.first + place[axis] - run.offset;
      continue;
    }
    if (!of.axes()[axis].periodic && (index < 0 || index >= extent)) return std::nullopt;
    result[axis] = (index % extent + extent) % extent;
  }
  return result;
}

/// Calls visitor(rank, block, place) for all places of all arrays, ghosts included.
template <class Visitor>
void for_each_place_of_all(const distribution::layout& of, Visitor&& visitor) {
  for (int rank = 0; rank < of.size(); ++rank)
    for (const int block : of.blocks_of(rank)) {
      if (of.lists() == nullptr && distribution::volume({{}, of.shape_of(block)}) == 0) continue;
      for_each_place(of.allocated_of(block),
                     [&](const per_axis& place) { visitor(rank, block, plus(place, negative(of.ghosts().low))); });
    }
}

inline bool is_within(const distribution::layout& of, int block, const per_axis& place, std::int64_t depth) {
  if (of.lists() != nullptr) return depth > 0 || place[0] < of.shape_of(block)[0];
  for (std::size_t axis = 0; axis < of.axes().size(); ++axis)
    if (place[axis] < -depth || place[axis] >= of.shape_of(block)[axis] + depth) return false;
  return true;
}

/// Whether a place lies in the block, and its copy is right.
inline bool is_right(const distribution::layout& of, int block, const per_axis& place) {
  if (!is_within(of, block, place, 0)) return false;
  for (std::size_t axis = 0; axis < of.axes().size(); ++axis) {
    const auto rule = of.lists() != nullptr && axis == 0 ? of.lists()->rule() : of.axes()[axis].shared;
    if (rule == distribution::shared_points::none || rule == distribution::shared_points::equal) continue;
    bool owned = false;
    for (const auto& run : of.runs_of(block, axis, distribution::holding::owned))
      owned = owned || (place[axis] >= run.offset && place[axis] < run.offset + run.count);
    if (!owned) return false;
  }
  return true;
}

/// A random layout of `size` ranks whose halos make sense: no ghosts along axes that are dealt out.
inline distribution::layout drawn(std::uint64_t seed, int size) {
  const auto cells = random_cells(seed);
  distribution::layout result = random_layout(cells, size, seed, random_points(cells.size(), seed));
  distribution::ghost_widths ghosts = result.ghosts();
  for (std::size_t axis = 0; axis < cells.size(); ++axis)
    if (!result.is_contiguous(axis)) ghosts.low[axis] = ghosts.high[axis] = 0;
  return result.with_ghosts(ghosts);
}

}  // namespace syncyte::reference
