/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for memory that only ended ranks could change: they get an error that names them. The last rank ends with locks
   of a row and of a window's part; the first one ends last. A change by a rank that still lives is waited for. */
#include <stdio.h>
#include <time.h>

#include "../capi/expect.h"
#include "../support/waiting.h"

static int32_t rank, size;
static syncyte_comm_t world;

static syncyte_tensor_t make_locked_rows(void) {
  const int64_t rows = size;
  syncyte_tensor_t made = NULL;
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  options.name = "rows";
  options.row_locks = 1;
  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_FLOAT64, 1, &rows, &options, &made));
  return made;
}

static syncyte_window_t make_window(syncyte_lock_t held) {
  syncyte_window_t window = NULL;
  syncyte_window_options_t options = SYNCYTE_WINDOW_OPTIONS_INIT;
  options.name = "parts";
  EXPECT_OK(syncyte_window_create(world, 8, &options, &window));
  if (rank == size - 1) EXPECT_OK(syncyte_window_lock(window, 0, held));
  return window;
}

/* A field of which the last rank would publish versions. */
static syncyte_tensor_t make_versions(void) {
  const int64_t cells = 2, first = 0;
  const int64_t mine = rank == size - 1;
  syncyte_layout_t layout = NULL;
  syncyte_tensor_t made = NULL;
  EXPECT_OK(syncyte_layout_create_blocks(world, 1, &cells, mine, &first, mine, &cells, NULL, &layout));
  EXPECT_OK(syncyte_tensor_create_by_layout(world, SYNCYTE_INT8, layout, 2, NULL, &made));
  EXPECT_OK(syncyte_layout_destroy(&layout));
  return made;
}

static syncyte_status_t take_version(syncyte_tensor_t versions) {
  const int64_t lower = 0, extent = 2;
  int8_t found[2];
  int64_t step = 0;
  syncyte_buffer_t output = SYNCYTE_BUFFER_INIT;
  EXPECT_OK(syncyte_buffer_init(found, SYNCYTE_INT8, 1, &extent, &output));
  return syncyte_tensor_take(versions, 1, &lower, INT64_MIN, 30.0, &output, &step);
}

static void expect_dead_rank(int32_t expected) {
  syncyte_error_fields_t fields = {.struct_size = sizeof fields};
  EXPECT_OK(syncyte_last_error_fields(&fields));
  EXPECT(fields.rank == expected);
}

static void wait_for_ended(syncyte_tensor_t flag, syncyte_tensor_t rows, syncyte_tensor_t versions,
                           syncyte_window_t exclusive, syncyte_window_t shared) {
  char all[80], last[80], of_row[160], of_part[160];
  int64_t found = 0;
  snprintf(last, sizeof last, "rank %d of world has come to finalize", size - 1);
  snprintf(all, sizeof all, "all other ranks of world (1%s%d) have come to finalize", size == 3 ? ", " : "-", size - 1);
  snprintf(of_row, sizeof of_row, "%s, with the lock of row 0 of tensor \"rows\"", last);
  snprintf(of_part, sizeof of_part, "%s, with the lock of rank 0's part of parts", last);
  const time_t begin = time(NULL);
  EXPECT_ERROR(take_version(versions), SYNCYTE_ERR_PEER_DIED, last);
  expect_dead_rank(size - 1);
  EXPECT_ERROR(syncyte_tensor_lock(rows, 0), SYNCYTE_ERR_PEER_DIED, of_row);
  expect_dead_rank(size - 1);
  EXPECT_ERROR(syncyte_window_lock(exclusive, 0, SYNCYTE_LOCK_SHARED), SYNCYTE_ERR_PEER_DIED, of_part);
  EXPECT_OK(syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_EQ, size - 1, -1.0, &found));
  EXPECT_ERROR(syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_GE, size, -1.0, &found), SYNCYTE_ERR_PEER_DIED,
               size == 2 ? last : all);
  expect_dead_rank(1);
  EXPECT_ERROR(syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_GE, size, 30.0, &found), SYNCYTE_ERR_PEER_DIED,
               "no other rank can change it");
  EXPECT_ERROR(syncyte_window_lock(shared, 0, SYNCYTE_LOCK_EXCLUSIVE), SYNCYTE_ERR_PEER_DIED, size == 2 ? last : all);
  EXPECT_OK(syncyte_window_lock(shared, 0, SYNCYTE_LOCK_SHARED));
  EXPECT(time(NULL) - begin < 15);
}

int main(void) {
  world = start(&rank, &size);
  syncyte_tensor_t flag = make_flag(world), rows = make_locked_rows(), versions = make_versions();
  syncyte_window_t exclusive = make_window(SYNCYTE_LOCK_EXCLUSIVE), shared = make_window(SYNCYTE_LOCK_SHARED);
  if (rank == size - 1) EXPECT_OK(syncyte_tensor_lock(rows, 0));
  EXPECT_OK(syncyte_comm_barrier(world));
  if (rank == 0 && size > 1) wait_for_ended(flag, rows, versions, exclusive, shared);
  if (rank == 1) sleep_for(1.2); /* all others have ended */
  if (rank > 0) EXPECT_OK(syncyte_tensor_fetch_add(flag, 0, 1, NULL));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
