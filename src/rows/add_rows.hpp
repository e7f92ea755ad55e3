#pragma once

#include <cstddef>

#include "atomics/lock_table.hpp"
#include "rows/row_map.hpp"

namespace syncyte::rows {

/// Rows of fewer bytes are added element by element with the processor's atomics, longer ones under a lock.
inline constexpr std::size_t locked_row_bytes = 16;

/// Whether rows are added under locks: also where elements are not aligned to their size, as atomics need it.
bool needs_locks(const row_map& map, syncyte_dtype_t dtype);

/// row index[i] += source[i]; exact under contention by any process that shares rows and locks. Every index must have
/// been checked, and mapped. Throws SYNCYTE_ERR_PEER_DIED, naming the row; rows before it have been added.
void add_rows(const row_map& map, const row_index& index, const std::byte* source, syncyte_dtype_t dtype,
              atomics::lock_table& locks);

}  // namespace syncyte::rows
