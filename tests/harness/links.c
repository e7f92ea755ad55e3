/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts with a rank each: requests cut, restore and limit the link of host 2, which messages of MPI pass. */

#include "links.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEGABYTE = 1000 * 1000 };
static char data[MEGABYTE];
static int rank, wrong;

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  wrong = 1;
}

static void refuses(const char* request, const char* reason) {
  char answer[512];
  links_ask(request, answer, sizeof answer);
  printf("%s -> %s", request, answer);
  expect(strncmp(answer, "error: ", 7) == 0, request);
  expect(strstr(answer, reason) != NULL, reason);
}

/* Seconds until the other rank has answered a message of this rank `starter`; -1 on the other rank. */
static double exchange(int starter, int bytes) {
  const double start = MPI_Wtime();
  if (rank == starter) {
    MPI_Send(data, bytes, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD);
    MPI_Recv(data, 0, MPI_CHAR, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Wtime() - start;
  }
  MPI_Recv(data, bytes, MPI_CHAR, starter, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(data, 0, MPI_CHAR, starter, 2, MPI_COMM_WORLD);
  return -1;
}

/* Rank 0 waits in vain for rank 1's answer until it restores the link. */
static void cut_until_restored(void) {
  MPI_Request answer;
  int done = 0;
  double start;
  if (rank == 1) {
    exchange(0, 8);
    return;
  }
  expect(links_cut(2, 0) == 0, "the link is cut");
  MPI_Irecv(data, 0, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &answer);
  MPI_Send(data, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
  start = MPI_Wtime();
  while (!done && MPI_Wtime() - start < 0.5) MPI_Test(&answer, &done, MPI_STATUS_IGNORE);
  expect(!done, "no message passes a cut link");
  expect(links_restore(2) == 0, "the link is restored");
  start = MPI_Wtime();
  MPI_Wait(&answer, MPI_STATUS_IGNORE);
  printf("after the restore an answer took %.2f s\n", MPI_Wtime() - start);
}

/* Rank 1 cuts its own link for a time, and need do nothing for the restore. */
static void cut_for_a_time(void) {
  double seconds;
  if (rank == 1) expect(links_cut(2, 0.5) == 0, "the link is cut for 0.5 s");
  seconds = exchange(1, 8);
  if (rank != 1) return;
  printf("an answer over a link that is cut for 0.5 s took %.2f s\n", seconds);
  expect(seconds > 0.4, "no message passes while the link is cut");
}

static double fastest(int starter) {
  double best = exchange(starter, MEGABYTE);
  for (int round = 0; round < 2; ++round) {
    const double seconds = exchange(starter, MEGABYTE);
    if (seconds < best) best = seconds;
  }
  return best;
}

/* 1 MB takes 0.2 s at 40 Mbit/s, in both directions. Returns 77 if this machine cannot limit rates. */
static int limit_rate(void) {
  double limited, unlimited;
  int status = 0;
  if (rank == 0) status = links_shape(2, 40);
  MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (status == LINKS_UNSUPPORTED) return status;
  expect(status == 0, "the rate is limited");
  for (int starter = 0; starter < 2; ++starter) {
    limited = fastest(starter);
    if (rank == starter) printf("1 MB from rank %d at 40 Mbit/s: %.3f s\n", rank, limited);
    if (rank == starter) expect(limited > 0.12 && limited < 2, "1 MB takes about 0.2 s at 40 Mbit/s");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) expect(links_unshape(2) == 0, "the limit is removed");
  unlimited = fastest(0);
  if (rank == 0) printf("1 MB without limit: %.3f s\n", unlimited);
  if (rank == 0) expect(unlimited < 0.1, "1 MB takes less than half the time without limit");
  return 0;
}

int main(int argc, char** argv) {
  int any = 0, status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect(links_host() == rank + 1, "a rank knows its host");
  expect(getenv("SYNCYTE_TEST_OPTION") != NULL, "flags of mpirun arrive");
  refuses("", "the first word must be one of");
  refuses("fly 2", "the first word must be one of");
  refuses("cut", "a host, from 1 to 2");
  refuses("cut 3", "a host, from 1 to 2");
  refuses("cut 2 -1", "above 0");
  refuses("restore 2 1", "0 to 0 numbers");
  refuses("shape 2 fast", "fast");
  refuses("shape 2 10 1", "shorter than a packet");
  exchange(0, MEGABYTE);
  cut_until_restored();
  cut_for_a_time();
  status = limit_rate();
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) expect(links_cut(2, 0) == 0, "the link is cut at the end");
  MPI_Finalize(); /* ends although the link is cut: only mpirun's daemons take part, on the other network */
  return any || wrong ? 1 : status;
}
