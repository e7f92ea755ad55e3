// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <memory>

#include "access/started.hpp"
#include "core_world.hpp"
#include "watchdog/interrupts.hpp"

namespace {

using namespace syncyte;

/// A transfer that ends after some tests, well or with an error.
struct short_transfer final : access::transfer {
  explicit short_transfer(int tests, bool fails = false, int interrupted = 0)
      : tests_left(tests), has_error(fails), interrupts_left(interrupted) {}

  bool test() override {
    if (tests_left-- > 0) return false;
    if (has_error) base::fail(SYNCYTE_ERR_PEER_DIED, "an owner died");
    return true;
  }
  void wait() override {
    if (interrupts_left-- > 0) throw watchdog::interrupted();
    tests_left = 0;
    test();
  }
  void drive() override { ++drives; }

  int tests_left;
  bool has_error;
  int interrupts_left;
  inline static int drives = 0;
};

TEST(started, is_driven_from_its_start_and_ends_once) {
  const int before = short_transfer::drives;
  const auto kept = std::make_shared<int>(1);
  access::started one(kept, std::make_unique<short_transfer>(2));
  EXPECT_EQ(short_transfer::drives, before + 1);
  EXPECT_FALSE(one.test());
  EXPECT_FALSE(one.has_ended());
  EXPECT_TRUE(one.test());
  EXPECT_TRUE(one.test());
  one.wait();
  EXPECT_EQ(kept.use_count(), 2);
  EXPECT_TRUE(access::started(kept, nullptr).test());
}

TEST(started, keeps_its_error_for_each_call) {
  access::started polled(nullptr, std::make_unique<short_transfer>(0, true));
  access::started waited(nullptr, std::make_unique<short_transfer>(5, true));
  EXPECT_TRUE(polled.has_ended());
  waited.await_end();
  for (access::started* each : {&polled, &waited})
    for (int call = 0; call < 2; ++call) {
      test::expect_error(test::outcome_of([&] { each->test(); }), SYNCYTE_ERR_PEER_DIED, "an owner died");
      test::expect_error(test::outcome_of([&] { each->wait(); }), SYNCYTE_ERR_PEER_DIED, "an owner died");
    }
}

TEST(started, can_be_waited_for_again_after_an_interrupt) {
  access::started one(nullptr, std::make_unique<short_transfer>(1, false, 1));
  EXPECT_EQ(test::outcome_of([&] { one.wait(); }).status, SYNCYTE_ERR_INTERRUPTED);
  one.wait();
  EXPECT_TRUE(one.test());
}

}  // namespace
