/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank takes rank 0's lock, shared, and never releases it. The others wait until the watchdog ends the job. */
#include "../support/waiting.h"

int main(void) {
  int32_t rank = 0;
  int32_t size = 0;
  syncyte_comm_t world = start_world(&rank, &size);
  syncyte_window_t window = make_held_window(world, rank == size - 1);
  if (rank == size - 1) {
    sleep_for(25.0);
  } else {
    syncyte_window_lock(window, 0, SYNCYTE_LOCK_EXCLUSIVE);
  }
  return 0;
}
