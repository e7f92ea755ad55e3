// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "access/item_list.hpp"
#include "base/error.hpp"
#include "fabric/caller.hpp"

namespace syncyte::access {

/// The requests of one operation to one owner, about a list of items there: as many items in each request as fit. They
/// arrive as served_items. `Items` is the operation's list:
///
///     std::string owner_name() const;                    // for messages: "rank 3"
///     std::uint16_t operation() const;                   // of the owner's object
///     bool happens_once() const;                         // message_header::changes
///     bool reads() const;                                // the answer has the items' data; otherwise the request
///     std::span<const std::byte> own() const;            // the operation's own bytes
///     std::size_t size() const;
///     std::size_t most_together() const;                 // items of one request, at least 1
///     std::uint64_t offset(std::size_t i) const;         // at the owner
///     std::size_t bytes(std::size_t i) const;            // of an item's data; the first one of a request fits
///     std::array<std::uint64_t, 2> arguments(std::size_t i) const;      // of a request that begins with this item
///     void write(std::size_t i, std::size_t count, std::byte* to) const;        // data of items, for a request
///     void read(std::size_t i, std::size_t count, const std::byte* from) const;  // data of items, from an answer
template <class Items>
class item_requests final : public fabric::request_source {
 public:
  item_requests(fabric::object_name object, Items items)
      : object_(object), items_(std::move(items)), coding_(coding_of(items_)) {}

  std::string owner_name() const override { return items_.owner_name(); }

  std::shared_ptr<fabric::message> next() override {
    if (done_ == items_.size()) return nullptr;
    const piece taken = next_piece();
    const auto [first_argument, second_argument] = items_.arguments(done_);
    const fabric::message_header header{
        .communicator = object_.communicator,
        .object = object_.number,
        .operation = items_.operation(),
        .changes = items_.happens_once(),
        .arguments = {item_arguments::pack(taken.items, coding_.shift()), done_, first_argument, second_argument}};
    const std::size_t data_bytes = items_.reads() ? 0 : taken.data_bytes;
    auto result = std::make_shared<fabric::message>(header, list_end(taken.items) + data_bytes);
    std::byte* const payload = result->payload().data();
    std::ranges::copy(items_.own(), payload);
    coding_.encode(done_, taken.items, [this](std::size_t i) { return items_.offset(i); }, payload + list_end(0));
    if (!items_.reads()) items_.write(done_, taken.items, payload + list_end(taken.items));
    done_ += taken.items;
    return result;
  }

  void on_answer(const fabric::message_header& request, std::span<const std::byte> payload) override {
    if (!items_.reads()) return;
    const std::size_t count = item_arguments::count(request.arguments[0]), first = request.arguments[1];
    std::size_t expected = 0;
    for (std::size_t i = first; i < first + count; ++i) expected += items_.bytes(i);
    base::require(payload.size() == expected, SYNCYTE_ERR_INTERNAL, "an answer of {} bytes; expected {}",
                  payload.size(), expected);
    items_.read(first, count, payload.data());
  }

 private:
  struct piece {
    std::size_t items = 0;
    std::size_t data_bytes = 0;
  };

  static item_coding coding_of(const Items& items) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < items.size(); ++i) bits |= items.offset(i);
    return item_coding::of(bits);
  }

  /// Bytes of a payload before the items' data.
  std::size_t list_end(std::size_t items) const { return items_.own().size() + items * coding_.bytes_each(); }

  /// The next items whose request and answer are not too long.
  piece next_piece() const {
    piece result;
    const std::size_t most_items = std::min(items_.size() - done_, items_.most_together());
    while (result.items < most_items) {
      const std::size_t list = list_end(result.items + 1),
                        data = result.data_bytes + items_.bytes(done_ + result.items);
      if (result.items > 0 && (items_.reads() ? std::max(list, data) : list + data) > fabric::most_payload) break;
      result = {result.items + 1, data};
    }
    return result;
  }

  const fabric::object_name object_;
  const Items items_;
  const item_coding coding_;
  std::size_t done_ = 0;
};

}  // namespace syncyte::access
