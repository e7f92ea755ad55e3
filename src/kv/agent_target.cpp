// SPDX-License-Identifier: BSD-3-Clause
#include "kv/agent_target.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace syncyte::kv {
namespace {

/// Pause between two looks for homes that died with keys that are asked for.
constexpr auto death_pause = std::chrono::milliseconds(100);

/// A forwarded operation waits for a lock: this is its answer so far.
struct forwarded_answer {
  std::vector<std::byte> bytes;  // a byte for each key, 1: not here; then values
  std::size_t values = 0;        // bytes of the values of the keys that are done
};

}  // namespace

/// Fills asked_ with the slots of a request from a home.
void agent_target::find_slots(const access::served_items& items) {
  const auto rank = static_cast<int>(items.first_argument());
  const key_range slots = facts_->slots(rank);
  asked_.resize(items.count());
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const std::uint64_t offset = items.offset(i);
    base::require(offset < static_cast<std::uint64_t>(slots.count), SYNCYTE_ERR_INTERNAL,
                  "a request for slot {} of rank {}, which has {}", offset, rank, slots.count);
    asked_[i] = slots.first + static_cast<std::int64_t>(offset);
  }
}

bool agent_target::serve(fabric::served_request& request, fabric::answer& reply) {
  const access::served_items items(request);
  const auto what = static_cast<move_operation>(request.header.operation);
  if (what == move_operation::want) return want(request, items);
  find_slots(items);
  if (request.header.operation <= most_operations)
    return run(find_operation(request.header.operation), request, items, reply);
  if (what == move_operation::grant) return grant(request, items);
  if (what == move_operation::recall) return recall(request);
  base::require(what == move_operation::refuse, SYNCYTE_ERR_INTERNAL, "unknown operation {} of an agent",
                request.header.operation);
  for (const std::int64_t slot : asked_) agent_.refuse(slot);
  return true;
}

bool agent_target::want(fabric::served_request& request, const access::served_items& items) {
  if (!request.state) {
    const auto begun = std::make_shared<node_agent::wait>();
    for (std::size_t i = 0; i < items.count(); ++i) {
      const auto slot = static_cast<std::int64_t>(items.offset(i));
      base::require(slot >= 0 && slot < held_->layout().keys(), SYNCYTE_ERR_INTERNAL, "a worker wants slot {} of {}",
                    slot, held_->layout().keys());
      const bool is_own = facts_->is_here(facts_->home_of(slot));
      if (!is_own || facts_->is_elsewhere(slot)) agent_.want(slot, is_own, begun);
    }
    request.state = begun;
  }
  return static_cast<const node_agent::wait*>(request.state.get())->keys == 0;
}

bool agent_target::grant(fabric::served_request& request, const access::served_items& items) {
  std::span<const std::byte> values = items.data();
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const std::size_t bytes = held_->value_bytes(asked_[i]);
    base::require(bytes <= values.size(), SYNCYTE_ERR_INTERNAL, "{} keys with {} bytes of values", asked_.size(),
                  items.data().size());
    if (i == request.done) {
      if (!agent_.grant(asked_[i], values.first(bytes))) return false;
      ++request.done;
    }
    values = values.subspan(bytes);
  }
  return true;
}

bool agent_target::recall(fabric::served_request& request) {
  for (; request.done < asked_.size(); ++request.done)
    if (!agent_.recall(asked_[request.done])) return false;
  return true;
}

bool agent_target::run(const operation& what, fabric::served_request& request, const access::served_items& items,
                       fabric::answer& reply) {
  if (!request.state) {
    auto begun = std::make_shared<forwarded_answer>();
    std::size_t bytes = 0;
    for (const std::int64_t slot : asked_) bytes += held_->value_bytes(slot);
    base::require(items.data().size() == (what.reads ? 0 : bytes), SYNCYTE_ERR_INTERNAL, "{} keys with {} bytes",
                  asked_.size(), items.data().size());
    begun->bytes.resize(asked_.size() + (what.reads ? bytes : 0));
    request.state = begun;
  }
  auto& state = *static_cast<forwarded_answer*>(request.state.get());
  for (; request.done < asked_.size(); ++request.done) {
    const std::int64_t slot = asked_[request.done];
    const std::byte* const given = what.reads ? nullptr : items.data().data() + state.values;
    std::byte* const result = what.reads ? state.bytes.data() + asked_.size() + state.values : nullptr;
    const access_result done = what.attempt_held(*held_, slot, given, result);
    if (done == access_result::busy) return false;
    state.bytes[request.done] = std::byte{done == access_result::elsewhere};
    state.values += held_->value_bytes(slot);
  }
  std::ranges::copy(state.bytes, reply.resize(state.bytes.size()).data());
  return true;
}

bool agent_target::progress() {
  if (agent_.is_idle() && messages_.is_idle()) return false;
  if (const auto now = fabric::now(); now - looked_ > death_pause) {
    looked_ = now;
    agent_.refuse_if([this](std::int64_t slot) { return bool{facts_->ranks->at(facts_->home_of(slot)).is_dead}; });
  }
  for (const node_agent::message& each : agent_.take_messages()) send(each);
  const bool did_something = messages_.flush();
  for (const auto& failed : messages_.take_failures()) {
    base::log(SYNCYTE_LOG_INFO, "keys of a store did not move: {}", failed.reason);
    if (failed.what != move_operation::acquire) continue;
    for (const std::uint64_t offset : failed.offsets)
      agent_.refuse(facts_->slots(failed.rank).first + static_cast<std::int64_t>(offset));
  }
  return did_something;
}

void agent_target::send(const node_agent::message& what) {
  const int home = facts_->home_of(what.slot);
  const auto node = static_cast<std::uint64_t>(facts_->node);
  const auto offset = static_cast<std::uint64_t>(what.slot - facts_->slots(home).first);
  switch (what.what) {
    case agent_message::acquire:
      return messages_.add(home, move_operation::acquire, node, offset);
    case agent_message::give_back:
      return messages_.add(home, move_operation::give_back, node, offset, what.values);
    case agent_message::give_back_none:
      return messages_.add(home, move_operation::give_back_none, node, offset);
  }
}

}  // namespace syncyte::kv
