// SPDX-License-Identifier: BSD-3-Clause
// Every kind of axis against a loop over its indices.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "distribution/axis.hpp"
#include "reference.hpp"

namespace {

using namespace syncyte;
using distribution::axis;
using distribution::piece;
using distribution::position;
using lists = std::vector<std::vector<std::int64_t>>;  // the indices of each part

constexpr std::int64_t extents[] = {0, 1, 2, 3, 5, 6, 7, 8, 9, 16, 17, 64, 100, 257};
constexpr int part_counts[] = {1, 2, 3, 4, 5, 7, 13};

/// The indices of each part in ascending order, where a function tells the part of an index.
lists lists_of(std::int64_t extent, int parts, const std::function<std::int64_t(std::int64_t)>& owner) {
  lists result(static_cast<std::size_t>(parts));
  for (std::int64_t index = 0; index < extent; ++index) result[static_cast<std::size_t>(owner(index))].push_back(index);
  return result;
}

/// Pieces of [first, end), by looking at each index.
std::vector<piece> pieces_of(const axis& by, std::int64_t first, std::int64_t end) {
  std::vector<piece> result;
  for (std::int64_t index = first; index < end; ++index) {
    const position at = by.find(index);
    if (!result.empty() && result.back().part == at.part && result.back().offset + result.back().count == at.offset)
      ++result.back().count;
    else
      result.push_back({at.part, index, 1, at.offset});
  }
  return result;
}

void expect_like_lists(const axis& by, const lists& expected) {
  ASSERT_EQ(by.parts(), std::ssize(expected));
  std::int64_t begin = 0;
  for (int part = 0; part < by.parts(); ++part) {
    const auto& indices = expected[static_cast<std::size_t>(part)];
    ASSERT_EQ(by.count(part), std::ssize(indices)) << "part " << part;
    ASSERT_EQ(by.begin(part), begin) << "part " << part;
    begin += by.count(part);
    for (std::int64_t offset = 0; offset < by.count(part); ++offset) {
      const std::int64_t index = indices[static_cast<std::size_t>(offset)];
      ASSERT_EQ(by.find(index), (position{part, offset})) << "index " << index;
      ASSERT_EQ(by.index({part, offset}), index);
    }
  }
  EXPECT_EQ(by.extent(), begin);
  const std::int64_t middle = by.extent() / 3;
  EXPECT_EQ(by.pieces(0, by.extent()), pieces_of(by, 0, by.extent()));
  EXPECT_EQ(by.pieces(middle, by.extent() / 2), pieces_of(by, middle, middle + by.extent() / 2));
}

void for_each_size(const std::function<void(std::int64_t, int)>& check) {
  for (const std::int64_t extent : extents)
    for (const int parts : part_counts) {
      SCOPED_TRACE(std::to_string(extent) + " indices, " + std::to_string(parts) + " parts");
      check(extent, parts);
    }
}

TEST(axis, equal_and_explicit_parts_are_contiguous) {
  for_each_size([](std::int64_t extent, int parts) {
    const auto lengths = reference::equal_lengths(extent, parts);
    const auto owner = [&](std::int64_t index) { return reference::owner(lengths, index); };
    expect_like_lists(axis::equal(extent, parts), lists_of(extent, parts, owner));
    const auto uneven = reference::uneven_lengths(5, extent, parts);
    const auto other = [&](std::int64_t index) { return reference::owner(uneven, index); };
    expect_like_lists(axis::explicit_lengths(uneven, extent), lists_of(extent, parts, other));
  });
}

TEST(axis, cyclic_parts_are_dealt_out) {
  for_each_size([](std::int64_t extent, int parts) {
    expect_like_lists(axis::cyclic(extent, parts), lists_of(extent, parts, [&](auto index) { return index % parts; }));
    for (const std::int64_t block : {1, 2, 3, 8, 100, 1000})
      expect_like_lists(axis::block_cyclic(extent, parts, block),
                        lists_of(extent, parts, [&](auto index) { return index / block % parts; }));
  });
}

/// Which part an index has is the shuffle's business; each index has one place, and parts are as long as equal ones.
TEST(axis, hashed_parts_have_each_index_once) {
  for_each_size([](std::int64_t extent, int parts) {
    const axis by = axis::hashed(extent, parts);
    const auto lengths = reference::equal_lengths(extent, parts);
    lists expected(static_cast<std::size_t>(parts));
    for (int part = 0; part < parts; ++part)
      expected[static_cast<std::size_t>(part)].resize(static_cast<std::size_t>(lengths[static_cast<std::size_t>(part)]),
                                                      -1);
    for (std::int64_t index = 0; index < extent; ++index) {
      const position at = by.find(index);
      std::int64_t& place = expected.at(static_cast<std::size_t>(at.part)).at(static_cast<std::size_t>(at.offset));
      ASSERT_EQ(place, -1);
      place = index;
    }
    expect_like_lists(by, expected);
  });
}

/// Counts of 1024 indices at each of 4 to 64 parts: the spread is that of random parts.
TEST(axis, hashed_parts_share_indices_of_any_stride) {
  constexpr std::int64_t chosen = 1024;
  for (const int parts : {4, 7, 64})
    for (int bits = 0; bits < 40; ++bits) {
      const std::int64_t stride = std::int64_t{1} << bits;
      for (const std::int64_t extent : {chosen * stride, chosen * stride * 3 - 1}) {
        const axis by = axis::hashed(extent, parts);
        std::vector<std::int64_t> counts(static_cast<std::size_t>(parts));
        for (std::int64_t i = 0; i < chosen; ++i) ++counts[static_cast<std::size_t>(by.owner(i * stride))];
        double chi_square = 0;  // its mean is parts - 1, its variance twice that
        const double mean = static_cast<double>(chosen) / parts;
        for (const std::int64_t count : counts)
          chi_square += (static_cast<double>(count) - mean) * (static_cast<double>(count) - mean) / mean;
        EXPECT_LT(chi_square, parts - 1 + 6 * std::sqrt(2.0 * parts)) << parts << " parts, stride 2^" << bits;
      }
    }
}

TEST(axis, large_extents) {
  constexpr std::int64_t huge = INT64_MAX - 4;
  for (const axis& by :
       {axis::equal(huge, 3), axis::cyclic(huge, 3), axis::hashed(huge, 3), axis::block_cyclic(huge, 3, 1000),
        axis::block_cyclic(huge, 3, huge / 2), axis::block_cyclic(huge, 3, huge)}) {
    EXPECT_EQ(by.count(0) + by.count(1) + by.count(2), huge);
    EXPECT_EQ(by.begin(2), by.count(0) + by.count(1));
    for (std::uint64_t i = 0; i < 100; ++i) {
      const std::int64_t index = i == 0 ? huge - 1 : reference::random_integer(i, 0, 0, 0, huge - 1);
      const position at = by.find(index);
      EXPECT_LT(at.offset, by.count(at.part));
      EXPECT_EQ(by.index(at), index);
    }
  }
}

TEST(axis, wrong_numbers_are_refused) {
  EXPECT_THROW(axis::cyclic(-1, 2), base::error);
  EXPECT_THROW(axis::hashed(3, 0), base::error);
  EXPECT_THROW(axis::block_cyclic(3, 2, 0), base::error);
}

TEST(axis, weighted_parts_are_in_proportion) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::int64_t extent = reference::random_integer(seed, 0, 0, 0, 1000);
    std::vector<std::int64_t> weights;
    for (int part = 0; part <= static_cast<int>(seed % 7); ++part)
      weights.push_back(reference::random_integer(seed, 1, part, 0, 9));
    weights.back() += 1;
    const axis made = axis::weighted(extent, weights);
    std::int64_t sum = 0, before = 0;
    for (const std::int64_t each : weights) sum += each;
    ASSERT_EQ(made.extent(), extent);
    for (int part = 0; part < made.parts(); ++part) {
      ASSERT_EQ(made.begin(part), extent * before / sum);
      before += weights[static_cast<std::size_t>(part)];
      if (weights[static_cast<std::size_t>(part)] == 0) {
        ASSERT_EQ(made.count(part), 0);
      }
    }
  }
  const std::vector<std::int64_t> large{INT64_MAX / 2, INT64_MAX / 2};
  EXPECT_EQ(axis::weighted(std::int64_t{1} << 61, large).count(0), std::int64_t{1} << 60);
  for (const std::vector<std::int64_t>& wrong :
       {std::vector<std::int64_t>{0, 0}, std::vector<std::int64_t>{1, -1}, std::vector<std::int64_t>{INT64_MAX, 1}})
    EXPECT_THROW((void)axis::weighted(4, wrong), base::error);
}

}  // namespace
