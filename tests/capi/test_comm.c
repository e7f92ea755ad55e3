/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and collectives: results, and errors of wrong use, on all ranks. */
#include <mpi.h>
#include <stdlib.h>

#include "../support/fortran_handles.h"
#include "expect.h"
#include "syncyte_mpi.h"
#include "vector.h"

static int32_t rank, size;
static syncyte_comm_t world;

static int is_odd_one(void) { return rank == size - 1; }

static int32_t sum_over(syncyte_comm_t comm, int32_t value) {
  syncyte_buffer_t buffer = vector_of(&value, SYNCYTE_INT32, 1);
  EXPECT_OK(syncyte_comm_allreduce(comm, NULL, SYNCYTE_OP_SUM, NULL, &buffer));
  return value;
}

static void test_queries(void) {
  syncyte_topology_t topology = {sizeof topology, 0, 0, 0, 0};
  int32_t level = -1;
  EXPECT_OK(syncyte_comm_topology(world, &topology));
  EXPECT(topology.nodes >= 1);
  EXPECT(topology.node_size >= 1);
  EXPECT(topology.node_rank < topology.node_size);
  topology.struct_size = 1;
  EXPECT_ERROR(syncyte_comm_topology(world, &topology), SYNCYTE_ERR_ARGUMENT, "topology->struct_size is 1");
  EXPECT_OK(syncyte_comm_check_level(world, &level));
  EXPECT(level >= 0 && level <= 2);
  int64_t before = 0, after = 0;
  EXPECT_OK(syncyte_comm_sequence(world, &before));
  EXPECT(sum_over(world, 1) == size);
  EXPECT_OK(syncyte_comm_sequence(world, &after));
  EXPECT(before >= 0);
  EXPECT(after == before + 1);
  EXPECT_ERROR(syncyte_comm_sequence(world, NULL), SYNCYTE_ERR_ARGUMENT, "number is null");
  EXPECT_OK(syncyte_thread_level(&level));
  EXPECT(level >= 0 && level <= 3);
  EXPECT_OK(syncyte_mpi_takes(SYNCYTE_MEMORY_HOST, &level));
  EXPECT(level == 1);
  EXPECT_OK(syncyte_mpi_takes(SYNCYTE_MEMORY_CUDA, &level));
  EXPECT(level == 0 || level == 1);
  EXPECT_ERROR(syncyte_mpi_takes(2, &level), SYNCYTE_ERR_ARGUMENT, "memory is 2");
  EXPECT_ERROR(syncyte_mpi_takes(SYNCYTE_MEMORY_HOST, NULL), SYNCYTE_ERR_ARGUMENT, "flag is null");
}

/* A communicator's number: equal on all ranks, different for each communicator. */
static void test_ids(void) {
  syncyte_comm_t copy = NULL, part = NULL;
  int64_t numbers[3] = {-1, -1, -1}, lowest[3], highest[3];
  EXPECT_OK(syncyte_comm_dup(world, NULL, &copy));
  EXPECT_OK(syncyte_comm_split(world, 0, -rank, NULL, &part));
  EXPECT_OK(syncyte_comm_id(world, &numbers[0]));
  EXPECT_OK(syncyte_comm_id(copy, &numbers[1]));
  EXPECT_OK(syncyte_comm_id(part, &numbers[2]));
  const syncyte_buffer_t from = vector_of(numbers, SYNCYTE_INT64, 3);
  const syncyte_buffer_t low = vector_of(lowest, SYNCYTE_INT64, 3), high = vector_of(highest, SYNCYTE_INT64, 3);
  EXPECT_OK(syncyte_comm_allreduce(world, &from, SYNCYTE_OP_MIN, NULL, &low));
  EXPECT_OK(syncyte_comm_allreduce(world, &from, SYNCYTE_OP_MAX, NULL, &high));
  EXPECT(memcmp(lowest, highest, sizeof lowest) == 0);
  EXPECT(lowest[0] >= 0);
  EXPECT(numbers[0] != numbers[1]);
  EXPECT(numbers[1] != numbers[2]);
  EXPECT(numbers[0] != numbers[2]);
  EXPECT_OK(syncyte_comm_destroy(&copy));
  EXPECT_OK(syncyte_comm_destroy(&part));
}

