/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole tensors through the C interface: handles, outputs, references, and views that outlive handles and finalize. */
#include <stddef.h>
#include <stdlib.h>

#include "../capi/expect.h"

static int32_t rank = 0, size = 0;

static syncyte_tensor_t make(syncyte_comm_t comm, syncyte_dtype_t dtype, int64_t rows, int64_t columns) {
  const int64_t shape[2] = {rows, columns};
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  syncyte_tensor_t tensor = NULL;
  options.name = "field";
  EXPECT_OK(syncyte_tensor_create(comm, dtype, 2, shape, &options, &tensor));
  return tensor;
}

/* A program that was compiled before the options had the member `released`. */
static void use_older_options(syncyte_comm_t comm) {
  const int64_t shape[1] = {4};
  int64_t behind = 7;
  syncyte_tensor_t tensor = NULL;
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  options.struct_size = offsetof(syncyte_tensor_options_t, released);
  options.released = &behind; /* create() would refuse it within struct_size */
  EXPECT_OK(syncyte_tensor_create(comm, SYNCYTE_INT8, 1, shape, &options, &tensor));
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
}

static void use_rows(syncyte_tensor_t tensor) {
  int64_t rows[3] = {0, 0, 0}, shape[2] = {3, 2}, bad = 1 << 20;
  double values[6] = {0}, seen[6] = {9, 9, 9, 9, 9, 9};
  syncyte_buffer_t index, source = SYNCYTE_BUFFER_INIT, output, far;
  int64_t first = 0, count = 0;
  EXPECT_OK(syncyte_tensor_rows(tensor, rank, &first, &count));
  for (int i = 0; i < 3; ++i) rows[i] = first + i;
  for (int i = 0; i < 6; ++i) values[i] = 10 * rank + i;
  EXPECT_OK(syncyte_buffer_init(rows, SYNCYTE_INT64, 1, shape, &index));
  EXPECT_OK(syncyte_buffer_init(&bad, SYNCYTE_INT64, 0, NULL, &far));
  EXPECT_OK(syncyte_buffer_init(values, SYNCYTE_FLOAT64, 2, shape, &source));
  EXPECT_OK(syncyte_buffer_init(seen, SYNCYTE_FLOAT64, 2, shape, &output));
  EXPECT_OK(syncyte_tensor_scatter(tensor, &index, &source));
  EXPECT_OK(syncyte_tensor_scatter_add(tensor, &index, &source));
  EXPECT_OK(syncyte_tensor_flush(tensor));
  EXPECT_OK(syncyte_tensor_gather(tensor, &index, &output));
  for (int i = 0; i < 6; ++i) EXPECT(seen[i] == 2.0 * (10 * rank + i));
  output.shape[0] = 1;
  EXPECT_ERROR(syncyte_tensor_gather(tensor, &far, &output), SYNCYTE_ERR_INDEX, "index 1048576 at position 0");

  const int64_t lower[2] = {first + 1, 1};
  shape[0] = shape[1] = 1;
  EXPECT_OK(syncyte_buffer_init(seen, SYNCYTE_FLOAT64, 2, shape, &output));
  EXPECT_OK(syncyte_tensor_get_box(tensor, 2, lower, &output));
  EXPECT(seen[0] == 2.0 * (10 * rank + 3));
  seen[0] = -1;
  EXPECT_OK(syncyte_tensor_put_box(tensor, 2, lower, &output));
  EXPECT_OK(syncyte_tensor_local(tensor, &source));
  EXPECT(((double*)source.data)[3] == -1);
  EXPECT_OK(syncyte_tensor_sync(tensor));
}

