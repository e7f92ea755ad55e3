// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "rows/row_map.hpp"

namespace syncyte::rows {

/// Whether gather converts between the types: they are equal, or both are among float16, bfloat16, float32 and float64.
bool can_convert(syncyte_dtype_t from, syncyte_dtype_t to);

/// output[i] = row index[i], its elements converted as torch does: rounded to nearest even, and float64 to 16 bits by
/// way of float32. Every index must be in range and mapped, and can_convert() holds.
void gather_converted_rows(const row_map& map, const row_index& index, std::byte* output, syncyte_dtype_t from,
                           syncyte_dtype_t to);

}  // namespace syncyte::rows
