// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/group.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "comm/node_memory.hpp"
#include "fabric/process_engine.hpp"
#include "mpi/process.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::fabric {
namespace {

/// Groups by their communicator's id.
struct group_table {
  std::mutex mutex;
  std::map<std::uint64_t, std::shared_ptr<group>> groups;
};

group_table& table = *new group_table;  // leaked: communicators may be freed while static objects are destroyed

/// Whether all ranks have an engine and the same format of messages.
bool all_have_engine(const engine* mine, const comm::communicator& comm) {
  const std::uint64_t version = mine == nullptr ? 0 : wire_version;
  std::uint64_t bounds[2] = {version, ~version};
  mpi::allreduce(bounds, MPI_MIN, comm.data());
  return bounds[0] != 0 && bounds[0] == ~bounds[1];
}

/// Collective: the processes of all ranks, and the addresses of their engines. Null without an engine.
std::shared_ptr<const process_table> exchange_addresses(comm::collective_call& call, const engine* mine) {
  if (mine == nullptr) return nullptr;
  const comm::communicator& comm = call.comm();
  const std::string address = mine->address();
  const std::size_t longest = mpi::allreduce(address.size(), MPI_MAX, comm.data());
  const process_entry entry{mine->process(), mine->key(), comm.world_rank(comm.rank()), 0};
  const std::vector<std::byte> packed = process_table::pack(entry, address, longest);
  const std::vector<std::byte> gathered = mpi::allgather(std::span(packed), comm.data());
  auto shared = comm::share_table(call, std::span(gathered), "addresses of the fabric");
  return std::make_shared<const process_table>(std::move(shared), packed.size(), static_cast<std::size_t>(comm.size()));
}

}  // namespace

group::group(comm::collective_call& call, engine* through)
    : members(through, exchange_addresses(call, through), call.comm().name()), communicator_(call.comm().id()) {
  if (through == nullptr) return;
  through->add_ring(communicator_, processes());
  watch_node(call.comm().node());
}

/// The kernel tells when processes of this node end. With many ranks, each watches only the next ones, which bounds the
/// number of descriptors; the news is passed on.
void group::watch_node(const topology::node_group& node) {
  constexpr int most = 32;
  for (int distance = 1; distance <= std::min(node.size - 1, most); ++distance) {
    const auto place = static_cast<std::size_t>((node.rank + distance) % node.size);
    if (auto end = mpi::open_process(node.processes[place]))
      through().watch_end(at(node.members[place]), std::move(end));
  }
}

std::shared_ptr<group> group::of(comm::collective_call& call) {
  comm::communicator& comm = call.comm();
  std::shared_ptr<group>* kept = nullptr;
  {
    const std::lock_guard lock(table.mutex);
    kept = &table.groups[comm.id()];  // no other thread uses this communicator now
  }
  if (*kept == nullptr) {
    *kept = make(call);
    comm.deferred().add(*kept);
  }
  return (*kept)->has_engine() ? *kept : nullptr;
}

void group::open_at_start(comm::communicator& world) {
  if (world.node().count == 1) return;
  comm::collective_call call(world, "init", comm::collective_call::always_agrees);
  call.agree();
  if (mpi::allreduce(std::uint64_t{opens_at_start()}, MPI_MAX, world.data()) != 0) of(call);
}

std::shared_ptr<group> group::make(comm::collective_call& call) {
  const comm::communicator& comm = call.comm();
  std::string reason;
  engine* const mine = process_engine(reason);
  const bool is_usable = all_have_engine(mine, comm);
  if (is_usable)
    base::log(SYNCYTE_LOG_INFO, "{} uses the fabric", comm.name());
  else
    base::log(mine == nullptr && !is_off() ? SYNCYTE_LOG_WARN : SYNCYTE_LOG_INFO, "{} does not use the fabric: {}",
              comm.name(), reason_for_none());
  return std::shared_ptr<group>(new group(call, is_usable ? mine : nullptr));
}

object_name group::add_object(comm::collective_call& call, std::shared_ptr<target> object) {
  const object_name name{communicator_, ++objects_};
  through().targets().add(name, std::move(object));
  try {
    call.agree();
  } catch (...) {
    through().targets().remove(name);
    throw;
  }
  return name;
}

void group::free_collectively() noexcept {
  if (has_engine()) through().remove_ring(communicator_);
  const std::lock_guard lock(table.mutex);
  table.groups.erase(communicator_);
}

}  // namespace syncyte::fabric
