// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/layout.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/array_argument.hpp"
#include "block_buffers.hpp"
#include "collective_calls.hpp"
#include "collectives/collection.hpp"
#include "collectives/forms.hpp"
#include "collectives/relocation.hpp"
#include "collectives/shared_layout.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"

namespace syncyte::capi {
namespace {

using collectives::shared_layout;
using direction = collectives::relocation::direction;
using distribution::axis;
using distribution::layout;
using distribution::shared_points;

std::shared_ptr<shared_layout> find_layout(syncyte_layout_t handle, const char* argument = "layout") {
  return find_traced(tables::layout(), handle, argument);
}

std::vector<std::int64_t> checked_extents(std::int32_t ndim, const std::int64_t* extents, const char* name = "cells") {
  base::expect(ndim >= 1 && ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_ARGUMENT, "ndim", ndim, "1 to {}", SYNCYTE_MAX_NDIM);
  base::expect(extents != nullptr, SYNCYTE_ERR_ARGUMENT, name, "null", "{} extents", ndim);
  for (int axis = 0; axis < ndim; ++axis)
    base::expect(extents[axis] >= 0 && extents[axis] <= distribution::most_cells, SYNCYTE_ERR_ARGUMENT,
                 {name, axis, ndim}, extents[axis], "0 to 2^62");
  return {extents, extents + ndim};
}

syncyte_layout_options_t checked_options(const syncyte_layout_options_t* given, int ndim, bool of_mesh) {
  const auto options = options_or(given, syncyte_layout_options_t SYNCYTE_LAYOUT_OPTIONS_INIT);
  const auto check = [&](const char* name, int axis, std::int64_t value, bool fits, const char* expected) {
    base::expect(value == 0 || (axis < ndim && fits), SYNCYTE_ERR_ARGUMENT, {name, axis}, value, "{}",
                 axis < ndim ? expected : "0: there is no such axis");
  };
  for (int axis = 0; axis < SYNCYTE_MAX_NDIM; ++axis) {
    check("options->ghosts_low", axis, options.ghosts_low[axis], options.ghosts_low[axis] > 0, "0 or more");
    check("options->ghosts_high", axis, options.ghosts_high[axis], options.ghosts_high[axis] > 0, "0 or more");
    check("options->shared", axis, options.shared[axis], options.shared[axis] == 1, "0 or 1");
    check("options->periodic", axis, options.periodic[axis], options.periodic[axis] == 1, "0 or 1");
  }
  base::expect_known<base::known::truth>(options.truth, "options->truth");
  base::expect(options.ceil == 0 || options.block == 0, SYNCYTE_ERR_ARGUMENT, "options->block", options.block,
               "0, because options->ceil is 1");
  base::expect(options.ceil == 0 || (of_mesh && options.ceil == 1), SYNCYTE_ERR_ARGUMENT, "options->ceil", options.ceil,
               "{}", of_mesh ? "0 or 1" : "0: the blocks are given");
  base::expect(options.weighted == 0 || (of_mesh && options.weighted == 1), SYNCYTE_ERR_ARGUMENT, "options->weighted",
               options.weighted, "{}", of_mesh ? "0 or 1" : "0: the blocks are given");
  base::expect(options.block == 0 || (of_mesh && options.block > 0), SYNCYTE_ERR_ARGUMENT, "options->block",
               options.block, "{}", of_mesh ? "0 or more" : "0: the blocks are given");
  return options;
}

shared_points rule_of(syncyte_truth_t truth) {
  switch (truth) {
    case SYNCYTE_TRUTH_LOWER:
      return shared_points::lower;
    case SYNCYTE_TRUTH_UPPER:
      return shared_points::upper;
    default:
      return shared_points::equal;
  }
}

/// The layout with the points and ghosts of the options; axes that are periodic stay so.
layout with_options(const layout& cells, const syncyte_layout_options_t& options) {
  std::vector<distribution::points> axes(static_cast<std::size_t>(cells.ndim()));
  distribution::ghost_widths ghosts;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    axes[axis].periodic = options.periodic[axis] != 0 || cells.axes()[axis].periodic;
    axes[axis].shared = options.shared[axis] != 0 ? rule_of(options.truth) : shared_points::none;
    ghosts.low[axis] = options.ghosts_low[axis];
    ghosts.high[axis] = options.ghosts_high[axis];
  }
  return cells.with_points(axes).with_ghosts(ghosts);
}

/// The arguments of create_mesh().
struct mesh_request {
  std::vector<std::int64_t> cells;
  std::vector<int> mesh;
  std::vector<std::vector<int>> by;   // dimensions of the mesh that cut each axis
  std::vector<std::int64_t> lengths;  // of the parts of all cut axes; empty: equal ones
  bool has_lengths = false;
  syncyte_layout_options_t options{};
};

/// Parts of an axis that dimensions of the mesh cut one after the other, each into ceil(n / parts) cells and a rest.
std::vector<std::int64_t> ceil_lengths(std::int64_t cells, std::span<const int> dimensions, std::span<const int> mesh) {
  if (dimensions.empty()) return {cells};
  const int parts = mesh[static_cast<std::size_t>(dimensions.front())];
  const std::int64_t most = (cells + parts - 1) / parts;
  std::vector<std::int64_t> result;
  for (int part = 0; part < parts; ++part) {
    const std::int64_t mine = std::clamp<std::int64_t>(cells - part * most, 0, most);
    const auto finer = ceil_lengths(mine, dimensions.subspan(1), mesh);
    result.insert(result.end(), finer.begin(), finer.end());
  }
  return result;
}

axis divided(const mesh_request& asked, std::size_t number, std::size_t& next_length) {
  const std::int64_t cells = asked.cells[number];
  int parts = 1;
  for (const int dimension : asked.by[number]) parts *= asked.mesh[static_cast<std::size_t>(dimension)];
  if (asked.by[number].empty()) return axis::equal(cells, 1);
  if (asked.has_lengths) {
    base::expect(next_length + static_cast<std::size_t>(parts) <= asked.lengths.size(), SYNCYTE_ERR_ARGUMENT,
                 "lengths_length", asked.lengths.size(), "a length for each part of the cut axes");
    const auto lengths = std::span(asked.lengths).subspan(next_length, static_cast<std::size_t>(parts));
    next_length += lengths.size();
    if (asked.options.weighted != 0) return axis::weighted(cells, lengths);
    std::int64_t left = cells;
    for (const std::int64_t length : lengths) {
      base::expect(length >= 0 && length <= left, SYNCYTE_ERR_ARGUMENT, "length of a part", length,
                   "0 to {}, the cells of axis {} that are left", left, number);
      left -= length;
    }
    base::expect(left == 0, SYNCYTE_ERR_ARGUMENT, "sum of lengths", cells - left, "{}, the cells of axis {}", cells,
                 number);
    return axis::explicit_lengths(lengths, cells);
  }
  if (asked.options.block > 0) return axis::block_cyclic(cells, parts, asked.options.block);
  return asked.options.ceil != 0 ? axis::explicit_lengths(ceil_lengths(cells, asked.by[number], asked.mesh), cells)
                                 : axis::equal(cells, parts);
}

layout layout_on_mesh(const mesh_request& asked, int size) {
  std::int64_t places = 1;
  for (const int extent : asked.mesh) {
    places *= extent;
    base::expect(places <= size, SYNCYTE_ERR_ARGUMENT, "product of mesh", fmt::format("{} or more", places),
                 "at most {}, the communicator's ranks", size);
  }
  distribution::mesh mesh{asked.mesh, std::vector<int>(static_cast<std::size_t>(places))};
  std::iota(mesh.ranks.begin(), mesh.ranks.end(), 0);
  std::vector<axis> axes;
  std::size_t used = 0;
  for (std::size_t number = 0; number < asked.cells.size(); ++number) axes.push_back(divided(asked, number, used));
  base::expect(used == asked.lengths.size(), SYNCYTE_ERR_ARGUMENT, "lengths_length", asked.lengths.size(),
               "{}, a length for each part of the cut axes", used);
  return with_options(layout::on_mesh(axes, asked.by, mesh, size), asked.options);
}

template <class T>
std::vector<T> numbers(const T* values, std::int64_t length, const char* name, std::int64_t wanted, const char* what) {
  const auto checked = base::array_argument<T>(values, length).checked(name, wanted, what);
  return {checked.begin(), checked.end()};
}

std::vector<distribution::box> checked_boxes(int ndim, std::int64_t length, const std::int64_t* firsts,
                                             std::int64_t counts_length, const std::int64_t* counts) {
  base::expect(length >= 0 && length % ndim == 0, SYNCYTE_ERR_ARGUMENT, "firsts_length", length,
               "{} numbers for each block", ndim);
  base::expect(counts_length == length, SYNCYTE_ERR_ARGUMENT, "counts_length", counts_length,
               "{}, the length of firsts", length);
  for (const auto& [name, values] : {std::pair("firsts", firsts), std::pair("counts", counts)})
    base::expect(length == 0 || values != nullptr, SYNCYTE_ERR_ARGUMENT, name, "null", "{} numbers", length);
  std::vector<distribution::box> result(static_cast<std::size_t>(length / ndim));
  for (distribution::box& each : result) {
    std::copy_n(firsts, ndim, each.first.begin());
    std::copy_n(counts, ndim, each.count.begin());
    firsts += ndim, counts += ndim;
  }
  return result;
}

/// Lists of points of this rank's arrays, one behind the other.
struct given_lists {
  std::int64_t counts_length;
  const std::int64_t* counts;
  std::int64_t ghosts_length;
  const std::int64_t* ghosts;
  std::int64_t points_length;
  const std::int64_t* points;
};

std::vector<distribution::point_list> checked_lists(const given_lists& given, std::int64_t extent) {
  base::expect(given.counts_length >= 0, SYNCYTE_ERR_ARGUMENT, "counts_length", given.counts_length, "0 or more");
  std::vector<std::int64_t> counts;
  if (given.counts_length > 0)
    counts = numbers(given.counts, given.counts_length, "counts", given.counts_length, "array");
  std::vector<std::int64_t> ghosts(counts.size());
  if (given.ghosts != nullptr)
    ghosts = numbers(given.ghosts, given.ghosts_length, "ghosts", given.counts_length, "array");
  std::int64_t all = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const int number = static_cast<int>(i);
    base::expect(counts[i] >= 0 && counts[i] <= distribution::most_cells - all, SYNCYTE_ERR_ARGUMENT,
                 {"counts", number}, counts[i], "0 or more, and at most 2^62 in all");
    base::expect(ghosts[i] >= 0 && ghosts[i] <= counts[i], SYNCYTE_ERR_ARGUMENT, {"ghosts", number}, ghosts[i],
                 "0 to {}, the points of the array", counts[i]);
    all += counts[i];
  }
  std::span<const std::int64_t> left;
  if (all > 0 || given.points_length != 0)
    left = base::array_argument<std::int64_t>(given.points, given.points_length)
               .checked("points", all, "point of the arrays");
  base::expect(all == 0 || extent > 0, SYNCYTE_ERR_ARGUMENT, "points", "given", "none: the array has no points");
  for (std::int64_t i = 0; i < all; ++i)
    base::expect(left[static_cast<std::size_t>(i)] >= 0 && left[static_cast<std::size_t>(i)] < extent,
                 SYNCYTE_ERR_ARGUMENT, {"points", i}, left[static_cast<std::size_t>(i)], "0 to {}", extent - 1);
  std::vector<distribution::point_list> result;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = static_cast<std::size_t>(counts[i]);
    result.push_back(distribution::point_list::of(left.first(count), ghosts[i]));
    left = left.subspan(count);
  }
  return result;
}

