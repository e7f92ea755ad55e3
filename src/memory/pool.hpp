#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "memory/mapping.hpp"

namespace syncyte::memory {

/// Figures of a pool, in bytes.
struct pool_statistics {
  std::size_t in_use;  ///< handed out, rounded up to size classes
  std::size_t cached;  ///< kept for re-use
  std::size_t limit;   ///< most that is kept
  std::int64_t hits;   ///< requests served from the cache
  std::int64_t misses;
};

/// Recycled host buffers: a fresh one costs page faults, several times what filling it costs. Four size classes for
/// every power of two; at most `limit` bytes are kept, the least recently returned go first. Thread-safe.
class pool {
 public:
  explicit pool(std::size_t limit);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Undefined contents, aligned to 64 bytes; from 2 MiB on not to a page, and with huge pages asked for. 0 bytes:
  /// null. Throws SYNCYTE_ERR_MEMORY.
  void* acquire(std::size_t bytes);

  /// Takes a buffer back; null is fine. Whether it was one of this pool's; throws SYNCYTE_ERR_ARGUMENT if it was given
  /// back before.
  bool release(void* data);

  /// Returns all that is cached to the system.
  void trim();

  pool_statistics statistics() const;

  /// Size class of a request: what is really allocated.
  static std::size_t class_bytes(std::size_t bytes);

 private:
  friend pool& host_pool();
  struct block {
    void* data;
    std::size_t bytes;
    std::uint64_t released_at;  // a count of releases; 0 while handed out
  };
  static constexpr std::size_t shelf_count = 4 * 64;
  using shelf = std::deque<block*>;

  static std::size_t shelf_of(std::size_t class_bytes);
  block* take_cached(std::size_t bytes);
  void* allocate(std::size_t bytes);
  void forget(block* gone);
  void make_room(std::size_t bytes);
  shelf* oldest();

  mutable std::mutex mutex_;
  std::array<shelf, shelf_count> shelves_;
  std::unordered_map<void*, block> blocks_;  // all, handed out or cached
  pool_statistics statistics_{};
  std::uint64_t releases_ = 0;
};

/// The pool of the process; its limit is SYNCYTE_POOL_LIMIT or a 16th of the machine's or control group's memory. It is
/// never destroyed, because buffers may come back while the process ends. Throws SYNCYTE_ERR_ARGUMENT for a bad
/// variable.
pool& host_pool();

}  // namespace syncyte::memory
