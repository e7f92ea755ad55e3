// SPDX-License-Identifier: BSD-3-Clause
#include "rows/wide_rows.hpp"

#include <immintrin.h>

#include <bit>
#include <cstdint>

#include "base/ops.hpp"

#define SYNCYTE_AVX2 [[gnu::target("avx2")]]
#define SYNCYTE_AVX2_F16C [[gnu::target("avx2,f16c")]]

namespace syncyte::rows {
namespace {

constexpr std::size_t register_bytes = 32;

bool has_avx2() {
  static const bool result = __builtin_cpu_supports("avx2");
  return result;
}

bool has_f16c() {
  static const bool result = has_avx2() && __builtin_cpu_supports("f16c");
  return result;
}

/// Streams `bytes` to `target`; both are multiples of 32.
SYNCYTE_AVX2 inline void stream(std::byte* target, const std::byte* source, std::size_t bytes) {
#pragma GCC unroll 8
  for (std::size_t at = 0; at < bytes; at += register_bytes)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(target + at),
                        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(source + at)));
}

/// Inlined, so that a caller that passes a constant row_bytes gets a version without an inner loop.
template <bool IsScatter>
SYNCYTE_AVX2 [[gnu::always_inline]] inline void stream_block(const row_block& block, std::size_t row_bytes,
                                                             packed_byte<IsScatter>* packed) {
  for (std::size_t i = 0; i < block.count; ++i) {
    packed_byte<IsScatter>* const place = packed + i * row_bytes;
    if constexpr (!IsScatter) prefetch_row(block.rows[i + prefetch_distance], row_bytes);
    if constexpr (IsScatter)
      stream(block.rows[i], place, row_bytes);
    else
      stream(place, block.rows[i], row_bytes);
  }
}

template <bool IsScatter>
SYNCYTE_AVX2 void stream_rows(const row_block& block, packed_byte<IsScatter>* packed) {
  if (block.row_bytes == 256)
    stream_block<IsScatter>(block, 256, packed);
  else
    stream_block<IsScatter>(block, block.row_bytes, packed);
}
template <class T>
SYNCYTE_AVX2 void add_avx2(std::byte* target, const std::byte* source, std::size_t elements) {
  base::add_elements<T>(target, source, elements);
}

SYNCYTE_AVX2_F16C void add_float16(std::byte* target, const std::byte* source, std::size_t elements) {
  std::size_t i = 0;
  for (; i + 8 <= elements; i += 8) {
    auto* const place = reinterpret_cast<__m128i*>(target + 2 * i);
    const __m256 left = _mm256_cvtph_ps(_mm_loadu_si128(place));
    const __m256 right = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source + 2 * i)));
    _mm_storeu_si128(place, _mm256_cvtps_ph(_mm256_add_ps(left, right), _MM_FROUND_TO_NEAREST_INT));
  }
  base::add_elements<base::float16>(target + 2 * i, source + 2 * i, elements - i);
}

}  // namespace

bool can_stream(std::size_t row_bytes, const void* target) {
  return (row_bytes | std::bit_cast<std::uintptr_t>(target)) % register_bytes == 0 && has_avx2();
}

template <bool IsScatter>
copy_function<IsScatter> streaming_copy() {
  return stream_rows<IsScatter>;
}
template copy_function<false> streaming_copy<false>();
template copy_function<true> streaming_copy<true>();

add_function wide_add(syncyte_dtype_t dtype) {
  if (dtype == SYNCYTE_FLOAT16) return has_f16c() ? add_float16 : nullptr;
  if (!has_avx2()) return nullptr;
  return base::visit_dtype(dtype, []<class T>(base::type_tag<T>) -> add_function { return add_avx2<T>; });
}

}  // namespace syncyte::rows
