/* A bad environment variable on one rank is an error of syncyte_init() on all, and not a hang. */
#define _POSIX_C_SOURCE 200112L
#include <mpi.h>
#include <stdlib.h>

#include "expect.h"

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) setenv("SYNCYTE_CHECK", "perhaps", 1);
  EXPECT_ERROR(
      syncyte_init(NULL), SYNCYTE_ERR_ARGUMENT,
      rank == size - 1 ? "environment variable SYNCYTE_CHECK is \"perhaps\"; expected one of off, on, full" : "");
  unsetenv("SYNCYTE_CHECK");
  EXPECT_OK(syncyte_init(NULL)); /* mended */
  MPI_Finalize();
  return failures != 0;
}
