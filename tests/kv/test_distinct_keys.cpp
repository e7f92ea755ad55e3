// SPDX-License-Identifier: BSD-3-Clause
// The distinct keys of a list, against a map.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "kv/distinct_keys.hpp"

namespace {

using namespace syncyte;
using key_list = std::vector<std::int64_t>;

void expect_as_map(const key_list& list) {
  const kv::distinct_keys found(list);
  std::map<std::int64_t, std::int64_t> places;
  key_list keys, inverse;
  for (const std::int64_t key : list) {
    const auto [at, is_new] = places.emplace(key, std::ssize(places));
    if (is_new) keys.push_back(key);
    inverse.push_back(at->second);
  }
  ASSERT_EQ(found.keys(), keys);
  ASSERT_EQ(found.inverse(), inverse);
  ASSERT_EQ(found.has_repeats(), keys.size() < list.size());
  for (const std::int64_t key : keys) ASSERT_EQ(found.find(key), places.at(key));
  ASSERT_EQ(found.find(-1), -1);
}

TEST(distinct_keys, are_in_the_order_of_their_first_appearance) {
  expect_as_map({});
  expect_as_map({7});
  expect_as_map({7, 7, 7});
  expect_as_map({5, 3, 5, 0, 3, 9});
  std::mt19937_64 random(1);
  for (const std::size_t count : {10, 31, 32, 33, 1000, 20000})
    for (const std::uint64_t range : {3, 100, 1000000}) {
      key_list list(count);
      for (auto& key : list) key = static_cast<std::int64_t>(random() % range);
      expect_as_map(list);
    }
}

/// Strides that a poor hash would put into few cells.
TEST(distinct_keys, of_any_stride_are_found) {
  for (const int bits : {0, 6, 16, 32, 44}) {
    key_list list;
    for (std::int64_t i = 0; i < 4000; ++i) list.push_back(i << bits);
    expect_as_map(list);
  }
}

TEST(distinct_keys, values_of_repeats_are_added_in_the_order_of_the_list) {
  const kv::distinct_keys keys(key_list{4, 1, 4, 4, 1});
  const key_list places{0, 2, 3};  // key 4 has two values, key 1 one
  const std::vector<float> values{1e8f, 1, 10, 1, 2, -1e8f, 3, 20};
  std::vector<float> sums(3, -1);
  kv::sum_repeats(keys, places, values.data(), sums.data());
  EXPECT_EQ(sums, (std::vector<float>{(1e8f + 1.0f) + -1e8f, 6, 30}));
}

}  // namespace
