// SPDX-License-Identifier: BSD-3-Clause
#include "halo/grid_halo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/buffer.hpp"
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

base::buffer checked_array(const grid_halo& halo, const syncyte_buffer_t* raw) {
  const base::buffer array = base::buffer(raw, "array").require_host().require_dtype(halo.dtype()).require_writable();
  const auto shape = array.shape();
  if (!std::equal(shape.begin(), shape.end(), halo.shape().begin(), halo.shape().end()))
    base::refuse(SYNCYTE_ERR_SHAPE, {.object = "array",
                                     .argument = "shape",
                                     .ndim = static_cast<int>(halo.shape().size()),
                                     .value = base::shape_text(shape),
                                     .expected = base::shape_text(halo.shape()) + ", as the halo was made for"});
  return array;
}

}  // namespace

std::shared_ptr<grid_halo> grid_halo::create(std::shared_ptr<comm::communicator> cart, description asked) {
  comm::collective_call call(*cart, "halo_create", comm::collective_call::always_agrees);
  std::shared_ptr<grid_halo> made;
  call.attempt([&] {
    check_description(*cart, asked);
    made.reset(new grid_halo(cart, asked, call.sequence()));
  });
  add_facts(call, asked);
  call.agree();
  made->require_equal_extents();
  return made;
}

grid_halo::grid_halo(std::shared_ptr<comm::communicator> comm, description asked, std::uint64_t number)
    : plan("halo", std::move(comm), number), description_(std::move(asked)) {
  const int dimensions = this->comm()->grid()->ndim();
  std::vector<phase> phases(description_.has_corners ? at(dimensions) : 1);
  for (int d = 0; d < dimensions; ++d)
    for (const bool is_low : {true, false}) add_side(d, is_low, phases[description_.has_corners ? at(d) : 0]);
  set_phases(std::move(phases));
}

const char* grid_halo::name_of(operation way) const {
  return way == operation::exchange ? "halo_exchange" : "halo_accumulate";
}

distribution::box grid_halo::interior() const {
  distribution::box result;
  std::copy(shape().begin(), shape().end(), result.count.begin());
  for (std::size_t d = 0; d < description_.axes.size(); ++d) {
    const std::size_t axis = at(description_.axes[d]);
    result.first[axis] = description_.low[d];
    result.count[axis] -= description_.low[d] + description_.high[d];
  }
  return result;
}

/// Cells that messages along a dimension carry: the interior and, with corners, the ghosts that earlier dimensions have
/// filled. Ghosts beyond an edge of the grid are part of no message.
distribution::box grid_halo::across(int dimension) const {
  distribution::box result = interior();
  for (int d = 0; d < dimension && description_.has_corners; ++d) {
    const std::size_t axis = at(description_.axes[at(d)]);
    const auto [below, above] = comm::shift_along(*comm(), d, 1);
    if (below != SYNCYTE_PROC_NULL) {
      result.first[axis] = 0;
      result.count[axis] += description_.low[at(d)];
    }
    if (above != SYNCYTE_PROC_NULL) result.count[axis] += description_.high[at(d)];
  }
  return result;
}

void grid_halo::add_side(int dimension, bool is_low, phase& sides) const {
  const auto axis = at(description_.axes[at(dimension)]);
  const std::int64_t low = description_.low[at(dimension)], high = description_.high[at(dimension)];
  const auto [below, above] = comm::shift_along(*comm(), dimension, 1);
  side side{};
  side.receive_from = is_low ? below : above;
  side.send_to = is_low ? above : below;
  place ghosts{0, across(dimension)};
  ghosts.box.count[axis] = is_low ? low : high;
  place cells = ghosts;
  const std::int64_t interior_end = shape()[axis] - high;
  ghosts.box.first[axis] = is_low ? 0 : interior_end;
  cells.box.first[axis] = is_low ? interior_end - low : low;
  side.ghosts = {ghosts};
  side.cells = {cells};
  const element_form form{static_cast<int>(shape().size()), base::dtype_size(dtype())};
  const std::size_t bytes = lay_out(side.ghosts, {&form, 1});
  lay_out(side.cells, {&form, 1});
  if (bytes == 0 || (side.receive_from == SYNCYTE_PROC_NULL && side.send_to == SYNCYTE_PROC_NULL)) return;
  const std::uint64_t first_tag = number() * 2 * SYNCYTE_MAX_NDIM + at(2 * dimension);
  side.tag = comm::control_tag(first_tag + (is_low ? 0 : 1));
  side.adjoint_tag = comm::control_tag(first_tag + (is_low ? 1 : 0));
  // A neighbour may call the wrong operation.
  side.room = bytes / static_cast<std::size_t>(is_low ? low : high) * static_cast<std::size_t>(std::max(low, high));
  side.out = memory::scratch(sizeof(header) + side.room);
  side.in = memory::scratch(sizeof(header) + side.room);
  sides.push_back(std::move(side));
}

/// Ranks with the same place along a dimension of the grid must have the same extent along its axis: together they are
/// one whole array. Collective; throws on all ranks or on none.
void grid_halo::require_equal_extents() const {
  std::vector<std::int64_t> mine;
  for (const int axis : description_.axes) mine.push_back(shape()[at(axis)]);
  const auto count = static_cast<int>(mine.size());
  const auto all = mpi::allgather(std::span<const std::int64_t>(mine), comm()->data());
  for (int rank = 0; rank < comm()->size(); ++rank) {
    const std::vector<int> place = comm::coordinates_of(*comm(), rank);
    for (int d = 0; d < count; ++d) {
      std::vector<int> first(place.size(), 0);  // the first rank with this place along the dimension
      first[at(d)] = place[at(d)];
      const int other = comm::rank_at(*comm(), first);
      const std::int64_t here = all[at(rank * count + d)], there = all[at(other * count + d)];
      if (here == there) continue;
      comm::agreed_error error(
          SYNCYTE_ERR_MISMATCH,
          fmt::format("halo_create: the ranks of {} disagree: shape[{}] is {} on rank {}, but {} on rank "
                      "{}; expected equal extents where the place along dimension {} is the same",
                      comm()->name(), description_.axes[at(d)], there, other, here, rank, d));
      error.own_rank = comm()->rank();
      throw error;
    }
  }
}

std::unique_ptr<transfer> start(const std::shared_ptr<grid_halo>& on, const syncyte_buffer_t* array, operation way,
                                const collectives::caller_facts& caller) {
  return std::make_unique<transfer>(on, way, caller, [&] { return std::vector{checked_array(*on, array)}; });
}

}  // namespace syncyte::halo
