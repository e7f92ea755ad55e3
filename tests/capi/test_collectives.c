/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of syncyte/collectives.h: results of some of them, and errors of wrong use, on all ranks. */
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"
#include "vector.h"

enum { most_ranks = 8 };

static int32_t rank, size;
static syncyte_comm_t world;
static int64_t twos[most_ranks], scattered[most_ranks];

static int is_odd_one(void) { return rank == size - 1; }

static syncyte_buffer_t array_of(void* data, syncyte_dtype_t dtype, int32_t ndim, const int64_t* shape) {
  syncyte_buffer_t buffer;
  EXPECT_OK(syncyte_buffer_init(data, dtype, ndim, shape, &buffer));
  return buffer;
}

/* Rank r has columns 2 r and 2 r + 1 of a 3 x 2 size table whose element (i, j) is 100 i + j. */
static void test_gather_columns(void) {
  int32_t part[3][2], table[3][2 * most_ranks];
  for (int32_t i = 0; i < 3; ++i)
    for (int32_t j = 0; j < 2; ++j) part[i][j] = 100 * i + 2 * rank + j;
  const syncyte_buffer_t from = array_of(part, SYNCYTE_INT32, 2, (int64_t[]){3, 2});
  syncyte_buffer_t to = array_of(table, SYNCYTE_INT32, 2, (int64_t[]){3, 2 * size});
  to.strides[0] = sizeof table[0]; /* a slice of a wider array */
  const int root = size - 1;
  EXPECT_OK(syncyte_comm_gather_along(world, &from, -1, root, size, twos, NULL, rank == root ? &to : NULL));
  if (rank != root) return;
  for (int32_t i = 0; i < 3; ++i)
    for (int32_t j = 0; j < 2 * size; ++j) EXPECT(table[i][j] == 100 * i + j);
}

/* The columns become rows, and the rows columns again: the last rank has all 3 rows. */
static void test_alltoall_turns_columns_into_rows(void) {
  int32_t part[3][2], rows[3][2 * most_ranks], again[3][2];
  for (int32_t i = 0; i < 3; ++i)
    for (int32_t j = 0; j < 2; ++j) part[i][j] = 100 * i + 2 * rank + j;
  syncyte_buffer_t columns = array_of(part, SYNCYTE_INT32, 2, (int64_t[]){3, 2});
  const syncyte_buffer_t turned = array_of(rows, SYNCYTE_INT32, 2, (int64_t[]){scattered[rank], 2 * size});
  EXPECT_OK(syncyte_comm_alltoall_along(world, &columns, 1, 0, size, twos, size, scattered, NULL, &turned));
  const int32_t* element = &rows[0][0]; /* dense, 2 size in a row */
  for (int32_t i = 0; i < scattered[rank]; ++i)
    for (int32_t j = 0; j < 2 * size; ++j) EXPECT(*element++ == 100 * i + j);
  columns.data = again;
  EXPECT_OK(syncyte_comm_alltoall_along(world, &turned, 0, 1, size, scattered, size, twos, NULL, &columns));
  EXPECT(memcmp(part, again, sizeof part) == 0);
}

static void test_allgather(void) {
  uint64_t mine[2] = {UINT64_MAX - (uint64_t)rank, (uint64_t)rank};
  uint64_t all[2 * most_ranks] = {0};
  const syncyte_buffer_t from = vector_of(mine, SYNCYTE_UINT64, 2);
  const syncyte_buffer_t to = vector_of(all, SYNCYTE_UINT64, 2 * size), longer = vector_of(all, SYNCYTE_UINT64, 9);
  EXPECT_OK(syncyte_comm_allgather(world, &from, NULL, &to));
  for (int r = 0; r < size; ++r) {
    EXPECT(all[2 * r] == UINT64_MAX - (uint64_t)r);
    EXPECT(all[2 * r + 1] == (uint64_t)r);
  }
  EXPECT_ERROR(syncyte_comm_allgather(world, &from, NULL, is_odd_one() ? &longer : &to), SYNCYTE_ERR_SHAPE, "output");
  EXPECT_OK(syncyte_comm_barrier(world));
}

