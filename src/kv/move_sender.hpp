// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "fabric/members.hpp"
#include "kv/move_messages.hpp"

namespace syncyte::kv {

/// Sends requests that move keys. One thread uses it.
class move_sender {
 public:
  move_sender(std::shared_ptr<const fabric::members> ranks, fabric::object_name to);
  ~move_sender();

  /// Adds a key to the next request of this operation to this rank; a number goes before the values.
  void add(int rank, move_operation what, std::uint64_t argument, std::uint64_t offset,
           std::span<const std::byte> values = {}, std::optional<std::uint8_t> number = {});
  /// The number of the next request.
  std::uint64_t next() const { return next_; }
  /// Whether requests of an operation with numbers below one are not answered.
  bool has_unanswered(move_operation what, std::uint64_t below);
  /// Whether requests of an operation to a rank are not answered, or not yet sent.
  bool has_unanswered(int rank, move_operation what);
  /// Whether nothing is to be sent, and all that was sent has been looked at after its end.
  bool is_idle() const { return added_.empty() && in_flight_.empty(); }
  /// Sends what was added; true if there was something.
  bool flush();

  /// A request that has failed: the rank is dead, or has refused it.
  struct failure {
    int rank;
    move_operation what;
    std::vector<std::uint64_t> offsets;
    std::string reason;
  };
  /// Those since the last call. Looks at requests in flight once a millisecond at most.
  std::vector<failure> take_failures();

 private:
  struct sent;
  static bool is_unanswered(sent& which);
  struct part {
    move_operation what;
    std::vector<std::uint64_t> offsets;
  };

  std::shared_ptr<const fabric::members> ranks_;
  fabric::object_name to_;
  fabric::stream stream_;
  std::map<std::pair<int, move_operation>, moved_keys> added_;  // by rank and operation
  std::list<sent> in_flight_;                                   // destroyed before the stream
  std::chrono::nanoseconds looked_{};
  std::uint64_t next_ = 0;
};

}  // namespace syncyte::kv
