// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "cache/heap.hpp"

namespace {

using syncyte::cache::heap;

constexpr std::uint64_t unit = heap::unit;

TEST(cache_heap, rounds_up_and_begins_at_0) {
  heap tested(16 * unit);
  EXPECT_EQ(tested.acquire(1), 0u);
  EXPECT_EQ(tested.acquire(unit), unit);
  EXPECT_EQ(tested.acquire(unit + 1), 2 * unit);
  EXPECT_EQ(tested.acquire(0), 4 * unit);
  EXPECT_EQ(tested.used_blocks(), 4u);
  EXPECT_EQ(tested.free_bytes(), 11 * unit);
}

TEST(cache_heap, takes_the_smallest_hole_and_joins_neighbours) {
  heap tested(16 * unit);
  std::vector<std::uint64_t> offsets;
  for (const std::uint64_t units : {3, 1, 2, 1, 9}) offsets.push_back(*tested.acquire(units * unit));
  EXPECT_FALSE(tested.acquire(1));
  EXPECT_TRUE(tested.release(offsets[0]));
  EXPECT_TRUE(tested.release(offsets[2]));
  EXPECT_EQ(tested.acquire(2 * unit), offsets[2]);  // not the hole of 3
  EXPECT_TRUE(tested.release(offsets[2]));
  EXPECT_TRUE(tested.release(offsets[1]));
  EXPECT_EQ(tested.largest_hole(), 6 * unit);
  EXPECT_EQ(tested.acquire(6 * unit), 0u);
}

TEST(cache_heap, refuses_what_is_no_block) {
  heap tested(4 * unit);
  EXPECT_FALSE(tested.release(0));
  ASSERT_TRUE(tested.acquire(2 * unit));
  EXPECT_FALSE(tested.release(unit));
  EXPECT_FALSE(tested.release(100 * unit));
  EXPECT_TRUE(tested.release(0));
  EXPECT_FALSE(tested.release(0));
}

TEST(cache_heap, refuses_sizes_that_overflow) {
  heap tested(4 * unit);
  EXPECT_FALSE(tested.acquire(UINT64_MAX));
  EXPECT_FALSE(tested.acquire(UINT64_MAX - unit + 2));
  EXPECT_EQ(tested.free_bytes(), 4 * unit);
}

/// A slow reference implementation, which records the owner of each unit.
class reference {
 public:
  explicit reference(std::size_t units) : owners_(units, 0) {}

  std::optional<std::size_t> acquire(std::size_t units, int owner) {
    std::optional<std::size_t> best;
    std::size_t best_units = SIZE_MAX;
    for (std::size_t begin = 0; begin < owners_.size();) {
      std::size_t end = begin;
      while (end < owners_.size() && owners_[end] == 0) ++end;
      if (end - begin >= units && end - begin < best_units) {
        best = begin;
        best_units = end - begin;
      }
      begin = end + 1;
    }
    for (std::size_t each = 0; best && each < units; ++each) owners_[*best + each] = owner;
    return best;
  }

  void release(int owner) {
    for (int& each : owners_)
      if (each == owner) each = 0;
  }

 private:
  std::vector<int> owners_;
};

TEST(cache_heap, random_calls_give_the_references_offsets) {
  constexpr std::size_t units = 400;
  heap tested(units * unit);
  reference expected(units);
  std::map<int, std::uint64_t> live;
  std::mt19937 random(7);
  for (int step = 1; step <= 20000; ++step) {
    if (random() % 5 < 3) {
      const std::size_t wanted = 1 + random() % (random() % 8 == 0 ? 60 : 6);
      const auto offset = tested.acquire(wanted * unit - random() % unit);
      const auto same = expected.acquire(wanted, step);
      ASSERT_EQ(offset.has_value(), same.has_value()) << step;
      if (same) {
        ASSERT_EQ(*offset, *same * unit) << step;
        live[step] = *offset;
      }
    } else if (!live.empty()) {
      auto chosen = live.begin();
      std::advance(chosen, random() % live.size());
      ASSERT_TRUE(tested.release(chosen->second));
      expected.release(chosen->first);
      live.erase(chosen);
    }
    ASSERT_EQ(tested.used_blocks(), live.size());
  }
  for (const auto& [owner, offset] : live) ASSERT_TRUE(tested.release(offset));
  EXPECT_EQ(tested.largest_hole(), units * unit);
  EXPECT_EQ(tested.free_bytes(), units * unit);
}

TEST(cache_heap, names_what_is_used) {
  heap tested(8 * unit);
  for (int each = 0; each < 3; ++each) ASSERT_TRUE(tested.acquire(unit));
  ASSERT_TRUE(tested.release(unit));
  const auto all = tested.used(10);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].offset, 2 * unit);
  EXPECT_EQ(all[1].bytes, unit);
  EXPECT_EQ(tested.used(1).size(), 1u);
}

}  // namespace
