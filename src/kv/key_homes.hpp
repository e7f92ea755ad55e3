#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "distribution/axis.hpp"
#include "kv/key_range.hpp"

namespace syncyte::kv {

/// Keys at their home ranks. A slot is a key's number in memory; a rank's keys have consecutive slots.
class key_homes {
 public:
  /// `ranks`: the rank that has each part of the axis; empty: part i is rank i.
  explicit key_homes(distribution::axis parts, std::vector<int> ranks = {})
      : axis_(std::move(parts)), ranks_(std::move(ranks)) {
    if (ranks_.empty()) {
      ranks_.resize(static_cast<std::size_t>(axis_.parts()));
      std::iota(ranks_.begin(), ranks_.end(), 0);
    }
    parts_.resize(ranks_.size());
    for (int part = 0; part < axis_.parts(); ++part) {
      begins_.push_back(axis_.begin(part));
      parts_[static_cast<std::size_t>(rank_of(part))] = part;
    }
  }

  int ranks() const { return axis_.parts(); }
  int owner(std::int64_t key) const { return rank_of(axis_.owner(key)); }
  std::int64_t slot(std::int64_t key) const { return slot(axis_.find(key)); }
  key_range slots(int rank) const { return {begin(part_of(rank)), axis_.count(part_of(rank))}; }
  /// The key with this slot, which is one of the rank's.
  std::int64_t key(int rank, std::int64_t slot) const {
    return axis_.index({part_of(rank), slot - begin(part_of(rank))});
  }

  /// Calls visit(owner, slot) for each key.
  template <class Keys, class Visitor>
  void for_each(const Keys& keys, Visitor&& visit) const {
    axis_.visit([&](const auto& by) {
      for (const std::int64_t key : keys) {
        const distribution::position at = by.find(key);
        visit(rank_of(at.part), slot(at));
      }
    });
  }

 private:
  int rank_of(int part) const { return ranks_[static_cast<std::size_t>(part)]; }
  int part_of(int rank) const { return parts_[static_cast<std::size_t>(rank)]; }
  std::int64_t begin(int part) const { return begins_[static_cast<std::size_t>(part)]; }
  std::int64_t slot(distribution::position at) const { return begin(at.part) + at.offset; }

  distribution::axis axis_;
  std::vector<int> ranks_;            // of each part
  std::vector<int> parts_;            // of each rank
  std::vector<std::int64_t> begins_;  // first slot of each part
};

}  // namespace syncyte::kv
