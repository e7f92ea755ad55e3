#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/partition.hpp"
#include "kv/key_layout.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// A list of keys, sorted by owner; each owner's keys keep their order.
class keys_by_owner {
 public:
  keys_by_owner(const base::partition& parts, const key_layout& layout, std::span<const std::int64_t> keys);

  std::span<const listed_key> of(int owner) const {
    const auto place = static_cast<std::size_t>(owner);
    return std::span(keys_).subspan(begin_[place], begin_[place + 1] - begin_[place]);
  }

 private:
  std::vector<listed_key> keys_;
  std::vector<std::size_t> begin_;  // of each owner's keys; ranks + 1
};

}  // namespace syncyte::kv
