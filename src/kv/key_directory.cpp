// SPDX-License-Identifier: BSD-3-Clause
#include "kv/key_directory.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace syncyte::kv {
namespace {

/// An entry: 0 at home; otherwise the holder's number + 1, and bits.
constexpr std::uint32_t recalled_bit = std::uint32_t{1} << 31;
constexpr std::uint32_t damaged_bit = std::uint32_t{1} << 30;
constexpr std::uint32_t asked_back_bit = std::uint32_t{1} << 29;
constexpr std::uint32_t holder_mask = asked_back_bit - 1;

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
  if ((at & damaged_bit) != 0 || nodes_.is_dead(holder_of(at))) return place::lost;
  return (at & recalled_bit) != 0 ? place::recalled : place::away;
}

int key_directory::holder(std::int64_t slot) const { return holder_of(entry_of(slot)); }

bool key_directory::acquire(int node, std::int64_t slot, wish why) {
  const place at = find(slot);
  if (at == place::at_home) {
    const auto found = sides_.find(slot);
    if (node == nodes_.own || found == sides_.end()) return grant({node, why}, slot);
    found->second.wishes.push_back({node, why});
    return true;
  }
  base::require(holder(slot) != node, SYNCYTE_ERR_INTERNAL, "node {} asks for slot {}, which it has", node, slot);
  if (at == place::lost) {
    tell(node, home_message::refuse, slot);
    return true;
  }
  auto& wishes = sides_[slot].wishes;
  wishes.push_back({node, why});
  recall_for(wishes, slot);
  return true;
}

/// Grants a key that is at home, or refuses it; false: another thread writes it now.
bool key_directory::grant(const wished& by, std::int64_t slot) {
  if (by.node == nodes_.own || (by.why == wish::intend && nodes_.is_intended(slot))) {
    tell(by.node, home_message::refuse, slot);
    return true;
  }
  auto locked = key_locks::attempt::elsewhere;
  const auto damage =
      base::error_of([&] { locked = values_.locks().try_begin_write(slot, key_locks::damage::is_refused); });
  if (damage) {
    tell(by.node, home_message::refuse, slot);
    return true;
  }
  if (locked == key_locks::attempt::busy) return false;
  values_.locks().leave(slot);
  set_away(slot, by.node);
  return true;
}

void key_directory::set_away(std::int64_t slot, int node) {
  entry(slot) = static_cast<std::uint32_t>(node) + 1;
  tell(node, home_message::grant, slot);
}

/// Recalls a key that is away if a node wants to localize it, and asks for it if nodes intend to use it.
void key_directory::recall_for(const std::deque<wished>& wishes, std::int64_t slot) {
  std::uint32_t& at = entry(slot);
  if (wishes.empty() || (at & recalled_bit) != 0) return;
  if (!std::ranges::all_of(wishes, by_intent)) {
    tell(holder_of(at), home_message::recall, slot);
    at |= recalled_bit;
  } else if ((at & asked_back_bit) == 0) {
    tell(holder_of(at), home_message::ask_back, slot);
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
  if (nodes_.is_intended(slot)) refuse_wishes(slot, by_intent);
  const auto found = sides_.find(slot);
  if (found != sides_.end() && found->second.waiting == 0 && pass_on(slot, found->second)) return;
  at = 0;
  values_.locks().come_back(slot);
  if (found != sides_.end()) to_grant_.push_back(slot);
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
  if (next == of.wishes.end()) return false;
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
    if (is_refused) tell(each.node, home_message::refuse, slot);
    return is_refused;
  });
  forget_if_unused(slot);
}

void key_directory::add_waiting(std::int64_t slot) { ++sides_[slot].waiting; }

void key_directory::remove_waiting(std::int64_t slot) {
  if (--sides_[slot].waiting > 0) return;
  to_grant_.push_back(slot);
  forget_if_unused(slot);
}

void key_directory::forget_if_unused(std::int64_t slot) {
  const auto found = sides_.find(slot);
  if (found != sides_.end() && found->second.waiting == 0 && found->second.wishes.empty()) sides_.erase(found);
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

/// Grants a key to the first node that wishes it, if it is at home and no operation waits for it.
void key_directory::serve_wishes(std::int64_t slot) {
  const auto found = sides_.find(slot);
  if (found == sides_.end() || find(slot) != place::at_home || found->second.waiting > 0) return;
  auto& wishes = found->second.wishes;
  while (!wishes.empty() && find(slot) == place::at_home) {
    if (!nodes_.is_dead(wishes.front().node) && !grant(wishes.front(), slot)) {
      to_grant_.push_back(slot);
      return;
    }
    wishes.pop_front();
  }
  if (find(slot) != place::at_home) recall_for(wishes, slot);
  forget_if_unused(slot);
}

void key_directory::look_for_deaths() {
  std::vector<std::int64_t> lost;
  for (const auto& [slot, of] : sides_)
    if (!of.wishes.empty() && find(slot) == place::lost) lost.push_back(slot);
  for (const std::int64_t slot : lost) refuse_wishes(slot, any);
}

}  // namespace syncyte::kv
