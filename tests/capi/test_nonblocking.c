/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking collectives in C: each operation, all functions of requests, errors on one rank. */
#include <stdlib.h>

#include "expect.h"

static syncyte_comm_t world = NULL;
static int32_t rank = 0;
static int32_t size = 0;

static syncyte_buffer_t matrix(int32_t* data, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  syncyte_buffer_t result;
  EXPECT_OK(syncyte_buffer_init(data, SYNCYTE_INT32, 2, shape, &result));
  return result;
}

/* Every rank's number, 7 times each. */
static void test_each(const syncyte_collective_options_t* options) {
  int64_t* ones = malloc((size_t)size * sizeof *ones);
  int32_t* all = calloc((size_t)size, sizeof *all);
  int32_t* exchanged = calloc((size_t)size, sizeof *exchanged);
  int32_t number = rank + 1;
  int32_t sum = 0;
  int32_t mine = 0;
  int32_t broadcast = rank == size - 1 ? 42 : 0;
  int32_t* from = malloc((size_t)size * sizeof *from);
  for (int32_t i = 0; i < size; ++i) {
    ones[i] = 1;
    from[i] = 100 * rank + i;
  }
  syncyte_buffer_t part = matrix(&number, 1, 1);
  syncyte_buffer_t total = matrix(&sum, 1, 1);
  syncyte_buffer_t own = matrix(&mine, 1, 1);
  syncyte_buffer_t told = matrix(&broadcast, 1, 1);
  syncyte_buffer_t whole = matrix(all, size, 1);
  syncyte_buffer_t row = matrix(from, 1, size);
  syncyte_buffer_t tall = matrix(from, size, 1);
  syncyte_buffer_t column = matrix(exchanged, size, 1);
  syncyte_request_t requests[5] = {NULL};
  EXPECT_OK(syncyte_comm_iallreduce(world, &part, SYNCYTE_OP_SUM, options, &total, &requests[0]));
  EXPECT_OK(syncyte_comm_ibcast(world, size - 1, options, &told, &requests[1]));
  EXPECT_OK(syncyte_comm_iallgather_along(world, &part, 0, size, ones, options, &whole, &requests[2]));
  EXPECT_OK(syncyte_comm_ialltoall_along(world, &row, 0, 1, size, ones, size, ones, options, &column, &requests[3]));
  EXPECT_OK(
      syncyte_comm_ireduce_scatter_along(world, &tall, 0, SYNCYTE_OP_MAX, size, ones, options, &own, &requests[4]));
  int64_t index = -1;
  EXPECT_OK(syncyte_request_wait_any(5, requests, &index));
  EXPECT(index >= 0 && index < 5);
  int32_t done = 0;
  while (done == 0) EXPECT_OK(syncyte_request_test(&requests[4], &done));
  EXPECT_OK(syncyte_request_wait_all(5, requests));
  EXPECT(sum == size * (size + 1) / 2);
  EXPECT(broadcast == 42);
  EXPECT(mine == 100 * (size - 1) + rank);
  for (int32_t i = 0; i < size; ++i) {
    EXPECT(all[i] == i + 1);
    EXPECT(exchanged[i] == 100 * i + rank);
    EXPECT(requests[i % 5] == NULL);
  }
  free(ones);
  free(all);
  free(exchanged);
  free(from);
}

/* A bad argument on rank 0: an error at once on rank 0, at the wait on the others. */
static void test_error_on_one_rank(void) {
  int32_t number = 0;
  syncyte_buffer_t buffer = matrix(&number, 1, 1);
  syncyte_request_t request = NULL;
  const syncyte_status_t status = syncyte_comm_ibcast(world, rank == 0 ? size : 0, NULL, &buffer, &request);
  if (rank == 0)
    EXPECT_ERROR(status, SYNCYTE_ERR_ARGUMENT, "comm_ibcast failed on rank 0: root is");
  else
    EXPECT_ERROR(syncyte_request_wait(&request), SYNCYTE_ERR_ARGUMENT,
                 "comm_ibcast failed on rank 0 of world: root is");
  EXPECT(request == NULL);
  EXPECT_ERROR(syncyte_comm_ibcast(world, 0, NULL, &buffer, NULL), SYNCYTE_ERR_ARGUMENT, "request is null");
  syncyte_collective_options_t options = SYNCYTE_COLLECTIVE_OPTIONS_INIT;
  options.fact_count = -1;
  EXPECT_ERROR(syncyte_comm_ibcast(world, 0, &options, &buffer, &request), SYNCYTE_ERR_ARGUMENT, "fact_count is -1");
  EXPECT_OK(syncyte_comm_barrier(world));
}

/* The last rank has an error instead of a start: the others get it at the wait, with the rank in the message. */
static void test_refusal(void) {
  int32_t number = 1;
  const syncyte_buffer_t buffer = matrix(&number, 1, 1);
  syncyte_request_t request = NULL;
  char whose[64];
  snprintf(whose, sizeof whose, "failed on rank %d of world: ", size - 1);
  if (rank == size - 1) {
    syncyte_error_set(SYNCYTE_ERR_SHAPE, "a library's own reason");
    EXPECT_OK(syncyte_comm_ifail(world, SYNCYTE_ERR_SHAPE, "comm_iallreduce"));
  } else {
    EXPECT_OK(syncyte_comm_iallreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &buffer, &request));
    EXPECT_ERROR(syncyte_request_wait(&request), SYNCYTE_ERR_SHAPE, whose);
    EXPECT(strstr(syncyte_last_error(), "a library's own reason") != NULL);
    EXPECT(request == NULL);
  }
  EXPECT_ERROR(syncyte_comm_ifail(world, SYNCYTE_SUCCESS, "comm_iallreduce"), SYNCYTE_ERR_ARGUMENT, "status is");
  EXPECT_ERROR(syncyte_comm_ifail(world, SYNCYTE_ERR_TYPE, NULL), SYNCYTE_ERR_ARGUMENT, "operation is null");
  EXPECT_OK(syncyte_comm_barrier(world));
}

/* A request is active until all ranks have started the operation. */
static void test_destroy_of_an_active_one(void) {
  if (size == 1) return;
  int32_t number = 5;
  syncyte_buffer_t buffer = matrix(&number, 1, 1);
  syncyte_buffer_t letter = matrix(&number, 1, 1);
  syncyte_request_t request = NULL;
  if (rank == 0) {
    EXPECT_OK(syncyte_comm_ibcast(world, 0, NULL, &buffer, &request));
    int32_t done = 1;
    EXPECT_OK(syncyte_request_test(&request, &done));
    EXPECT(done == 0);
    EXPECT_ERROR(syncyte_request_destroy(&request), SYNCYTE_ERR_BUSY, "still active");
    EXPECT(request != NULL);
    for (int32_t other = 1; other < size; ++other) EXPECT_OK(syncyte_comm_send(world, &letter, other, 0, NULL));
  } else {
    EXPECT_OK(syncyte_comm_recv(world, 0, 0, NULL, &letter, NULL));
    EXPECT_OK(syncyte_comm_ibcast(world, 0, NULL, &buffer, &request));
  }
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT_OK(syncyte_request_destroy(&request));
}

int main(void) {
  world = start(&rank, &size);
  syncyte_collective_options_t options = SYNCYTE_COLLECTIVE_OPTIONS_INIT;
  options.fact = 7;
  for (int i = 0; i < 20; ++i) {
    test_each(NULL);
    test_each(&options);
  }
  test_error_on_one_rank();
  test_refusal();
  test_destroy_of_an_active_one();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
