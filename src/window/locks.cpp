// SPDX-License-Identifier: BSD-3-Clause
// The lock of a rank's part: a word in the part's header, changed by compare-and-swap only, on the same path as all
// atomics of the window.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "atomics/holder_wait.hpp"
#include "base/error.hpp"
#include "mpi/deaths.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "syncyte/window.h"
#include "window/ended_ranks.hpp"
#include "window/part_header.hpp"
#include "window/window.hpp"

namespace syncyte::window {

namespace {

constexpr int holder_shift = 32;

std::uint64_t exclusive_word(int rank) { return (static_cast<std::uint64_t>(rank) + 1) << holder_shift; }

/// Rank of the exclusive holder, or -1.
int holder_of(std::uint64_t word) { return static_cast<int>(word >> holder_shift) - 1; }

/// The word of a shared lock does not name its holders: any rank that has died may be one.
void require_holder_alive(const comm::communicator& comm, std::uint64_t word, int rank) {
  mpi::look_for_deaths();
  if (!mpi::knows_death()) return;
  const auto require = [&](int holder, const char* before, const char* after) {
    const int world_rank = comm.world_rank(holder);
    if (mpi::is_dead(world_rank))
      base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = comm.name(), .rank = world_rank},
                   fmt::format("rank {} died{} lock of rank {}'s part{}", holder, before, rank, after));
  };
  if (const int holder = holder_of(word); holder >= 0) return require(holder, " while it held the exclusive", "");
  for (int holder = 0; holder < comm.size(); ++holder)
    require(holder, ", and may have held the", ", which several ranks shared");
}

}  // namespace

void window::lock(int rank, syncyte_lock_t kind) {
  base::expect_known<base::known::lock>(kind, "kind");
  require_rank(rank);
  {
    const std::lock_guard guard(locks_mutex_);
    const bool is_held = std::ranges::find(held_, rank, &held_lock::rank) != held_.end();
    base::require(!is_held, SYNCYTE_ERR_BUSY, "this rank holds the lock of rank {} already, or waits for it", rank);
    held_.push_back({rank, kind});
  }
  try {
    kind == SYNCYTE_LOCK_EXCLUSIVE ? acquire_exclusive(rank) : acquire_shared(rank);
  } catch (...) {
    const std::lock_guard guard(locks_mutex_);
    held_.erase(std::ranges::find(held_, rank, &held_lock::rank));
    throw;
  }
  if (remote_) remote_->synchronize_memory();
}

struct window::lock_wait {
  lock_wait(const window& of, int rank)
      : holder(fmt::format("rank {}'s part", rank), of.name_, of.serial_), ended(*of.comm_, of.remote_.get()) {}

  atomics::holder_wait holder;
  ended_ranks ended;
};

/// Waits between two reads of a lock's word.
void window::wait_for_lock(lock_wait& wait, std::uint64_t seen, int rank) const {
  // Serve other ranks between two requests of this one: MPI RMA's atomics lock the target, and if others were served
  // only while this rank holds that lock, they could hardly take it.
  if (remote_) remote_->serve_others();
  if (!has_mapped_lock(rank)) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // each read is a message
  if (!wait.holder.pause(seen)) return;
  require_holder_alive(*comm_, seen, rank);
  const std::string lock = fmt::format("with the lock of rank {}'s part of {}", rank, name_);
  if (const int holder = holder_of(seen); holder >= 0 && wait.ended.contains(holder))
    wait.ended.fail(holder, name_, lock);
  else if (holder < 0 && wait.ended.contains_all_others())
    wait.ended.fail_by_all_others(name_, lock);
  mpi::let_progress();
  wait.holder.poll_for_interrupt();
}

void window::acquire_exclusive(int rank) {
  const std::uint64_t mine = exclusive_word(comm_->rank());
  lock_wait wait(*this, rank);
  while (const std::uint64_t seen = swap_lock_word(rank, 0, mine)) wait_for_lock(wait, seen, rank);
}

void window::acquire_shared(int rank) {
  std::uint64_t expected = 0;
  lock_wait wait(*this, rank);
  while (true) {
    const std::uint64_t seen = swap_lock_word(rank, expected, expected + 1);
    if (seen == expected) return;
    expected = holder_of(seen) < 0 ? seen : 0;
    if (holder_of(seen) < 0) continue;  // others share it: their number was another
    wait_for_lock(wait, seen, rank);
  }
}

void window::unlock(int rank) {
  require_rank(rank);
  const std::lock_guard guard(locks_mutex_);
  const auto held = std::ranges::find(held_, rank, &held_lock::rank);
  base::expect(held != held_.end(), SYNCYTE_ERR_ARGUMENT, "rank", rank, "a rank whose lock this rank holds");
  flush(rank);
  if (held->kind == SYNCYTE_LOCK_EXCLUSIVE) {
    swap_lock_word(rank, exclusive_word(comm_->rank()), 0);
  } else {
    std::uint64_t expected = 1;
    for (std::uint64_t seen = 0; (seen = swap_lock_word(rank, expected, expected - 1)) != expected;) expected = seen;
  }
  held_.erase(held);
}

}  // namespace syncyte::window
