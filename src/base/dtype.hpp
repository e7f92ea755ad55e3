// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "base/half.hpp"
#include "syncyte/element_types.h"

namespace syncyte::base {

/// Bytes of an element; throws SYNCYTE_ERR_TYPE for an unknown dtype. `argument` names it in the message.
std::size_t dtype_size(syncyte_dtype_t dtype, const char* argument = "dtype");

/// Name of a dtype, such as "float32"; "unknown" for any other number.
const char* dtype_name(syncyte_dtype_t dtype);

/// Name of an op, such as "SUM"; "unknown" for any other number.
const char* op_name(syncyte_op_t op);

bool is_complex(syncyte_dtype_t dtype);
bool is_integer(syncyte_dtype_t dtype);  // without bool
bool is_half_precision(syncyte_dtype_t dtype);

/// A tag that carries the C++ type of a dtype's elements.
template <class T>
struct type_tag {
  using type = T;
};

/// Storage of bool: one byte, 0 or 1. It is a separate type so that arithmetic on it can be overloaded as logic.
struct boolean {
  std::uint8_t value;
};

/// Calls visitor with a default value of a variant's alternative number `index`.
template <class Variant, class Visitor>
decltype(auto) visit_alternative(std::size_t index, Visitor&& visitor) {
  static constexpr auto all = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{Variant(std::in_place_index<i>)...};
  }(std::make_index_sequence<std::variant_size_v<Variant>>{});
  return std::visit(std::forward<Visitor>(visitor), all[index]);
}

/// Calls visitor(type_tag<T>{}) with the C++ type that stores dtype; throws SYNCYTE_ERR_TYPE for an unknown one.
template <class Visitor>
decltype(auto) visit_dtype(syncyte_dtype_t dtype, Visitor&& visitor) {
  dtype_size(dtype);
  switch (dtype) {
#define SYNCYTE_VISIT(constant, name, type, ...) \
  case SYNCYTE_##constant:                       \
    return visitor(type_tag<type>{});
    SYNCYTE_ELEMENT_TYPES(SYNCYTE_VISIT)
#undef SYNCYTE_VISIT
    default:
      __builtin_unreachable();
  }
}

}  // namespace syncyte::base
