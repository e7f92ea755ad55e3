// SPDX-License-Identifier: BSD-3-Clause
// Operations that threads are inside, or have started, on the record of their rank.

#include "watchdog/scope.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <thread>

#include "own_record.hpp"

namespace {

using namespace syncyte::watchdog;

TEST(watchdog_scope, is_written_where_no_other_thread_is) {
  const syncyte::test::own_record mine;
  {
    const scope outer("comm_bcast", "world", 3, 5);
    const scope inner("tensor_wait", "counters", 0, 0, scope::reported_once);
    EXPECT_EQ(mine->records[0].name.text(), "comm_bcast #3 on world");
    EXPECT_EQ(mine->records[0].ranks, 5);
    EXPECT_EQ(mine->records[0].kind, scope::limited);
    EXPECT_EQ(mine->records[1].kind, scope::reported_once);
    EXPECT_EQ(mine->records[0].is_inside, 1);
    EXPECT_EQ(mine->records[1].is_inside, 1);
  }
  EXPECT_EQ(mine->records[0].is_inside, 0);
  EXPECT_EQ(mine->records[0].name.text(), "comm_bcast #3 on world");  // left last
  const scope next("comm_gather", "world", 4);
  EXPECT_EQ(mine->records[0].name.text(), "comm_gather #4 on world");
}

TEST(watchdog_scope, more_threads_than_records_are_not_watched) {
  const syncyte::test::own_record mine;
  std::deque<scope> inside;
  for (int i = 0; i < threads + 2; ++i) inside.emplace_back("comm_bcast", "world", 1);
  EXPECT_EQ(mine->records[threads - 1].is_inside, 1);
  EXPECT_EQ(mine->records[threads].is_inside, 0);  // a collective's
  inside.clear();
  EXPECT_EQ(mine->records[threads - 1].is_taken, 0);
}

TEST(watchdog_scope, an_unlimited_wait_in_several_parts_is_one) {
  const syncyte::test::own_record mine;
  const auto begin_of = [&](const char* operation, scope::kind how) {
    const scope inside(operation, "world", 0, 0, how);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return mine->records[0].since_ns.load();
  };
  const auto goes_on = [&](const char* operation, scope::kind how) {  // a loaded machine may pause longer than the gap
    for (int trial = 0; trial < 20; ++trial)
      if (begin_of(operation, how) == begin_of(operation, how)) return true;
    return false;
  };
  EXPECT_TRUE(goes_on("store_wait", scope::unlimited));
  EXPECT_FALSE(goes_on("comm_bcast", scope::limited));
  const std::int64_t first = begin_of("store_wait", scope::unlimited);
  const std::int64_t second = begin_of("tensor_wait", scope::unlimited);
  EXPECT_LT(first, second);
  EXPECT_LT(second, begin_of("tensor_wait", scope::reported_once));
}

TEST(watchdog_scope, started_operations_beyond_the_listings_are_counted) {
  const syncyte::test::own_record mine;
  std::deque<started_scope> started;
  for (int i = 0; i < listings + 2; ++i) started.emplace_back("comm_ibcast", "world", i + 1);
  EXPECT_EQ(mine->listings[0].name.text(), "comm_ibcast #1 on world");
  EXPECT_EQ(mine->listings[listings - 1].is_shown, 1);
  EXPECT_EQ(mine->unlisted, 2);
  started.pop_back();
  EXPECT_EQ(mine->unlisted, 1);
  started.pop_front();
  EXPECT_EQ(mine->listings[0].is_shown, 0);
  started.emplace_back("comm_igather", "world", 99);
  EXPECT_EQ(mine->listings[0].name.text(), "comm_igather #99 on world");
}

}  // namespace
