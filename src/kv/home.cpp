// SPDX-License-Identifier: BSD-3-Clause
#include "kv/home.hpp"

namespace syncyte::kv {

void home::queue_messages() {
  const auto rank = static_cast<std::uint64_t>(facts->rank);
  for (const key_directory::message& each : directory.take_messages()) {
    const auto offset = static_cast<std::uint64_t>(each.slot - slots.first);
    const int agent = facts->agents[each.node];
    switch (each.what) {
      case home_message::grant:
        messages.add(agent, move_operation::grant, rank, offset, values.values_of(each.slot));
        break;
      case home_message::grant_copy:
        messages.add(agent, move_operation::grant_copy, rank, offset, each.values);
        break;
      case home_message::refresh:
        messages.add(agent, move_operation::refresh, rank, offset, each.values, each.number);
        break;
      case home_message::invalidate:
        messages.add(agent, move_operation::invalidate, rank, offset);
        break;
      case home_message::recall:
        messages.add(agent, move_operation::recall, rank, offset);
        break;
      case home_message::ask_back:
        messages.add(agent, move_operation::ask_back, rank, offset);
        break;
      case home_message::refuse:
        messages.add(agent, move_operation::refuse, rank, offset);
        break;
    }
  }
}

}  // namespace syncyte::kv
