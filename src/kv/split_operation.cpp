// SPDX-License-Identifier: BSD-3-Clause
#include "kv/split_operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"

namespace syncyte::kv {

split_operation::forward::forward(std::shared_ptr<home> at, const operation& what, int node, std::string holder,
                                  std::vector<forwarded_keys::key> keys)
    : of(std::move(at)),
      requests(of->agents, what, of->facts->rank, std::move(holder), std::move(keys)),
      running(of->forwards) {
  running.add(of->facts->agent(node), requests);
  running.drive();
}

split_operation::split_operation(std::shared_ptr<home> at, const operation& what, int node,
                                 std::vector<std::int64_t> slots, std::span<const std::size_t> left,
                                 std::vector<std::byte> values)
    : home_(std::move(at)), what_(&what), node_(node), values_(std::move(values)) {
  left_.reserve(left.size());
  std::size_t begin = 0;
  auto next = left.begin();
  for (std::size_t i = 0; i < slots.size() && next != left.end(); ++i) {
    const std::size_t bytes = home_->values.values_of(slots[i]).size();
    if (*next == i) {
      left_.push_back({i, slots[i], std::span(values_).subspan(begin, bytes)});
      ++next;
    }
    begin += bytes;
  }
}

split_operation::~split_operation() {
  for (key& each : left_)
    if (each.is_counted) home_->directory.remove_waiting(each.slot);
}

void split_operation::count_waiting(key& which) {
  if (!std::exchange(which.is_counted, true)) home_->directory.add_waiting(which.slot);
}

/// Takes a key out of left_ as soon as that is not being looped over.
void split_operation::finish(key& which) {
  if (std::exchange(which.is_counted, false)) home_->directory.remove_waiting(which.slot);
  which.slot = -1;
}

/// Takes the results of forwards; false if some are not there yet. Throws if one has failed.
bool split_operation::collect() {
  if (!std::ranges::all_of(forwards_, [](const auto& each) { return each->running.test(); })) return false;
  for (const auto& each : forwards_)
    for (const forwarded_keys::key& done : each->requests.keys()) {
      key& mine = *std::ranges::lower_bound(left_, done.place, {}, &key::place);
      mine.has_bounced = done.has_bounced;
      if (!done.has_bounced) finish(mine);
    }
  forwards_.clear();
  std::erase_if(left_, [](const key& each) { return each.slot < 0; });
  return true;
}

access_result split_operation::run(key& which) {
  const std::int64_t slot = which.slot;
  absent_keys absent;
  const std::size_t done = what_->attempt(home_->values, {&slot, 1}, which.values.data(), which.values.data(), absent);
  return done == 0 ? access_result::busy : access_result::done;
}

/// `elsewhere`: copies have to end first.
access_result split_operation::run_shared(key& which) {
  const access_result prepared = home_->directory.prepare(node_, which.slot, what_->replaces);
  if (prepared != access_result::done) return prepared;
  if (what_->attempt_shared == nullptr) return run(which);
  const access_result done = what_->attempt_shared(home_->values, which.slot, which.values.data());
  if (done != access_result::busy && !what_->reads) home_->directory.note_change(node_, which.slot);
  return done;
}

void split_operation::fail_lost(const key& which) const {
  const move_facts& facts = *home_->facts;
  const int node = home_->directory.holder(which.slot);
  base::refuse(
      SYNCYTE_ERR_PEER_DIED, {.rank = facts.agent(node).world_rank},
      fmt::format("key {} was lost at the node of {}, where a rank died; expected set() or adopt_last() before",
                  facts.key(which.slot), facts.agent_name(node)));
}

void split_operation::trace_forward(std::int64_t slot) const {
  const move_facts& facts = *home_->facts;
  if (facts.trace.follows(slot)) [[unlikely]]
    facts.trace.sends(slot, "home", name_of_request(what_->number), facts.node_name(home_->directory.holder(slot)),
                      home_->state_of(slot));
}

bool split_operation::progress() {
  if (!collect()) return false;
  std::map<int, std::vector<forwarded_keys::key>> to_forward;
  for (key& each : left_) {
    auto at = home_->directory.find(each.slot);
    if (at == key_directory::place::lost && what_->replaces) {
      home_->directory.restore(each.slot);
      at = key_directory::place::at_home;
    }
    if (at == key_directory::place::at_home || at == key_directory::place::shared) {
      const access_result done = at == key_directory::place::at_home ? run(each) : run_shared(each);
      if (done == access_result::busy) break;  // a later place may be the same key
      done == access_result::elsewhere ? count_waiting(each) : finish(each);
    } else if (at == key_directory::place::lost) {
      fail_lost(each);
    } else {
      count_waiting(each);
      if (at == key_directory::place::away && !each.has_bounced) {
        trace_forward(each.slot);
        to_forward[home_->directory.holder(each.slot)].push_back(
            {each.place, static_cast<std::uint64_t>(each.slot - home_->slots.first), each.values});
      }
    }
  }
  std::erase_if(left_, [](const key& each) { return each.slot < 0; });
  if (!to_forward.empty()) home_->send_messages();
  for (auto& [node, keys] : to_forward) {
    const std::int64_t first = home_->slots.first + static_cast<std::int64_t>(keys.front().offset);
    std::string holder = fmt::format("{} (which has key {})", home_->facts->agent_name(node), home_->facts->key(first));
    forwards_.push_back(std::make_unique<forward>(home_, *what_, node, std::move(holder), std::move(keys)));
  }
  return left_.empty();
}

}  // namespace syncyte::kv
