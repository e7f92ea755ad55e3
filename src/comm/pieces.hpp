#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace syncyte::comm {

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

}  // namespace syncyte::comm
