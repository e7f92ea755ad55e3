/* SPDX-License-Identifier: BSD-3-Clause */
/* The C interface of windows: arguments, handles, and one round of each operation. */
#include <mpi.h>
#include <string.h>

#include "expect.h"
#include "syncyte.h"

static syncyte_comm_t world;
static int32_t rank, ranks;

static syncyte_buffer_t doubles(double* data, int64_t count) {
  syncyte_buffer_t buffer;
  EXPECT_OK(syncyte_buffer_init(data, SYNCYTE_FLOAT64, 1, &count, &buffer));
  return buffer;
}

static void test_operations(void) {
  syncyte_window_t window = NULL;
  EXPECT_OK(syncyte_window_create(world, 64, NULL, &window));
  const int32_t next = (rank + 1) % ranks;
  int64_t bytes = 0;
  EXPECT_OK(syncyte_window_size(window, next, &bytes));
  EXPECT(bytes == 64);
  void* mine = NULL;
  EXPECT_OK(syncyte_window_pointer(window, rank, &mine));
  double values[2] = {1.5 + rank, 2.5};
  const syncyte_buffer_t source = doubles(values, 2);
  EXPECT_OK(syncyte_window_put(window, next, 8, &source));
  EXPECT_OK(syncyte_window_flush(window, next));
  EXPECT_OK(syncyte_window_fence(window));
  EXPECT(((double*)mine)[1] == 1.5 + (rank + ranks - 1) % ranks);
  EXPECT(((double*)mine)[2] == 2.5);
  EXPECT_OK(syncyte_window_fence(window));
  EXPECT_OK(syncyte_window_accumulate(window, next, 8, &source, SYNCYTE_OP_SUM));
  EXPECT_OK(syncyte_window_fence(window));
  double read[2] = {0, 0};
  const syncyte_buffer_t target = doubles(read, 2);
  EXPECT_OK(syncyte_window_get(window, next, 8, &target));
  EXPECT(read[0] == 2 * values[0]);
  EXPECT(read[1] == 5.0);
  EXPECT_OK(syncyte_window_lock(window, 0, SYNCYTE_LOCK_EXCLUSIVE));
  EXPECT(syncyte_window_lock(window, 0, SYNCYTE_LOCK_SHARED) == SYNCYTE_ERR_BUSY);
  EXPECT_OK(syncyte_window_unlock(window, 0));
  EXPECT_OK(syncyte_window_fence(window));
  const int64_t one = 1, zero = 0;
  int64_t previous = -1;
  EXPECT_OK(syncyte_window_fetch_op(window, 0, 32, SYNCYTE_INT64, &one, SYNCYTE_OP_SUM, &previous));
  EXPECT(previous >= 0 && previous < ranks);
  EXPECT_OK(syncyte_window_fence(window));
  EXPECT_OK(syncyte_window_compare_swap(window, 0, 32, SYNCYTE_INT64, &zero, &one, &previous));
  EXPECT(previous == ranks);
  EXPECT_OK(syncyte_window_retain(window));
  EXPECT_OK(syncyte_window_release(window));
  EXPECT_OK(syncyte_window_destroy(&window));
  EXPECT(window == NULL);
  EXPECT_OK(syncyte_window_destroy(&window));
}

