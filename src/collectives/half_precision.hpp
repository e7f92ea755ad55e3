// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/scratch.hpp"
#include "syncyte/base.h"

namespace syncyte::collectives {

/// Reductions send and reduce half precision (base::is_half_precision()) as float32; other collectives move it
/// unchanged.
void widen_half(const void* half, std::int64_t count, syncyte_dtype_t dtype, float* wide);
void round_half(const float* wide, std::int64_t count, syncyte_dtype_t dtype, void* half);

/// Recycled memory for float32 elements.
class wide_elements {
 public:
  explicit wide_elements(std::int64_t count) : memory_(static_cast<std::size_t>(count) * sizeof(float)) {}
  float* data() const { return reinterpret_cast<float*>(memory_.data()); }
  std::byte* bytes() const { return memory_.data(); }

 private:
  memory::scratch memory_;
};

}  // namespace syncyte::collectives
