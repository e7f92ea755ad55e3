/* Communicators for Fortran: collectives on array descriptors. */
#include <stdlib.h>

#include "descriptor.h"

/* Vectors with an entry per rank, read from integers of any kind; null where reading fails. */
static syncyte_status_t read_counts(syncyte_comm_t comm, const CFI_cdesc_t* array, const char* name, int64_t** counts) {
  int32_t size = 0;
  syncyte_status_t status = syncyte_comm_size(comm, &size);
  *counts = NULL;
  if (status != SYNCYTE_SUCCESS) return fortran_fail(status, "%s: not a communicator", name);
  if (fortran_count(array) != size)
    return fortran_fail(SYNCYTE_ERR_SHAPE, "%s has %lld elements, the communicator has %d ranks", name,
                        (long long)fortran_count(array), size);
  int64_t* values = malloc(sizeof(int64_t) * (size_t)size);
  if (values == NULL) return fortran_fail(SYNCYTE_ERR_MEMORY, "%s: no memory for %d counts", name, size);
  status = fortran_integers(array, name, size, values);
  if (status == SYNCYTE_SUCCESS)
    *counts = values;
  else
    free(values);
  return status;
}

syncyte_status_t fortran_comm_from_mpi(const CFI_cdesc_t* handle, const syncyte_comm_options_t* options,
                                       syncyte_comm_t* comm) {
  /* An integer, or type(MPI_Comm): a structure of one integer, by the MPI standard. */
  const bool whole = handle->rank == 0 && handle->elem_len == sizeof(int32_t);
  if (!whole || handle->type == CFI_type_float || handle->type == CFI_type_Bool)
    return fortran_report(fortran_fail(SYNCYTE_ERR_TYPE,
                                       "handle is neither a default integer nor a type(MPI_Comm), but %s of rank %d",
                                       fortran_type_name(handle), handle->rank));
  return syncyte_comm_from_fortran(*(const int32_t*)handle->base_addr, options, comm);
}

syncyte_status_t fortran_comm_bcast(syncyte_comm_t comm, int32_t root, const CFI_cdesc_t* array) {
  syncyte_buffer_t buffer;
  const syncyte_status_t status = fortran_buffer(array, "array", 0, &buffer);
  return fortran_settle(status, syncyte_comm_bcast(comm, root, NULL, &buffer));
}

syncyte_status_t fortran_comm_allreduce(syncyte_comm_t comm, const CFI_cdesc_t* input, syncyte_op_t op,
                                        const CFI_cdesc_t* output) {
  syncyte_buffer_t in, out;
  syncyte_status_t status = fortran_buffer(output, "output", 0, &out);
  if (input != NULL) {
    const syncyte_status_t other = fortran_buffer(input, "input", 0, &in);
    status = other != SYNCYTE_SUCCESS ? other : status;
  }
  return fortran_settle(status, syncyte_comm_allreduce(comm, input != NULL ? &in : NULL, op, NULL, &out));
}

/* Describes input and output of a collective; the first failure counts. */
static syncyte_status_t describe_pair(const CFI_cdesc_t* input, const CFI_cdesc_t* output, syncyte_buffer_t* in,
                                      syncyte_buffer_t* out) {
  syncyte_status_t status = fortran_buffer(output, "output", 0, out);
  const syncyte_status_t other = fortran_buffer(input, "input", 0, in);
  return other != SYNCYTE_SUCCESS ? other : status;
}

syncyte_status_t fortran_comm_allgather(syncyte_comm_t comm, const CFI_cdesc_t* input, const CFI_cdesc_t* output) {
  syncyte_buffer_t in, out;
  const syncyte_status_t status = describe_pair(input, output, &in, &out);
  return fortran_settle(status, syncyte_comm_allgather(comm, &in, NULL, &out));
}

syncyte_status_t fortran_comm_allgatherv(syncyte_comm_t comm, const CFI_cdesc_t* input, const CFI_cdesc_t* counts,
                                         const CFI_cdesc_t* output) {
  syncyte_buffer_t in, out;
  int64_t* all = NULL;
  syncyte_status_t status = read_counts(comm, counts, "counts", &all);
  const syncyte_status_t other = describe_pair(input, output, &in, &out);
  status = other != SYNCYTE_SUCCESS ? other : status;
  status = fortran_settle(status, syncyte_comm_allgatherv(comm, &in, all, NULL, &out));
  free(all);
  return status;
}

syncyte_status_t fortran_comm_alltoallv(syncyte_comm_t comm, const CFI_cdesc_t* input, const CFI_cdesc_t* send_counts,
                                        const CFI_cdesc_t* recv_counts, const CFI_cdesc_t* output) {
  syncyte_buffer_t in, out;
  int64_t *sent = NULL, *received = NULL;
  syncyte_status_t status = read_counts(comm, send_counts, "send_counts", &sent);
  syncyte_status_t other = read_counts(comm, recv_counts, "recv_counts", &received);
  status = other != SYNCYTE_SUCCESS ? other : status;
  other = describe_pair(input, output, &in, &out);
  status = other != SYNCYTE_SUCCESS ? other : status;
  status = fortran_settle(status, syncyte_comm_alltoallv(comm, &in, sent, received, NULL, &out));
  free(sent);
  free(received);
  return status;
}
