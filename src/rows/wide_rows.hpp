#pragma once

#include <cstddef>

#include "rows/row_map.hpp"
#include "syncyte/base.h"

/// What a processor's wide registers do better than portable code: x86/ has AVX2, chosen at run time; portable/ has
/// nothing of it.
namespace syncyte::rows {

/// Adds elements to elements. Neither side need be aligned.
using add_function = void (*)(std::byte* target, const std::byte* source, std::size_t elements);

/// Whether stream_rows_*() work on this processor for rows of this size, stored from this address on.
bool can_stream(std::size_t row_bytes, const void* target);

/// Copies a block's rows to `output`, or from `source`, by stores that go past the caches: for outputs that would not
/// fit there, where they save reading the lines that are overwritten.
void stream_rows_out(const row_block& block, std::byte* output);
void stream_rows_in(const row_block& block, const std::byte* source);

/// Makes streamed stores visible before any later store.
void finish_streaming();

/// The processor's own way to add; nullptr if there is none.
add_function wide_add(syncyte_dtype_t dtype);

/// Writes a block's rows, each of so many elements, as elements of another type. Neither side need be aligned.
using convert_function = void (*)(const row_block& block, std::size_t elements, std::byte* output);

/// The processor's own way between float16, bfloat16, float32 and float64; nullptr if there is none. `streams`: past
/// the caches, to outputs for which can_stream() says so.
convert_function wide_convert(syncyte_dtype_t from, syncyte_dtype_t to, bool streams);

/// The way of processors that have none of their own; nullptr for types that are not converted.
convert_function portable_convert(syncyte_dtype_t from, syncyte_dtype_t to);

}  // namespace syncyte::rows
