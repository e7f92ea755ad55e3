#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace syncyte::cache {

/// Offsets of blocks in a range of bytes, which it never looks at. Best fit, the lowest offset among equals: the same
/// order of calls gives the same offsets in every process. Not thread-safe.
class heap {
 public:
  /// Multiple to which blocks are rounded up, as in PyTorch's allocator for CUDA, whose offsets PipeSwitch relies on.
  static constexpr std::uint64_t unit = 512;

  struct block {
    std::uint64_t offset;
    std::uint64_t bytes;  // a multiple of unit
  };

  /// `bytes` are a multiple of unit.
  explicit heap(std::uint64_t bytes);

  /// Offset of a new block; nothing where no hole has room for it. 0 bytes are a block too.
  std::optional<std::uint64_t> acquire(std::uint64_t bytes);

  /// Whether there was a block at this offset.
  bool release(std::uint64_t offset);

  /// The blocks that are used, by offset: at most so many.
  std::vector<block> used(std::size_t most) const;

  std::uint64_t used_blocks() const { return blocks_.size() - holes_.size(); }
  std::uint64_t free_bytes() const { return free_bytes_; }
  std::uint64_t largest_hole() const { return holes_.empty() ? 0 : holes_.rbegin()->first; }

 private:
  struct extent {
    std::uint64_t bytes;
    bool is_used;
  };
  using blocks = std::map<std::uint64_t, extent>;  // all of the range, by offset

  void erase_hole(blocks::const_iterator hole);

  blocks blocks_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> holes_;  // {bytes, offset}
  std::uint64_t free_bytes_;
};

}  // namespace syncyte::cache
