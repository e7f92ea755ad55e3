// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace syncyte::kv {

/// Copies `length` elements of float32 from or to a key's vector, by plain moves; neither side need be aligned. Another
/// process may write what is read: key_locks tells the reader afterwards, and orders the moves of both. C++ has no
/// moves of several words for this, and single atomic ones cost more than a cache miss for short vectors.
void copy_vector(std::byte* to, const std::byte* from, std::int64_t length);

}  // namespace syncyte::kv
