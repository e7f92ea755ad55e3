// SPDX-License-Identifier: BSD-3-Clause
#include "rows/wide_rows.hpp"

namespace syncyte::rows {

bool can_stream(std::size_t, const void*) { return false; }
template <bool IsScatter>
copy_function<IsScatter> streaming_copy() {
  return nullptr;
}
template copy_function<false> streaming_copy<false>();
template copy_function<true> streaming_copy<true>();
add_function wide_add(syncyte_dtype_t) { return nullptr; }
convert_function wide_convert(syncyte_dtype_t, syncyte_dtype_t, bool) { return nullptr; }

}  // namespace syncyte::rows
