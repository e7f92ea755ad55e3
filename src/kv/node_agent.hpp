// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
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
#include "kv/intents.hpp"
#include "kv/key_directory.hpp"

namespace syncyte::kv {

/// What a node's agent tells the home of a key, in one session, in order.
enum class agent_message : std::uint8_t {
  acquire,         ///< this node wants the main copy: a worker localizes the key
  intend,          ///< the same: a worker intends to use it
  give_back,       ///< here it is again; the record follows
  give_back_none,  ///< it is lost: a rank died while it wrote the values
  keep,            ///< the home asked for it, and a worker intends to use it
};

/// The agent of a node: asks homes for keys that its node's workers want, and gives them back. It counts the windows of
/// intents in which the workers are, or will be soon, for each key of another node. One thread uses it, the one that
/// serves requests of the node's lowest rank.
///
/// | | none | asked | main copy here |
/// |---|---|---|---|
/// | a worker localizes it | acquire: asked; without memory refused | the worker waits too | it is there |
/// | a worker intends it | intend: asked; without memory refused | | it is there |
/// | grant | INTERNAL; given back, so that it is not lost | main copy here | INTERNAL; given back |
/// | refuse | ignored: nobody waits | none; acquire if a worker localizes what was intended | INTERNAL |
/// | recall | ignored: it is on its way back | ignored: it is on its way back, and asked for again | given back |
/// | ask back | as recall | as recall | kept if a worker intends it, otherwise given back |
/// | forwarded operation | bounces | bounces | done |
/// | the agent needs memory | | | those that have been here longest, and nobody intends, are given back |
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

  /// A worker localizes a key of another node, or one of this node that is not at home (`is_own`). Counts the key in
  /// `by`, until it is granted or refused, if it is not here.
  void localize(std::int64_t slot, bool is_own, const std::shared_ptr<wait>& by);
  /// A worker is, or will be soon, in a window in which it intends to use a key, until release() as often.
  void intend(std::int64_t slot, bool is_own);
  void release(std::int64_t slot);
  /// Times of the calls that follow, and of a grant or refusal of a key and those that come with it.
  void begin(std::chrono::nanoseconds now) { now_ = now; }
  void note_coming(std::int64_t slot);
  /// Counts all keys that are asked for now in `by`.
  void settle(const std::shared_ptr<wait>& by);

  /// Messages of a home. False: try again later.
  bool grant(std::int64_t slot, std::span<const std::byte> values);
  void refuse(std::int64_t slot);
  bool recall(std::int64_t slot);
  bool ask_back(std::int64_t slot);

  /// Whether nothing is asked for, and there are no messages.
  bool is_idle() const { return asked_.empty() && messages_.empty(); }
  /// Messages to send, in this order.
  std::vector<message> take_messages() { return std::exchange(messages_, {}); }

  /// Asks no longer for a key, or for those for which is_lost(slot).
  void give_up(std::int64_t slot);
  void give_up_if(const std::function<bool(std::int64_t)>& is_lost);

 private:
  struct asked {
    std::int64_t record;  // 0: the key is one of this node
    wish why;             // the home was told
    std::chrono::nanoseconds since;
    bool is_localized = false;
    std::vector<std::shared_ptr<wait>> by = {};
  };
  struct arrival {
    std::int64_t slot;
    held_keys::grant_number number;
  };

  asked* ask(std::int64_t slot, bool is_own, wish why);
  std::int64_t reserve(std::int64_t slot, wish why);
  bool evict(wish why);
  bool is_intended(std::int64_t slot) const { return windows_.contains(slot); }
  void add_arrival(std::int64_t slot);
  void end_wait(const asked& of);

  held_keys& held_;
  std::unordered_map<std::int64_t, asked> asked_;
  std::unordered_map<std::int64_t, std::int64_t> windows_;  // of intents, by slot
  std::deque<arrival> arrivals_;                            // of keys that may be here
  std::vector<message> messages_;
  std::chrono::nanoseconds now_{};
  recent_times coming_;
};

}  // namespace syncyte::kv
