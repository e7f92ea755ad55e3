// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/dtype.hpp"
#include "syncyte/element_types.h"

namespace syncyte::test {

#define SYNCYTE_TEST_DTYPE(constant, ...) SYNCYTE_##constant,
inline constexpr syncyte_dtype_t all_dtypes[] = {SYNCYTE_ELEMENT_TYPES(SYNCYTE_TEST_DTYPE)};
#undef SYNCYTE_TEST_DTYPE

/// A small whole number as an element.
template <class T>
T number(std::int64_t value) {
  if constexpr (std::is_same_v<T, base::boolean>)
    return T{static_cast<std::uint8_t>(value % 2)};
  else
    return static_cast<T>(static_cast<float>(value));
}

}  // namespace syncyte::test
