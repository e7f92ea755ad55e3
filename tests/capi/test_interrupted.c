/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0's waits are interrupted. The other ranks do their part of an operation only after rank 0 has sent a message
   that its wait has ended. Only the communicator of an interrupted collective, and a halo, become unusable. With the
   argument "world" rank 0 is interrupted in a collective of the world, and ends alone. */
#include <stdlib.h>

#include "../support/waiting.h"
#include "vector.h"

enum { many = 200000, word = 1000 };
static int32_t rank, size, last;
static syncyte_comm_t world, self, copy, ring;
static double values[many], received[many];
static int32_t shall_end, asked;

static int32_t shall_wait_end(void* context) {
  EXPECT(context == &shall_end);
  EXPECT_OK(syncyte_comm_barrier(self)); /* it may call Syncyte */
  ++asked;
  return shall_end;
}

static syncyte_buffer_t doubles(double* data, int64_t count) { return vector_of(data, SYNCYTE_FLOAT64, count); }

static syncyte_buffer_t buffer_of(int64_t count) { return doubles(values, count); }

static void expect_interrupted(syncyte_status_t status, const char* text) {
  EXPECT(asked > 0);
  asked = 0;
  EXPECT_ERROR(status, SYNCYTE_ERR_INTERRUPTED, text);
}

/* Sends the message that lets the other ranks continue. */
static void give_word(void) {
  double nothing = 0;
  const syncyte_buffer_t one = doubles(&nothing, 1);
  shall_end = 0;
  for (int32_t other = 1; other < size; ++other) EXPECT_OK(syncyte_comm_send(world, &one, other, word, NULL));
}

static void await_word(void) {
  double nothing = 0;
  const syncyte_buffer_t one = doubles(&nothing, 1);
  EXPECT_OK(syncyte_comm_recv(world, 0, word, NULL, &one, NULL));
}

static void test_receives(void) {
  const syncyte_buffer_t one = buffer_of(1);
  if (rank == 0) {
    shall_end = 1;
    expect_interrupted(syncyte_comm_recv(world, last, 1, NULL, &one, NULL), "");
    expect_interrupted(syncyte_comm_recv(world, SYNCYTE_ANY, SYNCYTE_ANY, NULL, &one, NULL), "");
    give_word();
  } else {
    await_word();
  }
  if (rank == last) {
    values[0] = 7;
    EXPECT_OK(syncyte_comm_send(world, &one, 0, 1, NULL));
  }
  if (rank != 0) return;
  EXPECT_OK(syncyte_comm_recv(world, last, 1, NULL, &one, NULL));
  EXPECT(values[0] == 7);
}

static void test_sends(void) {
  const syncyte_buffer_t one = buffer_of(1), all = buffer_of(many), others = doubles(received, many);
  if (rank == 0) {
    shall_end = 1;
    values[many - 1] = 8;
    expect_interrupted(syncyte_comm_send(world, &all, last, 2, NULL), "");
    values[0] = 9;
    expect_interrupted(syncyte_comm_sendrecv(world, &one, last, 3, last, 3, NULL, &others, NULL), "");
    give_word();
  } else {
    await_word();
    if (rank != last) return;
    EXPECT_OK(syncyte_comm_recv(world, 0, 3, NULL, &one, NULL));
    EXPECT(values[0] == 9);
    EXPECT_OK(syncyte_comm_recv(world, 0, 2, NULL, &all, NULL));
    EXPECT(values[many - 1] == 8);
  }
}

static void test_requests(void) {
  const syncyte_buffer_t one = buffer_of(1);
  syncyte_request_t requests[2] = {NULL, NULL};
  int64_t index = 5;
  if (rank == 0) {
    for (int32_t i = 0; i < 2; ++i) {
      const syncyte_buffer_t into = doubles(&received[i], 1);
      EXPECT_OK(syncyte_comm_irecv(world, last, 4 + i, NULL, &into, NULL, &requests[i]));
    }
    shall_end = 1;
    expect_interrupted(syncyte_request_wait(&requests[0]), "");
    expect_interrupted(syncyte_request_wait_all(2, requests), "");
    expect_interrupted(syncyte_request_wait_any(2, requests, &index), "");
    EXPECT(requests[0] != NULL);
    EXPECT(requests[1] != NULL);
    EXPECT(index == -1);
    give_word();
  } else {
    await_word();
  }
  for (int32_t i = 0; i < 2 && rank == last; ++i)
    EXPECT_OK(syncyte_comm_isend(world, &one, 0, 4 + i, NULL, &requests[i]));
  EXPECT_OK(syncyte_request_wait_all(2, requests));
}

