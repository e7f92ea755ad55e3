// SPDX-License-Identifier: BSD-3-Clause
#include "comm/departures.hpp"

#include <fmt/format.h>

#include "watchdog/board.hpp"

namespace syncyte::comm {
namespace {

/// Within this time a message arrives that a rank sent before it was marked: a rank in finalize drives MPI.
constexpr std::int64_t grace_period_ns = 500'000'000;

/// The record is null for a rank of another node.
bool has_departed(const watchdog::rank_record* record) {
  const std::int64_t since = record == nullptr ? 0 : record->departed_ns.load();
  return since != 0 && watchdog::now_ns() - since > grace_period_ns;
}

}  // namespace

void mark_departed() noexcept {
  if (const watchdog::board* const board = watchdog::published.load()) board->mine().departed_ns = watchdog::now_ns();
}

bool has_departed(const communicator& comm, int rank) {
  const watchdog::board* const board = watchdog::published;
  return board != nullptr && has_departed(board->find(comm.world_rank(rank)));
}

bool has_departed() {
  const watchdog::board* const board = watchdog::published;
  return board != nullptr && has_departed(&board->mine());
}

/// Asks has_departed() first: a rank that does its part and departs between the two questions is not awaited.
int first_departed(const communicator& comm, const std::function<bool(int)>& is_awaited) {
  for (int rank = 0; rank < comm.size(); ++rank)
    if (rank != comm.rank() && has_departed(comm, rank) && (!is_awaited || is_awaited(rank))) return rank;
  return -1;
}

bool is_world(const communicator& comm) {
  const watchdog::board* const board = watchdog::published;
  return board != nullptr && board->world_id() == comm.id();
}

agreed_error departed_error(const communicator& comm, int rank, const char* operation) {
  return agreed_error(SYNCYTE_ERR_MISMATCH,
                      fmt::format("{} on rank {} of {}: rank {} (rank {} of the world) has come to finalize, and takes "
                                  "part in nothing else any more",
                                  operation, comm.rank(), comm.name(), rank, comm.world_rank(rank)));
}

}  // namespace syncyte::comm
