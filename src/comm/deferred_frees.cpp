// SPDX-License-Identifier: BSD-3-Clause
#include "comm/deferred_frees.hpp"

#include <algorithm>
#include <utility>

#include "mpi/small_collectives.hpp"

namespace syncyte::comm {

std::uint64_t deferred_frees::add(std::shared_ptr<collective_resource> resource) {
  const std::lock_guard lock(mutex_);
  entries_.emplace(next_id_, entry{std::move(resource)});
  return next_id_++;
}

void deferred_frees::drop(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.is_dropped) return;
  found->second.is_dropped = true;
  ++pending_;
}

std::vector<std::uint64_t> deferred_frees::dropped_ids() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> ids;
  for (const auto& [id, held] : entries_)
    if (held.is_dropped) ids.push_back(id);
  return ids;
}

void deferred_frees::collect(MPI_Comm comm) {
  // Rank 0 offers what it has dropped to all; each rank says which of these it has dropped too. O(ids) bytes per rank.
  std::vector<std::uint64_t> offered = dropped_ids();
  std::uint64_t count = offered.size();
  mpi::bcast(count, 0, comm);
  if (count == 0) return;
  const std::vector<std::uint64_t> mine = offered;
  offered.resize(count);
  mpi::bcast(std::span(offered), 0, comm);
  std::vector<std::uint64_t> agreed(count);
  for (std::size_t i = 0; i < count; ++i) agreed[i] = std::ranges::binary_search(mine, offered[i]);
  mpi::allreduce(agreed, MPI_MIN, comm);
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < count; ++i)
    if (agreed[i] != 0) ids.push_back(offered[i]);
  free_ids(ids);
}

void deferred_frees::free_ids(const std::vector<std::uint64_t>& ids) {
  for (const auto id : ids) {
    std::shared_ptr<collective_resource> resource;
    {
      const std::lock_guard lock(mutex_);
      const auto found = entries_.find(id);
      resource = std::move(found->second.resource);
      pending_ -= found->second.is_dropped;
      entries_.erase(found);
    }
    resource->free_collectively();  // without the lock: it may drop resources of its own
  }
}

void deferred_frees::free_all() {
  std::vector<std::uint64_t> ids;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, held] : entries_) ids.push_back(id);
  }
  free_ids(ids);
}

}  // namespace syncyte::comm
