#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace syncyte::comm {

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

}  // namespace syncyte::comm
