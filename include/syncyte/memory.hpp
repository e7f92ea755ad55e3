// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file memory.hpp
/// Recycled buffers and copies between kinds of memory in C++. All functions are local, thread-safe, and callable
/// before syncyte is started.

#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "syncyte/base.hpp"
#include "syncyte/memory.h"

namespace syncyte {

/// Statistics of the pools of recycled buffers, of host memory and of all devices; sizes in bytes.
using memory_statistics = ::syncyte_memory_stats_t;

/// Returns statistics of the pools.
inline memory_statistics pool_statistics() { return detail::fetch<memory_statistics>(syncyte_memory_stats); }

/// Memory of a device that an object of this process has.
struct device_use {
  std::string device;  ///< UUID
  std::string holder;  ///< the object, for people
  std::int64_t bytes = 0;
};

/// Whole tensors and shared caches of this process that have memory of devices: of a tensor, this rank's pages.
inline std::vector<device_use> device_uses() {
  std::vector<device_use> found;
  for (;;) {
    syncyte_device_use_t each{};
    each.struct_size = sizeof each;
    const syncyte_status_t code = syncyte_memory_describe(std::ssize(found), &each);
    if (code == SYNCYTE_ERR_INDEX) return found;
    check(code);
    found.push_back({each.device, each.holder, each.bytes});
  }
}

/// Returns all cached buffers to the system and to the devices.
inline void trim_pool() { check(syncyte_memory_trim()); }

/// Number of devices: 1 for host memory; for CUDA 0 without a driver, or in a build without CUDA.
inline std::int32_t device_count(memory_kind kind) {
  return detail::fetch<std::int32_t>(syncyte_memory_device_count, detail::raw(kind));
}

/// Copies between contiguous buffers of any memory kinds and equal numbers of bytes. Without a stream (a cudaStream_t)
/// it waits for completion.
inline void copy(const buffer& target, const const_buffer& source, void* stream = nullptr) {
  check(syncyte_memory_copy(target.get(), source.get(), stream));
}

/// Chooses the stream (a cudaStream_t) on which operations of this thread on tensors and tables in device memory are
/// queued. Null: they run on the default stream of the device and are complete on return.
inline void set_stream(void* stream, memory_kind kind = memory_kind::cuda) {
  check(syncyte_memory_set_stream(detail::raw(kind), stream));
}

/// Host memory from the pool; the destructor releases it. Its contents are undefined, its alignment is 64 bytes.
/// Move-only.
template <element T>
class pooled {
 public:
  pooled() = default;
  explicit pooled(std::size_t count) : count_(count) {
    if (count > std::numeric_limits<std::int64_t>::max() / sizeof(T)) {
      throw error(status::shape, "pooled: count is " + std::to_string(count) + ", more than memory can hold");
    }
    const auto bytes = static_cast<std::int64_t>(count * sizeof(T));
    data_.reset(static_cast<T*>(detail::fetch<void*>(syncyte_memory_allocate, bytes, SYNCYTE_MEMORY_HOST, 0)));
  }

  T* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return data_ != nullptr ? count_ : 0; }
  T* begin() const noexcept { return data(); }
  T* end() const noexcept { return data() + size(); }
  T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  struct releaser {
    void operator()(T* data) const noexcept { static_cast<void>(syncyte_memory_free(data)); }
  };
  std::unique_ptr<T[], releaser> data_;
  std::size_t count_ = 0;  // stays when the data is moved away
};

}  // namespace syncyte
