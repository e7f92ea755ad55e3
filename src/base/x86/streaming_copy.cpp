// SPDX-License-Identifier: BSD-3-Clause
#include "base/streaming_copy.hpp"

#include <emmintrin.h>

#include <cstdint>
#include <cstring>

namespace syncyte::base {

void copy_streaming(std::byte* target, const std::byte* source, std::size_t bytes) {
  constexpr std::size_t width = sizeof(__m128i), line = 64;
  if (bytes < shortest_streamed_run) {
    std::memcpy(target, source, bytes);
    return;
  }
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(target) % line;
  std::memcpy(target, source, head);
  target += head, source += head, bytes -= head;
  for (; bytes >= line; target += line, source += line, bytes -= line) {
    const auto* const from = reinterpret_cast<const __m128i*>(source);
    auto* const to = reinterpret_cast<__m128i*>(target);
    const __m128i parts[] = {_mm_loadu_si128(from), _mm_loadu_si128(from + 1), _mm_loadu_si128(from + 2),
                             _mm_loadu_si128(from + 3)};
    for (std::size_t i = 0; i < line / width; ++i) _mm_stream_si128(to + i, parts[i]);
  }
  std::memcpy(target, source, bytes);
}

void finish_streaming() { _mm_sfence(); }

}  // namespace syncyte::base
