// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/interrupts.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace {

using namespace syncyte::watchdog;

/// The interrupt function of this thread during the object's lifetime.
struct asked {
  int calls = 0;
  bool wants_end = false;
  bool asked_inside = false;

  asked() {
    set_interrupt_function(
        [](void* context) -> std::int32_t {
          auto& self = *static_cast<asked*>(context);
          ++self.calls;
          self.asked_inside = is_asked_to_end();  // a wait inside the function
          return self.wants_end ? 1 : 0;
        },
        this);
  }
  ~asked() { set_interrupt_function(nullptr, nullptr); }
};

TEST(watchdog_interrupts, the_function_decides) {
  asked function;
  EXPECT_NO_THROW(ask_for_interrupt());
  function.wants_end = true;
  EXPECT_THROW(ask_for_interrupt(), interrupted);
  EXPECT_EQ(function.calls, 2);
  EXPECT_FALSE(function.asked_inside);
  set_interrupt_function(nullptr, nullptr);
  EXPECT_FALSE(is_asked_to_end());
}

TEST(watchdog_interrupts, only_the_thread_that_set_the_last_function_is_asked) {
  asked first;
  first.wants_end = true;
  std::thread([] {
    EXPECT_FALSE(is_asked_to_end());
    set_interrupt_function([](void*) { return std::int32_t{1}; }, nullptr);
    EXPECT_TRUE(is_asked_to_end());
  }).join();
  EXPECT_FALSE(is_asked_to_end());
  EXPECT_EQ(first.calls, 0);
}

TEST(watchdog_interrupts, short_requests_do_without) {
  asked function;
  function.wants_end = true;
  {
    const without_interrupts outer;
    {
      const without_interrupts inner;
    }
    EXPECT_NO_THROW(ask_for_interrupt());
  }
  EXPECT_THROW(ask_for_interrupt(), interrupted);
}

TEST(watchdog_interrupts, a_postponed_one_ends_the_next_wait_alone) {
  asked function;
  postpone_interrupt();
  EXPECT_TRUE(is_asked_to_end());
  EXPECT_EQ(function.calls, 0);
  EXPECT_FALSE(is_asked_to_end());
}

}  // namespace
