/* Collectives for Fortran on arrays of any strides that are cut along a dimension. Dimensions come as C's axes, see
 * fortran_axes(). */
#include <stdlib.h>

#include "counts.h"
#include "terms.h"

/* What a call gives; the last failure before the collective counts. */
typedef struct {
  syncyte_comm_t comm;
  const char* operation;
  syncyte_status_t local;  /* of this rank's arguments; the collective is entered all the same */
  syncyte_status_t status; /* of what all ranks have done so far */
  syncyte_buffer_t in;
  syncyte_buffer_t out;
} call_t;

/* A dimension along which an array is cut, and the names of these arguments. */
typedef struct {
  const char* array;
  const char* dim;
  const char* lengths;
  const syncyte_buffer_t* part;
  int32_t axis;
} cut_t;

static call_t begin(syncyte_comm_t comm, const char* operation) {
  return (call_t){.comm = comm, .operation = operation};
}

static void note(call_t* call, syncyte_status_t local) {
  if (local != SYNCYTE_SUCCESS) call->local = local;
}

static void describe(call_t* call, const CFI_cdesc_t* array, const char* name, syncyte_buffer_t* buffer) {
  note(call, fortran_buffer(array, name, 0, buffer));
}

/* The array that only root needs, described; null elsewhere, and where root has none. */
static const syncyte_buffer_t* describe_on_root(call_t* call, int32_t root, const CFI_cdesc_t* array, const char* name,
                                                syncyte_buffer_t* buffer) {
  int32_t rank = -1;
  if (syncyte_comm_rank(call->comm, &rank) != SYNCYTE_SUCCESS || rank != root) return NULL;
  if (array == NULL) {
    note(call, fortran_fail(SYNCYTE_ERR_ARGUMENT, "%s is absent or not allocated on root", name));
    return NULL;
  }
  describe(call, array, name, buffer);
  return buffer;
}

/* Sent for a length by a rank whose arguments are wrong. */
static const int64_t no_length = INT64_MAX;

/* Extent of this rank's part. */
static int64_t extent(call_t* call, const cut_t* cut) {
  const int32_t ndim = cut->part->ndim;
  const int32_t place = cut->axis < 0 ? cut->axis + ndim : cut->axis;
  if (call->local != SYNCYTE_SUCCESS) return no_length;
  if (place >= 0 && place < ndim) return cut->part->shape[place];
  note(call, ndim == 0 ? fortran_fail(SYNCYTE_ERR_SHAPE, "%s has no dimension; expected 1 or more", cut->array)
                       : fortran_fail(SYNCYTE_ERR_ARGUMENT, "%s is %lld; expected 1 to %d, the rank of %s", cut->dim,
                                      (long long)fortran_dim(cut->axis, ndim), ndim, cut->array));
  return no_length;
}

/* Extents of all ranks' parts. If a rank has none to tell, all learn why. */
static int64_t* collect(call_t* call, const cut_t* cut) {
  int64_t* values = NULL;
  int32_t size = 0;
  if (syncyte_comm_size(call->comm, &size) == SYNCYTE_SUCCESS) values = malloc(sizeof(int64_t) * (size_t)size);
  call->status = syncyte_comm_counts(call->comm, extent(call, cut), NULL, values, size);
  for (int32_t i = 0; call->status == SYNCYTE_SUCCESS && i < size; ++i) {
    if (values[i] != no_length) continue;
    if (call->local != SYNCYTE_SUCCESS) fortran_report(call->local);
    call->status = syncyte_comm_agree(call->comm, call->local, call->operation, 0, NULL);
    call->local = SYNCYTE_SUCCESS; /* all have been told */
  }
  return values;
}

/* The lengths given, or where there are none those of the ranks' parts, collected. To be freed. */
static int64_t* lengths_of(call_t* call, const CFI_cdesc_t* lengths, cut_t cut) {
  int64_t* values = NULL;
  if (call->status != SYNCYTE_SUCCESS) return NULL;
  if (lengths == NULL) return collect(call, &cut);
  note(call, fortran_counts(call->comm, lengths, cut.lengths, &values));
  return values;
}

static syncyte_status_t end(const call_t* call, const syncyte_buffer_t* part) {
  return fortran_settle(call->local, fortran_axes(call->status, part->ndim));
}

