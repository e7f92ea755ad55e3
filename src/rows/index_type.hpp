// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/buffer.hpp"
#include "base/error.hpp"

namespace syncyte::rows {

/// Whether a caller's list of row numbers is int64; otherwise it is int32. Throws SYNCYTE_ERR_TYPE for other types.
inline bool is_wide_index(const base::buffer& index) {
  const bool is_wide = index.dtype() == SYNCYTE_INT64;
  if (!is_wide && index.dtype() != SYNCYTE_INT32) [[unlikely]]
    base::refuse(SYNCYTE_ERR_TYPE, {.object = index.argument(),
                                    .argument = "dtype",
                                    .value = base::dtype_name(index.dtype()),
                                    .expected = "int32 or int64"});
  return is_wide;
}

}  // namespace syncyte::rows
