// SPDX-License-Identifier: BSD-3-Clause
#include "kv/key_items.hpp"

#include <fmt/format.h>

#include <cstring>

namespace syncyte::kv {
namespace {

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

std::string key_items::owner_name() const {
  const std::string first = fmt::format("{} (home of key {}", owner_.ranks->rank_name(owner_.rank),
                                        owner_.homes->key(owner_.rank, keys_[0].slot));
  return keys_.size() == 1 ? first + ")" : fmt::format("{} and {} more keys of the list)", first, keys_.size() - 1);
}

void key_items::write(std::size_t first, std::size_t count, std::byte* to) const {
  for_each_vector(*layout_, keys_.subspan(first, count), to, [&](auto place, std::byte* packed, std::size_t bytes) {
    std::memcpy(packed, values_ + place, bytes);
  });
}

void key_items::read(std::size_t first, std::size_t count, const std::byte* from) const {
  for_each_vector(
      *layout_, keys_.subspan(first, count), from,
      [&](auto place, const std::byte* packed, std::size_t bytes) { std::memcpy(values_ + place, packed, bytes); });
}

}  // namespace syncyte::kv
