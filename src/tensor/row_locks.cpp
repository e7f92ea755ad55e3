// SPDX-License-Identifier: BSD-3-Clause
#include "tensor/row_locks.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>

#include "atomics/holder_wait.hpp"
#include "mpi/deaths.hpp"
#include "mpi/progress.hpp"
#include "tensor/counter.hpp"
#include "watchdog/interrupts.hpp"
#include "window/ended_ranks.hpp"

namespace syncyte::tensor {

namespace {

/// compare_swap of a row's lock.
std::int64_t swap(const whole_tensor& of, std::int64_t row, std::int64_t expected, std::int64_t desired) {
  const watchdog::without_interrupts until_answered;  // the owner swaps also if this rank no longer waits for it
  return counter(of.row_locks(), row, desired > expected ? "tensor_lock" : "tensor_unlock").swap(expected, desired);
}

std::int64_t mine(const whole_tensor& of) { return of.comm()->rank() + 1; }

void require_inside(const whole_tensor& locks, std::int64_t row) {
  const std::int64_t rows = locks.layout().rows();
  base::expect(row >= 0 && row < rows, SYNCYTE_ERR_INDEX, "row", row, "0 to {}", rows - 1);
}

/// Whether reading a row's lock takes a message to its owner.
bool is_remote(const storage& locks, std::int64_t row) {
  return locks.mapped_rows().find(row) == nullptr ||
         (locks.remote() != nullptr && !locks.remote()->is_atomic_with_processor());
}

void require_holder_alive(const whole_tensor& of, int holder, std::int64_t row) {
  const topology::node_group& node = of.comm()->node();
  const int world_rank = of.comm()->world_rank(holder);
  if (!mpi::is_dead(world_rank) && (!node.is_here(holder) || node.is_alive(node.node_rank(holder)))) return;
  const std::string text = of.layout().text();
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = text, .rank = world_rank},
               fmt::format("rank {} died while it held the lock of row {} of {}", holder, row, text));
}

void wait_for_lock(const whole_tensor& of, std::int64_t row, std::int64_t seen) {
  const std::string owner = of.layout().text();
  const storage& locks = *of.row_locks().held();
  const bool takes_messages = is_remote(locks, row);
  atomics::holder_wait wait(fmt::format("row {} (tensor_lock)", row), owner);
  window::ended_ranks ended(*of.comm(), locks.remote());
  for (; seen != 0; seen = swap(of, row, 0, mine(of))) {
    if (takes_messages) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // at most one message each time
    if (!wait.pause(static_cast<std::uint64_t>(seen))) continue;
    const int holder = static_cast<int>(seen) - 1;
    require_holder_alive(of, holder, row);
    if (ended.contains(holder)) ended.fail(holder, owner, fmt::format("with the lock of row {} of {}", row, owner));
    mpi::let_progress();
    wait.poll_for_interrupt();
  }
}

}  // namespace

std::shared_ptr<whole_tensor> make_row_locks(const whole_tensor& of, const std::string& name) {
  tensor_options options;
  options.label = name.empty() ? "row locks" : name + ": row locks";
  options.local_rows = of.layout().partition().count(of.comm()->rank());
  const std::int64_t rows = of.layout().rows();
  return whole_tensor::create(of.comm(), SYNCYTE_INT64, 1, &rows, options);
}

void lock(const whole_tensor& of, std::int64_t row) {
  require_inside(of.row_locks(), row);
  if (const std::int64_t seen = swap(of, row, 0, mine(of))) wait_for_lock(of, row, seen);
  if (window::remote* const remote = of.held()->remote()) remote->synchronize_memory();
}

void unlock(const whole_tensor& of, std::int64_t row) {
  require_inside(of.row_locks(), row);
  of.flush();  // the next holder sees what this one has written
  const std::int64_t seen = swap(of, row, mine(of), 0);
  base::expect(seen == mine(of), SYNCYTE_ERR_ARGUMENT, "row", row, "a row whose lock this rank holds; {}",
               seen == 0 ? "it is free" : fmt::format("rank {} holds it", seen - 1));
}

}  // namespace syncyte::tensor
