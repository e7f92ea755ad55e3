// SPDX-License-Identifier: BSD-3-Clause
#include "kv/table_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "kv/joined_moves.hpp"
#include "kv/split_operation.hpp"

namespace syncyte::kv {
namespace {

/// Takes bytes of one key from the data of several.
std::span<const std::byte> take_front(std::span<const std::byte>& data, std::size_t bytes) {
  base::require(bytes <= data.size(), SYNCYTE_ERR_INTERNAL, "a request lacks {} bytes of values", bytes - data.size());
  const auto result = data.first(bytes);
  data = data.subspan(bytes);
  return result;
}

}  // namespace

/// Fills asked_ with the request's slots; throws unless all are this rank's.
void table_target::find_slots(const access::served_items& items) {
  asked_.resize(items.count());
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const std::uint64_t offset = items.offset(i);
    base::require(offset < static_cast<std::uint64_t>(keys_.count), SYNCYTE_ERR_INTERNAL,
                  "a request for slot {} of this rank, which has {}", offset, keys_.count);
    asked_[i] = keys_.first + static_cast<std::int64_t>(offset);
  }
}

bool table_target::serve(fabric::served_request& request, fabric::answer& reply) {
  const auto what = static_cast<move_operation>(request.header.operation);
  if (what == move_operation::several)
    return serve_joined(request, [&](fabric::served_request& part) { return serve(part, reply); });
  const access::served_items items(request);
  if (home_ != nullptr && home_->facts->trace.is_on()) [[unlikely]]
    return handle_traced(request, items, reply);
  return handle(request, items, reply);
}

bool table_target::handle_traced(fabric::served_request& request, const access::served_items& items,
                                 fabric::answer& reply) {
  const std::uint16_t operation = request.header.operation;
  const auto what = static_cast<move_operation>(operation);
  const int node = static_cast<int>(items.first_argument());
  const bool is_for_worker = what == move_operation::locate || what == move_operation::adopt_last;
  const std::string from = is_for_worker                  ? "a worker"
                           : operation <= most_operations ? fmt::format("a worker of node {}", node)
                                                          : home_->facts->node_name(node);
  const bool has_keys = what != move_operation::renew && what != move_operation::changed;
  if (has_keys) find_slots(items);
  const move_trace::received message{"home", operation <= most_operations ? "answers" : "gets",
                                     name_of_request(operation), from, has_keys ? asked_ : std::vector<std::int64_t>()};
  return home_->facts->trace.handles(
      message, request, [this](std::int64_t slot) { return home_->state_of(slot); },
      [&] { return handle(request, items, reply); });
}

bool table_target::handle(fabric::served_request& request, const access::served_items& items, fabric::answer& reply) {
  const auto what = static_cast<move_operation>(request.header.operation);
  if (what == move_operation::renew && home_ != nullptr) return renew(request, items);
  find_slots(items);
  if (what == move_operation::locate || what == move_operation::adopt_last) return answer_each(what, reply);
  if (request.header.operation <= most_operations || home_ == nullptr)
    return serve(find_operation(request.header.operation), request, items, reply);
  const int node = static_cast<int>(items.first_argument());
  key_directory& directory = home_->directory;
  switch (what) {
    case move_operation::acquire:
      return acquire(request, node, wish::localize);
    case move_operation::intend:
      return acquire(request, node, wish::intend);
    case move_operation::keep:
      for (const std::int64_t slot : asked_) directory.keep(node, slot);
      return true;
    case move_operation::give_back:
    case move_operation::give_back_none:
    case move_operation::share:
      give_back(what, items, node);
      return true;
    case move_operation::pushes:
    case move_operation::end_copy:
    case move_operation::end_copy_none:
      return take_pushes(what, request, items, node);
    case move_operation::changed:
      return true;  // progress() follows
    default:
      base::fail(SYNCYTE_ERR_INTERNAL, "unknown operation {} of a home", request.header.operation);
  }
}

bool table_target::serve(const operation& what, fabric::served_request& request, const access::served_items& items,
                         fabric::answer& reply) {
  if (request.state) return go_on(*static_cast<split_operation*>(request.state.get()), what, reply);
  const auto value_bytes = static_cast<std::size_t>(values_.count_values(asked_)) * sizeof(float);
  const std::size_t expected = what.reads ? 0 : value_bytes;
  base::require(items.data().size() == expected && value_bytes <= fabric::most_payload, SYNCYTE_ERR_INTERNAL,
                "a request for {} keys has {} bytes of values; expected {}", asked_.size(), items.data().size(),
                expected);
  absent_.clear();
  const std::span<std::byte> result = what.reads ? reply.resize(value_bytes) : std::span<std::byte>();
  const std::size_t done =
      what.reads ? what.attempt(values_, asked_, nullptr, result.data(), absent_) : write(what, request, items.data());
  if (absent_.empty()) return done == asked_.size();  // a pull that has to wait begins again
  base::require(home_ != nullptr, SYNCYTE_ERR_INTERNAL, "a key is elsewhere, and keys do not move");
  for (std::size_t i = done; i < asked_.size(); ++i) absent_.push_back(i);
  const std::span<const std::byte> values = what.reads ? std::span<const std::byte>(result) : items.data();
  const int node = static_cast<int>(items.first_argument());
  auto state = std::make_shared<split_operation>(home_, what, node, asked_, absent_,
                                                 std::vector<std::byte>(values.begin(), values.end()));
  request.state = state;
  return go_on(*state, what, reply);
}

