#include "comm/departures.hpp"

#include <fmt/format.h>

#include "watchdog/board.hpp"

namespace syncyte::comm {
namespace {

/// The longest time that a message needs that a rank sent before it was marked; a rank in finalize drives MPI.
constexpr std::int64_t grace_period_ns = 500'000'000;

}  // namespace

void mark_departed() noexcept {
  if (const watchdog::board* const board = watchdog::published.load()) board->mine().departed_ns = watchdog::now_ns();
}

bool has_departed(const communicator& comm, int rank) {
  const watchdog::board* const board = watchdog::published;
  if (board == nullptr) return false;
  const watchdog::rank_record* const record = board->find(comm.world_rank(rank));
  if (record == nullptr) return false;
  const std::int64_t since = record->departed_ns;
  return since != 0 && watchdog::now_ns() - since > grace_period_ns;
}

int first_departed(const communicator& comm) {
  for (int rank = 0; rank < comm.size(); ++rank)
    if (rank != comm.rank() && has_departed(comm, rank)) return rank;
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
