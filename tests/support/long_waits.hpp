// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Properties of waits that another rank ends.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
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

/// Checks that wait() reads another node's memory at most once a millisecond; the process must send nothing else.
template <class Wait>
void expect_few_messages(Wait&& wait) {
  using namespace std::chrono;
  constexpr std::int64_t others = 30;  // messages of the operation itself, and of the connection
  const auto begin = steady_clock::now();
  const std::int64_t before = sent_messages();
  wait();
  const std::int64_t sent = sent_messages() - before;
  EXPECT_LE(sent, duration_cast<milliseconds>(steady_clock::now() - begin).count() + others);
}

/// Checks that wait(), which cannot end by itself, ends with an error when it is interrupted.
template <class Wait>
void expect_interruptible(Wait&& wait) {
  const auto begin = std::chrono::steady_clock::now();
  watchdog::set_interrupt_function([](void*) { return std::int32_t{1}; }, nullptr);
  expect_error(outcome_of(wait), SYNCYTE_ERR_INTERRUPTED, "");
  watchdog::set_interrupt_function(nullptr, nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

/// Checks that access() succeeds on rank 0 although it is interrupted while the process of `owner` is stopped.
/// Collective.
template <class Access>
void expect_uninterruptible(int owner, Access&& access) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world().rank() == owner)
    EXPECT_EQ(std::system("kill -STOP $PPID; sleep 0.35; kill -CONT $PPID"), 0);
  else if (world().rank() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    watchdog::set_interrupt_function([](void*) { return std::int32_t{1}; }, nullptr);
    EXPECT_NO_THROW(access());
    watchdog::set_interrupt_function(nullptr, nullptr);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace syncyte::test
