// SPDX-License-Identifier: BSD-3-Clause
// Processor time of the serving thread while nothing is in flight. UCX's keepalive messages go to callers too, which no
// thread uses then: their queues must not fill.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "../tensor/tensor_world.hpp"

namespace {

using namespace syncyte;
using namespace syncyte::test;

/// Seconds of the processor that this process's serving thread has used.
double serving_seconds() {
  double seconds = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    double nanoseconds = 0;
    std::ifstream(task.path() / "comm") >> name;
    std::ifstream(task.path() / "schedstat") >> nanoseconds;
    if (name == "syncyte-fabric") seconds += nanoseconds * 1e-9;
  }
  return seconds;
}

TEST(idle, queues_of_idle_callers_do_not_fill) {
  if (ranks() < 2 || !has_fabric()) GTEST_SKIP() << "needs the fabric and several ranks";
  constexpr std::int64_t rows_each = 4;
  const auto tensor = make_tensor(SYNCYTE_INT64, {rows_each * ranks(), 1});
  fill<std::int64_t>(*tensor);
  EXPECT_EQ(read_all<std::int64_t>(*tensor), filled_table<std::int64_t>(rows_each * ranks()));
  barrier();
  std::this_thread::sleep_for(std::chrono::seconds(3));  // more messages than a queue holds
  const bool has_many_messages = std::getenv("SYNCYTE_UCX_KEEPALIVE_INTERVAL") != nullptr;
  const double before = serving_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_LT(serving_seconds() - before, has_many_messages ? 0.2 : 0.01) << "seconds of one";
  barrier();
}

}  // namespace
