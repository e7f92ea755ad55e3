/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of syncyte/messages.h: round a ring, their statuses, and errors of sender and receiver. */
#include <stddef.h>
#include <stdlib.h>

#include "expect.h"
#include "vector.h"

static int32_t rank, size, next, previous;
static syncyte_comm_t world;

static void test_one_memory_cannot_be_exchanged(void) {
  double values[8] = {1, 2, 3, 4, 5, 6, 7, 8}, others[8] = {8, 7, 6, 5, 4, 3, 2, 1};
  const syncyte_buffer_t all = vector_of(values, SYNCYTE_FLOAT64, 8), front = vector_of(values, SYNCYTE_FLOAT64, 5);
  const syncyte_buffer_t behind = vector_of(values + 3, SYNCYTE_FLOAT64, 5);
  const syncyte_buffer_t other = vector_of(others, SYNCYTE_FLOAT64, 8);
  syncyte_request_t request = NULL;
  EXPECT_ERROR(syncyte_comm_sendrecv(world, &all, next, 1, previous, 1, NULL, &all, NULL), SYNCYTE_ERR_ARGUMENT,
               "recv_array is memory that is sent too; expected separate memory, such as a copy");
  EXPECT_ERROR(syncyte_comm_sendrecv(world, &front, next, 1, previous, 1, NULL, &behind, NULL), SYNCYTE_ERR_ARGUMENT,
               "recv_array is memory");
  EXPECT_OK(syncyte_comm_sendrecv(world, &all, SYNCYTE_PROC_NULL, 1, SYNCYTE_PROC_NULL, 1, NULL, &all,
                                  NULL));  // nothing moves
  EXPECT_OK(syncyte_comm_irecv(world, previous, 2, NULL, &all, NULL, &request));
  EXPECT_ERROR(syncyte_comm_recv(world, previous, 3, NULL, &front, NULL), SYNCYTE_ERR_ARGUMENT,
               "memory into which a message which was started receives; expected other memory, or a wait");
  EXPECT_ERROR(syncyte_comm_send(world, &behind, next, 2, NULL), SYNCYTE_ERR_ARGUMENT, "array is memory into which");
  EXPECT_OK(syncyte_comm_send(world, &other, next, 2, NULL));
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT(values[7] == 1);
}

static void test_sendrecv_tells_who_has_sent(void) {
  int32_t sent[] = {rank, 10 + rank}, received[] = {-1, -1};
  const syncyte_message_options_t options = {.struct_size = sizeof options, .label = 1000 + rank};
  syncyte_message_status_t status = {.struct_size = sizeof status};
  const syncyte_buffer_t from = vector_of(sent, SYNCYTE_INT32, 2), to = vector_of(received, SYNCYTE_INT32, 2);
  EXPECT_OK(syncyte_comm_sendrecv(world, &from, next, 7, SYNCYTE_ANY, SYNCYTE_ANY, &options, &to, &status));
  EXPECT(received[0] == previous);
  EXPECT(received[1] == 10 + previous);
  EXPECT(status.source == previous);
  EXPECT(status.tag == 7);
  EXPECT(status.label == 1000 + previous);
}

