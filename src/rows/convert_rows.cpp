// SPDX-License-Identifier: BSD-3-Clause
#include "rows/convert_rows.hpp"

#include <cstring>
#include <type_traits>

#include "base/streaming_copy.hpp"
#include "rows/copy_rows.hpp"
#include "rows/wide_rows.hpp"

namespace syncyte::rows {
namespace {

template <class From, class To>
To converted(From value) {
  if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>)
    return static_cast<To>(value);
  else
    return static_cast<To>(static_cast<float>(value));
}

/// The compiler vectorises this loop, because the sides do not overlap.
template <class From, class To>
void convert_row(std::byte* __restrict target, const std::byte* __restrict source, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) {
    From value;
    std::memcpy(&value, source + i * sizeof value, sizeof value);
    const To result = converted<From, To>(value);
    std::memcpy(target + i * sizeof result, &result, sizeof result);
  }
}

template <class From, class To>
void convert(const row_block& block, std::size_t elements, std::byte* output) {
  for (std::size_t row = 0; row < block.count; ++row) {
    prefetch_row(block.rows[row + prefetch_distance], block.row_bytes);
    convert_row<From, To>(output + row * elements * sizeof(To), block.rows[row], elements);
  }
}

}  // namespace

convert_function portable_convert(syncyte_dtype_t from, syncyte_dtype_t to) {
  return visit_converted(from, to, []<class From, class To>() -> convert_function { return convert<From, To>; });
}

bool can_convert(syncyte_dtype_t from, syncyte_dtype_t to) {
  return from == to || portable_convert(from, to) != nullptr;
}

void gather_converted_rows(const row_map& map, const row_index& index, std::byte* output, syncyte_dtype_t from,
                           syncyte_dtype_t to) {
  if (from == to) return gather_rows(map, index, output);
  const std::size_t elements = map.row_bytes() / base::dtype_size(from);
  const std::size_t output_bytes = elements * base::dtype_size(to);
  const bool is_large = static_cast<std::size_t>(index.count()) * output_bytes >= base::streaming_threshold;
  const bool streams = is_large && can_stream(output_bytes, output);
  const convert_function wide = wide_convert(from, to, streams);
  const convert_function convert = wide != nullptr ? wide : portable_convert(from, to);
  for_each_block(map, index, [&](const row_block& block, std::size_t begin) {
    convert(block, elements, output + begin * output_bytes);
  });
  if (streams) base::finish_streaming();
}

}  // namespace syncyte::rows