static void use_optimizer(syncyte_comm_t comm) {
  syncyte_tensor_t tensor = make(comm, SYNCYTE_FLOAT32, size, 4), state = NULL, steps = NULL;
  syncyte_optimizer_options_t options = SYNCYTE_OPTIMIZER_OPTIONS_INIT;
  int64_t row = rank, shape[2] = {1, 4}, count = 0;
  float ones[4] = {1, 1, 1, 1};
  syncyte_buffer_t index, gradients, seen = SYNCYTE_BUFFER_INIT;
  EXPECT_OK(syncyte_buffer_init(&row, SYNCYTE_INT64, 1, shape, &index));
  EXPECT_OK(syncyte_buffer_init(ones, SYNCYTE_FLOAT32, 2, shape, &gradients));
  EXPECT_ERROR(syncyte_tensor_apply_gradients(tensor, &index, &gradients), SYNCYTE_ERR_UNSUPPORTED, "no optimizer");
  EXPECT_ERROR(syncyte_tensor_set_optimizer(tensor, 9, 0.1, NULL), SYNCYTE_ERR_ARGUMENT, "optimizer is 9");
  EXPECT_OK(syncyte_tensor_set_optimizer(tensor, SYNCYTE_OPTIMIZER_SGD, 0.5, NULL));
  EXPECT_OK(syncyte_tensor_optimizer_state(tensor, &state));
  EXPECT(state == NULL);
  EXPECT_OK(syncyte_tensor_apply_gradients(tensor, &index, &gradients));
  EXPECT_OK(syncyte_tensor_set_learning_rate(tensor, 0.25));
  EXPECT_OK(syncyte_tensor_apply_gradients(tensor, &index, &gradients));
  EXPECT_OK(syncyte_tensor_local(tensor, &seen));
  EXPECT(((float*)seen.data)[3] == -0.75f);

  options.beta1 = 0.5;
  EXPECT_OK(syncyte_tensor_set_optimizer(tensor, SYNCYTE_OPTIMIZER_ADAM, 0.5, &options));
  EXPECT_OK(syncyte_tensor_apply_gradients(tensor, &index, &gradients));
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_optimizer_state(tensor, &state));
  EXPECT_OK(syncyte_tensor_optimizer_steps(tensor, &steps));
  EXPECT_OK(syncyte_tensor_destroy(&tensor)); /* the state's references keep it */
  EXPECT_OK(syncyte_tensor_local(state, &seen));
  EXPECT(seen.ndim == 3);
  EXPECT(seen.shape[1] == 2);
  EXPECT(seen.shape[2] == 4);
  EXPECT(((float*)seen.data)[0] == 0.5f);
  EXPECT_OK(syncyte_tensor_load(steps, 0, &count));
  EXPECT(count == size);
  EXPECT_OK(syncyte_tensor_destroy(&state));
  EXPECT_OK(syncyte_tensor_destroy(&steps));
}

static void use_counters(syncyte_comm_t comm) {
  syncyte_tensor_t counters = make(comm, SYNCYTE_INT64, size, 1);
  int64_t value = -1;
  EXPECT_OK(syncyte_tensor_store(counters, rank, 5));
  EXPECT_OK(syncyte_tensor_fetch_add(counters, rank, 2, NULL));
  EXPECT_OK(syncyte_tensor_fetch_add(counters, rank, 2, &value));
  EXPECT(value == 7);
  EXPECT_OK(syncyte_tensor_load(counters, rank, &value));
  EXPECT(value == 9);
  EXPECT_OK(syncyte_tensor_wait(counters, rank, SYNCYTE_COMPARE_GE, 9, 1.0, NULL));
  value = -1;
  EXPECT_ERROR(syncyte_tensor_wait(counters, rank, SYNCYTE_COMPARE_EQ, 1, 0.01, &value), SYNCYTE_ERR_TIMEOUT, "9");
  EXPECT(value == -1);
  EXPECT_OK(syncyte_tensor_sync(counters));
  EXPECT_OK(syncyte_tensor_destroy(&counters));
}

