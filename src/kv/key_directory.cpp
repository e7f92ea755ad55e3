// SPDX-License-Identifier: BSD-3-Clause
#include "kv/key_directory.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace syncyte::kv {
namespace {

/// An entry: 0 at home; otherwise the holder's number + 1, and bits.
constexpr std::uint32_t recalled_bit = std::uint32_t{1} << 31;
constexpr std::uint32_t damaged_bit = std::uint32_t{1} << 30;
constexpr std::uint32_t asked_back_bit = std::uint32_t{1} << 29;
constexpr std::uint32_t shared_bit = std::uint32_t{1} << 28;  // without a holder
constexpr std::uint32_t holder_mask = shared_bit - 1;

int holder_of(std::uint32_t entry) { return static_cast<int>(entry & holder_mask) - 1; }

constexpr auto any = [](const auto&) { return true; };
constexpr auto by_intent = [](const auto& each) { return each.why == wish::intend; };

}  // namespace

key_directory::key_directory(table values, key_range slots, node_facts nodes)
    : values_(std::move(values)), slots_(slots), nodes_(std::move(nodes)) {}

std::uint32_t& key_directory::entry(std::int64_t slot) {
  if (entries_.empty()) entries_.resize(static_cast<std::size_t>(slots_.count));
  return entries_[static_cast<std::size_t>(slot - slots_.first)];
}

std::uint32_t key_directory::entry_of(std::int64_t slot) const {
  return entries_.empty() ? 0 : entries_[static_cast<std::size_t>(slot - slots_.first)];
}

key_directory::place key_directory::find(std::int64_t slot) const {
  const std::uint32_t at = entry_of(slot);
  if (at == 0) return place::at_home;
  if (at == shared_bit) return place::shared;
  if ((at & damaged_bit) != 0 || nodes_.is_dead(holder_of(at))) return place::lost;
  return (at & recalled_bit) != 0 ? place::recalled : place::away;
}

int key_directory::holder(std::int64_t slot) const { return holder_of(entry_of(slot)); }

bool key_directory::acquire(int node, std::int64_t slot, wish why) {
  if (why == wish::intend && is_put_off(slot)) {
    tell(node, move_operation::put_off, slot);
    return true;
  }
  const place at = find(slot);
  if (at == place::at_home || at == place::shared) {
    const auto found = sides_.find(slot);
    if (node == nodes_.own || found == sides_.end()) return grant({node, why}, slot);
    for (const sharer& each : found->second.sharers)
      base::require(each.node != node, SYNCYTE_ERR_INTERNAL, "node {} asks for slot {}, of which it has a copy", node,
                    slot);
    found->second.wishes.push_back({node, why});
    to_grant_.push_back(slot);
    return true;
  }
  base::require(holder(slot) != node, SYNCYTE_ERR_INTERNAL, "node {} asks for slot {}, which it has", node, slot);
  if (at == place::lost) {
    tell(node, move_operation::refuse, slot);
    return true;
  }
  auto& wishes = sides_[slot].wishes;
  wishes.push_back({node, why});
  recall_for(wishes, slot);
  return true;
}

/// Whether an intent for a key that is at home gets a copy: others use it too.
bool key_directory::gives_copy(std::int64_t slot) const {
  if (nodes_.effect == intent_effect::moves) return false;
  if (nodes_.effect == intent_effect::copies || nodes_.is_intended(slot)) return true;
  const auto found = sides_.find(slot);
  if (found == sides_.end()) return false;
  return !found->second.sharers.empty() || std::ranges::count_if(found->second.wishes, by_intent) > 1;
}

/// Grants a key that is at home, or refuses it; false: try again later.
bool key_directory::grant(const wished& by, std::int64_t slot) {
  if (by.why == wish::intend && is_put_off(slot)) {
    tell(by.node, move_operation::put_off, slot);
    return true;
  }
  const bool is_refused = by.node == nodes_.own ||
                          (by.why == wish::intend && nodes_.is_intended(slot) && nodes_.effect == intent_effect::moves);
  bool is_granted = true;
  const auto damage = base::error_of([&] {
    if (!is_refused)
      is_granted = by.why == wish::intend && gives_copy(slot) ? grant_copy(by.node, slot) : grant_main(by.node, slot);
  });
  if (is_refused || damage) tell(by.node, move_operation::refuse, slot);
  return is_granted;
}

