/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rank calls finalize while the others wait for it: they get an error, and no rank hangs. */
#include "expect.h"

int main(void) {
  int32_t rank = 0;
  int32_t size = 0;
  syncyte_comm_t world = start(&rank, &size);
  syncyte_comm_options_t options = SYNCYTE_COMM_OPTIONS_INIT;
  syncyte_comm_t copy = NULL;
  int32_t level = 0;
  EXPECT_OK(syncyte_comm_dup(world, &options, &copy));
  EXPECT_OK(syncyte_comm_check_level(copy, &level));
  EXPECT(level == 1); /* an initialized struct has the defaults */
  EXPECT_OK(syncyte_comm_destroy(&copy));
  if (size > 1 && rank < size - 1) {
    EXPECT_ERROR(syncyte_comm_barrier(world), SYNCYTE_ERR_MISMATCH, "a rank whose program has ended is in finalize");
    EXPECT_ERROR(syncyte_comm_barrier(world), SYNCYTE_ERR_MISMATCH, "comm_barrier on rank");
  }
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
