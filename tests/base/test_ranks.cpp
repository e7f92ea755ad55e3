// SPDX-License-Identifier: BSD-3-Clause
// Lists of ranks in messages: they do not grow with the number of ranks.

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/ranks.hpp"

namespace {

using syncyte::base::listed;
using syncyte::base::rank_numbers;
using syncyte::base::ranks_text;

TEST(ranks, are_named_by_numbers_and_ranges_in_their_order) {
  const auto text = [](const std::vector<int>& ranks) { return ranks_text(ranks); };
  EXPECT_EQ(text({3}), "rank 3");
  EXPECT_EQ(text({0, 1}), "ranks 0, 1");
  EXPECT_EQ(text({0, 1, 2, 3, 5, 7, 8, 9}), "ranks 0-3, 5, 7-9");
  EXPECT_EQ(text({0, 1, 3, 4}), "ranks 0, 1, 3, 4");
  EXPECT_EQ(text({5, 2, 3, 4, 1, 1}), "ranks 5, 2-4, 1, 1");
  EXPECT_EQ(text({-1, 0, 1}), "ranks -1-1");
}

TEST(ranks, many_of_them_are_the_first_ones_the_last_one_and_their_number) {
  std::vector<int> even, all(10000);
  for (int rank = 0; rank < 10000; rank += 2) even.push_back(rank);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(rank_numbers(even), "0, 2, 4, 6, 8, 10, ..., 9998 (5000 ranks)");
  EXPECT_EQ(rank_numbers(all), "0-9999");
  EXPECT_EQ(rank_numbers(std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14}), "0, 2, 4, 6, 8, 10, 12, 14");
  EXPECT_EQ(listed({"a", "b"}), "a, b");
  EXPECT_EQ(listed(std::vector<std::string>(9, "x")), "x, x, x, x, x, x, ..., x");
}

}  // namespace
