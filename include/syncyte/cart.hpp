// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file cart.hpp Cartesian communicators in C++; syncyte/cart.h documents the order of their ranks.

#include "syncyte/cart.h"
#include "syncyte/comm.hpp"

namespace syncyte {

/// Neighbours along a dimension of a grid; proc_null beyond an edge.
struct shift_ranks {
  std::int32_t source;  ///< rank that sends to this rank
  std::int32_t dest;    ///< rank that receives from this rank
};

/// A communicator whose ranks lie on a grid, in row-major order; coordinates count from 0.
class cartesian_communicator : public communicator {
 public:
  using numbers = std::vector<std::int32_t>;

  cartesian_communicator() = default;
  explicit cartesian_communicator(syncyte_comm_t raw) noexcept : communicator(raw) {}

  /// Takes over a communicator that has a grid: from_mpi() of a Cartesian MPI_Comm, a duplicate. Throws
  /// status::argument for another one. Local.
  explicit cartesian_communicator(communicator&& comm) : communicator(std::move(comm)) {
    if (ndim() == 0) throw error(status::argument, "comm is not Cartesian; expected a communicator with a grid");
  }

  /// Puts the first ranks of comm on a grid; dims of 0 are chosen. periods: whether each dimension is periodic;
  /// empty: none is. On ranks beyond the grid the object is empty (operator bool). Collective.
  cartesian_communicator(const communicator& comm, const numbers& dims, const std::vector<bool>& periods = {},
                         const comm_options& options = {}) {
    const numbers flags(periods.begin(), periods.end());
    *this = cartesian_communicator(detail::new_comm(options, syncyte_cart_create, comm.get(), count(dims), dims.data(),
                                                    std::ssize(flags), flags.empty() ? nullptr : flags.data()));
  }

  /// Another reference to the same communicator. Local.
  cartesian_communicator retain() const { return cartesian_communicator(retained_handle()); }

  /// Number of dimensions. Local.
  std::int32_t ndim() const { return detail::fetch<std::int32_t>(syncyte_cart_ndim, get()); }

  /// Ranks along each dimension. Local.
  numbers dims() const {
    numbers result(static_cast<std::size_t>(ndim()));
    check(syncyte_cart_grid(get(), count(result), result.data(), nullptr));
    return result;
  }

  /// Whether each dimension is periodic. Local.
  std::vector<bool> periods() const {
    numbers flags(static_cast<std::size_t>(ndim()));
    check(syncyte_cart_grid(get(), count(flags), nullptr, flags.data()));
    return {flags.begin(), flags.end()};
  }

  /// Coordinates of a rank. Local.
  numbers coords(std::int32_t rank) const {
    numbers result(static_cast<std::size_t>(ndim()));
    check(syncyte_cart_coords(get(), rank, count(result), result.data()));
    return result;
  }

  /// Coordinates of this rank. Local.
  numbers coords() const { return coords(rank()); }

  /// The rank at some coordinates, which wrap round in periodic dimensions; proc_null beyond an edge. Local.
  std::int32_t rank_at(const numbers& coords) const {
    return detail::fetch<std::int32_t>(syncyte_cart_rank_at, get(), count(coords), coords.data());
  }

  /// Neighbours for a shift in which all ranks send `displacement` coordinates up. Local.
  shift_ranks shift(std::int32_t dimension, std::int32_t displacement = 1) const {
    shift_ranks result{};
    check(syncyte_cart_shift(get(), dimension, displacement, &result.source, &result.dest));
    return result;
  }

 private:
  static std::int32_t count(const numbers& values) { return static_cast<std::int32_t>(values.size()); }
};

}  // namespace syncyte
