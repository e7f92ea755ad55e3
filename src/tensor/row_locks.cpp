// Locks of rows: elements of a tensor of int64, in which a locked row's element is its holder's rank + 1.

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>

#include "atomics/holder_wait.hpp"
#include "mpi/deaths.hpp"
#include "mpi/progress.hpp"
#include "tensor/whole_tensor.hpp"
#include "watchdog/interrupts.hpp"
#include "window/ended_ranks.hpp"

namespace syncyte::tensor {
namespace {

/// compare_swap of a row's lock.
std::int64_t swap_lock(whole_tensor& locks, std::int64_t row, std::int64_t expected, std::int64_t desired) {
  const watchdog::without_interrupts until_answered;  // the owner swaps also if this rank no longer waits for it
  return locks.compare_swap(row, expected, desired);
}

}  // namespace

/// Makes the locks of a new tensor. Collective.
void whole_tensor::make_row_locks(const std::string& name) {
  tensor_options options;
  options.label = name.empty() ? "row locks" : name + ": row locks";
  options.local_rows = layout_.partition().count(comm_->rank());
  const std::int64_t rows = layout_.rows();
  row_locks_ = create_rows(comm_, SYNCYTE_INT64, 1, &rows, options);
}

whole_tensor& whole_tensor::require_row_lock(std::int64_t row) const {
  base::require(row_locks_ != nullptr, SYNCYTE_ERR_UNSUPPORTED,
                "{} was made without options->row_locks; expected 1 for lock and unlock", layout_.text());
  base::expect(row >= 0 && row < layout_.rows(), SYNCYTE_ERR_INDEX, "row", row, "0 to {}", layout_.rows() - 1);
  return *row_locks_;
}

/// Whether reading a row's lock takes a message to its owner.
bool whole_tensor::has_remote_lock(std::int64_t row) const {
  const storage& locks = *row_locks_->storage_;
  return locks.mapped_rows().find(row) == nullptr ||
         (locks.remote() != nullptr && !locks.remote()->is_atomic_with_processor());
}

void whole_tensor::require_lock_holder_alive(int holder, std::int64_t row) const {
  const topology::node_group& node = comm_->node();
  const int world_rank = comm_->world_rank(holder);
  if (!mpi::is_dead(world_rank) && (!node.is_here(holder) || node.is_alive(node.node_rank(holder)))) return;
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = layout_.text(), .rank = world_rank},
               fmt::format("rank {} died while it held the lock of row {} of {}", holder, row, layout_.text()));
}

void whole_tensor::wait_for_lock(whole_tensor& locks, std::int64_t row, std::int64_t mine, std::int64_t seen) const {
  const std::string owner = layout_.text();
  const bool is_remote = has_remote_lock(row);
  atomics::holder_wait wait(fmt::format("row {} (tensor_lock)", row), owner);
  window::ended_ranks ended(*comm_, locks.storage_->remote());
  for (; seen != 0; seen = swap_lock(locks, row, 0, mine)) {
    if (is_remote) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // at most one message each time
    if (!wait.pause(static_cast<std::uint64_t>(seen))) continue;
    const int holder = static_cast<int>(seen) - 1;
    require_lock_holder_alive(holder, row);
    if (ended.contains(holder)) ended.fail(holder, owner, fmt::format("with the lock of row {} of {}", row, owner));
    mpi::let_progress();
    wait.poll_for_interrupt();
  }
}

void whole_tensor::lock(std::int64_t row) {
  whole_tensor& locks = require_row_lock(row);
  const std::int64_t mine = comm_->rank() + 1;
  if (const std::int64_t seen = swap_lock(locks, row, 0, mine)) wait_for_lock(locks, row, mine, seen);
  if (window::remote* const remote = storage_->remote()) remote->synchronize_memory();
}

void whole_tensor::unlock(std::int64_t row) {
  whole_tensor& locks = require_row_lock(row);
  flush();  // the next holder sees what this one has written
  const std::int64_t mine = comm_->rank() + 1;
  const std::int64_t seen = swap_lock(locks, row, mine, 0);
  base::expect(seen == mine, SYNCYTE_ERR_ARGUMENT, "row", row, "a row whose lock this rank holds; {}",
               seen == 0 ? "it is free" : fmt::format("rank {} holds it", seen - 1));
}

}  // namespace syncyte::tensor
