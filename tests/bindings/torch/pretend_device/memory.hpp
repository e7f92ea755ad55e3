// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Memory of the pretended device, and pinned memory for it. Both are host memory, filled with NaN when allocated.

#include <c10/core/Allocator.h>

#include <cstdint>

namespace pretend {

c10::Allocator& device_memory();
c10::Allocator& pinned_memory();
bool is_pinned(const void* data);

/// Number of blocks of both kinds that have not been freed.
std::int64_t allocated();

/// Makes the n-th allocation from now on fail; 0: none.
void fail_pinned(std::int64_t n);
void fail_device(std::int64_t n);

}  // namespace pretend
