#pragma once

#include <cstddef>
#include <utility>

#include "memory/pool.hpp"

namespace syncyte::memory {

/// Recycled host memory for the duration of an operation. Allocate it before the agreement: it may fail on one rank
/// alone.
class scratch {
 public:
  scratch() = default;
  explicit scratch(std::size_t bytes) : data_(static_cast<std::byte*>(memory::host_pool().acquire(bytes))) {}
  scratch(scratch&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  scratch& operator=(scratch&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~scratch() { memory::host_pool().release(data_); }

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
};

}  // namespace syncyte::memory
