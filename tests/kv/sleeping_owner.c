/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that computes without calls still serves its keys to ranks of its node and of another host. Takes the seconds
   that it computes. */
#include <stdlib.h>
#include <time.h>

#include "expect.h"
#include "vector.h"

enum { keys = 4000, length = 16, rounds = 20 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int64_t list[keys];
static float values[keys][length];

/* Pushes ones to all keys several times, in another order each time. */
static void push_all(syncyte_store_worker_t worker, const syncyte_buffer_t* wanted, const syncyte_buffer_t* room) {
  for (int i = 0; i < keys; ++i)
    for (int j = 0; j < length; ++j) values[i][j] = 1;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < keys; ++i) list[i] = ((int64_t)i * 7919 + round) % keys;
    EXPECT_OK(syncyte_store_worker_push(worker, wanted, room));
  }
}

static void expect_all(syncyte_store_worker_t worker, const syncyte_buffer_t* wanted, const syncyte_buffer_t* room,
                       float least, float most) {
  int wrong = 0;
  EXPECT_OK(syncyte_store_worker_pull(worker, wanted, room));
  for (int i = 0; i < keys; ++i)
    for (int j = 0; j < length; ++j) wrong += values[i][j] < least || values[i][j] > most;
  EXPECT(wrong == 0);
}

int main(int argc, char** argv) {
  const double pause = argc > 1 ? atof(argv[1]) : 1.0;
  const int64_t each = length;
  int32_t rank = 0, ranks = 0;
  syncyte_comm_t world = start(&rank, &ranks);
  syncyte_store_t kv = NULL;
  syncyte_store_worker_t worker = NULL;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, keys, 1, &each, NULL, &kv));
  if (kv == NULL) return 1;
  EXPECT_OK(syncyte_store_worker_create(kv, 0, &worker));
  EXPECT_OK(syncyte_store_sync(kv));
  const syncyte_buffer_t wanted = vector_of(list, SYNCYTE_INT64, keys);
  const syncyte_buffer_t room = vector_of(values, SYNCYTE_FLOAT32, (int64_t)keys * length);
  const double begin = seconds();
  if (rank == ranks - 1) {
    while (seconds() - begin < pause) continue;
  } else {
    push_all(worker, &wanted, &room);
    expect_all(worker, &wanted, &room, rounds, (float)(rounds * (ranks - 1)));
    EXPECT(seconds() - begin < pause);
  }
  EXPECT_OK(syncyte_store_sync(kv));
  for (int i = 0; i < keys; ++i) list[i] = i;
  expect_all(worker, &wanted, &room, (float)(rounds * (ranks - 1)), (float)(rounds * (ranks - 1)));
  EXPECT_OK(syncyte_store_sync(kv));
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&kv));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
