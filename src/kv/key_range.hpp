// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace syncyte::kv {

/// The keys from `first` on.
struct key_range {
  std::int64_t first = 0;
  std::int64_t count = 0;

  std::int64_t end() const { return first + count; }
  bool contains(std::int64_t key) const { return key >= first && key < end(); }
};

}  // namespace syncyte::kv
