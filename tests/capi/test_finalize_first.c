/* SPDX-License-Identifier: BSD-3-Clause */
/* The application ends MPI first: Syncyte is torn down inside MPI_Finalize. */
#include <mpi.h>

#include "expect.h"

int main(int argc, char** argv) {
  int32_t rank = 0, size = 0, flag = -1;
  MPI_Init(&argc, &argv);
  syncyte_comm_t world = start(&rank, &size);
  syncyte_comm_t copy = NULL;
  EXPECT_OK(syncyte_comm_dup(world, NULL, &copy));
  EXPECT_OK(syncyte_initialized(&flag));
  EXPECT(flag == 1);
  MPI_Finalize();
  EXPECT_OK(syncyte_initialized(&flag));
  EXPECT(flag == 0);
  EXPECT_ERROR(syncyte_comm_barrier(world), SYNCYTE_ERR_NOT_INITIALIZED, "already finalized");
  EXPECT_OK(syncyte_comm_destroy(&copy));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  EXPECT_ERROR(syncyte_init(NULL), SYNCYTE_ERR_NOT_INITIALIZED, "already finalized");
  return failures != 0;
}