/* All ranks add to the same box, of which each owns a part. */
static void use_accumulates(syncyte_comm_t comm) {
  syncyte_tensor_t tensor = make(comm, SYNCYTE_FLOAT64, 4 * size, 3);
  const int64_t lower[2] = {1, 1}, extent[2] = {4 * size - 2, 2};
  double* const ones = calloc((size_t)(8 * size), sizeof *ones);
  int32_t* const ranks = calloc((size_t)size, sizeof *ranks);
  int64_t *const first = calloc((size_t)size, sizeof *first), *const rows = calloc((size_t)size, sizeof *rows);
  const double alpha = 0.5;
  syncyte_buffer_t source, view = SYNCYTE_BUFFER_INIT;
  int64_t count = -1;
  for (int i = 0; i < 8 * size; ++i) ones[i] = 1;
  EXPECT_OK(syncyte_buffer_init(ones, SYNCYTE_FLOAT64, 2, extent, &source));
  EXPECT_OK(syncyte_tensor_accumulate_box(tensor, 2, lower, &source, NULL, SYNCYTE_OP_SUM));
  EXPECT_OK(syncyte_tensor_accumulate_box(tensor, 2, lower, &source, &alpha, SYNCYTE_OP_SUM));
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_local(tensor, &view));
  const double* mine = view.data;
  EXPECT(mine[3] == 0);
  EXPECT(mine[4] == 1.5 * size);
  EXPECT(mine[5] == 1.5 * size);
  EXPECT_OK(syncyte_tensor_locate_box(tensor, 2, lower, 2, extent, 0, NULL, NULL, NULL, &count));
  EXPECT(count == size);
  EXPECT_OK(syncyte_tensor_locate_box(tensor, 2, lower, 2, extent, size, ranks, first, rows, &count));
  for (int i = 0; i < size; ++i) {
    EXPECT(ranks[i] == i);
    EXPECT(first[i] == (i == 0 ? 1 : 4 * i));
    EXPECT(first[i] + rows[i] == (i == size - 1 ? 4 * size - 1 : 4 * (i + 1)));
  }
  EXPECT_ERROR(syncyte_tensor_accumulate_box(tensor, 2, lower, &source, NULL, SYNCYTE_OP_REPLACE), SYNCYTE_ERR_ARGUMENT,
               "put_box");
  EXPECT_ERROR(syncyte_tensor_locate_box(tensor, 2, lower, 2, extent, 0, NULL, NULL, NULL, NULL), SYNCYTE_ERR_ARGUMENT,
               "count is null");
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
  free(ones);
  free(ranks);
  free(first);
  free(rows);
}

/* All ranks add to a box, each reads it, and rank 0 writes it; C's requests of all three. */
static void use_started_boxes(syncyte_comm_t comm) {
  syncyte_tensor_t tensor = make(comm, SYNCYTE_FLOAT64, 4 * size, 3);
  const int64_t lower[2] = {1, 1}, extent[2] = {4 * size - 2, 2};
  double* const values = calloc((size_t)(8 * size), sizeof *values);
  const double alpha = 0.5;
  syncyte_request_t requests[2] = {NULL, NULL};
  syncyte_buffer_t box;
  int64_t index = -1;
  int32_t done = 0;
  for (int i = 0; i < 8 * size; ++i) values[i] = 1;
  EXPECT_OK(syncyte_buffer_init(values, SYNCYTE_FLOAT64, 2, extent, &box));
  EXPECT_OK(syncyte_tensor_iaccumulate_box(tensor, 2, lower, &box, NULL, SYNCYTE_OP_SUM, &requests[0]));
  EXPECT_OK(syncyte_tensor_iaccumulate_box(tensor, 2, lower, &box, &alpha, SYNCYTE_OP_SUM, &requests[1]));
  EXPECT_OK(syncyte_request_wait_any(2, requests, &index));
  EXPECT(index == 0 || index == 1);
  EXPECT_OK(syncyte_request_wait_all(2, requests));
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_iget_box(tensor, 2, lower, &box, &requests[0]));
  EXPECT_OK(syncyte_request_wait(&requests[0]));
  for (int i = 0; i < 8 * size - 4; ++i) EXPECT(values[i] == 1.5 * size);
  EXPECT_OK(syncyte_tensor_sync(tensor));
  if (rank == 0) {
    for (int i = 0; i < 8 * size; ++i) values[i] = 9;
    EXPECT_OK(syncyte_tensor_iput_box(tensor, 2, lower, &box, &requests[0]));
    while (!done) EXPECT_OK(syncyte_request_test(&requests[0], &done));
  }
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_get_box(tensor, 2, lower, &box));
  for (int i = 0; i < 8 * size - 4; ++i) EXPECT(values[i] == 9);
  EXPECT_ERROR(syncyte_tensor_iget_box(tensor, 1, lower, &box, &requests[0]), SYNCYTE_ERR_SHAPE, "lower");
  EXPECT_ERROR(syncyte_tensor_iput_box(tensor, 2, lower, &box, NULL), SYNCYTE_ERR_ARGUMENT, "request is null");
  EXPECT(requests[0] == NULL);
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
  free(values);
}

