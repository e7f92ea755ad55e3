#include "mpi/deaths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <mutex>
#include <set>

#include "base/error.hpp"

namespace syncyte::mpi {
namespace {

struct known_deaths {
  std::mutex mutex;
  std::set<int> ranks;
  std::atomic<bool> any{false};
  std::atomic<void (*)(int) noexcept> listener{nullptr};
};

known_deaths& deaths = *new known_deaths;  // leaked: threads may look while static objects are destroyed

}  // namespace

void declare_dead(int world_rank) {
  {
    const std::lock_guard lock(deaths.mutex);
    if (!deaths.ranks.insert(world_rank).second) return;
    deaths.any = true;
  }
  if (const auto listener = deaths.listener.load()) listener(world_rank);
}

bool is_dead(int world_rank) {
  if (!knows_death()) return false;
  const std::lock_guard lock(deaths.mutex);
  return deaths.ranks.contains(world_rank);
}

bool knows_death() { return deaths.any.load(std::memory_order_relaxed); }

void require_no_death(const char* operation) {
  if (!knows_death()) [[likely]]
    return;
  const std::lock_guard lock(deaths.mutex);
  const bool is_one = deaths.ranks.size() == 1;
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.rank = *deaths.ranks.begin()},
               fmt::format("{}: rank{} {} of the world {} died or cannot be reached any more, and MPI cannot be used "
                           "without {}",
                           operation, is_one ? "" : "s", fmt::join(deaths.ranks, ", "), is_one ? "has" : "have",
                           is_one ? "it" : "them"));
}

void call_on_death(void (*listener)(int world_rank) noexcept) { deaths.listener = listener; }

}  // namespace syncyte::mpi
