// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "access/transfer.hpp"
#include "fabric/members.hpp"
#include "kv/changed_keys.hpp"
#include "kv/held_keys.hpp"
#include "kv/home.hpp"
#include "kv/intents.hpp"
#include "kv/key_homes.hpp"
#include "kv/keys_by_owner.hpp"
#include "kv/operations.hpp"
#include "kv/started_operations.hpp"
#include "kv/table.hpp"
#include "kv/unanswered_operations.hpp"
#include "kv/window_counts.hpp"
#include "topology/node_group.hpp"

namespace syncyte::kv {

/// A started operation, or what is left of it.
struct started_transfer {
  std::unique_ptr<access::transfer> rest;  // null: it is done
  unanswered_operations until_its_end = {};
  std::int64_t remote_keys = 0;  // that were asked for at their homes
  bool was_detoured = false;     // keys that are here were asked for, because operations before it had asked
};

/// Values of all keys at the ranks of several nodes. Keys at this node, of its ranks or moved here, are read and
/// written in its memory. Ranks of other nodes get requests, one stream for each rank; they overlap. Several threads
/// may use a table at once.
///
/// After an error any key of the list may have been processed or not; each rank processes its keys in order. A rank
/// processes operations of one stream in the order of their starts, operations of several streams in any order.
class spread_table {
 public:
  /// Names of the objects that serve requests: make_home() and make_agent(). Equal on all ranks.
  struct object_names {
    fabric::object_name homes, agents;
  };
  /// Needed for keys that move.
  struct moves {
    std::shared_ptr<held_keys> held;      // memory of this node for other nodes' keys
    std::shared_ptr<const int[]> agents;  // the rank of each node's agent
    intent_effect effect = intent_effect::moves_or_copies;
    std::vector<window_counts> windows = {};  // for keys of each of the node's ranks
    std::vector<changed_keys> changed = {};   // of the node's ranks
    std::string store = "a store";            // its name, for SYNCYTE_STORE_TRACE
  };

  /// `tables` have the keys of the node's ranks, by rank within the node; `rank` is this one, of `node`, which stays.
  spread_table(std::shared_ptr<fabric::members> ranks, const topology::node_group& node, int rank,
               std::shared_ptr<const key_homes> homes, std::vector<table> tables, object_names objects,
               std::optional<moves> moving);

  /// The object for requests about this rank's keys, and that of the agent, which every rank has if keys move. `memory`
  /// keeps the memory of the tables and of moves::held. They refer to this one.
  std::shared_ptr<fabric::target> make_home(std::shared_ptr<void> memory);
  std::shared_ptr<fabric::target> make_agent(std::shared_ptr<void> memory);

  /// No rank sends requests any more.
  void stop_serving();

  /// Whether all keys are at this node now, for an operation behind `before`.
  bool are_here(std::span<const std::int64_t> keys, const unanswered_operations& before = {}) const;

  /// Asks homes at which rank's node keys are.
  void locate(std::span<const std::int64_t> keys, std::int32_t* ranks) const;
  /// Gives keys that were lost with their node the last values that their homes know; 1 for each such key.
  void adopt_last(std::span<const std::int64_t> keys, std::int32_t* flags) const;

  /// A stream for start(), which outlives its operations.
  std::unique_ptr<fabric::stream> make_stream() const { return std::make_unique<fabric::stream>(ranks_->through()); }

  /// Begins an operation: keys at this node are done on return; wait() for the others, or if `is_driven` let them make
  /// progress and wait later. This object and `values`, which only an operation that reads the store changes, stay
  /// until the end; `keys` need not. The transfer throws an error of this node's keys; without a transfer this function
  /// does. `before`: operations in the same stream.
  started_transfer start(fabric::stream& in, const operation& what, std::span<const std::int64_t> keys, float* values,
                         bool is_driven, const unanswered_operations& before = {});

