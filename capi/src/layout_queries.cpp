// SPDX-License-Identifier: BSD-3-Clause
// Functions that describe a layout.

#include <algorithm>
#include <optional>
#include <vector>

#include "base/array_argument.hpp"
#include "collectives/block_arrays.hpp"
#include "collectives/shared_layout.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"
#include "syncyte/layout.h"

namespace syncyte::capi {
namespace {

std::shared_ptr<collectives::shared_layout> find(syncyte_layout_t handle) {
  return find_traced(tables::layout(), handle, "layout");
}

/// A box of an array's points. Throws unless it lies in the array.
distribution::box checked_box(const distribution::layout& cut, base::array_argument<std::int64_t> first,
                              base::array_argument<std::int64_t> count) {
  const auto lower = first.checked("first", cut.ndim(), "axis");
  const auto extent = count.checked("count", cut.ndim(), "axis");
  const distribution::per_axis whole = cut.extents();
  distribution::box result;
  for (std::size_t axis = 0; axis < lower.size(); ++axis) {
    base::expect(extent[axis] >= 0, SYNCYTE_ERR_SHAPE, {"count", axis}, extent[axis], "0 or more");
    base::expect(lower[axis] >= 0 && extent[axis] <= whole[axis] && lower[axis] <= whole[axis] - extent[axis],
                 SYNCYTE_ERR_INDEX, {"first", axis}, lower[axis], "a box of {} points within 0 to {}", extent[axis],
                 whole[axis]);
    result.first[axis] = lower[axis];
    result.count[axis] = extent[axis];
  }
  return result;
}

syncyte_layout_piece_t described(const distribution::layout& cut, const distribution::block_part& part) {
  syncyte_layout_piece_t result{};
  result.rank = cut.ranks_of(part.block).front();
  const auto blocks = cut.blocks_of(result.rank);
  result.block = static_cast<std::int32_t>(std::ranges::find(blocks, part.block) - blocks.begin());
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(cut.ndim()); ++axis) {
    result.first[axis] = part.points.first[axis];
    result.count[axis] = part.points.count[axis];
    result.index[axis] = part.offset[axis] + cut.ghosts().low[axis];
  }
  return result;
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_layout_describe(syncyte_layout_t layout, int32_t rank, int32_t block,
                                         syncyte_layout_info_t* info) {
  return lookup_after_init("layout_describe", [&] {
    const auto found = find(layout);
    const distribution::layout& cut = found->cut();
    base::expect(rank >= 0 && rank < cut.size(), SYNCYTE_ERR_ARGUMENT, "rank", rank, "0 to {}", cut.size() - 1);
    base::expect(block >= 0, SYNCYTE_ERR_ARGUMENT, "block", block, "0 or more");
    syncyte_layout_info_t result{};
    result.ndim = cut.ndim();
    result.blocks = static_cast<std::int32_t>(cut.blocks_of(rank).size());
    result.listed = cut.lists() != nullptr;
    const distribution::per_axis extents = cut.extents();
    std::copy_n(extents.begin(), cut.ndim(), result.extents);
    if (block < result.blocks) {
      const int number = cut.blocks_of(rank)[static_cast<std::size_t>(block)];
      const std::vector<std::int64_t> shape = collectives::allocated_shape(cut, number);
      std::ranges::copy(shape, result.shape);
      const distribution::per_axis first = cut.first_of(number);
      std::copy_n(first.begin(), cut.ndim(), result.first);
    }
    base::fill_struct(info, "info", result);
  });
}

syncyte_status_t syncyte_layout_text(syncyte_layout_t layout, const char** text) {
  return lookup_after_init("layout_text", [&] { out(text, "text") = find(layout)->text().c_str(); });
}

syncyte_status_t syncyte_layout_pieces(syncyte_layout_t layout, int64_t first_length, const int64_t* first,
                                       int64_t count_length, const int64_t* count, int64_t capacity,
                                       syncyte_layout_piece_t* pieces, int64_t* number) {
  return lookup_after_init("layout_pieces", [&] {
    const auto found = find(layout);
    const distribution::layout& cut = found->cut();
    const distribution::box box = checked_box(cut, {first, first_length}, {count, count_length});
    base::expect(capacity >= 0, SYNCYTE_ERR_ARGUMENT, "capacity", capacity, "0 or more");
    std::int64_t& counted = out(number, "number");
    counted = 0;
    if (distribution::volume(box) == 0) return;
    for (const distribution::block_part& part : cut.parts_in(box, distribution::holding::owned)) {
      if (pieces != nullptr && counted < capacity) pieces[counted] = described(cut, part);
      ++counted;
    }
  });
}

syncyte_status_t syncyte_layout_name_axes(syncyte_layout_t layout, const char* names, const char* units) {
  return lookup_after_init("layout_name_axes",
                           [&] { find(layout)->name_axes(text_or_empty(names), text_or_empty(units)); });
}

syncyte_status_t syncyte_layout_axis_names(syncyte_layout_t layout, const char** names, const char** units) {
  return lookup_after_init("layout_axis_names", [&] {
    const auto& axes = find(layout)->axes();
    const char*& first = out(names, "names");
    out(units, "units") = axes.units.c_str();
    first = axes.names.c_str();
  });
}
}
