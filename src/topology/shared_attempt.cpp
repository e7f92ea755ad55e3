// SPDX-License-Identifier: BSD-3-Clause
#include "topology/shared_attempt.hpp"

#include <chrono>

#include "mpi/small_collectives.hpp"

namespace syncyte::topology {

shared_attempt share_segment(MPI_Comm node, std::size_t bytes, memory::sharing method) {
  shared_attempt result;
  const int rank = mpi::rank_in(node);
  const int size = mpi::size_of(node);
  struct {
    std::int32_t is_there = 0;
    memory::ticket ticket{};
  } offer;
  if (rank == 0)
    result.error = base::error_of([&] {
      result.segment = memory::segment::create(bytes, method);
      offer = {1, result.segment.ticket()};
    });
  mpi::bcast(offer, 0, node);
  if (rank != 0 && offer.is_there != 0)
    result.error = base::error_of([&] { result.segment = memory::segment::attach(offer.ticket); });
  // The leader serves descriptors while the others attach, and stops when all of them have succeeded or failed.
  const int mine = static_cast<bool>(result.segment);
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Iallreduce(&mine, &result.successes, 1, MPI_INT, MPI_SUM, node, &request), "MPI_Iallreduce");
  do {
    if (rank == 0 && mine != 0) result.segment.serve(size - 1, std::chrono::milliseconds(1));
    mpi::look_for_deaths();
  } while (!mpi::has_ended(request, "MPI_Iallreduce"));
  if (rank == 0 && mine != 0) result.segment.finish();
  if (rank != 0 && offer.is_there == 0)
    result.error = base::error(SYNCYTE_ERR_MEMORY, "the node's first rank could not create shared memory");
  return result;
}

}  // namespace syncyte::topology