/* A request that has only a poll function. */
static syncyte_status_t poll_flag(void* context, int32_t* done) {
  *done = *(int32_t*)context;
  return SYNCYTE_SUCCESS;
}

static void test_created_request(void) {
  int32_t has_ended = 0;
  syncyte_request_t request = NULL;
  EXPECT_OK(syncyte_request_create(poll_flag, NULL, NULL, &has_ended, &request));
  shall_end = 1;
  if (rank == 0) expect_interrupted(syncyte_request_wait(&request), "");
  EXPECT(request != NULL);
  shall_end = 0;
  has_ended = 1;
  EXPECT_OK(syncyte_request_wait(&request));
}

static void test_started_collective(void) {
  const syncyte_buffer_t one = buffer_of(1);
  syncyte_request_t request = NULL;
  if (rank != 0) await_word();
  values[0] = 1;
  EXPECT_OK(syncyte_comm_iallreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &one, &request));
  if (rank == 0) {
    shall_end = 1;
    expect_interrupted(syncyte_request_wait(&request), "");
    give_word();
  }
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT(values[0] == size);
}

static syncyte_halo_t make_halo(void) {
  const int64_t shape = 4, one = 1;
  syncyte_halo_t halo = NULL;
  EXPECT_OK(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 1, &shape, 1, &one, 1, &one, 0, NULL, NULL, &halo));
  return halo;
}

static void test_halo(void) {
  double cells[4] = {0};
  const syncyte_buffer_t field = doubles(cells, 4);
  const syncyte_halo_t halo = make_halo();
  syncyte_request_t request = NULL;
  if (rank != 0) await_word();
  cells[1] = cells[2] = rank + 1;
  EXPECT_OK(syncyte_halo_iexchange(halo, &field, &request));
  if (rank == 0) {
    shall_end = 1;
    expect_interrupted(syncyte_request_wait(&request), "");
    give_word();
  }
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT(cells[0] == (rank + size - 1) % size + 1);
  EXPECT(cells[3] == (rank + 1) % size + 1);
  EXPECT_OK(syncyte_comm_barrier(world));
  if (rank == 0) {
    shall_end = 1;
    expect_interrupted(syncyte_halo_exchange(halo, &field), "");
    EXPECT_ERROR(syncyte_halo_exchange(halo, &field), SYNCYTE_ERR_BUSY, "has failed half-way");
    give_word();
  } else {
    await_word();
    EXPECT_OK(syncyte_halo_exchange(halo, &field));
  }
}

static void test_reducer(void) {
  const syncyte_dtype_t type = SYNCYTE_FLOAT64;
  const int64_t count = 100;
  syncyte_reducer_t reducer = NULL;
  EXPECT_OK(syncyte_reducer_create(world, 1, &type, &count, NULL, &reducer));
  if (rank != 0) await_word();
  EXPECT_OK(syncyte_reducer_start(reducer, 0));
  if (rank == 0) {
    shall_end = 1;
    expect_interrupted(syncyte_reducer_wait(reducer), "");
    give_word();
  }
  EXPECT_OK(syncyte_reducer_wait(reducer));
}

static void test_collective(void) {
  const syncyte_buffer_t one = buffer_of(1);
  syncyte_request_t request = NULL;
  if (rank == 0) {
    shall_end = 1;
    expect_interrupted(syncyte_comm_barrier(copy), "ended this wait");
    EXPECT_ERROR(syncyte_comm_barrier(copy), SYNCYTE_ERR_INTERRUPTED, "is out of step");
    EXPECT_ERROR(syncyte_comm_ibcast(copy, 0, NULL, &one, &request), SYNCYTE_ERR_INTERRUPTED, "is out of step");
    give_word();
  } else {
    await_word();
  }
  EXPECT_OK(syncyte_comm_barrier(world));
}

