// SPDX-License-Identifier: BSD-3-Clause
#include "rows/copy_rows.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "base/streaming_copy.hpp"
#include "rows/wide_rows.hpp"

namespace syncyte::rows {
namespace {

constexpr std::size_t line_bytes = 64;

/// Copies a block's rows to packed memory, or from it (IsScatter). RowBytes is 0 if the size is known only at run time.
template <std::size_t RowBytes, bool IsScatter>
void copy_block(const row_block& block, packed_byte<IsScatter>* packed) {
  const std::size_t bytes = RowBytes != 0 ? RowBytes : block.row_bytes;
  for (std::size_t i = 0; i < block.count; ++i) {
    prefetch_row<IsScatter>(block.rows[i + prefetch_distance], bytes);
    if constexpr (IsScatter)
      std::memcpy(block.rows[i], packed + i * bytes, bytes);
    else
      std::memcpy(packed + i * bytes, block.rows[i], bytes);
  }
}

/// The function for rows of this size: there is one for each of the sizes, and one for all others.
template <bool IsScatter, std::size_t... Sizes>
copy_function<IsScatter> choose_copy(std::size_t row_bytes, std::index_sequence<Sizes...>) {
  copy_function<IsScatter> chosen = copy_block<0, IsScatter>;
  ((row_bytes == Sizes ? void(chosen = copy_block<Sizes, IsScatter>) : void()), ...);
  return chosen;
}

/// Whether rows consist of whole cache lines: streaming parts of lines to random addresses is slow.
bool has_whole_lines(const row_map& map) {
  const auto begins_line = [&](const row_range& range) {
    return std::bit_cast<std::uintptr_t>(range.base) % line_bytes == 0 && can_stream(map.row_bytes(), range.base);
  };
  return map.row_bytes() % line_bytes == 0 && map.stride() % static_cast<std::int64_t>(line_bytes) == 0 &&
         std::all_of(map.ranges().begin(), map.ranges().end(), begins_line);
}

template <bool IsScatter>
void copy_rows(const row_map& map, const row_index& index, packed_byte<IsScatter>* packed) {
  constexpr std::index_sequence<1, 2, 4, 8, 16, 32, 64, 128, 256, 512> sizes;
  const std::size_t bytes = map.row_bytes();
  const bool is_large = static_cast<std::size_t>(index.count()) * bytes >= base::streaming_threshold;
  const bool streams = is_large && (IsScatter ? has_whole_lines(map) : can_stream(bytes, packed));
  const auto copy = streams ? streaming_copy<IsScatter>() : choose_copy<IsScatter>(bytes, sizes);
  for_each_block(map, index, [&](const row_block& block, std::size_t begin) { copy(block, packed + begin * bytes); });
  if (streams) base::finish_streaming();
}

}  // namespace

void gather_rows(const row_map& map, const row_index& index, std::byte* output) {
  copy_rows<false>(map, index, output);
}

void scatter_rows(const row_map& map, const row_index& index, const std::byte* source) {
  copy_rows<true>(map, index, source);
}

}  // namespace syncyte::rows
