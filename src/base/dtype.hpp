#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/error.hpp"
#include "base/half.hpp"

namespace syncyte::base {

/// Bytes of an element; throws SYNCYTE_ERR_TYPE for an unknown dtype. `argument` names it in the message.
std::size_t dtype_size(syncyte_dtype_t dtype, const char* argument = "dtype");

/// Name of a dtype, such as "float32"; "unknown" for any other number.
const char* dtype_name(syncyte_dtype_t dtype);

/// Name of an op, such as "SUM"; "unknown" for any other number.
const char* op_name(syncyte_op_t op);

bool is_known(syncyte_dtype_t dtype);
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

/// Calls visitor(type_tag<T>{}) with the C++ type that stores dtype; throws SYNCYTE_ERR_TYPE for an unknown one.
template <class Visitor>
decltype(auto) visit_dtype(syncyte_dtype_t dtype, Visitor&& visitor) {
  switch (dtype) {
    case SYNCYTE_FLOAT16:
      return visitor(type_tag<float16>{});
    case SYNCYTE_BFLOAT16:
      return visitor(type_tag<bfloat16>{});
    case SYNCYTE_FLOAT32:
      return visitor(type_tag<float>{});
    case SYNCYTE_FLOAT64:
      return visitor(type_tag<double>{});
    case SYNCYTE_COMPLEX64:
      return visitor(type_tag<std::complex<float>>{});
    case SYNCYTE_COMPLEX128:
      return visitor(type_tag<std::complex<double>>{});
    case SYNCYTE_INT8:
      return visitor(type_tag<std::int8_t>{});
    case SYNCYTE_INT16:
      return visitor(type_tag<std::int16_t>{});
    case SYNCYTE_INT32:
      return visitor(type_tag<std::int32_t>{});
    case SYNCYTE_INT64:
      return visitor(type_tag<std::int64_t>{});
    case SYNCYTE_UINT8:
      return visitor(type_tag<std::uint8_t>{});
    case SYNCYTE_BOOL:
      return visitor(type_tag<boolean>{});
    case SYNCYTE_UINT16:
      return visitor(type_tag<std::uint16_t>{});
    case SYNCYTE_UINT32:
      return visitor(type_tag<std::uint32_t>{});
    case SYNCYTE_UINT64:
      return visitor(type_tag<std::uint64_t>{});
    default:
      fail(SYNCYTE_ERR_TYPE, "dtype {} is unknown; expected one of SYNCYTE_FLOAT16 (1) to SYNCYTE_UINT64 (15)", dtype);
  }
}

}  // namespace syncyte::base
