// SPDX-License-Identifier: BSD-3-Clause
// When windows of intents open and close (kv/intents.hpp).

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "kv/intents.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;

kv::intents::window window(std::int64_t start, std::int64_t end) {
  return std::make_shared<const kv::intent_window>(kv::intent_window{start, end, {7}});
}
using windows = std::vector<kv::intents::window>;

TEST(windows, open_before_their_start_and_close_at_their_end) {
  kv::intents at;
  const auto first = window(5, 7), second = window(6, 9), later = window(8, 9);
  for (const auto& each : {later, second, first}) at.add(each);
  EXPECT_EQ(at.open(2, 4), windows{});
  EXPECT_EQ(at.open(3, 5), windows{first});
  EXPECT_EQ(at.open(4, 6), windows{second});
  EXPECT_EQ(at.close(6), windows{});
  EXPECT_EQ(at.close(7), windows{first});
  EXPECT_EQ(at.open(7, 9), windows{later});
  EXPECT_EQ(at.close(8), windows{});
  EXPECT_EQ(at.close(12), (windows{second, later}));
  EXPECT_EQ(at.close(13), windows{});
}

TEST(windows, that_are_over_do_not_open) {
  kv::intents at;
  at.add(window(1, 3));
  EXPECT_EQ(at.open(3, 4), windows{});
  EXPECT_EQ(at.close(10), windows{});
}

TEST(windows, are_removed_in_any_state) {
  kv::intents at;
  const auto waiting = window(5, 7), open = window(1, 7), twin = window(1, 7);
  for (const auto& each : {waiting, open, twin}) at.add(each);
  EXPECT_EQ(at.open(0, 1).size(), 2u);
  EXPECT_FALSE(at.remove(waiting));
  EXPECT_TRUE(at.remove(open));
  EXPECT_FALSE(at.remove(open));
  EXPECT_EQ(at.open(0, 9), windows{});
  EXPECT_EQ(at.remove_all(), windows{twin});
  EXPECT_EQ(at.close(9), windows{});
}

TEST(windows, open_as_many_clocks_before_as_keys_take_to_come) {
  kv::clock_ahead ahead;
  EXPECT_EQ(ahead.clocks(1s), 1);  // nothing is known of the clock
  auto now = 0ns;
  for (int i = 0; i < 200; ++i) ahead.advance(now += 3ms);
  EXPECT_EQ(ahead.clocks(0ns), 1);
  EXPECT_EQ(ahead.clocks(3ms), 1);
  EXPECT_EQ(ahead.clocks(4ms), 2);
  EXPECT_EQ(ahead.clocks(30ms), 10);
  EXPECT_EQ(ahead.clocks(1h), 1000);
  for (int i = 0; i < 200; ++i) ahead.advance(now += 1ms);
  EXPECT_EQ(ahead.clocks(30ms), 30);
}

TEST(windows, nearly_all_keys_come_within_twice_the_mean_and_three_deviations) {
  kv::recent_times times;
  EXPECT_EQ(times.nearly_longest(), 0ns);
  for (int i = 0; i < 500; ++i) times.add(10ms);
  EXPECT_EQ(times.mean(), 10ms);
  EXPECT_EQ(times.nearly_longest(), 20ms);
  for (int i = 0; i < 1000; ++i) times.add(i % 2 == 0 ? 5ms : 15ms);
  EXPECT_NEAR(static_cast<double>(times.mean().count()), 10e6, 1e6);
  EXPECT_NEAR(static_cast<double>(times.nearly_longest().count()), 2 * 10e6 + 3 * 5e6, 3e6);
}

}  // namespace
