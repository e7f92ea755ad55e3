/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program in C, without MPI's headers: the sum over all ranks of rank + 1. */
#include <stdio.h>
#include <syncyte.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, syncyte_last_error());
  return 1;
}

int main(void) {
  syncyte_comm_t world = NULL;
  int32_t rank = 0, size = 0, major = -1;
  if (syncyte_init(NULL) != SYNCYTE_SUCCESS) return failed("init");
  if (syncyte_version(&major, NULL, NULL, NULL) != SYNCYTE_SUCCESS || major != SYNCYTE_VERSION_MAJOR) return 1;
  if (syncyte_comm_world(&world) != SYNCYTE_SUCCESS) return failed("world");
  if (syncyte_comm_rank(world, &rank) != SYNCYTE_SUCCESS) return failed("rank");
  if (syncyte_comm_size(world, &size) != SYNCYTE_SUCCESS) return failed("size");

  double mine = rank + 1.0, sum = 0.0;
  const int64_t shape[] = {1};
  syncyte_buffer_t input, output;
  syncyte_buffer_init(&mine, SYNCYTE_FLOAT64, 1, shape, &input);
  syncyte_buffer_init(&sum, SYNCYTE_FLOAT64, 1, shape, &output);
  if (syncyte_comm_allreduce(world, &input, SYNCYTE_OP_SUM, NULL, &output) != SYNCYTE_SUCCESS) return failed("sum");
  if (sum != size * (size + 1) / 2.0) return 1;
  if (rank == 0) printf("consumer: %d ranks, sum %g\n", size, sum);
  if (syncyte_comm_destroy(&world) != SYNCYTE_SUCCESS) return failed("destroy");
  return syncyte_finalize() == SYNCYTE_SUCCESS ? 0 : failed("finalize");
}
