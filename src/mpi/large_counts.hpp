// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace syncyte::mpi {

/// Most elements that are handed to MPI at once: its counts and displacements are int. Tests lower it to reach the
/// pieces with little memory.
inline std::int64_t& piece_limit() {
  static std::int64_t limit = std::numeric_limits<int>::max();
  return limit;
}

/// Calls step(first, count) for pieces of at most the limit.
template <class Step>
void in_pieces(std::int64_t elements, Step&& step, std::int64_t most = std::numeric_limits<int>::max()) {
  const std::int64_t limit = std::min(most, piece_limit());
  for (std::int64_t first = 0; first < elements; first += limit)
    step(first, static_cast<int>(std::min(limit, elements - first)));
}

using counts_view = std::span<const std::int64_t>;

inline std::int64_t sum_of(counts_view counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// Counts of all ranks and prefix sums that fit MPI's int.
struct int_layout {
  std::vector<int> counts;
  std::vector<int> offsets;
  explicit int_layout(counts_view wide) : counts(wide.begin(), wide.end()), offsets(counts.size()) {
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  }
};

}  // namespace syncyte::mpi
