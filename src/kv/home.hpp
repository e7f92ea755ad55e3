// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "fabric/members.hpp"
#include "kv/changed_keys.hpp"
#include "kv/key_directory.hpp"
#include "kv/key_range.hpp"
#include "kv/move_sender.hpp"
#include "kv/move_trace.hpp"
#include "kv/paced_rounds.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// What the ranks of a store know of each other, for keys that move.
struct move_facts {
  std::shared_ptr<const fabric::members> ranks;
  int rank;                                        // of this process
  int node;                                        // of this rank
  std::shared_ptr<const int[]> agents;             // the rank of each node's agent
  std::function<std::int64_t(std::int64_t)> key;   // of a slot, for errors
  std::function<int(std::int64_t)> home_of;        // the home rank of a slot
  std::function<key_range(int)> slots;             // of a rank
  std::function<bool(int)> is_here;                // whether a rank is of this node
  std::function<bool(std::int64_t)> is_elsewhere;  // of a slot whose home is at this node
  intent_effect effect;
  std::function<bool(std::int64_t)> is_intended;  // of a slot of this rank: whether this node's workers intend it
  changed_keys changed;                           // of this rank

  move_trace trace = {};

  std::string agent_name(int at) const { return ranks->rank_name(agents[at]); }
  fabric::peer& agent(int at) const { return ranks->at(agents[at]); }
  bool is_dead(int at) const { return agent(at).is_dead; }
  /// "node 2 (rank 5 of world)", for the trace.
  std::string node_name(int at) const;
};

/// The keys of this rank, as their home: where they are, and the way to those that are at other nodes.
struct home {
  home(const table& own, std::shared_ptr<const move_facts> known, fabric::object_name agents_object)
      : values(own),
        facts(std::move(known)),
        slots(facts->slots(facts->rank)),
        agents(agents_object),
        directory(own, slots,
                  {.own = facts->node,
                   .is_dead = [of = facts](int node) { return of->is_dead(node); },
                   .is_intended = facts->is_intended,
                   .is_behind = [this](int node) { return is_behind(node); },
                   .now = fabric::now,
                   .effect = facts->effect}),
        forwards(facts->ranks->through(), fabric::stream::by::reserved_caller),
        messages(facts->ranks, agents_object) {}

  home(const home&) = delete;
  home& operator=(const home&) = delete;

  /// Sends what the directory has to tell; true if there was something. An operation that is forwarded to a node
  /// follows the grant of its key: send them before it.
  bool send_messages() {
    queue_messages();
    return messages.flush();
  }
  void queue_messages();
  /// Says where a key is, for the trace: "at node 2".
  std::string state_of(std::int64_t slot) const;
  /// Makes copies fresh: in rounds, but those of nodes that have sent pushes at once, because a barrier of theirs may
  /// wait until they can send the next ones.
  void refresh(std::chrono::nanoseconds now);
  bool needs_round() const { return !facts->changed.is_empty() || directory.has_refreshes(); }
  void take_changes();
  bool is_behind(int node) { return messages.has_unanswered(facts->agents[node], move_operation::refresh); }

  table values;
  std::shared_ptr<const move_facts> facts;
  key_range slots;
  fabric::object_name agents;
  key_directory directory;
  fabric::stream forwards;
  move_sender messages;
  paced_rounds rounds;
  std::set<int> pushed;  // nodes that have sent pushes and have not got fresh values since
};

}  // namespace syncyte::kv
