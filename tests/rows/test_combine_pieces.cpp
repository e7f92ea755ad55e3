// SPDX-License-Identifier: BSD-3-Clause
// Pieces of rows that are combined with packed elements.

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "rows/combine_pieces.hpp"

namespace {

using namespace syncyte;

bool always_alive(int) { return true; }

constexpr std::size_t row_elements = 4;

/// A table of 8 rows of doubles.
struct table {
  std::vector<double> elements = std::vector<double>(8 * row_elements, 0.0);
  rows::row_range all{0, 8, reinterpret_cast<std::byte*>(elements.data())};
  rows::row_map map{{&all, 1}, row_elements * sizeof(double)};
  std::vector<std::uint64_t> words =
      std::vector<std::uint64_t>(static_cast<std::size_t>(atomics::lock_table::words_for(8)), 0);

  double& at(std::size_t row, std::size_t column) { return elements[row * row_elements + column]; }
};

const std::byte* bytes_of(const void* values) { return static_cast<const std::byte*>(values); }

TEST(combine_pieces, a_try_ends_before_a_locked_row) {
  table numbers;
  atomics::lock_table locks(numbers.words, 0, always_alive), theirs(numbers.words, 1, always_alive);
  const std::vector<rows::row_piece> pieces{{1, 0}, {1, 16}, {7, 8}, {3, 16}};
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8};
  const auto combine_from = [&](std::size_t first) {
    return rows::try_combine_pieces(
        numbers.map,
        {std::span(pieces).subspan(first), 16, bytes_of(&values[2 * first]), SYNCYTE_FLOAT64, SYNCYTE_OP_SUM}, locks);
  };
  theirs.lock(7);
  EXPECT_EQ(combine_from(0), 2u);
  EXPECT_EQ(combine_from(2), 0u);
  theirs.unlock(7);
  EXPECT_EQ(combine_from(2), 2u);
  EXPECT_EQ(numbers.words, std::vector<std::uint64_t>(numbers.words.size(), 0));
  table expected;
  expected.at(1, 0) = 1;
  expected.at(1, 1) = 2;
  expected.at(1, 2) = 3;
  expected.at(1, 3) = 4;
  expected.at(7, 1) = 5;
  expected.at(7, 2) = 6;
  expected.at(3, 2) = 7;
  expected.at(3, 3) = 8;
  EXPECT_EQ(numbers.elements, expected.elements);
}

TEST(combine_pieces, a_try_combines_short_rows_without_locks) {
  std::vector<std::int64_t> numbers(4, 0);
  const rows::row_range all{0, 4, reinterpret_cast<std::byte*>(numbers.data())};
  atomics::lock_table no_locks;
  const std::vector<rows::row_piece> pieces{{3, 0}, {1, 0}, {3, 0}};
  const std::vector<std::int64_t> values{1, 2, 4};
  const rows::packed_pieces source{pieces, 8, bytes_of(values.data()), SYNCYTE_INT64, SYNCYTE_OP_MAX};
  EXPECT_EQ(rows::try_combine_pieces(rows::row_map({&all, 1}, 8), source, no_locks), 3u);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{0, 2, 0, 4}));
}

TEST(combine_pieces, scaling) {
  std::vector<std::complex<float>> values{{1, 2}, {0, -1}};
  const std::complex<float> by(0, 2);
  rows::scale_elements(reinterpret_cast<std::byte*>(values.data()), 2, bytes_of(&by), SYNCYTE_COMPLEX64);
  EXPECT_EQ(values, (std::vector<std::complex<float>>{{-4, 2}, {2, 0}}));
}

}  // namespace
