// SPDX-License-Identifier: BSD-3-Clause
#include "syncyte/cart.h"

#include <algorithm>
#include <vector>

#include "base/array_argument.hpp"
#include "comm/cart.hpp"
#include "guard.hpp"
#include "handle_tables.hpp"

namespace syncyte::capi {
namespace {

const comm::cartesian_grid& grid_of(const comm::communicator& cart, std::int32_t ndim) {
  const comm::cartesian_grid& grid = comm::require_grid(cart);
  base::expect(grid.ndim() == ndim, SYNCYTE_ERR_ARGUMENT, "ndim", ndim, "{}, which the grid of {} has", grid.ndim(),
               cart.name());
  return grid;
}

}  // namespace
}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

syncyte_status_t syncyte_cart_create(syncyte_comm_t comm, int32_t ndim, const int32_t* dims, int64_t periods_length,
                                     const int32_t* periods, const syncyte_comm_options_t* options,
                                     syncyte_comm_t* cart) {
  return after_init("cart_create", [&] {
    const auto group = find_comm(comm);
    auto chosen = comm_options(options, cart, "cart");
    comm::cartesian_grid grid;
    const auto error = error_of([&] {
      base::expect(ndim >= 1 && ndim <= SYNCYTE_MAX_NDIM, SYNCYTE_ERR_ARGUMENT, "ndim", ndim, "1 to {}",
                   SYNCYTE_MAX_NDIM);
      base::expect(dims != nullptr, SYNCYTE_ERR_ARGUMENT, "dims", "null", "{} numbers", ndim);
      grid.dims.assign(dims, dims + ndim);
      grid.periods.assign(static_cast<std::size_t>(ndim), 0);
      if (periods == nullptr) return;
      const auto flags = base::array_argument<int32_t>(periods, periods_length).checked("periods", ndim, "dimension");
      grid.periods.assign(flags.begin(), flags.end());
    });
    if (!chosen.error) chosen.error = error;
    *cart = handle_of(comm::make_cartesian(*group, grid, chosen));
  });
}

syncyte_status_t syncyte_cart_ndim(syncyte_comm_t cart, int32_t* ndim) {
  return lookup_after_init("cart_ndim", [&] {
    const auto found = find_comm(cart);
    out(ndim, "ndim") = found->grid() != nullptr ? found->grid()->ndim() : 0;
  });
}

syncyte_status_t syncyte_cart_grid(syncyte_comm_t cart, int32_t ndim, int32_t* dims, int32_t* periods) {
  return lookup_after_init("cart_grid", [&] {
    const auto found = find_comm(cart);
    const comm::cartesian_grid& grid = grid_of(*found, ndim);
    if (dims != nullptr) std::copy(grid.dims.begin(), grid.dims.end(), dims);
    if (periods != nullptr) std::copy(grid.periods.begin(), grid.periods.end(), periods);
  });
}

syncyte_status_t syncyte_cart_coords(syncyte_comm_t cart, int32_t rank, int32_t ndim, int32_t* coords) {
  return lookup_after_init("cart_coords", [&] {
    const auto found = find_comm(cart);
    grid_of(*found, ndim);
    const auto result = comm::coordinates_of(*found, rank);
    std::copy(result.begin(), result.end(), &out(coords, "coords"));
  });
}

syncyte_status_t syncyte_cart_rank_at(syncyte_comm_t cart, int32_t ndim, const int32_t* coords, int32_t* rank) {
  return lookup_after_init("cart_rank_at", [&] {
    const auto found = find_comm(cart);
    grid_of(*found, ndim);
    base::expect(coords != nullptr, SYNCYTE_ERR_ARGUMENT, "coords", "null", "{} numbers", ndim);
    out(rank, "rank") = comm::rank_at(*found, {coords, static_cast<std::size_t>(ndim)});
  });
}

syncyte_status_t syncyte_cart_shift(syncyte_comm_t cart, int32_t dimension, int32_t displacement, int32_t* source,
                                    int32_t* dest) {
  return lookup_after_init("cart_shift", [&] {
    const auto shift = comm::shift_along(*find_comm(cart), dimension, displacement);
    if (source != nullptr) *source = shift.source;
    if (dest != nullptr) *dest = shift.dest;
  });
}
}
