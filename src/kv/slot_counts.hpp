// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace syncyte::kv {

/// Counts for keys, such as those of open windows of intents, or a set of keys. Keys whose count is 0 take no memory.
class slot_counts {
 public:
  /// Both return the number before.
  std::int64_t add(std::int64_t slot) {
    if (2 * (size_ + 1) > cells_.size()) grow();
    cell& at = cells_[place_of(slot)];
    if (at.count == 0) {
      at.slot = slot;
      ++size_;
    }
    return at.count++;
  }

  std::int64_t remove(std::int64_t slot) {
    if (cells_.empty()) return 0;
    const std::size_t at = place_of(slot);
    const std::int64_t before = cells_[at].count;
    if (before == 0) return 0;
    if (--cells_[at].count == 0) {
      --size_;
      fill(at);
    }
    return before;
  }

  bool is_empty() const { return size_ == 0; }
  bool contains(std::int64_t slot) const { return !cells_.empty() && cells_[place_of(slot)].count != 0; }

  /// Calls visit(slot, count) for each key, in any order.
  template <class Visitor>
  void for_each(Visitor&& visit) const {
    for (const cell& each : cells_)
      if (each.count != 0) visit(each.slot, each.count);
  }

 private:
  struct cell {
    std::int64_t slot = 0;
    std::int64_t count = 0;  // 0: the cell is empty
  };

  std::size_t first_place(std::int64_t slot) const {
    const auto mixed = static_cast<std::uint64_t>(slot) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(mixed >> 32) & (cells_.size() - 1);
  }
  /// The cell of a key, or the empty one where it belongs.
  std::size_t place_of(std::int64_t slot) const {
    std::size_t at = first_place(slot);
    while (cells_[at].count != 0 && cells_[at].slot != slot) at = next(at);
    return at;
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (cells_.size() - 1); }

  /// Moves cells behind an empty one that do not stand where they are looked for first.
  void fill(std::size_t empty) {
    const std::size_t mask = cells_.size() - 1;
    for (std::size_t at = next(empty); cells_[at].count != 0; at = next(at)) {
      const std::size_t distance = (at - first_place(cells_[at].slot)) & mask;
      if (distance < ((at - empty) & mask)) continue;
      cells_[empty] = std::exchange(cells_[at], {});
      empty = at;
    }
  }

  void grow() {
    const auto before = std::exchange(cells_, std::vector<cell>(cells_.empty() ? 16 : 2 * cells_.size()));
    for (const cell& each : before)
      if (each.count != 0) cells_[place_of(each.slot)] = each;
  }

  std::vector<cell> cells_;  // a power of two, at most half of them used
  std::size_t size_ = 0;
};

}  // namespace syncyte::kv
