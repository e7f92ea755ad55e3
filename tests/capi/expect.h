/* SPDX-License-Identifier: BSD-3-Clause */
/* Expectations of the C tests: a failure is printed with its line and counted, and the test continues. */
#ifndef SYNCYTE_TESTS_CAPI_EXPECT_H
#define SYNCYTE_TESTS_CAPI_EXPECT_H

#include <stdio.h>
#include <string.h>

#include "failures.h"
#include "syncyte.h"

#define EXPECT_OK(call) expect_status(call, SYNCYTE_SUCCESS, "", #call, __FILE__, __LINE__)

/* Expects that the call fails with the status, and that the message contains the text. */
#define EXPECT_ERROR(call, status, text) expect_status(call, status, text, #call, __FILE__, __LINE__)

static inline void expect_status(syncyte_status_t actual, syncyte_status_t expected, const char* text, const char* call,
                                 const char* file, int line) {
  const char* message = actual == SYNCYTE_SUCCESS ? "" : syncyte_last_error();
  if (actual == expected && strstr(message, text) != NULL) return;
  ++failures;
  fprintf(stderr, "%s:%d: %s\n  gave %s: %s\n  expected %s: ...%s...\n", file, line, call, syncyte_status_name(actual),
          message, syncyte_status_name(expected), text);
}

/* Starts Syncyte and returns the communicator of all ranks, which the caller destroys. */
static inline syncyte_comm_t start(int32_t* rank, int32_t* size) {
  syncyte_comm_t world = NULL;
  EXPECT_OK(syncyte_init(NULL));
  EXPECT_OK(syncyte_comm_world(&world));
  EXPECT_OK(syncyte_comm_rank(world, rank));
  EXPECT_OK(syncyte_comm_size(world, size));
  return world;
}

#endif
