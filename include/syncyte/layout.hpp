// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file layout.hpp Layouts and relocation in C++; syncyte/layout.h explains them.

#include <exception>
#include <functional>
#include <string>

#include "syncyte/comm.hpp"
#include "syncyte/layout.h"

namespace syncyte {

/// Ghosts, shared points and periodic axes of the arrays. Each list has an entry for each axis, or is empty: none.
struct layout_options {
  extents ghosts_low = {};
  extents ghosts_high = {};
  std::vector<bool> shared = {};    ///< whether arrays hold the borders of cells
  std::vector<bool> periodic = {};  ///< whether the axis is periodic
  syncyte::truth truth = truth::equal;
};

/// Division of the cells among the ranks of a mesh.
struct mesh_options {
  std::vector<std::int32_t> axes = {};  ///< axis that each dimension of the mesh cuts; -1: none; empty: 0, 1...
  extents lengths = {};                 ///< cells of each part of the cut axes, axis by axis; empty: equal parts
  bool weighted = false;                ///< lengths are weights: an axis is cut in proportion to them
  bool ceil = false;                    ///< parts of ceil(cells / parts) cells, as PyTorch's DTensor cuts
  std::int64_t block = 0;               ///< cells are dealt out in blocks of this length; 0: they are not
};

/// A block of cells, for layout::blocks().
struct block_cells {
  extents first;
  extents count;
};

/// The points of one array, for layout::indices().
struct listed_points {
  std::vector<std::int64_t> points;  ///< in the order of the array
  std::int64_t ghosts = 0;           ///< of these the last ones, which are ghosts
};

/// A block of a rank: its first point, ghosts not counted, and the shape of its array with them.
struct block_info {
  extents first;
  extents shape;
};

/// Points of a box that one block has.
struct layout_piece {
  std::int32_t rank;   ///< the owner: the first rank of the block with the right copy
  std::int32_t block;  ///< number of the block among the rank's
  extents first;
  extents count;
  extents index;  ///< place of the first point in the block's array, ghosts counted
};

/// Options of a relocation.
struct relocate_options {
  std::int64_t buffer_bytes = std::int64_t{1} << 23;  ///< most memory for messages on each rank; equal on all ranks
  extents first = {};  ///< if one array is a box of the other one: its first point there; only the box is moved
};

namespace detail {

using layout_reference = reference<syncyte_layout_t, syncyte_layout_retain, syncyte_layout_destroy>;

template <typename List, typename Number>
void set_axes(const List& from, std::size_t ndim, Number* to, const char* name) {
  if (!from.empty() && from.size() != ndim)
    throw error(status::shape, std::string(name) + " has " + std::to_string(from.size()) + " entries; expected " +
                                   std::to_string(ndim) + ", one for each axis");
  std::ranges::copy(from, to);
}

/// `ndim`: at most SYNCYTE_MAX_NDIM, or C refuses the layout.
inline syncyte_layout_options_t raw_options(const layout_options& given, std::size_t ndim) {
  syncyte_layout_options_t result = SYNCYTE_LAYOUT_OPTIONS_INIT;
  if (ndim > SYNCYTE_MAX_NDIM) return result;
  set_axes(given.ghosts_low, ndim, result.ghosts_low, "ghosts_low");
  set_axes(given.ghosts_high, ndim, result.ghosts_high, "ghosts_high");
  set_axes(given.shared, ndim, result.shared, "shared");
  set_axes(given.periodic, ndim, result.periodic, "periodic");
  result.truth = raw(given.truth);
  return result;
}

/// The C descriptions of arrays, one after the other.
template <typename Buffer>
std::vector<syncyte_buffer_t> raw_buffers(std::span<const Buffer> arrays) {
  std::vector<syncyte_buffer_t> result;
  for (const Buffer& each : arrays) result.push_back(*each.get());
  return result;
}

}  // namespace detail

/// A layout: the cut of an array into the ranks' parts. Move-only.
class layout : public detail::layout_reference {
 public:
  layout() = default;
  explicit layout(syncyte_layout_t raw) noexcept : detail::layout_reference(raw) {}

