// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/dtype.hpp"

namespace syncyte::base {

template <class T>
inline constexpr bool is_complex_number = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;
template <class T>
inline constexpr bool is_bool = std::same_as<T, boolean>;

/// Whether an op is defined for elements of T, as syncyte_op_values documents.
template <class T, syncyte_op_t op>
consteval bool has_op() {
  if (op == SYNCYTE_OP_REPLACE || op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_PROD) return true;
  if (op == SYNCYTE_OP_MIN || op == SYNCYTE_OP_MAX) return !is_complex_number<T>;
  return std::integral<T> || is_bool<T>;
}

/// Ops on bool are logical.
template <syncyte_op_t op>
[[gnu::always_inline]] inline boolean combine_logic(bool a, bool b) {
  if constexpr (op == SYNCYTE_OP_REPLACE) return {b};
  if constexpr (op == SYNCYTE_OP_BXOR || op == SYNCYTE_OP_LXOR) return {a != b};
  if constexpr (op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_MAX || op == SYNCYTE_OP_LOR || op == SYNCYTE_OP_BOR)
    return {a || b};
  return {a && b};
}

template <class T, syncyte_op_t op>
[[gnu::always_inline]] inline T combine_integers(T a, T b) {
  // Unsigned and at least as wide as int: sums wrap, and products of 16-bit numbers do not overflow an int.
  using wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
  if constexpr (op == SYNCYTE_OP_SUM) return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
  if constexpr (op == SYNCYTE_OP_PROD) return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
  if constexpr (op == SYNCYTE_OP_LAND) return a != 0 && b != 0;
  if constexpr (op == SYNCYTE_OP_LOR) return a != 0 || b != 0;
  if constexpr (op == SYNCYTE_OP_LXOR) return (a != 0) != (b != 0);
  if constexpr (op == SYNCYTE_OP_BAND) return static_cast<T>(a & b);
  if constexpr (op == SYNCYTE_OP_BOR) return static_cast<T>(a | b);
  return static_cast<T>(a ^ b);
}

/// Whether an operand is NaN, so that the result is NaN.
template <class T>
bool is_nan(T value) {
  if constexpr (std::floating_point<T>) return std::isnan(value);
  return false;
}

/// Whether a is less than b, with -0 less than +0; false if one is NaN.
template <class T>
bool is_less(T a, T b) {
  if constexpr (std::floating_point<T>) return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return a < b;
}

/// Result of `op` on the element in memory and the operand. Half precision is computed in float and rounded once.
/// Inlined, so that it is compiled for the instruction set of the caller.
template <class T, syncyte_op_t op>
[[gnu::always_inline]] inline T combine(T a, T b) {
  static_assert(has_op<T, op>());
  if constexpr (is_bool<T>)
    return combine_logic<op>(a.value != 0, b.value != 0);
  else if constexpr (op == SYNCYTE_OP_REPLACE)
    return b;
  else if constexpr (is_half<T>)
    return T(combine<float, op>(static_cast<float>(a), static_cast<float>(b)));
  else if constexpr (op == SYNCYTE_OP_MIN)
    return is_less(b, a) || is_nan(b) ? b : a;
  else if constexpr (op == SYNCYTE_OP_MAX)
    return is_less(a, b) || is_nan(b) ? b : a;
  else if constexpr (std::integral<T>)
    return combine_integers<T, op>(a, b);
  else if constexpr (op == SYNCYTE_OP_SUM)
    return a + b;
  else
    return a * b;
}

/// target[i] += source[i]; neither side need be aligned, and they do not overlap. Inlined, so that it is compiled for
/// the instruction set of the caller.
template <class T>
[[gnu::always_inline]] inline void add_elements(std::byte* __restrict target, const std::byte* __restrict source,
                                                std::size_t elements) {
  // Compilers do not vectorise sums of std::complex.
  if constexpr (is_complex_number<T>) return add_elements<typename T::value_type>(target, source, 2 * elements);
  for (std::size_t i = 0; i < elements; ++i) {
    T left, right;
    std::memcpy(&left, target + i * sizeof(T), sizeof(T));
    std::memcpy(&right, source + i * sizeof(T), sizeof(T));
    left = combine<T, SYNCYTE_OP_SUM>(left, right);
    std::memcpy(target + i * sizeof(T), &left, sizeof(T));
  }
}

template <syncyte_op_t op>
using op_constant = std::integral_constant<syncyte_op_t, op>;

/// All ops, in the order of their numbers.
using any_op = std::variant<op_constant<SYNCYTE_OP_SUM>, op_constant<SYNCYTE_OP_PROD>, op_constant<SYNCYTE_OP_MIN>,
                            op_constant<SYNCYTE_OP_MAX>, op_constant<SYNCYTE_OP_LAND>, op_constant<SYNCYTE_OP_LOR>,
                            op_constant<SYNCYTE_OP_BAND>, op_constant<SYNCYTE_OP_BOR>, op_constant<SYNCYTE_OP_BXOR>,
                            op_constant<SYNCYTE_OP_REPLACE>, op_constant<SYNCYTE_OP_LXOR>>;
static_assert(std::variant_size_v<any_op> == known::op::last);

/// Calls visitor(op_constant<op>{}); throws SYNCYTE_ERR_ARGUMENT for an unknown op.
template <class Visitor>
decltype(auto) visit_op(syncyte_op_t op, Visitor&& visitor) {
  expect_known<known::op>(op, "op");
  return visit_alternative<any_op>(static_cast<std::size_t>(op - SYNCYTE_OP_SUM), std::forward<Visitor>(visitor));
}

/// Calls visitor.operator()<T, op>() for a dtype and op; throws SYNCYTE_ERR_TYPE, SYNCYTE_ERR_ARGUMENT, or
/// SYNCYTE_ERR_UNSUPPORTED if the op is not defined for the dtype.
template <class Visitor>
auto visit_dtype_and_op(syncyte_dtype_t dtype, syncyte_op_t op, Visitor&& visitor) {
  return visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return visit_op(op, [&](auto constant) {
      if constexpr (has_op<T, constant.value>()) {
        return visitor.template operator()<T, constant.value>();
      } else {
        refuse(SYNCYTE_ERR_UNSUPPORTED,
               {.argument = "op",
                .value = op_name(op),
                .expected = fmt::format("an operation that is defined for dtype {}", dtype_name(dtype))});
        return visitor
            .template operator()<T, SYNCYTE_OP_REPLACE>();  // unreachable; determines the lambda's return type
      }
    });
  });
}

}  // namespace syncyte::base
