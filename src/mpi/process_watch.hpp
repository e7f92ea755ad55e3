// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "memory/descriptor.hpp"
#include "mpi/process_id.hpp"

namespace syncyte::mpi {

/// The process of a rank of this node.
struct rank_process {
  int world_rank;  // in MPI_COMM_WORLD
  process_id process;
};

/// Finds the ends of processes by descriptors (pidfd), at most a quarter of RLIMIT_NOFILE. Ten times a second it reads
/// the states of processes without a descriptor from /proc: of the further ones, or of all if the system gives none.
/// One thread at a time uses it.
class process_watch {
 public:
  /// Processes without a pid are left out. The first take_ended() opens the descriptors: programs whose ranks never
  /// wait long have none.
  void add(const std::vector<rank_process>& processes);

  /// Ranks whose processes have ended; each is returned once.
  std::vector<int> take_ended();

  bool is_empty() const { return new_.empty() && opened_.empty() && read_.empty(); }
  std::size_t descriptors() const { return opened_.size(); }

 private:
  struct opened_process {
    rank_process rank;
    memory::descriptor end;
  };

  void open_new();
  bool poll_opened(std::vector<int>& ended) const;
  void read_states(std::vector<int>& ended);

  std::vector<rank_process> new_;  // not looked at yet
  std::vector<opened_process> opened_;
  std::vector<rank_process> read_;  // their states are read
  std::chrono::steady_clock::time_point next_read_{};
  memory::descriptor spare_;  // closed while /proc is read, for which this process may have no other descriptor
};

}  // namespace syncyte::mpi
