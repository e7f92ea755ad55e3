// SPDX-License-Identifier: BSD-3-Clause
#include "rows/distinct_rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "rows/add_rows.hpp"

namespace syncyte::rows {
namespace {

struct entry {
  std::int64_t row;
  std::int64_t position;
};

/// Sorts by row in passes of 11 bits, each of which keeps the order of equal rows. Ends after the highest row's bits.
void sort_by_row(std::vector<entry>& entries) {
  constexpr int bits = 11;
  constexpr std::uint64_t digits = std::uint64_t{1} << bits;
  std::int64_t highest = 0;
  for (const entry& one : entries) highest = std::max(highest, one.row);
  std::vector<entry> sorted(entries.size());
  for (int shift = 0; shift < 63 && (highest >> shift) != 0; shift += bits) {
    std::array<std::size_t, digits + 1> next{};
    const auto digit = [&](const entry& one) { return (static_cast<std::uint64_t>(one.row) >> shift) % digits; };
    for (const entry& one : entries) ++next[digit(one) + 1];
    for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
    for (const entry& one : entries) sorted[next[digit(one)]++] = one;
    entries.swap(sorted);
  }
}

std::vector<entry> sorted_entries(const row_index& index) {
  std::vector<entry> entries(static_cast<std::size_t>(index.count()));
  index.visit([&](auto rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) entries[i] = {rows[i], static_cast<std::int64_t>(i)};
  });
  const auto is_above = [](const entry& left, const entry& right) { return left.row > right.row; };
  if (std::adjacent_find(entries.begin(), entries.end(), is_above) != entries.end()) sort_by_row(entries);
  return entries;
}

/// Number of rows that repeat.
std::size_t count_repeated(std::span<const entry> entries) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const bool repeats = entries[i].row == entries[i - 1].row;
    count += repeats && (i == 1 || entries[i - 2].row != entries[i].row);
  }
  return count;
}

}  // namespace

distinct_rows::distinct_rows(const row_index& index, const std::byte* source, std::size_t row_bytes,
                             syncyte_dtype_t dtype) {
  const std::vector<entry> entries = sorted_entries(index);
  added_ = memory::scratch(count_repeated(entries) * row_bytes);
  const add_function add = find_add(dtype);
  const std::size_t elements = row_bytes / base::dtype_size(dtype);
  std::byte* sum = added_.data();  // of the next row that repeats
  rows_.reserve(entries.size());
  sums_.reserve(entries.size());
  for (std::size_t i = 0, end = 0; i < entries.size(); i = end) {
    const auto source_row = [&](std::size_t at) {
      return source + static_cast<std::size_t>(entries[at].position) * row_bytes;
    };
    end = i + 1;
    rows_.push_back(entries[i].row);
    sums_.push_back(source_row(i));
    if (end == entries.size() || entries[end].row != entries[i].row) continue;
    std::memcpy(sum, source_row(i), row_bytes);
    for (; end < entries.size() && entries[end].row == entries[i].row; ++end) add(sum, source_row(end), elements);
    sums_.back() = sum;
    sum += row_bytes;
  }
}

}  // namespace syncyte::rows
