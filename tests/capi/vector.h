/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer of one dimension. */
#ifndef SYNCYTE_TESTS_CAPI_VECTOR_H
#define SYNCYTE_TESTS_CAPI_VECTOR_H

#include "expect.h"

static inline syncyte_buffer_t vector_of(void* data, syncyte_dtype_t dtype, int64_t count) {
  syncyte_buffer_t buffer;
  EXPECT_OK(syncyte_buffer_init(data, dtype, 1, &count, &buffer));
  return buffer;
}

#endif
