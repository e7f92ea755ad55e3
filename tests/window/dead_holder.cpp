// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 dies while it holds the lock of rank 0's part; then rank 0 asks for the lock. Run by mpirun --enable-recovery.
// The survivor must not call MPI again, so it exits without MPI_Finalize, and its output is the verdict.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "syncyte.h"

int main() {
  syncyte_comm_t world = nullptr;
  syncyte_window_t window = nullptr;
  int32_t rank = -1;
  syncyte_init(nullptr);
  syncyte_comm_world(&world);
  syncyte_comm_rank(world, &rank);
  if (syncyte_window_create(world, 8, nullptr, &window) != SYNCYTE_SUCCESS) return 1;
  if (rank == 1) {
    syncyte_window_lock(window, 0, SYNCYTE_LOCK_EXCLUSIVE);
    syncyte_window_fence(window);
    raise(SIGKILL);
  }
  syncyte_window_fence(window);
  const syncyte_status_t exclusive = syncyte_window_lock(window, 0, SYNCYTE_LOCK_EXCLUSIVE);
  const bool is_named = std::strstr(syncyte_last_error(), "rank 1 died") != nullptr;
  const syncyte_status_t shared = syncyte_window_lock(window, 0, SYNCYTE_LOCK_SHARED);
  const syncyte_status_t free_one = syncyte_window_lock(window, 1, SYNCYTE_LOCK_EXCLUSIVE);
  std::printf("survivor: %s %s %s %s\n", syncyte_status_name(exclusive), syncyte_status_name(shared),
              syncyte_status_name(free_one), is_named ? "named" : syncyte_last_error());
  std::fflush(stdout);
  _exit(0);
}
