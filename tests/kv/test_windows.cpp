// SPDX-License-Identifier: BSD-3-Clause
// When windows of intents open and close (kv/intents.hpp), and who has open ones (kv/slot_counts.hpp).

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "kv/intents.hpp"
#include "kv/looks_for_deaths.hpp"
#include "kv/slot_counts.hpp"
#include "simulated_store.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;

kv::intents::window window(std::int64_t start, std::int64_t end) {
  return std::make_shared<kv::intent_window>(kv::intent_window{start, end, {7}});
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

TEST(windows, are_counted_for_keys_of_any_stride) {
  std::minstd_rand random(3);
  for (const std::int64_t stride : {1, 8, 4096, 1 << 20}) {
    kv::slot_counts at;
    std::map<std::int64_t, std::int64_t> expected;
    for (int i = 0; i < 20000; ++i) {
      const std::int64_t slot = static_cast<std::int64_t>(random() % 300) * stride;
      auto& count = expected[slot];
      if (random() % 2 == 0)
        ASSERT_EQ(at.add(slot), count++);
      else
        ASSERT_EQ(at.remove(slot), count > 0 ? count-- : 0);
    }
    std::erase_if(expected, [](const auto& each) { return each.second == 0; });
    std::map<std::int64_t, std::int64_t> found;
    at.for_each([&](std::int64_t slot, std::int64_t count) { found.emplace(slot, count); });
    EXPECT_EQ(found, expected);
  }
}

// ---- ranks that die

TEST(looks_for_deaths, take_a_twentieth_of_the_time_at_most) {
  kv::looks_for_deaths at;
  int looks = 0;
  const auto look_until = [&](std::chrono::nanoseconds now, std::chrono::nanoseconds time) {
    at.begin(now, [&] {
      ++looks;
      std::this_thread::sleep_for(time);
    });
    return looks;
  };
  EXPECT_EQ(look_until(fabric::now(), 20ms), 1);
  EXPECT_EQ(look_until(fabric::now() + 300ms, 0ms), 1);
  EXPECT_EQ(look_until(fabric::now() + 10s, 0ms), 2);
}

/// A simulated store of two nodes of two ranks each, whose workers intend to use key 3 of rank 3.
class windows_of_the_dead : public ::testing::Test {
 protected:
  static constexpr std::int64_t key = 3;

  void make(kv::intent_effect effect) {
    const test::store_shape shape{
        .nodes = 2, .ranks_per_node = 2, .keys = 4, .length = 2, .foreign_bytes = 4096, .effect = effect};
    store_ = std::make_unique<test::simulated_store>(shape, 1, fabric::time_limits{.resend = 5ms, .deadline = 60s});
  }
  test::simulated_worker& worker(int rank) {
    auto& made = workers_[rank];
    if (!made) made = std::make_unique<test::simulated_worker>(store_->at(rank));
    return *made;
  }
  void intend(int rank) {
    worker(rank).open_window(list_);
    worker(rank).flush();
  }
  void end_intent(int rank) {
    worker(rank).close_window(list_);
    worker(rank).flush();
  }
  void push(int rank) {
    std::vector<float> ones(2, 1.0f);
    worker(rank).run(kv::push, list_, ones.data(), test::simulated_worker::until::done);
  }
  void die(int rank) {
    store_->network().kill(rank);
    for (int other = 0; other < store_->shape().ranks(); ++other)
      if (other != rank) store_->engine(other).declare_dead(store_->engine(rank).process());
  }
  bool is_at(int node) { return store_->at(store_->agent_of(node)).are_here(list_); }
  static bool soon(const std::function<bool()>& is_so) {
    for (const auto begin = std::chrono::steady_clock::now(); !is_so(); std::this_thread::sleep_for(1ms))
      if (std::chrono::steady_clock::now() - begin > 5s) return false;
    return true;
  }
  void TearDown() override {
    workers_.clear();
    store_.reset();
  }

  const std::vector<std::int64_t> list_{key};
  std::unique_ptr<test::simulated_store> store_;
  std::map<int, std::unique_ptr<test::simulated_worker>> workers_;
};

TEST_F(windows_of_the_dead, end_the_copies_of_its_node) {
  make(kv::intent_effect::copies);
  intend(1);
  EXPECT_TRUE(soon([&] { return is_at(0); }));
  intend(0);
  end_intent(0);
  EXPECT_TRUE(is_at(0));  // the other rank intends to use it
  push(1);
  die(1);
  EXPECT_TRUE(soon([&] { return !is_at(0); }));
  std::vector<float> found(2);
  worker(0).run(kv::pull, list_, found.data(), test::simulated_worker::until::done);
  EXPECT_EQ(found, (std::vector<float>{1, 1}));
}

TEST_F(windows_of_the_dead, stay_open_for_the_living) {
  make(kv::intent_effect::copies);
  intend(1);
  intend(0);
  EXPECT_TRUE(soon([&] { return is_at(0); }));
  die(1);
  std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(is_at(0));
  end_intent(0);
  EXPECT_TRUE(soon([&] { return !is_at(0); }));
}

TEST_F(windows_of_the_dead, keep_no_main_copy_at_its_node) {
  make(kv::intent_effect::moves);
  intend(1);
  EXPECT_TRUE(soon([&] { return is_at(0); }));
  intend(2);  // of the home's node
  EXPECT_FALSE(is_at(1));
  end_intent(2);
  die(1);
  EXPECT_TRUE(soon([&] {
    intend(2);
    return is_at(1);
  }));
  EXPECT_FALSE(is_at(0));
}

/// A window at the home's own node keeps the key from leaving.
TEST_F(windows_of_the_dead, keep_no_main_copy_at_home) {
  make(kv::intent_effect::moves);
  intend(2);
  intend(0);
  EXPECT_FALSE(is_at(0));
  end_intent(0);
  intend(3);
  end_intent(3);
  die(2);
  EXPECT_TRUE(soon([&] {
    intend(0);
    return is_at(0);
  }));
}

}  // namespace
