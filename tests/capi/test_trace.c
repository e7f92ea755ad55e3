/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits and peers in the trace and in the counters: syncyte_trace_set() and syncyte_stats() of syncyte/base.h.
 */
#include "vector.h"

static int32_t rank, size, next, previous;
static syncyte_comm_t world;

enum { most_events = 64 };
static syncyte_trace_event_t seen[most_events];
static int events = 0;

static void on_event(const syncyte_trace_event_t* event, void* context) {
  EXPECT(context == &events);
  EXPECT(event->end_ns >= event->begin_ns);
  if (events < most_events) seen[events++] = *event;
}

static void expect_event(int index, const char* operation, int64_t bytes, int32_t peer, int line) {
  if (index < events && strcmp(seen[index].operation, operation) == 0 && seen[index].bytes == bytes &&
      seen[index].peer == peer)
    return;
  ++failures;
  fprintf(stderr, "%s:%d: expected event %d of %d: %s, %lld bytes, peer %d\n", __FILE__, line, index, events, operation,
          (long long)bytes, peer);
  if (index < events)
    fprintf(stderr, "  it is %s, %lld bytes, peer %d\n", seen[index].operation, (long long)seen[index].bytes,
            seen[index].peer);
}
#define EXPECT_EVENT(index, operation, bytes, peer) expect_event(index, operation, bytes, peer, __LINE__)

static syncyte_buffer_t doubles(double* data, int64_t count) { return vector_of(data, SYNCYTE_FLOAT64, count); }

static void test_messages(void) {
  double out[3] = {1, 2, 3}, in[3];
  const syncyte_buffer_t from = doubles(out, 3), to = doubles(in, 3);
  syncyte_request_t both[2] = {NULL, NULL};
  events = 0;
  EXPECT_OK(syncyte_comm_irecv(world, SYNCYTE_ANY, 0, NULL, &to, NULL, &both[0]));
  EXPECT_OK(syncyte_comm_isend(world, &from, next, 0, NULL, &both[1]));
  EXPECT_OK(syncyte_request_wait(&both[0]));
  EXPECT_OK(syncyte_request_wait(&both[1]));
  EXPECT(events == 4);
  EXPECT_EVENT(0, "comm_irecv", 24, -1);
  EXPECT_EVENT(1, "comm_isend", 24, next);
  EXPECT_EVENT(2, "request_wait", 24, previous); /* the sender is known at the end of the wait */
  EXPECT_EVENT(3, "request_wait", 24, next);
  EXPECT(seen[2].begin_ns >= seen[1].end_ns);
  EXPECT(seen[2].status == SYNCYTE_SUCCESS);
  EXPECT_OK(syncyte_request_wait(&both[0])); /* null already */
  EXPECT_OK(syncyte_request_wait_all(2, both));
  EXPECT(events == 4);
}

static void test_several(void) {
  double out[3] = {1, 2, 3}, in[3];
  const syncyte_buffer_t from = doubles(out, 3), to = doubles(in, 3);
  syncyte_request_t both[2] = {NULL, NULL};
  int64_t which = -1;
  events = 0;
  EXPECT_OK(syncyte_comm_irecv(world, previous, 0, NULL, &to, NULL, &both[0]));
  EXPECT_OK(syncyte_comm_isend(world, &from, next, 0, NULL, &both[1]));
  EXPECT_OK(syncyte_request_wait_all(2, both));
  EXPECT(events == 3);
  EXPECT_EVENT(2, "request_wait_all", 48, next == previous ? next : -1);
  EXPECT_OK(syncyte_comm_irecv(world, previous, 0, NULL, &to, NULL, &both[0]));
  EXPECT_OK(syncyte_comm_send(world, &from, next, 0, NULL));
  EXPECT_OK(syncyte_request_wait_any(2, both, &which));
  EXPECT(which == 0);
  EXPECT(both[0] == NULL);
  EXPECT(events == 6);
  EXPECT_EVENT(5, "request_wait_any", 24, previous);
  EXPECT_OK(syncyte_request_wait_any(2, both, &which));
  EXPECT(which == -1);
  EXPECT(events == 6);
}

