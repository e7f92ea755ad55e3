// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace syncyte::comm {

/// Something that ranks hold in common and that can only be freed by all of them together: a window, a communicator.
class collective_resource {
 public:
  virtual ~collective_resource() = default;

  /// Frees what needs MPI. Called once, on all ranks in the same order, never from a destructor.
  virtual void free_collectively() noexcept = 0;
};

/// The collective resources made on one communicator. A rank drops them in any order, from any thread, without MPI;
/// they are freed at a collective point, once all ranks have dropped them, in order of creation.
class deferred_frees {
 public:
  /// Registers a resource; called on all ranks in the same order. Returns its id, the same on all ranks.
  std::uint64_t add(std::shared_ptr<collective_resource> resource);

  /// This rank no longer refers to the resource. Thread-safe, no MPI.
  void drop(std::uint64_t id);

  /// Whether this rank has dropped something that is not freed yet.
  bool pending() const { return pending_.load(std::memory_order_relaxed) > 0; }

  /// Frees what all ranks have dropped. Collective over `comm`.
  void collect(MPI_Comm comm);

  /// Frees everything, in order of creation. Collective; used when the communicator itself ends.
  void free_all();

 private:
  std::vector<std::uint64_t> dropped_ids() const;
  void free_ids(const std::vector<std::uint64_t>& ids);

  struct entry {
    std::shared_ptr<collective_resource> resource;
    bool is_dropped = false;
  };

  mutable std::mutex mutex_;
  std::map<std::uint64_t, entry> entries_;  // ordered by id, which is the order of creation
  std::uint64_t next_id_ = 0;
  std::atomic<std::int64_t> pending_{0};
};

}  // namespace syncyte::comm
