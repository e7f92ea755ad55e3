// SPDX-License-Identifier: BSD-3-Clause
#include "atomics/backoff.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace syncyte::atomics {

namespace {

constexpr int spins = 32;
constexpr int yields = 32;
constexpr int most_doublings = 10;  // from a sleep of 2 us, the first one

}  // namespace

void backoff::pause(seconds longest) {
  ++turns_;
  if (turns_ <= spins) return;
  if (turns_ <= spins + yields) {
    sched_yield();
    return;
  }
  const int doublings = std::min(turns_ - spins - yields, most_doublings);
  std::this_thread::sleep_for(std::min(seconds(1e-6 * (1 << doublings)), longest));
}

bool backoff::is_time_to_poll() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < std::chrono::milliseconds(1)) return false;
  looked_ = now;
  return true;
}

}  // namespace syncyte::atomics
