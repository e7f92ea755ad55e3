// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/shared_layout.hpp"
#include "tensor/owned_part.hpp"

namespace syncyte::tensor {

/// Places of a tensor's elements in its ranks' memory, if it is cut by a layout. Each point is stored once, by the
/// first rank that has the right copy: a rank's memory has an array for each of its blocks, one behind the other,
/// without ghosts and without shared points whose right copy another block has. With slots, the tensor and each of
/// these arrays have one dimension more, in front.
class block_memory {
 public:
  /// `slots`: 0 for none.
  block_memory(std::shared_ptr<collectives::shared_layout> by, std::size_t element_bytes, std::int64_t slots = 0);

  const std::shared_ptr<collectives::shared_layout>& layout() const { return layout_; }
  std::span<const std::int64_t> shape() const { return shape_; }

  /// Number of elements of each rank.
  std::vector<std::int64_t> counts() const { return counts_; }

  /// A rank's blocks that have memory there, and the extents of a block's array.
  std::vector<int> blocks_of(int rank) const;
  std::vector<std::int64_t> shape_of(int block) const;

  /// The points that a block of a rank owns, in a slot, as boxes whose `inset` is in the block's stored points. None if
  /// it has no memory there.
  std::vector<owned_part> parts_of_slot(int rank, int block, std::int64_t slot) const;

  void for_each_part(std::span<const std::int64_t> lower, std::span<const std::int64_t> extent,
                     const part_visitor& visit) const;

 private:
  const distribution::layout& cut() const { return layout_->cut(); }
  std::optional<owned_part> part_of_slot(int rank, int block, std::int64_t slot) const;
  int owner_of(int block) const { return cut().ranks_of(block).front(); }

  struct block_array {
    std::int64_t first = 0;            // element of the owner's memory
    distribution::per_axis shape{};    // extents
    distribution::per_axis skipped{};  // stored points of the block before the first one that it owns
  };

  std::shared_ptr<collectives::shared_layout> layout_;
  std::size_t element_bytes_;
  std::int64_t slots_;
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> counts_;
  std::vector<block_array> arrays_;
};

}  // namespace syncyte::tensor