bool table_target::go_on(split_operation& state, const operation& what, fabric::answer& reply) {
  if (!state.progress()) return false;
  if (what.reads) std::ranges::copy(state.values(), reply.resize(state.values().size()).data());
  return true;
}

/// Goes on after the keys that earlier calls have written. Returns the number of keys that are done or absent.
std::size_t table_target::write(const operation& what, fabric::served_request& request,
                                std::span<const std::byte> given) {
  const std::span<const std::int64_t> all(asked_);
  const std::size_t before = request.done;
  if (before > 0)
    given = given.subspan(static_cast<std::size_t>(values_.count_values(all.first(before))) * sizeof(float));
  request.done += what.attempt(values_, all.subspan(before), given.data(), nullptr, absent_);
  for (std::size_t& place : absent_) place += before;
  return request.done;
}

bool table_target::answer_each(move_operation what, fabric::answer& reply) {
  std::vector<std::int32_t> numbers;
  for (const std::int64_t slot : asked_) numbers.push_back(what == move_operation::locate ? locate(slot) : adopt(slot));
  std::ranges::copy(std::as_bytes(std::span(numbers)), reply.resize(numbers.size() * sizeof numbers[0]).data());
  return true;
}

std::int32_t table_target::locate(std::int64_t slot) const {
  return home_ != nullptr && home_->directory.is_away(slot) ? home_->facts->agents[home_->directory.holder(slot)]
                                                            : rank_;
}

std::int32_t table_target::adopt(std::int64_t slot) {
  if (home_ == nullptr || home_->directory.find(slot) != key_directory::place::lost) return 0;
  home_->directory.restore(slot);
  return 1;
}

// ---- keys that move

bool table_target::acquire(fabric::served_request& request, int node, wish why) {
  for (; request.done < asked_.size(); ++request.done)
    if (!home_->directory.acquire(node, asked_[request.done], why)) return false;
  return true;
}

void table_target::give_back(move_operation what, const access::served_items& items, int node) {
  std::span<const std::byte> values = items.data();
  for (const std::int64_t slot : asked_) {
    const auto mine = take_front(values, what == move_operation::give_back_none ? 0 : values_.values_of(slot).size());
    what == move_operation::share ? home_->directory.share(node, slot, mine)
                                  : home_->directory.give_back(node, slot, mine);
  }
}

bool table_target::take_pushes(move_operation what, fabric::served_request& request, const access::served_items& items,
                               int node) {
  std::span<const std::byte> data = items.data();
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const std::int64_t slot = asked_[i];
    const auto number = what == move_operation::pushes ? static_cast<std::uint8_t>(take_front(data, 1)[0]) : 0;
    const auto pushes = take_front(data, what == move_operation::end_copy_none ? 0 : values_.values_of(slot).size());
    if (i < request.done) continue;
    if (!(what == move_operation::pushes ? home_->directory.add_pushes(node, slot, number, pushes)
                                         : home_->directory.end_copy(node, slot, pushes)))
      return false;
    ++request.done;
  }
  if (what == move_operation::pushes) home_->pushed.insert(node);
  return true;
}

/// Sends the values of copies that were stale when the request came, though other workers may change keys all the time.
/// They are sent at once: a copy that is granted afterwards must not get them.
bool table_target::renew(fabric::served_request& request, const access::served_items& items) {
  using slots = std::vector<std::int64_t>;
  const int node = static_cast<int>(items.first_argument());
  if (!request.state) {
    home_->take_changes();
    home_->directory.note_barriers(items.offset(0));
    request.state = std::make_shared<slots>(home_->directory.stale_copies_of(node));
  }
  auto& left = *static_cast<slots*>(request.state.get());
  std::erase_if(left, [&](std::int64_t slot) { return home_->directory.refresh_copy(node, slot); });
  home_->queue_messages();
  if (left.empty())
    home_->messages.add(home_->facts->agents[node], move_operation::renewed,
                        static_cast<std::uint64_t>(home_->facts->rank), 0);
  home_->messages.flush();
  return left.empty();
}

std::chrono::nanoseconds table_target::time_left(std::chrono::nanoseconds now) const {
  if (home_->directory.has_waiting_grants()) return paced_rounds::pause;
  return home_->needs_round() ? home_->rounds.time_left(now) : std::chrono::nanoseconds(-1);
}

bool table_target::progress() {
  if (home_->directory.is_idle() && home_->messages.is_idle() && home_->facts->changed.is_empty()) return false;
  const auto now = fabric::now();
  bool did_something = home_->directory.progress();
  home_->refresh(now);
  deaths_.begin(now, [this] { home_->directory.look_for_deaths(); });
  did_something |= home_->send_messages();
  for (const auto& failed : home_->messages.take_failures())
    base::log(SYNCYTE_LOG_INFO, "keys of a store did not move: {}", failed.reason);
  return did_something;
}

}  // namespace syncyte::kv
