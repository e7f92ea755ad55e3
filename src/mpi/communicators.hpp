// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <span>
#include <string>
#include <vector>

namespace syncyte::mpi {

// MPI communicators whose errors are returned and not fatal. The caller frees them; all but create_group() are
// collective over the given communicator.

// The functions make progress of all operations in flight while they wait, and throw SYNCYTE_ERR_PEER_DIED once a rank
// of the job is known to have died. MPI has a non-blocking form of MPI_Comm_dup alone; the other calls wait in a thread
// of their own. That needs MPI_THREAD_MULTIPLE: below it, a rank that waits for one that dies waits for ever.

MPI_Comm duplicate(MPI_Comm original);
MPI_Comm split(MPI_Comm comm, int color, int key);
/// The ranks that MPI says can share memory.
MPI_Comm split_shared(MPI_Comm comm, int key);
/// A Cartesian grid of the extents' product of ranks. MPI_COMM_NULL on further ranks.
MPI_Comm cart(MPI_Comm comm, std::span<const int> extents, std::span<const int> periods);
/// Collective over the ranks of the list alone.
MPI_Comm create_group(MPI_Comm comm, std::span<const int> ranks, int tag);

/// The communicator of one of Fortran's handles, and the handle of a communicator.
MPI_Comm from_fortran(int handle);
int to_fortran(MPI_Comm comm);

/// Makes the errors of a communicator returned.
void return_errors(MPI_Comm comm);
/// Makes MPI return errors of calls on `comm` instead of ending the job, while it lives; then the application's own
/// error handler is set again. Several threads may have one for the same communicator: the last one sets the handler
/// that the first one found.
class errors_returned {
 public:
  explicit errors_returned(MPI_Comm comm);
  ~errors_returned();
  errors_returned(const errors_returned&) = delete;
  errors_returned& operator=(const errors_returned&) = delete;

 private:
  MPI_Comm comm_;
};

/// Throws SYNCYTE_ERR_ARGUMENT unless `comm` is an intra-communicator; `argument` ("mpi_comm is") begins its message.
void require_intra(MPI_Comm comm, const std::string& argument);

/// Frees a communicator, and sets the handle to MPI_COMM_NULL; does nothing for MPI_COMM_NULL.
void free(MPI_Comm& comm);

/// Numbers in another communicator of a communicator's ranks; negative where it does not contain them. Local.
std::vector<int> ranks_in(MPI_Comm comm, MPI_Comm other);
inline std::vector<int> world_ranks(MPI_Comm comm) { return ranks_in(comm, MPI_COMM_WORLD); }

}  // namespace syncyte::mpi