/* Only the test that finds a request complete is an event. */
static void test_of_a_test(void) {
  double value = rank;
  const syncyte_buffer_t buffer = doubles(&value, 1);
  syncyte_request_t request = NULL;
  int32_t done = 0;
  events = 0;
  EXPECT_OK(syncyte_comm_iallreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &buffer, &request));
  while (!done) EXPECT_OK(syncyte_request_test(&request, &done));
  EXPECT_OK(syncyte_request_test(&request, &done));
  EXPECT(done == 1);
  EXPECT(events == 2);
  EXPECT_EVENT(0, "comm_iallreduce", 8, -1);
  EXPECT_EVENT(1, "request_test", 8, -1);
}

static void test_roots(void) {
  const int32_t root = size - 1, axis = 0;
  const int64_t mine = 1, all = size;
  double part = rank, result = 0, whole[64] = {0};
  int64_t lengths[64];
  const syncyte_buffer_t one = doubles(&part, mine), sum = doubles(&result, mine), many = doubles(whole, all);
  syncyte_request_t request = NULL;
  for (int i = 0; i < size; ++i) lengths[i] = 1;
  events = 0;
  EXPECT_OK(syncyte_comm_bcast(world, root, NULL, &one));
  EXPECT_OK(syncyte_comm_reduce(world, &one, SYNCYTE_OP_SUM, root, NULL, rank == root ? &sum : NULL));
  EXPECT_OK(syncyte_comm_gather_along(world, &one, axis, root, size, lengths, NULL, rank == root ? &many : NULL));
  EXPECT_OK(syncyte_comm_scatter_along(world, rank == root ? &many : NULL, axis, root, size, lengths, NULL, &one));
  EXPECT_OK(syncyte_comm_ibcast(world, root, NULL, &one, &request));
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT_OK(syncyte_comm_allreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &one));
  EXPECT(events == 7);
  EXPECT_EVENT(0, "comm_bcast", 8, root);
  EXPECT_EVENT(1, "comm_reduce", 8, root);
  EXPECT_EVENT(2, "comm_gather_along", 8, root);
  EXPECT_EVENT(3, "comm_scatter_along", rank == root ? 8 * all : 8, root);
  EXPECT_EVENT(4, "comm_ibcast", 8, root);
  EXPECT_EVENT(5, "request_wait", 8, root);
  EXPECT_EVENT(6, "comm_allreduce", 8, -1);
}

/* A line that is not periodic: the ranks at its ends have one neighbour. */
static void test_halo(void) {
  int32_t extents[] = {size};
  const int32_t periods[] = {0};
  const int64_t cells = 4, one = 1;
  const int32_t only = size == 2 ? 1 - rank : size == 1 ? -1 : rank == 0 ? 1 : rank == size - 1 ? rank - 1 : -1;
  double values[4] = {0};
  const syncyte_buffer_t buffer = doubles(values, cells);
  syncyte_comm_t line = NULL;
  syncyte_halo_t halo = NULL;
  syncyte_request_t request = NULL;
  EXPECT_OK(syncyte_cart_create(world, 1, extents, 1, periods, NULL, &line));
  EXPECT_OK(syncyte_halo_create(line, SYNCYTE_FLOAT64, 1, &cells, 1, &one, 1, &one, 0, NULL, NULL, &halo));
  events = 0;
  EXPECT_OK(syncyte_halo_exchange(halo, &buffer));
  EXPECT_OK(syncyte_halo_iaccumulate(halo, &buffer, &request));
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT_OK(syncyte_halo_transfer(halo, 0, NULL, &buffer));
  EXPECT_OK(syncyte_halo_transfer(halo, 1, NULL, &buffer));
  EXPECT(events == 5);
  EXPECT_EVENT(0, "halo_exchange", 32, only);
  EXPECT_EVENT(1, "halo_iaccumulate", 32, only);
  EXPECT_EVENT(2, "request_wait", 32, only);
  EXPECT_EVENT(3, "halo_exchange", 32, only);
  EXPECT_EVENT(4, "halo_accumulate", 32, only);
  EXPECT_OK(syncyte_halo_destroy(&halo));
  EXPECT_OK(syncyte_comm_destroy(&line));
}

static void test_windows(void) {
  double value = rank;
  const syncyte_buffer_t buffer = doubles(&value, 1);
  syncyte_window_t window = NULL;
  EXPECT_OK(syncyte_window_create(world, sizeof value, NULL, &window));
  events = 0;
  EXPECT_OK(syncyte_window_put(window, rank, 0, &buffer));
  EXPECT_OK(syncyte_window_flush(window, rank));
  EXPECT(events == 2);
  EXPECT_EVENT(0, "window_put", 8, rank);
  EXPECT_EVENT(1, "window_flush", 0, rank);
  EXPECT_OK(syncyte_window_fence(window));
  EXPECT_OK(syncyte_window_destroy(&window));
}

