/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian communicators and halo exchange of syncyte/cart.h and syncyte/halo.h: results, and wrong use. */
#include <stdlib.h>

#include "expect.h"

static int32_t rank, size;
static syncyte_comm_t world, ring;

static void test_grid(void) {
  int32_t ndim = -1, extents[2] = {0, 0}, periods[2] = {7, 7}, place[2], found = -1;
  syncyte_comm_t grid = NULL, dense = NULL;
  EXPECT_OK(syncyte_cart_create(world, 2, extents, 2, (int32_t[]){0, 1}, NULL, &grid));
  EXPECT_OK(syncyte_cart_ndim(grid, &ndim));
  EXPECT_OK(syncyte_cart_grid(grid, 2, extents, periods));
  EXPECT(ndim == 2);
  EXPECT(extents[0] * extents[1] == size);
  EXPECT(periods[0] == 0);
  EXPECT(periods[1] == 1);
  EXPECT_OK(syncyte_cart_coords(grid, rank, 2, place));
  EXPECT(place[0] * extents[1] + place[1] == rank);
  EXPECT_OK(syncyte_cart_rank_at(grid, 2, place, &found));
  EXPECT(found == rank);
  place[0] = extents[0];
  EXPECT_OK(syncyte_cart_rank_at(grid, 2, place, &found));
  EXPECT(found == SYNCYTE_PROC_NULL);
  EXPECT_OK(syncyte_comm_barrier(grid));
  EXPECT_ERROR(syncyte_cart_grid(grid, 3, extents, periods), SYNCYTE_ERR_ARGUMENT, "ndim is 3; expected 2");
  EXPECT_OK(syncyte_cart_ndim(world, &ndim));
  EXPECT(ndim == 0);
  EXPECT_OK(syncyte_cart_create(world, 1, (int32_t[]){1}, 0, NULL, NULL, &dense));
  EXPECT((dense == NULL) == (rank != 0));
  EXPECT_OK(syncyte_comm_destroy(&dense));
  EXPECT_OK(syncyte_comm_destroy(&grid));
}

static void test_wrong_grids(void) {
  syncyte_comm_t none = NULL;
  const int32_t many[] = {size + 1};
  EXPECT_ERROR(syncyte_cart_create(world, 1, many, 0, NULL, NULL, &none), SYNCYTE_ERR_ARGUMENT, "more places than");
  EXPECT_ERROR(syncyte_cart_create(world, 1, many, 2, (int32_t[]){0, 1}, NULL, &none), SYNCYTE_ERR_SHAPE,
               "periods has 2 entries; expected 1, one for each dimension");
  EXPECT_ERROR(syncyte_cart_create(world, 0, many, 0, NULL, NULL, &none), SYNCYTE_ERR_ARGUMENT, "ndim is 0");
  EXPECT_ERROR(syncyte_cart_create(world, 1, NULL, 0, NULL, NULL, &none), SYNCYTE_ERR_ARGUMENT, "dims is null");
  EXPECT_ERROR(syncyte_cart_shift(world, 0, 1, NULL, NULL), SYNCYTE_ERR_ARGUMENT, "not Cartesian");
  EXPECT(none == NULL);
}

enum { rows = 4, columns = 3 };
static double field[rows][columns]; /* rows 0 and 3 are ghosts */
static const int64_t shape[] = {rows, columns}, one = 1;

static syncyte_buffer_t field_buffer(void) {
  syncyte_buffer_t buffer;
  EXPECT_OK(syncyte_buffer_init(field, SYNCYTE_FLOAT64, 2, shape, &buffer));
  return buffer;
}

static void fill(void) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) field[i][j] = 100 * rank + 10 * i + j;
}

static syncyte_halo_t make_halo(void) {
  syncyte_halo_t halo = NULL;
  EXPECT_OK(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 2, shape, 1, &one, 1, &one, 0, NULL, NULL, &halo));
  return halo;
}

/* Ghosts are the neighbours' rows. accumulate() after exchange() doubles every interior cell. */
static void test_exchange_and_accumulate(void) {
  const int below = (rank + size - 1) % size, above = (rank + 1) % size;
  const syncyte_buffer_t buffer = field_buffer();
  syncyte_halo_t halo = make_halo();
  fill();
  EXPECT_OK(syncyte_halo_exchange(halo, &buffer));
  for (int j = 0; j < columns; ++j) {
    EXPECT(field[0][j] == 100 * below + 20 + j);
    EXPECT(field[1][j] == 100 * rank + 10 + j);
    EXPECT(field[3][j] == 100 * above + 10 + j);
  }
  EXPECT_OK(syncyte_halo_accumulate(halo, &buffer));
  for (int j = 0; j < columns; ++j) {
    EXPECT(field[0][j] == 0);
    EXPECT(field[3][j] == 0);
    EXPECT(field[1][j] == 2 * (100 * rank + 10 + j));
    EXPECT(field[2][j] == 2 * (100 * rank + 20 + j));
  }
  EXPECT_OK(syncyte_halo_destroy(&halo));
}