/* Rank r sends d + 1 times 10 r + d to rank d. */
static void test_alltoallv(void) {
  int32_t out[most_ranks * most_ranks], in[most_ranks * most_ranks];
  int64_t send[most_ranks], receive[most_ranks], sent = 0;
  for (int d = 0; d < size; ++d) {
    send[d] = d + 1;
    receive[d] = rank + 1;
    for (int i = 0; i <= d; ++i) out[sent++] = 10 * rank + d;
  }
  const syncyte_buffer_t from = vector_of(out, SYNCYTE_INT32, sent);
  const syncyte_buffer_t to = vector_of(in, SYNCYTE_INT32, (int64_t)size * (rank + 1));
  EXPECT_OK(syncyte_comm_alltoallv(world, &from, size, send, size, receive, NULL, &to));
  for (int i = 0; i < size * (rank + 1); ++i) EXPECT(in[i] == 10 * (i / (rank + 1)) + rank);
  if (is_odd_one()) --send[0]; /* fewer than the input has and rank 0 expects */
  EXPECT(syncyte_comm_alltoallv(world, &from, size, send, size, receive, NULL, &to) != SYNCYTE_SUCCESS);
  EXPECT_OK(syncyte_comm_barrier(world));
}

static void test_reductions(void) {
  double value = rank + 1, result = -1;
  const syncyte_buffer_t from = vector_of(&value, SYNCYTE_FLOAT64, 1);
  const syncyte_buffer_t to = vector_of(&result, SYNCYTE_FLOAT64, 1);
  EXPECT_OK(syncyte_comm_exscan(world, &from, SYNCYTE_OP_SUM, 0, NULL, &to));
  EXPECT(result == rank * (rank + 1) / 2);
  EXPECT_OK(syncyte_comm_scan(world, &from, SYNCYTE_OP_MAX, 1, NULL, &to));
  EXPECT(result == size);
  result = -1;
  EXPECT_OK(syncyte_comm_reduce(world, &from, SYNCYTE_OP_SUM, 0, NULL, rank == 0 ? &to : NULL));
  EXPECT(result == (rank == 0 ? size * (size + 1) / 2 : -1));
  int64_t counts[most_ranks];
  EXPECT_OK(syncyte_comm_counts(world, 10 * rank, NULL, size, counts));
  for (int32_t r = 0; r < size; ++r) EXPECT(counts[r] == 10 * r);
}

/* A wrong argument on the last rank is the same error on all ranks, and the next call works. */
static void test_wrong_reductions(void) {
  double values[2] = {0}, results[2] = {0};
  const syncyte_buffer_t from = vector_of(values, SYNCYTE_FLOAT64, 2);
  const syncyte_buffer_t to = vector_of(results, SYNCYTE_FLOAT64, 2);
  const syncyte_buffer_t other = vector_of(results, SYNCYTE_FLOAT32, 2);
  EXPECT_ERROR(syncyte_comm_reduce(world, &from, SYNCYTE_OP_SUM, is_odd_one() ? size : 0, NULL, &to),
               SYNCYTE_ERR_ARGUMENT, "root is");
  EXPECT_ERROR(syncyte_comm_reduce(world, &from, SYNCYTE_OP_SUM, size - 1, NULL, is_odd_one() ? NULL : &to),
               SYNCYTE_ERR_ARGUMENT, "output is null");
  EXPECT_ERROR(syncyte_comm_scan(world, &from, SYNCYTE_OP_SUM, is_odd_one() ? 2 : 0, NULL, &to), SYNCYTE_ERR_ARGUMENT,
               "reverse is 2; expected 0 or 1");
  EXPECT_ERROR(syncyte_comm_scan(world, &from, is_odd_one() ? 99 : SYNCYTE_OP_SUM, 0, NULL, &to), SYNCYTE_ERR_ARGUMENT,
               "99");
  EXPECT_ERROR(syncyte_comm_exscan(world, &from, SYNCYTE_OP_BAND, 0, NULL, &to), SYNCYTE_ERR_UNSUPPORTED, "float64");
  EXPECT_ERROR(syncyte_comm_exscan(world, &from, SYNCYTE_OP_SUM, 0, NULL, is_odd_one() ? &other : &to),
               SYNCYTE_ERR_TYPE, "output: dtype is float32; expected float64");
  EXPECT_ERROR(syncyte_comm_exscan(world, &from, SYNCYTE_OP_SUM, 0, NULL, is_odd_one() ? &from : &to),
               SYNCYTE_ERR_ARGUMENT, "overlap");
  int64_t counts[most_ranks];
  EXPECT_ERROR(syncyte_comm_counts(world, is_odd_one() ? -3 : 3, NULL, size, counts), SYNCYTE_ERR_ARGUMENT,
               "count is -3");
  EXPECT_ERROR(syncyte_comm_counts(world, 3, NULL, size, is_odd_one() ? NULL : counts), SYNCYTE_ERR_ARGUMENT,
               "counts is null");
  EXPECT_ERROR(syncyte_comm_counts(world, 3, NULL, is_odd_one() ? size - 1 : size, counts), SYNCYTE_ERR_SHAPE,
               "one for each rank");
  EXPECT_ERROR(syncyte_comm_counts(NULL, 3, NULL, size, counts), SYNCYTE_ERR_HANDLE, "comm is a null handle");
  EXPECT_OK(syncyte_comm_counts(world, 3, NULL, size, counts));
}

