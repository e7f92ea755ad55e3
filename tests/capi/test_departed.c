/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank calls finalize while the others wait for it in messages, halos, reducers and collectives of smaller
   communicators. They get an error that names the rank, and no rank hangs. Messages that it had sent still arrive. */
#include <stdlib.h>

#include "../support/waiting.h"
#include "expect.h"

enum { many = 200000 };
static int32_t rank, size;
static syncyte_comm_t world, copy, used, ring;
static double values[many];
static char gone[128]; /* the text about the last rank in error messages */

static syncyte_buffer_t buffer_of(int64_t count) {
  syncyte_buffer_t buffer;
  EXPECT_OK(syncyte_buffer_init(values, SYNCYTE_FLOAT64, 1, &count, &buffer));
  return buffer;
}

static syncyte_halo_t make_halo(void) {
  const int64_t shape = 4, one = 1;
  syncyte_halo_t halo = NULL;
  EXPECT_OK(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 1, &shape, 1, &one, 1, &one, 0, NULL, NULL, &halo));
  return halo;
}

static syncyte_reducer_t make_reducer(void) {
  const syncyte_dtype_t type = SYNCYTE_FLOAT64;
  const int64_t count = 100;
  syncyte_reducer_t reducer = NULL;
  EXPECT_OK(syncyte_reducer_create(world, 1, &type, &count, NULL, &reducer));
  return reducer;
}

static void wait_for_messages(void) {
  const syncyte_buffer_t one = buffer_of(1), all = buffer_of(many);
  syncyte_request_t request = NULL;
  EXPECT_ERROR(syncyte_comm_recv(world, size - 1, 1, NULL, &one, NULL), SYNCYTE_ERR_MISMATCH, gone);
  EXPECT_ERROR(syncyte_comm_send(world, &all, size - 1, 2, NULL), SYNCYTE_ERR_MISMATCH, gone);
  EXPECT_OK(syncyte_comm_irecv(copy, size - 1, 3, NULL, &one, NULL, &request));
  EXPECT_ERROR(syncyte_request_wait(&request), SYNCYTE_ERR_MISMATCH, gone);
  if (size == 2) EXPECT_ERROR(syncyte_comm_recv(world, SYNCYTE_ANY, 1, NULL, &one, NULL), SYNCYTE_ERR_MISMATCH, gone);
}

static void wait_in_halo(syncyte_halo_t halo) {
  const syncyte_buffer_t field = buffer_of(4);
  if (rank == 0 || rank == size - 2)
    EXPECT_ERROR(syncyte_halo_exchange(halo, &field), SYNCYTE_ERR_MISMATCH, gone);
  else /* its neighbours have sent their cells */
    EXPECT_OK(syncyte_halo_exchange(halo, &field));
}

static void wait_for_sums(syncyte_reducer_t reducer) {
  EXPECT_OK(syncyte_reducer_start(reducer, 0));
  EXPECT_ERROR(syncyte_reducer_wait(reducer), SYNCYTE_ERR_MISMATCH, gone);
}

static void wait_in_collectives(void) {
  const syncyte_buffer_t one = buffer_of(1);
  EXPECT_ERROR(syncyte_comm_barrier(copy), SYNCYTE_ERR_MISMATCH, gone);
  EXPECT_ERROR(syncyte_comm_bcast(copy, 0, NULL, &one), SYNCYTE_ERR_MISMATCH, gone);
  EXPECT_ERROR(syncyte_comm_allreduce(used, NULL, SYNCYTE_OP_SUM, NULL, &one), SYNCYTE_ERR_MISMATCH, gone);
}

static void wait_for_group(void) {
  const int32_t pair[2] = {rank, size - 1};
  syncyte_comm_t group = NULL;
  EXPECT_ERROR(syncyte_comm_create_group(world, 2, pair, 0, NULL, &group), SYNCYTE_ERR_MISMATCH, gone);
}

/* This rank cannot know that the last one will never start the collective, so its finalize waits 5 s. */
static void wait_for_start(void) {
  const syncyte_buffer_t one = buffer_of(1);
  syncyte_request_t request = NULL;
  EXPECT_OK(syncyte_comm_ibcast(world, 0, NULL, &one, &request));
  EXPECT_ERROR(syncyte_request_wait(&request), SYNCYTE_ERR_MISMATCH, gone);
}

int main(int argc, char** argv) {
  world = start(&rank, &size);
  const int32_t none = 0, periodic = 1;
  const syncyte_buffer_t one = buffer_of(1), all = buffer_of(many);
  EXPECT_OK(syncyte_comm_dup(world, NULL, &copy));
  EXPECT_OK(syncyte_comm_dup(world, NULL, &used));
  EXPECT_OK(syncyte_comm_allreduce(used, NULL, SYNCYTE_OP_SUM, NULL, &one));
  EXPECT_OK(syncyte_cart_create(world, 1, &none, 1, &periodic, NULL, &ring));
  const syncyte_halo_t halo = make_halo();
  const syncyte_reducer_t reducer = make_reducer();
  snprintf(gone, sizeof gone, "rank %d (rank %d of the world) has come to finalize", size - 1, size - 1);
  EXPECT_OK(syncyte_comm_barrier(world));
  if (rank == size - 1) {
    syncyte_request_t sent = NULL;
    if (size > 1) EXPECT_OK(syncyte_comm_isend(world, &all, 0, 7, NULL, &sent));
  } else if (argc > 1 && strcmp(argv[1], "start") == 0) {
    wait_for_start();
  } else {
    wait_for_messages();
    wait_in_collectives();
    wait_for_group();
    wait_for_sums(reducer);
    wait_in_halo(halo);
    if (rank == 0) EXPECT_OK(syncyte_comm_recv(world, size - 1, 7, NULL, &all, NULL));
  }
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
