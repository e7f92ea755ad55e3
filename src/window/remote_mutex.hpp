// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

#include "comm/collective_call.hpp"

namespace syncyte::window {

/// A mutex at every rank of a communicator, reached by MPI RMA. MPI's atomics are atomic with each other only if all
/// use the same operation, and Open MPI 4.1 crashes in MPI_Compare_and_swap to the own rank. So the mutex uses
/// MPI_Fetch_and_op with MPI_REPLACE alone; a rank does all other work while it holds the mutex.
class remote_mutex {
 public:
  explicit remote_mutex(const comm::communicator& comm) : comm_(comm) {}

  /// Collective, without an agreement; throws SYNCYTE_ERR_UNSUPPORTED where this MPI has no one-sided communication.
  void create();
  void free() noexcept;

  /// Waits; throws SYNCYTE_ERR_PEER_DIED if the holder is a process of this node that died.
  void lock(int rank);
  void unlock(int rank);

  /// Calls step() while the mutex is held; the mutex is given back after an error too.
  template <class Step>
  void while_held(int rank, Step&& step) {
    lock(rank);
    try {
      step();
    } catch (...) {
      unlock_after_error(rank);
      throw;
    }
    unlock(rank);
  }

 private:
  void unlock_after_error(int rank) noexcept;
  std::uint64_t swap(int rank, std::uint64_t value);
  void require_holder_alive(int rank);

  struct words {
    std::uint64_t held;    // 0 or 1
    std::uint64_t holder;  // rank + 1 of the last holder
  };

  const comm::communicator& comm_;  // outlives this, as it does all its collective resources
  MPI_Win window_ = MPI_WIN_NULL;
  words mine_{};
  std::uint64_t name_ = 0;  // this rank's value of words::holder
};

/// MPI_Win_create over `bytes` at `data`, with errors returned and a passive epoch begun; throws
/// SYNCYTE_ERR_UNSUPPORTED with a hint if this MPI has no one-sided communication between the ranks. Collective.
MPI_Win open_window(const comm::communicator& comm, void* data, std::size_t bytes);
void close_window(MPI_Win& window) noexcept;

}  // namespace syncyte::window
