#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kv/key_homes.hpp"
#include "kv/key_layout.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// A list of keys, sorted by owner; each owner's keys keep their order. Making it takes time for the keys and their
/// owners, not for all ranks.
class keys_by_owner {
 public:
  struct part {
    int owner;
    std::span<const listed_key> keys;
  };

  keys_by_owner(const key_homes& homes, const key_layout& layout, std::span<const std::int64_t> keys);
  keys_by_owner(keys_by_owner&&) = default;

  /// The owners that have keys of the list, ascending.
  std::span<const part> parts() const { return parts_; }

 private:
  std::vector<listed_key> keys_;
  std::vector<part> parts_;  // of keys_
};

}  // namespace syncyte::kv