static void test_wrong_parts(void) {
  double part[2] = {0}, result[2] = {0}, whole[2 * most_ranks] = {0};
  const syncyte_buffer_t mine = vector_of(part, SYNCYTE_FLOAT64, 2);
  const syncyte_buffer_t other = vector_of(result, SYNCYTE_FLOAT64, 2);
  const syncyte_buffer_t all = vector_of(whole, SYNCYTE_FLOAT64, 2 * size);
  const syncyte_buffer_t short_one = vector_of(part, SYNCYTE_FLOAT64, is_odd_one() ? 1 : 2);
  const int odd_axis = is_odd_one() ? 1 : 0;
  const int64_t* const no_counts = is_odd_one() ? NULL : twos;
  EXPECT_ERROR(syncyte_comm_gather_along(world, &mine, odd_axis, 0, size, twos, NULL, &all), SYNCYTE_ERR_ARGUMENT,
               "axis is 1; expected -1 to 0");
  EXPECT_ERROR(syncyte_comm_gather_along(world, &short_one, 0, 0, size, twos, NULL, &all), SYNCYTE_ERR_SHAPE,
               "expected extent 2 along axis 0");
  EXPECT_ERROR(syncyte_comm_gather_along(world, &mine, 0, is_odd_one() ? -1 : 0, size, twos, NULL, &all),
               SYNCYTE_ERR_ARGUMENT, "root is -1");
  EXPECT_ERROR(syncyte_comm_allgather_along(world, &mine, 0, size, no_counts, NULL, &all), SYNCYTE_ERR_ARGUMENT,
               "counts is null");
  EXPECT_ERROR(syncyte_comm_allgather_along(world, is_odd_one() ? NULL : &mine, 0, size, twos, NULL, &all),
               SYNCYTE_ERR_ARGUMENT, "input is null");
  EXPECT_ERROR(syncyte_comm_scatter_along(world, is_odd_one() ? NULL : &all, 0, size - 1, size, twos, NULL, &mine),
               SYNCYTE_ERR_ARGUMENT, "input is null on root");
  EXPECT_ERROR(
      syncyte_comm_reduce_scatter_along(world, &all, 0, is_odd_one() ? 99 : SYNCYTE_OP_SUM, size, twos, NULL, &mine),
      SYNCYTE_ERR_ARGUMENT, "99");
  EXPECT_ERROR(
      syncyte_comm_reduce_scatter_along(world, is_odd_one() ? NULL : &all, 0, SYNCYTE_OP_SUM, size, twos, NULL, &mine),
      SYNCYTE_ERR_ARGUMENT, "input is null");
  const syncyte_buffer_t inside = vector_of(whole + 1, SYNCYTE_FLOAT64, 2);
  EXPECT_ERROR(syncyte_comm_reduce_scatter_along(world, &all, 0, SYNCYTE_OP_SUM, size, twos, NULL,
                                                 is_odd_one() ? &inside : &mine),
               SYNCYTE_ERR_ARGUMENT, "input is memory that overlaps that of output");
  EXPECT_ERROR(syncyte_comm_alltoall_along(world, &mine, 0, odd_axis, size, twos, size, twos, NULL, &other),
               SYNCYTE_ERR_ARGUMENT, "scatter_axis is 1");
  EXPECT_ERROR(syncyte_comm_alltoall_along(world, &mine, 0, 0, size, twos, size, no_counts, NULL, &other),
               SYNCYTE_ERR_ARGUMENT, "scatter_counts is null");
  EXPECT_ERROR(
      syncyte_comm_alltoall_along(world, &mine, 0, 0, size, twos, size, twos, NULL, is_odd_one() ? &mine : &other),
      SYNCYTE_ERR_ARGUMENT, "output is memory that overlaps that of input");
  EXPECT_OK(syncyte_comm_allgather_along(world, &mine, 0, size, twos, NULL, &all));
}

