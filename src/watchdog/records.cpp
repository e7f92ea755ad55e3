// SPDX-License-Identifier: BSD-3-Clause
#include "watchdog/records.hpp"

#include <fmt/format.h>
#include <time.h>

#include <cstring>

namespace syncyte::watchdog {

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

void operation_name::set(const char* new_operation, const std::string& new_comm, std::uint64_t new_sequence) {
  std::strncpy(operation, new_operation, sizeof operation - 1);
  std::strncpy(comm, new_comm.c_str(), sizeof comm - 1);
  sequence = new_sequence;
}

bool operation_name::is(const operation_name& other) const {
  return sequence == other.sequence && std::strncmp(operation, other.operation, sizeof operation) == 0 &&
         std::strncmp(comm, other.comm, sizeof comm) == 0;
}

std::string operation_name::text() const {
  const std::uint64_t number = sequence;
  return fmt::format("{}{} on {}", operation, number == 0 ? "" : fmt::format(" #{}", number), comm);
}

}  // namespace syncyte::watchdog
