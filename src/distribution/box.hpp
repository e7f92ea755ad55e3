// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "syncyte/base.h"

namespace syncyte::distribution {

/// One number for each axis; arrays have at most this number of axes.
using per_axis = std::array<std::int64_t, SYNCYTE_MAX_NDIM>;

/// A box of points: those from `first` on, `count` along each axis. Axes that an array does not have count 1.
struct box {
  per_axis first{};
  per_axis count = {1, 1, 1, 1, 1, 1, 1, 1};
  bool operator==(const box&) const = default;
};
static_assert(SYNCYTE_MAX_NDIM == 8);

inline std::int64_t volume(const box& of) {
  std::int64_t result = 1;
  for (const std::int64_t count : of.count) result *= count;
  return result;
}

/// The points of both; a count of 0 along some axis if there are none.
inline box intersection(const box& a, const box& b) {
  box result;
  for (std::size_t axis = 0; axis < a.first.size(); ++axis) {
    result.first[axis] = std::max(a.first[axis], b.first[axis]);
    const std::int64_t end = std::min(a.first[axis] + a.count[axis], b.first[axis] + b.count[axis]);
    result.count[axis] = std::max<std::int64_t>(end - result.first[axis], 0);
  }
  return result;
}

}  // namespace syncyte::distribution
