// SPDX-License-Identifier: BSD-3-Clause
#include "comm/dead_ranks.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/ranks.hpp"
#include "mpi/deaths.hpp"

namespace syncyte::comm {
namespace {

/// A rank's number in a communicator; -1 if it is not in it.
int rank_in(const communicator& comm, int world_rank) {
  int rank = comm.size() - 1;
  while (rank >= 0 && comm.world_rank(rank) != world_rank) --rank;
  return rank;
}

/// "rank 1 of world", "rank 0 of pair (rank 2 of the world)", "rank 3 of the world, which is not in pair".
std::string name_of(const communicator& comm, int world_rank) {
  const int rank = rank_in(comm, world_rank);
  if (rank < 0) return fmt::format("rank {} of the world, which is not in {},", world_rank, comm.name());
  const std::string name = fmt::format("rank {} of {}", rank, comm.name());
  return rank == world_rank ? name : fmt::format("{} (rank {} of the world)", name, world_rank);
}

}  // namespace

void fail_by_death(const communicator& comm) {
  const std::vector<int> dead = mpi::dead_ranks();
  std::vector<std::string> names;
  for (const int world_rank : dead) names.push_back(name_of(comm, world_rank));
  base::refuse(SYNCYTE_ERR_PEER_DIED, {.object = comm.name(), .rank = rank_in(comm, dead.front())},
               fmt::format("{} {} died or cannot be reached any more, and MPI cannot be used without {}",
                           base::listed(names), dead.size() == 1 ? "has" : "have", dead.size() == 1 ? "it" : "them"));
}

}  // namespace syncyte::comm
