#pragma once

#include <cstdint>
#include <memory>

#include "cache/region.hpp"

namespace syncyte::cache {

/// Slices of regions from which threads take memory. Each function concerns the calling thread's slices, but for
/// release(). A forked child has none, and may give back the blocks that it inherits.

/// The calling thread takes memory from these bytes of the region from now on, until it inserts another slice or
/// clears. Throws SYNCYTE_ERR_ARGUMENT for an offset that is no multiple of heap::unit and for bytes outside of the
/// region, SYNCYTE_ERR_BUSY where they overlap a slice that a thread of this process has inserted, or one where blocks
/// of an ended thread or, in a forked child, of the parent process are.
void insert(std::shared_ptr<region> from, std::int64_t offset, std::int64_t bytes);

/// Forgets all slices of the calling thread. Throws SYNCYTE_ERR_BUSY, and changes nothing, while blocks of them are
/// used.
void clear();

/// A block of the slice that was inserted last, at a multiple of heap::unit; null where there is no slice. Throws
/// SYNCYTE_ERR_MEMORY where the slice has no room.
void* acquire(std::uint64_t bytes);

/// Whether the pointer lies in a slice of this process, of whatever thread.
bool holds(const void* data);

/// Gives a block back, from any thread. Throws SYNCYTE_ERR_ARGUMENT for a pointer that is no block. A slice whose
/// thread has ended without clear() goes with its last block.
void release(void* data);

}  // namespace syncyte::cache
