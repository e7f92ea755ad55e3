#include "window/backoff.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace syncyte::window {

namespace {

constexpr int spins = 32;
constexpr int yields = 32;
constexpr std::chrono::microseconds longest{1000};

}  // namespace

void backoff::pause() {
  ++turns_;
  if (turns_ <= spins) return;
  if (turns_ <= spins + yields) {
    sched_yield();
    return;
  }
  const int doublings = std::min(turns_ - spins - yields, 10);
  std::this_thread::sleep_for(std::min(std::chrono::microseconds(1 << doublings), longest));
}

bool backoff::is_time_to_look() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < std::chrono::milliseconds(1)) return false;
  looked_ = now;
  return true;
}

}  // namespace syncyte::window
