// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "distribution/partition.hpp"
#include "reference.hpp"

namespace {

using syncyte::base::error;
using syncyte::distribution::partition;
namespace reference = syncyte::reference;

void expect_like_reference(const partition& actual, const reference::lengths& expected) {
  ASSERT_EQ(actual.parts(), static_cast<int>(expected.size()));
  for (int part = 0; part < actual.parts(); ++part) {
    EXPECT_EQ(actual.count(part), expected[static_cast<std::size_t>(part)]);
    EXPECT_EQ(actual.first(part), reference::first_row(expected, part));
  }
  for (std::int64_t row = 0; row < actual.extent(); ++row)
    EXPECT_EQ(actual.owner(row), reference::owner(expected, row)) << "row " << row;
}

TEST(partition, equal_puts_the_remainder_on_the_first_parts) {
  for (const int parts : {1, 2, 3, 5, 7})
    for (const std::int64_t total : {0, 1, 2, 6, 7, 100, 101})
      expect_like_reference(partition::equal(total, parts), reference::equal_lengths(total, parts));
}

TEST(partition, explicit_lengths_may_be_uneven_and_empty) {
  for (const int parts : {1, 2, 3, 5, 7}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto lengths = reference::uneven_lengths(seed, 23, parts);
      expect_like_reference(partition::explicit_lengths(lengths, 23), lengths);
    }
    const auto alone = reference::lengths_on_one(9, parts, parts - 1);
    expect_like_reference(partition::explicit_lengths(alone), alone);
    const auto gaps = reference::lengths_with_gaps(11, parts);
    expect_like_reference(partition::explicit_lengths(gaps, 11), gaps);
  }
}

TEST(partition, only_unequal_parts_have_a_table) {
  EXPECT_TRUE(partition::equal(11, 4).table().empty());
  EXPECT_TRUE(partition::explicit_lengths(reference::equal_lengths(11, 4)).table().empty());
  const reference::lengths lengths{3, 0, 5};
  auto parts = partition::explicit_lengths(lengths);
  ASSERT_EQ(parts.table().size(), 4);
  const std::shared_ptr<std::int64_t[]> copy(new std::int64_t[4]);
  std::ranges::copy(parts.table(), copy.get());
  parts.use_table(copy);
  EXPECT_EQ(copy.use_count(), 2);
  expect_like_reference(parts, lengths);
}

TEST(partition, owner_of_the_largest_rows) {
  const std::int64_t huge = INT64_MAX - 1;
  EXPECT_EQ(partition::equal(huge, 3).owner(huge - 1), 2);
  const std::int64_t lengths[] = {huge - 5, 0, 5};
  EXPECT_EQ(partition::explicit_lengths(lengths, huge).owner(huge - 6), 0);
  EXPECT_EQ(partition::explicit_lengths(lengths, huge).owner(huge - 5), 2);
}

syncyte_status_t status_of(const std::vector<std::int64_t>& lengths, std::int64_t total, std::string* message) {
  try {
    partition::explicit_lengths(lengths, total);
  } catch (const error& caught) {
    *message = caught.what();
    return caught.status();
  }
  return SYNCYTE_SUCCESS;
}

TEST(partition, lengths_that_do_not_add_up_are_named) {
  std::string message;
  EXPECT_EQ(status_of({3, 4}, 8, &message), SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(message, "sum of local_rows is 7; expected 8, the tensor's first extent (or -1 on all: equal parts)");
  EXPECT_EQ(status_of({3, -1}, 2, &message), SYNCYTE_ERR_ARGUMENT);
  EXPECT_EQ(message, "local_rows is -1; expected 0 or more on rank 1");
  EXPECT_EQ(status_of({INT64_MAX, 1}, -1, &message), SYNCYTE_ERR_ARGUMENT);
  EXPECT_NE(message.find("2^63 - 1"), std::string::npos) << message;
  EXPECT_EQ(status_of({}, 0, &message), SYNCYTE_ERR_ARGUMENT);
}

}  // namespace
