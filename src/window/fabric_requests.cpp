// SPDX-License-Identifier: BSD-3-Clause
#include "window/fabric_requests.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace syncyte::window {

void row_items::write(std::size_t first, std::size_t count, std::byte* to) const {
  for (std::size_t i = first; i < first + count; ++i, to += piece_bytes_)
    std::memcpy(to, source_ + rows_.inset(row(i)) + inset(i), bytes(i));
}

void row_items::read(std::size_t first, std::size_t count, const std::byte* from) const {
  for (std::size_t i = first; i < first + count; ++i, from += piece_bytes_)
    std::memcpy(rows_.here(row(i)) + inset(i), from, bytes(i));
}

element_requests::element_requests(std::string owner, fabric::object_name object, const change& what)
    : owner_(std::move(owner)), object_(object), what_(what) {
  if (what.operand.size() > copy_.size()) return;
  std::ranges::copy(what.operand, copy_.begin());
  what_.operand = std::span(copy_).first(what.operand.size());
}

std::shared_ptr<fabric::message> element_requests::next() {
  if (done_ == what_.operand.size()) return nullptr;
  // A piece begins and ends between elements, whose sizes divide most_payload.
  const auto piece = what_.operand.subspan(done_, std::min(fabric::most_payload, what_.operand.size() - done_));
  const fabric::message_header header{.communicator = object_.communicator,
                                      .object = object_.number,
                                      .operation = static_cast<std::uint16_t>(what_.operation),
                                      .changes = 1,
                                      .arguments = {what_.offset + done_, static_cast<std::uint64_t>(what_.dtype),
                                                    static_cast<std::uint64_t>(what_.op), what_.previous != nullptr}};
  auto result = std::make_shared<fabric::message>(header, piece.size());
  std::memcpy(result->payload().data(), piece.data(), piece.size());
  done_ += piece.size();
  return result;
}

void element_requests::on_answer(const fabric::message_header& request, std::span<const std::byte> payload) {
  if (what_.previous == nullptr) return;
  const std::size_t done = request.arguments[0] - what_.offset;
  const std::size_t given = std::min(fabric::most_payload, what_.operand.size() - done);
  const std::size_t expected = what_.operation == memory_operation::compare_swap ? given / 2 : given;
  base::require(payload.size() == expected, SYNCYTE_ERR_INTERNAL, "an answer of {} bytes; expected {}", payload.size(),
                expected);
  std::memcpy(what_.previous + done, payload.data(), payload.size());
}

}  // namespace syncyte::window
