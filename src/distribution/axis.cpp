// SPDX-License-Identifier: BSD-3-Clause
#include "distribution/axis.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "distribution/fact_list.hpp"

namespace syncyte::distribution {
namespace {

void check(std::int64_t extent, int parts) {
  base::expect(extent >= 0, SYNCYTE_ERR_ARGUMENT, "extent", extent, "0 or more");
  base::expect(parts > 0, SYNCYTE_ERR_ARGUMENT, "number of parts", parts, "1 or more");
}

}  // namespace

axis axis::equal(std::int64_t extent, int parts) { return axis(partition::equal(extent, parts)); }

axis axis::explicit_lengths(std::span<const std::int64_t> lengths, std::int64_t extent) {
  return axis(partition::explicit_lengths(lengths, extent));
}

axis axis::weighted(std::int64_t extent, std::span<const std::int64_t> weights) {
  std::int64_t sum = 0;
  for (const std::int64_t weight : weights) {
    base::expect(weight >= 0, SYNCYTE_ERR_ARGUMENT, "weight of a part", weight, "0 or more");
    base::expect(!__builtin_add_overflow(sum, weight, &sum), SYNCYTE_ERR_ARGUMENT, "weight of a part", weight,
                 "weights whose sum is at most 2^63 - 1");
  }
  base::expect(sum > 0, SYNCYTE_ERR_ARGUMENT, "sum of the weights", sum, "1 or more");
  std::vector<std::int64_t> lengths;
  std::int64_t before = 0, border = 0;
  for (const std::int64_t weight : weights) {
    before += weight;
    const auto next = static_cast<std::int64_t>(static_cast<__int128>(extent) * before / sum);
    lengths.push_back(next - border);
    border = next;
  }
  return explicit_lengths(lengths, extent);
}

axis axis::cyclic(std::int64_t extent, int parts) {
  check(extent, parts);
  return axis(distribution::cyclic(extent, parts));
}

axis axis::block_cyclic(std::int64_t extent, int parts, std::int64_t block) {
  check(extent, parts);
  base::expect(block > 0, SYNCYTE_ERR_ARGUMENT, "block", block, "1 or more");
  return axis(distribution::block_cyclic(extent, parts, block));
}

axis axis::hashed(std::int64_t extent, int parts) {
  check(extent, parts);
  return axis(distribution::hashed(extent, parts));
}

std::int64_t axis::extent() const {
  return visit([](const auto& by) { return by.extent(); });
}

int axis::parts() const {
  return visit([](const auto& by) { return by.parts(); });
}

std::int64_t axis::count(int part) const {
  return visit([&](const auto& by) { return by.count(part); });
}

std::int64_t axis::begin(int part) const {
  return visit([&](const auto& by) { return by.begin(part); });
}

std::vector<std::int64_t> axis::facts() const {
  std::vector<std::int64_t> result{static_cast<std::int64_t>(kind_.index()), extent(), parts()};
  if (const auto* const blocks = std::get_if<distribution::block_cyclic>(&kind_)) result.push_back(blocks->block());
  if (const auto* const lengths = std::get_if<partition>(&kind_)) {
    const std::span<const std::int64_t> table = lengths->table();
    result.push_back(std::ssize(table));
    result.insert(result.end(), table.begin(), table.end());
  }
  return result;
}

axis axis::read(std::span<const std::int64_t>& facts) {
  const std::int64_t kind = take(facts), extent = take(facts);
  const int parts = static_cast<int>(take(facts));
  if (kind == 1) return cyclic(extent, parts);
  if (kind == 2) return block_cyclic(extent, parts, take(facts));
  if (kind == 3) return hashed(extent, parts);
  const auto bounds = take(facts, static_cast<std::size_t>(take(facts)));
  if (bounds.empty()) return equal(extent, parts);
  std::vector<std::int64_t> lengths(bounds.begin() + 1, bounds.end());
  for (std::size_t part = 0; part < lengths.size(); ++part) lengths[part] -= bounds[part];
  return explicit_lengths(lengths, extent);
}

position axis::find(std::int64_t index) const {
  return visit([&](const auto& by) { return by.find(index); });
}

std::int64_t axis::index(position at) const {
  return visit([&](const auto& by) { return by.index(at); });
}

std::int64_t axis::run(std::int64_t index) const {
  return visit([&](const auto& by) { return std::min(by.run(index), by.extent() - index); });
}

std::vector<piece> axis::pieces(std::int64_t first, std::int64_t count) const {
  std::vector<piece> result;
  visit([&](const auto& by) {
    for (const std::int64_t end = first + count; first < end;) {
      const position at = by.find(first);
      const std::int64_t length = std::min(by.run(first), end - first);
      piece* const last = result.empty() ? nullptr : &result.back();
      if (last != nullptr && last->part == at.part && last->offset + last->count == at.offset)
        last->count += length;
      else
        result.push_back({at.part, first, length, at.offset});
      first += length;
    }
  });
  return result;
}

}  // namespace syncyte::distribution
