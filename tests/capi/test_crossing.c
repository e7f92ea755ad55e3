/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI without threads. The first rank is in a blocking collective of one communicator. The others first wait for an
 * operation that the first rank has started on another communicator, and then enter the collective. */
#include "expect.h"
#include "syncyte_mpi.h"

static int32_t rank = 0;

static syncyte_buffer_t vector(int32_t* data) {
  const int64_t count = 3;
  syncyte_buffer_t result;
  EXPECT_OK(syncyte_buffer_init(data, SYNCYTE_INT32, 1, &count, &result));
  return result;
}

/* All ranks start a broadcast. The first rank waits for it after the collective `meet`, the others before. */
static void cross(syncyte_comm_t world, void (*meet)(syncyte_comm_t), syncyte_comm_t other) {
  int32_t values[3] = {rank == 0, 2 * (rank == 0), 3 * (rank == 0)};
  syncyte_buffer_t buffer = vector(values);
  syncyte_request_t request = NULL;
  EXPECT_OK(syncyte_comm_ibcast(world, 0, NULL, &buffer, &request));
  if (rank == 0) meet(other);
  EXPECT_OK(syncyte_request_wait(&request));
  if (rank != 0) meet(other);
  EXPECT(values[0] == 1);
  EXPECT(values[1] == 2);
  EXPECT(values[2] == 3);
}

static void meet_in_barrier(syncyte_comm_t other) { EXPECT_OK(syncyte_comm_barrier(other)); }

static void meet_in_sum(syncyte_comm_t other) {
  int32_t values[3] = {1, 1, 1};
  int32_t size = 0;
  syncyte_buffer_t buffer = vector(values);
  EXPECT_OK(syncyte_comm_allreduce(other, NULL, SYNCYTE_OP_SUM, NULL, &buffer));
  EXPECT_OK(syncyte_comm_size(other, &size));
  EXPECT(values[2] == size);
}

static void meet_in_split(syncyte_comm_t other) {
  syncyte_comm_t part = NULL;
  EXPECT_OK(syncyte_comm_split(other, 0, rank, NULL, &part));
  EXPECT_OK(syncyte_comm_destroy(&part));
}

static void meet_in_adoption(syncyte_comm_t other) {
  syncyte_comm_t made = NULL;
  (void)other;
  EXPECT_OK(syncyte_comm_from_mpi(MPI_COMM_WORLD, NULL, &made));
  EXPECT_OK(syncyte_comm_barrier(made));
  EXPECT_OK(syncyte_comm_destroy(&made));
}

int main(void) {
  int32_t level = -1;
  syncyte_comm_t world = NULL;
  syncyte_comm_t other = NULL;
  syncyte_init_options_t options = SYNCYTE_INIT_OPTIONS_INIT;
  options.thread_level = 0;
  EXPECT_OK(syncyte_init(&options));
  EXPECT_OK(syncyte_comm_world(&world));
  EXPECT_OK(syncyte_comm_rank(world, &rank));
  EXPECT_OK(syncyte_thread_level(&level));
  EXPECT(level < 3);
  EXPECT_OK(syncyte_comm_dup(world, NULL, &other));
  cross(world, meet_in_barrier, other);
  cross(world, meet_in_sum, other);
  cross(world, meet_in_split, other);
  cross(world, meet_in_adoption, other);
  EXPECT_OK(syncyte_comm_destroy(&other));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
