// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace syncyte::mpi {
namespace {

constexpr auto read_pause = std::chrono::milliseconds(100);

std::size_t most_descriptors() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur / 4 : 0;
}

memory::descriptor open_spare() { return memory::descriptor(::open("/", O_PATH | O_CLOEXEC)); }

}  // namespace

void process_watch::add(const std::vector<rank_process>& processes) {
  for (const rank_process& each : processes)
    if (each.process.pid != 0) new_.push_back(each);
  if (!spare_ && !is_empty()) spare_ = open_spare();
}

std::vector<int> process_watch::take_ended() {
  open_new();
  std::vector<int> ended;
  if (!poll_opened(ended)) {
    for (const opened_process& each : opened_) read_.push_back(each.rank);
    opened_.clear();
  }
  read_states(ended);
  const auto has_ended = [&](const rank_process& each) { return std::ranges::count(ended, each.world_rank) > 0; };
  std::erase_if(opened_, [&](const opened_process& each) { return has_ended(each.rank); });
  std::erase_if(read_, has_ended);
  return ended;
}

void process_watch::open_new() {
  const std::size_t most = new_.empty() ? 0 : most_descriptors();
  for (; !new_.empty(); new_.pop_back()) {
    const rank_process& each = new_.back();
    memory::descriptor end = opened_.size() < most ? open_process(each.process) : memory::descriptor();
    if (end)
      opened_.push_back({each, std::move(end)});
    else
      read_.push_back(each);
  }
}

/// The descriptor of a process can be read once the process has ended. False: the system does not tell, because it
/// polls no more descriptors than RLIMIT_NOFILE, which has been lowered.
bool process_watch::poll_opened(std::vector<int>& ended) const {
  std::vector<pollfd> polled;
  for (const opened_process& each : opened_)
    polled.push_back({.fd = each.end.number(), .events = POLLIN, .revents = 0});
  const int found = ::poll(polled.data(), polled.size(), 0);
  for (std::size_t place = 0; place < polled.size(); ++place)
    if ((polled[place].revents & POLLIN) != 0) ended.push_back(opened_[place].rank.world_rank);
  return found >= 0 || errno != EINVAL;
}

void process_watch::read_states(std::vector<int>& ended) {
  const auto now = std::chrono::steady_clock::now();
  if (read_.empty() || now < next_read_) return;
  next_read_ = now + read_pause;
  spare_.close();
  for (const rank_process& each : read_)
    if (!is_alive(each.process)) ended.push_back(each.world_rank);
  spare_ = open_spare();
}

}  // namespace syncyte::mpi