static void test_handles(void) {
  syncyte_comm_t copy = NULL;
  syncyte_comm_t other = NULL;
  int32_t number = 0;
  EXPECT_ERROR(syncyte_comm_rank(NULL, &number), SYNCYTE_ERR_HANDLE, "comm is a null handle");
  EXPECT_ERROR(syncyte_comm_rank((syncyte_comm_t)(intptr_t)42, &number), SYNCYTE_ERR_HANDLE,
               "freed, or not a communicator");
  EXPECT_ERROR(syncyte_comm_rank(world, NULL), SYNCYTE_ERR_ARGUMENT, "rank is null");
  EXPECT_OK(syncyte_comm_dup(world, NULL, &copy));
  EXPECT_OK(syncyte_comm_retain(copy));
  other = copy;
  EXPECT_OK(syncyte_comm_destroy(&copy));
  EXPECT(copy == NULL);
  EXPECT_OK(syncyte_comm_rank(other, &number)); /* one reference is left */
  EXPECT_OK(syncyte_comm_release(other));
  EXPECT_ERROR(syncyte_comm_rank(other, &number), SYNCYTE_ERR_HANDLE, "freed");
  EXPECT_ERROR(syncyte_comm_release(other), SYNCYTE_ERR_HANDLE, "freed");
  EXPECT_OK(syncyte_comm_destroy(&copy)); /* null is allowed */
  EXPECT_ERROR(syncyte_comm_destroy(NULL), SYNCYTE_ERR_ARGUMENT, "comm is null");
}

/* Graphs of torch.export contain handles as numbers. Those of the world and self are the same in every job. All others
 * are random, so that they are invalid in another job, but the same on all ranks, which may exchange graphs. */
static void test_numbers(void) {
  syncyte_comm_t self = NULL, again = NULL, copy = NULL;
  int64_t id = 0, lowest = 0, highest = 0;
  EXPECT((intptr_t)world == 0xC1);
  EXPECT_OK(syncyte_comm_self(&self));
  EXPECT((intptr_t)self == 0xC2);
  EXPECT_OK(syncyte_comm_world(&again));
  EXPECT(again == world);
  EXPECT_OK(syncyte_comm_destroy(&again));
  EXPECT_OK(syncyte_comm_dup(world, NULL, &copy));
  EXPECT_OK(syncyte_comm_id(copy, &id));
  int64_t number = (int64_t)(intptr_t)copy;
  EXPECT(number >> 62 == 1);
  EXPECT(((number ^ id) & INT64_C(0x3fffffffffffffff)) == 0);
  const syncyte_buffer_t from = vector_of(&number, SYNCYTE_INT64, 1);
  const syncyte_buffer_t low = vector_of(&lowest, SYNCYTE_INT64, 1), high = vector_of(&highest, SYNCYTE_INT64, 1);
  EXPECT_OK(syncyte_comm_allreduce(world, &from, SYNCYTE_OP_MIN, NULL, &low));
  EXPECT_OK(syncyte_comm_allreduce(world, &from, SYNCYTE_OP_MAX, NULL, &high));
  EXPECT(lowest == number);
  EXPECT(highest == number);
  EXPECT_OK(syncyte_comm_destroy(&copy));
  syncyte_tensor_t tensor = NULL;
  const int64_t shape[1] = {1};
  EXPECT_OK(syncyte_tensor_create(self, SYNCYTE_INT8, 1, shape, NULL, &tensor));
  EXPECT_OK(syncyte_comm_id(world, &id));
  EXPECT((int64_t)(intptr_t)tensor >> 32 == (INT64_C(1) << 29 | (id & ((INT64_C(1) << 29) - 1)))); /* the job's tag */
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
  EXPECT_OK(syncyte_comm_destroy(&self));
}

/* A communicator that MPI has freed, and an inter-communicator. The application's error handler stays set. */
static void test_freed_and_inter(void) {
  MPI_Comm copy = MPI_COMM_NULL, between = MPI_COMM_NULL;
  MPI_Errhandler before, after;
  syncyte_comm_t part = NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const int number = fortran_handle_of(copy);
  MPI_Comm_free(&copy);
  EXPECT_ERROR(syncyte_comm_from_fortran(number, NULL, &part), SYNCYTE_ERR_ARGUMENT, "not a communicator");
  if (size > 1) {
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &copy);
    MPI_Intercomm_create(copy, 0, MPI_COMM_WORLD, rank == 0, 7, &between);
    EXPECT_ERROR(syncyte_comm_from_mpi(between, NULL, &part), SYNCYTE_ERR_ARGUMENT, "is an inter-communicator");
    MPI_Comm_free(&between);
    MPI_Comm_free(&copy);
  }
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
  EXPECT(before == after);
}

