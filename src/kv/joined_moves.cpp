// SPDX-License-Identifier: BSD-3-Clause
#include "kv/joined_moves.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace syncyte::kv {
namespace {

struct part_header {
  std::uint64_t items;     // access::item_arguments
  std::uint64_t argument;  // the second one
  std::uint32_t bytes;     // of the payload
  std::uint16_t operation;
  std::uint16_t unused = 0;
};

std::size_t bytes_of(const fabric::message& part) { return sizeof(part_header) + part.size; }

std::shared_ptr<fabric::message> join(const std::vector<std::shared_ptr<fabric::message>>& parts) {
  std::size_t bytes = 0;
  for (const auto& each : parts) bytes += bytes_of(*each);
  fabric::message_header header = parts.front()->header;
  header.operation = static_cast<std::uint16_t>(move_operation::several);
  auto result = std::make_shared<fabric::message>(header, bytes);
  std::byte* at = result->payload().data();
  for (const auto& each : parts) {
    const part_header mine{each->header.arguments[0], each->header.arguments[3], static_cast<std::uint32_t>(each->size),
                           each->header.operation};
    std::memcpy(at, &mine, sizeof mine);
    at = std::ranges::copy(each->payload(), at + sizeof mine).out;
  }
  return result;
}

/// The part of a message that is served next, and its state.
struct progress {
  std::size_t begin = 0;  // of the part that is served, in the payload
  std::size_t done = 0;   // of its request
  std::shared_ptr<void> state = nullptr;
};

}  // namespace

joined_moves::joined_moves(fabric::object_name object, std::vector<moved_keys> operations) {
  for (moved_keys& each : operations)
    operations_.push_back(std::make_unique<access::item_requests<moved_keys>>(object, std::move(each)));
}

std::shared_ptr<fabric::message> joined_moves::next_request() {
  if (waiting_) return std::exchange(waiting_, nullptr);
  for (; done_ < operations_.size(); ++done_)
    if (auto result = operations_[done_]->next()) return result;
  return nullptr;
}

std::shared_ptr<fabric::message> joined_moves::next() {
  std::vector<std::shared_ptr<fabric::message>> parts;
  std::size_t bytes = 0;
  while (auto part = next_request()) {
    bytes += bytes_of(*part);
    if (!parts.empty() && bytes > fabric::most_payload) {
      waiting_ = std::move(part);
      break;
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return nullptr;
  return parts.size() == 1 ? parts.front() : join(parts);
}

bool serve_joined(fabric::served_request& request, const std::function<bool(fabric::served_request&)>& serve) {
  if (!request.state) request.state = std::make_shared<progress>();
  auto& at = *static_cast<progress*>(request.state.get());
  while (at.begin < request.payload.size()) {
    const auto rest = request.payload.subspan(at.begin);
    part_header part{};
    base::require(rest.size() >= sizeof part, SYNCYTE_ERR_INTERNAL, "a part of {} bytes", rest.size());
    std::memcpy(&part, rest.data(), sizeof part);
    base::require(rest.size() - sizeof part >= part.bytes, SYNCYTE_ERR_INTERNAL, "a part of {} bytes; expected {}",
                  rest.size() - sizeof part, part.bytes);
    fabric::message_header header = request.header;
    header.operation = part.operation;
    header.arguments[0] = part.items;
    header.arguments[3] = part.argument;
    fabric::served_request mine{header, rest.subspan(sizeof part, part.bytes), at.done, std::move(at.state)};
    const bool is_done = serve(mine);
    at.done = is_done ? 0 : mine.done;
    at.state = is_done ? nullptr : std::move(mine.state);
    if (!is_done) return false;
    at.begin += sizeof part + part.bytes;
  }
  return true;
}

}  // namespace syncyte::kv