static void use_locks_and_signals(syncyte_comm_t comm) {
  const int64_t shape[2] = {size, 2}, row_shape[2] = {1, 2};
  double values[2] = {3, 4}, seen[2] = {0, 0};
  int64_t row = 0, count = 0, shape_of_index[1] = {1};
  syncyte_buffer_t index, source, output;
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  syncyte_tensor_t tensor = NULL, counters = make(comm, SYNCYTE_INT32, 1, 1);
  options.row_locks = 2;
  EXPECT_ERROR(syncyte_tensor_create(comm, SYNCYTE_FLOAT64, 2, shape, &options, &tensor), SYNCYTE_ERR_ARGUMENT,
               "row_locks is 2; expected 0 or 1");
  options.row_locks = 0;
  options.deterministic = 7;
  EXPECT_ERROR(syncyte_tensor_create(comm, SYNCYTE_FLOAT64, 2, shape, &options, &tensor), SYNCYTE_ERR_ARGUMENT,
               "deterministic is 7; expected 0 or 1");
  options.deterministic = 0;
  options.row_locks = 1;
  EXPECT_OK(syncyte_tensor_create(comm, SYNCYTE_FLOAT64, 2, shape, &options, &tensor));
  EXPECT_OK(syncyte_buffer_init(&row, SYNCYTE_INT64, 1, shape_of_index, &index));
  EXPECT_OK(syncyte_buffer_init(values, SYNCYTE_FLOAT64, 2, row_shape, &source));
  EXPECT_OK(syncyte_buffer_init(seen, SYNCYTE_FLOAT64, 2, row_shape, &output));
  EXPECT_OK(syncyte_tensor_lock(tensor, 0));
  EXPECT_OK(syncyte_tensor_unlock(tensor, 0));
  EXPECT_ERROR(syncyte_tensor_unlock(tensor, rank), SYNCYTE_ERR_ARGUMENT, "row is");
  EXPECT_ERROR(syncyte_tensor_lock(counters, 0), SYNCYTE_ERR_UNSUPPORTED, "row_locks");
  if (rank == size - 1) EXPECT_OK(syncyte_tensor_put_signal(tensor, &index, &source, counters, 0, 5, SYNCYTE_OP_SUM));
  EXPECT_OK(syncyte_tensor_wait(counters, 0, SYNCYTE_COMPARE_EQ, 5, -1, &count));
  EXPECT_OK(syncyte_tensor_gather(tensor, &index, &output));
  EXPECT(seen[0] == 3);
  EXPECT(seen[1] == 4);
  EXPECT_ERROR(syncyte_tensor_put_signal(tensor, &index, &source, NULL, 0, 5, SYNCYTE_OP_SUM), SYNCYTE_ERR_HANDLE,
               "null handle");
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_destroy(&counters));
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
}

