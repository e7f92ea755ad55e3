// SPDX-License-Identifier: BSD-3-Clause
#include "topology/node_group.hpp"

#include <algorithm>
#include <map>

#include "base/log.hpp"
#include "mpi/communicators.hpp"
#include "mpi/deaths.hpp"
#include "mpi/small_collectives.hpp"
#include "topology/shared_attempt.hpp"

namespace syncyte::topology {
namespace {

/// The result of a probe of one way to share.
struct sharing_probe {
  memory::sharing method = memory::sharing::none;
  int successes = 0;
  bool is_attached = false;
};

/// The ways that SYNCYTE_SHM leaves on all ranks, in the order of this rank's list: no rank tries one alone.
std::vector<memory::sharing> common_candidates(MPI_Comm candidate) {
  const auto bit_of = [](memory::sharing method) { return std::uint32_t{1} << static_cast<int>(method); };
  std::vector<memory::sharing> methods = memory::sharing_candidates();
  std::uint32_t allowed = 0;
  for (const auto method : methods)
    if (method != memory::sharing::none) allowed |= bit_of(method);
  allowed = mpi::allreduce(allowed, MPI_BAND, candidate);
  std::erase_if(methods, [&](memory::sharing method) { return (allowed & bit_of(method)) == 0; });
  return methods;
}

/// Tries the ways in order until one works for all of the candidate's ranks; if none does, returns the one that worked
/// for most.
sharing_probe probe_sharing(MPI_Comm candidate) {
  const int size = mpi::size_of(candidate);
  sharing_probe best;
  const std::vector<memory::sharing> candidates = common_candidates(candidate);
  const bool is_chosen = candidates.size() == 1;  // by SYNCYTE_SHM
  for (const auto method : candidates) {
    const shared_attempt attempt = share_segment(candidate, 4096, method);
    if (attempt.successes > best.successes) best = {method, attempt.successes, static_cast<bool>(attempt.segment)};
    if (best.successes == size) break;
    if (attempt.error)
      base::log(is_chosen || attempt.error->status() == SYNCYTE_ERR_LIMIT ? SYNCYTE_LOG_WARN : SYNCYTE_LOG_INFO,
                "sharing memory by {} does not work here: {}", memory::sharing_name(method), attempt.error->what());
  }
  return best;
}

/// Keeps `candidate`, the ranks of this host, if any host is more than one node; frees it otherwise.
void keep_host(MPI_Comm comm, int rank, MPI_Comm candidate, bool is_divided, node_group& group) {
  if (!mpi::allreduce(is_divided, MPI_MAX, comm)) return mpi::free(candidate);
  group.host = candidate;
  group.host_number = rank;
  mpi::bcast(group.host_number, 0, candidate);
}

/// Finds the ranks of a host that share memory: they attached in a trial. Other ranks are nodes of their own.
void find_by_trying(MPI_Comm comm, int rank, node_group& group) {
  const MPI_Comm candidate = mpi::split_shared(comm, rank);
  const int candidate_size = mpi::size_of(candidate);
  const sharing_probe probe = candidate_size > 1 ? probe_sharing(candidate) : sharing_probe{};
  group.comm = mpi::split(candidate, probe.is_attached ? 0 : 1 + rank, rank);
  group.method = probe.is_attached ? probe.method : memory::sharing::none;
  keep_host(comm, rank, candidate, candidate_size > 1 && probe.successes < candidate_size, group);
}

/// The part of the parent's group that is in `comm`.
void inherit(MPI_Comm comm, int rank, const node_group& parent, node_group& group) {
  group.comm = mpi::split(comm, parent.index, rank);
  group.method = parent.method;
  group.host_number = parent.host_number;
  if (parent.host != MPI_COMM_NULL) group.host = mpi::split(comm, parent.host_number, rank);
}

void number_nodes(MPI_Comm comm, node_group& group) {
  const std::vector<int> leaders = mpi::allgather(group.members.front(), comm);
  std::map<int, int> numbers;
  for (const int leader : leaders) numbers[leader] = 0;
  group.count = 0;
  for (auto& [leader, number] : numbers) number = group.count++;
  group.index = numbers[group.members.front()];
}

void exchange_processes(node_group& group) {
  group.processes = mpi::allgather(mpi::this_process(), group.comm);
  // In another PID namespace the same number names another process, so that rank's process is unknown.
  for (auto& process : group.processes)
    if (!is_alive(process)) process = {};
}

}  // namespace

int node_group::find_node_rank(int comm_rank) const {
  const auto found = std::lower_bound(members.begin(), members.end(), comm_rank);
  return found != members.end() && *found == comm_rank ? static_cast<int>(found - members.begin()) : -1;
}

bool node_group::is_alive(int node_rank) const {
  const auto place = static_cast<std::size_t>(node_rank);
  return topology::is_alive(world_ranks[place], processes[place]);
}

bool is_alive(int world_rank, const mpi::process_id& process) {
  return !mpi::is_dead(world_rank) && (process.pid == 0 || is_alive(process));
}

node_group find_node_group(MPI_Comm comm, const node_group* inherited) {
  const int rank = mpi::rank_in(comm);
  node_group group;
  if (inherited != nullptr)
    inherit(comm, rank, *inherited, group);
  else
    find_by_trying(comm, rank, group);
  group.rank = mpi::rank_in(group.comm);
  group.size = mpi::size_of(group.comm);
  group.members = mpi::allgather(rank, group.comm);
  group.world_ranks = mpi::world_ranks(group.comm);
  number_nodes(comm, group);
  exchange_processes(group);
  return group;
}

}  // namespace syncyte::topology
