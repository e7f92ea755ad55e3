// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rows/row_index.hpp"

namespace syncyte::rows {

/// Consecutive rows at equal distances in memory of this process.
struct row_range {
  std::int64_t first;
  std::int64_t count;
  std::byte* base;
};

/// Number of rows that are prefetched ahead of copying.
inline constexpr std::size_t prefetch_distance = 32;

/// Addresses of a few rows, in the index's order. The prefetch_distance addresses after rows[count - 1] are valid too.
struct row_block {
  std::byte* const* rows;
  std::size_t count;
  std::size_t row_bytes;
};

/// Prefetches the first cache lines of a row; the processor's hardware prefetcher fetches the rest of a long row.
template <bool ForWriting = false>
[[gnu::always_inline]] inline void prefetch_row(const std::byte* row, std::size_t bytes) {
  constexpr std::size_t line_bytes = 64, most = 512;
  const std::size_t end = bytes < most ? bytes : most;
#pragma GCC unroll 4
  for (std::size_t at = 0; at < end; at += line_bytes) __builtin_prefetch(row + at, ForWriting);
}

/// Maps row numbers to addresses in memory that this process can load and store. It usually has one range.
class row_map {
 public:
  row_map() = default;
  /// Merges ranges that are also contiguous in memory; drops empty ones.
  row_map(std::span<const row_range> ranges, std::size_t row_bytes)
      : row_map(ranges, row_bytes, static_cast<std::int64_t>(row_bytes)) {}
  /// `stride`: bytes from one row to the next, of any sign.
  row_map(std::span<const row_range> ranges, std::size_t row_bytes, std::int64_t stride);

  /// Some bytes of each row, from `offset` on, as rows.
  row_map part(std::size_t offset, std::size_t bytes) const;

  std::size_t row_bytes() const { return row_bytes_; }
  std::int64_t stride() const { return stride_; }
  std::span<const row_range> ranges() const { return ranges_; }

  /// Whether all of `rows` rows are mapped.
  bool covers(std::int64_t rows) const { return covered_ == rows; }

  /// The range that holds a row; nullptr if it is not mapped.
  const row_range* find_range(std::int64_t row) const;

  /// Address of a row; nullptr if it is not mapped.
  std::byte* find(std::int64_t row) const;

  /// Addresses of rows; every one must be mapped.
  template <class Index>
  void translate(std::span<const Index> index, std::byte** addresses) const {
    if (ranges_.size() == 1) {
      std::byte* const base = ranges_[0].base;
      const std::int64_t first = ranges_[0].first;
      const std::int64_t stride = stride_;
      for (std::size_t i = 0; i < index.size(); ++i) addresses[i] = base + (index[i] - first) * stride;
    } else {
      for (std::size_t i = 0; i < index.size(); ++i) addresses[i] = find(index[i]);
    }
  }

 private:
  std::vector<row_range> ranges_;  // ascending
  std::size_t row_bytes_ = 0;
  std::int64_t stride_ = 0;
  std::int64_t covered_ = 0;
};

/// Calls visitor(block, position of its first row) for all rows of the index, some hundred per block. Every row must be
/// mapped.
template <class Index, class Visitor>
void for_each_block(const row_map& map, std::span<const Index> rows, Visitor&& visitor) {
  constexpr std::size_t block_rows = 512;
  std::array<std::byte*, block_rows + prefetch_distance> addresses;
  for (std::size_t begin = 0; begin < rows.size(); begin += block_rows) {
    const std::size_t known = std::min(addresses.size(), rows.size() - begin);
    const std::size_t count = std::min(block_rows, known);
    map.translate(rows.subspan(begin, known), addresses.data());
    std::fill(addresses.begin() + known, addresses.end(), addresses[known - 1]);
    visitor(row_block{addresses.data(), count, map.row_bytes()}, begin);
  }
}

template <class Visitor>
void for_each_block(const row_map& map, const row_index& index, Visitor&& visitor) {
  index.visit([&](auto rows) { for_each_block(map, rows, visitor); });
}

}  // namespace syncyte::rows
