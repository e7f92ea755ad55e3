/* SPDX-License-Identifier: BSD-3-Clause */
/* Before syncyte_init(), and after MPI has ended without it. */
#include <mpi.h>

#include "expect.h"

int main(int argc, char** argv) {
  syncyte_comm_t comm = NULL;
  int32_t flag = -1;
  EXPECT_OK(syncyte_initialized(&flag));
  EXPECT(flag == 0);
  EXPECT_ERROR(syncyte_comm_world(&comm), SYNCYTE_ERR_NOT_INITIALIZED, "call syncyte_init first");
  EXPECT(comm == NULL);
  EXPECT_ERROR(syncyte_comm_barrier(NULL), SYNCYTE_ERR_NOT_INITIALIZED, "call syncyte_init first");
  EXPECT_ERROR(syncyte_thread_level(&flag), SYNCYTE_ERR_NOT_INITIALIZED, "call syncyte_init first");
  EXPECT_ERROR(syncyte_mpi_takes(SYNCYTE_MEMORY_CUDA, &flag), SYNCYTE_ERR_NOT_INITIALIZED, "call syncyte_init first");
  EXPECT_OK(syncyte_finalize());
  MPI_Init(&argc, &argv);
  EXPECT_ERROR(syncyte_comm_world(&comm), SYNCYTE_ERR_NOT_INITIALIZED, "call syncyte_init first");
  MPI_Finalize();
  EXPECT_ERROR(syncyte_init(NULL), SYNCYTE_ERR_NOT_INITIALIZED, "MPI is already finalized");
  return failures != 0;
}
