// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/partition.hpp"

#include <algorithm>
#include <ranges>

#include "base/error.hpp"

namespace syncyte::distribution {

partition partition::equal(std::int64_t total, int parts) {
  base::expect(total >= 0, SYNCYTE_ERR_ARGUMENT, "number of rows", total, "0 or more");
  base::expect(parts > 0, SYNCYTE_ERR_ARGUMENT, "number of parts", parts, "1 or more");
  return partition(total, parts);
}

partition partition::explicit_lengths(std::span<const std::int64_t> lengths, std::int64_t total) {
  base::expect(!lengths.empty(), SYNCYTE_ERR_ARGUMENT, "number of parts", 0, "1 or more");
  const auto firsts = std::make_shared<std::int64_t[]>(lengths.size() + 1);
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    base::expect(lengths[rank] >= 0, SYNCYTE_ERR_ARGUMENT, "local_rows", lengths[rank], "0 or more on rank {}", rank);
    base::expect(!__builtin_add_overflow(firsts[rank], lengths[rank], &firsts[rank + 1]), SYNCYTE_ERR_ARGUMENT,
                 "local_rows", lengths[rank], "at most {} on rank {}: all ranks' rows are at most 2^63 - 1",
                 INT64_MAX - firsts[rank], rank);
  }
  const std::int64_t sum = firsts[lengths.size()];
  base::expect(total < 0 || sum == total, SYNCYTE_ERR_ARGUMENT, "sum of local_rows", sum,
               "{}, the tensor's first extent (or -1 on all: equal parts)", total);
  partition result(sum, static_cast<int>(lengths.size()));
  const auto is_computed = [&](int part) { return firsts[part] == result.first(part); };
  if (!std::ranges::all_of(std::views::iota(0, result.parts()), is_computed)) result.firsts_ = firsts;
  return result;
}

int partition::owner(std::int64_t row) const {
  if (!firsts_) [[likely]] {
    const std::int64_t boundary = longer_parts_ * (shorter_ + 1);
    if (row < boundary) return static_cast<int>(row / (shorter_ + 1));
    return static_cast<int>(longer_parts_ + (row - boundary) / shorter_);
  }
  // Take the last part that starts at or before the row: an empty part shares its start with the next part.
  const std::span<const std::int64_t> firsts = table();
  const auto after = std::upper_bound(firsts.begin(), firsts.end(), row);
  return static_cast<int>(after - firsts.begin()) - 1;
}

}  // namespace syncyte::distribution
