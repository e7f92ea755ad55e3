/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts: ranks of different hosts have different names, do not share /dev/shm, and still exchange messages. */

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char* segment = "/syncyte-two-hosts";

static int expect(int condition, int rank, const char* what) {
  if (!condition) fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  return condition ? 0 : 1;
}

/* Rank 0 makes a file in its /dev/shm; only ranks of its host may see it. */
static int sees_segment_of_rank_0(int rank) {
  int seen;
  int file = rank == 0 ? shm_open(segment, O_CREAT | O_RDWR, 0600) : -1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) file = shm_open(segment, O_RDWR, 0600);
  seen = file >= 0;
  if (file >= 0) close(file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) shm_unlink(segment);
  return seen;
}

int main(int argc, char** argv) {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  char first[MPI_MAX_PROCESSOR_NAME];
  int rank, size, node_size, length, sum = 0, wrong = 0, with_rank_0;
  MPI_Comm node;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(name, &length);
  memcpy(first, name, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  with_rank_0 = strcmp(first, name) == 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &node_size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

  wrong += expect(size % 2 == 0, rank, "an even number of ranks");
  wrong += expect(with_rank_0 == (rank < size / 2), rank, "the first half of the ranks is on rank 0's host");
  wrong += expect(node_size == size / 2, rank, "MPI sees two nodes of equal size");
  wrong += expect(sees_segment_of_rank_0(rank) == with_rank_0, rank, "/dev/shm is private to a host");
  wrong += expect(sum == size * (size - 1) / 2, rank, "an allreduce crosses the hosts");
  printf("rank %d of %d on %s, %d ranks on this node\n", rank, size, name, node_size);
  MPI_Comm_free(&node);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
