// SPDX-License-Identifier: BSD-3-Clause
// Shared memory of two operands, against sets of bytes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

#include "base/overlap.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;

std::int64_t draw(std::int64_t round, std::int64_t place, std::int64_t low, std::int64_t high) {
  return reference::random_integer(41, round, place, low, high);
}

std::array<std::byte, 1024> arena;

/// An array of up to three dimensions in the middle of the arena, with any strides.
syncyte_buffer_t random_array(std::int64_t round, std::int64_t which) {
  constexpr std::array dtypes{SYNCYTE_UINT8, SYNCYTE_INT16, SYNCYTE_FLOAT32, SYNCYTE_FLOAT64};
  const std::int64_t first = 100 * which;
  const auto dtype = dtypes[static_cast<std::size_t>(draw(round, first, 0, 3))];
  std::vector<std::int64_t> shape(static_cast<std::size_t>(draw(round, first + 1, 0, 3)));
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = draw(round, first + 2 + static_cast<std::int64_t>(d), 0, 4);
  syncyte_buffer_t result = base::make_buffer(arena.data() + 512 + draw(round, first + 5, -60, 60), dtype, shape);
  if (draw(round, first + 6, 0, 2) != 0)
    for (std::size_t d = 0; d < shape.size(); ++d)
      result.strides[d] = 2 * draw(round, first + 7 + static_cast<std::int64_t>(d), -20, 20);
  return result;
}

std::set<const std::byte*> bytes_of(const base::buffer& array) {
  std::set<const std::byte*> result;
  if (array.elements() == 0) return result;
  std::vector<std::int64_t> at(static_cast<std::size_t>(array.ndim()), 0);
  while (true) {
    const std::byte* element = array.data();
    for (int d = 0; d < array.ndim(); ++d) element += at[static_cast<std::size_t>(d)] * array.stride(d);
    for (std::size_t i = 0; i < array.element_bytes(); ++i) result.insert(element + i);
    int d = array.ndim() - 1;
    for (; d >= 0 && ++at[static_cast<std::size_t>(d)] == array.extent(d); --d) at[static_cast<std::size_t>(d)] = 0;
    if (d < 0) return result;
  }
}

TEST(shared_memory, of_arrays_of_any_strides) {
  int shared = 0, only_ranges_meet = 0;
  for (std::int64_t round = 0; round < 4000; ++round) {
    const syncyte_buffer_t raw_first = random_array(round, 0), raw_second = random_array(round, 1);
    const base::buffer first(&raw_first, "first"), second(&raw_second, "second");
    const auto left = bytes_of(first), right = bytes_of(second);
    const bool expected = std::any_of(left.begin(), left.end(), [&](auto at) { return right.contains(at); });
    EXPECT_EQ(base::share_memory(first, second), expected) << "round " << round;
    EXPECT_EQ(base::share_memory(second, first), expected) << "round " << round;
    const base::byte_range range = base::range_of(first);
    EXPECT_EQ(range.begin, left.empty() ? nullptr : *left.begin());
    EXPECT_EQ(range.end, left.empty() ? nullptr : *left.rbegin() + 1);
    shared += expected;
    only_ranges_meet += !expected && range.meets(base::range_of(second));
  }
  EXPECT_GT(shared, 400);
  EXPECT_GT(only_ranges_meet, 100);
}

/// Columns, and faces of a box, of one array: no list of their elements is needed.
TEST(shared_memory, of_columns) {
  std::vector<double> matrix(1000 * 1000);
  const auto column = [&](std::int64_t which) {
    const std::int64_t shape[] = {1000, 2};
    syncyte_buffer_t result = base::make_buffer(matrix.data() + which, SYNCYTE_FLOAT64, shape);
    result.strides[0] = 8000;
    return result;
  };
  const syncyte_buffer_t first = column(0), next = column(2), second = column(1), last = column(998);
  EXPECT_FALSE(base::share_memory({&first, ""}, {&next, ""}));
  EXPECT_FALSE(base::share_memory({&last, ""}, {&first, ""}));
  EXPECT_TRUE(base::share_memory({&first, ""}, {&second, ""}));
}

