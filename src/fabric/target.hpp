// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "fabric/message.hpp"

namespace syncyte::fabric {

/// Name of an object that ranks of a communicator have in common: equal on all of them.
struct object_name {
  std::uint64_t communicator;  // communicator::id()
  std::uint64_t number;        // of the object on that communicator
  auto operator<=>(const object_name&) const = default;
};

/// A request at its owner.
struct served_request {
  const message_header& header;
  std::span<const std::byte> payload;     // of any alignment
  std::size_t done = 0;                   // steps done by earlier calls of serve()
  std::shared_ptr<void> state = nullptr;  // what the object keeps for this request's next call of serve()
};

/// The answer of a request: bytes, none at first.
class answer {
 public:
  /// Storage of the answer's bytes, at most most_payload.
  std::span<std::byte> resize(std::size_t bytes) {
    data_ = memory::scratch(bytes);
    size_ = bytes;
    return {data_.data(), bytes};
  }

  /// The message that carries these bytes.
  std::shared_ptr<message> to_message(const message_header& header) {
    auto result = std::make_shared<message>();
    result->header = header;
    result->data = std::move(data_);
    result->size = std::exchange(size_, 0);
    return result;
  }

 private:
  memory::scratch data_;
  std::size_t size_ = 0;
};

/// An object at a process that serves other processes' requests.
class target {
 public:
  virtual ~target() = default;

  /// Does a request; called in the serving thread, for one request at a time, in order for each caller. It must not
  /// wait, nor call MPI. It answers false if it would have to wait, for a lock: it is called again later with the same
  /// `request.done`, which it may have increased, and its `request.state`, which is destroyed when the request is done
  /// or its caller has given it up. A base::error that it throws is the caller's.
  virtual bool serve(served_request& request, answer& reply) = 0;

  /// Does what is due besides requests, such as requests of its own. Called in the serving thread, if
  /// makes_progress(), whenever the thread has received something or is woken. True if it did something. It must not
  /// wait, nor call MPI.
  virtual bool progress() { return false; }
  virtual bool makes_progress() const { return false; }
  /// Time from `now` until progress() is due even if nothing is received; negative: it is not.
  virtual std::chrono::nanoseconds time_left(std::chrono::nanoseconds /*now*/) const {
    return std::chrono::nanoseconds(-1);
  }
};

}  // namespace syncyte::fabric
