#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "base/half.hpp"

namespace syncyte::base {

/// Bytes of an element; throws SYNCYTE_ERR_TYPE for an unknown dtype. `argument` names it in the message.
std::size_t dtype_size(syncyte_dtype_t dtype, const char* argument = "dtype");

/// Name of a dtype, such as "float32"; "unknown" for any other number.
const char* dtype_name(syncyte_dtype_t dtype);

/// Name of an op, such as "SUM"; "unknown" for any other number.
const char* op_name(syncyte_op_t op);

bool is_complex(syncyte_dtype_t dtype);
bool is_integer(syncyte_dtype_t dtype);  // without bool

/// A tag that carries the C++ type of a dtype's elements.
template <class T>
struct type_tag {
  using type = T;
};

/// Storage of bool: one byte, 0 or 1. It is a separate type so that arithmetic on it can be overloaded as logic.
struct boolean {
  std::uint8_t value;
};

/// Calls visitor with the default value of the alternative of a variant that has this index.
template <class Variant, class Visitor>
decltype(auto) visit_alternative(std::size_t index, Visitor&& visitor) {
  static constexpr auto all = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array{Variant(std::in_place_index<i>)...};
  }(std::make_index_sequence<std::variant_size_v<Variant>>{});
  return std::visit(std::forward<Visitor>(visitor), all[index]);
}

/// The types that store elements, in the order of the dtypes.
using element_tag =
    std::variant<type_tag<float16>, type_tag<bfloat16>, type_tag<float>, type_tag<double>,
                 type_tag<std::complex<float>>, type_tag<std::complex<double>>, type_tag<std::int8_t>,
                 type_tag<std::int16_t>, type_tag<std::int32_t>, type_tag<std::int64_t>, type_tag<std::uint8_t>,
                 type_tag<boolean>, type_tag<std::uint16_t>, type_tag<std::uint32_t>, type_tag<std::uint64_t>>;
static_assert(std::variant_size_v<element_tag> == known::dtype::last);

/// Calls visitor(type_tag<T>{}) with the C++ type that stores dtype; throws SYNCYTE_ERR_TYPE for an unknown one.
template <class Visitor>
decltype(auto) visit_dtype(syncyte_dtype_t dtype, Visitor&& visitor) {
  dtype_size(dtype);
  return visit_alternative<element_tag>(static_cast<std::size_t>(dtype - SYNCYTE_FLOAT16),
                                        std::forward<Visitor>(visitor));
}

}  // namespace syncyte::base
