#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace syncyte::comm {

/// Counts of all ranks and prefix sums that fit MPI's int.
struct int_layout {
  std::vector<int> counts;
  std::vector<int> offsets;
  explicit int_layout(std::span<const std::int64_t> wide) : counts(wide.begin(), wide.end()), offsets(counts.size()) {
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  }
};

}  // namespace syncyte::comm