/* One rank per node, in the order of the nodes; the others get a null handle. */
static void test_leaders(void) {
  syncyte_topology_t topology = {sizeof topology, 0, 0, 0, 0};
  syncyte_comm_options_t options = SYNCYTE_COMM_OPTIONS_INIT;
  syncyte_comm_t leaders = NULL;
  int32_t place = -1;
  EXPECT_OK(syncyte_comm_topology(world, &topology));
  EXPECT_OK(syncyte_comm_split_leaders(world, NULL, &leaders));
  EXPECT((leaders != NULL) == (topology.node_rank == 0));
  EXPECT(sum_over(world, leaders != NULL) == topology.nodes);
  if (leaders != NULL) {
    EXPECT_OK(syncyte_comm_rank(leaders, &place));
    EXPECT(place == topology.node);
    EXPECT(sum_over(leaders, topology.node_size) == size);
  }
  EXPECT_OK(syncyte_comm_destroy(&leaders));
  options.check = is_odd_one() ? 9 : -1;
  EXPECT_ERROR(syncyte_comm_split_leaders(world, &options, &leaders), SYNCYTE_ERR_ARGUMENT, "options->check is 9");
  EXPECT_ERROR(syncyte_comm_split_leaders(world, NULL, is_odd_one() ? NULL : &leaders), SYNCYTE_ERR_ARGUMENT,
               "leaders is null");
  EXPECT_ERROR(syncyte_comm_split_leaders(NULL, NULL, &leaders), SYNCYTE_ERR_HANDLE, "comm is a null handle");
}

/* The last rank and rank 0 make a communicator, in this order. */
static void test_group(void) {
  const int32_t ranks[] = {size - 1, 0};
  const int64_t count = size > 1 ? 2 : 1;
  syncyte_comm_options_t options = SYNCYTE_COMM_OPTIONS_INIT;
  syncyte_comm_t group = NULL;
  int32_t place = -1;
  EXPECT_ERROR(syncyte_comm_create_group(world, 1, NULL, 0, NULL, &group), SYNCYTE_ERR_ARGUMENT, "ranks is null");
  EXPECT_ERROR(syncyte_comm_create_group(world, 0, ranks, 0, NULL, &group), SYNCYTE_ERR_ARGUMENT, "count is 0");
  EXPECT_ERROR(syncyte_comm_create_group(world, 1, &rank, 1024, NULL, &group), SYNCYTE_ERR_ARGUMENT, "tag is 1024");
  EXPECT_ERROR(syncyte_comm_create_group(NULL, 1, &rank, 0, NULL, &group), SYNCYTE_ERR_HANDLE, "comm is a null handle");
  if (rank != 0 && rank != size - 1) return;
  EXPECT_OK(syncyte_comm_create_group(world, count, ranks, 5, NULL, &group));
  EXPECT(sum_over(group, 1) == count);
  EXPECT_OK(syncyte_comm_rank(group, &place));
  EXPECT(ranks[place] == rank);
  EXPECT_OK(syncyte_comm_destroy(&group));
  options.check = is_odd_one() ? 9 : -1;
  if (size > 1) {
    EXPECT_ERROR(syncyte_comm_create_group(world, count, ranks, 0, &options, &group), SYNCYTE_ERR_ARGUMENT,
                 "options->check is 9");
    EXPECT_ERROR(syncyte_comm_create_group(world, count, ranks, 0, NULL, is_odd_one() ? NULL : &group),
                 SYNCYTE_ERR_ARGUMENT, "group is null");
  }
}

/* Called before the start, because it needs no ranks. */
static void test_rows(void) {
  const int64_t shape[] = {2, 2}, count = 1;
  float table[] = {1, 2, 3, 4};
  double row[2] = {0, 0};
  int32_t which = 1;
  syncyte_buffer_t from, index, to;
  syncyte_buffer_init(table, SYNCYTE_FLOAT32, 2, shape, &from);
  syncyte_buffer_init(&which, SYNCYTE_INT32, 1, &count, &index);
  syncyte_buffer_init(row, SYNCYTE_FLOAT64, 1, shape, &to);
  EXPECT_OK(syncyte_rows_gather(&from, &index, &to));
  EXPECT(row[0] == 3);
  EXPECT(row[1] == 4);
  which = 2;
  EXPECT_ERROR(syncyte_rows_gather(&from, &index, &to), SYNCYTE_ERR_INDEX, "index 2 at position 0");
  EXPECT_ERROR(syncyte_rows_gather(NULL, &index, &to), SYNCYTE_ERR_ARGUMENT, "table is null");
}

