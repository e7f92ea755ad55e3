// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace syncyte::base {

/// IEEE 754 binary16, for storage only: arithmetic is done in float and rounded once, to nearest even.
struct float16 {
  std::uint16_t bits;
  float16() = default;
  explicit float16(float value);
  explicit operator float() const;
};

/// The upper half of a binary32, for storage only, like float16.
struct bfloat16 {
  std::uint16_t bits;
  bfloat16() = default;
  explicit bfloat16(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (word & 0x7fffffffu) > 0x7f800000u;
    // Adding 0x7fff plus the lowest kept bit rounds to nearest even; a NaN keeps its sign and stays quiet.
    bits = static_cast<std::uint16_t>(is_nan ? (word >> 16) | 0x40u : (word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

/// The types for storage only.
template <class T>
inline constexpr bool is_half = std::same_as<T, float16> || std::same_as<T, bfloat16>;

#ifdef __ARM_FP16_FORMAT_IEEE  // the processor converts

inline float16::operator float() const { return static_cast<float>(std::bit_cast<__fp16>(bits)); }
inline float16::float16(float value) : bits(std::bit_cast<std::uint16_t>(static_cast<__fp16>(value))) {}

#else

inline float16::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u)  // infinity and NaN
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u)  // normal: exponents differ by 127 - 15
    return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
}

inline float16::float16(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((word >> 16) & 0x8000u);
  const std::uint32_t magnitude = word & 0x7fffffffu;
  std::uint32_t result;
  if (magnitude > 0x7f800000u) {
    result = 0x7e00u;  // quiet NaN
  } else if (magnitude >= 0x477ff000u) {
    result = 0x7c00u;  // rounds beyond the largest finite number, 65504
  } else if (magnitude >= 0x38800000u) {
    result = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  } else {
    // Subnormal: adding 0.5 aligns units of 2^-24 with the lowest bit of the sum's mantissa, so the addition rounds.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    result = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
  }
  bits = static_cast<std::uint16_t>(sign | result);
}

#endif

}  // namespace syncyte::base
