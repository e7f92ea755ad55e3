// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "distribution/box.hpp"

namespace syncyte::distribution {

/// Boxes of cells that do not overlap, such as the blocks that a code has chosen itself, and a search among them.
class patches {
 public:
  patches() = default;
  /// Boxes may be empty. The search takes time of the boxes that begin in reach of the longest along one axis.
  explicit patches(std::vector<box> boxes);

  const std::vector<box>& boxes() const { return boxes_; }

  /// Numbers of the boxes that have cells of this one, in ascending order.
  std::vector<int> meeting(const box& some) const;

 private:
  std::vector<box> boxes_;
  std::size_t axis_ = 0;      // along which boxes are searched: the one with the most different beginnings
  std::vector<int> order_;    // boxes that are not empty, by their first cell along the axis
  std::int64_t longest_ = 0;  // count along the axis
};

}  // namespace syncyte::distribution
