/* SPDX-License-Identifier: BSD-3-Clause */
/* Started accesses that nobody waits for, and a rank that is in finalize while others use its rows: finalize waits for
   the accesses, and serves the others. The tensor's memory is the program's, which looks at it afterwards. */
#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>
#include <time.h>

#include "../capi/expect.h"

#define ROWS 40
#define COLUMNS 512
#define STARTS 12

static double own[ROWS][COLUMNS], ones[STARTS][ROWS][COLUMNS], seen[ROWS][COLUMNS];

static syncyte_buffer_t rows_of(double* data) {
  const int64_t shape[2] = {ROWS, COLUMNS};
  syncyte_buffer_t result;
  EXPECT_OK(syncyte_buffer_init(data, SYNCYTE_FLOAT64, 2, shape, &result));
  return result;
}

int main(void) {
  int32_t rank = 0, size = 0;
  syncyte_comm_t world = start(&rank, &size);
  syncyte_tensor_t tensor = NULL;
  syncyte_request_t requests[STARTS] = {NULL};
  syncyte_buffer_t mine = rows_of(&own[0][0]), output = rows_of(&seen[0][0]), index;
  int64_t rows[ROWS];
  const int64_t count = ROWS, next = (int64_t)((rank + 1) % size) * ROWS;
  EXPECT_OK(syncyte_tensor_wrap(world, &mine, NULL, &tensor));
  EXPECT_OK(syncyte_buffer_init(rows, SYNCYTE_INT64, 1, &count, &index));
  for (int i = 0; i < ROWS; ++i) rows[i] = i;
  if (rank == 0)
    for (int i = 0; i < ROWS; ++i) own[i][1] = -1;
  EXPECT_OK(syncyte_tensor_sync(tensor));
  if (rank > 0) { /* rank 0 is in finalize meanwhile */
    const struct timespec pause = {0, 300000000};
    nanosleep(&pause, NULL);
    EXPECT_OK(syncyte_tensor_gather(tensor, &index, &output));
    EXPECT(seen[ROWS - 1][1] <= size * STARTS - 1);
  }
  for (int i = 0; i < ROWS; ++i) rows[i] = next + i;
  for (int k = 0; k < STARTS; ++k) {
    syncyte_buffer_t source = rows_of(&ones[k][0][0]);
    for (int i = 0; i < ROWS; ++i)
      for (int j = 0; j < COLUMNS; ++j) ones[k][i][j] = 1;
    EXPECT_OK(syncyte_tensor_iscatter_add(tensor, &index, &source, &requests[k]));
  }
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  for (int k = 0; k < STARTS; ++k) EXPECT_OK(syncyte_request_wait(&requests[k]));
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) EXPECT(own[i][j] == STARTS - (rank == 0 && j == 1));
  return failures != 0;
}
