// SPDX-License-Identifier: BSD-3-Clause
#include "kv/open_spread_table.hpp"

#include <optional>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "comm/node_memory.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::kv {
namespace {

/// Collective: the rank of each node's agent, its lowest one.
std::vector<int> find_agents(const comm::communicator& comm) {
  const std::vector<int> nodes = mpi::allgather(comm.node().index, comm.data());
  std::vector<int> result(static_cast<std::size_t>(comm.node().count), -1);
  for (std::size_t rank = 0; rank < nodes.size(); ++rank)
    if (int& agent = result[static_cast<std::size_t>(nodes[rank])]; agent < 0) agent = static_cast<int>(rank);
  return result;
}

/// The memory of the tables and the memory for other nodes' keys.
struct kept_memory {
  std::shared_ptr<void> tables, held = nullptr, notes = nullptr;
};

/// Memory for what workers tell the homes of their node: changed_keys, and window_counts behind.
void add_notes(comm::collective_call& call, const key_homes& homes, const std::string& name, kept_memory& kept,
               spread_table::moves& to) {
  const comm::communicator& comm = call.comm();
  const std::int64_t own = homes.slots(comm.rank()).count;
  const std::size_t bytes = changed_keys::memory_bytes(own) + static_cast<std::size_t>(own) * sizeof(std::uint32_t);
  const auto memory = comm::node_memory::allocate(call, bytes, name.c_str(), {}, false);
  kept.notes = memory;
  for (int place = 0; place < comm.node().size; ++place) {
    const key_range slots = homes.slots(comm.node().members[static_cast<std::size_t>(place)]);
    std::byte* const part = memory->part(place).data();
    to.changed.emplace_back(reinterpret_cast<std::uint64_t*>(part), slots);
    to.windows.emplace_back(reinterpret_cast<std::uint32_t*>(part + changed_keys::memory_bytes(slots.count)),
                            slots.first);
  }
}

spread_table::moves make_moves(comm::collective_call& call, const key_layout& layout, const key_homes& homes,
                               const move_options& options, const key_locks::process& self, kept_memory& kept) {
  const comm::communicator& comm = call.comm();
  const topology::node_group& node = comm.node();
  auto budget = static_cast<std::uint64_t>(options.foreign_bytes) / 64 * 64;
  mpi::bcast(budget, 0, node.comm);  // all ranks of the node see the same records
  const std::size_t bytes = node.rank == 0 ? held_keys::memory_bytes(budget, layout) : 0;
  const std::string name = self.name + " (foreign_bytes)";
  const auto records = comm::node_memory::allocate(call, bytes, name.c_str(), {}, false);
  kept.held = records;
  spread_table::moves result{.held = std::make_shared<held_keys>(layout, records->all().data(), budget, self),
                             .agents = comm::share_table<int>(call, find_agents(comm), self.name.c_str()),
                             .effect = options.effect,
                             .store = self.name};
  add_notes(call, homes, self.name, kept, result);
  return result;
}

}  // namespace

/// With keys that move there are two objects, and each has to know the other's name.
std::unique_ptr<spread_table> open_spread_table(comm::collective_call& call, std::shared_ptr<fabric::group> ranks,
                                                std::shared_ptr<const key_homes> homes, std::vector<table> tables,
                                                std::shared_ptr<void> memory, const move_options& options,
                                                const key_locks::process& self) {
  const comm::communicator& comm = call.comm();
  const auto kept = std::make_shared<kept_memory>(kept_memory{std::move(memory)});
  const bool can_move = options.foreign_bytes >= 0 && ranks->through().reserve_caller();
  if (options.foreign_bytes >= 0 && !can_move)
    base::log(SYNCYTE_LOG_WARN,
              "keys of {} stay at their homes: the transport has no memory for the messages that move them", self.name);
  std::optional<spread_table::moves> moving;
  if (mpi::allreduce(std::uint64_t{can_move}, MPI_MIN, comm.data()) != 0)
    moving = make_moves(call, tables.front().layout(), *homes, options, self, *kept);
  const bool moves = moving.has_value();
  const spread_table::object_names objects{ranks->next_name(0), ranks->next_name(1)};
  auto result = std::make_unique<spread_table>(ranks, comm.node(), comm.rank(), std::move(homes), std::move(tables),
                                               objects, std::move(moving));
  ranks->add_object(call, result->make_home(kept));
  if (!moves) return result;
  try {
    ranks->add_object(call, result->make_agent(kept));
  } catch (...) {
    ranks->through().targets().remove(objects.homes);
    throw;
  }
  return result;
}

}  // namespace syncyte::kv
