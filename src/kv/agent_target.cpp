// SPDX-License-Identifier: BSD-3-Clause
#include "kv/agent_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "kv/joined_moves.hpp"

namespace syncyte::kv {
namespace {

/// Homes are asked for so many keys while this thread looks for the next ones.
constexpr std::size_t keys_together = 2048;

/// A forwarded operation waits for a lock: this is its answer so far.
struct forwarded_answer {
  std::vector<std::byte> bytes;  // a byte for each key, 1: not here; then values
  std::size_t values = 0;        // bytes of the values of the keys that are done
};

std::string home_name(const move_facts& facts, int home) {
  return fmt::format("home ({})", facts.ranks->rank_name(home));
}

/// Whether the keys that a request waits for are granted or refused.
bool has_ended(const fabric::served_request& request) {
  return static_cast<const node_agent::wait*>(request.state.get())->keys == 0;
}

}  // namespace

/// Fills asked_ with the slots of a request from a worker.
void agent_target::find_any_slots(const access::served_items& items) {
  asked_.resize(items.count());
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const auto slot = static_cast<std::int64_t>(items.offset(i));
    base::require(slot >= 0 && slot < held_->layout().keys(), SYNCYTE_ERR_INTERNAL, "a worker asks for slot {} of {}",
                  slot, held_->layout().keys());
    asked_[i] = slot;
  }
}

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
  const auto what = static_cast<move_operation>(request.header.operation);
  if (what == move_operation::several)
    return serve_joined(request, [&](fabric::served_request& part) { return serve(part, reply); });
  const access::served_items items(request);
  agent_.begin(fabric::now());
  if (facts_->trace.is_on()) [[unlikely]]
    return handle_traced(request, items, reply);
  return handle(request, items, reply);
}

bool agent_target::handle(fabric::served_request& request, const access::served_items& items, fabric::answer& reply) {
  const auto what = static_cast<move_operation>(request.header.operation);
  if (request.header.operation <= most_operations) {
    find_slots(items);
    return run(find_operation(request.header.operation), request, items, reply);
  }
  switch (what) {
    case move_operation::localize:
      return localize(request, items);
    case move_operation::begin_window:
      begin_window(items);
      return true;
    case move_operation::end_windows:
      end_windows(items);
      return true;
    case move_operation::settle:
      return settle(request);
    case move_operation::look:
      return true;  // progress() follows
    case move_operation::send_pushes:
      return send_pushes(request);
    case move_operation::renew_copies:
      return renew_copies(request, items.offset(0));
    case move_operation::renewed:
      renewing_.erase(static_cast<int>(items.first_argument()));
      return true;
    case move_operation::grant:
    case move_operation::grant_copy:
    case move_operation::refresh:
      find_slots(items);
      if (what != move_operation::refresh && request.done == 0) agent_.note_coming(asked_.front());
      return take_values(what, request, items);
    case move_operation::recall:
    case move_operation::invalidate:
    case move_operation::ask_back:
      find_slots(items);
      return take_back(what, request);
    case move_operation::refuse:
    case move_operation::put_off:
      find_slots(items);
      agent_.note_coming(asked_.front());
      for (const std::int64_t slot : asked_)
        what == move_operation::refuse ? agent_.refuse(slot) : agent_.put_off(slot);
      return true;
    default:
      base::fail(SYNCYTE_ERR_INTERNAL, "unknown operation {} of an agent", request.header.operation);
  }
}

// ---- the trace

std::string agent_target::own_name() const { return fmt::format("agent of node {}", facts_->node); }

/// Says what the node has of a key, for the trace: "copy, grant 7".
std::string agent_target::state_of(std::int64_t slot) const {
  const auto number = held_->granted(slot);
  const bool is_asked = agent_.asks_for(slot);
  if (number == 0) return is_asked ? "asked" : "none";
  return fmt::format("{}, grant {}{}", held_->holds_main(slot) ? "main copy" : "copy", number,
                     is_asked ? ", asked again" : "");
}

void agent_target::find_slots_of_windows(const access::served_items& items) {
  asked_.clear();
  const auto& open = windows_of(items).slots;
  for (std::size_t i = 0; i < items.count(); ++i)
    if (const auto found = open.find(items.offset(i)); found != open.end())
      asked_.insert(asked_.end(), found->second.begin(), found->second.end());
}

