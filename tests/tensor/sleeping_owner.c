/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that computes without calls still serves the rows that it owns: to ranks of its node, and to those of another
   host by the fabric. Takes the seconds that it computes. */
#include <stdlib.h>
#include <time.h>

#include "expect.h"
#include "vector.h"

enum { rows = 4000, columns = 16, gathered = 3000 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static float value_of(int64_t row, int64_t column) { return (float)(row * columns + column); }

/* Every rank writes the rows that it owns. */
static void fill(syncyte_tensor_t tensor, int32_t rank) {
  syncyte_buffer_t local = vector_of(NULL, SYNCYTE_FLOAT32, 0);
  int64_t first = 0, count = 0;
  EXPECT_OK(syncyte_tensor_rows(tensor, rank, &first, &count));
  EXPECT_OK(syncyte_tensor_local(tensor, &local));
  for (int64_t i = 0; i < count * columns; ++i) ((float*)local.data)[i] = value_of(first, 0) + (float)i;
  EXPECT_OK(syncyte_tensor_sync(tensor));
}

int main(int argc, char** argv) {
  const double length = argc > 1 ? atof(argv[1]) : 1.0;
  const int64_t shape[2] = {rows, columns};
  static int64_t index[gathered];
  static float output[gathered][columns];
  int32_t rank = 0, ranks = 0;
  syncyte_comm_t world = start(&rank, &ranks);
  syncyte_tensor_t tensor = NULL;
  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_FLOAT32, 2, shape, NULL, &tensor));
  if (tensor == NULL) return 1;
  fill(tensor, rank);
  const double begin = seconds();
  if (rank == ranks - 1) {
    while (seconds() - begin < length) continue;
  } else {
    const int64_t extents[2] = {gathered, columns};
    const syncyte_buffer_t wanted = vector_of(index, SYNCYTE_INT64, gathered);
    syncyte_buffer_t found;
    int wrong = 0;
    EXPECT_OK(syncyte_buffer_init(output, SYNCYTE_FLOAT32, 2, extents, &found));
    for (int i = 0; i < gathered; ++i) index[i] = (int64_t)i * 7919 % rows;
    EXPECT_OK(syncyte_tensor_gather(tensor, &wanted, &found));
    for (int i = 0; i < gathered; ++i)
      for (int j = 0; j < columns; ++j) wrong += output[i][j] != value_of(index[i], j);
    EXPECT(wrong == 0);
    EXPECT(seconds() - begin < length);
  }
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
