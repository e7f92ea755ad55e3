// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "kv/key_range.hpp"

namespace syncyte::kv {

/// Keys of one rank that workers of its node have changed, and of which other nodes have copies, until the rank's home
/// takes them: a bit for each key, in memory that the node's processes share.
class changed_keys {
 public:
  static std::size_t memory_bytes(std::int64_t keys);

  /// `memory` is that of memory_bytes(slots.count), zeroed before the first use.
  changed_keys(std::uint64_t* memory, key_range slots) : memory_(memory), slots_(slots) {}

  /// Adds keys whose values have been written. True for one caller until the home takes keys: it tells the home.
  bool add(std::span<const std::int64_t> slots) const;
  bool is_empty() const;
  /// Calls visit(slot) for each key, and forgets it before: visit() reads the values that were written before add().
  void take(const std::function<void(std::int64_t)>& visit) const;

 private:
  std::uint64_t* memory_;
  key_range slots_;
};

}  // namespace syncyte::kv
