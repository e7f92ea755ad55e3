// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kv/held_keys.hpp"

namespace syncyte::kv {

/// What a node's agent tells the home of a key, in one session, in order.
enum class agent_message : std::uint8_t {
  acquire,         ///< this node wants the main copy
  give_back,       ///< here it is again; the record follows
  give_back_none,  ///< it is lost: a rank died while it wrote the values
};

/// The agent of a node: asks homes for keys that its node's workers want, and gives them back. One thread uses it, the
/// one that serves requests of the node's lowest rank.
///
/// | | none | asked | main copy here |
/// |---|---|---|---|
/// | a worker wants it | acquire: asked; without memory refused | the worker waits too | it is there |
/// | grant | INTERNAL; given back, so that it is not lost | main copy here | INTERNAL; given back |
/// | refuse | ignored: nobody waits | none | INTERNAL |
/// | recall | ignored: it is on its way back | ignored: it is on its way back, and asked for again | given back |
/// | forwarded operation | bounces | bounces | done |
/// | the agent needs memory | | | the keys that have been here longest are given back |
/// | death of the home | | none: refused | it stays |
class node_agent {
 public:
  /// Keys that a worker waits for.
  struct wait {
    std::size_t keys = 0;
  };
  struct message {
    agent_message what;
    std::int64_t slot;
    std::vector<std::byte> values = {};
  };

  explicit node_agent(held_keys& held) : held_(held) {}

  /// A worker wants a key of another node, or one of this node that is not at home (`is_own`). Counts the key in
  /// `by`, until it is granted or refused, if it is not here.
  void want(std::int64_t slot, bool is_own, const std::shared_ptr<wait>& by);

  /// Messages of a home. False: try again later.
  bool grant(std::int64_t slot, std::span<const std::byte> values);
  void refuse(std::int64_t slot);
  bool recall(std::int64_t slot);

  /// Whether nothing is asked for, and there are no messages.
  bool is_idle() const { return asked_.empty() && messages_.empty(); }
  /// Messages to send, in this order.
  std::vector<message> take_messages() { return std::exchange(messages_, {}); }

  /// Refuses the asked keys for which is_lost(slot).
  void refuse_if(const std::function<bool(std::int64_t)>& is_lost);

 private:
  struct asked {
    std::int64_t record;  // 0: the key is one of this node
    std::vector<std::shared_ptr<wait>> by;
  };
  struct arrival {
    std::int64_t slot;
    held_keys::grant_number number;
  };

  std::int64_t reserve(std::int64_t slot);
  bool evict_oldest();
  void add_arrival(std::int64_t slot);
  void settle(const asked& of);

  held_keys& held_;
  std::unordered_map<std::int64_t, asked> asked_;
  std::deque<arrival> arrivals_;  // of keys that may be here
  std::vector<message> messages_;
};

}  // namespace syncyte::kv
