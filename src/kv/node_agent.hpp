// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kv/held_keys.hpp"
#include "kv/intents.hpp"
#include "kv/key_directory.hpp"
#include "kv/move_operation.hpp"
#include "kv/slot_counts.hpp"

namespace syncyte::kv {

/// The agent of a node: asks homes for keys that its node's workers want, gives them back, and tells homes of pushes to
/// copies. It counts the windows of intents in which the workers are, or will be soon, for each key of another node.
/// One thread uses it, the one that serves requests of the node's lowest rank.
///
/// | | none | asked | main copy here | copy here |
/// |---|---|---|---|---|
/// | a worker localizes it | acquire: asked | the worker waits too | it is there | ended; acquire: asked |
/// | a worker intends it | intend: asked | | it is there | it is there |
/// | the same without memory | refused | | | |
/// | the last window closes | | | | ended |
/// | grant | INTERNAL; given back, so that it is not lost | main copy here | INTERNAL; given back | as main copy |
/// | grant copy | INTERNAL; ended | copy here; without memory ended | INTERNAL; ended | as main copy |
/// | refuse | ignored: nobody waits | none; acquire if a worker localizes what was intended | ignored | ignored |
/// | put off | ignored | as refuse; later asked for again if a worker intends it | ignored | ignored |
/// | recall | ignored: it is on its way back | ignored: asked for again since | given back | ended |
/// | invalidate | ignored: it has ended | ignored | ignored | ended; intend if a worker intends it: asked |
/// | ask back, no worker intends it | ignored | ignored | given back | ended |
/// | ask back, a worker intends it | ignored | ignored | share: copy here; where keys only move, keep | ignored |
/// | refresh | ignored: it has ended | ignored | ignored | fresh |
/// | a worker pushes | | | done | pushes, once those before are in the home's value |
/// | forwarded operation | bounces | bounces | done | bounces |
/// | the agent needs memory | | | given back, the oldest first that nobody intends | ended, likewise |
/// | death of the home | | none: refused | it stays | it is dropped |
class node_agent {
 public:
  /// Keys that a worker waits for.
  struct wait {
    std::size_t keys = 0;
  };
  struct message {
    move_operation what;
    std::int64_t slot;
    std::vector<std::byte> values = {};
    std::uint8_t number = 0;  // of pushes
  };

  node_agent(held_keys& held, intent_effect effect) : held_(held), effect_(effect) {}

  /// A worker localizes a key of another node, or one of this node that is not at home (`is_own`). Counts the key in
  /// `by`, until it is granted or refused, if it is not here. False: try again later.
  bool localize(std::int64_t slot, bool is_own, const std::shared_ptr<wait>& by);
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
  bool grant_copy(std::int64_t slot, std::span<const std::byte> values);
  bool refresh(std::int64_t slot, std::span<const std::byte> values, std::uint8_t number);
  void refuse(std::int64_t slot);
  /// The same, and no intent asks for the key for some time.
  void put_off(std::int64_t slot);
  bool recall(std::int64_t slot);
  bool invalidate(std::int64_t slot);
  bool ask_back(std::int64_t slot);

  /// Whether the functions below have nothing to do.
  bool is_idle() const {
    return asked_.empty() && copies_.empty() && messages_.empty() && put_off_.is_empty() && !has_pushes();
  }
  /// Asks for keys that were put off, when the time is over, if workers intend to use them.
  void ask_again();
  /// Time until then; negative: there are none.
  std::chrono::nanoseconds time_without_intents(std::chrono::nanoseconds now) const;
  /// Ends copies that nobody intends to use; true if it did something.
  bool end_copies();
  /// Sends the pushes to dirty copies; true if it did something.
  bool send_pushes();
  bool has_pushes() const { return !dirty_.empty() || held_.has_dirty(); }
  /// Whether all pushes to copies before a moment have been taken as messages, after send_pushes().
  using moment = std::uint64_t;
  moment now() const { return last_moment_; }
  bool has_taken_pushes(moment before) const {
    const auto is_later = [&](const auto& each) { return each.second > before; };
    return std::ranges::all_of(waiting_, is_later) && std::ranges::all_of(busy_, is_later);
  }
  bool asks_for(std::int64_t slot) const { return asked_.contains(slot); }
  std::size_t copies() const { return copies_.size(); }
  /// Calls visit(slot) for keys of which there may be a copy, now or soon.
  template <class Visitor>
  void for_each_shared(Visitor&& visit) const {
    for (const std::int64_t slot : copies_) visit(slot);
    for (const auto& [slot, of] : asked_) visit(slot);
  }
  /// Messages to send, in this order.
  std::vector<message> take_messages() { return std::exchange(messages_, {}); }

  /// Asks no longer for a key, or for those for which is_lost(slot), whose copies are dropped.
  void give_up(std::int64_t slot);
  void give_up_if(const std::function<bool(std::int64_t)>& is_lost);

 private:
  struct asked {
    std::int64_t record;  // 0: the key is one of this node
    wish why;             // the home was told
    std::chrono::nanoseconds since;
    bool is_localized = false;
    wait* by = nullptr;  // the first of those who wait for it, and the others
    std::vector<wait*> also_by = {};
  };
  struct arrival {
    std::int64_t slot;
    held_keys::grant_number number;
  };

  using asked_map = std::unordered_map<std::int64_t, asked>;

  asked* ask(std::int64_t slot, bool is_own, wish why);
  void add_wait(asked& of, const std::shared_ptr<wait>& by);
  void end_wait(wait* by);
  asked& add_asked(std::int64_t slot, std::int64_t record, wish why);
  void forget(asked_map::iterator which);
  std::int64_t reserve(std::int64_t slot, wish why);
  bool reserve_copy(std::int64_t slot, std::int64_t record);
  bool give_back(std::int64_t slot);
  bool share(std::int64_t slot);
  bool end_copy(std::int64_t slot);
  bool send_pushes(std::int64_t slot);
  bool evict(wish why);
  bool is_intended(std::int64_t slot) const { return windows_.contains(slot); }
  void add_arrival(std::int64_t slot);

  held_keys& held_;
  const intent_effect effect_;
  asked_map asked_;
  std::unordered_map<wait*, std::shared_ptr<wait>> waits_;  // that have keys
  std::unordered_set<std::int64_t> copies_;                 // that are here
  // Dirty copies whose sent pushes are perhaps not in the home's last value, and since when.
  std::unordered_map<std::int64_t, moment> waiting_;
  std::unordered_map<std::int64_t, moment> busy_;  // dirty copies that were being written, and since when
  moment last_moment_ = 0;
  std::vector<std::int64_t> dirty_, ending_;  // copies
  slot_counts windows_;                       // of intents
  slot_counts put_off_;
  std::deque<std::pair<std::chrono::nanoseconds, std::int64_t>> ends_;  // of the times for them, in order
  std::deque<arrival> arrivals_;                                        // of keys that may be here
  std::vector<message> messages_;
  std::chrono::nanoseconds now_{};
  recent_times coming_;
};

}  // namespace syncyte::kv
