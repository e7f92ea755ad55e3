/* SPDX-License-Identifier: BSD-3-Clause */
/* A wait for a counter may take longer than the watchdog's limit; a report about a hang contains it. */
#include <stdio.h>

#include "../support/waiting.h"

int main(void) {
  int64_t seen = 0;
  int32_t rank = 0;
  int32_t size = 0;
  syncyte_comm_t world = start_world(&rank, &size);
  syncyte_tensor_t flag = make_flag(world);
  if (rank == 0) {
    if (syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_EQ, 1, 3.0, &seen) == SYNCYTE_ERR_TIMEOUT) puts("waited in peace");
    fflush(stdout);
    syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_EQ, 1, -1.0, &seen);
  } else {
    sleep_for(3.5);
  }
  syncyte_comm_barrier(world);
  return 0;
}
