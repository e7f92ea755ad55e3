// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cache/heap.hpp"
#include "cache/region.hpp"

namespace syncyte::cache {

/// Most blocks that a message names.
inline constexpr std::size_t most_named = 5;

/// Part of a region with a heap of its bytes. Any thread acquires and releases blocks.
class slice {
 public:
  /// Throws SYNCYTE_ERR_ARGUMENT for an offset that is not a multiple of heap::unit and for bytes outside the region.
  slice(std::shared_ptr<region> from, std::int64_t offset, std::int64_t bytes);

  /// Throws SYNCYTE_ERR_MEMORY if there is no room.
  void* acquire(std::uint64_t bytes);
  /// The same, but null if there is no room.
  void* try_acquire(std::uint64_t bytes);
  /// Releases the block at `data`; returns the number of blocks left. Throws SYNCYTE_ERR_ARGUMENT if there is none.
  std::uint64_t release(const void* data);

  bool holds(const void* data) const { return data >= begin_ && data < begin_ + bytes_; }
  /// Throws SYNCYTE_ERR_ARGUMENT if no block in use begins at `data`.
  void require_block(const void* data);
  std::uint64_t used_blocks();
  /// The first `most` blocks in use, as "offset (bytes)", with offsets in the region.
  std::vector<std::string> describe_used(std::size_t most);

  const region& of() const { return *region_; }
  bool meets(const slice& other) const {
    return offset_ < other.offset_ + other.bytes_ && other.offset_ < offset_ + bytes_;
  }
  std::string describe() const;

  /// Locked while the process forks, so that the child's copy is consistent.
  std::mutex& mutex() { return mutex_; }

 private:
  [[noreturn]] void refuse_size(std::uint64_t bytes);
  std::uint64_t offset_of(const void* data) const;

  std::mutex mutex_;
  std::shared_ptr<region> region_;
  std::byte* begin_;
  std::uint64_t offset_;
  std::uint64_t bytes_;
  heap heap_;
};

/// Throws SYNCYTE_ERR_BUSY, naming the first of them, if blocks of the slices are in use. `whose`: "this thread's".
void require_unused(const std::vector<slice*>& slices, const char* whose);

}  // namespace syncyte::cache
