// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoints/attributes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace syncyte::hdf5 {
namespace {

/// The axes along which blocks begin at different points.
std::vector<std::size_t> cut_axes(const layout& cut) {
  const std::size_t ndim = cut.shape().size();
  std::vector<std::set<std::int64_t>> beginnings(ndim);
  const std::int32_t ranks = cut.comm().size();
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    for (const block_info& block : cut.blocks_of(rank))
      for (std::size_t axis = 0; axis < ndim; ++axis) beginnings[axis].insert(block.first[axis]);
  std::vector<std::size_t> result;
  for (std::size_t axis = 0; axis < ndim; ++axis)
    if (beginnings[axis].size() > 1) result.push_back(axis);
  return result;
}

bool has_memory_of(const entry& one, const entry& other) {
  return one.bytes() > 0 && one.data() == other.data() && one.buffer.dtype == other.buffer.dtype &&
         one.kind == other.kind && one.shape() == other.shape();
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