static void test_making(void) {
  syncyte_comm_t part = NULL;
  int32_t number = -1;
  EXPECT_OK(syncyte_comm_split(world, rank == 0 ? -1 : 0, 0, NULL, &part));
  EXPECT((part == NULL) == (rank == 0));
  if (part != NULL) EXPECT(sum_over(part, 1) == size - 1);
  EXPECT_OK(syncyte_comm_destroy(&part));

  EXPECT_OK(syncyte_comm_split_program(world, NULL, NULL, &part)); /* one program: all ranks */
  EXPECT(sum_over(part, 1) == size);
  EXPECT_OK(syncyte_comm_destroy(&part));

  EXPECT_OK(syncyte_comm_split_node(world, NULL, &part));
  EXPECT_OK(syncyte_comm_destroy(&part));

  EXPECT_OK(syncyte_comm_from_fortran(fortran_handle_of(MPI_COMM_WORLD), NULL, &part));
  EXPECT_OK(syncyte_comm_to_fortran(part, &number));
  EXPECT(comm_of_fortran(number) != MPI_COMM_WORLD); /* a duplicate */
  EXPECT_OK(syncyte_comm_destroy(&part));
  EXPECT_OK(syncyte_comm_from_mpi(MPI_COMM_WORLD, NULL, &part));
  EXPECT(sum_over(part, rank) == size * (size - 1) / 2);
  EXPECT_OK(syncyte_comm_destroy(&part));
  EXPECT_ERROR(syncyte_comm_from_mpi(MPI_COMM_NULL, NULL, &part), SYNCYTE_ERR_ARGUMENT, "MPI_COMM_NULL");
  EXPECT_ERROR(syncyte_comm_from_fortran(-3, NULL, &part), SYNCYTE_ERR_ARGUMENT, "fortran_handle is -3");
  EXPECT_ERROR(syncyte_comm_from_fortran(12345, NULL, &part), SYNCYTE_ERR_ARGUMENT,
               "fortran_handle is 12345, not a communicator that MPI knows; expected an intra-communicator");
  EXPECT_ERROR(syncyte_comm_from_fortran(fortran_handle_of(MPI_COMM_NULL), NULL, &part), SYNCYTE_ERR_ARGUMENT,
               "MPI_COMM_NULL");
  test_freed_and_inter();
  EXPECT_OK(syncyte_comm_self(&part));
  EXPECT(sum_over(part, 7) == 7);
  EXPECT_OK(syncyte_comm_destroy(&part));
}

