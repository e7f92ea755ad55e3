#include "distribution/partition.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace syncyte::distribution {

partition::partition(std::vector<std::int64_t> offsets, bool is_equal)
    : offsets_(std::move(offsets)),
      is_equal_(is_equal),
      shorter_(count(parts() - 1)),
      longer_parts_(extent() % parts()) {}

partition partition::equal(std::int64_t total, int parts) {
  base::expect(total >= 0, SYNCYTE_ERR_ARGUMENT, "number of rows", total, "0 or more");
  base::expect(parts > 0, SYNCYTE_ERR_ARGUMENT, "number of parts", parts, "1 or more");
  std::vector<std::int64_t> offsets{0};
  offsets.reserve(static_cast<std::size_t>(parts) + 1);
  for (int part = 0; part < parts; ++part) offsets.push_back(offsets.back() + total / parts + (part < total % parts));
  return partition(std::move(offsets), true);
}

partition partition::explicit_lengths(std::span<const std::int64_t> lengths, std::int64_t total) {
  base::expect(!lengths.empty(), SYNCYTE_ERR_ARGUMENT, "number of parts", 0, "1 or more");
  std::vector<std::int64_t> offsets{0};
  offsets.reserve(lengths.size() + 1);
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    base::expect(lengths[rank] >= 0, SYNCYTE_ERR_ARGUMENT, "local_rows", lengths[rank], "0 or more on rank {}", rank);
    std::int64_t end = 0;
    base::expect(!__builtin_add_overflow(offsets.back(), lengths[rank], &end), SYNCYTE_ERR_ARGUMENT, "local_rows",
                 lengths[rank], "at most {} on rank {}: all ranks' rows are at most 2^63 - 1",
                 INT64_MAX - offsets.back(), rank);
    offsets.push_back(end);
  }
  base::expect(total < 0 || offsets.back() == total, SYNCYTE_ERR_ARGUMENT, "sum of local_rows", offsets.back(),
               "{}, the tensor's first extent (or -1 on all: equal parts)", total);
  return partition(std::move(offsets), false);
}

int partition::owner(std::int64_t row) const {
  if (is_equal_) {
    const std::int64_t boundary = longer_parts_ * (shorter_ + 1);
    if (row < boundary) return static_cast<int>(row / (shorter_ + 1));
    return static_cast<int>(longer_parts_ + (row - boundary) / shorter_);
  }
  // Take the last part that starts at or before the row: an empty part shares its start with the next part.
  const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), row);
  return static_cast<int>(after - offsets_.begin()) - 1;
}

}  // namespace syncyte::distribution
