// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "fabric/process_table.hpp"

namespace syncyte::fabric {

/// Another process of the job, or this one.
struct peer {
  peer(const process_table& members, std::size_t rank)
      : process(members.at(rank).process),
        key(members.at(rank).key),
        address(members.address(rank)),
        address_memory(members.memory()),
        world_rank(members.at(rank).world_rank) {}

  const std::uint64_t process;
  const process_key key;
  const std::string_view address;  ///< of its serving worker
  const std::shared_ptr<const void> address_memory;
  const int world_rank;              ///< negative: not of MPI_COMM_WORLD
  std::atomic<bool> is_dead{false};  ///< for good
};

/// Time limits of requests.
struct time_limits {
  std::chrono::nanoseconds resend = std::chrono::seconds(2);    ///< silence after which requests are sent again
  std::chrono::nanoseconds deadline = std::chrono::seconds(8);  ///< silence after which a process is dead
};

inline std::chrono::nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace syncyte::fabric