/* A wrong argument on one rank is the same error on all ranks, and the next call works. */
static void test_errors_of_one_rank(void) {
  syncyte_comm_t part = NULL;
  double values[4] = {0}, results[4] = {0};
  syncyte_buffer_t from = vector_of(values, SYNCYTE_FLOAT64, 4);
  syncyte_buffer_t to = vector_of(results, SYNCYTE_FLOAT64, 4);
  syncyte_comm_options_t odd_options = {3, NULL, -1, 0};
  syncyte_collective_options_t odd_collective = {.struct_size = sizeof odd_collective, .stream = values};
  EXPECT_ERROR(syncyte_comm_dup(world, is_odd_one() ? &odd_options : NULL, &part), SYNCYTE_ERR_ARGUMENT,
               "options->struct_size is 3");
  EXPECT_ERROR(syncyte_comm_dup(world, NULL, is_odd_one() ? NULL : &part), SYNCYTE_ERR_ARGUMENT, "duplicate is null");
  EXPECT(strncmp(syncyte_last_error(), "comm_dup failed on rank ", 24) == 0);
  EXPECT_ERROR(syncyte_comm_split(world, 0, 0, NULL, is_odd_one() ? NULL : &part), SYNCYTE_ERR_ARGUMENT,
               "part is null");
  char odd_rank[96];
  snprintf(odd_rank, sizeof odd_rank, "comm_from_mpi failed on rank %d of comm: options->struct_size is 3", size - 1);
  EXPECT_ERROR(syncyte_comm_from_mpi(MPI_COMM_WORLD, is_odd_one() ? &odd_options : NULL, &part), SYNCYTE_ERR_ARGUMENT,
               odd_rank);
  EXPECT_ERROR(syncyte_comm_from_fortran(fortran_handle_of(MPI_COMM_WORLD), is_odd_one() ? &odd_options : NULL, &part),
               SYNCYTE_ERR_ARGUMENT, odd_rank);
  EXPECT_ERROR(syncyte_comm_allreduce(world, &from, SYNCYTE_OP_SUM, is_odd_one() ? &odd_collective : NULL, &to),
               SYNCYTE_ERR_UNSUPPORTED, "options->stream is set");
  EXPECT_ERROR(syncyte_comm_allreduce(world, &from, SYNCYTE_OP_SUM, NULL, is_odd_one() ? NULL : &to),
               SYNCYTE_ERR_ARGUMENT, "output is null");
  EXPECT_ERROR(syncyte_comm_bcast(world, is_odd_one() ? size : 0, NULL, &to), SYNCYTE_ERR_ARGUMENT, "root is");
  EXPECT_ERROR(syncyte_comm_allgatherv(world, &from, size, is_odd_one() ? NULL : (int64_t[]){4, 4, 4, 4, 4, 4, 4, 4},
                                       NULL, is_odd_one() ? NULL : &to),
               is_odd_one() && size == 1 ? SYNCYTE_ERR_ARGUMENT
               : size == 1               ? SYNCYTE_SUCCESS
                                         : SYNCYTE_ERR_SHAPE,
               "");
  EXPECT_OK(syncyte_comm_barrier(world));
}

static void test_agree(void) {
  const syncyte_fact_t facts[] = {{sizeof(syncyte_fact_t), "step", 4},
                                  {sizeof(syncyte_fact_t), "rows", is_odd_one() ? 11 : 10}};
  EXPECT_OK(syncyte_comm_agree(world, SYNCYTE_SUCCESS, "my_operation", 1, facts));
  if (size > 1)
    EXPECT_ERROR(syncyte_comm_agree(world, SYNCYTE_SUCCESS, "my_operation", 2, facts), SYNCYTE_ERR_MISMATCH,
                 "rows is 10 on rank");
  syncyte_status_t mine = SYNCYTE_SUCCESS;
  if (is_odd_one()) mine = syncyte_error_set(SYNCYTE_ERR_CHECKSUM, "block 3 is damaged");
  EXPECT_ERROR(syncyte_comm_agree(world, mine, "my_operation", 0, NULL), SYNCYTE_ERR_CHECKSUM, "block 3 is damaged");
  EXPECT_ERROR(syncyte_comm_agree(world, SYNCYTE_SUCCESS, "my_operation", is_odd_one() ? 99 : 0, NULL),
               SYNCYTE_ERR_ARGUMENT, "count is 99");
  EXPECT_ERROR(syncyte_comm_agree(world, is_odd_one() ? -1 : 0, "my_operation", 0, NULL), SYNCYTE_ERR_ARGUMENT,
               "status is -1; expected SYNCYTE_SUCCESS (0) to");
  EXPECT_ERROR(syncyte_comm_agree(world, is_odd_one() ? 99 : 0, "my_operation", 0, NULL), SYNCYTE_ERR_ARGUMENT,
               "status is 99;");
  EXPECT_OK(syncyte_comm_barrier(world));
}