  /// Pulls keys if all are at this node; otherwise false, and `values` are unchanged.
  bool pull_here(std::span<const std::int64_t> keys, std::span<float> values, const unanswered_operations& before);

  bool has_moves() const { return held_ != nullptr; }
  /// Asks for keys to be moved to this node; the transfer, which may be null, ends when each is here or refused.
  std::unique_ptr<access::transfer> localize(fabric::stream& in, std::span<const std::int64_t> keys);

  /// A number for a window of an intent, which no other one of this rank has.
  std::uint64_t number_window() { return windows_numbered_.fetch_add(1, std::memory_order_relaxed); }
  /// Windows open, then others close, in one stream. Keys that are not here are asked for when a window opens. The
  /// transfer may be null; it waits for no key. For keys that move.
  std::unique_ptr<access::transfer> change_windows(fabric::stream& in, std::span<const intents::window> opening,
                                                   std::span<const intents::window> closing);
  /// Ends when all keys that this node has asked for are here or refused.
  std::unique_ptr<access::transfer> settle(fabric::stream& in);
  /// Collective operations call the first before all ranks have met, and the second after it: then all workers see all
  /// pushes that were complete before, also in copies.
  void send_pushes();
  void renew_copies();
  /// The time in which nearly all keys come that this node asks for.
  std::chrono::nanoseconds coming_time() const { return held_->coming_time(); }

 private:
  class run;

  std::shared_ptr<const move_facts> make_facts(std::shared_ptr<const int[]> agents, intent_effect effect,
                                               std::string store) const;
  table& table_of(int rank) { return tables_[static_cast<std::size_t>(node_.node_rank(rank))]; }
  void ask_homes(const char* name, move_operation what, std::span<const std::int64_t> keys,
                 std::int32_t* results) const;
  template <class Prefetch, class Visit>
  void for_each_slot(std::span<const std::int64_t> keys, Prefetch&& prefetch, Visit&& visit) const;
  moved_keys open_window(intent_window& which) const;
  void close_window(const intent_window& which) const;
  std::unique_ptr<access::transfer> ask_agent(fabric::stream& in, const char* name, moved_keys keys) const;
  std::unique_ptr<access::transfer> tell_agent(fabric::stream& in, const char* name, move_operation what,
                                               std::uint64_t item = 0) const;
  void wait_for_agent(const char* name, move_operation what, std::uint64_t item = 0) const;
  void wake(int rank, fabric::object_name object, const char* name, move_operation what);
  void tell_of_changes(int home, std::span<const std::int64_t> slots);
  void notify(std::unique_ptr<access::transfer> notice);
  bool is_elsewhere(int place, std::int64_t slot) const;
  const table& table_at(int place) const { return tables_[static_cast<std::size_t>(place)]; }
  const window_counts& windows_at(int place) const { return windows_[static_cast<std::size_t>(place)]; }
  const window_counts& windows_of(int rank) const { return windows_at(node_.node_rank(rank)); }
  bool is_here(int home, std::int64_t slot,
               held_keys::grant_number newest = std::numeric_limits<held_keys::grant_number>::max()) const;
  bool is_agent_dead() const;
  bool has_dead_ranks() const;

  std::shared_ptr<fabric::members> ranks_;
  const topology::node_group& node_;
  int rank_, agent_;  // this one, and the one of the node's agent
  std::shared_ptr<const key_homes> homes_;
  std::vector<table> tables_;
  object_names objects_;

  // Null if keys do not move.
  std::shared_ptr<held_keys> held_;
  std::vector<window_counts> windows_;
  std::vector<changed_keys> changed_;
  std::shared_ptr<const move_facts> facts_;
  std::atomic<std::uint64_t> windows_numbered_ = 0;
  std::atomic<std::uint64_t> barriers_ = 0;  // calls of renew_copies()
  std::shared_ptr<fabric::stream> notifying_;
  started_operations notices_;  // to the agent and to homes of this node, about shared keys
};

}  // namespace syncyte::kv
