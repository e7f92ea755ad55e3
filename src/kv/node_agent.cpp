// SPDX-License-Identifier: BSD-3-Clause
#include "kv/node_agent.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

namespace syncyte::kv {

void node_agent::want(std::int64_t slot, bool is_own, const std::shared_ptr<wait>& by) {
  if (!is_own && held_.granted(slot) != 0) return;
  auto found = asked_.find(slot);
  if (found == asked_.end()) {
    const std::int64_t record = is_own ? 0 : reserve(slot);
    if (!is_own && record == 0) return;
    found = asked_.emplace(slot, asked{record, {}}).first;
    messages_.push_back({agent_message::acquire, slot});
  }
  if (!found->second.by.empty() && found->second.by.back() == by) return;  // the key repeats
  found->second.by.push_back(by);
  ++by->keys;
}

/// Memory for a record; 0 if there is none, even without the keys that are given back for it.
std::int64_t node_agent::reserve(std::int64_t slot) {
  constexpr int most_evicted = 8;  // whose records may have other sizes
  std::int64_t record = held_.reserve(slot);
  for (int i = 0; record == 0 && i < most_evicted && evict_oldest(); ++i) record = held_.reserve(slot);
  return record;
}

/// Gives the key back that has been here longest; false if there is none, or it is being written.
bool node_agent::evict_oldest() {
  while (!arrivals_.empty()) {
    const arrival oldest = arrivals_.front();
    if (held_.granted(oldest.slot) == oldest.number) {
      if (!recall(oldest.slot)) return false;
      arrivals_.pop_front();
      return true;
    }
    arrivals_.pop_front();
  }
  return false;
}

/// Forgets keys that have left when there are many of them.
void node_agent::add_arrival(std::int64_t slot) {
  arrivals_.push_back({slot, held_.grants()});
  if (arrivals_.size() < 2 * held_.size() + 64) return;
  std::erase_if(arrivals_, [&](const arrival& each) { return held_.granted(each.slot) != each.number; });
}

void node_agent::settle(const asked& of) {
  for (const auto& each : of.by) --each->keys;
}

bool node_agent::grant(std::int64_t slot, std::span<const std::byte> values) {
  const auto found = asked_.find(slot);
  access_result added = access_result::elsewhere;
  if (found != asked_.end() && found->second.record != 0)
    added = held_.add(slot, found->second.record, values);
  else
    base::log(SYNCYTE_LOG_ERROR, "slot {} of a store is granted, and nobody asked for it", slot);
  if (added == access_result::busy) return false;
  if (added == access_result::done)
    add_arrival(slot);
  else
    messages_.push_back({agent_message::give_back, slot, {values.begin(), values.end()}});
  if (found == asked_.end()) return true;
  if (added != access_result::done && found->second.record != 0) held_.release(slot, found->second.record);
  settle(found->second);
  asked_.erase(found);
  return true;
}

void node_agent::refuse(std::int64_t slot) {
  const auto found = asked_.find(slot);
  if (found == asked_.end()) return;
  if (found->second.record != 0) held_.release(slot, found->second.record);
  settle(found->second);
  asked_.erase(found);
}

bool node_agent::recall(std::int64_t slot) {
  message back{agent_message::give_back, slot, std::vector<std::byte>(held_.value_bytes(slot))};
  access_result removed = access_result::done;
  if (base::error_of([&] { removed = held_.remove(slot, back.values.data()); })) {
    held_.drop(slot);
    back = {agent_message::give_back_none, slot};
  }
  if (removed == access_result::done) messages_.push_back(std::move(back));
  return removed != access_result::busy;
}

void node_agent::refuse_if(const std::function<bool(std::int64_t)>& is_lost) {
  std::vector<std::int64_t> lost;
  for (const auto& [slot, of] : asked_)
    if (is_lost(slot)) lost.push_back(slot);
  for (const std::int64_t slot : lost) refuse(slot);
}

}  // namespace syncyte::kv
