// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "cache/region.hpp"

namespace syncyte::cache {

/// Slices of regions on the host, from which threads allocate. All functions but holds() and release() act on the
/// calling thread's slices. A forked child has no slices, and may release the blocks that it inherits.

/// Makes the calling thread allocate from these bytes of the region, until it inserts another slice or calls clear().
/// Throws SYNCYTE_ERR_ARGUMENT for an offset that is not a multiple of heap::unit and for bytes outside the region,
/// SYNCYTE_ERR_UNSUPPORTED for a region on a device (stream_slices.hpp).
/// Throws SYNCYTE_ERR_BUSY if they overlap a slice that a thread of this process has inserted, or a slice with blocks
/// of an ended thread or, in a forked child, of the parent process.
void insert(std::shared_ptr<region> from, std::int64_t offset, std::int64_t bytes);

/// Removes all slices of the calling thread. Throws SYNCYTE_ERR_BUSY, and changes nothing, if blocks of them are in
/// use.
void clear();

/// Throws what clear() would throw. Until the calling thread acquires a block, clear() will not.
void expect_clear();

/// Acquires a block of the slice that was inserted last, at a multiple of heap::unit; null if there is no slice. Throws
/// SYNCYTE_ERR_MEMORY if the slice has no room.
void* acquire(std::uint64_t bytes);

/// Whether the pointer lies in a slice of any thread of this process.
bool holds(const void* data);

/// Releases a block, from any thread. Throws SYNCYTE_ERR_ARGUMENT for a pointer that is not a block. If a thread has
/// ended without clear(), releasing a slice's last block removes the slice.
void release(void* data);

}  // namespace syncyte::cache
