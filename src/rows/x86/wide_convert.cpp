// Eight elements at a time by way of float32 in a register (AVX2 and F16C). Two functions for each type, not one for
// each pair of types.

#include <immintrin.h>

#include <cstring>

#include "base/dtype.hpp"
#include "rows/wide_rows.hpp"

#define SYNCYTE_AVX2_F16C [[gnu::target("avx2,f16c"), gnu::always_inline]] inline

namespace syncyte::rows {
namespace {

constexpr std::size_t lanes = 8;

template <class T>
struct eight;

template <>
struct eight<float> {
  SYNCYTE_AVX2_F16C static __m256 load(const std::byte* from) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
  }
  SYNCYTE_AVX2_F16C static void store(std::byte* to, __m256 values) {
    _mm256_storeu_ps(reinterpret_cast<float*>(to), values);
  }
};

template <>
struct eight<base::float16> {
  SYNCYTE_AVX2_F16C static __m256 load(const std::byte* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  SYNCYTE_AVX2_F16C static void store(std::byte* to, __m256 values) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  }
};

template <>
struct eight<base::bfloat16> {
  SYNCYTE_AVX2_F16C static __m256 load(const std::byte* from) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
  }
  /// As bfloat16's constructor rounds.
  SYNCYTE_AVX2_F16C static void store(std::byte* to, __m256 values) {
    const __m256i words = _mm256_castps_si256(values);
    const __m256i lowest_kept = _mm256_and_si256(_mm256_srli_epi32(words, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(words, _mm256_add_epi32(lowest_kept, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(words, _mm256_set1_epi32(0x400000));
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
    const __m256i result = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, is_nan), 16);
    const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(result), _mm256_extracti128_si256(result, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), packed);
  }
};

template <>
struct eight<double> {
  SYNCYTE_AVX2_F16C static __m256 load(const std::byte* from) {
    const auto* const values = reinterpret_cast<const double*>(from);
    return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(values + 4)), _mm256_cvtpd_ps(_mm256_loadu_pd(values)));
  }
  SYNCYTE_AVX2_F16C static void store(std::byte* to, __m256 values) {
    auto* const places = reinterpret_cast<double*>(to);
    _mm256_storeu_pd(places, _mm256_cvtps_pd(_mm256_castps256_ps128(values)));
    _mm256_storeu_pd(places + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(values, 1)));
  }
};

template <class From, class To>
[[gnu::target("avx2,f16c")]] void convert(std::byte* target, const std::byte* source, std::size_t elements) {
  std::size_t i = 0;
  for (; i + lanes <= elements; i += lanes)
    eight<To>::store(target + i * sizeof(To), eight<From>::load(source + i * sizeof(From)));
  if (i == elements) return;
  // The rest goes the same way, so that it is rounded the same way.
  std::byte rest[lanes * sizeof(From)]{}, result[lanes * sizeof(To)];
  std::memcpy(rest, source + i * sizeof(From), (elements - i) * sizeof(From));
  eight<To>::store(result, eight<From>::load(rest));
  std::memcpy(target + i * sizeof(To), result, (elements - i) * sizeof(To));
}

bool has_avx2_and_f16c() {
  static const bool result = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return result;
}

template <class From>
convert_function convert_to(syncyte_dtype_t to) {
  switch (to) {
    case SYNCYTE_FLOAT16:
      return convert<From, base::float16>;
    case SYNCYTE_BFLOAT16:
      return convert<From, base::bfloat16>;
    case SYNCYTE_FLOAT32:
      return convert<From, float>;
    case SYNCYTE_FLOAT64:
      return convert<From, double>;
    default:
      return nullptr;
  }
}

}  // namespace

convert_function wide_convert(syncyte_dtype_t from, syncyte_dtype_t to) {
  if (!has_avx2_and_f16c()) return nullptr;
  switch (from) {
    case SYNCYTE_FLOAT16:
      return convert_to<base::float16>(to);
    case SYNCYTE_BFLOAT16:
      return convert_to<base::bfloat16>(to);
    case SYNCYTE_FLOAT32:
      return convert_to<float>(to);
    case SYNCYTE_FLOAT64:
      return convert_to<double>(to);
    default:
      return nullptr;
  }
}

}  // namespace syncyte::rows
