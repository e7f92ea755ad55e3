// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "rows/row_map.hpp"

namespace syncyte::rows {

/// output[i] = row index[i]. Every index must be in range and mapped.
void gather_rows(const row_map& map, const row_index& index, std::byte* output);

/// row index[i] = source[i], in order of i: if a row repeats, its last source stays.
void scatter_rows(const row_map& map, const row_index& index, const std::byte* source);

}  // namespace syncyte::rows
