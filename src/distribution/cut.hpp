// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "distribution/axis.hpp"
#include "distribution/points.hpp"

namespace syncyte::distribution {

/// One axis of an array: the division of its cells among parts, and the points that each part stores.
class cut {
 public:
  /// Throws SYNCYTE_ERR_ARGUMENT for shared points of parts that are not contiguous.
  cut(axis cells, points of);

  const points& of() const { return points_; }
  const axis& cells() const { return cells_; }
  int parts() const { return cells_.parts(); }

  /// Number of points that a part stores.
  std::int64_t stored(int part) const;

  /// A part's first point; the part is not empty.
  std::int64_t first(int part) const;

  /// Points of a part, in the order of its array.
  std::vector<run> runs(int part, holding what) const;

  /// The points among [first, first + count) that the parts hold; the range lies in the extent.
  std::vector<piece> pieces(range some, holding what) const;

 private:
  range cells_of(int part) const { return {cells_.begin(part), cells_.count(part)}; }

  axis cells_;
  points points_;
};

}  // namespace syncyte::distribution
