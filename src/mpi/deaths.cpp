// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/deaths.hpp"

#include <fmt/format.h>
#include <time.h>

#include <cstdint>
#include <limits>
#include <mutex>
#include <set>

#include "base/error.hpp"
#include "base/ranks.hpp"

namespace syncyte::mpi {
namespace {

constexpr std::int64_t pause_ns = 20'000'000;

struct death_table {
  std::mutex mutex;
  std::set<int> ranks;

  std::mutex watch_mutex;
  process_watch watched;  // guarded by watch_mutex
  std::atomic<std::int64_t> next_look_ns{0};
};

death_table& deaths = *new death_table;  // leaked: threads may look while static objects are destroyed

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

void declare_dead(int world_rank) {
  const std::lock_guard lock(deaths.mutex);
  if (deaths.ranks.insert(world_rank).second) ++death_count;
}

bool is_dead(int world_rank) {
  if (!knows_death()) return false;
  const std::lock_guard lock(deaths.mutex);
  return deaths.ranks.contains(world_rank);
}

std::vector<int> dead_ranks() {
  const std::lock_guard lock(deaths.mutex);
  return {deaths.ranks.begin(), deaths.ranks.end()};
}

void fail_by_death() {
  const std::vector<int> ranks = dead_ranks();
  const bool is_one = ranks.size() == 1;
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.rank = ranks.front()},
               fmt::format("{} of the world {} died or cannot be reached any more, and MPI cannot be used without {}",
                           base::ranks_text(ranks), is_one ? "has" : "have", is_one ? "it" : "them"));
}

void watch_processes(const std::vector<rank_process>& processes) {
  const std::lock_guard lock(deaths.watch_mutex);
  deaths.watched.add(processes);
}

void stop_watching_processes() {
  const std::lock_guard lock(deaths.watch_mutex);
  deaths.watched = {};
}

void stop_looking_for_deaths() noexcept { deaths.next_look_ns = std::numeric_limits<std::int64_t>::max(); }

void look_for_deaths_now() noexcept {
  const std::unique_lock lock(deaths.watch_mutex, std::try_to_lock);  // otherwise another thread does it
  if (!lock.owns_lock() || deaths.watched.is_empty()) return;
  try {
    for (const int world_rank : deaths.watched.take_ended()) declare_dead(world_rank);
  } catch (...) {  // out of memory: perhaps not the next time
  }
}

void look_for_deaths() noexcept {
  std::int64_t next = deaths.next_look_ns.load(std::memory_order_relaxed);
  const std::int64_t now = now_ns();
  if (now < next || !deaths.next_look_ns.compare_exchange_strong(next, now + pause_ns)) return;
  look_for_deaths_now();
}

}  // namespace syncyte::mpi
