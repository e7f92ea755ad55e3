/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of syncyte_request_create() make progress during every wait of a rank, and finalize completes them. With the
 * argument "never": finalize names a request that cannot end, and gives it up. */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "../support/waiting.h"
#include "expect.h"

static int32_t rank, size;
static syncyte_comm_t world;

static syncyte_buffer_t one_number(int32_t* number) {
  const int64_t one = 1;
  syncyte_buffer_t buffer;
  EXPECT_OK(syncyte_buffer_init(number, SYNCYTE_INT32, 1, &one, &buffer));
  return buffer;
}

static int32_t received(int32_t source, int32_t tag) {
  int32_t number = -1;
  const syncyte_buffer_t buffer = one_number(&number);
  EXPECT_OK(syncyte_comm_recv(world, source, tag, NULL, &buffer, NULL));
  return number;
}

static void give(int32_t number, int32_t peer, int32_t tag) {
  const syncyte_buffer_t buffer = one_number(&number);
  EXPECT_OK(syncyte_comm_send(world, &buffer, peer, tag, NULL));
}

/* An operation of rank 0 in three steps that call Syncyte: it receives a question of rank 1, and sends the answer. */
enum { question = 1, answer = 2, word = 3 };
struct answering {
  syncyte_request_t step;
  int32_t number;
  int steps_left, freed;
};

static syncyte_status_t poll_answering(void* context, int32_t* done) {
  struct answering* self = context;
  const syncyte_buffer_t buffer = one_number(&self->number);
  int32_t step_done = 0;
  const syncyte_status_t status = syncyte_request_test(&self->step, &step_done);
  if (status != SYNCYTE_SUCCESS || !step_done) return status;
  *done = self->steps_left == 0;
  if (*done) return SYNCYTE_SUCCESS;
  if (self->steps_left-- == 2) return syncyte_comm_irecv(world, 1, question, NULL, &buffer, NULL, &self->step);
  ++self->number;
  return syncyte_comm_isend(world, &buffer, 1, answer, NULL, &self->step);
}

static void free_answering(void* context) { ++((struct answering*)context)->freed; }

static syncyte_request_t start_answering(struct answering* self) {
  syncyte_request_t request = NULL;
  self->steps_left = 2;
  EXPECT_OK(syncyte_request_create(poll_answering, NULL, free_answering, self, &request));
  return request;
}

static void ask(int32_t number) {
  give(number, 0, question);
  EXPECT(received(0, answer) == number + 1);
}

static syncyte_comm_t unchecked;

static syncyte_status_t wait_for_word(void* nothing) {
  (void)nothing;
  EXPECT(received(1, word) == 5);
  return SYNCYTE_SUCCESS;
}

static syncyte_status_t poll_never(void* nothing, int32_t* done) {
  (void)nothing;
  (void)done;
  return SYNCYTE_SUCCESS;
}

static void meet_in_barrier(void) { EXPECT_OK(syncyte_comm_barrier(world)); }

static void meet_without_checks(void) { EXPECT_OK(syncyte_comm_barrier(unchecked)); }

static void meet_in_message(void) {
  if (rank == 1) give(5, 0, word);
  if (rank == 0) EXPECT(received(1, word) == 5);
}

static void meet_in_wait_callback(void) {
  syncyte_request_t request = NULL;
  if (rank == 1) give(5, 0, word);
  if (rank != 0) return;
  EXPECT_OK(syncyte_request_create(poll_never, wait_for_word, NULL, NULL, &request));
  EXPECT_OK(syncyte_request_wait(&request));
}

/* Rank 0 waits in `meet` for rank 1, which first waits for rank 0's operation. */
static void test_goes_on_in(void (*meet)(void)) {
  struct answering operation = {0};
  syncyte_request_t request = NULL;
  if (size == 1) return;
  if (rank == 0) request = start_answering(&operation);
  if (rank == 1) ask(10);
  meet();
  if (rank != 0) return;
  EXPECT(operation.freed == 0);
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT(operation.freed == 1);
  EXPECT(operation.number == 11);
}

/* A request whose polls call Syncyte, and which ends after some polls with a status. */
struct countdown {
  int left, freed, with_tests;
  syncyte_status_t status;
  atomic_int inside;
};
static _Thread_local int depth, deepest;

static syncyte_status_t poll_countdown(void* context, int32_t* done) {
  struct countdown* self = context;
  EXPECT(atomic_fetch_add(&self->inside, 1) == 0); /* one poll at a time */
  if (++depth > deepest) deepest = depth;
  if (self->with_tests) {
    int32_t number = 0, ended = 0;
    const syncyte_buffer_t buffer = one_number(&number);
    syncyte_request_t to_self = NULL;
    EXPECT_OK(syncyte_comm_irecv(world, rank, 9, NULL, &buffer, NULL, &to_self));
    EXPECT_OK(syncyte_request_test(&to_self, &ended)); /* makes progress on all requests */
    EXPECT(ended == 0);
    give(7, rank, 9);
    EXPECT_OK(syncyte_request_wait(&to_self));
    EXPECT(number == 7);
  }
  *done = --self->left <= 0;
  --depth;
  atomic_fetch_sub(&self->inside, 1);
  return *done && self->status != SYNCYTE_SUCCESS ? syncyte_error_set(self->status, "no space on the disk")
                                                  : SYNCYTE_SUCCESS;
}

static void free_countdown(void* context) { ++((struct countdown*)context)->freed; }

static syncyte_request_t start_countdown(struct countdown* self) {
  syncyte_request_t request = NULL;
  EXPECT_OK(syncyte_request_create(poll_countdown, NULL, free_countdown, self, &request));
  return request;
}

