// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "access/item_list.hpp"
#include "fabric/target.hpp"
#include "kv/home.hpp"
#include "kv/looks_for_deaths.hpp"
#include "kv/node_agent.hpp"
#include "kv/operations.hpp"
#include "kv/paced_rounds.hpp"

namespace syncyte::kv {

/// The agent of this node, for the workers of its node, which localize keys and intend to use them, and for homes of
/// other nodes: it takes grants, gives keys back, and does forwarded operations (forwarded_keys) on keys that are here.
class agent_target final : public fabric::target {
 public:
  /// `homes`: the object of homes, table_target. `memory` keeps the memory of `held`.
  agent_target(std::shared_ptr<held_keys> held, std::shared_ptr<const move_facts> facts, fabric::object_name homes,
               std::shared_ptr<void> memory)
      : held_(std::move(held)),
        facts_(std::move(facts)),
        memory_(std::move(memory)),
        agent_(*held_, facts_->effect),
        messages_(facts_->ranks, homes) {}

  bool serve(fabric::served_request& request, fabric::answer& reply) override;
  bool progress() override;
  /// Every rank has an agent, and one of a node is asked.
  bool makes_progress() const override { return facts_->agents[facts_->node] == facts_->rank; }
  std::chrono::nanoseconds time_left(std::chrono::nanoseconds now) const override;

 private:
  bool handle(fabric::served_request& request, const access::served_items& items, fabric::answer& reply);
  bool handle_traced(fabric::served_request& request, const access::served_items& items, fabric::answer& reply);
  void find_slots_of_windows(const access::served_items& items);
  void find_asked(move_operation what, const access::served_items& items);
  std::string state_of(std::int64_t slot) const;
  std::string own_name() const;
  bool localize(fabric::served_request& request, const access::served_items& items);
  void begin_window(const access::served_items& items);
  void end_windows(const access::served_items& items);
  void close_windows_of_dead_ranks();
  bool settle(fabric::served_request& request);
  bool renew_copies(fabric::served_request& request, std::uint64_t barriers);
  void ask_whether_fresh(std::uint64_t barriers);
  bool send_pushes(fabric::served_request& request);
  enum class pushes_are { due, paced };
  bool send_messages(pushes_are when);
  bool is_dead(int home) const { return facts_->ranks->at(home).is_dead; }
  bool take_value(move_operation what, std::int64_t slot, std::span<const std::byte> data);
  bool take_values(move_operation what, fabric::served_request& request, const access::served_items& items);
  bool take_back(move_operation what, fabric::served_request& request);
  bool run(const operation& what, fabric::served_request& request, const access::served_items& items,
           fabric::answer& reply);
  void prefetch_from(std::size_t i) const {
    constexpr std::size_t ahead = 16;
    if (i + ahead < asked_.size()) held_->prefetch(asked_[i + ahead]);
  }
  void find_any_slots(const access::served_items& items);
  void find_slots(const access::served_items& items);
  bool is_own(std::int64_t slot) const { return facts_->is_here(facts_->home_of(slot)); }
  void send(const node_agent::message& what);

  std::shared_ptr<held_keys> held_;
  std::shared_ptr<const move_facts> facts_;
  std::shared_ptr<void> memory_;
  node_agent agent_;
  move_sender messages_;
  paced_rounds rounds_;
  std::vector<std::int64_t> asked_;  // slots of the request that is served
  struct windows_of_rank {
    const fabric::peer* process;
    std::unordered_map<std::uint64_t, std::vector<std::int64_t>> slots = {};  // by the numbers of the windows
  };
  windows_of_rank& windows_of(const access::served_items& items);
  std::map<int, windows_of_rank> windows_;  // open ones of this node's workers for other nodes' keys, by rank
  std::set<int> renewing_;                  // homes that were asked whether copies are fresh
  looks_for_deaths deaths_;                 // of homes with keys that are asked for
};

}  // namespace syncyte::kv
