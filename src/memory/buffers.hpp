#pragma once

#include <cstddef>

#include "syncyte/base.h"

namespace syncyte::memory {

/// Acquires a buffer: host memory from the pool, device memory from its backend. Returns null for 0 bytes. Throws
/// SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED, SYNCYTE_ERR_ARGUMENT. Thread-safe.
void* acquire(std::size_t bytes, syncyte_memory_t memory, int device);

/// Releases a buffer of any kind of memory; null is ignored. Throws SYNCYTE_ERR_ARGUMENT for a pointer that acquire()
/// did not return, or that was released before.
void release(void* data);

}  // namespace syncyte::memory