bool key_directory::grant_main(int node, std::int64_t slot) {
  if (values_.locks().try_begin_write(slot, key_locks::damage::is_refused) == key_locks::attempt::busy) return false;
  values_.locks().leave(slot);
  set_away(slot, node);
  return true;
}

/// A key becomes shared under its lock: a worker of this node sets it before, or asks the home.
bool key_directory::grant_copy(int node, std::int64_t slot) {
  if (values_.locks().try_begin_write(slot, key_locks::damage::is_refused) == key_locks::attempt::busy) return false;
  const std::span<const std::byte> values = values_.values_of(slot);
  messages_.push_back({node, move_operation::grant_copy, slot, {values.begin(), values.end()}});
  values_.locks().share(slot);
  entry(slot) = shared_bit;
  sides_[slot].sharers.push_back({node});
  return true;
}

void key_directory::set_away(std::int64_t slot, int node) {
  entry(slot) = static_cast<std::uint32_t>(node) + 1;
  tell(node, move_operation::grant, slot);
}

/// Recalls a key that is away if a node wants to localize it, and asks for it if nodes intend to use it.
void key_directory::recall_for(const std::deque<wished>& wishes, std::int64_t slot) {
  std::uint32_t& at = entry(slot);
  if (wishes.empty() || (at & recalled_bit) != 0) return;
  if (!std::ranges::all_of(wishes, by_intent)) {
    tell(holder_of(at), move_operation::recall, slot);
    at |= recalled_bit;
  } else if ((at & asked_back_bit) == 0) {
    tell(holder_of(at), move_operation::ask_back, slot);
    at |= asked_back_bit;
  }
}

void key_directory::give_back(int node, std::int64_t slot, std::span<const std::byte> values) {
  std::uint32_t& at = entry(slot);
  base::require(at != 0 && holder_of(at) == node, SYNCYTE_ERR_INTERNAL, "node {} gives back slot {}, which it has not",
                node, slot);
  if (values.empty()) {
    at |= damaged_bit;
    refuse_wishes(slot, any);
    return;
  }
  std::ranges::copy(values, values_.values_of(slot).data());
  if (nodes_.effect == intent_effect::moves && nodes_.is_intended(slot)) refuse_wishes(slot, by_intent);
  const auto found = sides_.find(slot);
  if (found != sides_.end() && found->second.waiting == 0 && pass_on(slot, found->second)) return;
  at = 0;
  values_.locks().come_back(slot);
  if (found != sides_.end()) to_grant_.push_back(slot);
}

/// If the main copy was recalled meanwhile, that message recalls the copy.
void key_directory::share(int node, std::int64_t slot, std::span<const std::byte> values) {
  std::uint32_t& at = entry(slot);
  base::require(at != 0 && holder_of(at) == node, SYNCYTE_ERR_INTERNAL, "node {} shares slot {}, which it has not",
                node, slot);
  std::ranges::copy(values, values_.values_of(slot).data());
  sides_[slot].sharers.push_back({.node = node, .is_recalled = (at & recalled_bit) != 0});
  at = shared_bit;
  values_.locks().share(slot);
  to_grant_.push_back(slot);
}

void key_directory::keep(int node, std::int64_t slot) {
  std::uint32_t& at = entry(slot);
  if (at == 0 || holder_of(at) != node || (at & asked_back_bit) == 0) return;
  at &= ~asked_back_bit;
  refuse_wishes(slot, by_intent);
}

/// Grants a key that has come back to the first node that wishes it, without a stay at home; false if there is none.
bool key_directory::pass_on(std::int64_t slot, side& of) {
  const auto next = std::ranges::find_if(
      of.wishes, [&](const wished& each) { return each.node != nodes_.own && !nodes_.is_dead(each.node); });
  if (next == of.wishes.end() || (next->why == wish::intend && (gives_copy(slot) || is_put_off(slot)))) return false;
  const int node = next->node;
  of.wishes.erase(next);
  set_away(slot, node);
  recall_for(of.wishes, slot);
  forget_if_unused(slot);
  return true;
}

/// Refuses the wishes for which which(wish).
template <class Which>
void key_directory::refuse_wishes(std::int64_t slot, Which&& which) {
  const auto found = sides_.find(slot);
  if (found == sides_.end()) return;
  std::erase_if(found->second.wishes, [&](const wished& each) {
    const bool is_refused = which(each);
    if (is_refused) tell(each.node, move_operation::refuse, slot);
    return is_refused;
  });
  forget_if_unused(slot);
}

// ---- copies

