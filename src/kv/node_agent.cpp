// SPDX-License-Identifier: BSD-3-Clause
#include "kv/node_agent.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace syncyte::kv {
namespace {

constexpr int most_evicted = 8;  // for one key; their records may have other sizes

}  // namespace

// ---- what workers want

/// Null: the key is here, or there is no memory for it.
node_agent::asked* node_agent::ask(std::int64_t slot, bool is_own, wish why) {
  if (!is_own && held_.granted(slot) != 0) return nullptr;
  if (const auto found = asked_.find(slot); found != asked_.end()) return &found->second;
  const std::int64_t record = is_own ? 0 : reserve(slot, why);
  if (!is_own && record == 0) return nullptr;
  messages_.push_back({why == wish::localize ? move_operation::acquire : move_operation::intend, slot});
  return &add_asked(slot, record, why);
}

node_agent::asked& node_agent::add_asked(std::int64_t slot, std::int64_t record, wish why) {
  asked& result = asked_.emplace(slot, asked{.record = record, .why = why, .since = now_}).first->second;
  held_.set_asked(asked_.size());
  return result;
}

/// A copy ends first; its worker tries again if that is not possible now.
bool node_agent::localize(std::int64_t slot, bool is_own, const std::shared_ptr<wait>& by) {
  if (!is_own && copies_.contains(slot) && !end_copy(slot)) return false;
  asked* const found = ask(slot, is_own, wish::localize);
  if (found == nullptr) return true;
  found->is_localized = true;
  const wait* const last = found->also_by.empty() ? found->by : found->also_by.back();
  if (last != by.get()) add_wait(*found, by);  // otherwise the key repeats
  return true;
}

void node_agent::intend(std::int64_t slot, bool is_own) {
  if (!is_own) windows_.add(slot);
  if (!put_off_.contains(slot)) ask(slot, is_own, wish::intend);
}

void node_agent::put_off(std::int64_t slot) {
  if (!put_off_.contains(slot)) {
    put_off_.add(slot);
    ends_.emplace_back(now_ + time_without_copies, slot);
  }
  refuse(slot);
}

void node_agent::ask_again() {
  for (; !ends_.empty() && ends_.front().first <= now_; ends_.pop_front()) {
    const std::int64_t slot = ends_.front().second;
    put_off_.remove(slot);
    if (is_intended(slot)) ask(slot, false, wish::intend);
  }
}

std::chrono::nanoseconds node_agent::time_without_intents(std::chrono::nanoseconds now) const {
  constexpr std::chrono::nanoseconds none(-1), at_once(0);
  return ends_.empty() ? none : std::max(at_once, ends_.front().first - now);
}

void node_agent::release(std::int64_t slot) {
  if (windows_.remove(slot) == 1 && copies_.contains(slot)) ending_.push_back(slot);
}

void node_agent::note_coming(std::int64_t slot) {
  const auto found = asked_.find(slot);
  if (found == asked_.end()) return;
  coming_.add(now_ - found->second.since);
  held_.set_coming_time(coming_.nearly_longest());
}

void node_agent::settle(const std::shared_ptr<wait>& by) {
  for (auto& [slot, of] : asked_) add_wait(of, by);
}

/// One reference keeps all keys' wait: to count one for each key by an atomic operation waits for memory.
void node_agent::add_wait(asked& of, const std::shared_ptr<wait>& by) {
  of.by == nullptr ? void(of.by = by.get()) : of.also_by.push_back(by.get());
  if (by->keys++ == 0) waits_.emplace(by.get(), by);
}

void node_agent::end_wait(wait* by) {
  if (--by->keys == 0) waits_.erase(by);
}

// ---- memory

/// Memory for a record; 0 if there is none, even without the keys that are given back for it.
std::int64_t node_agent::reserve(std::int64_t slot, wish why) {
  std::int64_t record = held_.reserve(slot);
  for (int i = 0; record == 0 && i < most_evicted && evict(why); ++i) record = held_.reserve(slot);
  return record;
}

bool node_agent::reserve_copy(std::int64_t slot, std::int64_t record) {
  bool is_reserved = held_.reserve_copy(slot, record);
  for (int i = 0; !is_reserved && i < most_evicted && evict(wish::intend); ++i)
    is_reserved = held_.reserve_copy(slot, record);
  return is_reserved;
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

/// Nobody waits for the key any more.
void node_agent::forget(asked_map::iterator which) {
  if (which->second.by != nullptr) end_wait(which->second.by);
  for (wait* const each : which->second.also_by) end_wait(each);
  asked_.erase(which);
  held_.set_asked(asked_.size());
}

// ---- main copies

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
    messages_.push_back({move_operation::give_back, slot, {values.begin(), values.end()}});
  if (found == asked_.end()) return true;
  if (added != access_result::done && found->second.record != 0) held_.release(slot, found->second.record);
  forget(found);
  return true;
}

/// A key that is localized is asked for again, because only the intent was refused.
void node_agent::refuse(std::int64_t slot) {
  const auto found = asked_.find(slot);
  if (found == asked_.end()) return;
  if (found->second.why == wish::localize || !found->second.is_localized) return give_up(slot);
  found->second.why = wish::localize;
  messages_.push_back({move_operation::acquire, slot});
}

void node_agent::give_up(std::int64_t slot) {
  const auto found = asked_.find(slot);
  if (found == asked_.end()) return;
  if (found->second.record != 0) held_.release(slot, found->second.record);
  forget(found);
}

bool node_agent::recall(std::int64_t slot) {
  if (copies_.contains(slot)) return end_copy(slot);
  return give_back(slot);
}