static void test_start(void) {
  const syncyte_buffer_t buffer = field_buffer();
  syncyte_halo_t halo = make_halo();
  syncyte_request_t request = NULL, other = NULL;
  fill();
  EXPECT_OK(syncyte_halo_iexchange(halo, &buffer, &request));
  EXPECT_ERROR(syncyte_halo_iexchange(halo, &buffer, &other), SYNCYTE_ERR_BUSY, "in flight");
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT(field[0][0] == 100 * ((rank + size - 1) % size) + 20);
  EXPECT_OK(syncyte_halo_iaccumulate(halo, &buffer, &request));
  EXPECT_OK(syncyte_halo_destroy(&halo)); /* the request holds its own reference */
  for (int32_t done = 0; done == 0;) EXPECT_OK(syncyte_request_test(&request, &done));
  EXPECT(field[1][0] == 2 * (100 * rank + 10));
}

static void test_description(void) {
  syncyte_halo_t halo = make_halo();
  syncyte_buffer_t array = SYNCYTE_BUFFER_INIT, interior = SYNCYTE_BUFFER_INIT;
  syncyte_comm_t comm = NULL;
  int32_t ndim = 0;
  EXPECT_OK(syncyte_halo_describe(halo, &array, &interior));
  EXPECT(array.dtype == SYNCYTE_FLOAT64);
  EXPECT(array.ndim == 2);
  EXPECT(array.shape[0] == rows);
  EXPECT(array.shape[1] == columns);
  EXPECT(interior.shape[0] == rows - 2);
  EXPECT(interior.shape[1] == columns);
  EXPECT(interior.data == (void*)sizeof field[0]);
  EXPECT_OK(syncyte_halo_comm(halo, &comm));
  EXPECT_OK(syncyte_cart_ndim(comm, &ndim));
  EXPECT(ndim == 1);
  EXPECT_OK(syncyte_comm_destroy(&comm));
  EXPECT_OK(syncyte_halo_retain(halo));
  EXPECT_OK(syncyte_halo_release(halo));
  EXPECT_OK(syncyte_halo_destroy(&halo));
  EXPECT_ERROR(syncyte_halo_exchange(halo, &array), SYNCYTE_ERR_HANDLE, "null handle");
}

/* Rank 0 and its neighbours on the ring get an error because rank 0 differs; other ranks do not. */
static void test_facts(void) {
  syncyte_halo_t halo = make_halo();
  const syncyte_buffer_t array = field_buffer();
  const syncyte_fact_t facts[] = {
      {sizeof(syncyte_fact_t), "first", 1}, {sizeof(syncyte_fact_t), "second", rank == 0 ? 2 : 3},
      {sizeof(syncyte_fact_t), "", 0},      {sizeof(syncyte_fact_t), "", 0},
      {sizeof(syncyte_fact_t), "", 0},      {sizeof(syncyte_fact_t), "", 0},
      {sizeof(syncyte_fact_t), "", 0},      {sizeof(syncyte_fact_t), "", 0}};
  syncyte_collective_options_t options = SYNCYTE_COLLECTIVE_OPTIONS_INIT;
  int64_t before = -1, after = -1;
  options.facts = facts;
  EXPECT_OK(syncyte_halo_sequence(halo, &before));
  for (int32_t adjoint = 0; adjoint < 2; ++adjoint) {
    options.fact_count = 1;
    EXPECT_OK(syncyte_halo_transfer(halo, adjoint, &options, &array));
    options.fact_count = 2;
    if (size > 1 && (rank <= 1 || rank == size - 1))
      EXPECT_ERROR(syncyte_halo_transfer(halo, adjoint, &options, &array), SYNCYTE_ERR_MISMATCH,
                   rank == 0 ? "second is 3 on rank" : "second is 2 on rank 0, but 3 on rank");
    else
      EXPECT_OK(syncyte_halo_transfer(halo, adjoint, &options, &array));
    options.fact_count = 8;
    EXPECT_ERROR(syncyte_halo_transfer(halo, adjoint, &options, &array), SYNCYTE_ERR_ARGUMENT, "fact_count is 8");
  }
  EXPECT_OK(syncyte_halo_sequence(halo, &after));
  EXPECT(before == 0);
  EXPECT(after == 6);
  EXPECT_OK(syncyte_halo_exchange(halo, &array));
  EXPECT_OK(syncyte_halo_destroy(&halo));
}

