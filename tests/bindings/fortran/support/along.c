/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective that a rank calls from C, and the fields of its last error, for test_along_errors.f90. */
#include <string.h>

#include "syncyte.h"

int32_t c_last_error_is(const char* argument, const char* value, const char* expected);
syncyte_status_t c_allgather(double* part, double* whole, const int64_t* counts, int32_t ranks, int32_t axis);

/* Joins parts that have 2 rows and counts(rank) columns in Fortran. */
syncyte_status_t c_allgather(double* part, double* whole, const int64_t* counts, int32_t ranks, int32_t axis) {
  syncyte_comm_t world = NULL;
  syncyte_buffer_t input = {.struct_size = sizeof input}, output = {.struct_size = sizeof output};
  int64_t part_shape[] = {counts[0], 2}, whole_shape[] = {0, 2};
  for (int32_t i = 0; i < ranks; ++i) whole_shape[0] += counts[i];
  (void)syncyte_buffer_init(part, SYNCYTE_FLOAT64, 2, part_shape, &input);
  (void)syncyte_buffer_init(whole, SYNCYTE_FLOAT64, 2, whole_shape, &output);
  (void)syncyte_comm_world(&world);
  const syncyte_status_t status = syncyte_comm_allgather_along(world, &input, axis, ranks, counts, NULL, &output);
  (void)syncyte_comm_destroy(&world);
  return status;
}

int32_t c_last_error_is(const char* argument, const char* value, const char* expected) {
  syncyte_error_fields_t fields = {.struct_size = sizeof fields};
  (void)syncyte_last_error_fields(&fields);
  return strcmp(fields.argument, argument) == 0 && strcmp(fields.value, value) == 0 &&
         strcmp(fields.expected, expected) == 0;
}
