#pragma once
// Memory of the pretended device, and pinned memory for it: both are the host's, and full of NaN when they are new.

#include <c10/core/Allocator.h>

#include <cstdint>

namespace pretend {

c10::Allocator& device_memory();
c10::Allocator& pinned_memory();
bool is_pinned(const void* data);

/// Blocks of both that have not been freed.
std::int64_t allocated();

/// The n-th request from now on fails; 0: none does.
void fail_pinned(std::int64_t n);
void fail_device(std::int64_t n);

}  // namespace pretend
