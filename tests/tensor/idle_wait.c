/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that waits for one of several answers of another node sleeps: the owner is stopped for a moment, and the
   wait takes little of the processor meanwhile. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../capi/expect.h"

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void* go_on(void* process) {
  usleep(1000000);
  kill(*(const pid_t*)process, SIGCONT);
  return NULL;
}

int main(void) {
  int32_t rank = 0, size = 0;
  syncyte_comm_t world = start(&rank, &size);
  syncyte_tensor_t tensor = NULL;
  const int64_t shape[1] = {2}, one = 1;
  int64_t row = 1, pid = 0, values[2] = {0, 0}, index = -1;
  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_INT64, 1, shape, NULL, &tensor));
  EXPECT_OK(syncyte_tensor_store(tensor, rank, getpid()));
  EXPECT_OK(syncyte_tensor_sync(tensor));
  if (rank == 0) {
    syncyte_buffer_t where, output;
    syncyte_request_t requests[2] = {NULL, NULL};
    pthread_t thread;
    EXPECT_OK(syncyte_tensor_load(tensor, 1, &pid));
    pid_t owner = (pid_t)pid;
    EXPECT_OK(syncyte_buffer_init(&row, SYNCYTE_INT64, 1, &one, &where));
    EXPECT(kill(owner, SIGSTOP) == 0);
    usleep(100000); /* until all threads have stopped */
    pthread_create(&thread, NULL, go_on, &owner);
    for (int i = 0; i < 2; ++i) {
      EXPECT_OK(syncyte_buffer_init(&values[i], SYNCYTE_INT64, 1, &one, &output));
      EXPECT_OK(syncyte_tensor_igather(tensor, &where, &output, &requests[i]));
    }
    const double begin = seconds_of(CLOCK_MONOTONIC), used = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    EXPECT_OK(syncyte_request_wait_any(2, requests, &index));
    const double waited = seconds_of(CLOCK_MONOTONIC) - begin;
    EXPECT(waited > 0.5);
    EXPECT(seconds_of(CLOCK_THREAD_CPUTIME_ID) - used < 0.3 * waited);
    EXPECT_OK(syncyte_request_wait_all(2, requests));
    EXPECT(values[0] == pid);
    EXPECT(values[1] == pid);
    pthread_join(thread, NULL);
  }
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
