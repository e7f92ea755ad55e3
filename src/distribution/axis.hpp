// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "distribution/cyclic.hpp"
#include "distribution/partition.hpp"
#include "distribution/shuffle.hpp"

namespace syncyte::distribution {

/// Equal parts of the shuffled indices: indices of any stride are spread evenly.
class hashed {
 public:
  hashed(std::int64_t extent, int parts) : order_(extent), parts_(partition::equal(extent, parts)) {}

  std::int64_t extent() const { return parts_.extent(); }
  int parts() const { return parts_.parts(); }
  std::int64_t count(int part) const { return parts_.count(part); }
  std::int64_t begin(int part) const { return parts_.begin(part); }
  position find(std::int64_t index) const { return parts_.find(order_.place_of(index)); }
  std::int64_t index(position at) const { return order_.number_at(parts_.index(at)); }
  std::int64_t run(std::int64_t) const { return 1; }

 private:
  shuffle order_;
  partition parts_;
};

/// Consecutive indices of one part, whose offsets in the part are consecutive too.
struct piece {
  int part;
  std::int64_t first, count;  // indices
  std::int64_t offset;        // of the first one within the part
  bool operator==(const piece&) const = default;
};

/// Division of the indices 0 to extent() - 1 of an axis among parts (ranks). Each index has one part, and an offset
/// among its part's indices, 0 to count(part) - 1. Parts may be empty. The factories throw SYNCYTE_ERR_ARGUMENT for a
/// negative extent, and if there is no part.
class axis {
 public:
  /// Contiguous parts in order; the first extent % parts of them have one index more.
  static axis equal(std::int64_t extent, int parts);
  /// Contiguous parts of these lengths: see partition.
  static axis explicit_lengths(std::span<const std::int64_t> lengths, std::int64_t extent = -1);
  /// Contiguous parts in proportion to weights, 0 or more: each border is rounded down.
  static axis weighted(std::int64_t extent, std::span<const std::int64_t> weights);
  static axis cyclic(std::int64_t extent, int parts);
  /// `block` is 1 or more.
  static axis block_cyclic(std::int64_t extent, int parts, std::int64_t block);
  static axis hashed(std::int64_t extent, int parts);

  std::int64_t extent() const;
  int parts() const;
  std::int64_t count(int part) const;
  /// Sum of the counts of the parts before this one.
  std::int64_t begin(int part) const;

  /// Numbers that are equal for equal divisions only, and from which read() makes the axis again.
  std::vector<std::int64_t> facts() const;
  /// Takes an axis from the beginning of a list that facts() has made.
  static axis read(std::span<const std::int64_t>& facts);

  position find(std::int64_t index) const;
  int owner(std::int64_t index) const { return find(index).part; }
  /// The inverse of find().
  std::int64_t index(position at) const;

  /// Number of indices from this one on that are consecutive in its part; as many as the axis has at most.
  std::int64_t run(std::int64_t index) const;
  /// Whether each part has consecutive indices, in the order of the parts.
  bool is_contiguous() const { return std::holds_alternative<partition>(kind_); }

  /// Pieces of `count` indices from `first` on, in order, each as long as possible.
  std::vector<piece> pieces(std::int64_t first, std::int64_t count) const;

  /// Calls visitor with the kind's own class, whose functions have the same names. Use it for loops over many indices.
  template <class Visitor>
  auto visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), kind_);
  }

 private:
  using kinds = std::variant<partition, distribution::cyclic, distribution::block_cyclic, distribution::hashed>;
  explicit axis(kinds kind) : kind_(std::move(kind)) {}

  kinds kind_;
};

}  // namespace syncyte::distribution
