// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/long_wait.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "../mpi/mpi_world.hpp"
#include "own_record.hpp"
#include "watchdog/interrupts.hpp"

namespace {

using namespace syncyte;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct counting_wait final : watchdog::long_wait {
  void examine(std::optional<watchdog::scope>&) override { ++examined; }
  int examined = 0;
};

/// Polls for a tenth of a second or more; returns the time.
milliseconds poll_long(watchdog::long_wait& wait) {
  const auto begin = steady_clock::now();
  while (!wait.poll() || steady_clock::now() - begin < milliseconds(110)) std::this_thread::yield();
  return std::chrono::ceil<milliseconds>(steady_clock::now() - begin);
}

TEST(watchdog_long_wait, works_a_hundred_times_a_second_and_asks_every_tenth_time) {
  int asked = 0;
  watchdog::set_interrupt_function(
      [](void* calls) -> std::int32_t {
        ++*static_cast<int*>(calls);
        return 0;
      },
      &asked);
  counting_wait wait;
  EXPECT_FALSE(wait.poll());
  EXPECT_EQ(wait.examined, 0);
  const milliseconds lasted = poll_long(wait);
  EXPECT_GE(wait.examined, 2);
  EXPECT_LE(wait.examined, lasted / milliseconds(10) + 1);
  while (wait.examined < 20) wait.poll();
  watchdog::set_interrupt_function(nullptr, nullptr);
  EXPECT_EQ(asked, wait.examined / 10);
}

TEST(watchdog_long_wait, bytes_that_were_sent_before_need_time) {
  counting_wait wait;
  EXPECT_FALSE(wait.has_lasted());
  poll_long(wait);
  EXPECT_TRUE(wait.has_lasted());
  EXPECT_TRUE(wait.has_lasted(1000));
  EXPECT_FALSE(wait.has_lasted(std::size_t{1} << 40));
}

TEST(watchdog_long_wait, a_check_follows_when_messages_have_had_time_to_arrive) {
  const auto begin = steady_clock::now();
  const auto check = [&] {
    EXPECT_GE(steady_clock::now() - begin, milliseconds(40));  // the next poll is due after 10 ms
    throw std::runtime_error("no hope");
  };
  watchdog::checked_wait wait(check);
  const auto poll = [&] {
    while (true) wait.poll();
  };
  EXPECT_THROW(poll(), std::runtime_error);
}

TEST(watchdog_long_wait, is_shown_once_it_is_long_and_until_its_end) {
  const test::own_record mine;
  {
    watchdog::plain_wait wait("tensor_create", "world");
    EXPECT_FALSE(wait.poll());
    EXPECT_EQ(mine->records[0].is_taken, 0);
    watchdog::poll_until([&] { return mine->records[0].is_inside == 1; }, wait);
    EXPECT_EQ(mine->records[0].name.text(), "tensor_create on world");
    poll_long(wait);
    EXPECT_EQ(mine->records[1].is_taken, 0);
  }
  EXPECT_EQ(mine->records[0].is_inside, 0);
}

TEST(watchdog_long_wait, ends_when_a_rank_has_died) {
  test::in_child([] {
    counting_wait other;  // needs no MPI
    watchdog::plain_wait wait("tensor_create", "world");
    mpi::declare_dead(0);
    const auto never = [] { return false; };
    test::expect_error(test::outcome_of([&] { watchdog::poll_until(never, wait, [] {}); }), SYNCYTE_ERR_PEER_DIED, "");
    test::expect_error(test::outcome_of([&] { watchdog::poll_mpi_until(never, wait); }), SYNCYTE_ERR_PEER_DIED, "");
    watchdog::poll_until([&] { return other.examined > 0; }, other, [] {});
  });
}

}  // namespace
