#pragma once

#include <string>

namespace syncyte::mpi {

/// Processes of this job that have died, as far as this process knows. A process that has been out of reach for the
/// fabric's deadline counts as dead, for good. After a death no thread may enter MPI any more: Open MPI 4 may hang or
/// end the process there.

/// Remembers a death and tells the listener. `world_rank`: the rank in MPI_COMM_WORLD. Repeated calls for a rank do
/// nothing. Thread-safe; does not wait and does not call MPI.
void declare_dead(int world_rank);

bool is_dead(int world_rank);

/// Whether any death is known. Costs a relaxed load.
bool knows_death();

/// Throws SYNCYTE_ERR_PEER_DIED, naming the ranks that have died, if any death is known.
void require_no_death(const char* operation);

/// Sets the function that declare_dead() calls with each new death, on any thread: it passes the news on to other
/// processes. It must not wait.
void call_on_death(void (*listener)(int world_rank) noexcept);

}  // namespace syncyte::mpi
