// SPDX-License-Identifier: BSD-3-Clause
// Threads begin and end watched operations while Syncyte ends, and afterwards. They must not crash or hang.

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "lifecycle/lifecycle.hpp"
#include "watchdog/scope.hpp"

int main() {
  using namespace syncyte;
  constexpr auto pause = std::chrono::milliseconds(50);
  lifecycle::start(3);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!is_over) {
        const watchdog::scope inside("test_operation", "test", 1);
        const watchdog::started_scope listed("test_operation", "test", 2);
      }
    });
  std::this_thread::sleep_for(pause);
  lifecycle::finish();
  std::this_thread::sleep_for(pause);
  is_over = true;
  for (std::thread& each : threads) each.join();
  return 0;
}
