#include "topology/process_watch.hpp"

#include <poll.h>

#include <chrono>
#include <mutex>

#include "memory/descriptor.hpp"
#include "mpi/deaths.hpp"

namespace syncyte::topology {
namespace {

constexpr auto file_pause = std::chrono::milliseconds(100);

/// A process and its end; without a descriptor /proc is read.
struct watched_process {
  rank_process rank;
  memory::descriptor end{};
};

struct watched_processes {
  std::mutex mutex;
  std::vector<watched_process> all;
  std::vector<pollfd> polled;  // an entry for each process, once they are open
  std::chrono::steady_clock::time_point next_read{};
};

watched_processes& watched = *new watched_processes;  // leaked: threads may wait while static objects are destroyed

/// Forgets the processes for which has_ended(place) holds, and declares their ranks dead.
template <class Question>
void take_out_if(Question&& has_ended) {
  for (std::size_t place = watched.all.size(); place-- > 0;) {
    if (!has_ended(place)) continue;
    const int world_rank = watched.all[place].rank.world_rank;
    watched.all.erase(watched.all.begin() + static_cast<std::ptrdiff_t>(place));
    watched.polled.erase(watched.polled.begin() + static_cast<std::ptrdiff_t>(place));
    mpi::declare_dead(world_rank);
  }
}

/// Whether a process without a descriptor has ended.
bool has_ended_unseen(std::size_t place) {
  return !watched.all[place].end && !is_alive(watched.all[place].rank.process);
}

void open_all() {
  for (watched_process& each : watched.all) {
    each.end = open_process(each.rank.process);
    watched.polled.push_back({.fd = each.end.number(), .events = POLLIN, .revents = 0});
  }
}

/// The descriptor of a process can be read once the process has ended.
void search() noexcept {
  const std::unique_lock lock(watched.mutex, std::try_to_lock);  // otherwise another thread does it
  if (!lock.owns_lock() || watched.all.empty()) return;
  try {
    if (watched.polled.empty()) open_all();
    if (::poll(watched.polled.data(), watched.polled.size(), 0) > 0)
      take_out_if([](std::size_t place) { return (watched.polled[place].revents & POLLIN) != 0; });
    const auto now = std::chrono::steady_clock::now();
    if (now < watched.next_read) return;
    watched.next_read = now + file_pause;
    take_out_if(has_ended_unseen);
  } catch (...) {  // out of memory: perhaps not the next time
    watched.polled.clear();
  }
}

}  // namespace

void watch_processes(const std::vector<rank_process>& processes) {
  const std::lock_guard lock(watched.mutex);
  for (const rank_process& each : processes)
    if (each.process.pid != 0) watched.all.push_back({each});
  mpi::find_deaths_by(search);
}

void stop_watching_processes() {
  mpi::find_deaths_by(nullptr);
  const std::lock_guard lock(watched.mutex);
  watched.polled.clear();
  watched.all.clear();
}

}  // namespace syncyte::topology
