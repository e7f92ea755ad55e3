// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "access/item_requests.hpp"

namespace syncyte::kv {

/// Requests that move keys. Their items are slots of the home rank, counted from its first one. They go through the
/// fabric's reserved caller: none of them waits for another request. Those that are sent to a rank together are sent in
/// the order of their numbers: a node gives a key back, or ends its copy, before it asks for it again, and a home
/// recalls what it has granted.
enum class move_operation : std::uint16_t {
  // To a home rank, at the object of operations on keys; the first argument is the node.
  give_back = 4,  ///< data: values
  give_back_none = 5,
  share = 6,  ///< data: values; the node keeps a copy
  keep = 7,
  pushes = 8,          ///< data: their number and pushes
  end_copy = 9,        ///< data: pushes
  end_copy_none = 10,  ///< without pushes
  acquire = 11,
  intend = 12,
  renew = 13,  ///< the item is the number of barriers: answered by `renewed` when all copies of the node are fresh
  // To an agent, at the object of agents; the first argument is the home rank.
  grant = 14,       ///< data: values
  grant_copy = 15,  ///< data: values
  refresh = 16,     ///< data: the number of pushes and values
  recall = 17,
  invalidate = 18,
  ask_back = 19,
  refuse = 20,
  renewed = 21,
  put_off = 33,  ///< a refusal: intents of the key get nothing for some time
  // To the agent of the worker's own node, by a common caller: the items are slots of any rank; the first argument is
  // the worker's rank.
  localize = 22,
  begin_windows = 23,  ///< of intents
  end_windows = 24,
  // The same; the item says nothing.
  settle = 25,        ///< answered when all that is asked for is granted or refused
  look = 26,          ///< at dirty copies
  send_pushes = 27,   ///< answered when all pushes to copies are in main copies
  renew_copies = 28,  ///< the item is the number of barriers: answered when all copies are fresh
  // To a home rank of the worker's own node, by a common caller; the item says nothing.
  changed = 29,  ///< changed_keys has keys
  // To a home rank or an agent: requests of several operations above, see joined_moves.
  several = 32,
  // To a home rank, by a common caller: the answer has a number for each key, as std::int32_t.
  locate = 30,      ///< the rank at whose node it is
  adopt_last = 31,  ///< 1: it was lost with its node, and the home's last value is its value now
};

/// Name of a request to a home or an agent, such as "grant copy" or, for an operation on values, "pull".
const char* name_of_request(std::uint16_t operation);

/// Keys of one request, and their values, for access::item_requests.
class moved_keys {
 public:
  moved_keys(std::string owner, move_operation what, std::uint64_t argument)
      : owner_(std::move(owner)), what_(what), argument_(argument) {}

  void add(std::uint64_t offset, std::span<const std::byte> values, std::optional<std::uint8_t> number = {}) {
    offsets_.push_back(offset);
    if (number) data_.push_back(std::byte{*number});
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

}  // namespace syncyte::kv
