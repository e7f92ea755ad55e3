#pragma once

#include <mpi.h>

#include <span>
#include <vector>

namespace syncyte::mpi {

// MPI communicators whose errors are returned and not fatal. The caller frees them; all but create_group() are
// collective over the given communicator.

MPI_Comm duplicate(MPI_Comm original);
/// Makes progress of all operations under way while it waits: other ranks may need them to come here.
MPI_Comm duplicate_with_progress(MPI_Comm original);
MPI_Comm split(MPI_Comm comm, int color, int key);
/// The ranks that MPI says can share memory.
MPI_Comm split_shared(MPI_Comm comm, int key);
/// Collective over the ranks of the list alone.
MPI_Comm create_group(MPI_Comm comm, std::span<const int> ranks, int tag);

/// Makes the errors of a communicator returned.
void return_errors(MPI_Comm comm);
/// Nothing is done for MPI_COMM_NULL; the handle becomes that.
void free(MPI_Comm& comm);

/// Numbers in MPI_COMM_WORLD of a communicator's ranks. Local.
std::vector<int> world_ranks(MPI_Comm comm);

}  // namespace syncyte::mpi
