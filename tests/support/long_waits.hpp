#pragma once
// Properties of waits that another rank ends.

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>

#include "core_world.hpp"
#include "fabric/process_engine.hpp"
#include "watchdog/interrupts.hpp"

namespace syncyte::test {

/// Messages that this process has sent by the fabric.
inline std::int64_t sent_messages() {
  std::string reason;
  const fabric::engine* const engine = fabric::process_engine(reason);
  return engine != nullptr ? engine->sent().messages.load() : 0;
}

/// Calls wait(), during which this process serves nobody. It looks at another node's memory once a millisecond at most.
template <class Wait>
void expect_few_messages(Wait&& wait) {
  using namespace std::chrono;
  constexpr std::int64_t others = 30;  // of the operation itself, and of the connection
  const auto begin = steady_clock::now();
  const std::int64_t before = sent_messages();
  wait();
  const std::int64_t sent = sent_messages() - before;
  EXPECT_LE(sent, duration_cast<milliseconds>(steady_clock::now() - begin).count() + others);
}

/// Calls wait(), which cannot end, and interrupts it.
template <class Wait>
void expect_interruptible(Wait&& wait) {
  const auto begin = std::chrono::steady_clock::now();
  watchdog::set_interrupt_function([](void*) { return std::int32_t{1}; }, nullptr);
  expect_error(outcome_of(wait), SYNCYTE_ERR_INTERRUPTED, "");
  watchdog::set_interrupt_function(nullptr, nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

/// Calls access() while another process is stopped for a quarter of a second, and asks the waits in it to end. It
/// succeeds nevertheless.
template <class Access>
void expect_uninterruptible(pid_t stopped, Access&& access) {
  watchdog::set_interrupt_function([](void*) { return std::int32_t{1}; }, nullptr);
  kill(stopped, SIGSTOP);
  std::thread waker([stopped] {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    kill(stopped, SIGCONT);
  });
  EXPECT_NO_THROW(access());
  waker.join();
  watchdog::set_interrupt_function(nullptr, nullptr);
}

}  // namespace syncyte::test
