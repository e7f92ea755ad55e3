// SPDX-License-Identifier: BSD-3-Clause
#include "lifecycle/watched_job.hpp"

#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "comm/collective_call.hpp"
#include "comm/node_memory.hpp"
#include "mpi/small_collectives.hpp"
#include "watchdog/watchdog.hpp"

namespace syncyte::lifecycle {

using namespace comm;
namespace {

using watchdog::rank_record;

/// Called by the watchdog's thread.
void write_collectives(watchdog::collectives_writer& board) {
  const std::int64_t now = watchdog::now_ns();
  visit_communicators([&](communicator& comm) {
    board.add(comm.seen_by_watchdog(now));
    comm.starts().visit([&](pending_operation& started) {
      board.add_started(started.name(), comm.name(), started.sequence(), started.seen_since(now));
    });
  });
}

/// The records of all ranks of the node, of which this rank makes its own.
std::vector<rank_record*> begin_records(const communicator& world, const node_memory& memory) {
  std::vector<rank_record*> records;
  for (int rank = 0; rank < world.node().size; ++rank)
    records.push_back(reinterpret_cast<rank_record*>(memory.part(rank).data()));
  auto* const mine = new (memory.local().data()) rank_record{};
  mine->world_rank = world.rank();
  mine->pid = ::getpid();
  return records;
}

}  // namespace

void watch_job(communicator& world) {
  collective_call call(world, "init_watchdog", collective_call::always_agrees);
  watchdog::settings chosen;
  call.attempt([&] { chosen = watchdog::settings_of_environment(); });
  call.agree();
  // Some programs of a job may not ask for a watchdog; all ranks put themselves on the board.
  chosen.is_watched = mpi::allreduce(chosen.is_watched, MPI_MAX, world.data());
  const auto memory = node_memory::allocate(call, sizeof(rank_record), "the watchdog's board", {}, false);
  std::vector<rank_record*> records = begin_records(world, *memory);
  rank_record& mine = *records[static_cast<std::size_t>(world.node().rank)];
  call.agree();  // no rank reads the board before all have begun their records
  watchdog::board board(memory, std::move(records), {world.id(), world.size(), world.node()});
  watchdog::start(chosen, std::move(board), mine, write_collectives);
}

}  // namespace syncyte::lifecycle