/* Libraries on top name the facts that must be equal in their collectives; structs of older programs lack the names. */
static void test_facts_of_libraries(void) {
  double values[4] = {0}, results[4] = {0};
  const syncyte_buffer_t from = vector_of(values, SYNCYTE_FLOAT64, 4);
  const syncyte_buffer_t to = vector_of(results, SYNCYTE_FLOAT64, 4);
  const syncyte_fact_t facts[] = {{sizeof(syncyte_fact_t), "extent 0", 2},
                                  {sizeof(syncyte_fact_t), "extent 1", is_odd_one() ? 6 : 5}};
  syncyte_collective_options_t options = {.struct_size = sizeof options, .facts = facts, .fact_count = 1};
  EXPECT_OK(syncyte_comm_allreduce(world, &from, SYNCYTE_OP_SUM, &options, &to));
  options.fact_count = 2;
  const syncyte_status_t differing = size > 1 ? SYNCYTE_ERR_MISMATCH : SYNCYTE_SUCCESS;
  EXPECT_ERROR(syncyte_comm_allreduce(world, &from, SYNCYTE_OP_SUM, &options, &to), differing,
               size > 1 ? "extent 1 is 5 on rank" : "");
  options.struct_size = offsetof(syncyte_collective_options_t, fact_count);
  EXPECT_OK(syncyte_comm_allreduce(world, &from, SYNCYTE_OP_SUM, &options, &to));
  options.struct_size = sizeof options;
  options.fact_count = is_odd_one() ? 25 : 1;
  EXPECT_ERROR(syncyte_comm_bcast(world, 0, &options, &to), SYNCYTE_ERR_ARGUMENT, "options->fact_count is 25");
  options = (syncyte_collective_options_t){.struct_size = sizeof options, .fact_count = is_odd_one()};
  EXPECT_ERROR(syncyte_comm_bcast(world, 0, &options, &to), SYNCYTE_ERR_ARGUMENT, "options->facts is null");
}

/* The hook is called for every operation, in order, with its status. */
static int events = 0;
static syncyte_status_t last_status = -1;

static void on_event(const syncyte_trace_event_t* event, void* context) {
  EXPECT(context == &events);
  EXPECT(event->end_ns >= event->begin_ns);
  EXPECT(event->struct_size == sizeof *event);
  if (strcmp(event->operation, "comm_barrier") != 0) return;
  ++events;
  last_status = event->status;
}

static void test_trace(void) {
  EXPECT_OK(syncyte_trace_set(on_event, &events));
  EXPECT_OK(syncyte_comm_barrier(world));
  EXPECT(events == 1);
  EXPECT(last_status == SYNCYTE_SUCCESS);
  EXPECT_ERROR(syncyte_comm_barrier(NULL), SYNCYTE_ERR_HANDLE, "null handle");
  EXPECT(events == 2);
  EXPECT(last_status == SYNCYTE_ERR_HANDLE);
  EXPECT_OK(syncyte_trace_set(NULL, NULL));
  EXPECT_OK(syncyte_comm_barrier(world));
  EXPECT(events == 2);
}

/* The counters of an operation; zeros if it has none. */
static syncyte_operation_stats_t stats_of(const char* operation) {
  syncyte_operation_stats_t found = {.struct_size = sizeof found};
  for (int64_t i = 0; syncyte_stats(i, &found) == SYNCYTE_SUCCESS; ++i)
    if (strcmp(found.operation, operation) == 0) return found;
  return (syncyte_operation_stats_t){.struct_size = sizeof found};
}

static void test_stats(void) {
  const syncyte_operation_stats_t barriers = stats_of("comm_barrier"), reductions = stats_of("comm_allreduce");
  syncyte_operation_stats_t wrong = {.struct_size = 1};
  double values[3] = {1, 2, 3};
  const int64_t length = 3;
  syncyte_buffer_t buffer;
  EXPECT_OK(syncyte_buffer_init(values, SYNCYTE_FLOAT64, 1, &length, &buffer));
  EXPECT_OK(syncyte_comm_allreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &buffer));
  EXPECT_ERROR(syncyte_comm_barrier(NULL), SYNCYTE_ERR_HANDLE, "null handle");
  EXPECT(stats_of("comm_allreduce").calls == reductions.calls + 1);
  EXPECT(stats_of("comm_allreduce").bytes == reductions.bytes + 3 * (int64_t)sizeof(double));
  EXPECT(stats_of("comm_allreduce").errors == reductions.errors);
  EXPECT(stats_of("comm_barrier").calls == barriers.calls + 1);
  EXPECT(stats_of("comm_barrier").errors == barriers.errors + 1);
  EXPECT(syncyte_stats(-1, &wrong) != SYNCYTE_SUCCESS);
  EXPECT_ERROR(syncyte_stats(0, &wrong), SYNCYTE_ERR_ARGUMENT, "struct_size is 1");
  EXPECT_ERROR(syncyte_stats(0, NULL), SYNCYTE_ERR_ARGUMENT, "stats is null");
}

int main(void) {
  test_rows();
  world = start(&rank, &size);
  test_queries();
  test_ids();
  test_handles();
  test_numbers();
  test_leaders();
  test_group();
  test_making();
  test_errors_of_one_rank();
  test_agree();
  test_facts_of_libraries();
  test_trace();
  test_stats();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
