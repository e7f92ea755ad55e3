#include "rows/wide_rows.hpp"

namespace syncyte::rows {

bool can_stream(std::size_t, const void*) { return false; }
void stream_rows_out(const row_block&, std::byte*) {}
void stream_rows_in(const row_block&, const std::byte*) {}
void finish_streaming() {}
add_function wide_add(syncyte_dtype_t) { return nullptr; }
convert_function wide_convert(syncyte_dtype_t, syncyte_dtype_t, bool) { return nullptr; }

}  // namespace syncyte::rows
