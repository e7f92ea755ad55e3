// SPDX-License-Identifier: BSD-3-Clause
#include "kv/node_agent.hpp"

#include "base/error.hpp"
#include "base/log.hpp"

namespace syncyte::kv {

/// Asks for a key unless it is asked for; null: it is here, or there is no memory for it.
node_agent::asked* node_agent::ask(std::int64_t slot, bool is_own, wish why) {
  if (!is_own && held_.granted(slot) != 0) return nullptr;
  if (const auto found = asked_.find(slot); found != asked_.end()) return &found->second;
  const std::int64_t record = is_own ? 0 : reserve(slot, why);
  if (!is_own && record == 0) return nullptr;
  messages_.push_back({why == wish::localize ? agent_message::acquire : agent_message::intend, slot});
  return &asked_.emplace(slot, asked{record, why, now_}).first->second;
}

void node_agent::localize(std::int64_t slot, bool is_own, const std::shared_ptr<wait>& by) {
  asked* const found = ask(slot, is_own, wish::localize);
  if (found == nullptr) return;
  found->is_localized = true;
  if (!found->by.empty() && found->by.back() == by) return;  // the key repeats
  found->by.push_back(by);
  ++by->keys;
}

void node_agent::intend(std::int64_t slot, bool is_own) {
  if (!is_own) ++windows_[slot];
  ask(slot, is_own, wish::intend);
}

void node_agent::release(std::int64_t slot) {
  const auto found = windows_.find(slot);
  if (found != windows_.end() && --found->second == 0) windows_.erase(found);
}

void node_agent::note_coming(std::int64_t slot) {
  const auto found = asked_.find(slot);
  if (found == asked_.end()) return;
  coming_.add(now_ - found->second.since);
  held_.set_coming_time(coming_.nearly_longest());
}

void node_agent::settle(const std::shared_ptr<wait>& by) {
  for (auto& [slot, of] : asked_) of.by.push_back(by);
  by->keys += asked_.size();
}

/// Memory for a record; 0 if there is none, even without the keys that are given back for it.
std::int64_t node_agent::reserve(std::int64_t slot, wish why) {
  constexpr int most_evicted = 8;  // whose records may have other sizes
  std::int64_t record = held_.reserve(slot);
  for (int i = 0; record == 0 && i < most_evicted && evict(why); ++i) record = held_.reserve(slot);
  return record;
}

/// Gives the key back that has been here longest of those that nobody intends to use. If the first ones are all
/// intended, the next one leaves for a key that is localized. False if none leaves.
bool node_agent::evict(wish why) {
  constexpr int most_passed = 16;
  for (int passed = 0; !arrivals_.empty();) {
    const arrival oldest = arrivals_.front();
    const bool is_here = held_.granted(oldest.slot) == oldest.number;
    const bool is_needed = is_here && is_intended(oldest.slot);
    const bool leaves = is_here && (!is_needed || (passed == most_passed && why == wish::localize));
    if (is_needed && !leaves && passed++ == most_passed) return false;
    if (leaves && !recall(oldest.slot)) return false;  // it is being written
    arrivals_.pop_front();
    if (leaves) return true;
    if (is_here) arrivals_.push_back(oldest);
  }
  return false;
}

/// Forgets keys that have left when there are many of them.
void node_agent::add_arrival(std::int64_t slot) {
  arrivals_.push_back({slot, held_.grants()});
  if (arrivals_.size() < 2 * held_.size() + 64) return;
  std::erase_if(arrivals_, [&](const arrival& each) { return held_.granted(each.slot) != each.number; });
}

void node_agent::end_wait(const asked& of) {
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
  end_wait(found->second);
  asked_.erase(found);
  return true;
}

/// A key that is localized is asked for again, because only the intent was refused.
void node_agent::refuse(std::int64_t slot) {
  const auto found = asked_.find(slot);
  if (found == asked_.end()) return;
  if (found->second.why == wish::localize || !found->second.is_localized) return give_up(slot);
  found->second.why = wish::localize;
  messages_.push_back({agent_message::acquire, slot});
}

void node_agent::give_up(std::int64_t slot) {
  const auto found = asked_.find(slot);
  if (found == asked_.end()) return;
  if (found->second.record != 0) held_.release(slot, found->second.record);
  end_wait(found->second);
  asked_.erase(found);
}

bool node_agent::ask_back(std::int64_t slot) {
  if (!is_intended(slot)) return recall(slot);
  if (held_.granted(slot) != 0) messages_.push_back({agent_message::keep, slot});
  return true;
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

void node_agent::give_up_if(const std::function<bool(std::int64_t)>& is_lost) {
  std::vector<std::int64_t> lost;
  for (const auto& [slot, of] : asked_)
    if (is_lost(slot)) lost.push_back(slot);
  for (const std::int64_t slot : lost) give_up(slot);
}

}  // namespace syncyte::kv
