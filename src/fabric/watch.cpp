// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/watch.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace syncyte::fabric {
namespace {

/// Heartbeats to a neighbour within one deadline.
constexpr int heartbeats = 8;
/// Stands in a heartbeat in place of a dead process's number.
constexpr std::uint64_t nobody = 0;

}  // namespace

void watch::close() {
  links_.clear();
  broken_.clear();
}

void watch::add_ring(std::uint64_t communicator, std::shared_ptr<const process_table> members) {
  std::size_t self = 0;
  while (members->at(self).process != process_) ++self;
  const std::lock_guard lock(mutex_);
  rings_.insert_or_assign(communicator, ring{std::move(members), self});
}

void watch::remove_ring(std::uint64_t communicator) {
  const std::lock_guard lock(mutex_);
  rings_.erase(communicator);
}

void watch::report(std::uint64_t process) {
  const std::lock_guard lock(mutex_);
  news_.push_back(process);
}

void watch::on_message(const message_header& header, std::span<const std::byte>) {
  if (const std::uint64_t dead = header.arguments[0]; dead != nobody && dead != process_) declare_dead_(dead);
  for (auto& [neighbour, heard] : heard_)
    if (neighbour->process == header.sender) heard = now();
}

/// The next message to that process makes another link.
void watch::on_broken(std::uint64_t tag) {
  const auto found = links_.find(tag);
  if (found == links_.end()) return;
  broken_.push_back(std::move(found->second));
  links_.erase(found);
}

bool watch::progress(std::chrono::nanoseconds time) {
  broken_.clear();
  bool did_something = false;
  {
    const std::lock_guard lock(mutex_);
    did_something = !news_.empty();
    for (const std::uint64_t dead : std::exchange(news_, {})) {
      for (const auto& [communicator, each] : rings_) send_news(each, dead);
      links_.erase(dead);
      dead_.push_back(dead);
    }
    if (rings_.empty() && was_neighbour_.empty()) return did_something;
  }
  if (time - sent_ < limits_.deadline / heartbeats) return did_something;
  sent_ = time;
  look_at_neighbours(time);
  send_heartbeats();
  return true;
}

std::chrono::nanoseconds watch::time_left(std::chrono::nanoseconds time) {
  const std::lock_guard lock(mutex_);
  if (rings_.empty() && was_neighbour_.empty()) return std::chrono::nanoseconds(-1);
  return std::max(std::chrono::nanoseconds(0), sent_ + limits_.deadline / heartbeats - time);
}

/// The nearest living member in a direction, 1 or -1; null if there is no other.
peer* watch::neighbour(const ring& in, int step) {
  const std::size_t size = in.members->ranks();
  for (std::size_t distance = 1; distance < size; ++distance) {
    peer& member = peers_.at(*in.members, (in.self + (step > 0 ? distance : size - distance)) % size);
    if (!member.is_dead) return &member;
  }
  return nullptr;
}

void watch::send(peer& to, message_header header) {
  header.key = to.key;
  try {
    std::unique_ptr<link>& way = links_[to.process];
    if (!way) way = worker_->connect(to.address, to.process);
    way->send(std::make_shared<message>(header, 0));
  } catch (const std::runtime_error&) {  // out of descriptors: this process will be taken for dead
  }
}

void watch::send_news(const ring& to, std::uint64_t dead) {
  const std::size_t size = to.members->ranks();
  const message_header news{.sender = process_, .kind = message_kind::death, .arguments = {dead}};
  for (std::size_t distance = 1; distance < size; distance *= 2)
    for (const std::size_t place : {to.self + distance, to.self + size - distance})
      if (peer& member = peers_.at(*to.members, place % size); !member.is_dead) send(member, news);
}

void watch::send_heartbeats() {
  // After a cut, TCP tries again only after as long a time: another link is faster.
  for (const auto& [neighbour, heard] : heard_)
    if (sent_ - heard > limits_.resend) links_.erase(neighbour->process);
  for (peer* const neighbour : neighbours()) was_neighbour_[neighbour] = sent_;
  std::erase_if(was_neighbour_, [&](const auto& entry) {
    const bool is_over = sent_ - entry.second > 2 * limits_.deadline;
    if (is_over) links_.erase(entry.first->process);
    return is_over;
  });
  const std::uint64_t dead = dead_.empty() ? nobody : dead_[named_++ % dead_.size()];
  for (const auto& [neighbour, last] : was_neighbour_)
    if (!neighbour->is_dead)
      send(*neighbour, {.sender = process_, .kind = message_kind::heartbeat, .arguments = {dead}});
}

std::set<peer*> watch::neighbours() {
  std::set<peer*> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [communicator, each] : rings_)
    for (const int step : {1, -1})
      if (peer* const found_one = neighbour(each, step)) found.insert(found_one);
  return found;
}

void watch::look_at_neighbours(std::chrono::nanoseconds time) {
  const std::set<peer*> now_there = neighbours();
  std::erase_if(heard_, [&](const auto& entry) { return !now_there.contains(entry.first); });
  for (peer* const neighbour : now_there) heard_.try_emplace(neighbour, time);
  // A process that was stopped itself cannot tell how long others have been silent.
  const bool was_stopped = time - std::exchange(looked_, time) > limits_.deadline / 2;
  for (auto& [neighbour, heard] : heard_) {
    if (was_stopped) heard = time;
    if (time - heard > limits_.deadline) declare_dead_(neighbour->process);
  }
}

}  // namespace syncyte::fabric
