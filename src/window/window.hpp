// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/collective_call.hpp"
#include "comm/communicator.hpp"
#include "comm/node_memory.hpp"
#include "syncyte/window.h"
#include "window/remote.hpp"

namespace syncyte::window {

struct part_header;

/// Bytes of a rank's part.
struct place {
  int rank = -1;
  std::size_t offset = 0;       ///< from the part's header, as window::remote counts
  std::byte* mapped = nullptr;  ///< null if the part is not mapped here
};

/// Memory of all ranks, and its locks: see syncyte/window.h for what each operation promises. Accesses are the classes
/// of operations.hpp. Where a rank's part is mapped here, put and get copy; other parts are reached through
/// window::remote. Atomics of mapped parts use the processor if all parts are mapped, or if window::remote's atomics
/// are atomic with the processor's; otherwise the atomics of all parts go through window::remote.
///
/// Errors of bounds and arguments are thrown before anything moves. Thread-safe where MPI is (MPI_THREAD_MULTIPLE, or
/// one thread at a time).
class window {
 public:
  /// Collective within `call`, in which attempts may have failed: ends in an agreement, so that it succeeds or throws
  /// on all ranks. Zeroed memory of `bytes` on this rank, starting at a multiple of 64 bytes, with a lock.
  static std::shared_ptr<window> create(comm::collective_call& call, std::size_t bytes, const std::string& name,
                                        const std::string& label = "");

  const std::shared_ptr<comm::communicator>& comm() const { return comm_; }
  const std::string& name() const { return name_; }

  /// Bytes of a rank's part; throws SYNCYTE_ERR_ARGUMENT for a number that is not a rank.
  std::int64_t size(int rank) const;
  /// A rank's part if it is mapped here, otherwise null.
  std::byte* pointer(int rank) const;

  /// Bytes within a rank's part; throws SYNCYTE_ERR_INDEX, or SYNCYTE_ERR_ARGUMENT for a number that is not a rank.
  place find(int rank, std::int64_t offset, std::size_t bytes) const;
  /// Null if all parts are mapped here.
  remote* access_between_nodes() const { return remote_.get(); }

  void lock(int rank, syncyte_lock_t kind);
  void unlock(int rank);

  /// Completes this rank's blocking operations on a rank, or on all with -1.
  void flush(int rank);
  /// Collective: flushes on all ranks, and lets each see what all wrote.
  void fence();

 private:
  window(std::shared_ptr<comm::communicator> comm, std::string name);

  std::vector<std::uint64_t> share_sizes(std::size_t mine);

  void require_rank(int rank) const;
  std::byte* find_part(int rank) const;
  part_header& header_of(int rank) const;
  /// Whether a rank's lock is changed by the processor's atomics.
  bool has_mapped_lock(int rank) const;

  void acquire_exclusive(int rank);
  void acquire_shared(int rank);
  struct lock_wait;
  void wait_for_lock(lock_wait& wait, std::uint64_t seen, int rank) const;
  std::uint64_t swap_lock_word(int rank, std::uint64_t expected, std::uint64_t desired);

  std::shared_ptr<comm::communicator> comm_;
  std::string name_;
  std::int64_t serial_ = 0;  // equal on all ranks, for fence to tell windows apart
  std::shared_ptr<comm::node_memory> memory_;
  std::shared_ptr<const std::uint64_t[]> sizes_;         // of every rank's part, without its header; in memory_
  std::shared_ptr<remote> remote_;                       // null if all parts are mapped
  std::unique_ptr<comm::deferred_reference> reference_;  // of remote_
  std::mutex locks_mutex_;
  struct held_lock {
    int rank;
    syncyte_lock_t kind;
  };
  std::vector<held_lock> held_;  // locks that this rank holds or waits for
};

}  // namespace syncyte::window
