// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// The oracle of element-wise ops: one simple function on pairs of doubles, for small whole numbers only.

#include <algorithm>
#include <complex>
#include <cstring>

#include "base/dtype.hpp"

namespace syncyte::test {

/// Real and imaginary part; the imaginary part is 0 except for complex numbers.
using slow_element = std::complex<double>;

template <class T>
void slow_store_as(slow_element value, void* to) {
  T element{};
  if constexpr (std::is_same_v<T, base::boolean>)
    element.value = value.real() != 0;
  else if constexpr (requires { element.imag(); })
    element = T(static_cast<typename T::value_type>(value.real()), static_cast<typename T::value_type>(value.imag()));
  else
    element = static_cast<T>(static_cast<float>(value.real()));
  std::memcpy(to, &element, sizeof(T));
}

inline void slow_store(syncyte_dtype_t dtype, slow_element value, void* to) {
  base::visit_dtype(dtype, [&](auto tag) { slow_store_as<typename decltype(tag)::type>(value, to); });
}

inline slow_element slow_load(syncyte_dtype_t dtype, const void* from) {
  return base::visit_dtype(dtype, [&](auto tag) -> slow_element {
    typename decltype(tag)::type element;
    std::memcpy(&element, from, sizeof(element));
    if constexpr (std::is_same_v<decltype(element), base::boolean>)
      return element.value;
    else if constexpr (requires { element.imag(); })
      return {element.real(), element.imag()};
    else
      return static_cast<double>(static_cast<float>(element));
  });
}

/// The rule in the header: MIN and MAX are not defined for complex numbers, logical and bitwise ops only for integers
/// and bool.
inline bool slow_has(syncyte_dtype_t dtype, syncyte_op_t op) {
  const bool is_whole = dtype >= SYNCYTE_INT8;
  const bool is_complex = dtype == SYNCYTE_COMPLEX64 || dtype == SYNCYTE_COMPLEX128;
  if (op == SYNCYTE_OP_MIN || op == SYNCYTE_OP_MAX) return !is_complex;
  return is_whole || op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_PROD || op == SYNCYTE_OP_REPLACE;
}

inline slow_element slow_combine_numbers(syncyte_op_t op, slow_element a, slow_element b) {
  const long x = static_cast<long>(a.real()), y = static_cast<long>(b.real());
  switch (op) {
    case SYNCYTE_OP_SUM:
      return a + b;
    case SYNCYTE_OP_PROD:
      return a * b;
    case SYNCYTE_OP_MIN:
      return static_cast<double>(std::min(x, y));
    case SYNCYTE_OP_MAX:
      return static_cast<double>(std::max(x, y));
    case SYNCYTE_OP_LAND:
      return static_cast<double>(x != 0 && y != 0);
    case SYNCYTE_OP_LOR:
      return static_cast<double>(x != 0 || y != 0);
    case SYNCYTE_OP_LXOR:
      return static_cast<double>((x != 0) != (y != 0));
    case SYNCYTE_OP_BAND:
      return static_cast<double>(x & y);
    case SYNCYTE_OP_BOR:
      return static_cast<double>(x | y);
    case SYNCYTE_OP_BXOR:
      return static_cast<double>(x ^ y);
    default:
      return b;
  }
}

/// a op b. The imaginary part is used only for complex numbers, and a bool is 0 or 1.
inline slow_element slow_combine(syncyte_dtype_t dtype, syncyte_op_t op, slow_element a, slow_element b) {
  const bool is_complex = dtype == SYNCYTE_COMPLEX64 || dtype == SYNCYTE_COMPLEX128;
  if (!is_complex) b = b.real();
  if (dtype == SYNCYTE_BOOL) b = b.real() != 0;
  const slow_element result = slow_combine_numbers(op, a, b);
  return dtype == SYNCYTE_BOOL ? slow_element(result.real() != 0) : result;
}

}  // namespace syncyte::test
