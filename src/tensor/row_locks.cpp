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

row_locks::row_locks(const whole_tensor& of, const std::string& name) : of_(of) {
  tensor_options options;
  options.label = name.empty() ? "row locks" : name + ": row locks";
  options.local_rows = of.layout().partition().count(of.comm()->rank());
  const std::int64_t rows = of.layout().rows();
  locks_ = whole_tensor::create(of.comm(), SYNCYTE_INT64, 1, &rows, options);
}

/// compare_swap of a row's lock.
std::int64_t row_locks::swap(std::int64_t row, std::int64_t expected, std::int64_t desired) const {
  const watchdog::without_interrupts until_answered;  // the owner swaps also if this rank no longer waits for it
  return counter(*locks_, row).swap(expected, desired);
}

std::int64_t row_locks::mine() const { return of_.comm()->rank() + 1; }

void row_locks::require_inside(std::int64_t row) const {
  const std::int64_t rows = of_.layout().rows();
  base::expect(row >= 0 && row < rows, SYNCYTE_ERR_INDEX, "row", row, "0 to {}", rows - 1);
}

/// Whether reading a row's lock takes a message to its owner.
bool row_locks::is_remote(std::int64_t row) const {
  const storage& held = *locks_->held();
  return held.mapped_rows().find(row) == nullptr ||
         (held.remote() != nullptr && !held.remote()->is_atomic_with_processor());
}

void row_locks::require_holder_alive(int holder, std::int64_t row) const {
  const topology::node_group& node = of_.comm()->node();
  const int world_rank = of_.comm()->world_rank(holder);
  if (!mpi::is_dead(world_rank) && (!node.is_here(holder) || node.is_alive(node.node_rank(holder)))) return;
  const std::string text = of_.layout().text();
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = text, .rank = world_rank},
               fmt::format("rank {} died while it held the lock of row {} of {}", holder, row, text));
}

void row_locks::wait(std::int64_t row, std::int64_t seen) const {
  const std::string owner = of_.layout().text();
  const bool takes_messages = is_remote(row);
  atomics::holder_wait wait(fmt::format("row {} (tensor_lock)", row), owner);
  window::ended_ranks ended(*of_.comm(), locks_->held()->remote());
  for (; seen != 0; seen = swap(row, 0, mine())) {
    if (takes_messages) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // at most one message each time
    if (!wait.pause(static_cast<std::uint64_t>(seen))) continue;
    const int holder = static_cast<int>(seen) - 1;
    require_holder_alive(holder, row);
    if (ended.contains(holder)) ended.fail(holder, owner, fmt::format("with the lock of row {} of {}", row, owner));
    mpi::let_progress();
    wait.poll_for_interrupt();
  }
}

void row_locks::lock(std::int64_t row) {
  require_inside(row);
  if (const std::int64_t seen = swap(row, 0, mine())) wait(row, seen);
  if (window::remote* const remote = of_.held()->remote()) remote->synchronize_memory();
}

void row_locks::unlock(std::int64_t row) {
  require_inside(row);
  of_.flush();  // the next holder sees what this one has written
  const std::int64_t seen = swap(row, mine(), 0);
  base::expect(seen == mine(), SYNCYTE_ERR_ARGUMENT, "row", row, "a row whose lock this rank holds; {}",
               seen == 0 ? "it is free" : fmt::format("rank {} holds it", seen - 1));
}

}  // namespace syncyte::tensor