/* Arrays with an entry for each rank: one rank's array has one entry too many. */
static void test_wrong_lengths_of_counts(void) {
  double part[2] = {0}, other[2] = {0}, result[2 * most_ranks] = {0};
  const syncyte_buffer_t mine = vector_of(part, SYNCYTE_FLOAT64, 2);
  const syncyte_buffer_t all = vector_of(result, SYNCYTE_FLOAT64, 2 * size);
  const syncyte_buffer_t yours = vector_of(other, SYNCYTE_FLOAT64, 2);
  const int64_t wrong = is_odd_one() ? size + 1 : size;
  syncyte_request_t request = NULL;
  EXPECT_ERROR(syncyte_comm_allgatherv(world, &mine, wrong, twos, NULL, &all), SYNCYTE_ERR_SHAPE, "one for each rank");
  EXPECT_ERROR(syncyte_comm_alltoallv(world, &all, wrong, twos, size, twos, NULL, &all), SYNCYTE_ERR_SHAPE,
               "send_counts has");
  EXPECT_ERROR(syncyte_comm_alltoallv(world, &all, size, twos, wrong, twos, NULL, &all), SYNCYTE_ERR_SHAPE,
               "recv_counts has");
  EXPECT_ERROR(syncyte_comm_gather_along(world, &mine, 0, 0, wrong, twos, NULL, &all), SYNCYTE_ERR_SHAPE, "counts has");
  EXPECT_ERROR(syncyte_comm_allgather_along(world, &mine, 0, wrong, twos, NULL, &all), SYNCYTE_ERR_SHAPE, "counts has");
  EXPECT_ERROR(syncyte_comm_scatter_along(world, &all, 0, 0, wrong, twos, NULL, &mine), SYNCYTE_ERR_SHAPE,
               "counts has");
  EXPECT_ERROR(syncyte_comm_reduce_scatter_along(world, &all, 0, SYNCYTE_OP_SUM, wrong, twos, NULL, &mine),
               SYNCYTE_ERR_SHAPE, "counts has");
  EXPECT_ERROR(syncyte_comm_alltoall_along(world, &mine, 0, 0, wrong, twos, size, twos, NULL, &yours),
               SYNCYTE_ERR_SHAPE, "gather_counts has");
  EXPECT_ERROR(syncyte_comm_alltoall_along(world, &mine, 0, 0, size, twos, wrong, twos, NULL, &yours),
               SYNCYTE_ERR_SHAPE, "scatter_counts has");
  const syncyte_status_t started = syncyte_comm_iallgather_along(world, &mine, 0, wrong, twos, NULL, &all, &request);
  EXPECT_ERROR(is_odd_one() ? started : syncyte_request_wait(&request), SYNCYTE_ERR_SHAPE, "one for each rank");
}