static void test_an_error_waits_for_who_asks(void) {
  struct countdown failing = {.left = 2, .status = SYNCYTE_ERR_IO}, other = {.left = 20};
  syncyte_request_t failed = start_countdown(&failing), long_one = start_countdown(&other);
  EXPECT(syncyte_error_set(SYNCYTE_ERR_FORMAT, "an error of before") == SYNCYTE_ERR_FORMAT);
  EXPECT_OK(syncyte_request_wait(&long_one));
  EXPECT(failing.left == 0); /* polled during the wait, and not after its end */
  EXPECT(failing.freed == 0);
  EXPECT(strstr(syncyte_last_error(), "an error of before") != NULL);
  EXPECT_ERROR(syncyte_request_wait(&failed), SYNCYTE_ERR_IO, "no space on the disk");
  EXPECT(failing.freed == 1);
  EXPECT(failing.left == 0);
}

static void test_polls_that_call_syncyte_do_not_nest(void) {
  enum { count = 50 };
  struct countdown operations[count];
  syncyte_request_t requests[count];
  deepest = 0;
  for (int i = 0; i < count; ++i) {
    operations[i] = (struct countdown){.left = 3 + i % 5, .with_tests = 1};
    requests[i] = start_countdown(&operations[i]);
  }
  EXPECT_OK(syncyte_request_wait_all(count, requests));
  for (int i = 0; i < count; ++i) EXPECT(operations[i].freed == 1);
  EXPECT(deepest == 1);
}

static void* wait_for(void* request) {
  EXPECT_OK(syncyte_request_wait(request));
  return NULL;
}

static void test_polls_of_one_request_do_not_overlap(void) {
  struct countdown operations[3] = {{.left = 2000}, {.left = 2000}, {.left = 2000}};
  syncyte_request_t requests[3];
  pthread_t threads[2];
  int32_t level = 0;
  EXPECT_OK(syncyte_thread_level(&level));
  if (level != 3) return;
  for (int i = 0; i < 3; ++i) requests[i] = start_countdown(&operations[i]);
  for (int i = 0; i < 2; ++i) EXPECT(pthread_create(&threads[i], NULL, wait_for, &requests[i]) == 0);
  EXPECT_OK(syncyte_request_wait(&requests[2]));
  for (int i = 0; i < 2; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT(operations[i].freed == 1);
    EXPECT(operations[i].left == 0);
  }
}

/* Rank 0 calls finalize before rank 1 sends its question. */
static void end_with_active_requests(void) {
  struct answering operation = {0};
  struct countdown ended = {.left = 1}, failing = {.left = 5, .status = SYNCYTE_ERR_IO};
  syncyte_request_t answered = NULL, counted = start_countdown(&ended), failed = start_countdown(&failing);
  if (rank == 0 && size > 1) answered = start_answering(&operation);
  if (rank == 1) sleep_for(0.1);
  if (rank == 1) ask(20);
  EXPECT_OK(syncyte_comm_destroy(&unchecked));
  EXPECT_OK(syncyte_finalize());
  EXPECT(ended.freed == 1);
  EXPECT(failing.freed == 1);
  EXPECT_OK(syncyte_request_wait(&counted));
  EXPECT_ERROR(syncyte_request_wait(&failed), SYNCYTE_ERR_IO, "no space on the disk");
  EXPECT(ended.freed == 1);
  EXPECT(failing.freed == 1);
  if (rank != 0 || size == 1) return;
  EXPECT(operation.freed == 1);
  EXPECT(operation.number == 21);
  EXPECT_OK(syncyte_request_wait(&answered));
  EXPECT(operation.freed == 1);
}

static void end_with_one_that_never_ends(void) {
  char text[4096] = "", expected[128];
  int32_t done = 1;
  struct countdown operation = {.left = 1 << 30};
  syncyte_request_t request = rank == size - 1 ? start_countdown(&operation) : NULL;
  FILE* const log = tmpfile();
  const int standard_error = dup(STDERR_FILENO);
  EXPECT(log != NULL);
  EXPECT(dup2(fileno(log), STDERR_FILENO) >= 0);
  EXPECT_OK(syncyte_finalize());
  EXPECT(dup2(standard_error, STDERR_FILENO) >= 0);
  rewind(log);
  text[fread(text, 1, sizeof text - 1, log)] = 0;
  fclose(log);
  if (request == NULL) return;
  snprintf(expected, sizeof expected, "request of syncyte_request_create with the handle %lld has not ended within 5 s",
           (long long)(intptr_t)request);
  EXPECT(strstr(text, expected) != NULL);
  const int left = operation.left;
  EXPECT_OK(syncyte_request_test(&request, &done));
  EXPECT(done == 0);
  EXPECT(operation.left == left - 1);
  EXPECT(operation.freed == 0);
}

int main(int argc, char** argv) {
  const syncyte_comm_options_t no_checks = {.struct_size = sizeof no_checks, .check = 0};
  int32_t number = 1;
  world = start(&rank, &size);
  const syncyte_buffer_t buffer = one_number(&number);
  EXPECT_OK(syncyte_comm_allreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &buffer));
  if (argc > 1 && strcmp(argv[1], "never") == 0) {
    end_with_one_that_never_ends();
    return failures != 0;
  }
  EXPECT_OK(syncyte_comm_dup(world, &no_checks, &unchecked));
  test_goes_on_in(meet_in_barrier);
  test_goes_on_in(meet_without_checks);
  test_goes_on_in(meet_in_message);
  test_goes_on_in(meet_in_wait_callback);
  test_an_error_waits_for_who_asks();
  test_polls_that_call_syncyte_do_not_nest();
  test_polls_of_one_request_do_not_overlap();
  end_with_active_requests();
  return failures != 0;
}
