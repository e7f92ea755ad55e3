// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace syncyte::base {

/// Targets of this many bytes or more are written past the caches: for those that do not fit them gathers and scatters
/// were 1.2 to 1.9 times as fast, relocations 1.2 times.
inline constexpr std::size_t streaming_threshold = std::size_t{8} << 20;

/// Runs that are shorter are copied faster by std::memcpy: lines that are written in part cost more than they save.
inline constexpr std::size_t shortest_streamed_run = 512;

/// Copies bytes, as std::memcpy does, but by non-temporal stores where the processor has them: these bypass its caches,
/// which then do not read the target's old contents.
void copy_streaming(std::byte* target, const std::byte* source, std::size_t bytes);

/// Makes this thread's non-temporal stores visible before any later store.
void finish_streaming();

}  // namespace syncyte::base
