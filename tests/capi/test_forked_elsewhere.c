/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank is a node of its own (SYNCYTE_SHM=none). A forked child of a rank may read the rank's own rows. Calls that
 * would reach other ranks are refused in the child, and do not affect the ranks. */
#include <mpi.h>

#include "in_child.h"
#include "vector.h"

enum { rows_each = 2, columns = 4 };
static int32_t rank, size, other;
static syncyte_comm_t world;
static syncyte_tensor_t tensor, parameters;
static syncyte_window_t window;
static syncyte_store_t store;
static syncyte_store_worker_t worker;
static syncyte_request_t in_flight;
static syncyte_request_t pull_in_flight;

static syncyte_buffer_t row_of(int64_t* values) {
  const int64_t shape[2] = {1, columns};
  syncyte_buffer_t row = {0};
  EXPECT_OK(syncyte_buffer_init(values, SYNCYTE_INT64, 2, shape, &row));
  return row;
}

static void read_own_rows(void) {
  int64_t row = rank * rows_each, values[columns] = {0}, number = -1;
  const int64_t lower[2] = {row, 0};
  const syncyte_buffer_t index = vector_of(&row, SYNCYTE_INT64, 1), output = row_of(values);
  const syncyte_buffer_t target = vector_of(&number, SYNCYTE_INT64, 1);
  EXPECT_OK(syncyte_tensor_gather(tensor, &index, &output));
  EXPECT(values[columns - 1] == row);
  EXPECT_OK(syncyte_tensor_get_box(tensor, 2, lower, &output));
  EXPECT_OK(syncyte_tensor_load(tensor, row * columns, &number));
  EXPECT(number == row);
  EXPECT_OK(syncyte_window_get(window, rank, 0, &target));
  EXPECT(number == rank);
}

static void use_rows_elsewhere(void) {
  int64_t row = other * rows_each, values[columns] = {1, 1, 1, 1}, number = -1;
  const int64_t lower[2] = {row, 0}, element = row * columns;
  const syncyte_buffer_t index = vector_of(&row, SYNCYTE_INT64, 1), packed = row_of(values);
  syncyte_request_t request = NULL;
  EXPECT_REFUSED(syncyte_tensor_gather(tensor, &index, &packed));
  EXPECT_REFUSED(syncyte_tensor_scatter(tensor, &index, &packed));
  EXPECT_REFUSED(syncyte_tensor_scatter_add(tensor, &index, &packed));
  EXPECT_REFUSED(syncyte_tensor_igather(tensor, &index, &packed, &request));
  EXPECT_REFUSED(syncyte_tensor_iscatter(tensor, &index, &packed, &request));
  EXPECT_REFUSED(syncyte_tensor_iscatter_add(tensor, &index, &packed, &request));
  EXPECT_REFUSED(syncyte_tensor_iput_signal(tensor, &index, &packed, tensor, element, 1, SYNCYTE_OP_SUM, &request));
  EXPECT_REFUSED(syncyte_tensor_ifetch_add(tensor, element, 1, &number, &request));
  EXPECT_REFUSED(syncyte_tensor_icompare_swap(tensor, element, 0, 1, &number, &request));
  EXPECT_REFUSED(syncyte_tensor_get_box(tensor, 2, lower, &packed));
  EXPECT_REFUSED(syncyte_tensor_put_box(tensor, 2, lower, &packed));
  EXPECT_REFUSED(syncyte_tensor_fetch_add(tensor, element, 1, &number));
  EXPECT_REFUSED(syncyte_tensor_compare_swap(tensor, element, 0, 1, &number));
  EXPECT_REFUSED(syncyte_tensor_load(tensor, element, &number));
  EXPECT_REFUSED(syncyte_tensor_store(tensor, element, 1));
  EXPECT_REFUSED(syncyte_tensor_wait(tensor, element, SYNCYTE_COMPARE_EQ, -7, 5.0, &number));
  EXPECT_REFUSED(syncyte_tensor_flush(tensor));
  EXPECT_REFUSED(syncyte_tensor_sync(tensor));
  EXPECT(request == NULL);
}

