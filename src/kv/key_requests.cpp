#include "kv/key_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace syncyte::kv {
namespace {

template <class Number>
void encode_as(std::span<const listed_key> keys, std::int64_t first, std::byte* list) {
  for (const listed_key& each : keys) {
    const auto distance = static_cast<Number>(each.slot - first);
    std::memcpy(list, &distance, sizeof distance);
    list += sizeof distance;
  }
}

/// Calls copy(place of a key's values in the list, place in the message, bytes) for each key.
template <class Byte, class Copy>
void for_each_vector(const key_layout& layout, std::span<const listed_key> keys, Byte* packed, Copy&& copy) {
  layout.visit([&, packed](auto vectors) mutable {
    for (const listed_key& each : keys) {
      const std::size_t bytes = static_cast<std::size_t>(vectors.length(each.slot)) * sizeof(float);
      copy(each.place, packed, bytes);
      packed += bytes;
    }
  });
}

}  // namespace

/// The next keys whose request and answer are not too long; at least one, if there are any left.
key_requests::piece key_requests::next_piece() const {
  const bool reads = what_ == table_operation::pull;
  const std::size_t each = list_bytes_each(owner_.keys);
  return layout_.visit([&](auto vectors) {
    piece result{0, 0};
    for (const listed_key& key : keys_.subspan(done_)) {
      const std::size_t more = result.value_bytes + static_cast<std::size_t>(vectors.length(key.slot)) * sizeof(float);
      const std::size_t list_bytes = (result.keys + 1) * each;
      if (result.keys > 0 && (reads ? std::max(list_bytes, more) : list_bytes + more) > fabric::most_payload) break;
      ++result.keys;
      result.value_bytes = more;
    }
    return result;
  });
}

void key_requests::encode(std::span<const listed_key> keys, std::byte* list) const {
  if (list_bytes_each(owner_.keys) == sizeof(std::uint32_t))
    encode_as<std::uint32_t>(keys, owner_.keys.first, list);
  else
    encode_as<std::uint64_t>(keys, owner_.keys.first, list);
}

std::string key_requests::owner_name() const {
  const std::string first = fmt::format("{} (home of key {}", owner_.ranks->rank_name(owner_.rank),
                                        owner_.homes->key(owner_.rank, keys_[0].slot));
  return keys_.size() == 1 ? first + ")" : fmt::format("{} and {} more keys of the list)", first, keys_.size() - 1);
}

/// The second argument is the first key's place among this owner's keys, for on_answer(). A pull that is sent again
/// must not see later pushes, so it happens once too.
std::shared_ptr<fabric::message> key_requests::next() {
  const piece taken = next_piece();
  if (taken.keys == 0) return nullptr;
  const bool reads = what_ == table_operation::pull;
  const std::size_t list_bytes = taken.keys * list_bytes_each(owner_.keys);
  const fabric::message_header header{.communicator = owner_.object.communicator,
                                      .object = owner_.object.number,
                                      .operation = static_cast<std::uint16_t>(what_),
                                      .changes = 1,
                                      .arguments = {taken.keys, done_}};
  auto result = std::make_shared<fabric::message>(header, list_bytes + (reads ? 0 : taken.value_bytes));
  const auto keys = keys_.subspan(done_, taken.keys);
  encode(keys, result->payload().data());
  if (!reads)
    for_each_vector(
        layout_, keys, result->payload().data() + list_bytes,
        [&](std::int64_t place, std::byte* to, std::size_t bytes) { std::memcpy(to, values_ + place, bytes); });
  done_ += taken.keys;
  return result;
}

void key_requests::on_answer(const fabric::message_header& request, std::span<const std::byte> payload) {
  if (what_ != table_operation::pull) return;
  for_each_vector(
      layout_, keys_.subspan(request.arguments[1], request.arguments[0]), payload.data(),
      [&](std::int64_t place, const std::byte* from, std::size_t bytes) { std::memcpy(values_ + place, from, bytes); });
}

}  // namespace syncyte::kv
