// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "base/struct_size.hpp"
#include "syncyte/base.h"

namespace syncyte::capi {

/// The caller's arrays of a rank's blocks. Throws SYNCYTE_ERR_ARGUMENT for a negative count and a null pointer.
inline std::vector<syncyte_buffer_t> read_buffers(std::int64_t count, const syncyte_buffer_t* given, const char* name,
                                                  const char* count_name) {
  base::expect(count >= 0, SYNCYTE_ERR_ARGUMENT, count_name, count, "0 or more");
  base::expect(count == 0 || given != nullptr, SYNCYTE_ERR_ARGUMENT, name, "null", "{} arrays", count);
  const base::struct_array buffers(count, given, name);
  std::vector<syncyte_buffer_t> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(buffers[i]);
  return result;
}

}  // namespace syncyte::capi
