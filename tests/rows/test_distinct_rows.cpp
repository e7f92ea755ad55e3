// SPDX-License-Identifier: BSD-3-Clause
// Sums of the source rows of each distinct row, against a map.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "reference.hpp"
#include "rows/distinct_rows.hpp"

namespace {

using namespace syncyte;

template <class Index>
void check(const std::vector<Index>& index, std::size_t row_elements) {
  std::vector<float> source;
  std::map<std::int64_t, std::vector<float>> expected;
  for (std::size_t i = 0; i < index.size(); ++i) {
    auto& sum = expected.try_emplace(index[i], row_elements).first->second;
    for (std::size_t e = 0; e < row_elements; ++e) {
      source.push_back(static_cast<float>(i * row_elements + e));
      sum[e] += source.back();
    }
  }
  const rows::distinct_rows found(rows::row_index(std::span<const Index>(index)),
                                  reinterpret_cast<const std::byte*>(source.data()), row_elements * sizeof(float),
                                  SYNCYTE_FLOAT32);
  ASSERT_EQ(found.rows().size(), expected.size());
  ASSERT_EQ(found.sums().size(), expected.size());
  std::size_t place = 0;
  for (const auto& [row, sum] : expected) {
    EXPECT_EQ(found.rows()[place], row);
    EXPECT_EQ(std::memcmp(found.sums()[place], sum.data(), row_elements * sizeof(float)), 0) << "row " << row;
    ++place;
  }
}

TEST(distinct_rows, sums_rows_that_repeat) {
  check<std::int64_t>({}, 3);
  check<std::int64_t>({4}, 3);
  check<std::int32_t>({4, 4, 4}, 1);
  check<std::int64_t>({0, 1, 2, 9}, 2);  // sorted already
  check<std::int64_t>({9, 1, 9, 0, 1, 1}, 5);
  check<std::int32_t>(reference::random_rows<std::int32_t>(1, 0, 500, 40), 4);
  check<std::int64_t>(reference::random_rows<std::int64_t>(2, 0, 3000, 100000), 2);
  check<std::int64_t>(reference::random_rows<std::int64_t>(3, 0, 300, std::int64_t{1} << 40), 2);
}

TEST(distinct_rows, leaves_rows_that_do_not_repeat_in_place) {
  const std::vector<std::int64_t> index{7, 2, 7};
  const std::vector<float> source{1, 2, 3};
  const auto* const begin = reinterpret_cast<const std::byte*>(source.data());
  const rows::distinct_rows found(rows::row_index(std::span<const std::int64_t>(index)), begin, sizeof(float),
                                  SYNCYTE_FLOAT32);
  EXPECT_EQ(found.sums()[0], begin + sizeof(float));
  EXPECT_NE(found.sums()[1], begin);
}

}  // namespace
