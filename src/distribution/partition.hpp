#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distribution/position.hpp"

namespace syncyte::distribution {

/// The division of rows 0 to extent() - 1 among parts (ranks), contiguously and in order. Parts may be empty.
class partition {
 public:
  /// Equal parts; the first total % parts of them have one row more.
  static partition equal(std::int64_t total, int parts);

  /// Parts of the given lengths, each 0 or more. Throws SYNCYTE_ERR_ARGUMENT if one is negative, or if `total` is not
  /// negative and differs from their sum.
  static partition explicit_lengths(std::span<const std::int64_t> lengths, std::int64_t total = -1);

  int parts() const { return static_cast<int>(offsets_.size()) - 1; }
  std::int64_t extent() const { return offsets_.back(); }
  std::int64_t first(int part) const { return offsets_[static_cast<std::size_t>(part)]; }
  std::int64_t count(int part) const { return first(part + 1) - first(part); }

  /// The part that holds a row of [0, extent()): O(1) for equal parts, otherwise a binary search.
  int owner(std::int64_t row) const;

  // The interface of distribution::axis.
  std::int64_t begin(int part) const { return first(part); }
  position find(std::int64_t row) const {
    const int part = owner(row);
    return {part, row - first(part)};
  }
  std::int64_t index(position at) const { return first(at.part) + at.offset; }
  /// Rows from this one to the end of its part.
  std::int64_t run(std::int64_t row) const { return first(owner(row) + 1) - row; }

 private:
  explicit partition(std::vector<std::int64_t> offsets, bool is_equal);

  std::vector<std::int64_t> offsets_;  // parts() + 1
  bool is_equal_;
  std::int64_t shorter_;       // rows of the last part: no equal part has fewer
  std::int64_t longer_parts_;  // equal parts that have one row more
};

}  // namespace syncyte::distribution
