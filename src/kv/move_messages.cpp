// SPDX-License-Identifier: BSD-3-Clause
#include "kv/move_messages.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace syncyte::kv {

void moved_keys::write(std::size_t first, std::size_t count, std::byte* to) const {
  if (!data_.empty()) std::memcpy(to, data_.data() + begin(first), ends_[first + count - 1] - begin(first));
}

/// A batch in flight.
struct move_sender::sent {
  sent(std::uint64_t place, int to_rank, moved_keys keys, fabric::object_name to, fabric::stream& in)
      : number(place),
        rank(to_rank),
        what(keys.what()),
        offsets(keys.offsets()),
        requests(to, std::move(keys)),
        running(in) {}

  std::uint64_t number;
  int rank;
  move_operation what;
  std::vector<std::uint64_t> offsets;
  access::item_requests<moved_keys> requests;
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
  for (auto& [key, keys] : std::exchange(added_, {})) {
    sent& made = in_flight_.emplace_back(next_++, key.first, std::move(keys), to_, stream_);
    made.running.add(ranks_->at(made.rank), made.requests);
    made.running.drive();
  }
  return true;
}

/// A failed request is answered: take_failures() has its error.
bool move_sender::has_unanswered(move_operation what, std::uint64_t below) {
  return std::ranges::any_of(in_flight_, [&](sent& each) {
    if (each.what != what || each.number >= below) return false;
    bool has_ended = true;
    base::error_of([&] { has_ended = each.running.test(); });
    return !has_ended;
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
      result.push_back({each.rank, each.what, std::move(each.offsets), error->what()});
    return has_ended;
  });
  return result;
}

}  // namespace syncyte::kv