/// Null if the node has no copy.
key_directory::sharer* key_directory::find_sharer(int node, std::int64_t slot) {
  const auto found = sides_.find(slot);
  if (found == sides_.end()) return nullptr;
  const auto result = std::ranges::find(found->second.sharers, node, &sharer::node);
  return result == found->second.sharers.end() ? nullptr : &*result;
}

key_directory::sharer& key_directory::sharer_of(int node, std::int64_t slot) {
  sharer* const found = find_sharer(node, slot);
  base::require(found != nullptr, SYNCYTE_ERR_INTERNAL, "node {} has no copy of slot {}", node, slot);
  return *found;
}

bool key_directory::add_pushes(int node, std::int64_t slot, std::uint8_t number, std::span<const std::byte> pushes) {
  sharer& from = sharer_of(node, slot);
  bool is_busy = false;
  const auto damage =
      base::error_of([&] { is_busy = values_.try_push_shared(slot, pushes.data()) == access_result::busy; });
  if (is_busy) return false;
  if (damage) base::log(SYNCYTE_LOG_ERROR, "pushes to a copy were lost: {}", damage->what());
  from.received = number;
  side& of = sides_[slot];
  const int alone = of.sharers.size() == 1 ? of.pushes_alone + 1 : 0;
  note_change(node, slot);
  of.pushes_alone = alone;
  give_main_instead(slot, of);
  return true;
}

/// The only node that still has a copy, and goes on to push, gets the main copy: it is asked to end its copy, and asks
/// for the key again.
void key_directory::give_main_instead(std::int64_t slot, side& of) {
  constexpr int enough = 16;
  if (of.pushes_alone < enough || nodes_.effect != intent_effect::moves_or_copies || nodes_.is_intended(slot)) return;
  of.pushes_alone = 0;
  recall_copies(slot, move_operation::invalidate, every_node);
}

bool key_directory::end_copy(int node, std::int64_t slot, std::span<const std::byte> pushes) {
  const sharer& from = sharer_of(node, slot);
  if (!pushes.empty() && !add_pushes(node, slot, from.received, pushes)) return false;
  std::erase_if(sides_[slot].sharers, [&](const sharer& each) { return each.node == node; });
  to_grant_.push_back(slot);
  return true;
}

/// Tells nodes to end their copies: one node, or all.
void key_directory::recall_copies(std::int64_t slot, move_operation how, int node) {
  for (sharer& each : sides_[slot].sharers)
    if ((node == every_node || each.node == node) && !std::exchange(each.is_recalled, true)) tell(each.node, how, slot);
}

access_result key_directory::prepare(int node, std::int64_t slot, bool replaces) {
  const auto& sharers = sides_[slot].sharers;
  if (sharers.empty()) return end_sharing(slot) ? access_result::done : access_result::busy;
  if (!replaces && std::ranges::find(sharers, node, &sharer::node) == sharers.end()) return access_result::done;
  recall_copies(slot, move_operation::invalidate, replaces ? every_node : node);
  return access_result::elsewhere;
}

/// Ends the sharing of a key without copies; false: try again later.
bool key_directory::end_sharing(std::int64_t slot) {
  if (!values_.locks().end_sharing(slot)) return false;
  entry(slot) = 0;
  return true;
}

void key_directory::note_change(int node, std::int64_t slot) {
  const auto found = sides_.find(slot);
  if (found == sides_.end() || found->second.sharers.empty()) return;
  found->second.pushes_alone = 0;
  count_turns(node, slot, found->second);
  for (sharer& each : found->second.sharers) {
    each.is_stale = true;
    if (!std::exchange(each.is_listed, true)) stale_[each.node].push_back(slot);
  }
}

void key_directory::count_turns(int node, std::int64_t slot, side& of) {
  constexpr int most_turns = 8;
  const bool is_other = std::exchange(of.changed_by, node) != node;
  const bool is_later = std::exchange(of.changed_after, barriers_) != barriers_;
  if (is_other && is_later)
    ++of.turns;
  else if (is_other || is_later)
    of.turns = 0;
  if (of.turns < most_turns || nodes_.effect != intent_effect::moves_or_copies) return;
  of.turns = 0;
  of.put_off = nodes_.now() + time_without_copies;
  recall_copies(slot, move_operation::invalidate, every_node);  // nodes ask again, and learn of it
}

bool key_directory::is_put_off(std::int64_t slot) const {
  const auto found = sides_.find(slot);
  return found != sides_.end() && found->second.put_off && nodes_.now() < *found->second.put_off;
}

