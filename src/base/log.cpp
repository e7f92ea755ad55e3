// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <time.h>

#include <atomic>
#include <cstdio>

#include "base/environment.hpp"

namespace syncyte::base {
namespace {

std::atomic<int> the_rank{-1};

/// Local time of day, such as 09:05:07.042318.
std::string time_of_day() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  localtime_r(&now.tv_sec, &local);
  return fmt::format("{:02}:{:02}:{:02}.{:06}", local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1'000);
}

}  // namespace

void set_process_rank(int rank) { the_rank = rank; }

int process_rank() { return the_rank; }

bool log_enabled(syncyte_log_level_t level) {
  static_assert(static_cast<int>(settings::log_level::debug) == SYNCYTE_LOG_DEBUG);
  static const auto most = static_cast<int>(*environment_choice(settings::log));
  return level > SYNCYTE_LOG_OFF && level <= most;
}

void log_line(syncyte_log_level_t level, const std::string& message) {
  static constexpr const char* names[] = {"off", "error", "warning", "info", "debug"};
  const int rank = process_rank();
  const std::string who = rank >= 0 ? fmt::format("rank {}", rank) : "no rank yet";
  const std::string line = fmt::format("{} syncyte {} [{}] {}\n", time_of_day(), names[level], who, message);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);  // for programs that buffer stderr
}

}  // namespace syncyte::base
