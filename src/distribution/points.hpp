// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace syncyte::distribution {

/// Consecutive cells or points.
struct range {
  std::int64_t first, count;
  std::int64_t end() const { return first + count; }
  bool operator==(const range&) const = default;
};

/// Points that lie together in an axis and in a block's array.
struct run {
  std::int64_t first, count;
  std::int64_t offset;  // of the first one in the array
  bool operator==(const run&) const = default;
};

/// Which of the copies of a point on the border of two blocks is right, if both store it.
enum class shared_points {
  none,   ///< points are cells: each lies in one block
  equal,  ///< all copies are equal
  lower,  ///< the copy of the block with the lower cells
  upper   ///< the copy of the block with the higher cells
};

/// Two questions about a block: all points that it stores, or only those whose right copy it has.
enum class holding { stored, owned };

/// One axis of an array: its cells, or the points on their borders. Cell i lies between points i and i + 1;
/// if the axis is periodic, the last point is point 0 again.
struct points {
  std::int64_t cells = 1;
  bool periodic = false;
  shared_points shared = shared_points::none;

  /// Number of different points; without cells there are none.
  std::int64_t extent() const { return cells + (is_shared() && !periodic && cells > 0); }
  bool is_shared() const { return shared != shared_points::none; }

  /// The points that a block of these cells stores, which may reach beyond the extent: see runs().
  range stored(range block) const;
  /// The points whose right copy is this block's: each point has one such block.
  range owned(range block) const;

  /// Parts of a range of points, which may begin below 0 and reach beyond the extent, in an array that begins with the
  /// range: points of a periodic axis come round again, others outside do not exist.
  std::vector<run> runs(range of) const;

  /// The points that a block of these cells holds; a run's offset is its place in the block's array.
  std::vector<run> runs_of(range block, holding what) const;

  /// Cells of the blocks that store some of these points: one range, or two at the ends of a periodic axis.
  std::vector<range> cells_that_store(range some) const;
};

/// The points of a run that lie in a range; a count of 0 if there are none.
run clip(const run& whole, range to);

}  // namespace syncyte::distribution
