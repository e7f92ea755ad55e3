/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI that was initialized for one thread only (argument funneled), or for one thread at a time (serialized). Calls
 * from a wrong thread are refused without any effect; calls from the right thread work. */
#define _POSIX_C_SOURCE 200112L
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "expect.h"
#include "syncyte_mpi.h"

static int32_t rank, size;
static syncyte_comm_t world;
static syncyte_request_t started;

static syncyte_buffer_t one_number(int32_t* value) {
  const int64_t one = 1;
  syncyte_buffer_t buffer;
  EXPECT_OK(syncyte_buffer_init(value, SYNCYTE_INT32, 1, &one, &buffer));
  return buffer;
}

static void sleep_for(long milliseconds) {
  const struct timespec pause = {0, milliseconds * 1000000};
  nanosleep(&pause, NULL);
}

#define EXPECT_REFUSAL(operation, call)       \
  EXPECT_ERROR(call, SYNCYTE_ERR_UNSUPPORTED, \
               operation ": this thread may not call MPI, whose thread level is funneled")

/* All ranks make these calls from the wrong thread, and each is refused on all. */
static void* call_from_elsewhere(void* nothing) {
  int32_t value = 5, done = 0;
  const int32_t self = rank;
  const syncyte_buffer_t buffer = one_number(&value);
  syncyte_comm_t part = NULL;
  syncyte_request_t request = NULL;
  EXPECT_REFUSAL("comm_barrier", syncyte_comm_barrier(world));
  EXPECT_REFUSAL("comm_allreduce", syncyte_comm_allreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &buffer));
  EXPECT_REFUSAL("comm_iallreduce", syncyte_comm_iallreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &buffer, &request));
  EXPECT_REFUSAL("comm_split", syncyte_comm_split(world, 0, 0, NULL, &part));
  EXPECT_REFUSAL("comm_from_mpi", syncyte_comm_from_mpi(MPI_COMM_WORLD, NULL, &part));
  EXPECT_REFUSAL("comm_send", syncyte_comm_send(world, &buffer, self, 1, NULL));
  EXPECT_REFUSAL("comm_send", syncyte_comm_isend(world, &buffer, self, 1, NULL, &request));
  EXPECT_REFUSAL("comm_recv", syncyte_comm_irecv(world, self, 1, NULL, &buffer, NULL, &request));
  EXPECT_REFUSAL("request_wait", syncyte_request_wait(&started));
  EXPECT_REFUSAL("request_test", syncyte_request_test(&started, &done));
  EXPECT_REFUSAL("finalize", syncyte_finalize());
  EXPECT(part == NULL);
  EXPECT(request == NULL);
  EXPECT(started != NULL);
  EXPECT(value == 5);
  EXPECT_OK(syncyte_comm_rank(world, &value)); /* calls without MPI work in any thread */
  EXPECT(value == rank);
  EXPECT_OK(syncyte_comm_retain(world));
  EXPECT_OK(syncyte_comm_release(world));
  return nothing;
}

static void test_funneled(void) {
  int32_t value = rank + 1, sum = 0;
  const syncyte_buffer_t from = one_number(&value), to = one_number(&sum);
  pthread_t thread;
  EXPECT_OK(syncyte_comm_iallreduce(world, &from, SYNCYTE_OP_SUM, NULL, &to, &started));
  EXPECT(pthread_create(&thread, NULL, call_from_elsewhere, NULL) == 0);
  EXPECT(pthread_join(thread, NULL) == 0);
  EXPECT_OK(syncyte_request_wait(&started)); /* the refused call has had no effect */
  EXPECT(sum == size * (size + 1) / 2);
  EXPECT_OK(syncyte_comm_barrier(world));
}

static void* meet_the_others(void* nothing) {
  EXPECT_OK(syncyte_comm_barrier(world));
  return nothing;
}

/* The first rank's other thread waits in a barrier, which the other ranks enter late. */
static void test_serialized(void) {
  syncyte_comm_t copy = NULL;
  pthread_t thread;
  int64_t before = 0, now = 0;
  EXPECT_OK(syncyte_comm_dup(world, NULL, &copy));
  EXPECT_OK(syncyte_comm_sequence(world, &before));
  if (rank == 0 && size > 1) {
    EXPECT(pthread_create(&thread, NULL, meet_the_others, NULL) == 0);
    for (now = before; now == before; sleep_for(1)) EXPECT_OK(syncyte_comm_sequence(world, &now));
    EXPECT_ERROR(syncyte_comm_barrier(copy), SYNCYTE_ERR_BUSY,
                 "comm_barrier: another thread is inside of MPI, whose thread level is serialized");
    EXPECT(pthread_join(thread, NULL) == 0);
  } else {
    sleep_for(500);
    EXPECT_OK(syncyte_comm_barrier(world));
  }
  /* Any thread may call MPI, one after the other. */
  EXPECT_OK(syncyte_comm_barrier(copy));
  EXPECT(pthread_create(&thread, NULL, meet_the_others, NULL) == 0);
  EXPECT(pthread_join(thread, NULL) == 0);
  EXPECT_OK(syncyte_comm_destroy(&copy));
}

int main(int argc, char** argv) {
  const int is_funneled = argc > 1 && strcmp(argv[1], "funneled") == 0;
  const int wanted = is_funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  if (provided != wanted) {
    MPI_Finalize();
    return 77;
  }
  world = start(&rank, &size);
  if (is_funneled)
    test_funneled();
  else
    test_serialized();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  MPI_Finalize();
  return failures != 0;
}
