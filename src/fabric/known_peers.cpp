// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/known_peers.hpp"

#include <utility>

#include "mpi/deaths.hpp"

namespace syncyte::fabric {

void known_peers::add(std::uint64_t communicator, std::shared_ptr<const process_table> members) {
  const std::lock_guard lock(mutex_);
  tables_.insert_or_assign(communicator, std::move(members));
}

void known_peers::remove(std::uint64_t communicator) {
  const std::lock_guard lock(mutex_);
  tables_.erase(communicator);
}

peer& known_peers::at(const process_table& members, std::size_t rank) {
  const std::lock_guard lock(mutex_);
  return peers_.try_emplace(members.at(rank).process, members, rank).first->second;
}

peer* known_peers::find(std::uint64_t process) {
  const std::lock_guard lock(mutex_);
  if (const auto found = peers_.find(process); found != peers_.end()) return &found->second;
  for (const auto& [communicator, members] : tables_)
    for (std::size_t rank = 0; rank < members->ranks(); ++rank)
      if (members->at(rank).process == process) return &peers_.try_emplace(process, *members, rank).first->second;
  return nullptr;
}

std::vector<std::uint64_t> known_peers::dead() const {
  std::vector<std::uint64_t> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [communicator, members] : tables_)
    for (std::size_t rank = 0; rank < members->ranks(); ++rank)
      if (mpi::is_dead(members->at(rank).world_rank)) found.push_back(members->at(rank).process);
  return found;
}

}  // namespace syncyte::fabric
