#include "rows/wide_rows.hpp"

namespace syncyte::rows {

bool can_stream(std::size_t, const void*) { return false; }
copy_function streaming_copy(bool) { return nullptr; }
void finish_streaming() {}
add_function wide_add(syncyte_dtype_t) { return nullptr; }
convert_function wide_convert(syncyte_dtype_t, syncyte_dtype_t, bool) { return nullptr; }

}  // namespace syncyte::rows