static void test_disagreement(void) {
  double part[2] = {0}, whole[2 * most_ranks] = {0};
  const syncyte_buffer_t mine = vector_of(part, SYNCYTE_FLOAT64, 2);
  const syncyte_buffer_t all = vector_of(whole, SYNCYTE_FLOAT64, 2 * size);
  if (size == 1) return;
  EXPECT_ERROR(syncyte_comm_scatter_along(world, &all, 0, is_odd_one(), size, twos, NULL, &mine), SYNCYTE_ERR_MISMATCH,
               "root is");
  EXPECT_ERROR(is_odd_one() ? syncyte_comm_allgather_along(world, &mine, 0, size, twos, NULL, &all)
                            : syncyte_comm_gather_along(world, &mine, 0, 0, size, twos, NULL, &all),
               SYNCYTE_ERR_MISMATCH, "comm_allgather_along");
  EXPECT_OK(syncyte_comm_barrier(world));
}

/* Fields of the last error. They are the same on all ranks if a collective has agreed on the error. */
static syncyte_error_fields_t fields_of_error(void) {
  syncyte_error_fields_t fields = {.struct_size = sizeof fields};
  EXPECT_OK(syncyte_last_error_fields(&fields));
  return fields;
}

static void expect_fields(syncyte_status_t status, int32_t of_rank, const char* operation, const char* object,
                          const char* argument, int64_t axis, const char* value, const char* expected) {
  const syncyte_error_fields_t told = fields_of_error();
  EXPECT(told.status == status);
  EXPECT(told.rank == of_rank);
  EXPECT(told.axis == axis);
  EXPECT(strcmp(told.operation, operation) == 0);
  EXPECT(strcmp(told.object, object) == 0);
  EXPECT(strcmp(told.argument, argument) == 0);
  EXPECT(strcmp(told.value, value) == 0);
  EXPECT(strcmp(told.expected, expected) == 0);
}

