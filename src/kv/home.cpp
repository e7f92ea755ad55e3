// SPDX-License-Identifier: BSD-3-Clause
#include "kv/home.hpp"

#include <fmt/format.h>

#include <optional>

namespace syncyte::kv {
std::string move_facts::node_name(int at) const { return fmt::format("node {} ({})", at, agent_name(at)); }

std::string home::state_of(std::int64_t slot) const {
  using place = key_directory::place;
  const place at = directory.find(slot);
  if (at == place::at_home) return "at home";
  if (at == place::shared) return "shared";
  const char* const text = at == place::away ? "at" : at == place::recalled ? "recalled from" : "lost with";
  return fmt::format("{} node {}", text, directory.holder(slot));
}

void home::take_changes() {
  directory.note_barriers(facts->changed.barriers());
  facts->changed.take([&](std::int64_t slot) { directory.note_change(facts->node, slot); });
}

void home::refresh(std::chrono::nanoseconds now) {
  const bool is_round = needs_round() && rounds.begin(now);
  if (is_round) take_changes();
  directory.refresh([&](int node) { return is_round || pushed.contains(node); });
  std::erase_if(pushed, [&](int node) { return !directory.has_stale_copies(node); });
}

void home::queue_messages() {
  for (const key_directory::message& each : directory.take_messages()) {
    const bool has_number = each.what == move_operation::refresh;
    const std::span<const std::byte> data =
        each.what == move_operation::grant ? values.values_of(each.slot) : std::span<const std::byte>(each.values);
    if (facts->trace.follows(each.slot)) [[unlikely]]
      facts->trace.sends(each.slot, "home", name_of(each.what), facts->node_name(each.node), state_of(each.slot));
    messages.add(facts->agents[each.node], each.what, static_cast<std::uint64_t>(facts->rank),
                 static_cast<std::uint64_t>(each.slot - slots.first), data,
                 has_number ? std::optional(each.number) : std::nullopt);
  }
}

}  // namespace syncyte::kv
