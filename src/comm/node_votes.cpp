// SPDX-License-Identifier: BSD-3-Clause
#include "comm/node_votes.hpp"

#include <algorithm>
#include <atomic>

#include "mpi/progress.hpp"

namespace syncyte::comm {

/// The votes of one rank in one step, in a cache line of their own.
struct alignas(64) node_votes::slot {
  std::atomic<std::uint64_t> agreement;  // number of the one whose votes are here
  votes highest;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");

std::vector<std::vector<int>> node_votes::steps(int ranks, int width) {
  std::vector<std::vector<int>> result;
  for (std::int64_t known = 1; known < ranks; known *= width) {
    const std::int64_t end = std::min<std::int64_t>(ranks, known * width);
    result.emplace_back();
    for (std::int64_t distance = known; distance < end; distance += known)
      result.back().push_back(static_cast<int>(distance));
  }
  return result;
}

std::size_t node_votes::bytes(int ranks, int width) {
  return static_cast<std::size_t>(ranks) * steps(ranks, width).size() * 2 * sizeof(slot);
}

node_votes::node_votes(std::byte* memory, int rank, int ranks, int width)
    : memory_(memory), rank_(rank), ranks_(ranks), steps_(steps(ranks, width)) {}

/// The slot that a rank uses in this agreement.
node_votes::slot& node_votes::slot_of(int rank, std::size_t step) const {
  const std::size_t place = (static_cast<std::size_t>(rank) * steps_.size() + step) * 2 + agreement_ % 2;
  return reinterpret_cast<slot*>(memory_)[place];
}

/// This thread is inside of a collective, so it may call MPI.
void node_votes::await(const slot& awaited, watchdog::long_wait& wait) const {
  const auto is_shown = [&] { return awaited.agreement.load(std::memory_order_acquire) >= agreement_; };
  if (is_shown()) return;
  wait.set_awaited([this](int rank) { return slot_of(rank, steps_.size() - 1).agreement.load() < agreement_; });
  watchdog::poll_until(is_shown, wait, mpi::probe);
}

node_votes::votes node_votes::highest(const votes& mine, watchdog::long_wait& wait) {
  ++agreement_;
  votes known = mine;
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    slot& shown = slot_of(rank_, step);
    shown.highest = known;
    shown.agreement.store(agreement_, std::memory_order_release);
    for (const int distance : steps_[step]) {
      const slot& other = slot_of((rank_ + distance) % ranks_, step);
      await(other, wait);
      for (std::size_t i = 0; i < known.size(); ++i) known[i] = std::max(known[i], other.highest[i]);
    }
  }
  return known;
}

}  // namespace syncyte::comm
