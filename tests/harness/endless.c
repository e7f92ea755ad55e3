/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs until it is killed. With the argument "leaks" each rank leaves a file in /dev/shm, one in TMPDIR, and a
 * process. */

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void leave_process(void) {
  if (fork() != 0) return;
  setsid();
  for (;;) pause();
}

static void leave_file(const char* folder, int rank) {
  char path[1024];
  int file;
  snprintf(path, sizeof path, "%s/leak-of-syncyte-%d-%d", folder, (int)getpid(), rank);
  file = open(path, O_CREAT | O_RDWR, 0600);
  if (file < 0) perror(path);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 1 && strcmp(argv[1], "leaks") == 0) {
    leave_file("/dev/shm", rank);
    leave_file(getenv("TMPDIR"), rank);
    leave_process();
  }
  puts("ready");
  fflush(stdout);
  for (;;) {
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(1000);
  }
}
