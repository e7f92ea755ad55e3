// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoints/attributes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

namespace syncyte::hdf5 {
namespace {

/// The axes along which ranks have different blocks. Of listed points it is axis 0, if several ranks have a list.
std::vector<std::size_t> cut_axes(const layout& cut) {
  using range = std::pair<std::int64_t, std::int64_t>;  // first point, extent of the array
  const std::size_t ndim = cut.shape().size();
  const std::int32_t ranks = cut.comm().size();
  std::vector<std::vector<std::set<range>>> held;  // of each rank that has blocks, along each axis
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::vector<block_info> blocks = cut.blocks_of(rank);
    if (blocks.empty()) continue;
    auto& mine = held.emplace_back(ndim);
    for (const block_info& block : blocks)
      for (std::size_t axis = 0; axis < ndim; ++axis) mine[axis].emplace(block.first[axis], block.shape[axis]);
  }
  const bool is_listed = cut.describe(0).listed != 0 && held.size() > 1;
  std::vector<std::size_t> result;
  for (std::size_t axis = 0; axis < ndim; ++axis)
    if ((is_listed && axis == 0) ||
        std::ranges::any_of(held, [&](const auto& each) { return each[axis] != held.front()[axis]; }))
      result.push_back(axis);
  return result;
}

attribute_list attributes_of_field(const layout& cut) {
  attribute_list result;
  if (const auto axes = cut_axes(cut); !axes.empty())
    result.emplace_back("parallel_dim", fmt::format("{}", fmt::join(axes, ", ")));
  const auto [names, units] = cut.axis_names();
  if (!names.empty()) result.emplace_back("axis_names", names);
  if (!units.empty()) result.emplace_back("axis_units", units);
  return result;
}

}  // namespace

std::vector<attribute_list> attributes_of(const std::vector<entry>& entries) {
  std::vector<attribute_list> result;
  std::unordered_map<const std::byte*, const entry*> first_at;  // replicated entries by address
  for (const entry& one : entries) {
    attribute_list& its = result.emplace_back();
    if (one.field) {
      its = attributes_of_field(one.field->cut());
    } else if (one.sharded()) {
      its.emplace_back("parallel_dim", "0");
    } else if (one.bytes() > 0) {
      const entry& first = *first_at.try_emplace(one.data(), &one).first->second;
      if (&first != &one && first.buffer.dtype == one.buffer.dtype && first.shape() == one.shape())
        its.emplace_back("alias_of", first.key);
    }
  }
  return result;
}

}  // namespace syncyte::hdf5