static void test_error_fields(void) {
  double value = 1;
  const syncyte_buffer_t buffer = vector_of(&value, SYNCYTE_FLOAT64, 1);
  char range[32];
  snprintf(range, sizeof range, "0 to %d", size - 1);

  /* All ranks get the fields of one rank's error. */
  EXPECT_ERROR(syncyte_comm_bcast(world, is_odd_one() ? -3 : 0, NULL, &buffer), SYNCYTE_ERR_ARGUMENT, "root is -3");
  expect_fields(SYNCYTE_ERR_ARGUMENT, size - 1, "comm_bcast", "world", "root", -1, "-3", range);
  EXPECT(strncmp(fields_of_error().reason, "root is -3; expected 0 to ", 26) == 0);
  EXPECT(strstr(syncyte_last_error(), fields_of_error().reason) != NULL);
  int32_t agreed = -2;
  EXPECT_OK(syncyte_last_error_agreed(&agreed));
  EXPECT(agreed == rank);

  /* An error of this rank alone. */
  EXPECT_ERROR(syncyte_comm_bcast(NULL, 0, NULL, &buffer), SYNCYTE_ERR_HANDLE, "comm");
  EXPECT_OK(syncyte_last_error_agreed(&agreed));
  EXPECT(agreed == -1);
  EXPECT_ERROR(syncyte_last_error_agreed(NULL), SYNCYTE_ERR_ARGUMENT, "rank is null");

  /* The field of an element of an array. */
  int64_t counts[most_ranks] = {-5};
  double other = 0;
  const syncyte_buffer_t output = vector_of(&other, SYNCYTE_FLOAT64, 1);
  EXPECT_ERROR(syncyte_comm_allgatherv(world, &buffer, size, counts, NULL, &output), SYNCYTE_ERR_ARGUMENT,
               "counts[0] is -5");
  expect_fields(SYNCYTE_ERR_ARGUMENT, 0, "comm_allgatherv", "world", "counts", 0, "-5", "0 or more");

  /* Fields of a non-blocking collective's error, at the wait, on ranks whose own arguments were right. */
  syncyte_request_t request = NULL;
  const syncyte_status_t status = syncyte_comm_ibcast(world, rank == 0 ? size : 0, NULL, &buffer, &request);
  if (rank != 0) EXPECT_ERROR(syncyte_request_wait(&request), SYNCYTE_ERR_ARGUMENT, "root is");
  EXPECT(rank != 0 || status == SYNCYTE_ERR_ARGUMENT);
  snprintf(range, sizeof range, "%d", size);
  EXPECT(strcmp(fields_of_error().argument, "root") == 0);
  EXPECT(strcmp(fields_of_error().value, range) == 0);
  EXPECT_OK(syncyte_comm_barrier(world));

  /* Arguments that differ between ranks. */
  if (size > 1) {
    EXPECT_ERROR(syncyte_comm_bcast(world, rank == 0, NULL, &buffer), SYNCYTE_ERR_MISMATCH, "root is");
    const syncyte_error_fields_t told = fields_of_error();
    EXPECT(strcmp(told.argument, "root") == 0);
    EXPECT(strstr(told.value, "on rank 0") != NULL);
    EXPECT(told.rank == -1);
    EXPECT(strcmp(told.expected, "the same on all ranks") == 0);
    EXPECT(strcmp(told.object, "world") == 0);
  }

  /* Fields of a local call's error, and of a library's own error. */
  EXPECT_ERROR(syncyte_stats(-1, NULL), SYNCYTE_ERR_ARGUMENT, "stats is null");
  expect_fields(SYNCYTE_ERR_ARGUMENT, rank, "stats", "", "stats", -1, "null", "a struct");
  EXPECT_ERROR(syncyte_error_set(SYNCYTE_ERR_IO, "the disk is full"), SYNCYTE_ERR_IO, "the disk is full");
  expect_fields(SYNCYTE_ERR_IO, rank, "", "", "", -1, "", "");
  EXPECT(strcmp(fields_of_error().reason, "the disk is full") == 0);
  syncyte_error_fields_t own = {.struct_size = sizeof own,
                                .status = SYNCYTE_ERR_INDEX,
                                .operation = "mine",
                                .axis = 1,
                                .ndim = 3,
                                .argument = "box",
                                .value = "[7, 1, 2]",
                                .reason = "it is too large"};
  EXPECT_ERROR(syncyte_error_set_fields(&own), SYNCYTE_ERR_INDEX, "mine failed on rank");
  expect_fields(SYNCYTE_ERR_INDEX, rank, "mine", "", "box", 1, "[7, 1, 2]", "");
  EXPECT(fields_of_error().ndim == 3);
  EXPECT(strcmp(fields_of_error().reason, "it is too large") == 0);
  EXPECT_ERROR(syncyte_comm_agree(world, SYNCYTE_ERR_INDEX, "agreed", 0, NULL), SYNCYTE_ERR_INDEX, "it is too large");
  expect_fields(SYNCYTE_ERR_INDEX, 0, "agreed", "world", "box", 1, "[7, 1, 2]", "");
  EXPECT(fields_of_error().ndim == 3);
  own.struct_size = 1;
  EXPECT_ERROR(syncyte_error_set_fields(&own), SYNCYTE_ERR_ARGUMENT, "fields->struct_size is 1");
  EXPECT_ERROR(syncyte_last_error_fields(NULL), SYNCYTE_ERR_ARGUMENT, "fields is null");
  syncyte_error_fields_t wrong = {.struct_size = 3};
  EXPECT_ERROR(syncyte_last_error_fields(&wrong), SYNCYTE_ERR_ARGUMENT, "fields->struct_size is 3");
}

