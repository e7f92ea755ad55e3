// SPDX-License-Identifier: BSD-3-Clause
#include "rows/row_map.hpp"

namespace syncyte::rows {

row_map::row_map(std::span<const row_range> ranges, std::size_t row_bytes, std::int64_t stride)
    : row_bytes_(row_bytes), stride_(stride) {
  for (const row_range& range : ranges) {
    if (range.count == 0) continue;
    covered_ += range.count;
    if (!ranges_.empty()) {
      row_range& previous = ranges_.back();
      const bool is_next = previous.first + previous.count == range.first;
      if (is_next && previous.base + previous.count * stride == range.base) {
        previous.count += range.count;
        continue;
      }
    }
    ranges_.push_back(range);
  }
}

row_map row_map::part(std::size_t offset, std::size_t bytes) const {
  row_map result(*this);
  result.row_bytes_ = bytes;
  for (row_range& range : result.ranges_) range.base += offset;
  return result;
}

const row_range* row_map::find_range(std::int64_t row) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), row,
                                      [](std::int64_t wanted, const row_range& range) { return wanted < range.first; });
  if (after == ranges_.begin()) return nullptr;
  const row_range& range = *std::prev(after);
  return row - range.first < range.count ? &range : nullptr;
}

std::byte* row_map::find(std::int64_t row) const {
  const row_range* const range = find_range(row);
  return range == nullptr ? nullptr : range->base + (row - range->first) * stride_;
}

}  // namespace syncyte::rows
