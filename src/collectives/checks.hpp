// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/array_argument.hpp"
#include "base/buffer.hpp"
#include "base/error.hpp"
#include "base/struct_size.hpp"
#include "collectives/mover.hpp"
#include "comm/agreement.hpp"
#include "mpi/large_counts.hpp"
#include "syncyte/collectives.h"

namespace syncyte::collectives {

/// A contiguous buffer in host memory.
base::buffer checked(const syncyte_buffer_t* raw, const char* argument);

/// A buffer of any strides in host memory.
base::buffer any_strides(const syncyte_buffer_t* raw, const char* argument);

/// checked() and any_strides() for operations that only move elements: the buffer may be in any memory that MPI takes
/// in this form. Device memory is never packed: dense_parts refuses an array that MPI cannot take as it is.
base::buffer checked_to_move(const syncyte_buffer_t* raw, const char* argument, form how);
base::buffer any_strides_to_move(const syncyte_buffer_t* raw, const char* argument, form how);

/// The root, a fact; throws SYNCYTE_ERR_ARGUMENT for a number that is not a rank.
int checked_root(comm::agreement& terms, int root);

/// A count for each rank, as the caller gives them.
using given_counts = base::array_argument<std::int64_t>;

/// Checked counts: one for each rank, each 0 or more, with a sum that fits 64 bits; otherwise throws
/// SYNCYTE_ERR_ARGUMENT, naming the rank.
mpi::counts_view checked_counts(const comm::communicator& comm, given_counts given, const char* argument);

/// Further facts of the caller's, and its error, for the agreement of a collective.
struct caller_facts {
  std::int64_t fact = 0;                     // a further fact that all ranks must share
  base::struct_array<syncyte_fact_t> facts;  // more of them, with names; the caller's
  std::optional<base::error> error;          // found by the caller on this rank; all ranks get it
};

/// Adds the caller's own facts.
void add_facts(comm::agreement& terms, const caller_facts& caller);

}  // namespace syncyte::collectives