  /// Cuts axes by the dimensions of a mesh of ranks. Collective.
  static layout mesh(const communicator& comm, const extents& cells, const std::vector<std::int32_t>& ranks,
                     const mesh_options& division = {}, const layout_options& options = {}) {
    syncyte_layout_options_t raw = detail::raw_options(options, cells.size());
    raw.ceil = division.ceil ? 1 : 0;
    raw.weighted = division.weighted ? 1 : 0;
    raw.block = division.block;
    std::vector<std::int32_t> axes = division.axes;
    for (std::size_t each = axes.size(); division.axes.empty() && each < ranks.size(); ++each)
      axes.push_back(static_cast<std::int32_t>(each));
    return layout(detail::fetch<syncyte_layout_t>(
        syncyte_layout_create_mesh, comm.get(), static_cast<std::int32_t>(cells.size()), cells.data(),
        static_cast<std::int32_t>(ranks.size()), ranks.data(), std::ssize(division.lengths),
        division.lengths.empty() ? nullptr : division.lengths.data(), std::ssize(axes), axes.data(), &raw));
  }

  /// Takes the blocks that the ranks have chosen; together they hold each cell once. Collective.
  static layout blocks(const communicator& comm, const extents& cells, const std::vector<block_cells>& own,
                       const layout_options& options = {}) {
    const syncyte_layout_options_t raw = detail::raw_options(options, cells.size());
    extents firsts, counts;
    for (const auto& [first, count] : own) {
      firsts.insert(firsts.end(), first.begin(), first.end());
      counts.insert(counts.end(), count.begin(), count.end());
    }
    return layout(detail::fetch<syncyte_layout_t>(
        syncyte_layout_create_blocks, comm.get(), static_cast<std::int32_t>(cells.size()), cells.data(),
        std::ssize(firsts), firsts.data(), std::ssize(counts), counts.data(), &raw));
  }

  /// Takes the lists of points that the ranks' arrays have along axis 0: an unstructured mesh. `truth` says which copy
  /// of a point is right: the lowest rank's, the highest rank's, or all. Collective.
  static layout indices(const communicator& comm, const extents& whole, const std::vector<listed_points>& own,
                        syncyte::truth truth = syncyte::truth::equal) {
    extents counts, ghosts, all;
    for (const auto& [points, ghost_count] : own) {
      counts.push_back(std::ssize(points));
      ghosts.push_back(ghost_count);
      all.insert(all.end(), points.begin(), points.end());
    }
    return layout(detail::fetch<syncyte_layout_t>(syncyte_layout_create_indices, comm.get(),
                                                  static_cast<std::int32_t>(whole.size()), whole.data(),
                                                  std::ssize(counts), counts.data(), std::ssize(ghosts), ghosts.data(),
                                                  std::ssize(all), all.data(), detail::raw(truth)));
  }

  /// A layout of the same cells and blocks for arrays of other points: nodes, faces, other ghosts. Periodic axes stay
  /// so. Collective.
  layout like(const layout_options& options) const {
    const syncyte_layout_options_t raw = detail::raw_options(options, static_cast<std::size_t>(describe(0).ndim));
    return layout(detail::fetch<syncyte_layout_t>(syncyte_layout_like, get(), &raw));
  }

  /// Another reference to the same layout. Local.
  layout retain() const { return layout(retained_handle()); }

  /// The communicator. Local.
  communicator comm() const { return communicator(detail::fetch<syncyte_comm_t>(syncyte_layout_comm, get())); }

  /// Describes the layout and a block of a rank, as C does. Local.
  syncyte_layout_info_t describe(std::int32_t rank, std::int32_t block = 0) const {
    return detail::fetch<syncyte_layout_info_t>(syncyte_layout_describe, get(), rank, block);
  }

  /// A line for each block: its rank, its first point, the shape of its array. Local.
  std::string text() const { return detail::fetch<const char*>(syncyte_layout_text, get()); }

  /// Names the axes, with commas between ("y, x"), and the units along them: text() has them, and the fields' datasets
  /// in a checkpoint. Once. Local.
  void name_axes(const std::string& names, const std::string& units = "") const {
    check(syncyte_layout_name_axes(get(), names.c_str(), units.c_str()));
  }

  /// The names of the axes and their units; "" if there are none. Local.
  std::pair<std::string, std::string> axis_names() const {
    const char *names = nullptr, *units = nullptr;
    check(syncyte_layout_axis_names(get(), &names, &units));
    return {names, units};
  }

