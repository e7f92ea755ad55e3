// SPDX-License-Identifier: BSD-3-Clause
#include "kv/move_sender.hpp"

#include <algorithm>
#include <utility>

#include "kv/joined_moves.hpp"

namespace syncyte::kv {

/// Requests to one rank in flight.
struct move_sender::sent {
  sent(std::uint64_t place, int to_rank, std::vector<moved_keys> operations, fabric::object_name to, fabric::stream& in)
      : number(place), rank(to_rank), parts(parts_of(operations)), requests(to, std::move(operations)), running(in) {}

  static std::vector<part> parts_of(const std::vector<moved_keys>& operations) {
    std::vector<part> result;
    for (const moved_keys& each : operations) result.push_back({each.what(), each.offsets()});
    return result;
  }
  bool has(move_operation what) const {
    return std::ranges::any_of(parts, [what](const part& each) { return each.what == what; });
  }

  std::uint64_t number;
  int rank;
  std::vector<part> parts;
  joined_moves requests;
  fabric::exchange running;  // destroyed before the requests
};

move_sender::move_sender(std::shared_ptr<const fabric::members> ranks, fabric::object_name to)
    : ranks_(std::move(ranks)), to_(to), stream_(ranks_->through(), fabric::stream::by::reserved_caller) {}

move_sender::~move_sender() = default;

void move_sender::add(int rank, move_operation what, std::uint64_t argument, std::uint64_t offset,
                      std::span<const std::byte> values, std::optional<std::uint8_t> number) {
  const std::pair key(rank, what);
  auto next = added_.find(key);
  if (next == added_.end()) next = added_.emplace(key, moved_keys(ranks_->rank_name(rank), what, argument)).first;
  next->second.add(offset, values, number);
}

bool move_sender::flush() {
  if (added_.empty()) return false;
  std::map<int, std::vector<moved_keys>> by_rank;  // in the order of operations
  for (auto& [key, keys] : std::exchange(added_, {})) by_rank[key.first].push_back(std::move(keys));
  for (auto& [rank, operations] : by_rank) {
    sent& made = in_flight_.emplace_back(next_++, rank, std::move(operations), to_, stream_);
    made.running.add(ranks_->at(made.rank), made.requests);
    made.running.drive();
  }
  return true;
}

/// A failed request is answered: take_failures() has its error.
bool move_sender::is_unanswered(sent& which) {
  bool has_ended = true;
  base::error_of([&] { has_ended = which.running.test(); });
  return !has_ended;
}

bool move_sender::has_unanswered(move_operation what, std::uint64_t below) {
  return std::ranges::any_of(in_flight_,
                             [&](sent& each) { return each.number < below && each.has(what) && is_unanswered(each); });
}

bool move_sender::has_unanswered(int rank, move_operation what) {
  return added_.contains({rank, what}) || std::ranges::any_of(in_flight_, [&](sent& each) {
           return each.rank == rank && each.has(what) && is_unanswered(each);
         });
}

std::vector<move_sender::failure> move_sender::take_failures() {
  std::vector<failure> result;
  const auto now = in_flight_.empty() ? looked_ : fabric::now();
  if (now - looked_ < std::chrono::milliseconds(1)) return result;
  looked_ = now;
  std::erase_if(in_flight_, [&](sent& each) {
    bool has_ended = true;
    if (const auto error = base::error_of([&] { has_ended = each.running.test(); }))
      for (part& of : each.parts) result.push_back({each.rank, of.what, std::move(of.offsets), error->what()});
    return has_ended;
  });
  return result;
}

}  // namespace syncyte::kv
