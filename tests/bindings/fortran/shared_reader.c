/* SPDX-License-Identifier: BSD-3-Clause */
/* The C program of a job of two programs: it reads each snapshot that shared_solver.f90 publishes. Fortran's
 * field(i, j, slot) is [slot][j][i] here. */
#include <stdio.h>
#include <stdlib.h>

#include "syncyte.h"

static void must(syncyte_status_t status, const char* what) {
  if (status == SYNCYTE_SUCCESS) return;
  fprintf(stderr, "FAILED: %s: %s\n", what, syncyte_last_error());
  exit(1);
}

static void read_snapshot(syncyte_tensor_t snapshots, int64_t step, int64_t ny) {
  double field[64];
  int64_t row = (step - 1) % 3, one = 1, shape[] = {1, ny, 5};
  syncyte_buffer_t index, output;
  must(syncyte_buffer_init(&row, SYNCYTE_INT64, 1, &one, &index), "index");
  must(syncyte_buffer_init(field, SYNCYTE_FLOAT64, 3, shape, &output), "output");
  must(syncyte_tensor_gather(snapshots, &index, &output), "gather");
  for (int64_t j = 0; j < ny; ++j) {
    for (int64_t i = 0; i < 5; ++i) {
      const double expected = 1000.0 * (double)step + 10.0 * (double)(j + 1) + (double)(i + 1);
      if (field[5 * j + i] == expected) continue;
      fprintf(stderr, "FAILED: step %d: field[%d][%d] is %g, expected %g\n", (int)step, (int)j, (int)i,
              field[5 * j + i], expected);
      exit(1);
    }
  }
}

int main(void) {
  syncyte_comm_t world = NULL, readers = NULL;
  syncyte_tensor_t snapshots = NULL, published = NULL;
  int32_t ranks = 0, reading = 0, reader = 0;
  must(syncyte_init(NULL), "init");
  must(syncyte_comm_world(&world), "world");
  must(syncyte_comm_split_program(world, "reader", NULL, &readers), "split");
  must(syncyte_comm_size(world, &ranks), "size");
  must(syncyte_comm_size(readers, &reading), "size");
  must(syncyte_comm_rank(readers, &reader), "rank");
  const int64_t ny = 2 * (ranks - reading), shape[] = {3, ny, 5}, counters = 1 + reading;
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  options.name = "snapshots"; /* as the Fortran program */
  must(syncyte_tensor_create(world, SYNCYTE_FLOAT64, 3, shape, &options, &snapshots), "create");
  options.name = "published";
  must(syncyte_tensor_create(world, SYNCYTE_INT64, 1, &counters, &options, &published), "create");
  for (int64_t step = 1; step <= 12; ++step) {
    must(syncyte_tensor_wait(published, 0, SYNCYTE_COMPARE_GE, step, 10.0, NULL), "wait");
    read_snapshot(snapshots, step, ny);
    must(syncyte_tensor_fetch_add(published, 1 + reader, 1, NULL), "consume");
  }
  must(syncyte_tensor_sync(snapshots), "sync");
  must(syncyte_tensor_destroy(&snapshots), "destroy");
  must(syncyte_tensor_destroy(&published), "destroy");
  must(syncyte_comm_destroy(&readers), "destroy");
  must(syncyte_comm_destroy(&world), "destroy");
  must(syncyte_finalize(), "finalize");
  return 0;
}
