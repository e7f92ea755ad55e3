#pragma once

#include <vector>

#include "topology/process_id.hpp"

namespace syncyte::topology {

/// The process of a rank of this node.
struct rank_process {
  int world_rank;  // in MPI_COMM_WORLD
  process_id process;
};

/// Lets mpi::look_for_deaths() find the ends of these processes, by descriptors of them (pidfd) that the first search
/// opens: programs whose ranks never wait long have none. Processes without a pid are left out. Where the system gives
/// no descriptor, /proc is read instead.
void watch_processes(const std::vector<rank_process>& processes);

/// Ends it, and closes the descriptors: from now on processes may end.
void stop_watching_processes();

}  // namespace syncyte::topology
