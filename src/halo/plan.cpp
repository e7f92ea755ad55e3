// SPDX-License-Identifier: BSD-3-Clause
#include "halo/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/strided_copy.hpp"
#include "comm/cart.hpp"
#include "comm/collective_call.hpp"
#include "comm/control_tags.hpp"
#include "mpi/small_collectives.hpp"
#include "syncyte/messages.h"

namespace syncyte::halo {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Axes from 0, all of them named.
std::vector<int> named_axes(std::vector<int> axes, int dimensions, int ndim) {
  for (int d = static_cast<int>(axes.size()); d < dimensions; ++d) axes.push_back(d);
  for (int d = 0; d < dimensions; ++d) {
    int& axis = axes[at(d)];
    base::expect(axis >= -ndim && axis < ndim, SYNCYTE_ERR_ARGUMENT, {"axes", d}, axis, "{} to {}", -ndim, ndim - 1);
    if (axis < 0) axis += ndim;
    const auto before = std::find(axes.begin(), axes.begin() + d, axis);
    base::expect(before == axes.begin() + d, SYNCYTE_ERR_ARGUMENT, {"axes", d}, axis, "another axis than axes[{}]",
                 before - axes.begin());
  }
  return axes;
}

/// Throws where the ghosts of a dimension do not fit into the array, or the neighbours' do not into its interior.
void require_room(const comm::communicator& cart, const description& asked, int dimension) {
  const int axis = asked.axes[at(dimension)];
  const std::int64_t low = asked.low[at(dimension)], high = asked.high[at(dimension)];
  const auto grid_ndim = static_cast<int>(asked.low.size()), ndim = static_cast<int>(asked.shape.size());
  base::expect(low >= 0, SYNCYTE_ERR_ARGUMENT, {"low", dimension, grid_ndim}, low, "0 or more");
  base::expect(high >= 0, SYNCYTE_ERR_ARGUMENT, {"high", dimension, grid_ndim}, high, "0 or more");
  const std::int64_t extent = asked.shape[at(axis)], interior = extent - low - high;
  base::expect(low <= extent && interior >= 0, SYNCYTE_ERR_SHAPE, {"shape", axis, ndim}, extent,
               "at least {} + {}, the widths of the ghosts at its ends", low, high);
  const auto [below, above] = comm::shift_along(cart, dimension, 1);
  const std::int64_t shown = std::max(above == SYNCYTE_PROC_NULL ? 0 : low, below == SYNCYTE_PROC_NULL ? 0 : high);
  if (interior < shown)
    base::refuse(SYNCYTE_ERR_SHAPE,
                 {.argument = "the interior",
                  .axis = axis,
                  .ndim = ndim,
                  .value = fmt::to_string(interior),
                  .expected = fmt::format("{} cells or more, which a neighbour's ghost cells show", shown)},
                 fmt::format("the interior along axis {} is {} cells, but a neighbour's ghost cells show {} of them; "
                             "expected widths of at most the interior's extent on every rank",
                             axis, interior, shown));
}

void check_description(const comm::communicator& cart, description& asked) {
  if (asked.error) throw *asked.error;
  const comm::cartesian_grid& grid = comm::require_grid(cart);
  const auto ndim = static_cast<int>(asked.shape.size());
  base::checked_elements(asked.shape, base::dtype_size(asked.dtype), "shape");
  base::expect(grid.ndim() <= ndim, SYNCYTE_ERR_SHAPE, "ndim", ndim, "at least {}, the dimensions of the grid",
               grid.ndim());
  asked.axes = named_axes(std::move(asked.axes), grid.ndim(), ndim);
  for (int d = 0; d < grid.ndim(); ++d) require_room(cart, asked, d);
}

bool is_cut(const description& description, int axis) {
  return std::find(description.axes.begin(), description.axes.end(), axis) != description.axes.end();
}

void add_facts(comm::collective_call& call, const description& asked) {
  call.named_fact("dtype", asked.dtype, base::dtype_name);
  call.fact("ndim", static_cast<std::int64_t>(asked.shape.size()));
  call.fact("corners", asked.has_corners);
  add_facts(call, "axes[{}]", "axes", asked.axes);
  add_facts(call, "low[{}]", "low", asked.low);
  add_facts(call, "high[{}]", "high", asked.high);
  const auto ndim = static_cast<int>(asked.shape.size());
  for (int axis = 0; axis < ndim; ++axis)
    if (!is_cut(asked, axis)) call.fact("shape[{}]", asked.shape[at(axis)], {"shape", axis, ndim});
}

}  // namespace

std::shared_ptr<plan> plan::create(std::shared_ptr<comm::communicator> cart, description asked) {
  comm::collective_call call(*cart, "halo_create", comm::collective_call::always_agrees);
  std::shared_ptr<plan> made;
  call.attempt([&] {
    check_description(*cart, asked);
    made.reset(new plan(cart, asked, call.sequence()));
  });
  add_facts(call, asked);
  call.agree();
  made->require_equal_extents();
  return made;
}

