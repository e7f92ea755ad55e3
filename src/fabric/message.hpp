// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "memory/scratch.hpp"

namespace syncyte::fabric {

/// Version of the messages' format; processes of different versions do not use the fabric with each other.
inline constexpr std::uint32_t wire_version = 7;

enum class message_kind : std::uint16_t {
  hello = 1,      ///< begins a session; the payload is the address that answers go to
  request = 2,    ///< to an owner
  answer = 3,     ///< to a caller: the request is done, or failed
  working = 4,    ///< to a caller that sent a request again: it is known and not done yet
  heartbeat = 5,  ///< to the next process of the ring
  death = 6,      ///< the process whose number is the first argument is dead
  received = 7,   ///< to an owner: the caller has the answers up to `received`
};

/// Secret of a process, which the processes of its job learn over MPI. It must not appear in a log or an error.
using process_key = std::array<std::uint64_t, 2>;

/// The beginning of each message, in the sender's byte order.
struct message_header {
  process_key key = {};            ///< of the receiver, which drops messages with another one
  std::uint64_t sender = 0;        ///< random number of the sender (peer::process)
  std::uint64_t number = 0;        ///< of the request in its session, from 1
  std::uint64_t received = 0;      ///< requests: the caller has the answers up to this number, or has given them up
  std::uint64_t communicator = 0;  ///< the object is the communicator's
  std::uint64_t object = 0;        ///< number of the object on its communicator
  std::uint32_t session = 0;       ///< number of the caller in its process
  message_kind kind = message_kind::request;
  std::uint16_t operation = 0;  ///< of the object, defined by its layer
  std::int32_t status = 0;      ///< answers: a status; the payload of an error is base::error::pack()
  /// Requests: 1 if the operation must happen once, because it changes memory, or because its answer must not have
  /// later changes.
  std::uint32_t changes = 0;
  std::uint64_t arguments[4] = {};  ///< of the operation
};
static_assert(std::is_trivially_copyable_v<message_header> && sizeof(message_header) == 104);

/// Longest payload of a message; more data travels in several messages.
inline constexpr std::size_t most_payload = std::size_t{256} << 10;

/// Most requests of a caller to an owner that are in flight, counted from the oldest one without an answer.
inline constexpr std::size_t most_unanswered = 8;

/// Most callers of a process; one of them is the reserved one (stream::by).
inline constexpr std::size_t most_callers = 17;

/// Longest address of a worker.
inline constexpr std::size_t most_address = std::size_t{16} << 10;

/// A message to send. It does not change once it is passed to a worker.
struct message {
  message() = default;
  message(const message_header& begin, std::size_t bytes) : header(begin), data(bytes), size(bytes) {}

  std::span<std::byte> payload() const { return {data.data(), size}; }

  message_header header;
  memory::scratch data;
  std::size_t size = 0;
};

}  // namespace syncyte::fabric
