// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/points.hpp"

#include <algorithm>

namespace syncyte::distribution {

range points::stored(range block) const { return {block.first, block.count > 0 ? block.count + is_shared() : 0}; }

range points::owned(range block) const {
  if (block.count == 0 || !is_shared()) return block;
  const bool lower = shared == shared_points::lower;
  const bool is_first = block.first == 0 && !periodic;
  const bool is_last = block.end() == cells && !periodic;
  const std::int64_t first = block.first + (lower && !is_first);
  return {first, block.end() + (lower || is_last) - first};
}

std::vector<run> points::runs(range of) const {
  std::vector<run> result;
  const std::int64_t extent = this->extent();
  if (!periodic) {
    const std::int64_t first = std::max<std::int64_t>(of.first, 0);
    const std::int64_t count = std::min(of.end(), extent) - first;
    if (count > 0) result.push_back({first, count, first - of.first});
    return result;
  }
  for (std::int64_t at = of.first; at < of.end() && extent > 0;) {
    const std::int64_t first = (at % extent + extent) % extent;
    const std::int64_t count = std::min(extent - first, of.end() - at);
    result.push_back({first, count, at - of.first});
    at += count;
  }
  return result;
}

std::vector<run> points::runs_of(range block, holding what) const {
  const range stored = this->stored(block);
  const range held = what == holding::stored ? stored : owned(block);
  std::vector<run> result = runs(held);
  for (run& each : result) each.offset += held.first - stored.first;
  return result;
}

std::vector<range> points::cells_that_store(range some) const {
  const std::int64_t first = some.first - is_shared();
  if (!periodic) {
    const std::int64_t begin = std::max<std::int64_t>(first, 0);
    return {{begin, std::max<std::int64_t>(std::min(some.end(), cells) - begin, 0)}};
  }
  if (some.end() - first >= cells) return {{0, cells}};
  if (first >= 0) return {{first, some.end() - first}};
  return {{0, some.end()}, {cells + first, -first}};
}

run clip(const run& whole, range to) {
  const std::int64_t first = std::max(whole.first, to.first);
  const std::int64_t end = std::min(whole.first + whole.count, to.end());
  return {first, std::max<std::int64_t>(end - first, 0), whole.offset + first - whole.first};
}

}  // namespace syncyte::distribution
