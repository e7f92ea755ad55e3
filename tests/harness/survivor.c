/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 dies of a signal. Under mpirun --enable-recovery rank 0 runs for longer than mpirun would wait for it. */

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) raise(SIGKILL);
  sleep(3);
  printf("rank %d lives on\n", rank);
  fflush(stdout);
  _exit(0);
}