  /// Returns the pieces of a box, which say who has its points: each point once, at the block with the right copy.
  /// Local.
  std::vector<layout_piece> pieces(const extents& first, const extents& count) const {
    const auto find = [&](std::vector<syncyte_layout_piece_t>& into) {
      return detail::fetch<std::int64_t>(syncyte_layout_pieces, get(), std::ssize(first), first.data(),
                                         std::ssize(count), count.data(), std::ssize(into), into.data());
    };
    std::vector<syncyte_layout_piece_t> found;
    found.resize(static_cast<std::size_t>(find(found)));
    find(found);
    std::vector<layout_piece> result;
    const auto ndim = first.size();
    for (const syncyte_layout_piece_t& each : found)
      result.push_back({each.rank,
                        each.block,
                        {each.first, each.first + ndim},
                        {each.count, each.count + ndim},
                        {each.index, each.index + ndim}});
    return result;
  }

  /// Points of the whole array along each axis. Local.
  extents shape() const {
    const syncyte_layout_info_t info = describe(0);
    return {info.extents, info.extents + info.ndim};
  }

  /// The blocks of a rank. Local.
  std::vector<block_info> blocks_of(std::int32_t rank) const {
    std::vector<block_info> result;
    syncyte_layout_info_t info = describe(rank);
    for (std::int32_t block = 0; block < info.blocks; ++block) {
      info = describe(rank, block);
      result.push_back({{info.first, info.first + info.ndim}, {info.shape, info.shape + info.ndim}});
    }
    return result;
  }

  /// Gets a slab: its first point in the whole array, and its elements, until it returns.
  using slab_visitor = std::function<void(const extents& first, const const_buffer& slab)>;

  /// Collects an array on one rank, slab by slab in row-major order: take(first, slab) is called there, and calls no
  /// collective. What it throws ends the call on all ranks. Collective.
  void collect(dtype type, std::span<const const_buffer> arrays, std::int32_t root, const slab_visitor& take,
               std::int64_t slab_bytes = std::int64_t{1} << 24) const {
    struct call {
      const slab_visitor& take;
      std::size_t axes;
      std::exception_ptr thrown = nullptr;
    } state{take, shape().size()};
    const auto forward = [](void* context, const std::int64_t* first, const syncyte_buffer_t* slab) {
      auto& of = *static_cast<call*>(context);
      try {
        of.take({first, first + of.axes}, const_buffer(*slab));
        return static_cast<syncyte_status_t>(SYNCYTE_SUCCESS);
      } catch (...) {
        of.thrown = std::current_exception();
        return static_cast<syncyte_status_t>(SYNCYTE_ERR_INTERNAL);
      }
    };
    const std::vector<syncyte_buffer_t> blocks = detail::raw_buffers(arrays);
    const syncyte_status_t status = syncyte_layout_collect(get(), detail::raw(type), std::ssize(blocks), blocks.data(),
                                                           root, slab_bytes, nullptr, forward, &state);
    if (state.thrown) std::rethrow_exception(state.thrown);
    check(status);
  }

  /// Moves an array to another layout of the same shape and communicator. arrays and targets: of this rank's blocks,
  /// ghosts included, which are neither read nor written. Collective.
  void relocate(dtype type, std::span<const const_buffer> arrays, const layout& to, std::span<const buffer> targets,
                const relocate_options& options = {}) const {
    const auto from = detail::raw_buffers(arrays);
    const auto into = detail::raw_buffers(targets);
    const syncyte_relocate_options_t raw = raw_options(options);
    check(syncyte_layout_relocate(get(), detail::raw(type), std::ssize(from), from.data(), to.get(), std::ssize(into),
                                  &raw, into.data()));
  }

  /// The adjoint of relocate(): what the targets have goes back to the arrays, which get sums. Collective.
  void relocate_adjoint(dtype type, std::span<const const_buffer> targets, const layout& to,
                        std::span<const buffer> arrays, const relocate_options& options = {}) const {
    const auto back = detail::raw_buffers(targets);
    const auto into = detail::raw_buffers(arrays);
    const syncyte_relocate_options_t raw = raw_options(options);
    check(syncyte_layout_relocate_adjoint(get(), detail::raw(type), std::ssize(into), to.get(), std::ssize(back),
                                          back.data(), &raw, into.data()));
  }

 private:
  /// Refers to the options. A list of another length becomes one that C refuses, on all ranks.
  syncyte_relocate_options_t raw_options(const relocate_options& options) const {
    static constexpr std::int64_t none[SYNCYTE_MAX_NDIM] = {-1};
    const bool fits = std::ssize(options.first) == describe(0).ndim;
    const std::int64_t* const first = fits ? options.first.data() : none;
    return {sizeof(syncyte_relocate_options_t), options.buffer_bytes, options.first.empty() ? nullptr : first, nullptr};
  }
};

}  // namespace syncyte
