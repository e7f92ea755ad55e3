#pragma once

#include <cstddef>

#include "syncyte/base.h"

namespace syncyte::memory {

/// A buffer of any kind of memory: host buffers come from the pool, device buffers from their backend. 0 bytes: null.
/// Throws SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED, SYNCYTE_ERR_ARGUMENT. Thread-safe.
void* acquire(std::size_t bytes, syncyte_memory_t memory, int device);

/// Gives it back, whatever its kind; null is fine. Throws SYNCYTE_ERR_ARGUMENT for a pointer that acquire() did not
/// give, or that was given back already.
void release(void* data);

}  // namespace syncyte::memory
