/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank writes its rows of a whole tensor in place and reads a row of its neighbour.  mpirun -n 2 ./neighbours */
#include <stdio.h>
#include <syncyte.h>

/* Every call returns a status. An error here ends the whole job, so that no other rank waits for this one. */
static void check(syncyte_status_t status) {
  if (status == SYNCYTE_SUCCESS) return;
  fprintf(stderr, "%s\n", syncyte_last_error());
  syncyte_abort(1);
}

int main(void) {
  syncyte_comm_t world = NULL;
  int32_t rank = 0, size = 0;
  check(syncyte_init(NULL)); /* also initializes MPI, unless the program has */
  check(syncyte_comm_world(&world));
  check(syncyte_comm_rank(world, &rank));
  check(syncyte_comm_size(world, &size));

  /* Four rows of three numbers on each rank, zero at first. */
  const int64_t shape[] = {4 * (int64_t)size, 3};
  syncyte_tensor_t field = NULL;
  check(syncyte_tensor_create(world, SYNCYTE_FLOAT64, 2, shape, NULL, &field));

  syncyte_buffer_t local = SYNCYTE_BUFFER_INIT;
  check(syncyte_tensor_local(field, &local));
  double* mine = local.data;
  for (int64_t i = 0; i < local.shape[0] * local.shape[1]; ++i) mine[i] = rank;
  check(syncyte_tensor_sync(field)); /* from here on all ranks see it */

  /* The first row of the next rank, which does not take part. */
  int64_t row = 0, count = 0;
  check(syncyte_tensor_rows(field, (rank + 1) % size, &row, &count));
  double values[3];
  const int64_t one[] = {1}, three[] = {3};
  syncyte_buffer_t index, output;
  check(syncyte_buffer_init(&row, SYNCYTE_INT64, 1, one, &index));
  check(syncyte_buffer_init(values, SYNCYTE_FLOAT64, 1, three, &output));
  check(syncyte_tensor_gather(field, &index, &output));

  printf("rank %d of %d has read %g, %g, %g\n", rank, size, values[0], values[1], values[2]);

  check(syncyte_tensor_destroy(&field));
  check(syncyte_comm_destroy(&world));
  check(syncyte_finalize());
  return 0;
}
