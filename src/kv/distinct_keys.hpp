// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace syncyte::kv {

/// The distinct keys of a list, in the order of their first appearance.
class distinct_keys {
 public:
  explicit distinct_keys(std::span<const std::int64_t> list);

  const std::vector<std::int64_t>& keys() const { return keys_; }
  /// The place in keys() of each key of the list.
  const std::vector<std::int64_t>& inverse() const { return inverse_; }
  bool has_repeats() const { return keys_.size() < inverse_.size(); }
  /// The place of a key in keys(); -1: it is not in the list.
  std::int64_t find(std::int64_t key) const { return cell_of(key).place; }

 private:
  struct cell {
    std::int64_t key = 0;
    std::int64_t place = -1;  // in keys_; -1: the cell is empty
  };

  const cell& cell_of(std::int64_t key) const;
  cell& cell_of(std::int64_t key) { return const_cast<cell&>(std::as_const(*this).cell_of(key)); }
  void grow();

  std::vector<std::int64_t> keys_, inverse_;
  std::vector<cell> cells_;  // open addressing; a power of two, at most half full
};

/// Adds the values of keys that repeat, in the order of the list. `sums` gets those of the distinct keys, whose places
/// it has: where each one's values begin, and the end of the last.
void sum_repeats(const distinct_keys& keys, std::span<const std::int64_t> places, const float* values, float* sums);

}  // namespace syncyte::kv
