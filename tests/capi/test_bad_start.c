/* SPDX-License-Identifier: BSD-3-Clause */
/* A bad option on one rank when Syncyte initializes MPI: all ranks get the error, and a second start succeeds. */
#include <stdlib.h>

#include "expect.h"

int main(void) {
  const char* place = getenv("OMPI_COMM_WORLD_RANK");
  const syncyte_init_options_t options = {sizeof options, place == NULL || atoi(place) == 0 ? -2 : 3, 0};
  int32_t rank = 0, size = 0;
  EXPECT_ERROR(syncyte_init(&options), SYNCYTE_ERR_ARGUMENT,
               "init failed on rank 0 of world: options->thread_level is -2");
  syncyte_comm_t world = start(&rank, &size);
  EXPECT_OK(syncyte_comm_barrier(world));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