/// Fills asked_ with the slots of a request; with none if its item says nothing.
void agent_target::find_asked(move_operation what, const access::served_items& items) {
  switch (what) {
    case move_operation::localize:
    case move_operation::begin_window:
      return find_any_slots(items);
    case move_operation::end_windows:
      return find_slots_of_windows(items);
    case move_operation::settle:
    case move_operation::look:
    case move_operation::send_pushes:
    case move_operation::renew_copies:
    case move_operation::renewed:
      return asked_.clear();
    default:
      return find_slots(items);
  }
}

bool agent_target::handle_traced(fabric::served_request& request, const access::served_items& items,
                                 fabric::answer& reply) {
  const std::uint16_t operation = request.header.operation;
  const auto what = static_cast<move_operation>(operation);
  find_asked(what, items);
  const int from = static_cast<int>(items.first_argument());
  const bool is_from_worker = what >= move_operation::localize && what <= move_operation::end_windows;
  const move_trace::received message{
      own_name(), operation <= most_operations ? "answers" : "gets", name_of_request(operation),
      is_from_worker ? fmt::format("a worker ({})", facts_->ranks->rank_name(from)) : home_name(*facts_, from), asked_};
  return facts_->trace.handles(
      message, request, [this](std::int64_t slot) { return state_of(slot); },
      [&] { return handle(request, items, reply); });
}

bool agent_target::localize(fabric::served_request& request, const access::served_items& items) {
  if (!request.state) request.state = std::make_shared<node_agent::wait>();
  if (request.done == items.count()) return has_ended(request);
  find_any_slots(items);
  const auto by = std::static_pointer_cast<node_agent::wait>(request.state);
  for (; request.done < asked_.size(); ++request.done) {
    const std::int64_t slot = asked_[request.done];
    const bool own = is_own(slot);
    prefetch_from(request.done);
    if ((!own || facts_->is_elsewhere(slot)) && !agent_.localize(slot, own, by)) return false;
    if ((request.done + 1) % keys_together == 0) send_messages(pushes_are::paced);
  }
  return has_ended(request);
}

agent_target::windows_of_rank& agent_target::windows_of(const access::served_items& items) {
  const int rank = static_cast<int>(items.first_argument());
  const auto found = windows_.find(rank);
  return found != windows_.end() ? found->second
                                 : windows_.emplace(rank, windows_of_rank{&facts_->ranks->at(rank)}).first->second;
}

/// Workers count their windows for keys of this node themselves; they ask for those that are elsewhere.
void agent_target::begin_window(const access::served_items& items) {
  find_any_slots(items);
  std::vector<std::int64_t>& open = windows_of(items).slots[items.second_argument()];
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const std::int64_t slot = asked_[i];
    prefetch_from(i);
    if (const bool own = is_own(slot); !own || facts_->is_elsewhere(slot)) {
      if (!own) open.push_back(slot);
      agent_.intend(slot, own);
    }
  }
}

/// Windows without keys of other nodes have not begun here.
void agent_target::end_windows(const access::served_items& items) {
  auto& slots = windows_of(items).slots;
  for (std::size_t i = 0; i < items.count(); ++i)
    if (const auto ended = slots.extract(items.offset(i)))
      for (const std::int64_t slot : ended.mapped()) agent_.release(slot);
}

void agent_target::close_windows_of_dead_ranks() {
  std::erase_if(windows_, [&](const auto& each) {
    if (!each.second.process->is_dead) return false;
    for (const auto& [number, slots] : each.second.slots)
      for (const std::int64_t slot : slots) agent_.release(slot);
    return true;
  });
}

bool agent_target::settle(fabric::served_request& request) {
  if (!request.state) {
    const auto begun = std::make_shared<node_agent::wait>();
    agent_.settle(begun);
    request.state = begun;
  }
  return has_ended(request);
}

/// Asks the homes of all keys of which there may be a copy.
void agent_target::ask_whether_fresh(std::uint64_t barriers) {
  agent_.for_each_shared([&](std::int64_t slot) { renewing_.insert(facts_->home_of(slot)); });
  for (const int home : renewing_)
    messages_.add(home, move_operation::renew, static_cast<std::uint64_t>(facts_->node), barriers);
}

/// One request's question is good for others that come before its answer: all of them come after the same collective
/// call.
bool agent_target::renew_copies(fabric::served_request& request, std::uint64_t barriers) {
  if (!request.state) {
    request.state = std::make_shared<bool>(true);
    if (renewing_.empty()) ask_whether_fresh(barriers);
  }
  return renewing_.empty();
}

