// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

#include "base/dtype.hpp"
#include "rows/row_map.hpp"

/// SIMD versions of the row loops. x86/ has AVX2, chosen at run time; portable/ has none: there the compiler vectorises
/// the loops of add_rows.cpp and convert_rows.cpp for the processor that it compiles for.
namespace syncyte::rows {

/// Adds the elements of `source` to those of `target`. Neither need be aligned.
using add_function = void (*)(std::byte* target, const std::byte* source, std::size_t elements);

/// Packed memory: a scatter reads it.
template <bool IsScatter>
using packed_byte = std::conditional_t<IsScatter, const std::byte, std::byte>;

/// Copies a block's rows to packed memory, or from it (IsScatter).
template <bool IsScatter>
using copy_function = void (*)(const row_block& block, packed_byte<IsScatter>* packed);

/// Whether streaming_copy() works on this processor for rows of this size, stored at this address.
bool can_stream(std::size_t row_bytes, const void* target);

/// The function that copies by non-temporal stores (base/streaming_copy.hpp), from packed memory (a scatter) or to it.
/// This saves reading the lines that are overwritten, if the data does not fit the caches.
template <bool IsScatter>
copy_function<IsScatter> streaming_copy();

/// The SIMD function that adds; nullptr if there is none for this processor.
add_function wide_add(syncyte_dtype_t dtype);

/// Writes a block's rows of `elements` elements each, converted to another type. Neither side need be aligned.
using convert_function = void (*)(const row_block& block, std::size_t elements, std::byte* output);

template <class T>
inline constexpr bool is_converted = base::is_half<T> || std::is_floating_point_v<T>;

/// The SIMD function that converts between float16, bfloat16, float32 and float64; nullptr if there is none for this
/// processor. `streams`: by non-temporal stores, to outputs for which can_stream() is true.
convert_function wide_convert(syncyte_dtype_t from, syncyte_dtype_t to, bool streams);

/// Calls chosen.operator()<From, To>() for two types that are converted; returns nullptr for others.
template <class Chosen>
convert_function visit_converted(syncyte_dtype_t from, syncyte_dtype_t to, Chosen&& chosen) {
  return base::visit_dtype(from, [&]<class From>(base::type_tag<From>) -> convert_function {
    return base::visit_dtype(to, [&]<class To>(base::type_tag<To>) -> convert_function {
      if constexpr (is_converted<From> && is_converted<To>)
        return chosen.template operator()<From, To>();
      else
        return nullptr;
    });
  });
}

/// The portable function that converts; nullptr for types that are not converted.
convert_function portable_convert(syncyte_dtype_t from, syncyte_dtype_t to);

}  // namespace syncyte::rows
