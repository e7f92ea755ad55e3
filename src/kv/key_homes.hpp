#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "distribution/axis.hpp"
#include "kv/key_range.hpp"

namespace syncyte::kv {

/// Keys at their home ranks. A rank's keys have slots that follow each other: their numbers in memory.
class key_homes {
 public:
  explicit key_homes(distribution::axis ranks) : ranks_(std::move(ranks)) {
    for (int rank = 0; rank < ranks_.parts(); ++rank) begins_.push_back(ranks_.begin(rank));
  }

  int ranks() const { return ranks_.parts(); }
  int owner(std::int64_t key) const { return ranks_.owner(key); }
  std::int64_t slot(std::int64_t key) const { return slot(ranks_.find(key)); }
  key_range slots(int rank) const { return {begins_[static_cast<std::size_t>(rank)], ranks_.count(rank)}; }
  /// The key with this slot, which is one of the rank's.
  std::int64_t key(int rank, std::int64_t slot) const { return ranks_.index({rank, slot - slots(rank).first}); }

  /// Calls visit(owner, slot) for each key.
  template <class Keys, class Visitor>
  void for_each(const Keys& keys, Visitor&& visit) const {
    ranks_.visit([&](const auto& by) {
      for (const std::int64_t key : keys) {
        const distribution::position at = by.find(key);
        visit(at.part, slot(at));
      }
    });
  }

 private:
  std::int64_t slot(distribution::position at) const { return begins_[static_cast<std::size_t>(at.part)] + at.offset; }

  distribution::axis ranks_;
  std::vector<std::int64_t> begins_;  // first slot of each rank
};

}  // namespace syncyte::kv