/// A node gets the next values when it has taken those before: a slow one gets only the newest.
void key_directory::refresh(const std::function<bool(int)>& is_due) {
  for (auto& [node, slots] : stale_) {
    if (!is_due(node) || nodes_.is_behind(node)) continue;
    std::erase_if(slots, [&](std::int64_t slot) {
      if (!refresh_copy(node, slot)) return false;
      if (sharer* const found = find_sharer(node, slot)) found->is_listed = false;
      return true;
    });
  }
  std::erase_if(stale_, [](const auto& each) { return each.second.empty(); });
}

bool key_directory::has_refreshes() const {
  return std::ranges::any_of(stale_, [&](const auto& each) { return !nodes_.is_behind(each.first); });
}

std::vector<std::int64_t> key_directory::stale_copies_of(int node) const {
  const auto found = stale_.find(node);
  return found == stale_.end() ? std::vector<std::int64_t>() : found->second;
}

/// All copies of a damaged key end: nothing that is pushed to them can reach it.
bool key_directory::refresh_copy(int node, std::int64_t slot) {
  sharer* const found = find_sharer(node, slot);
  if (found == nullptr || !found->is_stale || found->is_recalled) return true;
  std::vector<std::byte> values(values_.values_of(slot).size());
  auto read = access_result::done;
  if (base::error_of([&] { read = values_.try_pull_shared(slot, values.data()); })) {
    recall_copies(slot, move_operation::recall, every_node);
    return true;
  }
  if (read == access_result::busy) return false;
  found->is_stale = false;
  messages_.push_back({node, move_operation::refresh, slot, std::move(values), found->received});
  return true;
}

// ---- operations that wait

void key_directory::add_waiting(std::int64_t slot) { ++sides_[slot].waiting; }

void key_directory::remove_waiting(std::int64_t slot) {
  if (--sides_[slot].waiting > 0) return;
  to_grant_.push_back(slot);
  forget_if_unused(slot);
}

void key_directory::forget_if_unused(std::int64_t slot) {
  const auto found = sides_.find(slot);
  if (found == sides_.end()) return;
  const side& of = found->second;
  if (of.waiting == 0 && of.wishes.empty() && of.sharers.empty() && find(slot) != place::shared && !is_put_off(slot))
    sides_.erase(found);
}

void key_directory::restore(std::int64_t slot) {
  entry(slot) = 0;
  values_.locks().come_back(slot);
}

bool key_directory::progress() {
  const std::vector<std::int64_t> slots = std::exchange(to_grant_, {});
  for (const std::int64_t slot : slots) serve_wishes(slot);
  return !slots.empty() && to_grant_.size() < slots.size();
}

/// Grants a key to the first node that wishes it, if it is at home and no operation waits for it, or copies to the
/// first nodes that intend to use it.
void key_directory::serve_wishes(std::int64_t slot) {
  const auto found = sides_.find(slot);
  if (found == sides_.end()) return;
  auto& wishes = found->second.wishes;
  const auto& sharers = found->second.sharers;
  const auto is_home = [&] { return find(slot) == place::at_home || find(slot) == place::shared; };
  if (sharers.empty() && find(slot) == place::shared && !end_sharing(slot)) return to_grant_.push_back(slot);
  while (is_home() && found->second.waiting == 0 && !wishes.empty()) {
    const wished next = wishes.front();
    if (!sharers.empty() && next.why == wish::localize && next.node != nodes_.own && !nodes_.is_dead(next.node)) {
      recall_copies(slot, move_operation::recall, every_node);
      break;
    }
    if (!nodes_.is_dead(next.node) && !grant(next, slot)) return to_grant_.push_back(slot);
    wishes.pop_front();
  }
  if (!is_home()) recall_for(wishes, slot);
  forget_if_unused(slot);
}

void key_directory::look_for_deaths() {
  std::vector<std::int64_t> lost, ended;
  for (auto& [slot, of] : sides_) {
    if (!of.wishes.empty() && find(slot) == place::lost) lost.push_back(slot);
    if (std::erase_if(of.sharers, [&](const sharer& each) { return nodes_.is_dead(each.node); }) > 0)
      to_grant_.push_back(slot);
    if (of.put_off && nodes_.now() >= *of.put_off) ended.push_back(slot);
  }
  for (const std::int64_t slot : lost) refuse_wishes(slot, any);
  for (const std::int64_t slot : ended) {
    sides_[slot].put_off.reset();
    forget_if_unused(slot);
  }
}

}  // namespace syncyte::kv
