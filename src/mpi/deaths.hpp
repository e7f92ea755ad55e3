// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <vector>

#include "mpi/process_watch.hpp"

namespace syncyte::mpi {

/// Processes of this job that have died, as far as this process knows. A process that has been out of reach for the
/// fabric's deadline counts as dead, for good. After a death no thread may enter MPI any more: Open MPI 4 may hang or
/// end the process there.

/// Changed by declare_dead(); read it by known_deaths().
inline std::atomic<int> death_count{0};

/// Number of deaths that are known. Costs a relaxed load.
inline int known_deaths() { return death_count.load(std::memory_order_relaxed); }

inline bool knows_death() { return known_deaths() != 0; }

/// Remembers a death. `world_rank`: the rank in MPI_COMM_WORLD. Repeated calls for a rank do nothing. Thread-safe; does
/// not wait and does not call MPI.
void declare_dead(int world_rank);

bool is_dead(int world_rank);

/// All ranks that have died, by their numbers in MPI_COMM_WORLD, ascending.
std::vector<int> dead_ranks();

/// Throws SYNCYTE_ERR_PEER_DIED, naming the ranks that have died.
[[noreturn]] void fail_by_death();

/// fail_by_death() if any death is known.
inline void require_no_death() {
  if (knows_death()) [[unlikely]]
    fail_by_death();
}

/// Adds processes to those whose deaths are looked for.
void watch_processes(const std::vector<rank_process>& processes);

/// Ends the effect of watch_processes(), and closes the descriptors: from now on processes may end.
void stop_watching_processes();

/// Ends look_for_deaths(). For a forked child: only atomics are touched.
void stop_looking_for_deaths() noexcept;

/// Looks for deaths of watched processes, and declares them; at most 50 times a second in all threads together: waits
/// call it once they have lasted long.
void look_for_deaths() noexcept;

/// Looks at once.
void look_for_deaths_now() noexcept;

}  // namespace syncyte::mpi