/* Fields of errors of tensors, windows, halos and stores. */
static void test_error_fields_of_objects(void) {
  const int64_t negative[2] = {3, -2}, shape[2] = {4, 2}, keys[2] = {1, 100}, below = -1, one = 1;
  int64_t rows[2] = {1, 4}, lengths[2];
  double data[4] = {0};
  syncyte_tensor_t tensor = NULL;
  EXPECT_ERROR(syncyte_tensor_create(world, SYNCYTE_FLOAT64, 2, negative, NULL, &tensor), SYNCYTE_ERR_SHAPE,
               "extent -2 of dimension 1 is negative");
  expect_fields(SYNCYTE_ERR_SHAPE, 0, "tensor_create", "world", "shape", 1, "-2", "0 or more");
  EXPECT(fields_of_error().ndim == 2);
  EXPECT_ERROR(syncyte_tensor_create(world, 99, 2, shape, NULL, &tensor), SYNCYTE_ERR_TYPE, "dtype is 99");
  expect_fields(SYNCYTE_ERR_TYPE, 0, "tensor_create", "world", "dtype", -1, "99",
                "one of SYNCYTE_FLOAT16 (1) to SYNCYTE_UINT64 (15)");

  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_FLOAT64, 2, shape, NULL, &tensor));
  const syncyte_buffer_t index = vector_of(rows, SYNCYTE_INT64, 2),
                         output = array_of(data, SYNCYTE_FLOAT64, 2, (int64_t[]){2, 2});
  EXPECT_ERROR(syncyte_tensor_gather(tensor, &index, &output), SYNCYTE_ERR_INDEX,
               "index 4 at position 1 is out of range; expected 0 to 3");
  expect_fields(SYNCYTE_ERR_INDEX, rank, "tensor_gather", "", "index", 1, "4", "0 to 3");
  EXPECT_OK(syncyte_tensor_destroy(&tensor));

  syncyte_window_t window = NULL;
  EXPECT_OK(syncyte_window_create(world, 16, NULL, &window));
  const syncyte_buffer_t source = vector_of(data, SYNCYTE_FLOAT64, 1);
  EXPECT_ERROR(syncyte_window_put(window, 0, 12, &source), SYNCYTE_ERR_INDEX, "offset is 12");
  expect_fields(SYNCYTE_ERR_INDEX, rank, "window_put", "", "offset", -1, "12",
                "room for 8 bytes in rank 0's part, which has 16 bytes");
  EXPECT_OK(syncyte_window_destroy(&window));

  syncyte_comm_t line = NULL;
  syncyte_halo_t halo = NULL;
  EXPECT_OK(syncyte_cart_create(world, 1, &size, 0, NULL, NULL, &line));
  EXPECT_ERROR(syncyte_halo_create(line, SYNCYTE_FLOAT64, 2, shape, 1, &below, 1, &one, 0, NULL, NULL, &halo),
               SYNCYTE_ERR_ARGUMENT, "low[0] is -1");
  expect_fields(SYNCYTE_ERR_ARGUMENT, 0, "halo_create", "world/cart", "low", 0, "-1", "0 or more");
  EXPECT_ERROR(syncyte_halo_create(world, SYNCYTE_FLOAT64, 2, shape, 1, &one, 1, &one, 0, NULL, NULL, &halo),
               SYNCYTE_ERR_ARGUMENT, "is not Cartesian");
  expect_fields(SYNCYTE_ERR_ARGUMENT, 0, "halo_create", "world", "communicator", -1, "not Cartesian",
                "one of syncyte_cart_create(), or made from a Cartesian one of MPI");
  EXPECT_OK(syncyte_comm_destroy(&line));

  syncyte_store_t kv = NULL;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, 100, 1, &one, NULL, &kv));
  EXPECT_ERROR(syncyte_store_lengths(kv, 2, keys, lengths), SYNCYTE_ERR_INDEX, "keys[1] is 100");
  expect_fields(SYNCYTE_ERR_INDEX, rank, "store_lengths", "", "keys", 1, "100", "0 to 99");
  EXPECT_OK(syncyte_store_destroy(&kv));
}

int main(void) {
  world = start(&rank, &size);
  for (int r = 0; r < size; ++r) twos[r] = 2;
  scattered[size - 1] = 3;
  test_gather_columns();
  test_alltoall_turns_columns_into_rows();
  test_allgather();
  test_alltoallv();
  test_reductions();
  test_wrong_reductions();
  test_wrong_parts();
  test_wrong_lengths_of_counts();
  test_disagreement();
  test_error_fields();
  test_error_fields_of_objects();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