/// A layout and the arrays of this rank's blocks, as the caller gives them.
struct given_arrays {
  syncyte_layout_t layout;
  std::int64_t count;
  const syncyte_buffer_t* buffers;
};

syncyte_status_t relocate(const char* operation, direction way, const given_arrays& from, const given_arrays& to,
                          syncyte_dtype_t dtype, const syncyte_relocate_options_t* given) {
  return after_init(operation, [&] {
    const auto before = find_layout(from.layout);
    collectives::caller_facts caller;
    std::vector<syncyte_buffer_t> arrays;
    std::vector<syncyte_buffer_t> targets;
    std::shared_ptr<shared_layout> after = before;
    std::int64_t bytes = 0;
    std::optional<distribution::per_axis> first;
    const auto error = error_of([&] {
      const auto options = options_or(given, syncyte_relocate_options_t SYNCYTE_RELOCATE_OPTIONS_INIT);
      caller = facts_of(options.collective);
      after = find_layout(to.layout, "to");
      base::expect(after->comm() == before->comm(), SYNCYTE_ERR_ARGUMENT, "to", "a layout of " + after->comm()->name(),
                   "one of {}, as the arrays' layout", before->comm()->name());
      base::expect_known<base::known::dtype>(dtype, "dtype", SYNCYTE_ERR_TYPE);
      if (options.first != nullptr) std::copy_n(options.first, before->cut().ndim(), first.emplace().begin());
      bytes = options.buffer_bytes;
      base::expect(bytes > 0, SYNCYTE_ERR_ARGUMENT, "options->buffer_bytes", bytes, "1 or more");
      arrays = read_buffers(from.count, from.buffers, "arrays", "count");
      targets = read_buffers(to.count, to.buffers, "targets", "target_count");
    });
    if (!caller.error) caller.error = error;
    collectives::run<collectives::relocation>(
        *before->comm(), operation, caller, way, dtype, collectives::block_arrays{before->cut(), arrays, "arrays"},
        collectives::block_arrays{after->cut(), targets, "targets"}, first,
        [&] { return before->route_to(after, first); }, static_cast<std::size_t>(bytes));
  });
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_layout_create_mesh(syncyte_comm_t comm, int32_t ndim, const int64_t* cells, int32_t mesh_ndim,
                                            const int32_t* mesh, int64_t lengths_length, const int64_t* lengths,
                                            int64_t axes_length, const int32_t* axes,
                                            const syncyte_layout_options_t* options, syncyte_layout_t* layout) {
  return after_init("layout_create_mesh", [&] {
    const auto group = find_comm(comm);
    *layout = tables::layout().insert(collectives::make_layout(group, "layout_create_mesh", [&] {
      out(layout, "layout");
      mesh_request asked;
      asked.cells = checked_extents(ndim, cells);
      base::expect(mesh_ndim >= 1 && mesh_ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_ARGUMENT, "mesh_ndim", mesh_ndim,
                   "1 to {}", SYNCYTE_MAX_NDIM);
      asked.mesh = numbers(mesh, mesh_ndim, "mesh", mesh_ndim, "dimension of the mesh");
      for (int dimension = 0; dimension < mesh_ndim; ++dimension)
        base::expect(asked.mesh[static_cast<std::size_t>(dimension)] > 0, SYNCYTE_ERR_ARGUMENT, {"mesh", dimension},
                     asked.mesh[static_cast<std::size_t>(dimension)], "1 or more ranks");
      asked.by.resize(asked.cells.size());
      const auto cut = numbers(axes, axes_length, "axes", mesh_ndim, "dimension of the mesh");
      for (int dimension = 0; dimension < mesh_ndim; ++dimension) {
        const int number = cut[static_cast<std::size_t>(dimension)];
        base::expect(number >= -1 && number < ndim, SYNCYTE_ERR_ARGUMENT, {"axes", dimension}, number, "-1 to {}",
                     ndim - 1);
        if (number >= 0) asked.by[static_cast<std::size_t>(number)].push_back(dimension);
      }
      asked.has_lengths = lengths != nullptr;
      if (asked.has_lengths) {
        base::expect(lengths_length >= 0, SYNCYTE_ERR_ARGUMENT, "lengths_length", lengths_length, "0 or more");
        asked.lengths.assign(lengths, lengths + lengths_length);
      }
      asked.options = checked_options(options, ndim, true);
      base::expect(!asked.has_lengths || (asked.options.ceil == 0 && asked.options.block == 0), SYNCYTE_ERR_ARGUMENT,
                   "lengths", "given", "null, because options->ceil or options->block is not 0");
      base::expect(asked.options.weighted == 0 || asked.has_lengths, SYNCYTE_ERR_ARGUMENT, "lengths", "null",
                   "weights, because options->weighted is 1");
      return layout_on_mesh(asked, group->size());
    }));
  });
}

syncyte_status_t syncyte_layout_create_blocks(syncyte_comm_t comm, int32_t ndim, const int64_t* cells,
                                              int64_t firsts_length, const int64_t* firsts, int64_t counts_length,
                                              const int64_t* counts, const syncyte_layout_options_t* options,
                                              syncyte_layout_t* layout) {
  return after_init("layout_create_blocks", [&] {
    const auto group = find_comm(comm);
    collectives::own_part mine;
    mine.argument = "cells";
    std::vector<distribution::box> boxes;
    syncyte_layout_options_t chosen{};
    mine.error = error_of([&] {
      out(layout, "layout");
      mine.whole = checked_extents(ndim, cells);
      boxes = checked_boxes(ndim, firsts_length, firsts, counts_length, counts);
      chosen = checked_options(options, ndim, false);
    });
    *layout = tables::layout().insert(
        collectives::gather_blocks(group, "layout_create_blocks", mine, boxes,
                                   [&](const distribution::layout& all) { return with_options(all, chosen); }));
  });
}

syncyte_status_t syncyte_layout_create_indices(syncyte_comm_t comm, int32_t ndim, const int64_t* extents,
                                               int64_t counts_length, const int64_t* counts, int64_t ghosts_length,
                                               const int64_t* ghosts, int64_t points_length, const int64_t* points,
                                               syncyte_truth_t truth, syncyte_layout_t* layout) {
  return after_init("layout_create_indices", [&] {
    const auto group = find_comm(comm);
    collectives::own_part mine;
    mine.argument = "extents";
    std::vector<distribution::point_list> lists;
    mine.error = error_of([&] {
      out(layout, "layout");
      mine.whole = checked_extents(ndim, extents, "extents");
      base::expect_known<base::known::truth>(truth, "truth");
      mine.rule = rule_of(truth);
      lists = checked_lists({counts_length, counts, ghosts_length, ghosts, points_length, points}, mine.whole[0]);
    });
    *layout = tables::layout().insert(collectives::gather_lists(group, "layout_create_indices", mine, lists));
  });
}

syncyte_status_t syncyte_layout_like(syncyte_layout_t layout, const syncyte_layout_options_t* options,
                                     syncyte_layout_t* result) {
  return after_init("layout_like", [&] {
    const auto found = find_layout(layout);
    const auto made = collectives::make_layout(found->comm(), "layout_like", [&] {
      out(result, "result");
      return with_options(found->cut(), checked_options(options, found->cut().ndim(), false));
    });
    if (!found->axes().names.empty()) made->name_axes(found->axes().names, found->axes().units);
    *result = tables::layout().insert(made);
  });
}

syncyte_status_t syncyte_layout_relocate(syncyte_layout_t layout, syncyte_dtype_t dtype, int64_t count,
                                         const syncyte_buffer_t* arrays, syncyte_layout_t to, int64_t target_count,
                                         const syncyte_relocate_options_t* options, const syncyte_buffer_t* targets) {
  return relocate("layout_relocate", direction::forward, {layout, count, arrays}, {to, target_count, targets}, dtype,
                  options);
}

syncyte_status_t syncyte_layout_relocate_adjoint(syncyte_layout_t layout, syncyte_dtype_t dtype, int64_t count,
                                                 syncyte_layout_t to, int64_t target_count,
                                                 const syncyte_buffer_t* targets,
                                                 const syncyte_relocate_options_t* options,
                                                 const syncyte_buffer_t* arrays) {
  return relocate("layout_relocate_adjoint", direction::adjoint, {layout, count, arrays}, {to, target_count, targets},
                  dtype, options);
}

syncyte_status_t syncyte_layout_collect(syncyte_layout_t layout, syncyte_dtype_t dtype, int64_t count,
                                        const syncyte_buffer_t* arrays, int32_t root, int64_t slab_bytes,
                                        const syncyte_collective_options_t* options, syncyte_slab_fn_t take,
                                        void* context) {
  return after_init("layout_collect", [&] {
    const auto found = find_layout(layout);
    collectives::caller_facts caller;
    std::vector<syncyte_buffer_t> blocks;
    const auto error = error_of([&] {
      caller = facts_of(options);
      base::expect_known<base::known::dtype>(dtype, "dtype", SYNCYTE_ERR_TYPE);
      base::expect(root >= 0 && root < found->comm()->size(), SYNCYTE_ERR_ARGUMENT, "root", root, "0 to {}",
                   found->comm()->size() - 1);
      base::expect(slab_bytes > 0, SYNCYTE_ERR_ARGUMENT, "slab_bytes", slab_bytes, "1 or more");
      base::expect(take != nullptr || found->comm()->rank() != root, SYNCYTE_ERR_ARGUMENT, "take", "null",
                   "a function on root");
      blocks = read_buffers(count, arrays, "arrays", "count");
    });
    if (!caller.error) caller.error = error;
    const collectives::block_arrays from{found->cut(), blocks, "arrays"};
    collectives::collect(*found->comm(), "layout_collect", caller, {dtype, from, root, slab_bytes},
                         [&](std::span<const std::int64_t> first, const syncyte_buffer_t& slab) {
                           const syncyte_status_t status = take(context, first.data(), &slab);
                           base::require(status == SYNCYTE_SUCCESS, status, "take has returned {}",
                                         base::status_name(status));
                         });
  });
}
}