/* Each rank adds to counters of all ranks, signals after a row, and updates a row of all ranks. */
static void use_started_changes(syncyte_comm_t comm) {
  syncyte_tensor_t tensor = make(comm, SYNCYTE_FLOAT64, size, 2), counters = make(comm, SYNCYTE_INT32, size, 1);
  const int right = (rank + 1) % size;
  const int64_t shape[1] = {1}, row_shape[2] = {1, 2};
  double ones[2] = {1, 1}, seen[2] = {0, 0};
  int64_t row = right, previous[2] = {-1, -1};
  syncyte_buffer_t index, source, output;
  syncyte_request_t requests[2] = {NULL, NULL};
  int32_t done = 0;
  EXPECT_OK(syncyte_buffer_init(&row, SYNCYTE_INT64, 1, shape, &index));
  EXPECT_OK(syncyte_buffer_init(ones, SYNCYTE_FLOAT64, 2, row_shape, &source));
  EXPECT_OK(syncyte_buffer_init(seen, SYNCYTE_FLOAT64, 2, row_shape, &output));
  EXPECT_OK(syncyte_tensor_ifetch_add(counters, right, 3, &previous[0], &requests[0]));
  EXPECT_OK(syncyte_request_wait(&requests[0]));
  EXPECT_OK(syncyte_tensor_ifetch_add(counters, right, -3, &previous[1], &requests[0]));
  EXPECT_OK(syncyte_tensor_ifetch_add(counters, right, 0, NULL, &requests[1]));
  EXPECT_OK(syncyte_request_wait_all(2, requests));
  EXPECT(previous[0] == 0);
  EXPECT(previous[1] == 3);
  EXPECT_OK(syncyte_tensor_icompare_swap(counters, right, 0, 2, &previous[0], &requests[0]));
  EXPECT_OK(syncyte_tensor_icompare_swap(counters, right, 2, 0, NULL, &requests[1]));
  EXPECT_OK(syncyte_request_wait_all(2, requests));
  EXPECT(previous[0] == 0);
  EXPECT_OK(syncyte_tensor_iput_signal(tensor, &index, &source, counters, right, 7, SYNCYTE_OP_SUM, &requests[0]));
  EXPECT_OK(syncyte_tensor_wait(counters, rank, SYNCYTE_COMPARE_EQ, 7, -1, NULL));
  row = rank; /* the index may be re-used */
  EXPECT_OK(syncyte_tensor_gather(tensor, &index, &output));
  EXPECT(seen[0] == 1);
  EXPECT(seen[1] == 1);
  EXPECT_OK(syncyte_request_wait(&requests[0]));
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_ERROR(syncyte_tensor_iapply_gradients(tensor, &index, &source, &requests[0]), SYNCYTE_ERR_UNSUPPORTED,
               "no optimizer");
  EXPECT_OK(syncyte_tensor_set_optimizer(tensor, SYNCYTE_OPTIMIZER_SGD, 0.5, NULL));
  row = right;
  EXPECT_OK(syncyte_tensor_iapply_gradients(tensor, &index, &source, &requests[0]));
  while (!done) EXPECT_OK(syncyte_request_test(&requests[0], &done));
  EXPECT_OK(syncyte_tensor_sync(tensor));
  row = rank;
  EXPECT_OK(syncyte_tensor_gather(tensor, &index, &output));
  EXPECT(seen[0] == 0.5);
  EXPECT(seen[1] == 0.5);
  EXPECT_ERROR(syncyte_tensor_ifetch_add(counters, size, 1, NULL, &requests[0]), SYNCYTE_ERR_INDEX, "element");
  EXPECT_ERROR(syncyte_tensor_ifetch_add(counters, 0, 1, NULL, NULL), SYNCYTE_ERR_ARGUMENT, "request is null");
  EXPECT_ERROR(syncyte_tensor_icompare_swap(counters, -1, 0, 1, NULL, &requests[0]), SYNCYTE_ERR_INDEX, "element");
  EXPECT_ERROR(syncyte_tensor_icompare_swap(counters, 0, 0, 1, NULL, NULL), SYNCYTE_ERR_ARGUMENT, "request is null");
  EXPECT_ERROR(syncyte_tensor_iput_signal(tensor, &index, &source, NULL, 0, 5, SYNCYTE_OP_SUM, &requests[0]),
               SYNCYTE_ERR_HANDLE, "null handle");
  EXPECT_ERROR(syncyte_tensor_iput_signal(tensor, &index, &source, counters, 0, 5, SYNCYTE_OP_SUM, NULL),
               SYNCYTE_ERR_ARGUMENT, "request is null");
  EXPECT(requests[0] == NULL);
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_destroy(&counters));
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
}

static void use_wrong_arguments(syncyte_comm_t comm, syncyte_tensor_t tensor) {
  const int64_t shape[1] = {4};
  syncyte_tensor_t made = NULL;
  syncyte_buffer_t view = SYNCYTE_BUFFER_INIT;
  int64_t first = -1, count = -1;
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  options.struct_size = 8;
  EXPECT_ERROR(syncyte_tensor_create(NULL, SYNCYTE_INT8, 1, shape, NULL, &made), SYNCYTE_ERR_HANDLE, "comm");
  EXPECT_ERROR(syncyte_tensor_create(comm, SYNCYTE_INT8, 1, shape, NULL, NULL), SYNCYTE_ERR_ARGUMENT, "tensor is null");
  EXPECT_ERROR(syncyte_tensor_create(comm, SYNCYTE_INT8, 1, shape, &options, &made), SYNCYTE_ERR_ARGUMENT,
               "struct_size is 8");
  /* A null output on one rank is an error on all ranks. */
  EXPECT_ERROR(syncyte_tensor_create(comm, SYNCYTE_INT8, 1, shape, NULL, rank == size - 1 ? NULL : &made),
               SYNCYTE_ERR_ARGUMENT, "tensor is null");
  EXPECT(made == NULL);
  EXPECT_ERROR(syncyte_tensor_wrap(comm, NULL, NULL, &made), SYNCYTE_ERR_ARGUMENT, "local is null");
  EXPECT_ERROR(syncyte_tensor_gather(NULL, &view, &view), SYNCYTE_ERR_HANDLE, "null handle");
  EXPECT_ERROR(syncyte_tensor_local((syncyte_tensor_t)comm, &view), SYNCYTE_ERR_HANDLE, "not a tensor");
  EXPECT_ERROR(syncyte_tensor_local(tensor, NULL), SYNCYTE_ERR_ARGUMENT, "view is null");
  EXPECT_ERROR(syncyte_tensor_node(tensor, NULL, &first), SYNCYTE_ERR_ARGUMENT, "view is null");
  EXPECT_ERROR(syncyte_tensor_rows(tensor, 0, NULL, &count), SYNCYTE_ERR_ARGUMENT, "first is null");
  EXPECT_ERROR(syncyte_tensor_rows(tensor, -1, &first, &count), SYNCYTE_ERR_ARGUMENT, "rank is -1");
  EXPECT_ERROR(syncyte_tensor_load(tensor, 0, &first), SYNCYTE_ERR_TYPE, "\"field\"");
  EXPECT_OK(syncyte_tensor_retain(tensor));
  EXPECT_ERROR(syncyte_tensor_relocate(tensor, NULL, -1), SYNCYTE_ERR_BUSY, "in use by 1");
  EXPECT_OK(syncyte_tensor_release(tensor));
  EXPECT_OK(syncyte_tensor_relocate(tensor, NULL, rank == 0 ? 4 * size : 0));
  EXPECT_OK(syncyte_tensor_relocate(tensor, NULL, -1));
  EXPECT_ERROR(syncyte_tensor_destroy(NULL), SYNCYTE_ERR_ARGUMENT, "null");
  EXPECT_OK(syncyte_tensor_destroy(&made)); /* null is allowed */
  EXPECT(first == -1);
  EXPECT(count == -1);
}

