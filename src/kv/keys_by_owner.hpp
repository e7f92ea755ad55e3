// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "access/by_owner.hpp"
#include "kv/key_homes.hpp"
#include "kv/key_layout.hpp"
#include "kv/table.hpp"

namespace syncyte::kv {

/// A list of keys, sorted by owner.
using keys_by_owner = access::by_owner<listed_key>;

keys_by_owner sort_by_owner(const key_homes& homes, const key_layout& layout, std::span<const std::int64_t> keys);

}  // namespace syncyte::kv