static void update_rows_elsewhere(void) {
  int64_t row = other;
  float gradient = 1;
  const int64_t shape[2] = {1, 1};
  const syncyte_buffer_t index = vector_of(&row, SYNCYTE_INT64, 1);
  syncyte_buffer_t gradients = {0};
  syncyte_request_t request = NULL;
  EXPECT_OK(syncyte_buffer_init(&gradient, SYNCYTE_FLOAT32, 2, shape, &gradients));
  EXPECT_REFUSED(syncyte_tensor_apply_gradients(parameters, &index, &gradients));
  EXPECT_REFUSED(syncyte_tensor_iapply_gradients(parameters, &index, &gradients, &request));
  EXPECT(request == NULL);
  EXPECT_REFUSED(syncyte_tensor_set_learning_rate(parameters, 2.0));
  EXPECT_REFUSED(syncyte_tensor_set_optimizer(parameters, SYNCYTE_OPTIMIZER_SGD, 0.5, NULL));
}

static void use_parts_elsewhere(void) {
  int64_t number = 7, found = 0;
  const syncyte_buffer_t counter = vector_of(&number, SYNCYTE_INT64, 1);
  EXPECT_REFUSED(syncyte_window_get(window, other, 0, &counter));
  EXPECT_REFUSED(syncyte_window_put(window, other, 0, &counter));
  EXPECT_REFUSED(syncyte_window_accumulate(window, other, 0, &counter, SYNCYTE_OP_SUM));
  EXPECT_REFUSED(syncyte_window_fetch_op(window, other, 0, SYNCYTE_INT64, &number, SYNCYTE_OP_SUM, &found));
  EXPECT_REFUSED(syncyte_window_compare_swap(window, other, 0, SYNCYTE_INT64, &number, &number, &found));
  EXPECT_REFUSED(syncyte_window_lock(window, other, SYNCYTE_LOCK_SHARED));
  EXPECT_REFUSED(syncyte_window_flush(window, other));
  EXPECT_REFUSED(syncyte_window_fence(window));
}

static void use_keys_elsewhere(void) {
  int64_t key = other;
  float value = 1;
  int32_t flag = -1;
  const syncyte_buffer_t keys = vector_of(&key, SYNCYTE_INT64, 1), values = vector_of(&value, SYNCYTE_FLOAT32, 1);
  EXPECT_OK(syncyte_store_worker_pull_if_local(worker, &keys, &values, &flag));
  EXPECT(flag == 0);
  EXPECT(value == 1);
  EXPECT_REFUSED(syncyte_store_worker_pull(worker, &keys, &values));
  EXPECT_REFUSED(syncyte_store_worker_push(worker, &keys, &values));
  EXPECT_REFUSED(syncyte_store_worker_set(worker, &keys, &values));
  EXPECT_REFUSED(syncyte_store_worker_prefetch(worker, &keys));
  EXPECT_REFUSED(syncyte_request_test(&pull_in_flight, &flag));
  EXPECT_REFUSED(syncyte_request_wait(&pull_in_flight));
  EXPECT_REFUSED(syncyte_store_worker_flush(worker));
}

/* Reads the rank's own key while prefetches of the rank are in flight, and ends the worker. */
static void leave_the_store(void) {
  int64_t key = rank;
  float value = 1;
  const syncyte_buffer_t keys = vector_of(&key, SYNCYTE_INT64, 1), values = vector_of(&value, SYNCYTE_FLOAT32, 1);
  EXPECT_OK(syncyte_store_worker_pull(worker, &keys, &values));
  EXPECT(value == 0);
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&store));
}

static void use_started_operation(void) {
  int32_t done = 0;
  int64_t index = 0;
  EXPECT_REFUSED(syncyte_request_test(&in_flight, &done));
  EXPECT_REFUSED(syncyte_request_wait(&in_flight));
  EXPECT_REFUSED(syncyte_request_wait_all(1, &in_flight));
  EXPECT_REFUSED(syncyte_request_wait_any(1, &in_flight, &index));
  EXPECT_REFUSED(syncyte_request_destroy(&in_flight));
}

static void create_more(void) {
  const int64_t shape[2] = {rows_each, columns};
  syncyte_tensor_t made = NULL;
  syncyte_window_t made_window = NULL;
  EXPECT_REFUSED(syncyte_tensor_create(world, SYNCYTE_INT64, 2, shape, NULL, &made));
  EXPECT_REFUSED(syncyte_window_create(world, sizeof(int64_t), NULL, &made_window));
}

