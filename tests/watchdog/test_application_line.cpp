// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/application_line.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

namespace {

using namespace syncyte::watchdog;

class watchdog_application_line : public testing::Test {
 protected:
  ~watchdog_application_line() override { set_line_function(nullptr, nullptr); }
};

TEST_F(watchdog_application_line, is_the_functions_text) {
  EXPECT_FALSE(has_line_function());
  EXPECT_EQ(application_line(), "unknown");
  char context[] = "train.py:7";
  set_line_function(
      [](std::int64_t bytes, void* text, void* given) {
        std::strncpy(static_cast<char*>(text), static_cast<char*>(given), static_cast<std::size_t>(bytes));
      },
      context);
  EXPECT_TRUE(has_line_function());
  EXPECT_EQ(application_line(), "train.py:7");
  context[0] = '\0';
  EXPECT_EQ(application_line(), "unknown");
}

TEST_F(watchdog_application_line, is_cut_if_the_function_fills_the_room) {
  set_line_function(
      [](std::int64_t bytes, void* text, void*) { std::memset(text, 'x', static_cast<std::size_t>(bytes)); }, nullptr);
  EXPECT_EQ(application_line(), std::string(line_bytes - 1, 'x'));
}

TEST_F(watchdog_application_line, a_function_that_hangs_is_not_waited_for_and_not_called_again) {
  struct {
    std::atomic<int> calls = 0;
    std::atomic<bool> may_end = false;
  } state;
  set_line_function(
      [](std::int64_t, void* text, void* context) {
        auto& seen = *static_cast<decltype(state)*>(context);
        ++seen.calls;
        while (!seen.may_end) std::this_thread::yield();
        std::strcpy(static_cast<char*>(text), "late");
      },
      &state);
  EXPECT_EQ(application_line(), "unknown");
  EXPECT_EQ(application_line(), "unknown");
  EXPECT_EQ(state.calls, 1);
  state.may_end = true;
  while (application_line() != "late") std::this_thread::yield();
}

}  // namespace
