// SPDX-License-Identifier: BSD-3-Clause
#include "kv/distinct_keys.hpp"

#include <algorithm>
#include <bit>

namespace syncyte::kv {
namespace {

/// Cells for a list without repeats, unless it is long: then the index grows with its distinct keys.
std::size_t first_cells(std::size_t keys) { return std::bit_ceil(std::clamp<std::size_t>(2 * keys, 16, 8192)); }

/// Spreads keys of any stride.
std::uint64_t mixed(std::int64_t key) {
  auto x = static_cast<std::uint64_t>(key);
  x = (x ^ (x >> 32)) * 0x9E3779B97F4A7C15u;
  return x ^ (x >> 32);
}

}  // namespace

distinct_keys::distinct_keys(std::span<const std::int64_t> list) : cells_(first_cells(list.size())) {
  keys_.reserve(std::min(list.size(), cells_.size() / 2));
  inverse_.reserve(list.size());
  for (const std::int64_t key : list) {
    cell* at = &cell_of(key);
    if (at->place < 0) {
      if (2 * keys_.size() >= cells_.size()) {
        grow();
        at = &cell_of(key);
      }
      *at = {key, static_cast<std::int64_t>(keys_.size())};
      keys_.push_back(key);
    }
    inverse_.push_back(at->place);
  }
}

/// The cell of a key, or the empty one where it belongs.
const distinct_keys::cell& distinct_keys::cell_of(std::int64_t key) const {
  const std::size_t mask = cells_.size() - 1;
  std::size_t at = mixed(key) & mask;
  while (cells_[at].place >= 0 && cells_[at].key != key) at = (at + 1) & mask;
  return cells_[at];
}

void distinct_keys::grow() {
  cells_.assign(4 * cells_.size(), {});
  for (std::size_t place = 0; place < keys_.size(); ++place)
    cell_of(keys_[place]) = {keys_[place], static_cast<std::int64_t>(place)};
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
