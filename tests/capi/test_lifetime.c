/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks destroy communicators in any order; they are freed in later collective calls. Handles are never reused. */
#include <stdlib.h>

#include "expect.h"

int main(void) {
  int32_t rank = 0, size = 0;
  syncyte_comm_t world = start(&rank, &size);
  enum { count = 20 };
  syncyte_comm_t parts[count];
  for (int i = 0; i < count; ++i) EXPECT_OK(syncyte_comm_dup(world, NULL, &parts[i]));
  for (int i = 0; i < count; ++i) { /* each rank in another order */
    EXPECT_OK(syncyte_comm_destroy(&parts[(i * 7 + rank) % count]));
  }
  EXPECT_OK(syncyte_comm_collect(world));

  syncyte_comm_t before = NULL;
  EXPECT_OK(syncyte_comm_dup(world, NULL, &before));
  const syncyte_comm_t old = before;
  EXPECT_OK(syncyte_comm_destroy(&before));
  for (int i = 0; i < 100; ++i) {
    syncyte_comm_t next = NULL;
    EXPECT_OK(syncyte_comm_dup(world, NULL, &next));
    EXPECT(next != old);
    EXPECT_ERROR(syncyte_comm_barrier(old), SYNCYTE_ERR_HANDLE, "freed");
    EXPECT_OK(syncyte_comm_destroy(&next));
  }
  syncyte_comm_t kept = NULL; /* not destroyed before finalize */
  EXPECT_OK(syncyte_comm_dup(world, NULL, &kept));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  EXPECT_ERROR(syncyte_comm_barrier(kept), SYNCYTE_ERR_NOT_INITIALIZED, "already finalized");
  EXPECT_OK(syncyte_comm_destroy(&kept)); /* works after the end */
  return failures != 0;
}
