// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "atomics/lock_table.hpp"
#include "rows/row_map.hpp"
#include "rows/wide_rows.hpp"

namespace syncyte::rows {

/// Rows of fewer bytes are added element by element with the processor's atomics, other rows under a lock.
inline constexpr std::size_t locked_row_bytes = 16;

/// Whether rows are added under locks: long rows, and rows whose elements are not aligned as atomics need it.
bool needs_locks(const row_map& map, syncyte_dtype_t dtype);

/// The function that adds elements of this type, by SIMD instructions where there are some.
add_function find_add(syncyte_dtype_t dtype);

/// row index[i] += source[i]. No addition is lost when several processes that share rows and locks add at once. Every
/// index must be in range and mapped. Throws SYNCYTE_ERR_PEER_DIED, naming the row; rows before it have been added.
void add_rows(const row_map& map, const row_index& index, const std::byte* source, syncyte_dtype_t dtype,
              atomics::lock_table& locks);

/// row index[i] += source[positions[i]], as add_rows(). `source` is packed rows.
void add_rows_at(const row_map& map, const row_index& index, std::span<const std::int64_t> positions,
                 const std::byte* source, syncyte_dtype_t dtype, atomics::lock_table& locks);

}  // namespace syncyte::rows