/// Waits for the pushes that were made before the request; other workers may push all the time.
bool agent_target::send_pushes(fabric::served_request& request) {
  struct waited {
    node_agent::moment before;
    std::optional<std::uint64_t> sent_below = {};
  };
  send_messages(pushes_are::due);
  if (!request.state) request.state = std::make_shared<waited>(agent_.now());
  auto& state = *static_cast<waited*>(request.state.get());
  if (!agent_.has_taken_pushes(state.before)) return false;
  if (!state.sent_below) state.sent_below = messages_.next();
  return !messages_.has_unanswered(move_operation::pushes, *state.sent_below) &&
         !messages_.has_unanswered(move_operation::end_copy, *state.sent_below);
}

/// Pushes are sent in rounds; a barrier does not wait for the next one.
bool agent_target::send_messages(pushes_are when) {
  agent_.ask_again();
  bool did_something = agent_.end_copies();
  if (agent_.has_pushes() && (rounds_.begin(fabric::now()) || when == pushes_are::due))
    did_something |= agent_.send_pushes();
  for (const node_agent::message& each : agent_.take_messages()) send(each);
  return messages_.flush() || did_something;
}

bool agent_target::take_values(move_operation what, fabric::served_request& request,
                               const access::served_items& items) {
  std::span<const std::byte> data = items.data();
  const std::size_t before = what == move_operation::refresh ? 1 : 0;  // the number
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const std::size_t bytes = before + held_->value_bytes(asked_[i]);
    base::require(bytes <= data.size(), SYNCYTE_ERR_INTERNAL, "{} keys with {} bytes of values", asked_.size(),
                  items.data().size());
    prefetch_from(i);
    if (i == request.done) {
      if (!take_value(what, asked_[i], data.first(bytes))) return false;
      ++request.done;
    }
    data = data.subspan(bytes);
  }
  return true;
}

bool agent_target::take_value(move_operation what, std::int64_t slot, std::span<const std::byte> data) {
  if (what == move_operation::grant) return agent_.grant(slot, data);
  if (what == move_operation::grant_copy) return agent_.grant_copy(slot, data);
  return agent_.refresh(slot, data.subspan(1), static_cast<std::uint8_t>(data[0]));
}

bool agent_target::take_back(move_operation what, fabric::served_request& request) {
  for (; request.done < asked_.size(); ++request.done) {
    const std::int64_t slot = asked_[request.done];
    const bool is_done = what == move_operation::recall       ? agent_.recall(slot)
                         : what == move_operation::invalidate ? agent_.invalidate(slot)
                                                              : agent_.ask_back(slot);
    if (!is_done) return false;
  }
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

std::chrono::nanoseconds agent_target::time_left(std::chrono::nanoseconds now) const {
  const auto until_intents = agent_.time_without_intents(now);
  if (!agent_.has_pushes()) return until_intents;
  const auto until_round = rounds_.time_left(now);
  return until_intents.count() < 0 ? until_round : std::min(until_round, until_intents);
}

bool agent_target::progress() {
  close_windows_of_dead_ranks();
  if (agent_.is_idle() && messages_.is_idle() && renewing_.empty()) return false;
  const auto now = fabric::now();
  agent_.begin(now);
  deaths_.begin(now, [this] {
    agent_.give_up_if([this](std::int64_t slot) { return is_dead(facts_->home_of(slot)); });
    std::erase_if(renewing_, [this](int home) { return is_dead(home); });
  });
  const bool did_something = send_messages(pushes_are::paced);
  for (const auto& failed : messages_.take_failures()) {
    base::log(SYNCYTE_LOG_INFO, "keys of a store did not move: {}", failed.reason);
    if (failed.what == move_operation::renew) renewing_.erase(failed.rank);
    if (failed.what != move_operation::acquire && failed.what != move_operation::intend) continue;
    for (const std::uint64_t offset : failed.offsets)
      agent_.give_up(facts_->slots(failed.rank).first + static_cast<std::int64_t>(offset));
  }
  if (messages_.is_idle()) held_->set_copies(agent_.copies());  // the last pushes to those that have ended are at home
  return did_something;
}

void agent_target::send(const node_agent::message& what) {
  const int home = facts_->home_of(what.slot);
  if (facts_->trace.follows(what.slot)) [[unlikely]]
    facts_->trace.sends(what.slot, own_name(), name_of(what.what), home_name(*facts_, home), state_of(what.slot));
  const bool has_number = what.what == move_operation::pushes;
  messages_.add(home, what.what, static_cast<std::uint64_t>(facts_->node),
                static_cast<std::uint64_t>(what.slot - facts_->slots(home).first), what.values,
                has_number ? std::optional(what.number) : std::nullopt);
}

}  // namespace syncyte::kv
