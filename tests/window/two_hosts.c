/* SPDX-License-Identifier: BSD-3-Clause */
/* On two hosts a window works by the fabric. With the argument "off" there is no fabric: the window works by MPI RMA,
   or fails on all ranks with a message that this MPI has no one-sided communication, and with advice. */
#include "expect.h"

int main(int argc, char** argv) {
  const int is_off = argc > 1 && strcmp(argv[1], "off") == 0;
  int32_t rank = 0, ranks = 0;
  syncyte_comm_t world = start(&rank, &ranks);
  syncyte_window_t window = NULL;
  const syncyte_status_t status = syncyte_window_create(world, 4096, NULL, &window);
  if (is_off && status == SYNCYTE_ERR_UNSUPPORTED) {
    EXPECT(strstr(syncyte_last_error(), "--mca osc ucx") != NULL);
  } else {
    const int64_t one = 1;
    int64_t previous = -1;
    EXPECT_OK(status);
    EXPECT_OK(syncyte_window_fetch_op(window, 0, 0, SYNCYTE_INT64, &one, SYNCYTE_OP_SUM, &previous));
    EXPECT(previous >= 0 && previous < ranks);
    EXPECT_OK(syncyte_window_fence(window));
    EXPECT_OK(syncyte_window_destroy(&window));
  }
  EXPECT_OK(syncyte_comm_barrier(world)); /* the communicator still works */
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
