/* SPDX-License-Identifier: BSD-3-Clause */
/* A job that hangs; the argument says where. Modes in which the others wait for the last rank, which comes late: a
   barrier, a new communicator, started operations, messages, a halo exchange, a reducer's round, the end. Modes in
   which the last rank is killed: before the end, while the others are in the end. Other modes: a counter
   that no rank changes, a store's worker that never comes. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/waiting.h"
#include "syncyte_mpi.h"

static int32_t rank, size;
static int is_last;
static double late = 25.0; /* seconds */
static syncyte_comm_t world;

/* The last rank sleeps, so that the others wait for it. */
static void come_late(void) {
  if (is_last) sleep_for(late);
}

static void wait_in_barrier(void) {
  come_late();
  syncyte_comm_barrier(world);
}

/* A message to or from the last rank, and a broadcast. */
static void wait_for_requests(void) {
  int32_t values[2] = {0, 0};
  const int64_t one = 1;
  syncyte_buffer_t number;
  syncyte_buffer_t letter;
  syncyte_request_t requests[2] = {NULL, NULL};
  come_late();
  syncyte_buffer_init(&values[0], SYNCYTE_INT32, 1, &one, &number);
  syncyte_buffer_init(&values[1], SYNCYTE_INT32, 1, &one, &letter);
  if (is_last)
    for (int32_t other = 0; other < 2; ++other) syncyte_comm_send(world, &letter, other, 9, NULL);
  else
    syncyte_comm_irecv(world, size - 1, 9, NULL, &letter, NULL, &requests[1]);
  syncyte_comm_ibcast(world, 0, NULL, &number, &requests[0]);
  syncyte_request_wait_all(2, requests);
}

/* The last rank starts a non-blocking collective while the others are in a blocking one. */
static void cross(void) {
  int32_t value = 0;
  const int64_t one = 1;
  syncyte_buffer_t number;
  syncyte_request_t request = NULL;
  syncyte_buffer_init(&value, SYNCYTE_INT32, 1, &one, &number);
  if (is_last) syncyte_comm_ibcast(world, 0, NULL, &number, &request);
  if (is_last) syncyte_request_wait(&request);
  syncyte_comm_barrier(world);
}

/* A wait for any of several messages, none of which is sent. */
static void wait_for_any(void) {
  int32_t values[2] = {0, 0};
  const int64_t one = 1;
  int64_t index = 0;
  syncyte_request_t requests[2] = {NULL, NULL};
  come_late();
  if (is_last) return;
  for (int32_t i = 0; i < 2; ++i) {
    syncyte_buffer_t number;
    syncyte_buffer_init(&values[i], SYNCYTE_INT32, 1, &one, &number);
    syncyte_comm_irecv(world, size - 1, i, NULL, &number, NULL, &requests[i]);
  }
  syncyte_request_wait_any(2, requests, &index);
}

/* All ranks start the first bucket. All but the last rank start the second one, and wait. */
static void wait_for_round(void) {
  const syncyte_dtype_t types[] = {SYNCYTE_FLOAT32, SYNCYTE_FLOAT32};
  const int64_t lengths[] = {1000, 10};
  syncyte_reducer_t reducer = NULL;
  syncyte_reducer_create(world, 2, types, lengths, NULL, &reducer);
  syncyte_comm_barrier(world);
  syncyte_reducer_start(reducer, 0);
  come_late();
  if (is_last) return;
  syncyte_reducer_start(reducer, 1);
  syncyte_reducer_wait(reducer);
}

/* The last rank gets an error at once, and has no communicator on which to inform the others. */
static void make_communicator(void) {
  syncyte_comm_t made = NULL;
  syncyte_comm_from_mpi(is_last ? MPI_COMM_NULL : MPI_COMM_WORLD, NULL, &made);
  come_late();
}

static void finalize_mpi(void) {
  come_late();
  MPI_Finalize();
}

static void finalize(void) {
  syncyte_finalize();
  fprintf(stderr, "rank %d has come to its end\n", rank); /* to stderr, in order with the library's messages */
}

static void end(void) {
  finalize();
  exit(0);
}

static void die_before_the_end(void) {
  if (is_last) raise(SIGKILL);
  sleep_for(0.5);
  end();
}

static void die_during_the_end(void) {
  if (is_last) sleep_for(0.5);
  if (is_last) raise(SIGKILL);
  end();
}

static void wait_in_halo(void) {
  double cells[4] = {0};
  const int32_t any_extent = 0, periodic = 1;
  const int64_t shape = 4, one = 1;
  syncyte_buffer_t field;
  syncyte_comm_t ring = NULL;
  syncyte_halo_t halo = NULL;
  syncyte_buffer_init(cells, SYNCYTE_FLOAT64, 1, &shape, &field);
  syncyte_cart_create(world, 1, &any_extent, 1, &periodic, NULL, &ring);
  syncyte_halo_create(ring, SYNCYTE_FLOAT64, 1, &shape, 1, &one, 1, &one, 0, NULL, NULL, &halo);
  come_late();
  syncyte_halo_exchange(halo, &field);
}

/* The other worker of each process is never made. */
static void wait_for_worker(void) {
  const int64_t one = 1;
  syncyte_store_t kv = NULL;
  syncyte_store_worker_t worker = NULL;
  syncyte_store_options_t options = SYNCYTE_STORE_OPTIONS_INIT;
  options.workers = 2;
  syncyte_store_create(world, SYNCYTE_FLOAT32, 1, 1, &one, &options, &kv);
  syncyte_store_worker_create(kv, 0, &worker);
  come_late();
  if (!is_last) syncyte_store_worker_barrier(worker);
}

static void wait_for_counter(void) {
  int64_t seen = 0;
  syncyte_tensor_t flag = make_flag(world);
  syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_EQ, 1, 3.5, &seen);
  finalize();
}

static const struct {
  const char* name;
  void (*run)(void);
} modes[] = {
    {"barrier", wait_in_barrier},
    {"request", wait_for_requests},
    {"any", wait_for_any},
    {"reducer", wait_for_round},
    {"crossed", cross},
    {"from_mpi", make_communicator},
    {"finalize", come_late},
    {"mpi_finalize", finalize_mpi},
    {"killed_before_the_end", die_before_the_end},
    {"killed_during_the_end", die_during_the_end},
    {"halo", wait_in_halo},
    {"worker", wait_for_worker},
    {"counter", wait_for_counter},
};

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "barrier";
  if (argc > 2) late = atof(argv[2]);
  if (strcmp(name, "mpi_finalize") == 0) MPI_Init(&argc, &argv);
  world = start_world(&rank, &size);
  is_last = rank == size - 1;
  syncyte_comm_barrier(world);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i)
    if (strcmp(name, modes[i].name) == 0) modes[i].run();
  syncyte_finalize();
  return 0;
}
