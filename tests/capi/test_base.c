/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions, names, buffers, errors, logging, requests. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "expect.h"

static void test_version(void) {
  int32_t major = -1, minor = -1, patch = -1, abi = -1;
  EXPECT_OK(syncyte_version(&major, &minor, &patch, &abi));
  EXPECT(major == SYNCYTE_VERSION_MAJOR);
  EXPECT(minor == SYNCYTE_VERSION_MINOR);
  EXPECT(patch == SYNCYTE_VERSION_PATCH);
  EXPECT(abi == SYNCYTE_ABI_VERSION);
  EXPECT_OK(syncyte_version(NULL, NULL, NULL, NULL));
}

static void test_names(void) {
  int64_t bytes = 0;
  EXPECT(strcmp(syncyte_status_name(SYNCYTE_ERR_INDEX), "SYNCYTE_ERR_INDEX") == 0);
  EXPECT(strcmp(syncyte_status_name(999), "SYNCYTE_ERR_UNKNOWN") == 0);
  EXPECT(strcmp(syncyte_dtype_name(SYNCYTE_BFLOAT16), "bfloat16") == 0);
  EXPECT(strcmp(syncyte_dtype_name(0), "unknown") == 0);
  EXPECT_OK(syncyte_dtype_size(SYNCYTE_COMPLEX128, &bytes));
  EXPECT(bytes == 16);
  EXPECT_ERROR(syncyte_dtype_size(77, &bytes), SYNCYTE_ERR_TYPE, "dtype is 77; expected one of");
  EXPECT_ERROR(syncyte_dtype_size(SYNCYTE_BOOL, NULL), SYNCYTE_ERR_ARGUMENT, "size is null");
}

static void test_buffers(void) {
  const int64_t shape[] = {2, 3};
  const int64_t huge[] = {INT64_MAX, 3};
  const int64_t negative[] = {2, -3};
  double data[6];
  syncyte_buffer_t buffer;
  EXPECT_OK(syncyte_buffer_init(data, SYNCYTE_FLOAT64, 2, shape, &buffer));
  EXPECT(buffer.struct_size == sizeof buffer);
  EXPECT(buffer.data == data);
  EXPECT(buffer.ndim == 2);
  EXPECT(buffer.strides[0] == 24);
  EXPECT(buffer.strides[1] == 8);
  EXPECT_ERROR(syncyte_buffer_init(data, 0, 2, shape, &buffer), SYNCYTE_ERR_TYPE, "dtype is 0; expected one of");
  EXPECT_ERROR(syncyte_buffer_init(data, SYNCYTE_INT8, 9, shape, &buffer), SYNCYTE_ERR_SHAPE, "ndim is 9");
  EXPECT_ERROR(syncyte_buffer_init(data, SYNCYTE_INT8, 2, NULL, &buffer), SYNCYTE_ERR_ARGUMENT, "shape is null");
  EXPECT_ERROR(syncyte_buffer_init(data, SYNCYTE_INT8, 2, huge, &buffer), SYNCYTE_ERR_SHAPE, "2^63 - 1 bytes");
  EXPECT_ERROR(syncyte_buffer_init(data, SYNCYTE_INT8, 2, negative, &buffer), SYNCYTE_ERR_SHAPE, "-3 of dimension 1");
}

static void test_errors(void) {
  EXPECT(syncyte_error_set(SYNCYTE_ERR_FORMAT, "a library's own message") == SYNCYTE_ERR_FORMAT);
  EXPECT(strstr(syncyte_last_error(), "a library's own message") != NULL);
  EXPECT_OK(syncyte_log(SYNCYTE_LOG_DEBUG, "not shown by default"));
  EXPECT_ERROR(syncyte_log(17, "x"), SYNCYTE_ERR_ARGUMENT, "level is 17");
  EXPECT_ERROR(syncyte_log(SYNCYTE_LOG_INFO, NULL), SYNCYTE_ERR_ARGUMENT, "message is null");
}

/* A request that is done after some polls. */
struct countdown {
  int left;
  int is_freed;
  syncyte_status_t status;
};

static syncyte_status_t poll_countdown(void* context, int32_t* done) {
  struct countdown* countdown = context;
  *done = --countdown->left <= 0;
  return *done ? countdown->status : SYNCYTE_SUCCESS;
}

