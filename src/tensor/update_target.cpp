#include "tensor/update_target.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace syncyte::tensor {
namespace {

constexpr std::size_t most = fabric::most_payload;

std::vector<std::size_t> counted_from(std::int64_t first, std::span<const std::int64_t> rows) {
  std::vector<std::size_t> result;
  result.reserve(rows.size());
  for (const std::int64_t row : rows) result.push_back(static_cast<std::size_t>(row - first));
  return result;
}

}  // namespace

bool update_target::serve(fabric::served_request& request, fabric::answer&) {
  const auto& arguments = request.header.arguments;
  const layout& shape = rows_->shape();
  const std::size_t count = arguments[0];
  const element_range part{arguments[1], arguments[2]};
  const auto elements = static_cast<std::size_t>(shape.row_elements());
  base::require(count <= most && part.first <= elements && part.count <= elements - part.first, SYNCYTE_ERR_INTERNAL,
                "an update of {} elements from {} of {} rows of {} elements", part.count, part.first, count, elements);
  const std::size_t gradient_bytes = part.count * shape.element_bytes();
  const std::size_t list_bytes = count * window::row_list::bytes_each(arguments[3]);
  base::require(request.payload.size() == sizeof(optim::step) + list_bytes + count * gradient_bytes,
                SYNCYTE_ERR_INTERNAL, "an update of {} rows in {} bytes", count, request.payload.size());
  optim::step by;
  std::memcpy(&by, request.payload.data(), sizeof by);
  const std::byte* const list = request.payload.data() + sizeof by;
  for (; request.done < count; ++request.done) {
    const std::size_t row = window::row_list::decode(list, request.done, arguments[3]);
    base::require(row < static_cast<std::size_t>(shape.partition().count(rank_)), SYNCYTE_ERR_INTERNAL,
                  "an update of row {} of rank {}, which has {}", row, rank_, shape.partition().count(rank_));
    const std::int64_t number = shape.partition().first(rank_) + static_cast<std::int64_t>(row);
    if (!rows_->try_update(by, number, part, list + list_bytes + request.done * gradient_bytes)) return false;
  }
  return true;
}

update_requests::update_requests(std::string owner_name, fabric::object_name object, const optim::step& by,
                                 const layout& shape, int owner, std::span<const std::int64_t> rows,
                                 std::span<const std::byte* const> gradients)
    : owner_name_(std::move(owner_name)),
      object_(object),
      by_(by),
      element_bytes_(shape.element_bytes()),
      row_elements_(static_cast<std::size_t>(shape.row_elements())),
      rows_(counted_from(shape.partition().first(owner), rows)),
      gradients_(gradients),
      list_(rows_) {}

/// The elements of each row in the next request: all of them, or a part of one row.
element_range update_requests::next_range() {
  return {done_elements_, std::min(row_elements_ - done_elements_, most / 2 / element_bytes_)};
}

std::shared_ptr<fabric::message> update_requests::next() {
  if (done_ == rows_.size()) return nullptr;
  const element_range part = next_range();
  const std::size_t bytes = part.count * element_bytes_;
  const bool is_whole = part.count == row_elements_;
  const std::size_t room = (most - sizeof by_) / (bytes + list_.bytes_each());
  const std::size_t count = is_whole ? std::min(room, rows_.size() - done_) : 1;
  const fabric::message_header header{.communicator = object_.communicator,
                                      .object = object_.number,
                                      .operation = 1,
                                      .changes = 1,
                                      .arguments = {count, part.first, part.count, list_.shift()}};
  auto result = std::make_shared<fabric::message>(header, sizeof by_ + count * (list_.bytes_each() + bytes));
  std::byte* to = result->payload().data();
  std::memcpy(to, &by_, sizeof by_);
  to += sizeof by_;
  list_.encode(std::span(rows_).subspan(done_, count), to);
  to += count * list_.bytes_each();
  for (std::size_t i = 0; i < count; ++i, to += bytes)
    std::memcpy(to, gradients_[done_ + i] + part.first * element_bytes_, bytes);
  done_elements_ += part.count;
  if (done_elements_ < row_elements_) return result;
  done_elements_ = 0;
  done_ += count;
  return result;
}

}  // namespace syncyte::tensor
