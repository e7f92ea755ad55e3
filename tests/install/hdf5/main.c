/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program in C: every rank saves three rows, and loads the row that follows them. */
#include <stdio.h>
#include <syncyte.h>
#include <syncyte/checkpoint.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, syncyte_last_error());
  return 1;
}

int main(void) {
  syncyte_comm_t world = NULL;
  syncyte_checkpoint_t file = NULL;
  int32_t rank = 0, size = 0;
  if (syncyte_init(NULL) != SYNCYTE_SUCCESS) return failed("init");
  if (syncyte_comm_world(&world) != SYNCYTE_SUCCESS) return failed("world");
  syncyte_comm_rank(world, &rank);
  syncyte_comm_size(world, &size);

  double rows[3] = {3.0 * rank, 3.0 * rank + 1, 3.0 * rank + 2}, next = -1.0;
  const int64_t three[] = {3}, one[] = {1};
  syncyte_buffer_t part;
  syncyte_buffer_init(rows, SYNCYTE_FLOAT64, 1, three, &part);
  const syncyte_checkpoint_entry_t entry = {sizeof entry, "rows", &part, SYNCYTE_ENTRY_SHARDED, 0};
  if (syncyte_checkpoint_save(world, "consumer.h5", 1, &entry, NULL) != SYNCYTE_SUCCESS) return failed("save");

  syncyte_buffer_t target;
  syncyte_buffer_init(&next, SYNCYTE_FLOAT64, 1, one, &target);
  const int64_t wanted = (3 * rank + 3) % (3 * size);
  if (syncyte_checkpoint_open(world, "consumer.h5", NULL, &file) != SYNCYTE_SUCCESS) return failed("open");
  if (syncyte_checkpoint_read(file, "rows", wanted, &target) != SYNCYTE_SUCCESS) return failed("read");
  if (syncyte_checkpoint_close(&file) != SYNCYTE_SUCCESS) return failed("close");
  if (next != (double)wanted) return 1;
  if (rank == 0) printf("consumer: %d ranks saved and loaded\n", size);
  if (syncyte_comm_destroy(&world) != SYNCYTE_SUCCESS) return failed("destroy");
  return syncyte_finalize() == SYNCYTE_SUCCESS ? 0 : failed("finalize");
}
