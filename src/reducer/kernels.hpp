// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "syncyte/base.h"

namespace syncyte::reducer {

/// Whether sums of a dtype can be scaled: floating-point and complex ones.
bool is_scalable(syncyte_dtype_t dtype);

/// The dtype in which sums are held until they are complete: float32 for 16-bit floats, otherwise dtype itself.
syncyte_dtype_t sum_dtype(syncyte_dtype_t dtype);

/// Every target becomes scale times the sum of the sources, rounded once. Sources and targets may be the same memory.
/// Sources are added in their order.
void reduce_parts(std::span<const std::byte* const> sources, std::span<std::byte* const> targets, std::int64_t count,
                  syncyte_dtype_t dtype, double scale);

/// The sum of the sources, in sum_dtype().
void sum_parts(std::span<const std::byte* const> sources, std::byte* sum, std::int64_t count, syncyte_dtype_t dtype);

/// target = scale * sum, which is of sum_dtype().
void scale_sum(const std::byte* sum, std::byte* target, std::int64_t count, syncyte_dtype_t dtype, double scale);

}  // namespace syncyte::reducer
