// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file cache.hpp Memory that the processes of one user share on a machine, in C++; syncyte/cache.h explains it.

#include <array>
#include <cstddef>

#include "syncyte/base.hpp"
#include "syncyte/cache.h"
#include "syncyte/generated/methods.hpp"

namespace syncyte {

/// Sizes of a new cache's parts, rounded up to pages, and where it lies. 0: from the environment or by default.
struct cache_sizes {
  std::int64_t parameter_bytes = 0;
  std::int64_t computation_bytes = 0;
  memory_kind memory = memory_kind::host;
  std::int32_t device = -1;    ///< of memory_kind::cuda; -1: that of the thread's context
  std::string framework = "";  ///< for check_framework(), such as "torch 2.15.0"; empty: none, as in cache::sizes()
};

/// The Unix socket by which two processes pass a cache, and how long they wait.
struct cache_rendezvous {
  std::string name = "";                ///< the socket's file is NAME.syncyte; empty: from the environment, or "cache"
  std::string folder = "";              ///< of this user, with mode 0700; empty: from the environment, or by default
  std::array<std::int64_t, 2> nonce{};  ///< a secret that both processes know; zeros: none
  double timeout = -1;                  ///< seconds; negative: from the environment, or 10
};

namespace detail {
inline syncyte_cache_rendezvous_t raw(const cache_rendezvous& where) {
  return {sizeof(syncyte_cache_rendezvous_t),
          null_if_empty(where.name),
          null_if_empty(where.folder),
          {where.nonce[0], where.nonce[1]},
          where.timeout};
}
}  // namespace detail

/// A part for parameters, then a part for computation. Move-only. A thread inserts slices and allocates blocks from the
/// one that it inserted last. No function needs MPI, or an environment.
class cache : public detail::cache_methods {
 public:
  cache() = default;
  explicit cache(syncyte_cache_t raw) noexcept : detail::cache_methods(raw) {}

  /// Zeros. The system provides pages when they are first touched.
  explicit cache(const cache_sizes& sizes) {
    const syncyte_cache_sizes_t raw{sizeof(raw),
                                    sizes.parameter_bytes,
                                    sizes.computation_bytes,
                                    detail::raw(sizes.memory),
                                    sizes.device,
                                    detail::null_if_empty(sizes.framework)};
    *this = cache(detail::fetch<syncyte_cache_t>(syncyte_cache_create, &raw));
  }

  /// Receives the cache of another process of this user, which calls send() before or after. Waits for it.
  static cache receive(const cache_rendezvous& where = {}) {
    const syncyte_cache_rendezvous_t given = detail::raw(where);
    return cache(detail::fetch<syncyte_cache_t>(syncyte_cache_receive, &given));
  }

  /// Sends the cache to one process of this user, which calls receive() before or after. Waits for it.
  void send(const cache_rendezvous& where = {}) const {
    const syncyte_cache_rendezvous_t given = detail::raw(where);
    check(syncyte_cache_send(get(), &given));
  }

  /// Throws status::version if the cache was made for another framework, or another version of it: blocks may have
  /// other offsets.
  void check_framework(const std::string& framework) const {
    check(syncyte_cache_check_framework(get(), framework.c_str()));
  }

  /// Another reference to the same cache.
  cache retain() const { return cache(retained_handle()); }

  /// Sizes of the parts, and where they lie.
  cache_sizes sizes() const {
    cache_sizes found;
    syncyte_memory_t memory = SYNCYTE_MEMORY_HOST;
    check(syncyte_cache_sizes(get(), &found.parameter_bytes, &found.computation_bytes));
    check(syncyte_cache_device(get(), &memory, &found.device));
    found.memory = static_cast<memory_kind>(memory);
    return found;
  }

  /// All bytes, at an address of this process, or of its device; valid while this process has a reference or a slice of
  /// the cache.
  std::span<std::byte> data() const {
    const cache_sizes found = sizes();
    return {static_cast<std::byte*>(detail::fetch<void*>(syncyte_cache_data, get())),
            static_cast<std::size_t>(found.parameter_bytes + found.computation_bytes)};
  }

  /// Removes all slices that the calling thread has inserted, of all caches. Throws status::busy while blocks of them
  /// are in use.
  static void clear() { check(syncyte_cache_clear()); }

  /// Allocates a block from the slice that the calling thread has inserted last; null if it has inserted none.
  static void* allocate(std::int64_t size) { return detail::fetch<void*>(syncyte_cache_allocate, size); }

  /// Frees a block, from any thread.
  static void free(void* block) { check(syncyte_cache_free(block)); }

  /// Whether a pointer lies in a slice that this process has inserted, for a thread or a stream.
  static bool holds(const void* pointer) { return detail::fetch<std::int32_t>(syncyte_cache_holds, pointer) != 0; }

  /// Inserts a slice of a cache on a device: the stream allocates from these bytes. They may overlap slices of other
  /// streams if all of these may.
  void insert_on_stream(void* stream, std::int64_t offset, std::int64_t size, bool may_overlap = false) const {
    check(syncyte_cache_insert_on_stream(get(), stream, offset, size, may_overlap ? 1 : 0));
  }

  /// Waits for a stream of a device, and removes all its slices. Throws status::busy while blocks of them are in use.
  static void clear_stream(std::int32_t device, void* stream) { check(syncyte_cache_clear_stream(device, stream)); }

  /// The two, of the calling thread and of a stream, or none.
  static void clear_both(std::int32_t device, void* stream) { check(syncyte_cache_clear_both(device, stream)); }

  static bool stream_has_slice(std::int32_t device, void* stream) {
    return detail::fetch<std::int32_t>(syncyte_cache_stream_has_slice, device, stream) != 0;
  }

  /// Allocates a block from the last slice of a stream, for work that is queued on it; null if it has none.
  static void* allocate_on_stream(std::int32_t device, void* stream, std::int64_t size) {
    return detail::fetch<void*>(syncyte_cache_allocate_on_stream, device, stream, size);
  }

  /// Notes that work on another stream uses a block: it is allocated again only after what that stream has queued when
  /// the block is freed.
  static void record_stream(std::int32_t device, void* stream, const void* block, void* other) {
    check(syncyte_cache_record_stream(device, stream, block, other));
  }

  /// Frees a block of a stream, from any thread.
  static void free_on_stream(std::int32_t device, void* stream, void* block) {
    check(syncyte_cache_free_on_stream(device, stream, block));
  }
};

}  // namespace syncyte
