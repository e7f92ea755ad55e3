/* The last rank leaves the others alone for a while: in a barrier, in making a communicator, with what they have
   started, without messages, in a reducer's round that it has only half finished, or at the end; or it is killed, in a
   barrier or before the end. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/waiting.h"
#include "syncyte_mpi.h"

/* A message to or from a rank, and a broadcast. */
static void use_requests(syncyte_comm_t world, int32_t peer) {
  int32_t values[2] = {0, 0};
  const int64_t one = 1;
  syncyte_buffer_t number;
  syncyte_buffer_t letter;
  syncyte_request_t requests[2] = {NULL, NULL};
  syncyte_buffer_init(&values[0], SYNCYTE_INT32, 1, &one, &number);
  syncyte_buffer_init(&values[1], SYNCYTE_INT32, 1, &one, &letter);
  if (peer == 0)
    for (int32_t rank = 0; rank < 2; ++rank) syncyte_comm_send(world, &letter, rank, 9, NULL);
  else
    syncyte_comm_irecv(world, peer, 9, NULL, &letter, NULL, &requests[1]);
  syncyte_comm_ibcast(world, 0, NULL, &number, &requests[0]);
  syncyte_request_wait_all(2, requests);
}

/* All but the last rank are in a blocking collective that it meets with a start. */
static void cross(syncyte_comm_t world, int is_last) {
  int32_t value = 0;
  const int64_t one = 1;
  syncyte_buffer_t number;
  syncyte_request_t request = NULL;
  syncyte_buffer_init(&value, SYNCYTE_INT32, 1, &one, &number);
  if (is_last) syncyte_comm_ibcast(world, 0, NULL, &number, &request);
  if (is_last) syncyte_request_wait(&request);
  syncyte_comm_barrier(world);
}

/* One of several messages that never come. */
static void wait_for_any(syncyte_comm_t world, int32_t peer) {
  int32_t values[2] = {0, 0};
  const int64_t one = 1;
  int64_t index = 0;
  syncyte_request_t requests[2] = {NULL, NULL};
  for (int32_t i = 0; i < 2; ++i) {
    syncyte_buffer_t number;
    syncyte_buffer_init(&values[i], SYNCYTE_INT32, 1, &one, &number);
    syncyte_comm_irecv(world, peer, i, NULL, &number, NULL, &requests[i]);
  }
  syncyte_request_wait_any(2, requests, &index);
}

/* All ranks bring the first piece; only `brings_all` the second, and wait for it. */
static void begin_round(syncyte_reducer_t reducer, int brings_all) {
  syncyte_reducer_start(reducer, 0);
  if (!brings_all) return;
  syncyte_reducer_start(reducer, 1);
  syncyte_reducer_wait(reducer);
}

int main(int argc, char** argv) {
  const char* where = argc > 1 ? argv[1] : "barrier";
  syncyte_comm_t made = NULL;
  int32_t rank = 0;
  int32_t size = 0;
  if (strcmp(where, "mpi_finalize") == 0) MPI_Init(&argc, &argv);
  syncyte_comm_t world = start_world(&rank, &size);
  const syncyte_dtype_t types[] = {SYNCYTE_FLOAT32, SYNCYTE_FLOAT32};
  const int64_t lengths[] = {1000, 10};
  syncyte_reducer_t reducer = NULL;
  if (strcmp(where, "reducer") == 0) syncyte_reducer_create(world, 2, types, lengths, NULL, &reducer);
  syncyte_comm_barrier(world);
  const int is_last = rank == size - 1;
  if (strcmp(where, "killed") == 0) {
    if (is_last) raise(SIGKILL);
    syncyte_comm_barrier(world);
  }
  if (strcmp(where, "killed_before_the_end") == 0) {
    if (is_last) raise(SIGKILL);
    sleep_for(0.5);
    syncyte_finalize();
    printf("rank %d has come to its end\n", rank);
    fflush(stdout);
    _Exit(0);
  }
  if (reducer != NULL) begin_round(reducer, !is_last);
  if (strcmp(where, "from_mpi") == 0) /* refused at once on the last rank, which cannot tell the others */
    syncyte_comm_from_mpi(is_last ? MPI_COMM_NULL : MPI_COMM_WORLD, NULL, &made);
  if (strcmp(where, "crossed") == 0) cross(world, is_last);
  if (is_last) sleep_for(argc > 2 ? atof(argv[2]) : 25.0);
  if (strcmp(where, "barrier") == 0) syncyte_comm_barrier(world);
  if (strcmp(where, "request") == 0) use_requests(world, is_last ? 0 : size - 1);
  if (strcmp(where, "any") == 0 && !is_last) wait_for_any(world, size - 1);
  if (strcmp(where, "mpi_finalize") == 0) MPI_Finalize();
  syncyte_finalize();
  return 0;
}
