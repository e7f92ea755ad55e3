#include "kv/keys_by_owner.hpp"

namespace syncyte::kv {

/// A counting sort. While it distributes the keys, begin_[owner + 1] is where the owner's next key goes.
keys_by_owner::keys_by_owner(const base::partition& parts, const key_layout& layout, std::span<const std::int64_t> keys)
    : keys_(keys.size()), begin_(static_cast<std::size_t>(parts.parts()) + 2) {
  std::vector<std::int32_t> owners(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    owners[i] = parts.owner(keys[i]);
    ++begin_[static_cast<std::size_t>(owners[i]) + 2];
  }
  for (std::size_t owner = 2; owner < begin_.size(); ++owner) begin_[owner] += begin_[owner - 1];
  layout.visit([&](auto vectors) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys_[begin_[static_cast<std::size_t>(owners[i]) + 1]++] = {keys[i], place};
      place += vectors.length(keys[i]);
    }
  });
}

}  // namespace syncyte::kv
