#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "fabric/message.hpp"

namespace syncyte::fabric {

/// Another process of the job, or this one.
struct peer {
  peer(std::uint64_t number, const process_key& secret, std::string_view bytes, std::shared_ptr<const void> memory)
      : process(number), key(secret), address(bytes), address_memory(std::move(memory)) {}

  const std::uint64_t process;     ///< random number of the process
  const process_key key;           ///< messages to it carry it
  const std::string_view address;  ///< of its serving worker
  const std::shared_ptr<const void> address_memory;
  std::atomic<bool> is_dead{false};  ///< for good
  std::atomic<int> world_rank{-1};   ///< in MPI_COMM_WORLD; negative: not known, or not of it
};

/// Processes of a communicator, by rank.
using peer_list = std::vector<peer*>;

/// Time limits of requests.
struct time_limits {
  std::chrono::nanoseconds resend = std::chrono::seconds(2);    ///< silence after which requests are sent again
  std::chrono::nanoseconds deadline = std::chrono::seconds(8);  ///< silence after which a process is dead
};

inline std::chrono::nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace syncyte::fabric
