#include "topology/process_watch.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <mutex>

#include "mpi/deaths.hpp"

namespace syncyte::topology {
namespace {

constexpr auto file_pause = std::chrono::milliseconds(100);

/// `polled` has an entry for each process; a descriptor of -1 means that /proc is read.
struct watched_processes {
  std::mutex mutex;
  std::vector<rank_process> ranks;
  std::vector<pollfd> polled;
  std::chrono::steady_clock::time_point next_read{};
};

watched_processes& watched = *new watched_processes;  // leaked: threads may wait while static objects are destroyed

int open_process(const process_id& process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process.pid), 0));
#else
  return static_cast<void>(process), -1;
#endif
}

void close_all() {
  for (const pollfd& each : watched.polled)
    if (each.fd >= 0) ::close(each.fd);
  watched.polled.clear();
}

/// Forgets a process and declares its rank dead.
void take_out(std::size_t place) {
  const int world_rank = watched.ranks[place].world_rank;
  if (watched.polled[place].fd >= 0) ::close(watched.polled[place].fd);
  watched.ranks.erase(watched.ranks.begin() + static_cast<std::ptrdiff_t>(place));
  watched.polled.erase(watched.polled.begin() + static_cast<std::ptrdiff_t>(place));
  mpi::declare_dead(world_rank);
}

/// Takes out all for which has_ended(place) holds.
template <class Question>
void take_out_if(Question&& has_ended) {
  for (std::size_t place = watched.ranks.size(); place-- > 0;)
    if (has_ended(place)) take_out(place);
}

/// A descriptor is of the process that has the pid now, which may be a later one.
void open_all() {
  for (const rank_process& each : watched.ranks)
    watched.polled.push_back({.fd = open_process(each.process), .events = POLLIN, .revents = 0});
  take_out_if([](std::size_t place) { return !is_alive(watched.ranks[place].process); });
}

/// The descriptor of a process can be read once the process has ended.
void search() noexcept {
  const std::unique_lock lock(watched.mutex, std::try_to_lock);  // otherwise another thread does it
  if (!lock.owns_lock() || watched.ranks.empty()) return;
  try {
    if (watched.polled.empty()) open_all();
    if (::poll(watched.polled.data(), watched.polled.size(), 0) > 0)
      take_out_if([](std::size_t place) { return (watched.polled[place].revents & POLLIN) != 0; });
    if (const auto now = std::chrono::steady_clock::now(); now >= watched.next_read) {
      watched.next_read = now + file_pause;
      take_out_if(
          [](std::size_t place) { return watched.polled[place].fd < 0 && !is_alive(watched.ranks[place].process); });
    }
  } catch (...) {  // out of memory: perhaps not the next time
    close_all();
  }
}

}  // namespace

void watch_processes(const std::vector<rank_process>& processes) {
  const std::lock_guard lock(watched.mutex);
  for (const rank_process& each : processes)
    if (each.process.pid != 0) watched.ranks.push_back(each);
  mpi::find_deaths_by(search);
}

void stop_watching_processes() {
  mpi::find_deaths_by(nullptr);
  const std::lock_guard lock(watched.mutex);
  close_all();
  watched.ranks.clear();
}

}  // namespace syncyte::topology
