// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "memory/descriptor.hpp"

namespace syncyte::memory {

/// Unix sockets of processes of one user: messages of bytes, each with some descriptors or none. A socket's name is a
/// path, or "@..." for the abstract name "\0...", which is in no file system.

/// Listens, without blocking in accept_caller(); throws SYNCYTE_ERR_UNSUPPORTED.
descriptor listen_at(const std::string& name);

/// Whether any process listens at the name; false for a name that a killed process has left.
bool is_listened_at(const std::string& name);

/// The next caller; none if there is none, or if it is another user's. Throws SYNCYTE_ERR_LIMIT.
descriptor accept_caller(const descriptor& listener);

/// A connection, or why there is none.
struct connection {
  descriptor socket;
  const char* failed_step = nullptr;
  int code = 0;  // errno
};

/// Connects. While the listener's queue is full it waits as long as `keeps_waiting` returns true.
connection connect_to(const std::string& name, const std::function<bool()>& keeps_waiting);

/// Throws SYNCYTE_ERR_UNSUPPORTED, or SYNCYTE_ERR_LIMIT for too many open files.
[[noreturn]] void fail_step(const char* step, const std::string& name, int code);

/// Two ends of a connection within this process; throws SYNCYTE_ERR_LIMIT, SYNCYTE_ERR_UNSUPPORTED.
std::pair<descriptor, descriptor> connected_pair();

/// Most bytes, and most descriptors, of a message that is received whole.
inline constexpr std::size_t longest_message = 8192;
inline constexpr std::size_t most_files = 3;

/// Sends a message, with copies of descriptors; does not wait. Returns 0 or errno.
int send_message(const descriptor& socket, const std::string& bytes, std::span<const descriptor> files = {});

/// A message; `code` is errno, or 0 with empty bytes at the connection's end.
struct message {
  std::string bytes;
  std::vector<descriptor> files;
  int code = 0;
};

/// Receives a message; does not wait (EAGAIN).
message receive_message(const descriptor& socket);

/// Waits until there is a message, a caller or the connection's end; false if the time passes first.
bool wait_readable(const descriptor& socket, std::chrono::steady_clock::time_point deadline);

}  // namespace syncyte::memory
