// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "memory/descriptor.hpp"
#include "memory/local_socket.hpp"

namespace syncyte::memory {

/// A random number by which processes of one job, or callers of a shared cache, identify each other.
using nonce = std::array<std::uint64_t, 2>;

/// Passes descriptors to processes of the same user through a socket that memory/local_socket.hpp names.

/// Gives the files, in one message, to one process that connects within the time, and sends the nonce within a second
/// after that. Returns whether a process got them.
bool hand_over(const descriptor& listener, std::span<const descriptor> files, const nonce& secret,
               std::chrono::milliseconds timeout);

/// Connects, sends the nonce and receives a descriptor. Throws SYNCYTE_ERR_UNSUPPORTED, naming the step that failed.
descriptor receive_from(const std::string& name, const nonce& secret, std::chrono::milliseconds timeout);

/// receive_from() for any number of descriptors, but returns none if there is no listener, or if the listener ended
/// before it gave one. Waits as long as `keeps_waiting`, called ten times a second, returns true. Throws
/// SYNCYTE_ERR_ARGUMENT if the listener refuses the nonce.
std::vector<descriptor> try_to_receive_from(const std::string& name, const nonce& secret,
                                            const std::function<bool()>& keeps_waiting);

}  // namespace syncyte::memory
