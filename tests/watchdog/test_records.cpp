// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/records.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace {

using syncyte::watchdog::operation_name;

TEST(watchdog_records, an_operation_has_a_number_if_it_is_not_0) {
  operation_name name{};
  name.set("comm_bcast", "world", 3);
  EXPECT_EQ(name.text(), "comm_bcast #3 on world");
  name.set("tensor_wait", "counters", 0);
  EXPECT_EQ(name.text(), "tensor_wait on counters");
}

TEST(watchdog_records, operations_are_equal_if_name_communicator_and_number_are) {
  operation_name first{}, second{};
  first.set("comm_bcast", "world", 3);
  second.set("comm_bcast", "world", 3);
  EXPECT_TRUE(first.is(second));
  second.set("comm_gather", "world", 3);
  EXPECT_FALSE(first.is(second));
  second.set("comm_bcast", "row", 3);
  EXPECT_FALSE(first.is(second));
  second.set("comm_bcast", "world", 4);
  EXPECT_FALSE(first.is(second));
}

TEST(watchdog_records, long_names_are_cut_and_leave_nothing_behind) {
  operation_name name{};
  const std::string longest(200, 'x'), cut(sizeof name.comm - 1, 'x');
  name.set(longest.c_str(), longest, 1);
  EXPECT_EQ(name.text(), cut + " #1 on " + cut);
  name.set("comm_bcast", "world", 3);
  operation_name other{};
  other.set("comm_bcast", "world", 3);
  EXPECT_EQ(std::memcmp(name.comm, other.comm, sizeof name.comm), 0);
}

}  // namespace
