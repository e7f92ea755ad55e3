// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/settings.hpp"
#include "comm/deferred_frees.hpp"
#include "comm/start_queue.hpp"
#include "syncyte/base.h"
#include "topology/node_group.hpp"
#include "watchdog/watchdog.hpp"

namespace syncyte::comm {

/// The amount of comparison before data moves (SYNCYTE_CHECK).
using base::settings::check_level;

/// Choices for a new communicator; collective constructors agree on `check`.
struct communicator_options {
  std::string name = {};                            // empty: made from the parent's
  int check = -1;                                   // -1: as the parent; a root: SYNCYTE_CHECK
  std::optional<base::error> error = std::nullopt;  // found by the caller on this rank; all ranks get it

  const std::string& name_or(const std::string& usual) const { return name.empty() ? usual : name; }
};

/// Throws SYNCYTE_ERR_ARGUMENT for a number that is not a level.
check_level chosen_check(const communicator_options& options, check_level inherited);

class node_collectives;

/// The MPI handles behind a communicator; freed collectively. What goes over each:
///
///   data      blocking collectives, and what MPI makes collectively: windows, grids, parts of the communicator; what
///             describes an error; deferred frees; small exchanges of creations
///   messages  point-to-point messages of channel 0; the data of non-blocking collectives
///   control   agreements, also those of non-blocking collectives, which a rank may start alone: another non-blocking
///             collective on it might meet one of these; and with tags of control_tags.hpp the messages of other
///             channels, halos, groups, neighbor_alltoall, and blocking collectives in messages: counts that MPI cannot
///             take, reductions along a ring
///   reversed  scans from the last rank
class communicator_handles : public collective_resource {
 public:
  void free_collectively() noexcept override;

  MPI_Comm data = MPI_COMM_NULL;
  MPI_Comm control = MPI_COMM_NULL;
  MPI_Comm messages = MPI_COMM_NULL;
  MPI_Comm reversed = MPI_COMM_NULL;  // the ranks of data from the last to the first; made when first asked for
  std::uint64_t id = 0;               // see communicator::id()
  topology::node_group node;
  std::shared_ptr<node_collectives> on_node;  // see communicator::collectives_on_node()
  bool has_tried_on_node = false;
  deferred_frees deferred;  // what was made on this communicator
  start_queue starts;       // of non-blocking collectives
};

/// The grid of a Cartesian communicator's ranks: row-major, the last coordinate changes fastest.
struct cartesian_grid {
  std::vector<int> dims;
  std::vector<int> periods;  // 1 where the last place's neighbour is the first

  int ndim() const { return static_cast<int>(dims.size()); }
};

/// Numbers of a communicator's ranks in MPI_COMM_WORLD. Evenly spaced ones are computed, so that most communicators
/// keep no table of them.
class world_numbers {
 public:
  explicit world_numbers(std::vector<int> numbers);
  int operator[](int rank) const {
    return table_.empty() ? first_ + rank * step_ : table_[static_cast<std::size_t>(rank)];
  }

 private:
  int first_;
  int step_;
  std::vector<int> table_;  // empty if the numbers are evenly spaced
};

/// An ordered group of ranks. Collective resources made on it are freed at its collective points (deferred_frees); it
/// is itself such a resource of its parent, or freed at finalize if it is a root. Everything made on a communicator
/// holds it by shared_ptr, so that it is dropped last.
class communicator : public std::enable_shared_from_this<communicator> {
 public:
  /// Wraps an MPI communicator, which it owns from now on. Collective over it. `inherited` as in find_node_group();
  /// `grid` is that of a Cartesian one.
  static std::shared_ptr<communicator> make(MPI_Comm data, const topology::node_group* inherited,
                                            const std::string& name, check_level check,
                                            std::optional<cartesian_grid> grid = std::nullopt);

  /// make() of a part of this one, which inherits its nodes and is a resource of it; MPI_COMM_NULL gives nullptr.
  /// Collective over this one.
  std::shared_ptr<communicator> add_part(MPI_Comm data, const std::string& name, check_level check,
                                         std::optional<cartesian_grid> grid = std::nullopt);

  ~communicator();

