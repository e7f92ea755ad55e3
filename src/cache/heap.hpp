// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace syncyte::cache {

/// Allocates blocks in a range of bytes by offset; it does not access the bytes. It takes the best fit, and the lowest
/// offset among equals: the same order of calls gives the same offsets in every process. Not thread-safe.
class heap {
 public:
  /// Blocks are rounded up to a multiple of this, as in PyTorch's allocator for CUDA: PipeSwitch relies on its offsets.
  static constexpr std::uint64_t unit = 512;

  struct block {
    std::uint64_t offset;
    std::uint64_t bytes;  // a multiple of unit
  };

  /// `bytes` must be a multiple of unit.
  explicit heap(std::uint64_t bytes);

  /// Offset of a new block; nothing if no hole is large enough. A block of 0 bytes has an offset too.
  std::optional<std::uint64_t> acquire(std::uint64_t bytes);

  /// Frees the block at this offset; returns whether there was one.
  bool release(std::uint64_t offset);

  /// Whether a block in use begins at this offset.
  bool is_used(std::uint64_t offset) const;

  /// The first `most` blocks in use, by offset.
  std::vector<block> used(std::size_t most) const;

  std::uint64_t used_blocks() const { return blocks_.size() - holes_.size(); }
  std::uint64_t free_bytes() const { return free_bytes_; }
  std::uint64_t largest_hole() const { return holes_.empty() ? 0 : holes_.rbegin()->first; }

 private:
  struct extent {
    std::uint64_t bytes;
    bool is_used;
  };
  using blocks = std::map<std::uint64_t, extent>;  // blocks and holes, by offset

  void erase_hole(blocks::const_iterator hole);

  blocks blocks_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> holes_;  // {bytes, offset}
  std::uint64_t free_bytes_;
};

}  // namespace syncyte::cache
