#pragma once

#include <complex>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/dtype.hpp"

namespace syncyte::base {

/// Sum of two elements as scatter-add and the adjoint of a halo exchange define it: 16-bit floats are added in float
/// and rounded once, integers wrap, bool is a logical or.
template <class T>
[[gnu::always_inline]] inline T add_one(T left, T right) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return T(static_cast<float>(left) + static_cast<float>(right));
  } else if constexpr (std::is_same_v<T, boolean>) {
    return T{static_cast<std::uint8_t>((left.value | right.value) != 0)};
  } else if constexpr (std::is_integral_v<T>) {
    using bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<bits>(static_cast<bits>(left) + static_cast<bits>(right)));
  } else {
    return left + right;
  }
}

/// target[i] += source[i]; neither side need be aligned, and they do not overlap. Inlined, so that it is compiled for
/// the instruction set of the caller.
template <class T>
[[gnu::always_inline]] inline void add_elements(std::byte* __restrict target, const std::byte* __restrict source,
                                                std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    T left, right;
    std::memcpy(&left, target + i * sizeof(T), sizeof(T));
    std::memcpy(&right, source + i * sizeof(T), sizeof(T));
    left = add_one(left, right);
    std::memcpy(target + i * sizeof(T), &left, sizeof(T));
  }
}

}  // namespace syncyte::base
