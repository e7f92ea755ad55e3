// SPDX-License-Identifier: BSD-3-Clause
// Processor time and messages of a store that nobody uses, after copies have ended or while there are some.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "simulated_store.hpp"

namespace {

using namespace syncyte;
using namespace std::chrono_literals;
using until = test::simulated_worker::until;

constexpr std::int64_t keys = 40;

std::int64_t sent_messages(test::simulated_store& store) {
  std::int64_t result = 0;
  for (int rank = 0; rank < store.shape().ranks(); ++rank) result += store.engine(rank).sent().messages;
  return result;
}

/// The store sends nothing, and all threads of this process use less than a tenth of a core, while this one sleeps.
void expect_idle(test::simulated_store& store, const std::string& when) {
  std::this_thread::sleep_for(30ms);  // the last changes reach copies
  const std::int64_t sent = sent_messages(store);
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / 0.3, 0.1) << when;
  EXPECT_EQ(sent_messages(store), sent) << when;
}

/// Two nodes of two ranks each. The workers that have copies are no agents' ranks.
TEST(idle_store, sleeps) {
  test::simulated_store store({.nodes = 2, .ranks_per_node = 2, .keys = keys, .length = 2, .foreign_bytes = 1 << 16}, 1,
                              fabric::time_limits{.resend = 5ms, .deadline = 60s});
  test::simulated_worker mine(store.at(1)), other(store.at(3));
  std::vector<std::int64_t> all(keys);
  std::iota(all.begin(), all.end(), 0);
  std::vector<float> ones(2 * keys, 1.0f);
  for (int round = 0; round < 30; ++round) {
    mine.open_window(all);
    other.open_window(all);
    mine.flush();
    other.flush();
    for (int i = 0; i < 3; ++i) {
      mine.run(kv::push, all, ones.data(), until::done);
      other.run(kv::push, all, ones.data(), until::done);
    }
    if (round % 10 == 4) expect_idle(store, fmt::format("with copies, round {}", round));
    mine.close_window(all);
    if (round % 2 == 0) std::this_thread::sleep_for(2ms);
    other.close_window(all);
    if (round % 10 == 9) expect_idle(store, fmt::format("after copies, round {}", round));
  }
}

}  // namespace
