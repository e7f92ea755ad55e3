// SPDX-License-Identifier: BSD-3-Clause
#include "cache/heap.hpp"

#include <algorithm>
#include <iterator>

namespace syncyte::cache {

heap::heap(std::uint64_t bytes) : blocks_{{0, {bytes, false}}}, holes_{{bytes, 0}}, free_bytes_(bytes) {}

std::optional<std::uint64_t> heap::acquire(std::uint64_t bytes) {
  if (bytes > free_bytes_) return std::nullopt;  // rounding up cannot overflow below
  const std::uint64_t wanted = std::max(unit, (bytes + unit - 1) / unit * unit);
  const auto best = holes_.lower_bound({wanted, 0});
  if (best == holes_.end()) return std::nullopt;

  auto hole = holes_.extract(best);
  const auto [found, offset] = hole.value();
  const auto place = blocks_.find(offset);
  place->second = {wanted, true};
  if (found > wanted) {
    blocks_.emplace_hint(std::next(place), offset + wanted, extent{found - wanted, false});
    hole.value() = {found - wanted, offset + wanted};
    holes_.insert(std::move(hole));
  }
  free_bytes_ -= wanted;
  return offset;
}

void heap::erase_hole(blocks::const_iterator hole) { holes_.erase({hole->second.bytes, hole->first}); }

bool heap::release(std::uint64_t offset) {
  auto place = blocks_.find(offset);
  if (place == blocks_.end() || !place->second.is_used) return false;
  free_bytes_ += place->second.bytes;
  place->second.is_used = false;
  if (const auto next = std::next(place); next != blocks_.end() && !next->second.is_used) {
    erase_hole(next);
    place->second.bytes += next->second.bytes;
    blocks_.erase(next);
  }
  if (place != blocks_.begin() && !std::prev(place)->second.is_used) {
    const auto previous = std::prev(place);
    erase_hole(previous);
    previous->second.bytes += place->second.bytes;
    blocks_.erase(place);
    place = previous;
  }
  holes_.emplace(place->second.bytes, place->first);
  return true;
}

bool heap::is_used(std::uint64_t offset) const {
  const auto found = blocks_.find(offset);
  return found != blocks_.end() && found->second.is_used;
}

std::vector<heap::block> heap::used(std::size_t most) const {
  std::vector<block> result;
  for (const auto& [offset, each] : blocks_) {
    if (result.size() == most) break;
    if (each.is_used) result.push_back({offset, each.bytes});
  }
  return result;
}

}  // namespace syncyte::cache
