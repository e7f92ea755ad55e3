// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

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

  int parts() const { return parts_; }
  std::int64_t extent() const { return extent_; }
  std::int64_t first(int part) const {
    return firsts_ ? firsts_[part] : part * shorter_ + std::min<std::int64_t>(part, longer_parts_);
  }
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

  /// The first row of each part, and the extent; empty if the parts are equal, and so computed.
  std::span<const std::int64_t> table() const {
    return firsts_ ? std::span(firsts_.get(), static_cast<std::size_t>(parts_) + 1) : std::span<const std::int64_t>();
  }
  /// Uses a copy of the table, which processes may share.
  void use_table(std::shared_ptr<const std::int64_t[]> copy) { firsts_ = std::move(copy); }

 private:
  partition(std::int64_t extent, int parts) : extent_(extent), parts_(parts) {}

  std::int64_t extent_;
  int parts_;
  // Two numbers describe equal parts.
  std::int64_t longer_parts_ = extent_ % parts_;  // which have one row more than the others
  std::int64_t shorter_ = extent_ / parts_;       // rows of the others
  std::shared_ptr<const std::int64_t[]> firsts_;  // null for equal parts
};

}  // namespace syncyte::distribution