plan::plan(std::shared_ptr<comm::communicator> comm, description asked, std::uint64_t number)
    : comm_(std::move(comm)),
      description_(std::move(asked)),
      element_bytes_(base::dtype_size(description_.dtype)),
      number_(number) {
  const int dimensions = comm_->grid()->ndim();
  phases_.resize(description_.has_corners ? at(dimensions) : 1);
  for (int d = 0; d < dimensions; ++d)
    for (const bool is_low : {true, false}) add_side(d, is_low, phases_[description_.has_corners ? at(d) : 0]);
  only_neighbour_ = find_only_neighbour();
}

int plan::find_only_neighbour() const {
  int found = SYNCYTE_PROC_NULL;
  for (const phase& sides : phases_) {
    for (const side& side : sides) {
      for (const int rank : {side.receive_from, side.send_to}) {
        if (rank == SYNCYTE_PROC_NULL || rank == found) continue;
        if (found != SYNCYTE_PROC_NULL) return SYNCYTE_PROC_NULL;
        found = rank;
      }
    }
  }
  return found;
}

box plan::interior() const {
  box result;
  std::copy(shape().begin(), shape().end(), result.extents.begin());
  for (std::size_t d = 0; d < description_.axes.size(); ++d) {
    const std::size_t axis = at(description_.axes[d]);
    result.first[axis] = description_.low[d];
    result.extents[axis] -= description_.low[d] + description_.high[d];
  }
  return result;
}

/// Cells that messages along a dimension carry: the interior and, with corners, the ghosts that earlier dimensions have
/// filled. Ghosts beyond an edge of the grid are part of no message.
box plan::across(int dimension) const {
  box result = interior();
  for (int d = 0; d < dimension && description_.has_corners; ++d) {
    const std::size_t axis = at(description_.axes[at(d)]);
    const auto [below, above] = comm::shift_along(*comm_, d, 1);
    if (below != SYNCYTE_PROC_NULL) {
      result.first[axis] = 0;
      result.extents[axis] += description_.low[at(d)];
    }
    if (above != SYNCYTE_PROC_NULL) result.extents[axis] += description_.high[at(d)];
  }
  return result;
}

void plan::add_side(int dimension, bool is_low, phase& sides) {
  const auto axis = at(description_.axes[at(dimension)]);
  const std::int64_t low = description_.low[at(dimension)], high = description_.high[at(dimension)];
  const auto [below, above] = comm::shift_along(*comm_, dimension, 1);
  side side{};
  side.receive_from = is_low ? below : above;
  side.send_to = is_low ? above : below;
  side.ghosts = side.cells = across(dimension);
  side.bytes = element_bytes_;
  side.ghosts.extents[axis] = side.cells.extents[axis] = is_low ? low : high;
  const std::int64_t interior_end = shape()[axis] - high;
  side.ghosts.first[axis] = is_low ? 0 : interior_end;
  side.cells.first[axis] = is_low ? interior_end - low : low;
  const std::span extents(side.ghosts.extents.data(), shape().size());
  for (const std::int64_t extent : extents) side.bytes *= static_cast<std::size_t>(extent);
  if (side.bytes == 0 || (side.receive_from == SYNCYTE_PROC_NULL && side.send_to == SYNCYTE_PROC_NULL)) return;
  side.dense_strides = base::dense_strides(extents, element_bytes_);
  const std::uint64_t first_tag = number_ * 2 * SYNCYTE_MAX_NDIM + at(2 * dimension);
  side.tag = comm::control_tag(first_tag + (is_low ? 0 : 1));
  side.adjoint_tag = comm::control_tag(first_tag + (is_low ? 1 : 0));
  side.room =
      side.bytes / static_cast<std::size_t>(is_low ? low : high) * static_cast<std::size_t>(std::max(low, high));
  side.out = memory::scratch(sizeof(header) + side.bytes);
  side.in = memory::scratch(sizeof(header) + side.room);
  sides.push_back(std::move(side));
}

/// Ranks with the same place along a dimension of the grid must have the same extent along its axis: together they are
/// one whole array. Collective; throws on all ranks or on none.
void plan::require_equal_extents() const {
  std::vector<std::int64_t> mine;
  for (const int axis : description_.axes) mine.push_back(shape()[at(axis)]);
  const auto count = static_cast<int>(mine.size());
  const auto all = mpi::allgather(std::span<const std::int64_t>(mine), comm_->data());
  for (int rank = 0; rank < comm_->size(); ++rank) {
    const std::vector<int> place = comm::coordinates_of(*comm_, rank);
    for (int d = 0; d < count; ++d) {
      std::vector<int> first(place.size(), 0);  // the first rank with this place along the dimension
      first[at(d)] = place[at(d)];
      const int other = comm::rank_at(*comm_, first);
      const std::int64_t here = all[at(rank * count + d)], there = all[at(other * count + d)];
      if (here == there) continue;
      comm::agreed_error error(
          SYNCYTE_ERR_MISMATCH,
          fmt::format("halo_create: the ranks of {} disagree: shape[{}] is {} on rank {}, but {} on rank "
                      "{}; expected equal extents where the place along dimension {} is the same",
                      comm_->name(), description_.axes[at(d)], there, other, here, rank, d));
      error.own_rank = comm_->rank();
      throw error;
    }
  }
}

}  // namespace syncyte::halo