/* A view holds a reference: its memory stays mapped after destroy, after collective calls, and after finalize. */
static double* view_of(syncyte_tensor_t* tensor, int64_t* elements) {
  syncyte_buffer_t view = SYNCYTE_BUFFER_INIT;
  EXPECT_OK(syncyte_tensor_retain(*tensor));
  EXPECT_OK(syncyte_tensor_local(*tensor, &view));
  *elements = view.shape[0] * view.shape[1];
  double* data = view.data;
  for (int64_t i = 0; i < *elements; ++i) data[i] = (double)(1000 * rank + i);
  syncyte_tensor_t handle = *tensor;
  EXPECT_OK(syncyte_tensor_destroy(tensor));
  EXPECT(*tensor == NULL);
  *tensor = handle; /* the view's own reference */
  return data;
}

static void expect_data(const double* data, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) EXPECT(data[i] == (double)(1000 * rank + i));
}

int main(void) {
  syncyte_tensor_t early = NULL;
  EXPECT_ERROR(syncyte_tensor_create(NULL, SYNCYTE_INT8, 0, NULL, NULL, &early), SYNCYTE_ERR_NOT_INITIALIZED, "");
  syncyte_comm_t world = start(&rank, &size), again = NULL;
  syncyte_tensor_t tensor = make(world, SYNCYTE_FLOAT64, 4 * size, 2);
  use_rows(tensor);
  use_optimizer(world);
  use_counters(world);
  use_accumulates(world);
  use_started_boxes(world);
  use_locks_and_signals(world);
  use_started_changes(world);
  use_wrong_arguments(world, tensor);
  use_older_options(world);

  int32_t again_size = 0;
  EXPECT_OK(syncyte_tensor_comm(tensor, &again));
  EXPECT_OK(syncyte_comm_size(again, &again_size));
  EXPECT(again_size == size);
  EXPECT_OK(syncyte_comm_destroy(&again));

  int64_t elements = 0;
  double* data = view_of(&tensor, &elements);
  EXPECT_OK(syncyte_comm_collect(world));
  expect_data(data, elements);
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  expect_data(data, elements);
  data[0] = 7; /* still writable too */
  syncyte_buffer_t view = SYNCYTE_BUFFER_INIT;
  EXPECT_ERROR(syncyte_tensor_local(tensor, &view), SYNCYTE_ERR_NOT_INITIALIZED, "already finalized");
  EXPECT_ERROR(syncyte_tensor_sync(tensor), SYNCYTE_ERR_NOT_INITIALIZED, "already finalized");
  EXPECT_OK(syncyte_tensor_retain(tensor));
  EXPECT_OK(syncyte_tensor_release(tensor));
  EXPECT_OK(syncyte_tensor_release(tensor));
  EXPECT_ERROR(syncyte_tensor_release(tensor), SYNCYTE_ERR_HANDLE, "freed");
  return failures != 0;
}
