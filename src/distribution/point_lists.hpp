// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <ranges>
#include <set>
#include <span>
#include <vector>

#include "distribution/axis.hpp"
#include "distribution/points.hpp"

namespace syncyte::distribution {

/// The points along an axis that a block's array holds, in the order of the array, as runs of consecutive ones. The
/// last `ghosts` of them are ghosts: copies of points of other blocks, for a halo.
struct point_list {
  std::vector<range> runs;
  std::int64_t ghosts = 0;

  /// The list of these points.
  static point_list of(std::span<const std::int64_t> points, std::int64_t ghosts);
  std::int64_t count() const;
};

/// Division of the points of an axis among blocks, each of which lists its own: an unstructured mesh. A point may be in
/// the lists of several blocks, or in one list several times; one of these copies is the right one. Every rank knows
/// all lists, as runs of points that the same blocks have.
class point_lists {
 public:
  /// Places of a block's array: those that are no ghosts; of these the right copies, the others, and those of points
  /// that have other copies.
  enum class kind { stored, owned, copy, shared, ghost };

  /// `rule`: which of the copies of a point is right: equal and lower mean the first block's, upper the last one's.
  /// Throws SYNCYTE_ERR_ARGUMENT for points outside 0 to extent - 1 and for points that no block stores.
  point_lists(std::int64_t extent, std::span<const point_list> of_blocks, shared_points rule);

  std::int64_t extent() const { return extent_; }
  shared_points rule() const { return rule_; }
  int blocks() const { return static_cast<int>(counts_.size()); }
  /// Number of places of a block's array without its ghosts, and of its ghosts.
  std::int64_t stored(int block) const { return counts_[static_cast<std::size_t>(block)].stored; }
  std::int64_t ghosts(int block) const { return counts_[static_cast<std::size_t>(block)].ghosts; }
  bool has_ghosts() const { return has_ghosts_; }
  /// The first point of a block's array; 0 if it is empty.
  std::int64_t first(int block) const;

  /// Points of a block, in the order of its array.
  std::vector<run> runs(int block, kind what) const;
  /// The points of a range that a block stores or owns, in their order along the axis.
  std::vector<run> runs_in(int block, range some, holding what) const;
  /// The points of a range that all blocks store or own, in their order along the axis.
  std::vector<piece> pieces(range some, holding what) const;
  /// The points of a range, each once, with their places among those that their block owns.
  std::vector<piece> owned_pieces(range some) const;
  /// The blocks that store points of a range or have ghosts there.
  std::set<int> blocks_at(range some) const;

  /// Numbers that are equal for equal lists only, and from which read() makes them again.
  std::vector<std::int64_t> facts() const;
  static point_lists read(std::span<const std::int64_t>& facts);
  /// A hash of the facts.
  std::int64_t hash() const { return hash_; }

 private:
  /// Consecutive points of a block's array that the same blocks have.
  struct segment {
    std::int64_t first, count;
    std::int64_t offset;
    int block;
    bool is_ghost, is_owned = false, is_shared = false;
    std::int64_t owned_before = 0;  // points of the block's array that it owns, before this one's

    bool is(kind what) const;
  };
  struct block_counts {
    std::int64_t stored = 0, ghosts = 0;
  };

  static kind kind_of(holding what);
  void add_segments(std::span<const point_list> of_blocks);
  void choose_owners();
  void count_owned();
  const segment& segment_at(std::int64_t number) const { return segments_[static_cast<std::size_t>(number)]; }
  auto all_segments() const { return std::views::iota(std::int64_t{0}, std::ssize(segments_)); }
  const std::vector<std::int64_t>& segments_of(int block) const { return of_blocks_[static_cast<std::size_t>(block)]; }
  template <class Numbers, class Visitor>
  void for_each_in(const Numbers& numbers, range some, Visitor&& visitor) const;

  std::int64_t extent_;
  shared_points rule_;
  bool has_ghosts_ = false;
  std::int64_t hash_ = 0;
  std::vector<block_counts> counts_;
  std::vector<segment> segments_;  // by first point; of these first those that are no ghosts, by block and offset
  std::vector<std::vector<std::int64_t>> of_blocks_;  // each block's segments, in the same order
};

}  // namespace syncyte::distribution
