/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad options or a bad environment variable on one rank make syncyte_init() fail on all ranks. The message names the
 * rank; nothing is started, and no rank hangs. */
#define _POSIX_C_SOURCE 200112L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"

static int rank = 0, size = 0;

static int is_odd_one(void) { return rank == size - 1; }

/* Expects that a start has given the odd rank's error on all ranks, and has started nothing. */
static void expect_refused(syncyte_status_t status, syncyte_status_t expected, const char* reason) {
  char message[256];
  int32_t is_started = -1;
  syncyte_comm_t world = NULL;
  snprintf(message, sizeof message, "init failed on rank %d of world: %s", size - 1, reason);
  EXPECT_ERROR(status, expected, message);
  EXPECT_OK(syncyte_initialized(&is_started));
  EXPECT(is_started == 0);
  EXPECT_ERROR(syncyte_comm_world(&world), SYNCYTE_ERR_NOT_INITIALIZED, "not initialized");
}

static void expect_refusal(const syncyte_init_options_t* options, const char* reason) {
  expect_refused(syncyte_init(options), SYNCYTE_ERR_ARGUMENT, reason);
}

/* A program that one rank has compiled with headers of another binary interface. */
static void test_abi(void) {
  char reason[256];
  const int32_t other = SYNCYTE_ABI_VERSION - 1;
  snprintf(reason, sizeof reason,
           "the program was compiled for the binary interface %d of Syncyte, but the library's is %d", other,
           SYNCYTE_ABI_VERSION);
  const syncyte_status_t status = syncyte_init_abi(NULL, is_odd_one() ? other : SYNCYTE_ABI_VERSION);
  expect_refused(status, SYNCYTE_ERR_VERSION, reason);
}

static void test_variable(const char* name, const char* value, const char* expected) {
  char reason[256];
  snprintf(reason, sizeof reason, "environment variable %s is \"%s\"; expected %s", name, value, expected);
  const char* before = getenv(name);
  char* kept = before != NULL ? strcpy(malloc(strlen(before) + 1), before) : NULL;
  if (is_odd_one()) setenv(name, value, 1);
  expect_refusal(NULL, reason);
  if (kept != NULL)
    setenv(name, kept, 1);
  else
    unsetenv(name);
  free(kept);
}

static void test_durations(const char* name, const char* expected) {
  const char* const values[] = {"abc", "1s", "-1", "nan", "inf", "1e10", "1e300"};
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) test_variable(name, values[i], expected);
}

static void test_options(void) {
  syncyte_init_options_t options = {sizeof options, 17, 0};
  expect_refusal(is_odd_one() ? &options : NULL, "options->thread_level is 17; expected 0 (single) to 3 (multiple)");
  options.struct_size = 5;
  expect_refusal(is_odd_one() ? &options : NULL, "options->struct_size is 5");
}

/* If one rank does not allow a way to share memory, all ranks use another way. */
static void test_way_of_one_rank(void) {
  syncyte_topology_t topology = {sizeof topology, 0, 0, 0, 0};
  syncyte_comm_t world = NULL;
  if (is_odd_one()) setenv("SYNCYTE_SHM", "none", 1);
  EXPECT_OK(syncyte_init(NULL));
  EXPECT_OK(syncyte_comm_world(&world));
  EXPECT_OK(syncyte_comm_topology(world, &topology));
  EXPECT(topology.nodes == size);
  EXPECT(topology.node_size == 1);
  EXPECT_OK(syncyte_comm_barrier(world));
  EXPECT_OK(syncyte_comm_destroy(&world));
}

static void test_started_already(void) {
  const syncyte_init_options_t options = {sizeof options, 17, 0};
  EXPECT_OK(syncyte_init(NULL));
  EXPECT_ERROR(syncyte_init(&options), SYNCYTE_ERR_ARGUMENT, "thread_level is 17"); /* an error of this rank only */
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test_variable("SYNCYTE_CHECK", "perhaps", "one of off, on, full");
  test_variable("SYNCYTE_SHM", "magic", "one of proc, socket, shm, none");
  test_variable("SYNCYTE_LOG", "loud", "one of off, error, warn, info, debug");
  test_variable("SYNCYTE_HUGE_PAGES", "maybe", "one of off, on");
  test_variable("SYNCYTE_POOL_LIMIT", "lots", "a size such as 4096, 64K, 2M or 1G");
  test_variable("SYNCYTE_WATCHDOG_ACTION", "shout", "one of abort, report");
  test_variable("SYNCYTE_CUDA_AWARE", "yes", "one of off, on");
  test_variable("SYNCYTE_FABRIC", "maybe", "one of on, off, start");
  test_variable("SYNCYTE_STORE_TRACE", "7;8", "numbers of at least 0 such as 7 or 7,12");
  test_variable("SYNCYTE_CACHE_PARAMETER_BYTES", "1T", "a size such as 4096, 64K, 2M or 1G");
  test_variable("SYNCYTE_CACHE_TIMEOUT", "soon", "a number of at least 0 and at most 1000000000");
  test_durations("SYNCYTE_WATCHDOG", "a number of at least 0 and at most 1000000000");
  test_durations("SYNCYTE_FABRIC_DEADLINE", "a number of at least 0.1 and at most 1000000000");
  test_options();
  test_abi();
  test_way_of_one_rank(); /* options and environment are valid: the start succeeds */
  test_started_already();
  EXPECT_OK(syncyte_finalize());
  MPI_Finalize();
  return failures != 0;
}
