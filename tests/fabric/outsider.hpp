// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace syncyte::test {

/// An outsider sends so many messages of each kind.
inline constexpr int hellos = 30, deaths = 10, requests = 10, large = 100,
                     messages = hellos + deaths + requests + large;

/// Facts that an outsider may know of a rank.
struct target {
  std::uint64_t process = 0;
  std::uint64_t other_process = 0;  // of the next rank
  std::uint64_t communicator = 0;
  std::size_t address_bytes = 0;
  std::array<char, 4096> address{};
  std::size_t port_count = 0;
  std::array<sockaddr_in, 64> ports{};
};

}  // namespace syncyte::test
