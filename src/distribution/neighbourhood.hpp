// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "distribution/layout.hpp"
#include "distribution/passage.hpp"

namespace syncyte::distribution {

/// Throws SYNCYTE_ERR_ARGUMENT for ghosts along an axis that is dealt out in blocks: its parts have no neighbours.
void require_neighbours(const layout& of);

/// The largest number of ghosts at an end of an axis.
std::int64_t widest_ghosts(const layout& of);

/// The boxes that a rank sends and receives so that the ghosts of its blocks, at most `depth` of them at each end of an
/// axis, and the copies of shared points that are not right, get the values of the right copies. Ghosts beyond an edge
/// of the array are in no box. In order of peers; the boxes between two ranks have the same order on both.
route find_halo(const layout& of, int rank, std::int64_t depth);

/// The boxes that a rank sends and receives for the adjoint: sends are places that find_halo() fills, receives are the
/// points that they copy. Every rank that has a block receives all of them, from one rank for each block that has such
/// places: copies of a block that are equal stay equal. In order of peers, the same order on both ranks.
route find_adjoint(const layout& of, int rank, std::int64_t depth);

/// The boxes of shared points that a rank sends and receives so that each place gets the values of all copies of its
/// point, its own included. The receives of a place are in ascending order of the copies' ranks: those of the lowest
/// rank that has the block, if several have it.
route find_copies(const layout& of, int rank);

}  // namespace syncyte::distribution