static void test_group(void) {
  int32_t* all = malloc((size_t)size * sizeof *all);
  for (int32_t i = 0; i < size; ++i) all[i] = i;
  syncyte_comm_t group = NULL;
  if (rank == 0) {
    shall_end = 1;
    expect_interrupted(syncyte_comm_create_group(world, size, all, 0, NULL, &group), "");
    give_word();
  } else {
    await_word();
    EXPECT_ERROR(syncyte_comm_create_group(world, size, all, 0, NULL, &group), SYNCYTE_ERR_MISMATCH,
                 "rank 0 of world makes no");
  }
  EXPECT(group == NULL);
  free(all);
}

static void test_no_reason_to_end(void) {
  EXPECT_OK(syncyte_comm_barrier(world)); /* the others wait for all of rank 1's sleep */
  if (rank == 1) sleep_for(0.5);
  EXPECT_OK(syncyte_comm_barrier(world));
  EXPECT(rank == 1 || asked > 0);
}

/* A thread's limit ends its waits as an interrupt does, beside a function that does not end them. */
static void test_limit(void) {
  syncyte_comm_t late = NULL;
  syncyte_buffer_t one = buffer_of(1);
  EXPECT_OK(syncyte_comm_dup(world, NULL, &late));
  EXPECT_ERROR(syncyte_wait_limit_set(-1.0), SYNCYTE_ERR_ARGUMENT, "seconds is -1; expected 0 to 1e9");
  EXPECT_ERROR(syncyte_wait_limit_set(0.0 / 0.0), SYNCYTE_ERR_ARGUMENT, "nan; expected");
  if (rank == 0) {
    syncyte_request_t request = NULL;
    shall_end = 0;
    EXPECT_OK(syncyte_wait_limit_set(0.3));
    EXPECT_ERROR(syncyte_comm_barrier(late), SYNCYTE_ERR_INTERRUPTED, "within its timeout of 0.3 s");
    EXPECT_ERROR(syncyte_comm_recv(world, last, 3, NULL, &one, NULL), SYNCYTE_ERR_INTERRUPTED,
                 "within its timeout of 0.3 s");
    EXPECT_OK(syncyte_comm_irecv(world, last, 4, NULL, &one, NULL, &request));
    EXPECT_ERROR(syncyte_request_wait(&request), SYNCYTE_ERR_INTERRUPTED, "within its timeout of 0.3 s");
    EXPECT_OK(syncyte_wait_limit_set(0.0));
    EXPECT_ERROR(syncyte_comm_barrier(late), SYNCYTE_ERR_INTERRUPTED, "out of step");
    asked = 0;
    give_word();
    EXPECT_OK(syncyte_request_wait(&request));
  } else {
    await_word();
  }
  if (rank == last) EXPECT_OK(syncyte_comm_send(world, &one, 0, 4, NULL));
  EXPECT_OK(syncyte_comm_barrier(world));
  EXPECT_OK(syncyte_comm_destroy(&late));
}

int main(int argc, char** argv) {
  const int32_t none = 0, periodic = 1;
  world = start(&rank, &size);
  last = size - 1;
  EXPECT_OK(syncyte_comm_self(&self));
  EXPECT_OK(syncyte_comm_dup(world, NULL, &copy));
  EXPECT_OK(syncyte_cart_create(world, 1, &none, 1, &periodic, NULL, &ring));
  EXPECT_OK(syncyte_interrupt_set(shall_wait_end, &shall_end));
  if (argc > 1 && strcmp(argv[1], "world") == 0) {
    shall_end = 1;
    if (rank != 0) return sleep_for(20), 0;
    expect_interrupted(syncyte_comm_barrier(world), "");
  } else {
    test_receives();
    test_sends();
    test_requests();
    test_created_request();
    test_started_collective();
    test_halo();
    test_reducer();
    test_group();
    test_collective();
    test_limit();
    test_no_reason_to_end();
  }
  EXPECT_OK(syncyte_interrupt_set(NULL, NULL));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
