/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of small C programs that wait, or hang, until they are ended. */
#ifndef SYNCYTE_TESTS_SUPPORT_WAITING_H
#define SYNCYTE_TESTS_SUPPORT_WAITING_H

#include <stdlib.h>
#include <time.h>

#include "syncyte.h"

/* Starts Syncyte and returns the communicator of all ranks; exits with 1 if that fails. */
static inline syncyte_comm_t start_world(int32_t* rank, int32_t* size) {
  syncyte_comm_t world = NULL;
  if (syncyte_init(NULL) != SYNCYTE_SUCCESS || syncyte_comm_world(&world) != SYNCYTE_SUCCESS) exit(1);
  syncyte_comm_rank(world, rank);
  syncyte_comm_size(world, size);
  return world;
}

static inline void sleep_for(double seconds) {
  const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
}

/* A tensor of one int64 element, 0 at first. */
static inline syncyte_tensor_t make_flag(syncyte_comm_t world) {
  const int64_t one = 1;
  syncyte_tensor_t flag = NULL;
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  options.name = "flag";
  if (syncyte_tensor_create(world, SYNCYTE_INT64, 1, &one, &options, &flag) != SYNCYTE_SUCCESS) exit(1);
  return flag;
}

/* A window of 8 bytes on each rank; the last rank holds rank 0's lock, shared, when this returns. */
static inline syncyte_window_t make_held_window(syncyte_comm_t world, int32_t is_last) {
  syncyte_window_t window = NULL;
  syncyte_window_options_t options = SYNCYTE_WINDOW_OPTIONS_INIT;
  options.name = "parts";
  if (syncyte_window_create(world, 8, &options, &window) != SYNCYTE_SUCCESS) exit(1);
  if (is_last) syncyte_window_lock(window, 0, SYNCYTE_LOCK_SHARED);
  syncyte_comm_barrier(world);
  return window;
}

#endif
