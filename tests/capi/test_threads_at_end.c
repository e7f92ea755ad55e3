/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank calls finalize while one of its threads is still in a collective, which the others never enter: the
 * thread gets an error, and no rank hangs. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <time.h>

#include "expect.h"

static void* wait_for_others(void* world) {
  EXPECT_ERROR(syncyte_comm_barrier(world), SYNCYTE_ERR_MISMATCH, "finalize on rank");
  return NULL;
}

int main(void) {
  int32_t rank = 0;
  int32_t size = 0;
  int32_t level = 0;
  syncyte_comm_t world = start(&rank, &size);
  EXPECT_OK(syncyte_thread_level(&level));
  const int has_thread = size > 1 && rank == size - 1 && level == 3;
  pthread_t thread;
  if (has_thread) EXPECT(pthread_create(&thread, NULL, wait_for_others, world) == 0);
  /* Order: the thread enters its barrier, the last rank calls finalize, then the others do. */
  const struct timespec pause = {0, has_thread ? 200000000 : 400000000};
  nanosleep(&pause, NULL);
  EXPECT_OK(syncyte_finalize());
  if (has_thread) EXPECT(pthread_join(thread, NULL) == 0);
  EXPECT_OK(syncyte_comm_destroy(&world));
  return failures != 0;
}
