/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank holds a lock and waits for a counter, the others wait for the lock, until all are killed. */
#include <stdio.h>

#include "../support/waiting.h"

int main(void) {
  int64_t seen = 0;
  int32_t rank = 0;
  int32_t size = 0;
  syncyte_comm_t world = start_world(&rank, &size);
  syncyte_tensor_t flag = make_flag(world);
  syncyte_window_t window = make_held_window(world, rank == size - 1);
  puts("ready");
  fflush(stdout);
  if (rank == size - 1) syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_EQ, 1, -1.0, &seen);
  syncyte_window_lock(window, 0, SYNCYTE_LOCK_EXCLUSIVE);
  return 0;
}