/* Sends a row, and receives it into a column; the elements beside the column do not change. */
static void test_strides(void) {
  double row[3] = {rank, rank + 0.5, rank + 0.25}, table[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
  const syncyte_buffer_t from = vector_of(row, SYNCYTE_FLOAT64, 3);
  syncyte_buffer_t to = vector_of(&table[0][1], SYNCYTE_FLOAT64, 3);
  to.strides[0] = sizeof table[0];
  EXPECT_OK(syncyte_comm_sendrecv(world, &from, next, 0, previous, 0, NULL, &to, NULL));
  EXPECT(table[0][1] == previous);
  EXPECT(table[1][1] == previous + 0.5);
  EXPECT(table[2][1] == previous + 0.25);
  EXPECT(table[0][0] == -1);
  EXPECT(table[1][0] == -1);
  EXPECT(table[2][0] == -1);
}

static void test_started_messages(void) {
  enum { count = 3000 }; /* too long for one piece of memory with the envelope */
  int32_t* const values = malloc(2 * count * sizeof *values);
  syncyte_message_status_t status = {.struct_size = sizeof status};
  syncyte_request_t requests[3] = {NULL, NULL, NULL};
  int32_t small = rank, got = -1;
  for (int32_t i = 0; i < count; ++i) values[i] = count * rank + i;
  const syncyte_buffer_t from = vector_of(values, SYNCYTE_INT32, count);
  const syncyte_buffer_t to = vector_of(values + count, SYNCYTE_INT32, count);
  const syncyte_buffer_t short_from = vector_of(&small, SYNCYTE_INT32, 1), short_to = vector_of(&got, SYNCYTE_INT32, 1);
  EXPECT_OK(syncyte_comm_irecv(world, previous, 1, NULL, &to, &status, &requests[0]));
  EXPECT_ERROR(syncyte_request_destroy(&requests[0]), SYNCYTE_ERR_BUSY, "still active");
  EXPECT_OK(syncyte_comm_barrier(world)); /* no rank sends before this */
  EXPECT_OK(syncyte_comm_isend(world, &from, next, 1, NULL, &requests[1]));
  EXPECT_OK(syncyte_comm_isend(world, &short_from, next, 2, NULL, &requests[2]));
  EXPECT_OK(syncyte_comm_recv(world, previous, 2, NULL, &short_to, NULL));
  EXPECT(got == previous);
  EXPECT_OK(syncyte_request_wait_all(3, requests));
  EXPECT(status.source == previous);
  EXPECT(status.tag == 1);
  for (int32_t i = 0; i < count; ++i) EXPECT(values[count + i] == count * previous + i);
  free(values);
}

static void test_nobody(void) {
  int32_t value = 5;
  syncyte_message_status_t status = {.struct_size = sizeof status};
  const syncyte_buffer_t buffer = vector_of(&value, SYNCYTE_INT32, 1);
  EXPECT_OK(syncyte_comm_send(world, &buffer, SYNCYTE_PROC_NULL, 0, NULL));
  EXPECT_OK(syncyte_comm_recv(world, SYNCYTE_PROC_NULL, SYNCYTE_ANY, NULL, &buffer, &status));
  EXPECT(value == 5);
  EXPECT(status.source == SYNCYTE_PROC_NULL);
}

static void test_mismatches_are_the_receivers(void) {
  int32_t sent[2] = {1, 2};
  float received[2] = {-1, -1};
  syncyte_request_t request = NULL;
  const syncyte_buffer_t from = vector_of(sent, SYNCYTE_INT32, 2);
  EXPECT_OK(syncyte_comm_isend(world, &from, next, 3, NULL, &request));
  const syncyte_buffer_t other_type = vector_of(received, SYNCYTE_FLOAT32, 2);
  EXPECT_ERROR(syncyte_comm_recv(world, previous, 3, NULL, &other_type, NULL), SYNCYTE_ERR_MISMATCH,
               "is int32 of shape [2]; expected float32 of shape [2]");
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT_OK(syncyte_comm_isend(world, &from, next, 3, NULL, &request));
  const syncyte_buffer_t shorter = vector_of(received, SYNCYTE_INT32, 1);
  EXPECT_ERROR(syncyte_comm_recv(world, previous, 3, NULL, &shorter, NULL), SYNCYTE_ERR_MISMATCH, "of shape [2]");
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT(received[0] == -1);
  EXPECT(received[1] == -1);
}

/* Envelope and elements in one piece of memory, as device memory needs it. The other side of the message has no room
 * for an envelope in its memory: once the receiver, once the sender. */
static void test_room(void) {
  enum { room_elements = SYNCYTE_MESSAGE_ROOM / sizeof(int64_t) };
  int64_t outgoing[room_elements + 2], incoming[room_elements + 2] = {0}, plain[2] = {0, 0};
  syncyte_message_options_t with_room = SYNCYTE_MESSAGE_OPTIONS_INIT;
  syncyte_request_t requests[2];
  with_room.room = SYNCYTE_MESSAGE_ROOM;
  for (int i = 0; i < room_elements + 2; ++i) outgoing[i] = 100 * rank + i;
  const syncyte_buffer_t from = vector_of(outgoing + room_elements, SYNCYTE_INT64, 2);
  const syncyte_buffer_t to = vector_of(incoming + room_elements, SYNCYTE_INT64, 2);
  const syncyte_buffer_t other = vector_of(plain, SYNCYTE_INT64, 2);
  EXPECT_OK(syncyte_comm_isend(world, &from, next, 1, &with_room, &requests[0]));
  EXPECT_OK(syncyte_comm_recv(world, previous, 1, NULL, &other, NULL));
  EXPECT_OK(syncyte_comm_isend(world, &other, next, 2, NULL, &requests[1]));
  EXPECT_OK(syncyte_comm_recv(world, previous, 2, &with_room, &to, NULL));
  EXPECT_OK(syncyte_request_wait(&requests[0]));
  EXPECT_OK(syncyte_request_wait(&requests[1]));
  const int before = (rank + size - 1) % size, two_before = (rank + 2 * size - 2) % size;
  EXPECT(plain[1] == 100 * before + room_elements + 1);
  EXPECT(incoming[room_elements] == 100 * two_before + room_elements);
}

static void test_wrong_arguments(void) {
  int32_t value = 0, highest = 0;
  syncyte_message_status_t status = {.struct_size = 3};
  syncyte_message_options_t channel = SYNCYTE_MESSAGE_OPTIONS_INIT;
  const syncyte_buffer_t buffer = vector_of(&value, SYNCYTE_INT32, 1);
  syncyte_message_options_t room = SYNCYTE_MESSAGE_OPTIONS_INIT;
  channel.channel = 8;
  room.room = 3;
  EXPECT_OK(syncyte_message_highest_tag(&highest));
  EXPECT(highest >= 4094);
  EXPECT_ERROR(syncyte_comm_send(world, &buffer, size, 0, NULL), SYNCYTE_ERR_ARGUMENT, "dest is");
  EXPECT_ERROR(syncyte_comm_send(world, &buffer, SYNCYTE_ANY, 0, NULL), SYNCYTE_ERR_ARGUMENT, "dest is -1");
  EXPECT_ERROR(syncyte_comm_send(world, &buffer, 0, highest + 1, NULL), SYNCYTE_ERR_ARGUMENT, "tag is");
  EXPECT_ERROR(syncyte_comm_send(world, &buffer, 0, 0, &channel), SYNCYTE_ERR_ARGUMENT, "options->channel is 8");
  EXPECT_ERROR(syncyte_comm_send(world, &buffer, 0, 0, &room), SYNCYTE_ERR_ARGUMENT, "options->room is 3");
  EXPECT_ERROR(syncyte_comm_send(world, NULL, 0, 0, NULL), SYNCYTE_ERR_ARGUMENT, "array is null");
  EXPECT_ERROR(syncyte_comm_sendrecv(world, &buffer, size, 0, previous, 77, NULL, &buffer, NULL), SYNCYTE_ERR_ARGUMENT,
               "dest is"); /* at once, without a wait for a message */
  EXPECT_ERROR(syncyte_comm_sendrecv(world, NULL, next, 0, previous, 77, NULL, &buffer, NULL), SYNCYTE_ERR_ARGUMENT,
               "array is null");
  EXPECT_ERROR(syncyte_comm_recv(world, -5, 0, NULL, &buffer, NULL), SYNCYTE_ERR_ARGUMENT, "source is -5");
  EXPECT_ERROR(syncyte_comm_recv(world, 0, 0, NULL, &buffer, &status), SYNCYTE_ERR_ARGUMENT, "struct_size is 3");
  EXPECT_ERROR(syncyte_comm_isend(world, &buffer, 0, 0, NULL, NULL), SYNCYTE_ERR_ARGUMENT, "request is null");
}

int main(void) {
  world = start(&rank, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  test_one_memory_cannot_be_exchanged();
  test_sendrecv_tells_who_has_sent();
  test_strides();
  test_started_messages();
  test_nobody();
  test_room();
  test_mismatches_are_the_receivers();
  test_wrong_arguments();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
