#pragma once

#include <cstddef>

#include "rows/row_map.hpp"

namespace syncyte::rows {

/// Outputs (gather) and sources (scatter) of this many bytes or more go past the caches: where they no longer fit
/// there, streaming was 1.2 to 1.9 times as fast.
inline constexpr std::size_t streaming_threshold = std::size_t{8} << 20;

/// output[i] = row index[i]. Every index must have been checked, and mapped.
void gather_rows(const row_map& map, const row_index& index, std::byte* output);

/// row index[i] = source[i], in order of i: of rows that repeat the last one stays.
void scatter_rows(const row_map& map, const row_index& index, const std::byte* source);

}  // namespace syncyte::rows
