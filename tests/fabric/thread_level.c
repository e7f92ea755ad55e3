/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI was initialized for one thread, or for one at a time (the argument). All threads may use keys, rows and windows
   of other nodes, and wait for started accesses: these calls do not use MPI. */
#include <mpi.h>
#include <pthread.h>

#include "expect.h"
#include "syncyte_mpi.h"
#include "vector.h"

enum { keys = 100, threads = 3, rounds = 20 };
static syncyte_store_worker_t workers[threads];
static syncyte_tensor_t table;
static syncyte_window_t window;
static int32_t ranks;

static int level_of(const char* name) {
  if (strcmp(name, "single") == 0) return MPI_THREAD_SINGLE;
  return strcmp(name, "funneled") == 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED;
}

/* Adds 1 to an element of every rank's memory: of a tensor, at once and started, under a row's lock, and of a window.
 */
static void add_everywhere(void) {
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t one = 1, found = 0, index = -1;
    const syncyte_buffer_t row = vector_of(&rank, SYNCYTE_INT64, 1), source = vector_of(&one, SYNCYTE_INT64, 1);
    const syncyte_buffer_t output = vector_of(&found, SYNCYTE_INT64, 1);
    syncyte_request_t requests[3] = {NULL, NULL, NULL};
    EXPECT_OK(syncyte_tensor_scatter_add(table, &row, &source));
    EXPECT_OK(syncyte_tensor_iscatter_add(table, &row, &source, &requests[0]));
    EXPECT_OK(syncyte_window_iaccumulate(window, (int32_t)rank, 0, &source, SYNCYTE_OP_SUM, &requests[1]));
    EXPECT_OK(syncyte_request_wait_any(2, requests, &index));
    EXPECT_OK(syncyte_tensor_igather(table, &row, &output, &requests[2]));
    EXPECT_OK(syncyte_request_wait_all(3, requests));
    EXPECT(found >= 2);
    EXPECT_OK(syncyte_window_fetch_op(window, (int32_t)rank, 0, SYNCYTE_INT64, &one, SYNCYTE_OP_SUM, &found));
    EXPECT_OK(syncyte_tensor_lock(table, rank));
    EXPECT_OK(syncyte_tensor_unlock(table, rank));
  }
}

static void check_additions(int32_t rank) {
  int64_t found = 0;
  const int64_t expected = (int64_t)2 * ranks * threads * rounds;
  const syncyte_buffer_t output = vector_of(&found, SYNCYTE_INT64, 1);
  EXPECT_OK(syncyte_tensor_sync(table));
  EXPECT_OK(syncyte_tensor_load(table, (rank + 1) % ranks, &found));
  EXPECT(found == expected);
  EXPECT_OK(syncyte_window_get(window, (rank + 1) % ranks, 0, &output));
  EXPECT(found == expected);
}

static void* push_all(void* context) {
  const syncyte_store_worker_t worker = *(syncyte_store_worker_t*)context;
  int64_t list[keys];
  float values[keys], found[keys];
  for (int i = 0; i < keys; ++i) {
    list[i] = i;
    values[i] = 1;
  }
  const syncyte_buffer_t wanted = vector_of(list, SYNCYTE_INT64, keys);
  const syncyte_buffer_t given = vector_of(values, SYNCYTE_FLOAT32, keys);
  const syncyte_buffer_t room = vector_of(found, SYNCYTE_FLOAT32, keys);
  for (int round = 1; round <= rounds; ++round) {
    EXPECT_OK(syncyte_store_worker_push(worker, &wanted, &given));
    EXPECT_OK(syncyte_store_worker_pull(worker, &wanted, &room));
    EXPECT(found[0] >= (float)round);
    EXPECT(found[keys - 1] >= (float)round);
    add_everywhere();
  }
  return NULL;
}

/* With MPI_THREAD_SINGLE a program has no other threads that may ever call MPI. */
static void push_by_threads(void) {
  pthread_t running[threads];
  for (int i = 0; i < threads; ++i) EXPECT(pthread_create(&running[i], NULL, push_all, &workers[i]) == 0);
  for (int i = 0; i < threads; ++i) EXPECT(pthread_join(running[i], NULL) == 0);
}

int main(int argc, char** argv) {
  int provided = 0;
  int64_t last = keys - 1;
  const int64_t length = 1;
  float found = 0;
  int32_t rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, level_of(argv[argc - 1]), &provided);
  const syncyte_comm_t world = start(&rank, &size);
  syncyte_store_options_t options = SYNCYTE_STORE_OPTIONS_INIT;
  options.workers = threads;
  syncyte_tensor_options_t lockable = SYNCYTE_TENSOR_OPTIONS_INIT;
  lockable.row_locks = 1;
  const int64_t rows = size;
  ranks = size;
  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_INT64, 1, &rows, &lockable, &table));
  EXPECT_OK(syncyte_window_create(world, sizeof(int64_t), NULL, &window));
  syncyte_store_t kv = NULL;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, keys, 1, &length, &options, &kv));
  for (int i = 0; i < threads; ++i) EXPECT_OK(syncyte_store_worker_create(kv, i, &workers[i]));
  push_by_threads();
  EXPECT_OK(syncyte_store_sync(kv));
  const syncyte_buffer_t wanted = vector_of(&last, SYNCYTE_INT64, 1), room = vector_of(&found, SYNCYTE_FLOAT32, 1);
  EXPECT_OK(syncyte_store_worker_pull(workers[0], &wanted, &room));
  EXPECT(found == (float)(size * threads * rounds));
  check_additions(rank);
  EXPECT_OK(syncyte_store_sync(kv));
  EXPECT_OK(syncyte_window_destroy(&window));
  EXPECT_OK(syncyte_tensor_destroy(&table));
  for (int i = 0; i < threads; ++i) EXPECT_OK(syncyte_store_worker_destroy(&workers[i]));
  EXPECT_OK(syncyte_store_destroy(&kv));
  syncyte_comm_t dropped = world;
  EXPECT_OK(syncyte_comm_destroy(&dropped));
  EXPECT_OK(syncyte_finalize());
  MPI_Finalize();
  return failures != 0;
}
