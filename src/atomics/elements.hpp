// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "syncyte/base.h"

namespace syncyte::atomics {

/// Combines `count` elements from `source` with the elements at `target`, each atomically and in sequentially
/// consistent order. Stores the old elements to `previous` unless that is null. The target must be aligned to its
/// elements; source and previous need not be.
using atomic_combine = void (*)(std::byte* target, const std::byte* source, std::byte* previous, std::int64_t count);

/// The function for a dtype and op; throws SYNCYTE_ERR_TYPE, SYNCYTE_ERR_ARGUMENT (op), SYNCYTE_ERR_UNSUPPORTED. The
/// function for complex128 is not atomic, because not all processors have a 16-byte atomic instruction: hold a lock
/// (lock_table.hpp).
atomic_combine find_combine(syncyte_dtype_t dtype, syncyte_op_t op);

/// Whether the function that find_combine() returns is atomic.
inline bool has_atomics(syncyte_dtype_t dtype) { return dtype != SYNCYTE_COMPLEX128; }

/// Throws SYNCYTE_ERR_TYPE for an unknown dtype, SYNCYTE_ERR_UNSUPPORTED unless it is an integer type or bool.
void require_swappable(syncyte_dtype_t dtype);

/// Atomically writes `desired` if the element equals `expected`; stores the old element to `previous`.
void compare_swap_element(syncyte_dtype_t dtype, std::byte* target, const void* expected, const void* desired,
                          void* previous);

}  // namespace syncyte::atomics
