/* Communicators for Fortran: their making, and collectives on sequences of elements. */
#include <stdlib.h>

#include "counts.h"
#include "dense.h"

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

/* Input and output of a collective; the first failure counts. */
typedef struct {
  syncyte_status_t status;
  fortran_dense_t in;
  fortran_dense_t out;
} pair_t;

static void open_pair(const CFI_cdesc_t* input, const CFI_cdesc_t* output, pair_t* pair) {
  const syncyte_status_t status = fortran_dense_open(output, "output", false, &pair->out);
  const syncyte_status_t other = fortran_dense_open(input, "input", true, &pair->in);
  pair->status = other != SYNCYTE_SUCCESS ? other : status;
}

static syncyte_status_t close_pair(pair_t* pair, syncyte_status_t collective) {
  fortran_dense_close(&pair->in, false);
  fortran_dense_close(&pair->out, collective == SYNCYTE_SUCCESS);
  return fortran_settle(pair->status, collective);
}

syncyte_status_t fortran_comm_bcast(syncyte_comm_t comm, int32_t root, const CFI_cdesc_t* array) {
  fortran_dense_t dense;
  int32_t rank = -1;
  if (syncyte_comm_rank(comm, &rank) != SYNCYTE_SUCCESS) rank = -1; /* told by the collective */
  const syncyte_status_t local = fortran_dense_open(array, "array", true, &dense);
  const syncyte_status_t status = syncyte_comm_bcast(comm, root, NULL, &dense.buffer);
  fortran_dense_close(&dense, status == SYNCYTE_SUCCESS && rank != root);
  return fortran_settle(local, status);
}

syncyte_status_t fortran_comm_allgather(syncyte_comm_t comm, const CFI_cdesc_t* input, const CFI_cdesc_t* output) {
  pair_t pair;
  open_pair(input, output, &pair);
  return close_pair(&pair, syncyte_comm_allgather(comm, &pair.in.buffer, NULL, &pair.out.buffer));
}

syncyte_status_t fortran_comm_allgatherv(syncyte_comm_t comm, const CFI_cdesc_t* input, const CFI_cdesc_t* counts,
                                         const CFI_cdesc_t* output) {
  pair_t pair;
  int64_t* all = NULL;
  const syncyte_status_t local = fortran_counts(comm, counts, "counts", &all);
  open_pair(input, output, &pair);
  if (pair.status == SYNCYTE_SUCCESS) pair.status = local;
  const syncyte_status_t status = close_pair(
      &pair, syncyte_comm_allgatherv(comm, &pair.in.buffer, all, fortran_ranks(comm), NULL, &pair.out.buffer));
  free(all);
  return status;
}

syncyte_status_t fortran_comm_alltoallv(syncyte_comm_t comm, const CFI_cdesc_t* input, const CFI_cdesc_t* send_counts,
                                        const CFI_cdesc_t* recv_counts, const CFI_cdesc_t* output) {
  pair_t pair;
  int64_t *sent = NULL, *received = NULL;
  syncyte_status_t local = fortran_counts(comm, send_counts, "send_counts", &sent);
  const syncyte_status_t other = fortran_counts(comm, recv_counts, "recv_counts", &received);
  local = other != SYNCYTE_SUCCESS ? other : local;
  open_pair(input, output, &pair);
  if (pair.status == SYNCYTE_SUCCESS) pair.status = local;
  const syncyte_status_t status =
      close_pair(&pair, syncyte_comm_alltoallv(comm, &pair.in.buffer, sent, fortran_ranks(comm), received,
                                               fortran_ranks(comm), NULL, &pair.out.buffer));
  free(sent);
  free(received);
  return status;
}

syncyte_status_t fortran_comm_lengths(syncyte_comm_t comm, const CFI_cdesc_t* length, const CFI_cdesc_t* lengths) {
  int64_t mine = -1; /* refused on all ranks where it cannot be read */
  int64_t* all = NULL;
  syncyte_status_t local = fortran_counts(comm, lengths, "counts", &all);
  const syncyte_status_t other = fortran_integer(length, "count", &mine);
  local = other != SYNCYTE_SUCCESS ? other : local;
  syncyte_status_t status = fortran_settle(local, syncyte_comm_counts(comm, mine, NULL, all, fortran_ranks(comm)));
  if (status == SYNCYTE_SUCCESS) {
    status = fortran_set_integers(lengths, "counts", all);
    if (status != SYNCYTE_SUCCESS) fortran_report(status);
  }
  free(all);
  return status;
}