static syncyte_operation_stats_t stats_of(const char* operation) {
  syncyte_operation_stats_t found = {.struct_size = sizeof found};
  for (int64_t i = 0; syncyte_stats(i, &found) == SYNCYTE_SUCCESS; ++i)
    if (strcmp(found.operation, operation) == 0) return found;
  return (syncyte_operation_stats_t){.struct_size = sizeof found};
}

static syncyte_status_t never_well(void* context, int32_t* done) {
  *done = 1;
  return *(syncyte_status_t*)context;
}

/* Counters include failures, and waits without a trace hook. A library's request has no bytes and no peer. */
static void test_counters(void) {
  syncyte_status_t failure = SYNCYTE_ERR_IO;
  syncyte_request_t request = NULL;
  const syncyte_operation_stats_t before = stats_of("request_wait");
  EXPECT_OK(syncyte_request_create(never_well, NULL, NULL, &failure, &request));
  EXPECT(syncyte_request_wait(&request) == failure);
  EXPECT_OK(syncyte_request_wait(&request));
  const syncyte_operation_stats_t after = stats_of("request_wait");
  EXPECT(after.calls == before.calls + 1);
  EXPECT(after.errors == before.errors + 1);
  EXPECT(after.bytes == before.bytes);
  EXPECT(after.nanoseconds == before.nanoseconds);
}

static void test_names(void) {
  double value = rank;
  int32_t number = 0;
  const syncyte_buffer_t buffer = doubles(&value, 1);
  events = 0;
  EXPECT_OK(syncyte_comm_allreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &buffer));
  EXPECT(events == 1);
  EXPECT(seen[0].dtype == SYNCYTE_FLOAT64);
  EXPECT(strcmp(seen[0].comm, "world") == 0);
  EXPECT(seen[0].path == NULL);
  EXPECT_OK(syncyte_comm_rank(world, &number)); /* a local query is no event */
  EXPECT_OK(syncyte_comm_barrier(world));
  EXPECT(events == 2);
  EXPECT(seen[1].dtype == 0);
  EXPECT_EVENT(1, "comm_barrier", 0, -1);
  EXPECT(stats_of("comm_rank").calls == 0);
}

/* A library on top reports its own operations. */
static void test_told_events(void) {
  syncyte_trace_event_t event = {.struct_size = sizeof event, .operation = "library_call", .bytes = 7, .end_ns = 5};
  events = 0;
  event.peer = -1;
  EXPECT_OK(syncyte_trace_tell(world, &event));
  event.status = SYNCYTE_ERR_IO;
  EXPECT_OK(syncyte_trace_tell(NULL, &event));
  EXPECT(events == 2);
  EXPECT(strcmp(seen[0].comm, "world") == 0);
  EXPECT(seen[1].comm == NULL);
  EXPECT(seen[1].status == SYNCYTE_ERR_IO);
  EXPECT_EVENT(0, "library_call", 7, -1);
  const syncyte_operation_stats_t told = stats_of("library_call");
  EXPECT(told.calls == 2);
  EXPECT(told.errors == 1);
  EXPECT(told.bytes == 14);
  EXPECT(told.nanoseconds == 10);
  event.struct_size = 8;
  EXPECT_ERROR(syncyte_trace_tell(world, &event), SYNCYTE_ERR_ARGUMENT, "event->struct_size is 8");
  event = (syncyte_trace_event_t){.struct_size = sizeof event};
  EXPECT_ERROR(syncyte_trace_tell(world, &event), SYNCYTE_ERR_ARGUMENT, "event->operation is null");
  EXPECT_ERROR(syncyte_trace_tell(world, NULL), SYNCYTE_ERR_ARGUMENT, "event is null");
}

int main(void) {
  world = start(&rank, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  EXPECT_OK(syncyte_trace_set(on_event, &events));
  test_messages();
  test_several();
  test_of_a_test();
  test_roots();
  test_halo();
  test_windows();
  test_names();
  test_told_events();
  EXPECT_OK(syncyte_trace_set(NULL, NULL));
  test_counters();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
