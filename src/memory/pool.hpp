// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "memory/mapping.hpp"

namespace syncyte::memory {

/// Statistics of a pool; sizes in bytes.
struct pool_statistics {
  std::size_t in_use;  ///< acquired and not released, rounded up to size classes
  std::size_t cached;  ///< kept for re-use
  std::size_t limit;   ///< most that is kept
  std::int64_t hits;   ///< requests served from the cache
  std::int64_t misses;
};

/// A pool of recycled host buffers: page faults of a fresh buffer cost several times as much as filling it. There are
/// four size classes for every power of two. At most `limit` bytes are kept; the least recently returned buffers are
/// freed first. Thread-safe.
class pool {
 public:
  explicit pool(std::size_t limit);
  ~pool();

  /// Returns a buffer of undefined contents, aligned to 64 bytes, or null for 0 bytes. Buffers of 2 MiB and more are
  /// not aligned to a page, and request huge pages. Throws SYNCYTE_ERR_MEMORY.
  void* acquire(std::size_t bytes);

  /// Takes a buffer back; null is ignored. Returns whether it is this pool's. Throws SYNCYTE_ERR_ARGUMENT if it was
  /// released before.
  bool release(void* data);

  /// Returns all cached buffers to the system.
  void trim();

  pool_statistics statistics() const;

  /// Size class of a request: the bytes that are allocated for it.
  static std::size_t class_bytes(std::size_t bytes);

 private:
  friend pool& host_pool();
  struct block {
    void* data;
    std::size_t bytes;
    std::uint64_t released_at;  // number of the release; 0 while in use
  };
  static constexpr std::size_t shelf_count = 4 * 64;
  using shelf = std::deque<block*>;

  static std::size_t shelf_of(std::size_t class_bytes);
  block* take_cached(std::size_t bytes);
  void* allocate(std::size_t bytes);
  void forget(block* freed);
  void make_room(std::size_t bytes);
  shelf* oldest();

  mutable std::mutex mutex_;
  std::array<shelf, shelf_count> shelves_;
  std::unordered_map<void*, block> blocks_;  // all buffers, in use or cached
  pool_statistics statistics_{};
  std::uint64_t releases_ = 0;
};

/// The pool of the process. Its limit is SYNCYTE_POOL_LIMIT or a 16th of the memory of the machine or control group. It
/// is never destroyed, because buffers may be released while the process ends. Throws SYNCYTE_ERR_ARGUMENT for a bad
/// variable.
pool& host_pool();

}  // namespace syncyte::memory
