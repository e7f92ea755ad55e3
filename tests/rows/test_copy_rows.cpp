// SPDX-License-Identifier: BSD-3-Clause
// Gather and scatter of rows, against a simple loop.

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/streaming_copy.hpp"
#include "reference.hpp"
#include "rows/copy_rows.hpp"

namespace {

using namespace syncyte;
using bytes = std::vector<std::byte>;

bytes random_bytes(std::uint64_t seed, std::size_t count) {
  bytes result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = static_cast<std::byte>(reference::random_bits(seed, 0, static_cast<std::int64_t>(i)));
  return result;
}

/// 64-byte aligned, as the rows of a tensor are.
struct aligned_bytes {
  explicit aligned_bytes(std::size_t count) : storage(count + 64) {
    void* place = storage.data();
    std::size_t space = storage.size();
    data = static_cast<std::byte*>(std::align(64, count, place, space));
  }
  bytes storage;
  std::byte* data;
};

template <class Index>
bytes gathered(const std::byte* table, std::size_t row_bytes, const std::vector<Index>& index) {
  bytes result(index.size() * row_bytes);
  for (std::size_t i = 0; i < index.size(); ++i)
    std::memcpy(result.data() + i * row_bytes, table + static_cast<std::size_t>(index[i]) * row_bytes, row_bytes);
  return result;
}

class row_sizes : public testing::TestWithParam<std::size_t> {};

TEST_P(row_sizes, gather_equals_the_loop) {
  const std::size_t row_bytes = GetParam();
  constexpr std::int64_t rows = 301;
  const bytes table = random_bytes(1, rows * row_bytes);
  const rows::row_range all{0, rows, const_cast<std::byte*>(table.data())};
  const rows::row_map map({&all, 1}, row_bytes);
  for (const std::int64_t count : {0, 1, 15, 16, 17, 511, 512, 513, 1500}) {
    const auto wide = reference::random_rows<std::int64_t>(2, 0, count, rows);
    const auto narrow = reference::random_rows<std::int32_t>(3, 0, count, rows);
    bytes output(static_cast<std::size_t>(count) * row_bytes);
    rows::gather_rows(map, rows::row_index(std::span(wide)), output.data());
    EXPECT_EQ(output, gathered(table.data(), row_bytes, wide)) << count << " int64 rows";
    rows::gather_rows(map, rows::row_index(std::span(narrow)), output.data());
    EXPECT_EQ(output, gathered(table.data(), row_bytes, narrow)) << count << " int32 rows";
  }
}

TEST_P(row_sizes, the_last_scattered_row_stays) {
  const std::size_t row_bytes = GetParam();
  constexpr std::int64_t rows = 97;
  const auto index = reference::random_rows<std::int32_t>(4, 0, 1200, rows);
  const bytes source = random_bytes(5, index.size() * row_bytes);
  bytes table = random_bytes(6, rows * row_bytes);
  bytes expected = table;
  for (std::size_t i = 0; i < index.size(); ++i)
    std::memcpy(expected.data() + static_cast<std::size_t>(index[i]) * row_bytes, source.data() + i * row_bytes,
                row_bytes);
  const rows::row_range all{0, rows, table.data()};
  rows::scatter_rows(rows::row_map({&all, 1}, row_bytes), rows::row_index(std::span(index)), source.data());
  EXPECT_EQ(table, expected);
}

INSTANTIATE_TEST_SUITE_P(bytes, row_sizes,
                         testing::Values(1, 2, 3, 4, 8, 12, 16, 20, 32, 64, 100, 128, 256, 512, 520, 4000));

/// Copies of a size from which stores bypass the caches, if size and alignment of the rows allow it.
TEST(large_copies, streamed_rows_equal_the_loop) {
  for (const std::size_t row_bytes : {32, 64, 96, 256, 320, 1024}) {
    for (const std::size_t shift : {0, 8, 32}) {
      constexpr std::int64_t rows = 1000;
      aligned_bytes table(rows * row_bytes + shift);
      std::memcpy(table.data + shift, random_bytes(7, rows * row_bytes).data(), rows * row_bytes);
      const rows::row_range all{0, rows, table.data + shift};
      const rows::row_map map({&all, 1}, row_bytes);
      const auto count = static_cast<std::int64_t>(base::streaming_threshold / row_bytes) + 3;
      const auto index = reference::random_rows<std::int64_t>(8, 0, count, rows);
      aligned_bytes output(index.size() * row_bytes + shift);
      rows::gather_rows(map, rows::row_index(std::span(index)), output.data + shift);
      const bytes expected = gathered(table.data + shift, row_bytes, index);
      ASSERT_EQ(std::memcmp(output.data + shift, expected.data(), expected.size()), 0) << row_bytes << " " << shift;

      const bytes source = random_bytes(9, expected.size());
      bytes scattered(table.data + shift, table.data + shift + rows * row_bytes);
      for (std::size_t i = 0; i < index.size(); ++i)
        std::memcpy(scattered.data() + static_cast<std::size_t>(index[i]) * row_bytes, source.data() + i * row_bytes,
                    row_bytes);
      rows::scatter_rows(map, rows::row_index(std::span(index)), source.data());
      ASSERT_EQ(std::memcmp(table.data + shift, scattered.data(), scattered.size()), 0) << row_bytes << " " << shift;
    }
  }
}

TEST(row_map, finds_rows_in_several_ranges) {
  constexpr std::size_t row_bytes = 8;
  std::vector<std::int64_t> first{10, 11, 12}, second{20, 21}, third{22};
  const auto base = [](std::vector<std::int64_t>& values) { return reinterpret_cast<std::byte*>(values.data()); };
  const std::vector<rows::row_range> ranges{
      {10, 3, base(first)}, {15, 0, nullptr}, {20, 2, base(second)}, {22, 1, base(third)}};
  const rows::row_map map(ranges, row_bytes);
  EXPECT_FALSE(map.covers(23));
  for (const std::int64_t row : {0, 9, 13, 15, 19, 23, 100}) EXPECT_EQ(map.find(row), nullptr) << row;
  const std::vector<std::int32_t> index{21, 10, 22, 12, 20, 11, 10};
  std::vector<std::int64_t> output(index.size());
  rows::gather_rows(map, rows::row_index(std::span(index)), reinterpret_cast<std::byte*>(output.data()));
  EXPECT_EQ(output, std::vector<std::int64_t>(index.begin(), index.end()));
}

TEST(row_map, joins_neighbours) {
  bytes memory(80);
  const std::vector<rows::row_range> ranges{
      {0, 4, memory.data()}, {4, 0, memory.data() + 32}, {4, 6, memory.data() + 32}};
  const rows::row_map map(ranges, 8);
  EXPECT_EQ(map.ranges().size(), 1u);
  EXPECT_TRUE(map.covers(10));
}

template <class Index>
std::string complaint(const std::vector<Index>& index, std::int64_t rows) {
  try {
    rows::row_index(std::span(index)).require_inside(rows);
  } catch (const base::error& error) {
    EXPECT_EQ(error.status(), SYNCYTE_ERR_INDEX);
    return error.what();
  }
  return "";
}

template <class Index>
void check_limits() {
  constexpr auto lowest = std::numeric_limits<Index>::min();
  constexpr auto highest = std::numeric_limits<Index>::max();
  std::vector<Index> index(1000, 99);
  EXPECT_EQ(complaint(index, 100), "");
  for (const Index bad : {Index{-1}, Index{100}, lowest, highest}) {
    index[613] = bad;
    const std::string text = complaint(index, 100);
    EXPECT_NE(text.find("index " + std::to_string(bad) + " at position 613"), std::string::npos) << text;
  }
  EXPECT_NE(complaint<Index>({0}, 0), "");
  EXPECT_EQ(complaint<Index>({}, 0), "");
  EXPECT_EQ(complaint<Index>({highest - 1}, highest), "");
  EXPECT_NE(complaint<Index>({highest}, highest), "");
}

TEST(row_index, names_index_and_position) {
  check_limits<std::int32_t>();
  check_limits<std::int64_t>();
  // With more rows than int32 can number, only negative indices are out of range.
  EXPECT_EQ(complaint<std::int32_t>({std::numeric_limits<std::int32_t>::max()}, std::int64_t{1} << 40), "");
  EXPECT_NE(complaint<std::int32_t>({-5}, std::int64_t{1} << 40), "");
}

}  // namespace
