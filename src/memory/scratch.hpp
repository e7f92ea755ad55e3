// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "memory/pool.hpp"

namespace syncyte::memory {

/// Recycled host memory for the duration of an operation. Allocate it before the agreement: it may fail on one rank
/// alone.
class scratch {
 public:
  scratch() = default;
  explicit scratch(std::size_t bytes) : data_(static_cast<std::byte*>(host_pool().acquire(bytes))) {}

  std::byte* data() const { return data_.get(); }

 private:
  struct returner {
    void operator()(std::byte* data) const { host_pool().release(data); }
  };
  std::unique_ptr<std::byte, returner> data_;
};

}  // namespace syncyte::memory
