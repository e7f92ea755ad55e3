#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "memory/shared_segment.hpp"

namespace syncyte::comm {

/// A process, so that a later one with the same pid is not taken for it.
struct process_id {
  std::int64_t pid = 0;
  std::int64_t start_time = 0;  // clock ticks after boot, field 22 of /proc/PID/stat
};

process_id this_process();

/// Whether the process still runs (a zombie does not).
bool is_alive(const process_id& process);

/// The ranks of a communicator that share memory with this one, and how the others group.
struct node_group {
  MPI_Comm comm = MPI_COMM_NULL;                   // of the node's ranks, in order of ranks
  MPI_Comm host = MPI_COMM_NULL;                   // of all ranks of this machine; null where every machine is a node
  int host_number = 0;                             // differs between machines; means nothing else
  int index = 0;                                   // this node's number, in order of lowest ranks
  int count = 1;                                   // number of nodes
  int rank = 0;                                    // within the node
  int size = 1;                                    // ranks of the node
  std::vector<int> members;                        // their ranks in the communicator, ascending
  std::vector<int> node_of;                        // node index of every rank of the communicator
  std::vector<process_id> processes;               // of the node's ranks, by rank within the node
  memory::sharing method = memory::sharing::none;  // how they share memory

  bool is_here(int comm_rank) const { return node_of[static_cast<std::size_t>(comm_rank)] == index; }
  int node_rank(int comm_rank) const;  // within the node; -1 if elsewhere
  bool is_alive(int node_rank) const;
  /// Throws SYNCYTE_ERR_PEER_DIED where the process of a rank has ended.
  void require_all_alive() const;
  bool is_consecutive() const { return members.back() - members.front() + 1 == size; }
};

/// Finds the groups of `comm`. Collective. `inherited` is this rank's group in a communicator that contains comm: its
/// ranks are known to share memory. Null: find out by trying (SYNCYTE_SHM forces a way: one that all ranks of a machine
/// allow; `none` on one of them is none for all).
node_group find_node_group(MPI_Comm comm, const node_group* inherited);

/// Memory shared by the ranks of `node`, whose rank 0 leads, or an error on the ranks where it failed: no agreement
/// here. Collective over node.
struct shared_attempt {
  memory::segment segment;
  std::optional<base::error> error;
  int successes = 0;  // number of ranks that have it
};
shared_attempt share_segment(MPI_Comm node, std::size_t bytes, memory::sharing method);

}  // namespace syncyte::comm
