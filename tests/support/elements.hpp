#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.hpp"
#include "syncyte/base.h"

namespace syncyte::test {

inline constexpr syncyte_dtype_t all_dtypes[] = {
    SYNCYTE_FLOAT16,    SYNCYTE_BFLOAT16, SYNCYTE_FLOAT32, SYNCYTE_FLOAT64, SYNCYTE_COMPLEX64,
    SYNCYTE_COMPLEX128, SYNCYTE_INT8,     SYNCYTE_INT16,   SYNCYTE_INT32,   SYNCYTE_INT64,
    SYNCYTE_UINT8,      SYNCYTE_BOOL,     SYNCYTE_UINT16,  SYNCYTE_UINT32,  SYNCYTE_UINT64};

/// A small whole number as an element.
template <class T>
T number(std::int64_t value) {
  if constexpr (std::is_same_v<T, base::boolean>)
    return T{static_cast<std::uint8_t>(value % 2)};
  else
    return static_cast<T>(static_cast<float>(value));
}

}  // namespace syncyte::test
