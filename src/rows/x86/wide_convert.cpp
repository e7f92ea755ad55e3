// SPDX-License-Identifier: BSD-3-Clause
// Converts eight elements at a time by way of float32 in a register (AVX2 and F16C). Each type has two functions, to
// and from float32.

#include <immintrin.h>

#include <cstring>

#include "rows/wide_rows.hpp"

#define SYNCYTE_AVX2_F16C [[gnu::target("avx2,f16c"), gnu::always_inline]] inline

namespace syncyte::rows {
namespace {

constexpr std::size_t lanes = 8;

template <class T>
struct eight;  // a type without one is converted by portable_convert()

template <bool Streams>
SYNCYTE_AVX2_F16C void store_bits(std::byte* to, __m128i bits) {
  auto* const place = reinterpret_cast<__m128i*>(to);
  Streams ? _mm_stream_si128(place, bits) : _mm_storeu_si128(place, bits);
}

template <bool Streams>
SYNCYTE_AVX2_F16C void store_bits(std::byte* to, __m256i bits) {
  auto* const place = reinterpret_cast<__m256i*>(to);
  Streams ? _mm256_stream_si256(place, bits) : _mm256_storeu_si256(place, bits);
}

template <>
struct eight<float> {
  SYNCYTE_AVX2_F16C static __m256 load(const std::byte* from) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
  }
  template <bool Streams>
  SYNCYTE_AVX2_F16C static void store(std::byte* to, __m256 values) {
    store_bits<Streams>(to, _mm256_castps_si256(values));
  }
};

template <>
struct eight<base::float16> {
  SYNCYTE_AVX2_F16C static __m256 load(const std::byte* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  template <bool Streams>
  SYNCYTE_AVX2_F16C static void store(std::byte* to, __m256 values) {
    store_bits<Streams>(to, _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  }
};

template <>
struct eight<base::bfloat16> {
  SYNCYTE_AVX2_F16C static __m256 load(const std::byte* from) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
  }
  /// Rounds as bfloat16's constructor does.
  template <bool Streams>
  SYNCYTE_AVX2_F16C static void store(std::byte* to, __m256 values) {
    const __m256i words = _mm256_castps_si256(values);
    const __m256i lowest_kept = _mm256_and_si256(_mm256_srli_epi32(words, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(words, _mm256_add_epi32(lowest_kept, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(words, _mm256_set1_epi32(0x400000));
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
    const __m256i result = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, is_nan), 16);
    store_bits<Streams>(to, _mm_packus_epi32(_mm256_castsi256_si128(result), _mm256_extracti128_si256(result, 1)));
  }
};

template <>
struct eight<double> {
  SYNCYTE_AVX2_F16C static __m256 load(const std::byte* from) {
    const auto* const values = reinterpret_cast<const double*>(from);
    return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(values + 4)), _mm256_cvtpd_ps(_mm256_loadu_pd(values)));
  }
  template <bool Streams>
  SYNCYTE_AVX2_F16C static void store(std::byte* to, __m256 values) {
    store_bits<Streams>(to, _mm256_castpd_si256(_mm256_cvtps_pd(_mm256_castps256_ps128(values))));
    store_bits<Streams>(to + 32, _mm256_castpd_si256(_mm256_cvtps_pd(_mm256_extractf128_ps(values, 1))));
  }
};

/// Converts one row. Streams whole groups of eight elements, and stores the rest normally.
template <class From, class To, bool Streams>
SYNCYTE_AVX2_F16C void convert_row(std::byte* target, const std::byte* source, std::size_t elements) {
  std::size_t i = 0;
#pragma GCC unroll 4
  for (; i + lanes <= elements; i += lanes)
    eight<To>::template store<Streams>(target + i * sizeof(To), eight<From>::load(source + i * sizeof(From)));
  if (i == elements) return;
  // The rest is converted by the same instructions, so that it is rounded the same way.
  std::byte rest[lanes * sizeof(From)]{}, result[lanes * sizeof(To)];
  std::memcpy(rest, source + i * sizeof(From), (elements - i) * sizeof(From));
  eight<To>::template store<false>(result, eight<From>::load(rest));
  std::memcpy(target + i * sizeof(To), result, (elements - i) * sizeof(To));
}

template <class From, class To, bool Streams>
[[gnu::target("avx2,f16c")]] void convert(const row_block& block, std::size_t elements, std::byte* output) {
  for (std::size_t row = 0; row < block.count; ++row) {
    prefetch_row(block.rows[row + prefetch_distance], block.row_bytes);
    convert_row<From, To, Streams>(output + row * elements * sizeof(To), block.rows[row], elements);
  }
}

bool has_avx2_and_f16c() {
  static const bool result = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return result;
}

}  // namespace

convert_function wide_convert(syncyte_dtype_t from, syncyte_dtype_t to, bool streams) {
  if (!has_avx2_and_f16c()) return nullptr;
  return visit_converted(from, to, [&]<class From, class To>() -> convert_function {
    if constexpr (requires { sizeof(eight<From>) + sizeof(eight<To>); })
      return streams ? convert<From, To, true> : convert<From, To, false>;
    else
      return nullptr;
  });
}

}  // namespace syncyte::rows