  /// A number that its ranks share and no other communicator of this or another job has: 63 random bits.
  std::uint64_t id() const { return handles_->id; }

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& name() const { return name_; }
  check_level check() const { return check_; }
  /// Number of collectives begun on it.
  std::uint64_t sequence() const { return sequence_; }
  /// A rank's number in MPI_COMM_WORLD; negative if that does not contain the rank.
  int world_rank(int rank) const { return world_ranks_[rank]; }
  /// Whether the collective that a thread is in may last as long as it likes: see collective_call::lift_time_limit().
  bool is_unlimited() const {
    return sequence_ != 0 && unlimited_sequence_.load(std::memory_order_relaxed) == sequence_;
  }

  /// Whether this rank was interrupted in a collective: it can call no other on this communicator.
  bool is_out_of_step() const { return is_out_of_step_.load(std::memory_order_relaxed); }

  /// The collective that a thread of this rank is in, or was in last. Called by one thread, the watchdog's, again and
  /// again.
  watchdog::collective_seen seen_by_watchdog(std::int64_t now_ns);
  MPI_Comm data() const { return handles_->data; }
  MPI_Comm control() const { return handles_->control; }
  MPI_Comm messages() const { return handles_->messages; }
  const topology::node_group& node() const { return handles_->node; }

  /// The grid of a Cartesian communicator, otherwise null.
  const cartesian_grid* grid() const { return grid_ ? &*grid_ : nullptr; }

  /// Small collectives in shared memory, if all ranks are on one node and have memory for it; otherwise null.
  /// Collective when first called: that call chooses the `width` of node_votes (0: the usual one).
  node_collectives* collectives_on_node(int width = 0);
  /// The result of collectives_on_node(); null before its first call. Null on all ranks or on none.
  node_collectives* made_node_collectives() const { return handles_->on_node.get(); }

  /// Whether a list of ranks was not the same on all of them: messages may be left that no rank receives.
  bool has_broken_group() const { return has_broken_group_; }
  void set_broken_group() { has_broken_group_ = true; }

  /// A communicator of these ranks from the last to the first, for scans. Collective when first called.
  MPI_Comm reversed();

  /// Whether its collectives do not call MPI: it has one rank, and this is a forked child of that rank, or another rank
  /// of the job has died.
  bool bypasses_mpi() const;

  /// Register of the collective resources made on this communicator: `id = deferred().add(resource)` right after the
  /// agreement that made it; `deferred().drop(id)` when this rank's last reference goes (see deferred_reference).
  deferred_frees& deferred() { return handles_->deferred; }

  /// Non-blocking collectives that were started and have not ended.
  start_queue& starts() { return handles_->starts; }

  /// Counts an object of a kind ("tensor") that a collective makes on it; returns its number, from 1.
  std::int64_t count_made(const char* kind) { return ++made_[kind]; }

  /// Frees everything on it and its MPI handles; collective, for finalize.
  void free_now();

 private:
  friend class collective_guard;
  communicator(std::shared_ptr<communicator_handles> handles, std::string name, check_level check);
  std::shared_ptr<communicator_handles> handles_;
  std::string name_;
  check_level check_;
  int rank_;
  int size_;
  std::optional<cartesian_grid> grid_;
  std::shared_ptr<communicator> parent_;  // null for roots
  std::uint64_t id_in_parent_ = 0;
  world_numbers world_ranks_;
  std::map<std::string, std::int64_t> made_;  // objects by kind
  std::atomic_flag busy_;
  std::atomic<bool> has_broken_group_{false};
  std::atomic<bool> is_out_of_step_{false};  // busy_ then stays set
  std::atomic<const char*> operation_{nullptr};
  std::atomic<std::uint64_t> unlimited_sequence_{0};  // of the last collective that may take long
  watchdog::collective_seen seen_;                    // by the watchdog
  std::atomic<std::uint64_t> sequence_{0};            // of collectives on this communicator
};

/// Calls `visit` with each communicator of this process, for the watchdog's thread; none is destroyed meanwhile.
void visit_communicators(const std::function<void(communicator&)>& visit);

/// Holds a communicator, and drops a collective resource of it when it goes: every object a user can drop has one as
/// member.
class deferred_reference {
 public:
  deferred_reference(std::shared_ptr<communicator> comm, std::shared_ptr<collective_resource> resource);
  ~deferred_reference();
  deferred_reference(const deferred_reference&) = delete;
  deferred_reference& operator=(const deferred_reference&) = delete;

  const std::shared_ptr<communicator>& comm() const { return comm_; }

 private:
  std::shared_ptr<communicator> comm_;
  std::uint64_t id_;
};

}  // namespace syncyte::comm
