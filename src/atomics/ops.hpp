#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <type_traits>

#include "base/dtype.hpp"

namespace syncyte::atomics {

template <class T>
inline constexpr bool is_half = std::same_as<T, base::float16> || std::same_as<T, base::bfloat16>;
template <class T>
inline constexpr bool is_complex_number = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;
template <class T>
inline constexpr bool is_bool = std::same_as<T, base::boolean>;

/// Whether an op is defined for elements of T, as syncyte_op_values documents.
template <class T, syncyte_op_t op>
consteval bool has_op() {
  if (op == SYNCYTE_OP_REPLACE || op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_PROD) return true;
  if (op == SYNCYTE_OP_MIN || op == SYNCYTE_OP_MAX) return !is_complex_number<T>;
  return std::integral<T> || is_bool<T>;
}

/// Ops on bool are logical.
template <syncyte_op_t op>
base::boolean combine_logic(bool a, bool b) {
  if constexpr (op == SYNCYTE_OP_REPLACE) return {b};
  if constexpr (op == SYNCYTE_OP_BXOR || op == SYNCYTE_OP_LXOR) return {a != b};
  if constexpr (op == SYNCYTE_OP_SUM || op == SYNCYTE_OP_MAX || op == SYNCYTE_OP_LOR || op == SYNCYTE_OP_BOR)
    return {a || b};
  return {a && b};
}

template <class T, syncyte_op_t op>
T combine_integers(T a, T b) {
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
template <class T, syncyte_op_t op>
T combine(T a, T b) {
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

/// Calls visitor(std::integral_constant<syncyte_op_t, op>{}); throws SYNCYTE_ERR_ARGUMENT for an unknown op.
template <class Visitor>
decltype(auto) visit_op(syncyte_op_t op, Visitor&& visitor) {
  switch (op) {
    case SYNCYTE_OP_SUM:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_SUM>{});
    case SYNCYTE_OP_PROD:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_PROD>{});
    case SYNCYTE_OP_MIN:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_MIN>{});
    case SYNCYTE_OP_MAX:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_MAX>{});
    case SYNCYTE_OP_LAND:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_LAND>{});
    case SYNCYTE_OP_LOR:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_LOR>{});
    case SYNCYTE_OP_BAND:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_BAND>{});
    case SYNCYTE_OP_BOR:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_BOR>{});
    case SYNCYTE_OP_BXOR:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_BXOR>{});
    case SYNCYTE_OP_LXOR:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_LXOR>{});
    case SYNCYTE_OP_REPLACE:
      return visitor(std::integral_constant<syncyte_op_t, SYNCYTE_OP_REPLACE>{});
    default:
      base::refuse(
          SYNCYTE_ERR_ARGUMENT,
          {.argument = "op", .value = fmt::format("{}", op), .expected = "SYNCYTE_OP_SUM (1) to SYNCYTE_OP_LXOR (11)"});
  }
}

/// Calls visitor.operator()<T, op>() for a dtype and op; throws SYNCYTE_ERR_TYPE, SYNCYTE_ERR_ARGUMENT, or
/// SYNCYTE_ERR_UNSUPPORTED if the op is not defined for the dtype.
template <class Visitor>
auto visit_dtype_and_op(syncyte_dtype_t dtype, syncyte_op_t op, Visitor&& visitor) {
  return base::visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return visit_op(op, [&](auto constant) {
      if constexpr (has_op<T, constant.value>()) {
        return visitor.template operator()<T, constant.value>();
      } else {
        base::fail(SYNCYTE_ERR_UNSUPPORTED, "op {} is not defined for dtype {}", base::op_name(op),
                   base::dtype_name(dtype));
        return visitor
            .template operator()<T, SYNCYTE_OP_REPLACE>();  // unreachable; determines the lambda's return type
      }
    });
  });
}

}  // namespace syncyte::atomics
