#pragma once

#include <cstddef>

#include "rows/row_map.hpp"
#include "syncyte/base.h"

/// SIMD versions of the row loops. x86/ has AVX2, chosen at run time; portable/ has none.
namespace syncyte::rows {

/// Adds the elements of `source` to those of `target`. Neither need be aligned.
using add_function = void (*)(std::byte* target, const std::byte* source, std::size_t elements);

/// Whether stream_rows_*() work on this processor for rows of this size, stored at this address.
bool can_stream(std::size_t row_bytes, const void* target);

/// Copies a block's rows to `output`, or from `source`, by non-temporal stores, which bypass the caches. For data that
/// does not fit the caches, this saves reading the lines that are overwritten.
void stream_rows_out(const row_block& block, std::byte* output);
void stream_rows_in(const row_block& block, const std::byte* source);

/// Makes streamed stores visible before any later store.
void finish_streaming();

/// The SIMD function that adds; nullptr if there is none for this processor.
add_function wide_add(syncyte_dtype_t dtype);

/// Writes a block's rows of `elements` elements each, converted to another type. Neither side need be aligned.
using convert_function = void (*)(const row_block& block, std::size_t elements, std::byte* output);

/// The SIMD function that converts between float16, bfloat16, float32 and float64; nullptr if there is none for this
/// processor. `streams`: by non-temporal stores, to outputs for which can_stream() is true.
convert_function wide_convert(syncyte_dtype_t from, syncyte_dtype_t to, bool streams);

/// The portable function that converts; nullptr for types that are not converted.
convert_function portable_convert(syncyte_dtype_t from, syncyte_dtype_t to);

}  // namespace syncyte::rows
