// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "access/by_owner.hpp"

namespace {

using namespace syncyte;
using numbers = std::vector<std::int64_t>;

std::map<int, numbers> groups_of(int ranks, const std::vector<std::int32_t>& owners) {
  const access::by_owner<std::int64_t> sorted(ranks, owners,
                                              [](std::size_t i) { return static_cast<std::int64_t>(i); });
  std::map<int, numbers> found;
  int last = -1;
  for (const auto& [owner, elements] : sorted.parts()) {
    EXPECT_GT(owner, last);
    EXPECT_FALSE(elements.empty());
    last = owner;
    found[owner] = numbers(elements.begin(), elements.end());
  }
  return found;
}

std::map<int, numbers> expected_groups(const std::vector<std::int32_t>& owners) {
  std::map<int, numbers> expected;
  for (std::size_t i = 0; i < owners.size(); ++i) expected[owners[i]].push_back(static_cast<std::int64_t>(i));
  return expected;
}

/// In turn for many and few ranks, because the counters of the thread are used again.
TEST(by_owner, groups_elements_in_their_order) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const int ranks = 1 + static_cast<int>(random() % (round % 2 == 0 ? 1000 : 3));
    std::vector<std::int32_t> owners(random() % 50);
    for (auto& owner : owners) owner = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks));
    EXPECT_EQ(groups_of(ranks, owners), expected_groups(owners)) << "round " << round;
  }
}

TEST(by_owner, makes_each_element_once_and_in_order) {
  const std::vector<std::int32_t> owners{2, 0, 2, 1};
  std::size_t next = 0;
  const access::by_owner<std::size_t> sorted(3, owners, [&](std::size_t i) {
    EXPECT_EQ(i, next++);
    return 10 * i;
  });
  ASSERT_EQ(sorted.parts().size(), 3u);
  EXPECT_EQ(sorted.parts()[2].elements[1], 20u);
}

}  // namespace
