// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/cut.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace syncyte::distribution {

cut::cut(axis cells, points of) : cells_(std::move(cells)), points_(of) {
  points_.cells = cells_.extent();
  base::expect(cells_.is_contiguous() || (!points_.is_shared() && !points_.periodic), SYNCYTE_ERR_ARGUMENT,
               "division of a shared or periodic axis", "dealt out in blocks", "consecutive cells of each part");
}

std::int64_t cut::stored(int part) const { return points_.stored({0, cells_.count(part)}).count; }

std::int64_t cut::first(int part) const { return cells_.index({part, 0}); }

std::vector<run> cut::runs(int part, holding what) const {
  if (cells_.is_contiguous()) return points_.runs_of(cells_of(part), what);
  std::vector<run> result;
  for (std::int64_t offset = 0; offset < cells_.count(part);) {
    const std::int64_t first = cells_.index({part, offset});
    const std::int64_t count = cells_.run(first);
    if (!result.empty() && result.back().first + result.back().count == first)
      result.back().count += count;
    else
      result.push_back({first, count, offset});
    offset += count;
  }
  return result;
}

std::vector<piece> cut::pieces(range some, holding what) const {
  if (!cells_.is_contiguous()) return cells_.pieces(some.first, some.count);
  std::vector<int> parts;
  for (const range& cells : points_.cells_that_store(some))
    for (const piece& each : cells_.pieces(cells.first, cells.count)) parts.push_back(each.part);
  std::ranges::sort(parts);
  const auto [first, last] = std::ranges::unique(parts);
  parts.erase(first, last);
  std::vector<piece> result;
  for (const int part : parts)
    for (const run& each : runs(part, what))
      if (const run both = clip(each, some); both.count > 0)
        result.push_back({part, both.first, both.count, both.offset});
  return result;
}

}  // namespace syncyte::distribution
