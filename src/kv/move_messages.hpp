// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "access/item_requests.hpp"
#include "base/error.hpp"
#include "fabric/members.hpp"

namespace syncyte::kv {

/// Requests that move keys. Their items are slots of the home rank, counted from its first one. They go through the
/// fabric's reserved caller: none of them waits for another request. Those that are sent to a rank together are sent in
/// the order of their numbers: a node gives a key back before it asks for it again, and a home recalls what it has
/// granted.
enum class move_operation : std::uint16_t {
  // To a home rank, at the object of operations on keys; the first argument is the node.
  give_back = 4,  ///< data: values
  give_back_none = 5,
  keep = 6,
  acquire = 7,
  intend = 8,
  // To an agent, at the object of agents; the first argument is the home rank.
  grant = 9,  ///< data: values
  recall = 10,
  ask_back = 11,
  refuse = 12,
  // To the agent of the worker's own node, by a common caller: the items are slots of any rank.
  localize = 13,
  begin_windows = 14,  ///< of intents
  end_windows = 15,
  settle = 16,  ///< without items: answered when all that is asked for is granted or refused
  // To a home rank, by a common caller: the answer has a number for each key, as std::int32_t.
  locate = 17,      ///< the rank at whose node it is
  adopt_last = 18,  ///< 1: it was lost with its node, and the home's last value is its value now
};

/// Keys of one request, and their values, for access::item_requests.
class moved_keys {
 public:
  moved_keys(std::string owner, move_operation what, std::uint64_t argument)
      : owner_(std::move(owner)), what_(what), argument_(argument) {}

  void add(std::uint64_t offset, std::span<const std::byte> values) {
    offsets_.push_back(offset);
    data_.insert(data_.end(), values.begin(), values.end());
    ends_.push_back(data_.size());
  }

  move_operation what() const { return what_; }
  const std::vector<std::uint64_t>& offsets() const { return offsets_; }

  std::string owner_name() const { return owner_; }
  std::uint16_t operation() const { return static_cast<std::uint16_t>(what_); }
  bool happens_once() const { return true; }
  bool reads() const { return false; }
  std::span<const std::byte> own() const { return {}; }
  std::size_t size() const { return offsets_.size(); }
  std::size_t most_together() const { return size(); }
  std::uint64_t offset(std::size_t i) const { return offsets_[i]; }
  std::size_t bytes(std::size_t i) const { return ends_[i] - begin(i); }
  std::array<std::uint64_t, 2> arguments(std::size_t) const { return {argument_, 0}; }
  void write(std::size_t first, std::size_t count, std::byte* to) const;
  void read(std::size_t, std::size_t, const std::byte*) const {}

 private:
  std::size_t begin(std::size_t i) const { return i == 0 ? 0 : ends_[i - 1]; }

  std::string owner_;
  move_operation what_;
  std::uint64_t argument_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::byte> data_;
  std::vector<std::size_t> ends_;
};

/// Sends requests that move keys. One thread uses it.
class move_sender {
 public:
  move_sender(std::shared_ptr<const fabric::members> ranks, fabric::object_name to);
  ~move_sender();

  /// Adds a key to the next request of this operation to this rank.
  void add(int rank, move_operation what, std::uint64_t argument, std::uint64_t offset,
           std::span<const std::byte> values = {});
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

  std::shared_ptr<const fabric::members> ranks_;
  fabric::object_name to_;
  fabric::stream stream_;
  std::map<std::pair<int, move_operation>, moved_keys> added_;  // by rank and operation
  std::list<sent> in_flight_;                                   // destroyed before the stream
  std::chrono::nanoseconds looked_{};
};

}  // namespace syncyte::kv
