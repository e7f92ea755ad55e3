// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "distribution/axis.hpp"
#include "kv/key_range.hpp"

namespace syncyte::kv {

/// Keys at their home ranks. A slot is a key's number in memory; a rank's keys have consecutive slots.
class key_homes {
 public:
  /// `ranks`: the rank that has each part of the axis, and then the part of each rank; null: part i is rank i.
  explicit key_homes(distribution::axis parts, std::shared_ptr<const int[]> ranks = nullptr)
      : axis_(std::move(parts)), ranks_(std::move(ranks)) {}

  int ranks() const { return axis_.parts(); }
  int owner(std::int64_t key) const { return rank_of(axis_.owner(key)); }
  std::int64_t slot(std::int64_t key) const {
    const distribution::position at = axis_.find(key);
    return axis_.begin(at.part) + at.offset;
  }
  key_range slots(int rank) const { return {axis_.begin(part_of(rank)), axis_.count(part_of(rank))}; }
  /// The key with this slot, which is one of the rank's.
  std::int64_t key(int rank, std::int64_t slot) const {
    return axis_.index({part_of(rank), slot - axis_.begin(part_of(rank))});
  }

  /// The rank that has a slot.
  int rank_of_slot(std::int64_t slot) const {
    int first = 0, end = axis_.parts();  // the last part that begins at the slot or before is between them
    while (end - first > 1) {
      const int middle = first + (end - first) / 2;
      (axis_.begin(middle) <= slot ? first : end) = middle;
    }
    return rank_of(first);
  }
  std::int64_t key(std::int64_t slot) const { return key(rank_of_slot(slot), slot); }

  /// Calls visit(owner, slot) for each key.
  template <class Keys, class Visitor>
  void for_each(const Keys& keys, Visitor&& visit) const {
    axis_.visit([&](const auto& by) {
      for (const std::int64_t key : keys) {
        const distribution::position at = by.find(key);
        visit(rank_of(at.part), by.begin(at.part) + at.offset);
      }
    });
  }

 private:
  int rank_of(int part) const { return ranks_ ? ranks_[part] : part; }
  int part_of(int rank) const { return ranks_ ? ranks_[ranks() + rank] : rank; }

  distribution::axis axis_;
  std::shared_ptr<const int[]> ranks_;
};

}  // namespace syncyte::kv
