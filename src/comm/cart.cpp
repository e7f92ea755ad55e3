// SPDX-License-Identifier: BSD-3-Clause
#include "comm/cart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "comm/collective_call.hpp"
#include "mpi/call.hpp"
#include "mpi/communicators.hpp"
#include "syncyte/messages.h"

namespace syncyte::comm {
namespace {

/// The product of the extents that are given (not 0); more than any number of ranks if it overflows.
std::int64_t given_places(const cartesian_grid& grid) {
  std::int64_t places = 1;
  for (const int extent : grid.dims)
    if (extent != 0 && __builtin_mul_overflow(places, static_cast<std::int64_t>(extent), &places)) return INT64_MAX;
  return places;
}

/// The grid with extents of 0 chosen, as even as possible (MPI_Dims_create).
cartesian_grid chosen_grid(const cartesian_grid& asked, int size) {
  base::expect(asked.ndim() >= 1 && asked.ndim() <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_ARGUMENT, "ndim", asked.ndim(),
               "1 to {}", SYNCYTE_MAX_NDIM);
  for (int d = 0; d < asked.ndim(); ++d) {
    const int extent = asked.dims[static_cast<std::size_t>(d)];
    base::expect(extent >= 0, SYNCYTE_ERR_ARGUMENT, {"dims", d, asked.ndim()}, extent, "1 or more, or 0 to choose");
  }
  const std::int64_t places = given_places(asked);
  const auto fail_extents = [&](std::string expected, const std::string& text) {
    base::refuse(SYNCYTE_ERR_ARGUMENT,
                 {.argument = "dims",
                  .ndim = asked.ndim(),
                  .value = fmt::format("[{}]", fmt::join(asked.dims, ", ")),
                  .expected = std::move(expected)},
                 fmt::format("dims [{}] {}", fmt::join(asked.dims, ", "), text));
  };
  if (places > size)
    fail_extents(fmt::format("at most {} places, one for each rank", size),
                 fmt::format("have more places than the {} ranks", size));
  cartesian_grid chosen = asked;
  for (int& period : chosen.periods) period = period != 0;
  if (std::find(asked.dims.begin(), asked.dims.end(), 0) == asked.dims.end()) return chosen;
  if (size % places != 0)
    fail_extents(fmt::format("places whose number, {}, divides the {} ranks", places, size),
                 fmt::format("cannot be completed: {} ranks are not a multiple of {}", size, places));
  mpi::check(MPI_Dims_create(size, chosen.ndim(), chosen.dims.data()), "MPI_Dims_create");
  return chosen;
}

void add_facts(collective_call& call, const cartesian_grid& grid) {
  call.fact("ndim", grid.ndim());
  add_facts(call, "dims[{}]", "dims", grid.dims);
  add_facts(call, "periods[{}]", "periods", grid.periods);
}

int neighbour_of(int rank) { return rank == MPI_PROC_NULL ? SYNCYTE_PROC_NULL : rank; }

}  // namespace

std::shared_ptr<communicator> make_cartesian(communicator& parent, const cartesian_grid& asked,
                                             const communicator_options& options) {
  collective_call call(parent, "cart_create", collective_call::always_agrees);
  check_level check = parent.check();
  cartesian_grid grid;
  call.attempt([&] {
    if (options.error) throw *options.error;
    grid = chosen_grid(asked, parent.size());
    check = chosen_check(options, parent.check());
  });
  call.fact("check", static_cast<int>(check));
  add_facts(call, grid);
  call.agree();
  const MPI_Comm data = mpi::cart(parent.data(), grid.dims, grid.periods);
  return parent.add_part(data, options.name_or(parent.name() + "/cart"), check, std::move(grid));
}

std::optional<cartesian_grid> grid_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED, ndim = 0;
  mpi::check(MPI_Topo_test(comm, &kind), "MPI_Topo_test");
  if (kind != MPI_CART) return std::nullopt;
  mpi::check(MPI_Cartdim_get(comm, &ndim), "MPI_Cartdim_get");
  if (ndim < 1 || ndim > SYNCYTE_MAX_NDIM) return std::nullopt;
  cartesian_grid grid;
  grid.dims.resize(static_cast<std::size_t>(ndim));
  grid.periods.resize(static_cast<std::size_t>(ndim));
  std::vector<int> own_place(static_cast<std::size_t>(ndim));
  mpi::check(MPI_Cart_get(comm, ndim, grid.dims.data(), grid.periods.data(), own_place.data()), "MPI_Cart_get");
  return grid;
}

const cartesian_grid& require_grid(const communicator& comm) {
  if (comm.grid() == nullptr) [[unlikely]]
    base::refuse(SYNCYTE_ERR_ARGUMENT,
                 {.object = comm.name(),
                  .argument = "communicator",
                  .value = "not Cartesian",
                  .expected = "one of syncyte_cart_create(), or made from a Cartesian one of MPI"});
  return *comm.grid();
}

std::vector<int> coordinates_of(const communicator& cart, int rank) {
  std::vector<int> result(require_grid(cart).dims.size());
  base::expect(rank >= 0 && rank < cart.size(), SYNCYTE_ERR_ARGUMENT, "rank", rank, "0 to {}", cart.size() - 1);
  mpi::check(MPI_Cart_coords(cart.data(), rank, static_cast<int>(result.size()), result.data()), "MPI_Cart_coords");
  return result;
}

int rank_at(const communicator& cart, std::span<const int> coordinates) {
  const cartesian_grid& grid = require_grid(cart);
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    const bool is_inside = coordinates[d] >= 0 && coordinates[d] < grid.dims[d];
    if (!is_inside && grid.periods[d] == 0) return SYNCYTE_PROC_NULL;
  }
  int rank = 0;
  mpi::check(MPI_Cart_rank(cart.data(), coordinates.data(), &rank), "MPI_Cart_rank");
  return rank;
}

cartesian_shift shift_along(const communicator& cart, int dimension, int displacement) {
  const cartesian_grid& grid = require_grid(cart);
  base::expect(dimension >= 0 && dimension < grid.ndim(), SYNCYTE_ERR_ARGUMENT, "dimension", dimension, "0 to {}",
               grid.ndim() - 1);
  cartesian_shift result{};
  mpi::check(MPI_Cart_shift(cart.data(), dimension, displacement, &result.source, &result.dest), "MPI_Cart_shift");
  return {neighbour_of(result.source), neighbour_of(result.dest)};
}

}  // namespace syncyte::comm