static void end(void) {
  EXPECT_OK(syncyte_window_destroy(&window));
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
  EXPECT_OK(syncyte_finalize());
}

/* Makes a tensor whose rows contain their numbers, a window with each rank's number, a store with a key for each rank.
 */
static void make_objects(void) {
  const int64_t shape[2] = {size * rows_each, columns}, column[2] = {size, 1}, one = 1;
  syncyte_buffer_t local = SYNCYTE_BUFFER_INIT;
  void* mine = NULL;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, size, 1, &one, NULL, &store));
  EXPECT_OK(syncyte_store_worker_create(store, 0, &worker));
  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_INT64, 2, shape, NULL, &tensor));
  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_FLOAT32, 2, column, NULL, &parameters));
  EXPECT_OK(syncyte_tensor_set_optimizer(parameters, SYNCYTE_OPTIMIZER_SGD, 1.0, NULL));
  EXPECT_OK(syncyte_window_create(world, sizeof(int64_t), NULL, &window));
  EXPECT_OK(syncyte_window_pointer(window, rank, &mine));
  *(int64_t*)mine = rank;
  EXPECT_OK(syncyte_tensor_local(tensor, &local));
  for (int64_t i = 0; i < rows_each * columns; ++i) ((int64_t*)local.data)[i] = rank * rows_each + i / columns;
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_window_fence(window));
}

/* The ranks go on: each adds to a row and a part of the next rank, and nothing of the children has arrived. */
static void go_on(void) {
  int64_t row = other * rows_each, ones[columns] = {1, 1, 1, 1}, values[columns] = {0}, number = 0;
  const syncyte_buffer_t index = vector_of(&row, SYNCYTE_INT64, 1), source = row_of(ones), output = row_of(values);
  const syncyte_buffer_t target = vector_of(&number, SYNCYTE_INT64, 1);
  EXPECT_OK(syncyte_tensor_scatter_add(tensor, &index, &source));
  EXPECT_OK(syncyte_tensor_sync(tensor));
  EXPECT_OK(syncyte_tensor_gather(tensor, &index, &output));
  for (int i = 0; i < columns; ++i) EXPECT(values[i] == row + 1);
  EXPECT_OK(syncyte_window_get(window, other, 0, &target));
  EXPECT(number == other);
  EXPECT_OK(syncyte_comm_barrier(world));
}

int main(void) {
  int64_t row = 0, started[columns] = {0}, key = 0;
  float value = -1;
  world = start(&rank, &size);
  other = (rank + 1) % size;
  row = other * rows_each + 1;
  key = other;
  make_objects();
  const syncyte_buffer_t keys = vector_of(&key, SYNCYTE_INT64, 1), values = vector_of(&value, SYNCYTE_FLOAT32, 1);
  const syncyte_buffer_t index = vector_of(&row, SYNCYTE_INT64, 1), output = row_of(started);
  EXPECT_OK(syncyte_tensor_igather(tensor, &index, &output, &in_flight));
  EXPECT_OK(syncyte_store_worker_ipull(worker, &keys, &values, &pull_in_flight));
  EXPECT_OK(syncyte_store_worker_prefetch(worker, &keys));
  EXPECT_OK(syncyte_store_worker_prefetch(worker, &keys));
  in_child(10, leave_the_store);
  in_child(10, read_own_rows);
  in_child(10, use_rows_elsewhere);
  in_child(10, update_rows_elsewhere);
  in_child(10, use_parts_elsewhere);
  in_child(10, use_keys_elsewhere);
  in_child(10, use_started_operation);
  in_child(10, create_more);
  in_child(10, end);
  EXPECT_OK(syncyte_request_wait(&in_flight));
  EXPECT(started[columns - 1] == row);
  EXPECT_OK(syncyte_request_wait(&pull_in_flight));
  EXPECT(value == 0);
  value = -1;
  EXPECT_OK(syncyte_store_worker_pull(worker, &keys, &values)); /* takes a prefetch */
  EXPECT(value == 0);
  EXPECT_OK(syncyte_comm_barrier(world)); /* no child reads rows any more */
  go_on();
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
