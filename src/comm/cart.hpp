// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.hpp"

namespace syncyte::comm {

/// Puts the first ranks on a grid, in their order; collective. MPI chooses extents of 0; ranks beyond the grid get
/// nullptr.
std::shared_ptr<communicator> make_cartesian(communicator& parent, const cartesian_grid& asked,
                                             const communicator_options& options);

/// The grid of an MPI communicator; nothing if it is not Cartesian, has no dimension or more than SYNCYTE_MAX_NDIM.
/// Local.
std::optional<cartesian_grid> grid_of(MPI_Comm comm);

/// The grid; throws SYNCYTE_ERR_ARGUMENT for a communicator that is not Cartesian.
const cartesian_grid& require_grid(const communicator& comm);

/// A rank's coordinates. Local.
std::vector<int> coordinates_of(const communicator& cart, int rank);

/// The rank at some coordinates, which wrap round in periodic dimensions; SYNCYTE_PROC_NULL beyond an edge. Local.
int rank_at(const communicator& cart, std::span<const int> coordinates);

/// Neighbours along a dimension.
struct cartesian_shift {
  int source;  // whose data comes here
  int dest;    // where this rank's goes
};

/// The ranks to receive from and to send to when every rank sends `displacement` places up; SYNCYTE_PROC_NULL beyond an
/// edge. Local.
cartesian_shift shift_along(const communicator& cart, int dimension, int displacement);

}  // namespace syncyte::comm
