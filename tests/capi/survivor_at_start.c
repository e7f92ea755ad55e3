/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on several hosts that have no windows, tensors or stores: with SYNCYTE_FABRIC=start on one of them, all find
 * the death of rank 1. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "syncyte.h"

int main(void) {
  syncyte_comm_t world = NULL;
  int32_t rank = 0;
  syncyte_init(NULL);
  syncyte_comm_world(&world);
  syncyte_comm_rank(world, &rank);
  syncyte_comm_barrier(world);
  if (rank == 1) kill(getpid(), SIGKILL);
  const syncyte_status_t status = syncyte_comm_barrier(world);
  const int is_named = strstr(syncyte_last_error(), "rank 1") != NULL;
  printf("rank %d survives: %s, %s, ", rank, syncyte_status_name(status), is_named ? "named" : "not named");
  printf("then %s\n", syncyte_status_name(syncyte_finalize()));
  fflush(stdout);
  _exit(0); /* MPI is not finalized; its exit handlers might wait */
}
