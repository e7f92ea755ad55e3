// SPDX-License-Identifier: BSD-3-Clause
#include "kv/keys_by_owner.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace syncyte::kv {

keys_by_owner sort_by_owner(const key_homes& homes, const key_layout& layout, std::span<const std::int64_t> keys) {
  std::vector<std::int32_t> owners;
  std::vector<std::int64_t> slots;
  owners.reserve(keys.size());
  slots.reserve(keys.size());
  homes.for_each(keys, [&](std::int32_t owner, std::int64_t slot) {
    owners.push_back(owner);
    slots.push_back(slot);
  });
  return layout.visit([&](auto vectors) {
    std::int64_t next = 0;
    return keys_by_owner(homes.ranks(), owners, [&](std::size_t i) -> listed_key {
      return {slots[i], std::exchange(next, next + vectors.length(slots[i]))};
    });
  });
}

}  // namespace syncyte::kv
