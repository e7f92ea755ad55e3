/* Threads go in and out of what the watchdog watches while the main thread ends Syncyte, and after. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "expect.h"

enum { thread_count = 4, least_rounds = 200 };

static atomic_int is_over;

static syncyte_status_t poll_often(void* context, int32_t* done) {
  int* const left = context;
  *done = --*left <= 0;
  return SYNCYTE_SUCCESS;
}

/* Each wait is inside an operation for the watchdog. */
static void* wait_again_and_again(void* unused) {
  (void)unused;
  for (int round = 0; round < least_rounds || !atomic_load(&is_over); ++round) {
    int left = 5;
    syncyte_request_t request = NULL;
    EXPECT_OK(syncyte_request_create(poll_often, NULL, NULL, &left, &request));
    EXPECT_OK(syncyte_request_wait(&request));
  }
  return NULL;
}

int main(void) {
  int32_t rank = 0;
  int32_t size = 0;
  pthread_t threads[thread_count];
  syncyte_comm_t world = start(&rank, &size);
  for (int i = 0; i < thread_count; ++i) EXPECT(pthread_create(&threads[i], NULL, wait_again_and_again, NULL) == 0);
  const struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  nanosleep(&pause, NULL);
  atomic_store(&is_over, 1);
  for (int i = 0; i < thread_count; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  return failures != 0;
}
