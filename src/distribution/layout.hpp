// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "distribution/axis.hpp"
#include "distribution/box.hpp"
#include "distribution/cut.hpp"
#include "distribution/patches.hpp"
#include "distribution/point_lists.hpp"
#include "distribution/points.hpp"

namespace syncyte::distribution {

/// Points of one block, and the first one's place in the block's array, whose ghosts are not counted.
struct block_part {
  int block;
  box points;
  per_axis offset;
  bool operator==(const block_part&) const = default;
};

/// The boxes of a block that have one of these runs along each axis.
std::vector<block_part> boxes_of(int block, std::span<const std::vector<run>> runs);

/// Ghost points of an array at both ends of each axis.
struct ghost_widths {
  per_axis low{}, high{};
  bool operator==(const ghost_widths&) const = default;
};

/// Ranks on a grid: numbers in row-major order, -1 where there is none.
struct mesh {
  std::vector<int> extents;
  std::vector<int> ranks;
};

/// Points, ghosts and their sums fit 64 bits if an array has at most this number of cells.
inline constexpr std::int64_t most_cells = std::int64_t{1} << 62;

/// The cells of a block that a rank has chosen.
struct rank_box {
  int rank;
  box cells;
};

/// The points along the first axis that a block of a rank has.
struct rank_list {
  int rank;
  point_list points;
};

/// How an array is cut into the ranks' parts. The cells of a box are divided among blocks; a block is the array of one
/// rank, or of several ranks with equal copies; a rank has any number of blocks. Arrays hold the cells, or the points
/// on their borders, and ghosts around them. Pure arithmetic: a value, equal on all ranks.
///
/// Functions throw SYNCYTE_ERR_ARGUMENT.
class layout {
 public:
  /// Each axis is cut into as many parts as the mesh's dimensions `by[axis]` have together, the first of them
  /// outermost; without any it is whole and has one part. Ranks along the other dimensions of the mesh have copies.
  static layout on_mesh(std::span<const axis> cells, std::span<const std::vector<int>> by, const mesh& ranks, int size);

  /// `whole` are the cells of each axis. Equal boxes of several ranks are copies. Blocks may be empty.
  static layout of_blocks(std::span<const std::int64_t> whole, std::span<const rank_box> blocks, int size);

  /// Blocks with any points along the first axis, whole along the others. `rule`: see point_lists. Such a layout has no
  /// cells, and no other points or ghosts than those listed.
  static layout of_lists(std::span<const std::int64_t> whole, std::span<const rank_list> lists, shared_points rule,
                         int size);

  /// The same cells and blocks for arrays of other points; `cells` of each is ignored.
  layout with_points(std::span<const points> axes) const;
  layout with_ghosts(const ghost_widths& widths) const;
  /// The same blocks among `size` ranks: those of rank r belong to ranks[r].
  layout among(std::span<const int> ranks, int size) const;

  int ndim() const { return static_cast<int>(points_.size()); }
  /// Number of ranks; some may have no block.
  int size() const { return size_; }
  std::span<const points> axes() const { return points_; }
  /// Number of points of the whole array along each axis.
  per_axis extents() const;
  const ghost_widths& ghosts() const { return ghosts_; }
  /// The lists of points along the first axis; null for a layout of cells.
  const point_lists* lists() const;

  int blocks() const { return static_cast<int>(holders_.size()); }
  std::span<const int> ranks_of(int block) const { return holders_[static_cast<std::size_t>(block)]; }
  std::span<const int> blocks_of(int rank) const { return held_[static_cast<std::size_t>(rank)]; }

  /// Extents of a block's array without its ghosts; all 0 along an axis where the block has no cell.
  per_axis shape_of(int block) const;

  /// Extents of a block's array with its ghosts.
  per_axis allocated_of(int block) const;

  /// A block's first point.
  per_axis first_of(int block) const;

  /// Whether each block has consecutive cells along an axis.
  bool is_contiguous(std::size_t axis) const;

  /// The points that a block holds along an axis, in the order of its array.
  std::vector<run> runs_of(int block, std::size_t axis, holding what) const;

  /// The points that a block holds, each once for each place in its array.
  std::vector<block_part> parts_of(int block, holding what) const;
  /// Those of its points that lie in a box.
  std::vector<block_part> parts_of(int block, holding what, const box& within) const;
  /// The points of a box that all blocks hold: with holding::owned each point once.
  std::vector<block_part> parts_in(const box& some, holding what) const;
  /// The points of a box, each once. Of listed points the offset is the place among those that the block owns.
  std::vector<block_part> owned_parts_in(const box& some) const;
  /// The block with the right copy of a point of the array.
  int owner(const per_axis& point) const;

  /// Numbers that are equal for equal layouts only, and from which from_facts() makes the layout again.
  std::vector<std::int64_t> facts() const;
  static layout from_facts(std::span<const std::int64_t> facts);
  /// Fewer numbers that are equal for equal layouts, and hardly for others.
  std::vector<std::int64_t> fingerprint() const;
  bool operator==(const layout& other) const { return facts() == other.facts(); }

 private:
  layout() = default;
  void hold(std::vector<std::vector<int>> ranks_of_blocks);
  std::vector<std::int64_t> facts_but_lists() const;
  int part_of(int block, std::size_t axis) const;
  range cells_of(int block, std::size_t axis) const;
  std::vector<block_part> with_rows(const box& some, std::span<const piece> rows) const;
  std::vector<int> blocks_meeting(const box& some) const;

  int size_ = 0;
  std::vector<points> points_;
  ghost_widths ghosts_;
  // One cut for each axis, or blocks of any form, or lists along the first axis.
  std::variant<std::vector<cut>, patches, std::shared_ptr<const point_lists>> cells_;
  std::vector<std::vector<int>> holders_;  // the ranks of each block, ascending
  std::vector<std::vector<int>> held_;     // the blocks of each rank, ascending
};

}  // namespace syncyte::distribution
