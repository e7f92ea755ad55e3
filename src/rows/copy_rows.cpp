#include "rows/copy_rows.hpp"

#include <bit>
#include <cstring>

#include "rows/wide_rows.hpp"

namespace syncyte::rows {
namespace {

constexpr std::size_t line_bytes = 64;

using block_function = void (*)(const row_block& block, std::byte* packed);

/// Copies a block's rows to packed memory, or from it (IsScatter). RowBytes is 0 if the size is known only at run time.
template <std::size_t RowBytes, bool IsScatter>
void copy_block(const row_block& block, std::byte* packed) {
  const std::size_t bytes = RowBytes != 0 ? RowBytes : block.row_bytes;
  for (std::size_t i = 0; i < block.count; ++i) {
    prefetch_row<IsScatter>(block.rows[i + prefetch_distance], bytes);
    if constexpr (IsScatter)
      std::memcpy(block.rows[i], packed + i * bytes, bytes);
    else
      std::memcpy(packed + i * bytes, block.rows[i], bytes);
  }
}

template <bool IsScatter>
block_function choose_copy(std::size_t row_bytes) {
  switch (row_bytes) {
    case 1:
      return copy_block<1, IsScatter>;
    case 2:
      return copy_block<2, IsScatter>;
    case 4:
      return copy_block<4, IsScatter>;
    case 8:
      return copy_block<8, IsScatter>;
    case 16:
      return copy_block<16, IsScatter>;
    case 32:
      return copy_block<32, IsScatter>;
    case 64:
      return copy_block<64, IsScatter>;
    case 128:
      return copy_block<128, IsScatter>;
    case 256:
      return copy_block<256, IsScatter>;
    case 512:
      return copy_block<512, IsScatter>;
    default:
      return copy_block<0, IsScatter>;
  }
}

bool is_large(const row_map& map, const row_index& index) {
  return static_cast<std::size_t>(index.count()) * map.row_bytes() >= streaming_threshold;
}

/// Whether rows consist of whole cache lines: streaming parts of lines to random addresses is slow.
bool has_whole_lines(const row_map& map) {
  const auto begins_line = [&](const row_range& range) {
    return std::bit_cast<std::uintptr_t>(range.base) % line_bytes == 0 && can_stream(map.row_bytes(), range.base);
  };
  return map.row_bytes() % line_bytes == 0 && map.stride() % static_cast<std::int64_t>(line_bytes) == 0 &&
         std::all_of(map.ranges().begin(), map.ranges().end(), begins_line);
}

}  // namespace

void gather_rows(const row_map& map, const row_index& index, std::byte* output) {
  const std::size_t bytes = map.row_bytes();
  if (is_large(map, index) && can_stream(bytes, output)) {
    for_each_block(map, index,
                   [&](const row_block& block, std::size_t begin) { stream_rows_out(block, output + begin * bytes); });
    finish_streaming();
    return;
  }
  const block_function copy = choose_copy<false>(bytes);
  for_each_block(map, index, [&](const row_block& block, std::size_t begin) { copy(block, output + begin * bytes); });
}

void scatter_rows(const row_map& map, const row_index& index, const std::byte* source) {
  const std::size_t bytes = map.row_bytes();
  if (is_large(map, index) && has_whole_lines(map)) {
    for_each_block(map, index,
                   [&](const row_block& block, std::size_t begin) { stream_rows_in(block, source + begin * bytes); });
    finish_streaming();
    return;
  }
  const block_function copy = choose_copy<true>(bytes);
  auto* const packed = const_cast<std::byte*>(source);  // copy_block<., true> only reads it
  for_each_block(map, index, [&](const row_block& block, std::size_t begin) { copy(block, packed + begin * bytes); });
}

}  // namespace syncyte::rows