static void test_wrong_halos(void) {
  const int64_t wide = 3;
  syncyte_halo_t none = NULL;
  const syncyte_halo_options_t wrong = {1, 1, 0}, neither = {sizeof neither, 2, 0};
  EXPECT_ERROR(syncyte_halo_create(world, SYNCYTE_FLOAT64, 2, shape, 1, &one, 1, &one, 0, NULL, NULL, &none),
               SYNCYTE_ERR_ARGUMENT, "not Cartesian");
  EXPECT_ERROR(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 2, shape, 1, &wide, 1, &wide, 0, NULL, NULL, &none),
               SYNCYTE_ERR_SHAPE, "expected at least 3 + 3");
  EXPECT_ERROR(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 2, shape, 1, &wide, 1, &one, 0, NULL, NULL, &none),
               SYNCYTE_ERR_SHAPE, "interior along axis 0 is 0 cells");
  EXPECT_ERROR(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 2, shape, 1, NULL, 1, &one, 0, NULL, NULL, &none),
               SYNCYTE_ERR_ARGUMENT, "low is null");
  EXPECT_ERROR(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 2, shape, 1, &one, 2, &one, 0, NULL, NULL, &none),
               SYNCYTE_ERR_SHAPE, "high has 2 entries; expected 1, one for each dimension of the grid");
  EXPECT_ERROR(
      syncyte_halo_create(ring, SYNCYTE_FLOAT64, 2, shape, 1, &one, 1, &one, 2, (int32_t[]){0, 1}, NULL, &none),
      SYNCYTE_ERR_SHAPE, "axes has 2 entries; expected 1");
  EXPECT_ERROR(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 2, NULL, 1, &one, 1, &one, 0, NULL, NULL, &none),
               SYNCYTE_ERR_ARGUMENT, "shape is null");
  EXPECT_ERROR(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 2, shape, 1, &one, 1, &one, 0, NULL, &wrong, &none),
               SYNCYTE_ERR_ARGUMENT, "struct_size is 1");
  EXPECT_ERROR(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 2, shape, 1, &one, 1, &one, 0, NULL, &neither, &none),
               SYNCYTE_ERR_ARGUMENT, "options->corners is 2; expected 0 or 1");
  EXPECT(none == NULL);
}

static void test_neighbors(void) {
  int32_t below = -1, above = -1;
  double blocks[2] = {10.0 * rank + 1, 10.0 * rank + 2}, got[2] = {0, 0};
  const int64_t two = 2;
  const int64_t odd = 1;
  syncyte_buffer_t input, output, short_one;
  EXPECT_OK(syncyte_buffer_init(blocks, SYNCYTE_FLOAT64, 1, &two, &input));
  EXPECT_OK(syncyte_buffer_init(got, SYNCYTE_FLOAT64, 1, &two, &output));
  EXPECT_OK(syncyte_buffer_init(blocks, SYNCYTE_FLOAT64, 1, &odd, &short_one));
  EXPECT_OK(syncyte_cart_shift(ring, 0, 1, &below, &above));
  EXPECT_OK(syncyte_comm_neighbor_alltoall(ring, &input, NULL, &output));
  EXPECT(got[0] == 10 * below + 2);
  EXPECT(got[1] == 10 * above + 1);
  EXPECT_ERROR(syncyte_comm_neighbor_alltoall(world, &input, NULL, &output), SYNCYTE_ERR_ARGUMENT, "not Cartesian");
  EXPECT_ERROR(syncyte_comm_neighbor_alltoall(ring, rank == 0 ? &short_one : &input, NULL, &output), SYNCYTE_ERR_SHAPE,
               "expected a multiple of 2");
  EXPECT_ERROR(syncyte_comm_neighbor_alltoall(ring, &input, NULL, rank == 0 ? &input : &output), SYNCYTE_ERR_ARGUMENT,
               "overlap");
}

int main(void) {
  world = start(&rank, &size);
  EXPECT_OK(syncyte_cart_create(world, 1, (int32_t[]){0}, 1, (int32_t[]){1}, NULL, &ring));
  test_grid();
  test_wrong_grids();
  test_exchange_and_accumulate();
  test_start();
  test_description();
  test_facts();
  test_wrong_halos();
  test_neighbors();
  EXPECT_OK(syncyte_comm_destroy(&ring));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
