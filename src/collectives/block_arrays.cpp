// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/block_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/overlap.hpp"

namespace syncyte::collectives {
namespace {

using distribution::layout;

/// Names the shared points and ghosts that the shape of an array includes, for messages.
std::string beside_cells(const layout& cut) {
  const bool has_shared = std::ranges::any_of(cut.axes(), [](const auto& axis) { return axis.is_shared(); });
  const bool has_ghosts = cut.ghosts() != distribution::ghost_widths() || (cut.lists() && cut.lists()->has_ghosts());
  std::string result;
  if (has_shared) result += ", with the points that neighbours store too";
  if (has_ghosts) result += ", with ghosts";
  return result;
}

/// Says that an array may hold nodes or faces, if it has one point more than expected along some axes.
std::string about_nodes(const base::buffer& array, std::span<const std::int64_t> wanted, const layout& cut) {
  if (array.ndim() != static_cast<int>(wanted.size()) || cut.lists() != nullptr) return "";
  bool has_more = false;
  for (int axis = 0; axis < array.ndim(); ++axis) {
    const std::int64_t more = array.extent(axis) - wanted[static_cast<std::size_t>(axis)];
    if (more < 0 || more > 1 || (more == 1 && cut.axes()[static_cast<std::size_t>(axis)].is_shared())) return "";
    has_more = has_more || more == 1;
  }
  return has_more ? "; an array with one point more holds nodes or faces, whose layout has shared axes" : "";
}

}  // namespace

std::vector<std::int64_t> allocated_shape(const distribution::layout& cut, int block) {
  const distribution::per_axis extents = cut.allocated_of(block);
  return {extents.begin(), extents.begin() + cut.ndim()};
}

std::vector<base::buffer> checked_arrays(const block_arrays& given, int rank, syncyte_dtype_t dtype) {
  const std::span<const int> blocks = given.cut.blocks_of(rank);
  base::expect(given.buffers.size() == blocks.size(), SYNCYTE_ERR_ARGUMENT, given.argument,
               static_cast<std::int64_t>(given.buffers.size()), "{} arrays, one for each block of this rank",
               blocks.size());
  std::vector<base::buffer> result;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const base::buffer& array = result.emplace_back(&given.buffers[i], given.argument);
    array.require_host().require_dtype(dtype);
    const auto wanted = allocated_shape(given.cut, blocks[i]);
    if (std::ranges::equal(array.shape(), wanted)) continue;
    const std::string shape = base::shape_text(array.shape());
    const std::string expected =
        base::shape_text(wanted) + beside_cells(given.cut) + about_nodes(array, wanted, given.cut);
    base::refuse(
        SYNCYTE_ERR_SHAPE,
        {.argument = given.argument, .axis = static_cast<std::int64_t>(i), .value = shape, .expected = expected},
        fmt::format("{}[{}] has shape {}; expected {}", given.argument, i, shape, expected));
  }
  return result;
}

void require_targets(std::span<const base::buffer> arrays) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    arrays[i].require_writable();
    for (std::size_t other = 0; other < i; ++other) base::require_apart(arrays[other], arrays[i]);
  }
}

}  // namespace syncyte::collectives
