// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "access/started.hpp"
#include "comm/collective_call.hpp"
#include "core_world.hpp"
#include "window/open_remote.hpp"
#include "window/operations.hpp"

namespace syncyte::test {

using window_pointer = std::shared_ptr<window::window>;

inline int rank() { return world().rank(); }
inline int ranks() { return world().size(); }

/// True if windows use MPI: atomics then take milliseconds, if there are more ranks than processors.
inline bool goes_through_mpi() { return world().node().count > 1; }

inline window_pointer make_window(std::size_t bytes, const char* name = "test") {
  comm::collective_call call(world(), "test_window_create", comm::collective_call::always_agrees);
  return window::window::create(call, bytes, name);
}

/// Memory of each rank's own, reached through window::remote on one node as well; freed where all ranks have dropped
/// it.
struct remote_memory {
  std::shared_ptr<window::remote> remote;
  std::unique_ptr<comm::deferred_reference> reference;

  explicit remote_memory(std::span<std::byte> mine, std::shared_ptr<void> owner = nullptr) {
    comm::collective_call call(world(), "test_remote", comm::collective_call::always_agrees);
    remote = window::open_remote(call, mine, std::move(owner), {});
    reference = std::make_unique<comm::deferred_reference>(shared_world(), remote);
  }

  /// All ranks see what all have written.
  void fence() const {
    remote->flush(-1);
    comm::collective_call(world(), "test_fence", comm::collective_call::always_agrees).agree();
    remote->synchronize_memory();
  }
};

/// Elements as the buffer of an access; the dtype may be unknown.
inline syncyte_buffer_t elements_at(const void* first, syncyte_dtype_t dtype, std::size_t count) {
  const auto extent = static_cast<std::int64_t>(count);
  const bool is_known = base::known::dtype::contains(dtype);
  syncyte_buffer_t result = base::make_buffer(const_cast<void*>(first), is_known ? dtype : SYNCYTE_UINT8, {&extent, 1});
  result.dtype = dtype;
  return result;
}
inline syncyte_buffer_t bytes_at(const void* first, std::size_t bytes) {
  return elements_at(first, SYNCYTE_UINT8, bytes);
}

inline void put_bytes(window::window& target, int to, std::size_t offset, const void* source, std::size_t bytes) {
  const syncyte_buffer_t given = bytes_at(source, bytes);
  access::run<window::put>(target, to, static_cast<std::int64_t>(offset), &given);
}

inline void get_bytes(window::window& source, int from, std::size_t offset, void* target, std::size_t bytes) {
  const syncyte_buffer_t given = bytes_at(target, bytes);
  access::run<window::get>(source, from, static_cast<std::int64_t>(offset), &given);
}

inline void accumulate(window::window& target, int to, std::size_t offset, syncyte_dtype_t dtype, const void* source,
                       std::size_t count, syncyte_op_t op) {
  const syncyte_buffer_t given = elements_at(source, dtype, count);
  access::run<window::accumulate>(target, to, static_cast<std::int64_t>(offset), &given, op);
}

template <class T>
void put(window::window& target, int to, std::size_t place, T value) {
  put_bytes(target, to, place * sizeof(T), &value, sizeof(T));
}

template <class T>
T get(window::window& source, int from, std::size_t place) {
  T value;
  get_bytes(source, from, place * sizeof(T), &value, sizeof(T));
  return value;
}

}  // namespace syncyte::test
