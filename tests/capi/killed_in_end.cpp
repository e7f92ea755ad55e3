// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 is killed when all ranks have come to the end, while they close what is between them: where it enters the
// end's second barrier. The others end alone. Run by mpirun --enable-recovery.

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

#include "lifecycle/lifecycle.hpp"
#include "runtime/roots.hpp"

namespace {

bool is_killed_in_barriers = false;
int barriers = 0;

}  // namespace

/// In the place of MPI's own function: its profiling interface has the function under another name.
extern "C" int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  if (is_killed_in_barriers && ++barriers == 2) std::raise(SIGKILL);
  return PMPI_Ibarrier(comm, request);
}

int main() {
  using namespace syncyte;
  using clock = std::chrono::steady_clock;
  lifecycle::start(3);
  const int rank = runtime::world()->rank();
  is_killed_in_barriers = rank == 1;
  const auto begin = clock::now();
  lifecycle::finish();
  const bool is_late = clock::now() - begin > std::chrono::seconds(10);
  std::printf("rank %d ends: %s\n", rank, is_late ? "late" : "in time");
  std::fflush(stdout);
  ::_exit(0);  // without MPI_Finalize
}
