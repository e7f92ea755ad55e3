// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_set>
#include <vector>

#include "kv/held_keys.hpp"

namespace syncyte::kv {

/// Operations of a worker that are not answered, which its next one may not overtake: what is on its way to a home must
/// not be overtaken by an access at this node to which the key has moved meanwhile.
struct unanswered_operations {
  using slot_set = std::unordered_set<std::int64_t>;

  /// The number of grants when the oldest of them began: it may have asked for any key that was granted later.
  held_keys::grant_number grants = std::numeric_limits<held_keys::grant_number>::max();
  /// Slots of keys that they have asked for although the home is at this node, or the key was.
  std::vector<std::shared_ptr<const slot_set>> asked = {};

  bool have_asked(std::int64_t slot) const {
    return std::ranges::any_of(asked, [&](const auto& each) { return each->contains(slot); });
  }
};

}  // namespace syncyte::kv
