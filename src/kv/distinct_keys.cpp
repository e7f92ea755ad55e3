// SPDX-License-Identifier: BSD-3-Clause
#include "kv/distinct_keys.hpp"

#include <algorithm>

namespace syncyte::kv {
namespace {

constexpr std::size_t first_cells = 64;

/// Spreads keys of any stride.
std::uint64_t mixed(std::int64_t key) {
  auto x = static_cast<std::uint64_t>(key);
  x = (x ^ (x >> 32)) * 0x9E3779B97F4A7C15u;
  return x ^ (x >> 32);
}

}  // namespace

distinct_keys::distinct_keys(std::span<const std::int64_t> list) : cells_(first_cells, -1) {
  inverse_.reserve(list.size());
  for (const std::int64_t key : list) {
    std::size_t at = cell_of(key);
    if (cells_[at] < 0) {
      if (2 * keys_.size() >= cells_.size()) {
        grow();
        at = cell_of(key);
      }
      cells_[at] = static_cast<std::int64_t>(keys_.size());
      keys_.push_back(key);
    }
    inverse_.push_back(cells_[at]);
  }
}

/// The cell of a key, or the empty one where it belongs.
std::size_t distinct_keys::cell_of(std::int64_t key) const {
  const std::size_t mask = cells_.size() - 1;
  std::size_t at = mixed(key) & mask;
  while (cells_[at] >= 0 && keys_[static_cast<std::size_t>(cells_[at])] != key) at = (at + 1) & mask;
  return at;
}

void distinct_keys::grow() {
  cells_.assign(2 * cells_.size(), -1);
  for (std::size_t place = 0; place < keys_.size(); ++place)
    cells_[cell_of(keys_[place])] = static_cast<std::int64_t>(place);
}

void sum_repeats(const distinct_keys& keys, std::span<const std::int64_t> places, const float* values, float* sums) {
  std::vector<bool> has_begun(keys.keys().size());
  for (const std::int64_t each : keys.inverse()) {
    const auto place = static_cast<std::size_t>(each);
    float* const sum = sums + places[place];
    const std::int64_t length = places[place + 1] - places[place];
    if (has_begun[place])
      for (std::int64_t i = 0; i < length; ++i) sum[i] += values[i];
    else
      std::copy_n(values, length, sum);
    has_begun[place] = true;
    values += length;
  }
}

}  // namespace syncyte::kv