syncyte_status_t fortran_comm_gather(syncyte_comm_t comm, const CFI_cdesc_t* input, int32_t axis,
                                     const CFI_cdesc_t* lengths, int32_t root, const CFI_cdesc_t* output) {
  call_t call = begin(comm, "comm_gather");
  const syncyte_buffer_t* whole = describe_on_root(&call, root, output, "output", &call.out);
  describe(&call, input, "input", &call.in);
  int64_t* all = lengths_of(&call, lengths, (cut_t){"input", "dim", "counts", &call.in, axis});
  if (call.status == SYNCYTE_SUCCESS)
    call.status = syncyte_comm_gather_along(comm, &call.in, axis, all, fortran_ranks(comm), root, NULL, whole);
  free(all);
  return end(&call, &call.in);
}

syncyte_status_t fortran_comm_allgather_along(syncyte_comm_t comm, const CFI_cdesc_t* input, int32_t axis,
                                              const CFI_cdesc_t* lengths, const CFI_cdesc_t* output) {
  call_t call = begin(comm, "comm_allgather");
  describe(&call, output, "output", &call.out);
  describe(&call, input, "input", &call.in);
  int64_t* all = lengths_of(&call, lengths, (cut_t){"input", "dim", "counts", &call.in, axis});
  if (call.status == SYNCYTE_SUCCESS)
    call.status = syncyte_comm_allgather_along(comm, &call.in, axis, all, fortran_ranks(comm), NULL, &call.out);
  free(all);
  return end(&call, &call.in);
}

syncyte_status_t fortran_comm_scatter(syncyte_comm_t comm, const CFI_cdesc_t* input, int32_t axis,
                                      const CFI_cdesc_t* lengths, int32_t root, const CFI_cdesc_t* output) {
  call_t call = begin(comm, "comm_scatter");
  const syncyte_buffer_t* whole = describe_on_root(&call, root, input, "input", &call.in);
  describe(&call, output, "output", &call.out);
  int64_t* all = lengths_of(&call, lengths, (cut_t){"output", "dim", "counts", &call.out, axis});
  if (call.status == SYNCYTE_SUCCESS)
    call.status = syncyte_comm_scatter_along(comm, whole, axis, all, fortran_ranks(comm), root, NULL, &call.out);
  free(all);
  return end(&call, &call.out);
}

syncyte_status_t fortran_comm_reduce_scatter(syncyte_comm_t comm, const CFI_cdesc_t* input, int32_t axis,
                                             const CFI_cdesc_t* lengths, syncyte_op_t op, const CFI_cdesc_t* output) {
  call_t call = begin(comm, "comm_reduce_scatter");
  describe(&call, input, "input", &call.in);
  describe(&call, output, "output", &call.out);
  int64_t* all = lengths_of(&call, lengths, (cut_t){"output", "dim", "counts", &call.out, axis});
  if (call.status == SYNCYTE_SUCCESS)
    call.status =
        syncyte_comm_reduce_scatter_along(comm, &call.in, axis, all, fortran_ranks(comm), op, NULL, &call.out);
  free(all);
  return end(&call, &call.out);
}

syncyte_status_t fortran_comm_alltoall(syncyte_comm_t comm, const CFI_cdesc_t* input, int32_t gather_axis,
                                       const CFI_cdesc_t* gather_lengths, int32_t scatter_axis,
                                       const CFI_cdesc_t* scatter_lengths, const CFI_cdesc_t* output) {
  call_t call = begin(comm, "comm_alltoall");
  describe(&call, output, "output", &call.out);
  describe(&call, input, "input", &call.in);
  int64_t* gathered =
      lengths_of(&call, gather_lengths, (cut_t){"input", "gather_dim", "gather_counts", &call.in, gather_axis});
  int64_t* scattered =
      lengths_of(&call, scatter_lengths, (cut_t){"output", "scatter_dim", "scatter_counts", &call.out, scatter_axis});
  if (call.status == SYNCYTE_SUCCESS)
    call.status = syncyte_comm_alltoall_along(comm, &call.in, gather_axis, gathered, fortran_ranks(comm), scatter_axis,
                                              scattered, fortran_ranks(comm), NULL, &call.out);
  free(gathered);
  free(scattered);
  return end(&call, &call.in);
}