/// Gives a main copy back, if it is here; false: it is being written.
bool node_agent::give_back(std::int64_t slot) {
  message back{move_operation::give_back, slot, std::vector<std::byte>(held_.value_bytes(slot))};
  access_result removed = access_result::done;
  if (base::error_of([&] { removed = held_.remove(slot, back.values.data()); })) {
    held_.drop(slot);
    back = {move_operation::give_back_none, slot};
  }
  if (removed == access_result::done) messages_.push_back(std::move(back));
  return removed != access_result::busy;
}

bool node_agent::ask_back(std::int64_t slot) {
  if (!is_intended(slot)) return recall(slot);
  if (!held_.holds_main(slot)) return true;
  if (effect_ == intent_effect::moves) {
    messages_.push_back({move_operation::keep, slot});
    return true;
  }
  return share(slot);
}

/// Makes a main copy another copy, or gives it back if there is no memory for that. False: it is being written.
bool node_agent::share(std::int64_t slot) {
  message back{move_operation::share, slot, std::vector<std::byte>(held_.value_bytes(slot))};
  auto kept = access_result::elsewhere;
  const auto try_to_keep = [&] { kept = held_.keep_as_copy(slot, back.values.data()); };
  auto damage = base::error_of(try_to_keep);
  for (int i = 0; !damage && kept == access_result::elsewhere && i < most_evicted && evict(wish::intend); ++i)
    damage = base::error_of(try_to_keep);
  if (damage || kept == access_result::elsewhere) return give_back(slot);
  if (kept == access_result::busy) return false;
  copies_.insert(slot);
  messages_.push_back(std::move(back));
  return true;
}

// ---- copies

/// A copy takes more memory than the record that is reserved. A key that is localized is asked for again.
bool node_agent::grant_copy(std::int64_t slot, std::span<const std::byte> values) {
  const auto found = asked_.find(slot);
  auto added = access_result::elsewhere;
  if (found != asked_.end() && !found->second.is_localized) {
    const std::int64_t record = found->second.record;
    if (record != 0 && (held_.is_copy_record(record) || reserve_copy(slot, record)))
      added = held_.add(slot, record, values);
    if (added == access_result::busy) return false;
  }
  if (added == access_result::done) {
    found->second.record = 0;
    add_arrival(slot);
    copies_.insert(slot);
    if (!is_intended(slot)) ending_.push_back(slot);
  } else {
    messages_.push_back({move_operation::end_copy_none, slot});
  }
  if (found == asked_.end()) return true;
  found->second.is_localized ? refuse(slot) : give_up(slot);
  return true;
}

/// False: the copy is being written.
bool node_agent::end_copy(std::int64_t slot) {
  message last{move_operation::end_copy, slot, std::vector<std::byte>(held_.value_bytes(slot))};
  access_result removed = access_result::done;
  if (base::error_of([&] { removed = held_.remove(slot, last.values.data()); })) {
    held_.drop(slot);  // a rank died while it wrote: the pushes that were not sent are lost
    last.values.clear();
  }
  if (removed == access_result::busy) return false;
  if (std::ranges::all_of(last.values, [](std::byte each) { return each == std::byte{0}; })) last.values.clear();
  if (last.values.empty()) last.what = move_operation::end_copy_none;
  copies_.erase(slot);
  waiting_.erase(slot);
  busy_.erase(slot);
  messages_.push_back(std::move(last));
  return true;
}

bool node_agent::invalidate(std::int64_t slot) {
  if (!copies_.contains(slot)) return true;
  if (!end_copy(slot)) return false;
  if (is_intended(slot)) ask(slot, false, wish::intend);
  return true;
}

bool node_agent::refresh(std::int64_t slot, std::span<const std::byte> values, std::uint8_t number) {
  if (!copies_.contains(slot)) return true;
  auto done = access_result::done;
  if (base::error_of([&] { done = held_.refresh(slot, values, number); })) return end_copy(slot);
  if (done == access_result::done_shared && waiting_.erase(slot) > 0) dirty_.push_back(slot);
  return done != access_result::busy;
}

/// False: the copy is being written.
bool node_agent::send_pushes(std::int64_t slot) {
  message pushes{move_operation::pushes, slot, std::vector<std::byte>(held_.value_bytes(slot))};
  auto taken = access_result::elsewhere;
  if (base::error_of([&] { taken = held_.take_pushes(slot, pushes.values.data(), pushes.number); }))
    return end_copy(slot);
  if (taken == access_result::done) messages_.push_back(std::move(pushes));
  if (taken == access_result::done_shared) waiting_.emplace(slot, ++last_moment_);
  if (taken == access_result::busy)
    busy_.emplace(slot, ++last_moment_);
  else
    busy_.erase(slot);
  return taken != access_result::busy;
}

bool node_agent::end_copies() {
  bool did_something = false;
  for (const std::int64_t slot : std::exchange(ending_, {})) {
    if (!copies_.contains(slot) || is_intended(slot)) continue;
    if (!end_copy(slot)) ending_.push_back(slot);
    did_something = true;
  }
  return did_something;
}

bool node_agent::send_pushes() {
  bool did_something = false;
  const std::vector<std::int64_t> more = held_.take_dirty();
  dirty_.insert(dirty_.end(), more.begin(), more.end());
  for (const std::int64_t slot : std::exchange(dirty_, {})) {
    if (!send_pushes(slot)) dirty_.push_back(slot);
    did_something = true;
  }
  return did_something;
}

void node_agent::give_up_if(const std::function<bool(std::int64_t)>& is_lost) {
  std::vector<std::int64_t> lost;
  for_each_shared([&](std::int64_t slot) {
    if (is_lost(slot)) lost.push_back(slot);
  });
  for (const std::int64_t slot : lost) copies_.contains(slot) ? void(end_copy(slot)) : give_up(slot);
}

}  // namespace syncyte::kv
