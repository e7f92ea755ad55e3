#include "window/fabric_requests.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace syncyte::window {
namespace {

constexpr std::size_t most = fabric::most_payload;

void require_length(std::span<const std::byte> answer, std::size_t expected) {
  base::require(answer.size() == expected, SYNCYTE_ERR_INTERNAL, "an answer of {} bytes; expected {}", answer.size(),
                expected);
}

}  // namespace

std::shared_ptr<fabric::message> memory_requests::request(memory_operation operation,
                                                          std::initializer_list<std::uint64_t> arguments,
                                                          std::size_t payload_bytes) const {
  const bool reads = operation == memory_operation::read || operation == memory_operation::read_rows;
  fabric::message_header header{.communicator = object_.communicator,
                                .object = object_.number,
                                .operation = static_cast<std::uint16_t>(operation),
                                .changes = !reads};
  std::ranges::copy(arguments, header.arguments);
  return std::make_shared<fabric::message>(header, payload_bytes);
}

/// The third and fourth argument are the place of the bytes in `rows_`, for on_answer(); of add the third is the op.
std::shared_ptr<fabric::message> piece_requests::next() {
  if (done_ == rows_.row_bytes) {
    done_ = 0;
    ++row_;
  }
  if (row_ == rows_.offsets.size() || rows_.row_bytes == 0) return nullptr;
  const bool reads = operation_ == memory_operation::read;
  const std::size_t length = std::min(most, rows_.row_bytes - done_);
  const std::uint64_t third = operation_ == memory_operation::add ? static_cast<std::uint64_t>(op_) : row_;
  auto result = request(operation_, {rows_.offsets[row_] + done_, length, third, done_}, reads ? 0 : length);
  if (!reads) std::memcpy(result->payload().data(), rows_.here(row_) + done_, length);
  done_ += length;
  return result;
}

void piece_requests::on_answer(const fabric::message_header& request, std::span<const std::byte> payload) {
  if (operation_ != memory_operation::read) return;
  const auto& arguments = request.arguments;
  require_length(payload, arguments[1]);
  std::memcpy(rows_.here(arguments[2]) + arguments[3], payload.data(), payload.size());
}

/// The fourth argument is the first row's place in `rows_`, for on_answer(); of add_rows it is the op.
std::shared_ptr<fabric::message> row_requests::next() {
  const std::size_t first = done_;
  if (first == rows_.offsets.size()) return nullptr;
  const bool reads = operation_ == memory_operation::read_rows;
  const std::size_t each = reads ? std::max(rows_.row_bytes, list_.bytes_each()) : rows_.row_bytes + list_.bytes_each();
  const std::size_t count = std::min(most / each, rows_.offsets.size() - first);
  done_ += count;
  const std::size_t list_bytes = count * list_.bytes_each();
  const std::uint64_t last = operation_ == memory_operation::add_rows ? static_cast<std::uint64_t>(op_) : first;
  auto result = request(operation_, {rows_.row_bytes, count, list_.shift(), last},
                        list_bytes + (reads ? 0 : count * rows_.row_bytes));
  std::byte* const list = result->payload().data();
  list_.encode(rows_.offsets.subspan(first, count), list);
  if (!reads)
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(list + list_bytes + i * rows_.row_bytes, rows_.here(first + i), rows_.row_bytes);
  return result;
}

void row_requests::on_answer(const fabric::message_header& request, std::span<const std::byte> payload) {
  if (operation_ != memory_operation::read_rows) return;
  const std::size_t first = request.arguments[3];
  require_length(payload, request.arguments[1] * rows_.row_bytes);
  for (std::size_t i = 0; i < request.arguments[1]; ++i)
    std::memcpy(rows_.here(first + i), payload.data() + i * rows_.row_bytes, rows_.row_bytes);
}

std::shared_ptr<fabric::message> element_requests::next() {
  if (done_ == what_.operand.size()) return nullptr;
  // A piece begins and ends between elements, whose sizes divide `most`.
  const auto piece = what_.operand.subspan(done_, std::min(most, what_.operand.size() - done_));
  auto result = request(what_.operation,
                        {what_.offset + done_, static_cast<std::uint64_t>(what_.dtype),
                         static_cast<std::uint64_t>(what_.op), what_.previous != nullptr},
                        piece.size());
  std::memcpy(result->payload().data(), piece.data(), piece.size());
  done_ += piece.size();
  return result;
}

void element_requests::on_answer(const fabric::message_header& request, std::span<const std::byte> payload) {
  if (what_.previous == nullptr) return;
  const std::size_t done = request.arguments[0] - what_.offset;
  const std::size_t given = std::min(most, what_.operand.size() - done);
  require_length(payload, what_.operation == memory_operation::compare_swap ? given / 2 : given);
  std::memcpy(what_.previous + done, payload.data(), payload.size());
}

}  // namespace syncyte::window
