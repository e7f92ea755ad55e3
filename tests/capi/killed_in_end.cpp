// Rank 1 is killed when all ranks have come to the end, while they close what is between them. The others end alone.
// Run by mpirun --enable-recovery.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

#include "comm/communicator.hpp"
#include "runtime/runtime.hpp"

int main() {
  using namespace syncyte;
  using clock = std::chrono::steady_clock;
  static int rank = 0;
  static const runtime::end_steps steps{.is_drained = []() noexcept { return true; },
                                        .all_are_here =
                                            []() noexcept {
                                              if (rank == 1) std::raise(SIGKILL);
                                            },
                                        .progress = []() noexcept {},
                                        .last = []() noexcept {}};
  runtime::start(3);
  rank = runtime::world()->rank();
  runtime::call_at_end(steps);
  const auto begin = clock::now();
  runtime::finish();
  const bool is_late = clock::now() - begin > std::chrono::seconds(10);
  std::printf("rank %d ends: %s\n", rank, is_late ? "late" : "in time");
  std::fflush(stdout);
  ::_exit(0);  // without MPI_Finalize
}