base::operand_parts random_parts(std::int64_t round, std::int64_t which, std::int64_t bytes) {
  base::operand_parts result{{}, static_cast<std::size_t>(bytes)};
  const std::int64_t count = draw(round, 100 * which, 0, 6);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool has_place = draw(round, 100 * which + 10 + i, 0, 3) != 0;  // parts without a counterpart have none
    if (has_place) result.parts.push_back({arena.data() + bytes * draw(round, 100 * which + 20 + i, 0, 30), i});
  }
  return result;
}

bool have_overlap(const base::operand_parts& first, const base::operand_parts& second) {
  for (const auto& [at, number] : first.parts)
    for (const auto& [other, other_number] : second.parts)
      for (std::size_t i = 0; i < first.bytes; ++i)
        for (std::size_t j = 0; j < second.bytes; ++j)
          if (at + i == other + j && (number != other_number || at != other)) return true;
  return false;
}

TEST(overlap, of_parts_is_that_of_any_byte_at_another_place) {
  int found = 0, same_places = 0;
  for (std::int64_t round = 0; round < 4000; ++round) {
    const std::int64_t bytes = draw(round, 1, 1, 5);
    base::operand_parts first = random_parts(round, 1, bytes), second = random_parts(round, 2, bytes);
    if (draw(round, 2, 0, 1) != 0) {  // parts at their own place
      second = first;
      std::reverse(second.parts.begin(), second.parts.end());
      for (auto& part : second.parts) part.at += draw(round, 3, 0, 6) / 6;
    }
    const auto result = base::find_overlap(first, second);
    ASSERT_EQ(result.has_value(), have_overlap(first, second)) << "round " << round;
    if (!result) {
      same_places += !second.parts.empty() && second.parts.size() == first.parts.size();
      continue;
    }
    ++found;
    const auto part_of = [](const base::operand_parts& all, std::int64_t number) {
      return *std::ranges::find(all.parts, number, &base::operand_part::number);
    };
    EXPECT_TRUE(have_overlap({{part_of(first, result->first)}, first.bytes},
                             {{part_of(second, result->second)}, second.bytes}));
  }
  EXPECT_GT(found, 400);
  EXPECT_GT(same_places, 400);
}

TEST(overlap, of_packed_parts) {
  for (std::size_t bytes = 1; bytes <= 5; ++bytes)
    for (std::int64_t count = 0; count <= 3; ++count) {
      base::operand_parts packed{{}, bytes};
      std::byte* const begin = arena.data() + 100;
      for (std::int64_t i = 0; i < count; ++i) packed.parts.push_back({begin + static_cast<std::size_t>(i) * bytes, i});
      const base::byte_range range = base::range_of(begin, static_cast<std::size_t>(count) * bytes);
      for (std::int64_t number = 0; number < 3; ++number)
        for (const std::byte* at = begin - 8; at < begin + 20; ++at)
          EXPECT_EQ(base::overlaps_packed(range, {at, number}, bytes), have_overlap(packed, {{{at, number}}, bytes}));
    }
}

TEST(overlap, of_many_parts_takes_no_longer_than_their_order) {
  constexpr std::int64_t count = 200'000;
  std::vector<std::byte> memory(16 * count);
  base::operand_parts even{{}, 8}, odd{{}, 8};
  for (std::int64_t i = 0; i < count; ++i) {
    even.parts.push_back({memory.data() + 16 * i, i});
    odd.parts.push_back({memory.data() + 16 * (count - i) - 8, i});
  }
  EXPECT_FALSE(base::find_overlap(even, odd));
  odd.parts.back().at = even.parts[7].at;
  EXPECT_EQ(base::find_overlap(even, odd)->first, 7);
  EXPECT_EQ(base::find_overlap(even, odd)->second, count - 1);
}

}  // namespace
