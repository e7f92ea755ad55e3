// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "memory/shared_segment.hpp"
#include "mpi/process_id.hpp"

namespace syncyte::topology {

/// The ranks of a communicator that share memory with this one, and how the others group.
struct node_group {
  MPI_Comm comm = MPI_COMM_NULL;                   // of the node's ranks, in order of ranks
  MPI_Comm host = MPI_COMM_NULL;                   // of all ranks of this machine; null if every machine is a node
  int host_number = 0;                             // tells machines apart; means nothing else
  int index = 0;                                   // this node's number, in order of lowest ranks
  int count = 1;                                   // number of nodes
  int rank = 0;                                    // within the node
  int size = 1;                                    // ranks of the node
  std::vector<int> members;                        // the node's ranks in the communicator, ascending
  std::vector<int> world_ranks;                    // the node's ranks in MPI_COMM_WORLD
  std::vector<mpi::process_id> processes;          // of the node's ranks, by rank within the node
  memory::sharing method = memory::sharing::none;  // how the node's ranks share memory

  bool is_here(int comm_rank) const { return node_rank(comm_rank) >= 0; }
  /// Within the node; -1 if elsewhere.
  int node_rank(int comm_rank) const {
    const int distance = comm_rank - members.front();
    if (is_consecutive()) return distance >= 0 && distance < size ? distance : -1;
    return find_node_rank(comm_rank);
  }
  bool is_alive(int node_rank) const;
  bool is_consecutive() const { return members.back() - members.front() + 1 == size; }

 private:
  int find_node_rank(int comm_rank) const;
};

/// Whether a rank's process runs, as far as this process knows. A process without a pid runs until its rank's death is
/// known.
bool is_alive(int world_rank, const mpi::process_id& process);

/// Finds the groups of `comm`. Collective. `inherited` is this rank's group in a communicator that contains comm: its
/// ranks are known to share memory. Null: find out by trying. SYNCYTE_SHM chooses the way; the ranks of a machine must
/// allow the same one, and if it is `none` on one of them, none of them share memory.
node_group find_node_group(MPI_Comm comm, const node_group* inherited);

}  // namespace syncyte::topology
