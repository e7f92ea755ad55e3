/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain program that, depending on its argument, succeeds, skips, or fails, hangs or dies on its last rank. */

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int misbehave(const char* how) {
  if (strcmp(how, "fails") == 0) return 1;
  if (strcmp(how, "hangs") == 0) pause();
  if (strcmp(how, "dies") == 0) raise(SIGKILL);
  return 0;
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 1;
  int status = 0;
  const char* how = argc > 1 ? argv[1] : "succeeds";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) status = misbehave(how);
  if (strcmp(how, "skips") == 0) status = 77;
  MPI_Finalize();
  return status;
}