static void free_countdown(void* context) { ((struct countdown*)context)->is_freed++; }

static syncyte_request_t begin(struct countdown* countdown) {
  syncyte_request_t request = NULL;
  EXPECT_OK(syncyte_request_create(poll_countdown, NULL, free_countdown, countdown, &request));
  return request;
}

static void test_requests(void) {
  struct countdown first = {3, 0, SYNCYTE_SUCCESS};
  struct countdown second = {2, 0, SYNCYTE_ERR_IO};
  int32_t done = -1;
  int64_t index = -7;
  syncyte_request_t requests[3];

  syncyte_request_t request = begin(&first);
  EXPECT_ERROR(syncyte_request_destroy(&request), SYNCYTE_ERR_BUSY, "still active");
  EXPECT_OK(syncyte_request_test(&request, &done));
  EXPECT(done == 0);
  EXPECT(request != NULL);
  EXPECT(first.is_freed == 0);
  EXPECT_OK(syncyte_request_test(&request, &done));
  EXPECT(done == 1);
  EXPECT(request == NULL);
  EXPECT(first.is_freed == 1);
  EXPECT_OK(syncyte_request_test(&request, &done));
  EXPECT(done == 1);
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT_OK(syncyte_request_destroy(&request));

  first.left = 5;
  requests[0] = begin(&first);
  requests[1] = NULL;
  requests[2] = begin(&second);
  EXPECT(syncyte_request_wait_any(3, requests, &index) == SYNCYTE_ERR_IO);
  EXPECT(index == 2);
  EXPECT(requests[2] == NULL);
  EXPECT(requests[0] != NULL);
  EXPECT(second.is_freed == 1);
  second.left = 2;
  requests[2] = begin(&second);
  EXPECT(syncyte_request_wait_all(3, requests) == SYNCYTE_ERR_IO);
  EXPECT(requests[0] == NULL);
  EXPECT(requests[2] == NULL);
  EXPECT(first.is_freed == 2);
  EXPECT(second.is_freed == 2);
  EXPECT_OK(syncyte_request_wait_any(3, requests, &index));
  EXPECT(index == -1);

  EXPECT_ERROR(syncyte_request_create(NULL, NULL, NULL, NULL, &request), SYNCYTE_ERR_ARGUMENT, "poll is null");
  EXPECT_ERROR(syncyte_request_test(NULL, &done), SYNCYTE_ERR_ARGUMENT, "request is null");
  EXPECT_ERROR(syncyte_request_wait_all(-1, requests), SYNCYTE_ERR_ARGUMENT, "count is -1");
  request = (syncyte_request_t)(intptr_t)0x12345678;
  EXPECT_ERROR(syncyte_request_wait(&request), SYNCYTE_ERR_HANDLE, "freed, or not a request");
}

/* A request for which another thread waits until a flag is set. */
static atomic_int is_waiting, may_end;

static syncyte_status_t wait_until_told(void* context) {
  (void)context;
  is_waiting = 1;
  while (!may_end) sched_yield();
  return SYNCYTE_SUCCESS;
}

static syncyte_status_t poll_never(void* context, int32_t* done) {
  (void)context;
  *done = 0;
  return SYNCYTE_SUCCESS;
}

static void* wait_for(void* request) {
  EXPECT_OK(syncyte_request_wait(request));
  return NULL;
}

static void test_a_request_is_tested_while_another_thread_waits(void) {
  pthread_t thread;
  int32_t done = -1;
  syncyte_request_t request = NULL;
  EXPECT_OK(syncyte_request_create(poll_never, wait_until_told, NULL, NULL, &request));
  syncyte_request_t tested = request;
  pthread_create(&thread, NULL, wait_for, &request);
  while (!is_waiting) sched_yield();
  EXPECT_OK(syncyte_request_test(&tested, &done)); /* does not wait for the other thread, which ends after this */
  EXPECT(done == 0);
  EXPECT(tested != NULL);
  EXPECT_ERROR(syncyte_request_destroy(&tested), SYNCYTE_ERR_BUSY, "still active");
  may_end = 1;
  pthread_join(thread, NULL);
  EXPECT(request == NULL);
}

int main(void) {
  test_version();
  test_names();
  test_buffers();
  test_errors();
  test_requests();
  test_a_request_is_tested_while_another_thread_waits();
  return failures != 0;
}
