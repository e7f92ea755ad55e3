/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests without a wait at finalize: operations that all ranks have started complete there, an operation that only
   one rank has started is named, and messages and halo exchanges without a partner are given up. */
#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>

#include "expect.h"

#define COUNT 100000

static int32_t started_by_all[COUNT];
static int32_t waited_for_elsewhere[COUNT];
static int32_t on_another[COUNT];
static int32_t with_ghosts[COUNT];

static syncyte_buffer_t vector(int32_t* data, int64_t count) {
  syncyte_buffer_t result;
  EXPECT_OK(syncyte_buffer_init(data, SYNCYTE_INT32, 1, &count, &result));
  return result;
}

int main(void) {
  int32_t rank = 0;
  int32_t size = 0;
  syncyte_comm_t world = start(&rank, &size);
  syncyte_buffer_t ghosted = vector(with_ghosts, COUNT);
  const int64_t width = 1, cells = COUNT;
  const int32_t periodic = 1;
  syncyte_comm_t ring = NULL;
  syncyte_halo_t halo = NULL;
  syncyte_request_t exchange = NULL;
  EXPECT_OK(syncyte_cart_create(world, 1, &size, 1, &periodic, NULL, &ring));
  EXPECT_OK(syncyte_halo_create(ring, SYNCYTE_INT32, 1, &cells, 1, &width, 1, &width, 0, NULL, NULL, &halo));
  if (rank == 0) EXPECT_OK(syncyte_halo_iexchange(halo, &ghosted, &exchange)); /* the neighbours never start it */
  EXPECT_OK(syncyte_halo_destroy(&halo));
  EXPECT_OK(syncyte_comm_destroy(&ring));

  syncyte_comm_t other = NULL;
  EXPECT_OK(syncyte_comm_dup(world, NULL, &other));
  for (int i = 0; i < COUNT; ++i) started_by_all[i] = waited_for_elsewhere[i] = on_another[i] = i + rank;
  const int32_t sum_of_ranks = size * (size - 1) / 2;
  syncyte_buffer_t buffers[] = {vector(started_by_all, COUNT), vector(waited_for_elsewhere, COUNT),
                                vector(on_another, COUNT)};
  syncyte_request_t requests[3] = {NULL};
  EXPECT_OK(syncyte_comm_iallreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &buffers[0], &requests[0]));
  EXPECT_OK(syncyte_comm_iallreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &buffers[1], &requests[1]));
  EXPECT_OK(syncyte_comm_iallreduce(other, NULL, SYNCYTE_OP_SUM, NULL, &buffers[2], &requests[2]));
  if (rank != 0) EXPECT_OK(syncyte_request_wait(&requests[1])); /* rank 0 may be in finalize already */
  EXPECT_OK(syncyte_comm_destroy(&other));

  int32_t number = 0;
  syncyte_buffer_t single = vector(&number, 1);
  syncyte_request_t lonely = NULL;
  syncyte_request_t message = NULL;
  EXPECT_OK(syncyte_comm_irecv(world, 0, 3, NULL, &single, NULL, &message));
  const int is_lonely = size > 1 && rank == size - 1; /* the others never start it */
  if (is_lonely) EXPECT_OK(syncyte_comm_ibcast(world, 0, NULL, &single, &lonely));

  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  for (int i = 0; i < 3; ++i) EXPECT_OK(syncyte_request_wait(&requests[i]));
  for (int i = 0; i < COUNT; i += 99) {
    EXPECT(started_by_all[i] == size * i + sum_of_ranks);
    EXPECT(waited_for_elsewhere[i] == size * i + sum_of_ranks);
    EXPECT(on_another[i] == size * i + sum_of_ranks);
  }
  if (is_lonely) EXPECT_ERROR(syncyte_request_wait(&lonely), SYNCYTE_ERR_MISMATCH, "another rank has not started it");
  EXPECT_ERROR(syncyte_request_wait(&message), SYNCYTE_ERR_NOT_INITIALIZED, "before this message was complete");
  if (rank == 0)
    EXPECT_ERROR(syncyte_request_wait(&exchange), SYNCYTE_ERR_NOT_INITIALIZED,
                 "before this halo_exchange was complete");
  return failures != 0;
}
