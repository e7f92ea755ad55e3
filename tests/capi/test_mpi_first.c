/* SPDX-License-Identifier: BSD-3-Clause */
/* The application initializes MPI, with a low thread level: Syncyte works, and its end does not finalize MPI. */
#include <mpi.h>

#include "expect.h"

int main(int argc, char** argv) {
  int32_t rank = 0, size = 0, level = -1;
  int provided = 0, is_finalized = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  syncyte_comm_t world = start(&rank, &size);
  EXPECT_OK(syncyte_init(NULL)); /* further calls do nothing */
  EXPECT_OK(syncyte_thread_level(&level));
  EXPECT(level == (provided == MPI_THREAD_SINGLE ? 0 : level));
  EXPECT_OK(syncyte_comm_barrier(world));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  EXPECT_OK(syncyte_finalize());
  MPI_Finalized(&is_finalized);
  EXPECT(is_finalized == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
