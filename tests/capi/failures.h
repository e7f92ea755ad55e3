/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT() prints and counts a failure with its file and line; the test continues. Needs no library. */
#ifndef SYNCYTE_TESTS_CAPI_FAILURES_H
#define SYNCYTE_TESTS_CAPI_FAILURES_H

#include <stdio.h>

static int failures = 0;

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      ++failures;                                                              \
      fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
    }                                                                          \
  } while (0)

#endif
