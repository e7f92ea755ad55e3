/* MPI was initialised for one thread, or for one at a time (the argument). All threads may pull, push and set keys of
   other nodes: these calls do not use MPI. */
#include <mpi.h>
#include <pthread.h>

#include "expect.h"
#include "syncyte_mpi.h"
#include "vector.h"

enum { keys = 100, threads = 3, rounds = 50 };
static syncyte_kv_worker_t workers[threads];

static int level_of(const char* name) {
  if (strcmp(name, "single") == 0) return MPI_THREAD_SINGLE;
  return strcmp(name, "funneled") == 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED;
}

static void* push_all(void* context) {
  const syncyte_kv_worker_t worker = *(syncyte_kv_worker_t*)context;
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
    EXPECT_OK(syncyte_kv_worker_push(worker, &wanted, &given, NULL));
    EXPECT_OK(syncyte_kv_worker_pull(worker, &wanted, &room, NULL));
    EXPECT(found[0] >= (float)round && found[keys - 1] >= (float)round);
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
  syncyte_kv_options_t options = SYNCYTE_KV_OPTIONS_INIT;
  options.workers = threads;
  syncyte_kv_t kv = NULL;
  EXPECT_OK(syncyte_kv_create(world, SYNCYTE_FLOAT32, keys, 1, &length, &options, &kv));
  for (int i = 0; i < threads; ++i) EXPECT_OK(syncyte_kv_worker_create(kv, i, &workers[i]));
  push_by_threads();
  EXPECT_OK(syncyte_kv_sync(kv));
  const syncyte_buffer_t wanted = vector_of(&last, SYNCYTE_INT64, 1), room = vector_of(&found, SYNCYTE_FLOAT32, 1);
  EXPECT_OK(syncyte_kv_worker_pull(workers[0], &wanted, &room, NULL));
  EXPECT(found == (float)(size * threads * rounds));
  EXPECT_OK(syncyte_kv_sync(kv));
  for (int i = 0; i < threads; ++i) EXPECT_OK(syncyte_kv_worker_destroy(&workers[i]));
  EXPECT_OK(syncyte_kv_destroy(&kv));
  syncyte_comm_t dropped = world;
  EXPECT_OK(syncyte_comm_destroy(&dropped));
  EXPECT_OK(syncyte_finalize());
  MPI_Finalize();
  return failures != 0;
}
