// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace syncyte::rows {

/// A hash table from row numbers to places in an array. It is one array itself, at most half full, so that a look-up
/// usually reads one cache line. Rows stay in it until clear().
class row_places {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  /// Place of a row, none if it is new. Valid until the next call.
  std::size_t& operator[](std::int64_t row) {
    if (2 * used_ >= slots_.size()) grow();
    slot& result = slots_[slot_of(row)];
    used_ += result.row != row;
    result.row = row;
    return result.place;
  }

  /// Place of a row, none if it is not there.
  std::size_t find(std::int64_t row) const { return slots_.empty() ? none : slots_[slot_of(row)].place; }

  void clear() { *this = row_places(); }

 private:
  struct slot {
    std::int64_t row = -1;
    std::size_t place = none;
  };

  /// The slot of a row, or the free one that it will take.
  std::size_t slot_of(std::int64_t row) const {
    const std::size_t mask = slots_.size() - 1;
    // A product with 2^64 divided by the golden ratio spreads neighbouring rows; its upper half depends on all bits.
    std::size_t at = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u >> 32;
    while (slots_[at & mask].row != row && slots_[at & mask].row >= 0) ++at;
    return at & mask;
  }

  void grow() {
    const std::vector<slot> before =
        std::exchange(slots_, std::vector<slot>(slots_.empty() ? first_slots : 2 * slots_.size()));
    for (const slot& each : before)
      if (each.row >= 0) slots_[slot_of(each.row)] = each;
  }

  static constexpr std::size_t first_slots = 64;  // a power of two, as all sizes
  std::vector<slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace syncyte::rows
