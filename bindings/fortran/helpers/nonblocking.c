/* Starts of collectives for Fortran. Arrays are given as they are: a section is one for those along a dimension only.
 */
#include <stdlib.h>

#include "counts.h"
#include "terms.h"

static void note(syncyte_status_t* local, syncyte_status_t status) {
  if (status != SYNCYTE_SUCCESS) *local = status;
}

syncyte_status_t fortran_comm_ibcast(syncyte_comm_t comm, int32_t root, const CFI_cdesc_t* array,
                                     syncyte_request_t* request) {
  syncyte_buffer_t buffer;
  const syncyte_status_t local = fortran_buffer(array, "array", 0, &buffer);
  return fortran_settle(local, syncyte_comm_ibcast(comm, root, NULL, &buffer, request));
}

syncyte_status_t fortran_comm_iallreduce(syncyte_comm_t comm, const CFI_cdesc_t* input, syncyte_op_t op,
                                         const CFI_cdesc_t* output, syncyte_request_t* request) {
  syncyte_buffer_t in;
  syncyte_buffer_t out;
  syncyte_status_t local = fortran_buffer(output, "output", 0, &out);
  if (input != NULL) note(&local, fortran_buffer(input, "input", 0, &in));
  return fortran_settle(local, syncyte_comm_iallreduce(comm, input != NULL ? &in : NULL, op, NULL, &out, request));
}

/* The arrays of an operation along one dimension. */
typedef struct {
  syncyte_status_t local;
  syncyte_buffer_t in;
  syncyte_buffer_t out;
  int64_t* lengths;
} along_t;

static along_t open_along(syncyte_comm_t comm, const CFI_cdesc_t* input, const CFI_cdesc_t* lengths,
                          const CFI_cdesc_t* output) {
  along_t given = {.local = SYNCYTE_SUCCESS, .lengths = NULL};
  note(&given.local, fortran_buffer(input, "input", 0, &given.in));
  note(&given.local, fortran_buffer(output, "output", 0, &given.out));
  note(&given.local, fortran_counts(comm, lengths, "counts", &given.lengths));
  return given;
}

static syncyte_status_t close_along(along_t* given, syncyte_status_t status) {
  free(given->lengths);
  return fortran_settle(given->local, fortran_axes(status, given->in.ndim));
}

syncyte_status_t fortran_comm_iallgather(syncyte_comm_t comm, const CFI_cdesc_t* input, int32_t axis,
                                         const CFI_cdesc_t* lengths, const CFI_cdesc_t* output,
                                         syncyte_request_t* request) {
  along_t given = open_along(comm, input, lengths, output);
  return close_along(&given, syncyte_comm_iallgather_along(comm, &given.in, axis, given.lengths, fortran_ranks(comm),
                                                           NULL, &given.out, request));
}

syncyte_status_t fortran_comm_ireduce_scatter(syncyte_comm_t comm, const CFI_cdesc_t* input, int32_t axis,
                                              const CFI_cdesc_t* lengths, syncyte_op_t op, const CFI_cdesc_t* output,
                                              syncyte_request_t* request) {
  along_t given = open_along(comm, input, lengths, output);
  return close_along(&given, syncyte_comm_ireduce_scatter_along(comm, &given.in, axis, given.lengths,
                                                                fortran_ranks(comm), op, NULL, &given.out, request));
}

syncyte_status_t fortran_comm_ialltoall(syncyte_comm_t comm, const CFI_cdesc_t* input, int32_t gather_axis,
                                        const CFI_cdesc_t* gather_lengths, int32_t scatter_axis,
                                        const CFI_cdesc_t* scatter_lengths, const CFI_cdesc_t* output,
                                        syncyte_request_t* request) {
  int64_t* scattered = NULL;
  along_t given = open_along(comm, input, gather_lengths, output);
  note(&given.local, fortran_counts(comm, scatter_lengths, "scatter_counts", &scattered));
  const syncyte_status_t status =
      syncyte_comm_ialltoall_along(comm, &given.in, gather_axis, given.lengths, fortran_ranks(comm), scatter_axis,
                                   scattered, fortran_ranks(comm), NULL, &given.out, request);
  free(scattered);
  return close_along(&given, status);
}
