// SPDX-License-Identifier: BSD-3-Clause
// The barrier of a process's workers, while the application ends a wait.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "core_world.hpp"
#include "kv/worker_barrier.hpp"
#include "watchdog/interrupts.hpp"

namespace {

using namespace syncyte;

const std::string name = "parameters";

void meet(kv::worker_barrier& workers, std::int32_t number) {
  workers.run_once(number, "barrier", [] {});
}

/// The application's function: it returns 1 after the last worker has met the others.
struct slow_answer {
  std::atomic<bool> is_asked = false, is_over = false;
  int calls = 0;

  static std::int32_t answer(void* context) {
    auto& self = *static_cast<slow_answer*>(context);
    ++self.calls;
    self.is_asked = true;
    self.is_asked.notify_all();
    self.is_over.wait(false);
    return 1;
  }
};

TEST(worker_barrier, an_interrupt_after_the_last_arrival_ends_the_next_wait) {
  test::world();
  kv::worker_barrier workers(2, name);
  workers.join(0);
  workers.join(1);
  slow_answer asked;
  watchdog::set_interrupt_function(slow_answer::answer, &asked);
  {
    std::jthread last([&] {
      asked.is_asked.wait(false);
      meet(workers, 1);
      asked.is_over = true;
      asked.is_over.notify_all();
    });
    ASSERT_NO_THROW(meet(workers, 0));
  }
  EXPECT_THROW(meet(workers, 0), watchdog::interrupted);
  EXPECT_EQ(asked.calls, 1);
  watchdog::set_interrupt_function(nullptr, nullptr);
  for (int round = 0; round < 3; ++round) {
    std::jthread other([&] { meet(workers, 1); });
    meet(workers, 0);
  }
}

TEST(worker_barrier, an_interrupted_worker_has_not_arrived) {
  test::world();
  kv::worker_barrier workers(2, name);
  workers.join(0);
  workers.join(1);
  std::atomic<bool> is_met = false;
  slow_answer asked;
  asked.is_over = true;
  watchdog::set_interrupt_function(slow_answer::answer, &asked);
  EXPECT_THROW(meet(workers, 0), watchdog::interrupted);
  watchdog::set_interrupt_function(nullptr, nullptr);
  std::jthread other([&] {
    meet(workers, 1);
    is_met = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(is_met);
  meet(workers, 0);
}

}  // namespace
