// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoints/attributes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace syncyte::hdf5 {
namespace {

/// The axes along which ranks have different points.
std::vector<std::size_t> cut_axes(const layout& cut) {
  const extents whole = cut.shape();
  const std::size_t ndim = whole.size();
  std::map<std::int32_t, std::vector<std::set<std::pair<std::int64_t, std::int64_t>>>> ranges;  // of each owner
  for (const layout_piece& piece : cut.pieces(extents(ndim), whole))
    for (std::size_t axis = 0; axis < ndim; ++axis) {
      auto& of_owner = ranges.try_emplace(piece.rank, ndim).first->second;
      of_owner[axis].emplace(piece.first[axis], piece.count[axis]);
    }
  std::vector<std::size_t> result;
  for (std::size_t axis = 0; axis < ndim; ++axis)
    if (std::ranges::any_of(ranges,
                            [&](const auto& each) { return each.second[axis] != ranges.begin()->second[axis]; }))
      result.push_back(axis);
  return result;
}

bool has_memory_of(const entry& one, const entry& other) {
  return one.bytes() > 0 && !one.sharded() && !other.sharded() && one.data() == other.data() &&
         one.buffer.dtype == other.buffer.dtype && one.shape() == other.shape();
}

}  // namespace

attribute_list attributes_of(const entry& one, const std::vector<entry>& all) {
  attribute_list result;
  if (one.field) {
    const layout& cut = one.field->cut();
    if (const auto axes = cut_axes(cut); !axes.empty())
      result.emplace_back("parallel_dim", fmt::format("{}", fmt::join(axes, ", ")));
    const auto [names, units] = cut.axis_names();
    if (!names.empty()) result.emplace_back("axis_names", names);
    if (!units.empty()) result.emplace_back("axis_units", units);
    return result;
  }
  if (one.sharded()) result.emplace_back("parallel_dim", "0");
  for (const entry& other : all) {
    if (&other == &one) break;
    if (other.field || !has_memory_of(one, other)) continue;
    result.emplace_back("alias_of", other.key);
    break;
  }
  return result;
}

}  // namespace syncyte::hdf5
