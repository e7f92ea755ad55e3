#include "kv/keys_by_owner.hpp"

#include <algorithm>

namespace syncyte::kv {
namespace {

/// A counter for each rank. All are 0 between calls, so that a call touches only those of its owners.
std::vector<std::size_t>& counters(int ranks) {
  thread_local std::vector<std::size_t> all;
  if (all.size() < static_cast<std::size_t>(ranks)) all.resize(static_cast<std::size_t>(ranks));
  return all;
}

}  // namespace

/// A counting sort. While it distributes the keys, an owner's counter is where its next key goes. Memory is allocated
/// first: an exception must not leave counters that are not 0.
keys_by_owner::keys_by_owner(const key_homes& homes, const key_layout& layout, std::span<const std::int64_t> keys)
    : keys_(keys.size()) {
  std::vector<std::int32_t> owners;
  std::vector<std::int64_t> slots;
  owners.reserve(keys.size());
  slots.reserve(keys.size());
  parts_.reserve(std::min(keys.size(), static_cast<std::size_t>(homes.ranks())));
  std::vector<std::size_t>& counter = counters(homes.ranks());
  homes.for_each(keys, [&](std::int32_t owner, std::int64_t slot) {
    owners.push_back(owner);
    slots.push_back(slot);
    if (counter[static_cast<std::size_t>(owner)]++ == 0) parts_.push_back({owner, {}});
  });
  std::ranges::sort(parts_, {}, &part::owner);
  std::size_t begin = 0;
  for (part& each : parts_) {
    std::size_t& count = counter[static_cast<std::size_t>(each.owner)];
    each.keys = std::span(keys_).subspan(begin, count);
    begin += count;
    count = begin - count;
  }
  layout.visit([&](auto vectors) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys_[counter[static_cast<std::size_t>(owners[i])]++] = {slots[i], place};
      place += vectors.length(slots[i]);
    }
  });
  for (const part& each : parts_) counter[static_cast<std::size_t>(each.owner)] = 0;
}

}  // namespace syncyte::kv
