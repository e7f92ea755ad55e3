/* Reductions for Fortran; output is the input too where there is no other. */
#include "dense.h"

/* The arrays of a reduction. */
typedef struct {
  syncyte_status_t status;
  fortran_dense_t in;
  fortran_dense_t out;
  const syncyte_buffer_t* input;  /* null: in place */
  const syncyte_buffer_t* output; /* null: no result on this rank */
} reduction_t;

static void open_reduction(const CFI_cdesc_t* input, const CFI_cdesc_t* output, reduction_t* given) {
  given->in = (fortran_dense_t){.copy = NULL};
  given->status = fortran_dense_open(output, "output", input == NULL, &given->out);
  given->output = &given->out.buffer;
  given->input = NULL;
  if (input == NULL) return;
  const syncyte_status_t other = fortran_dense_open(input, "input", true, &given->in);
  given->status = other != SYNCYTE_SUCCESS ? other : given->status;
  given->input = &given->in.buffer;
}

/* Where a rank gets no result: what it gives is the input, or the output in its place. */
static void open_contribution(const CFI_cdesc_t* input, const CFI_cdesc_t* output, reduction_t* given) {
  given->out = (fortran_dense_t){.copy = NULL};
  given->status = input != NULL ? fortran_dense_open(input, "input", true, &given->in)
                                : fortran_dense_open(output, "output", true, &given->in);
  given->input = &given->in.buffer;
  given->output = NULL;
}

static syncyte_status_t close_reduction(reduction_t* given, syncyte_status_t collective) {
  fortran_dense_close(&given->in, false);
  fortran_dense_close(&given->out, collective == SYNCYTE_SUCCESS);
  return fortran_settle(given->status, collective);
}

static syncyte_scan_t start(int32_t from_last) {
  return from_last != 0 ? SYNCYTE_SCAN_FROM_LAST : SYNCYTE_SCAN_FROM_FIRST;
}

syncyte_status_t fortran_comm_allreduce(syncyte_comm_t comm, const CFI_cdesc_t* input, syncyte_op_t op,
                                        const CFI_cdesc_t* output) {
  reduction_t given;
  open_reduction(input, output, &given);
  return close_reduction(&given, syncyte_comm_allreduce(comm, given.input, op, NULL, given.output));
}

syncyte_status_t fortran_comm_reduce(syncyte_comm_t comm, const CFI_cdesc_t* input, syncyte_op_t op, int32_t root,
                                     const CFI_cdesc_t* output) {
  reduction_t given;
  int32_t rank = 0;
  const syncyte_status_t status = syncyte_comm_rank(comm, &rank); /* an error is told by the collective too */
  if (status == SYNCYTE_SUCCESS && rank != root)
    open_contribution(input, output, &given);
  else
    open_reduction(input, output, &given);
  return close_reduction(&given, syncyte_comm_reduce(comm, given.input, op, root, NULL, given.output));
}

syncyte_status_t fortran_comm_scan(syncyte_comm_t comm, const CFI_cdesc_t* input, syncyte_op_t op, int32_t from_last,
                                   const CFI_cdesc_t* output) {
  reduction_t given;
  open_reduction(input, output, &given);
  return close_reduction(&given, syncyte_comm_scan(comm, given.input, op, start(from_last), NULL, given.output));
}

syncyte_status_t fortran_comm_exscan(syncyte_comm_t comm, const CFI_cdesc_t* input, syncyte_op_t op, int32_t from_last,
                                     const CFI_cdesc_t* output) {
  reduction_t given;
  open_reduction(input, output, &given);
  return close_reduction(&given, syncyte_comm_exscan(comm, given.input, op, start(from_last), NULL, given.output));
}
