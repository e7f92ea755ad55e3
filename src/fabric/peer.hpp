#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "fabric/message.hpp"

namespace syncyte::fabric {

/// Another process of the job, or this one.
struct peer {
  peer(std::uint64_t number, const process_key& secret, std::string_view bytes)
      : process(number), key(secret), address(bytes) {}

  const std::uint64_t process;       ///< random number of the process
  const process_key key;             ///< messages to it carry it
  const std::string address;         ///< of its serving worker
  std::atomic<bool> is_dead{false};  ///< for good
  std::atomic<int> world_rank{-1};   ///< in MPI_COMM_WORLD; negative: not known, or not of it
};

/// Time limits of requests.
struct time_limits {
  std::chrono::nanoseconds resend = std::chrono::seconds(2);    ///< silence after which requests are sent again
  std::chrono::nanoseconds deadline = std::chrono::seconds(8);  ///< silence after which a process is dead
};

inline std::chrono::nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace syncyte::fabric
