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

/// Memory of which a pool makes buffers, if it is not the host's. Thread-safe.
class pool_memory {
 public:
  virtual ~pool_memory() = default;
  /// Throws SYNCYTE_ERR_MEMORY.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* data) noexcept = 0;
  /// Waits until nothing that was enqueued uses buffers that have been released. False if that cannot be known.
  virtual bool finish() noexcept = 0;
};

/// A pool of recycled buffers: page faults of a fresh host buffer cost several times as much as filling it, and a
/// driver maps memory of a device for each buffer anew. There are four size classes for every power of two. At most
/// `limit` bytes are kept; the least recently returned buffers are freed first. Thread-safe.
class pool {
 public:
  /// A pool of host memory, or of another, which must outlive it.
  explicit pool(std::size_t limit, pool_memory* memory = nullptr);
  ~pool();

  /// Returns a buffer of undefined contents, aligned to 64 bytes, or null for 0 bytes. Buffers of 2 MiB and more of the
  /// host are not aligned to a page, and request huge pages. Throws SYNCYTE_ERR_MEMORY.
  void* acquire(std::size_t bytes);

  /// Takes a buffer back, and waits for what is enqueued on it; null is ignored. Returns whether it is this pool's.
  /// Throws SYNCYTE_ERR_ARGUMENT if it was released before.
  bool release(void* data);

  /// Frees all cached buffers, and returns their bytes.
  std::size_t trim();

  pool_statistics statistics() const;

  /// Size class of a request: the bytes that are allocated for it.
  static std::size_t class_bytes(std::size_t bytes);

 private:
  friend pool& process_pool(std::size_t limit, pool_memory* memory);
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
  void* allocate_fresh(std::size_t bytes);
  void forget(block* freed);
  void make_room(std::size_t bytes);
  shelf* oldest();

  pool_memory* memory_;  // null: the host's
  mutable std::mutex mutex_;
  std::array<shelf, shelf_count> shelves_;
  std::unordered_map<void*, block> blocks_;  // all buffers, in use or cached
  pool_statistics statistics_{};
  std::uint64_t releases_ = 0;
};

/// Makes a pool that is never destroyed, because buffers may be released while the process ends, and that a forked
/// child may use.
pool& process_pool(std::size_t limit, pool_memory* memory = nullptr);

/// Limit of a pool of the process: SYNCYTE_POOL_LIMIT or a 16th of all memory of its kind. Throws SYNCYTE_ERR_ARGUMENT
/// for a bad variable.
std::size_t pool_limit(std::size_t total_bytes);

/// The process's pool of host memory, which is that of the machine or control group. Throws as pool_limit().
pool& host_pool();

}  // namespace syncyte::memory
