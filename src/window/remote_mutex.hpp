#pragma once

#include <mpi.h>

#include <cstdint>

#include "comm/collective.hpp"

namespace syncyte::window {

/// A mutex at every rank of a communicator, reached by MPI RMA. MPI promises that its atomics are atomic with each
/// other only where all use the same operation, and MPI_Compare_and_swap of Open MPI 4.1 crashes where a rank is its
/// own target; so this uses one operation, MPI_Fetch_and_op with MPI_REPLACE, and everything else happens while it is
/// held.
class remote_mutex {
 public:
  explicit remote_mutex(const comm::communicator& comm) : comm_(comm) {}

  /// Collective, without an agreement; throws SYNCYTE_ERR_UNSUPPORTED where this MPI has no one-sided communication.
  void create();
  void free() noexcept;

  /// Waits; throws SYNCYTE_ERR_PEER_DIED if the holder is a process of this node that died.
  void lock(int rank);
  void unlock(int rank);

 private:
  std::uint64_t swap(int rank, std::uint64_t value);
  void require_holder_alive(int rank);

  struct words {
    std::uint64_t held;    // 0 or 1
    std::uint64_t holder;  // rank + 1 of whoever held it last
  };

  const comm::communicator& comm_;  // outlives this, as it does all its collective resources
  MPI_Win window_ = MPI_WIN_NULL;
  words mine_{};
  std::uint64_t name_ = 0;  // what is put into holder
};

/// Holds the mutex of a rank.
class remote_guard {
 public:
  remote_guard(remote_mutex& mutex, int rank) : mutex_(mutex), rank_(rank) { mutex_.lock(rank); }
  /// The regular end, which may throw; without it, after an error, the mutex is given back in silence.
  void end() {
    is_held_ = false;
    mutex_.unlock(rank_);
  }
  ~remote_guard();
  remote_guard(const remote_guard&) = delete;
  remote_guard& operator=(const remote_guard&) = delete;

 private:
  remote_mutex& mutex_;
  int rank_;
  bool is_held_ = true;
};

/// MPI_Win_create over `bytes` at `data`, with errors returned and a passive epoch begun; throws
/// SYNCYTE_ERR_UNSUPPORTED with a hint if this MPI has no one-sided communication between the ranks. Collective.
MPI_Win open_window(const comm::communicator& comm, void* data, std::size_t bytes);
void close_window(MPI_Win& window) noexcept;

}  // namespace syncyte::window