static void test_started(void) {
  syncyte_window_t window = NULL, handle = NULL;
  EXPECT_OK(syncyte_window_create(world, 64, NULL, &window));
  const int32_t next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  double values[2] = {1.5 + rank, 2.5}, read[2] = {0, 0};
  const syncyte_buffer_t source = doubles(values, 2), target = doubles(read, 2);
  int64_t one = 1, old = -1, none = -1, index = -1;
  int32_t done = 0;
  syncyte_request_t requests[3] = {NULL, NULL, NULL};
  EXPECT_OK(syncyte_window_iput(window, next, 8, &source, &requests[0]));
  EXPECT_OK(syncyte_window_iaccumulate(window, 0, 32, &source, SYNCYTE_OP_SUM, &requests[1]));
  EXPECT_OK(syncyte_window_ifetch_op(window, 0, 48, SYNCYTE_INT64, &one, SYNCYTE_OP_SUM, &old, &requests[2]));
  one = 100; /* it has been read */
  EXPECT_OK(syncyte_request_wait_any(3, requests, &index));
  EXPECT(index >= 0 && index < 3);
  EXPECT_OK(syncyte_request_wait_all(3, requests));
  EXPECT(old >= 0 && old < ranks);
  EXPECT_OK(syncyte_window_fence(window));
  EXPECT_OK(syncyte_window_iget(window, rank, 8, &target, &requests[0]));
  while (!done) EXPECT_OK(syncyte_request_test(&requests[0], &done));
  EXPECT(read[0] == 1.5 + previous);
  EXPECT(read[1] == 2.5);
  EXPECT_OK(syncyte_window_iget(window, 0, 32, &target, &requests[0]));
  EXPECT_OK(syncyte_request_wait(&requests[0]));
  EXPECT(read[1] == 2.5 * ranks);
  EXPECT_OK(syncyte_window_fence(window));
  one = ranks;
  EXPECT_OK(syncyte_window_icompare_swap(window, 0, 48, SYNCYTE_INT64, &one, &none, &old, &requests[0]));
  EXPECT_OK(syncyte_request_wait(&requests[0]));
  EXPECT(old == ranks || old == -1);
  EXPECT(syncyte_window_iput(window, 0, 56, &source, &requests[0]) == SYNCYTE_ERR_INDEX);
  EXPECT(syncyte_window_iget(window, ranks, 0, &target, &requests[0]) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(syncyte_window_iput(window, 0, 0, &source, NULL) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(requests[0] == NULL);
  EXPECT_OK(syncyte_window_fence(window));
  EXPECT_OK(syncyte_window_iget(window, next, 8, &target, &requests[0])); /* the request keeps the window */
  handle = window;
  EXPECT_OK(syncyte_window_destroy(&window));
  EXPECT_OK(syncyte_request_wait(&requests[0]));
  EXPECT(read[0] == 1.5 + rank);
  EXPECT(syncyte_window_iget(handle, next, 8, &target, &requests[0]) == SYNCYTE_ERR_HANDLE);
}

static void test_create_refuses(void) {
  syncyte_window_t window = NULL;
  syncyte_window_options_t options = SYNCYTE_WINDOW_OPTIONS_INIT;
  options.name = "bad on one rank";
  if (rank == ranks - 1) options.struct_size = 1;
  EXPECT(syncyte_window_create(world, 8, &options, &window) == SYNCYTE_ERR_ARGUMENT);
  options.struct_size = offsetof(syncyte_window_options_t, label); /* of a program that was compiled without label */
  EXPECT(syncyte_window_create(world, 8, &options, &window) == SYNCYTE_SUCCESS);
  EXPECT(syncyte_window_destroy(&window) == SYNCYTE_SUCCESS);
  options.struct_size = sizeof options;
  if (rank == 0) options.memory = SYNCYTE_MEMORY_CUDA;
  EXPECT(syncyte_window_create(world, 8, &options, &window) == SYNCYTE_ERR_UNSUPPORTED);
  options.memory = rank == 0 ? 9 : SYNCYTE_MEMORY_HOST;
  EXPECT(syncyte_window_create(world, 8, &options, &window) == SYNCYTE_ERR_ARGUMENT);
  options.memory = SYNCYTE_MEMORY_HOST;
  EXPECT(syncyte_window_create(world, 8, &options, rank == 0 ? NULL : &window) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(window == NULL);
  EXPECT(syncyte_window_create(NULL, 8, NULL, &window) == SYNCYTE_ERR_HANDLE);
  EXPECT(syncyte_window_create(world, -8, NULL, &window) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(strstr(syncyte_last_error(), "size is -8; expected 0 or more") != NULL);
}

static void test_arguments(void) {
  syncyte_window_t window = NULL, freed = NULL;
  EXPECT_OK(syncyte_window_create(world, 64, NULL, &window));
  double values[4] = {0};
  syncyte_buffer_t buffer = doubles(values, 4);
  EXPECT(syncyte_window_put(NULL, 0, 0, &buffer) == SYNCYTE_ERR_HANDLE);
  EXPECT(syncyte_window_put(window, ranks, 0, &buffer) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(syncyte_window_put(window, 0, 40, &buffer) == SYNCYTE_ERR_INDEX);
  EXPECT(strstr(syncyte_last_error(), "offset is 40") != NULL);
  EXPECT(syncyte_window_put(window, 0, -8, &buffer) == SYNCYTE_ERR_INDEX);
  EXPECT(strstr(syncyte_last_error(), "offset is -8") != NULL);
  EXPECT(syncyte_window_get(window, 0, 0, NULL) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(syncyte_window_accumulate(window, 0, 0, &buffer, SYNCYTE_OP_BAND) == SYNCYTE_ERR_UNSUPPORTED);
  EXPECT(syncyte_window_accumulate(window, 0, 4, &buffer, SYNCYTE_OP_SUM) == SYNCYTE_ERR_ARGUMENT);
  buffer.strides[0] = 16;
  EXPECT(syncyte_window_put(window, 0, 0, &buffer) == SYNCYTE_ERR_SHAPE);
  buffer = doubles(values, 4);
  buffer.memory = SYNCYTE_MEMORY_CUDA;
  EXPECT(syncyte_window_get(window, 0, 0, &buffer) == SYNCYTE_ERR_UNSUPPORTED);
  int64_t word = 0;
  EXPECT(syncyte_window_fetch_op(window, 0, 0, SYNCYTE_INT64, NULL, SYNCYTE_OP_SUM, &word) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(syncyte_window_fetch_op(window, 0, 0, SYNCYTE_INT64, &word, 12, &word) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(syncyte_window_compare_swap(window, 0, 0, SYNCYTE_FLOAT64, &word, &word, &word) == SYNCYTE_ERR_UNSUPPORTED);
  EXPECT(syncyte_window_lock(window, 0, 3) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(syncyte_window_unlock(window, 0) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(syncyte_window_flush(window, -2) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(syncyte_window_size(window, 0, NULL) == SYNCYTE_ERR_ARGUMENT);
  EXPECT(syncyte_window_pointer(window, -1, (void**)&freed) == SYNCYTE_ERR_ARGUMENT);
  freed = window;
  EXPECT_OK(syncyte_window_destroy(&window));
  EXPECT(syncyte_window_flush(freed, 0) == SYNCYTE_ERR_HANDLE);
  EXPECT(syncyte_window_release(freed) == SYNCYTE_ERR_HANDLE);
}

int main(void) {
  EXPECT_OK(syncyte_init(NULL));
  EXPECT_OK(syncyte_comm_world(&world));
  EXPECT_OK(syncyte_comm_rank(world, &rank));
  EXPECT_OK(syncyte_comm_size(world, &ranks));
  test_operations();
  test_started();
  test_create_refuses();
  test_arguments();
  syncyte_window_t left = NULL; /* freed by finalize */
  EXPECT_OK(syncyte_window_create(world, 64, NULL, &left));
  void* view = NULL;
  EXPECT_OK(syncyte_window_pointer(left, rank, &view));
  EXPECT_OK(syncyte_finalize());
  EXPECT(*(char*)view == 0); /* the handle still refers to the memory */
  EXPECT(syncyte_window_flush(left, 0) == SYNCYTE_ERR_NOT_INITIALIZED);
  EXPECT_OK(syncyte_window_destroy(&left));
  return failures != 0;
}
