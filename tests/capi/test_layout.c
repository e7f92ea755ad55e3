/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts and relocation of syncyte/layout.h: results, and wrong use. */
#include <stdlib.h>

#include "expect.h"

enum { ny = 7, nx = 9, ghosts = 2 };

static int32_t rank, size;
static syncyte_comm_t world;

static double value_at(int64_t y, int64_t x) { return (double)(100 * y + x); }

/* This rank's only array of a layout. */
typedef struct {
  syncyte_layout_info_t info;
  double* data;
  syncyte_buffer_t buffer;
} array;

static array array_of(syncyte_layout_t layout) {
  array result = {.info = {.struct_size = sizeof result.info}};
  EXPECT_OK(syncyte_layout_describe(layout, rank, 0, &result.info));
  const int64_t elements = result.info.shape[0] * result.info.shape[1];
  result.data = malloc((size_t)(elements + 1) * sizeof(double));
  for (int64_t i = 0; i < elements; ++i) result.data[i] = -1;
  EXPECT_OK(syncyte_buffer_init(result.data, SYNCYTE_FLOAT64, 2, result.info.shape, &result.buffer));
  return result;
}

/* Sets the points of an array without ghosts, or checks them. */
static void fill(array* to) {
  for (int64_t y = 0; y < to->info.shape[0]; ++y)
    for (int64_t x = 0; x < to->info.shape[1]; ++x)
      to->data[y * to->info.shape[1] + x] = value_at(to->info.first[0] + y, to->info.first[1] + x);
}

static void expect_values(const array* from, int64_t low) {
  for (int64_t y = 0; y < from->info.shape[0]; ++y)
    for (int64_t x = 0; x < from->info.shape[1]; ++x) {
      const int is_ghost = y < low || x < low || y >= from->info.shape[0] - low || x >= from->info.shape[1] - low;
      const double expected = is_ghost ? -1 : value_at(from->info.first[0] + y - low, from->info.first[1] + x - low);
      EXPECT(from->data[y * from->info.shape[1] + x] == expected);
    }
}

static syncyte_layout_t mesh(int32_t axis, const syncyte_layout_options_t* options) {
  syncyte_layout_t result = NULL;
  EXPECT_OK(syncyte_layout_create_mesh(world, 2, (int64_t[]){ny, nx}, 1, &size, 0, NULL, 1, &axis, options, &result));
  return result;
}

static void relocate(syncyte_layout_t from, array* source, syncyte_layout_t to, array* target) {
  EXPECT_OK(syncyte_layout_relocate(from, SYNCYTE_FLOAT64, source->info.blocks, &source->buffer, to,
                                    target->info.blocks, NULL, &target->buffer));
}

static void test_rows_to_columns_with_ghosts(void) {
  syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
  for (int axis = 0; axis < 2; ++axis) options.ghosts_low[axis] = options.ghosts_high[axis] = ghosts;
  syncyte_layout_t rows = mesh(0, NULL), columns = mesh(1, &options);
  array source = array_of(rows), target = array_of(columns);
  EXPECT(target.info.shape[0] == ny + 2 * ghosts);
  EXPECT(target.info.extents[1] == nx);
  fill(&source);
  relocate(rows, &source, columns, &target);
  expect_values(&target, ghosts);
  free(source.data);
  free(target.data);
  EXPECT_OK(syncyte_layout_destroy(&rows));
  EXPECT_OK(syncyte_layout_destroy(&columns));
}

/* Nodes of blocks of rows, whose last row both neighbours store, are collected on all ranks. */
static void test_nodes_are_collected(void) {
  const int64_t first[] = {ny * (int64_t)rank / size, 0};
  const int64_t count[] = {ny * (int64_t)(rank + 1) / size - first[0], nx};
  syncyte_layout_t cells = NULL, nodes = NULL, all = NULL, nodes_of_all = NULL;
  syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
  options.shared[0] = options.shared[1] = 1;
  EXPECT_OK(syncyte_layout_create_blocks(world, 2, (int64_t[]){ny, nx}, 2, first, 2, count, NULL, &cells));
  EXPECT_OK(syncyte_layout_like(cells, &options, &nodes));
  EXPECT_OK(
      syncyte_layout_create_mesh(world, 2, (int64_t[]){ny, nx}, 1, &size, 0, NULL, 1, (int32_t[]){-1}, NULL, &all));
  EXPECT_OK(syncyte_layout_like(all, &options, &nodes_of_all));
  array source = array_of(nodes), target = array_of(nodes_of_all);
  EXPECT(source.info.shape[1] == nx + 1);
  EXPECT(source.info.shape[0] == (count[0] > 0 ? count[0] + 1 : 0));
  EXPECT(target.info.shape[0] == ny + 1);
  fill(&source);
  relocate(nodes, &source, nodes_of_all, &target);
  expect_values(&target, 0);
  free(source.data);
  free(target.data);
  EXPECT_OK(syncyte_layout_destroy(&cells));
  EXPECT_OK(syncyte_layout_destroy(&nodes));
  EXPECT_OK(syncyte_layout_destroy(&all));
  EXPECT_OK(syncyte_layout_destroy(&nodes_of_all));
}

/* Each rank gets a copy of the nodes; the right copy gets a sum over ranks, and the neighbours' copies, and ghosts, 0.
 */
static void test_adjoint(void) {
  syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT;
  options.shared[0] = options.ghosts_low[1] = 1;
  options.truth = SYNCYTE_TRUTH_LOWER;
  syncyte_layout_t rows = mesh(0, &options), all = NULL, copies = NULL;
  EXPECT_OK(
      syncyte_layout_create_mesh(world, 2, (int64_t[]){ny, nx}, 1, &size, 0, NULL, 1, (int32_t[]){-1}, NULL, &all));
  options.ghosts_low[1] = 0;
  EXPECT_OK(syncyte_layout_like(all, &options, &copies));
  array source = array_of(rows), target = array_of(copies);
  for (int64_t y = 0; y < target.info.shape[0]; ++y)
    for (int64_t x = 0; x < nx; ++x) target.data[y * nx + x] = value_at(y, x) + rank;
  EXPECT_OK(syncyte_layout_relocate_adjoint(rows, SYNCYTE_FLOAT64, source.info.blocks, copies, 1, &target.buffer, NULL,
                                            &source.buffer));
  for (int64_t y = 0; y < source.info.shape[0]; ++y)
    for (int64_t x = 0; x < source.info.shape[1]; ++x) {
      const double sum = size * value_at(source.info.first[0] + y, x - 1) + size * (size - 1) / 2;
      const int is_copy = y == 0 && source.info.first[0] > 0;
      EXPECT(source.data[y * source.info.shape[1] + x] == (x == 0 || is_copy ? 0 : sum));
    }
  free(source.data);
  free(target.data);
  EXPECT_OK(syncyte_layout_destroy(&rows));
  EXPECT_OK(syncyte_layout_destroy(&all));
  EXPECT_OK(syncyte_layout_destroy(&copies));
}

/* The last row and column but one are collected, and put back. */
static void test_box(void) {
  const int64_t first[] = {ny - 1, nx - 2}, far[] = {ny, 0}, huge[] = {INT64_MAX, INT64_MIN};
  syncyte_layout_t rows = mesh(0, NULL), box = NULL;
  EXPECT_OK(syncyte_layout_create_mesh(world, 2, (int64_t[]){1, 2}, 1, &size, 0, NULL, 1, (int32_t[]){-1}, NULL, &box));
  array source = array_of(rows), target = array_of(rows), part = array_of(box);
  fill(&source);
  syncyte_relocate_options_t options = SYNCYTE_RELOCATE_OPTIONS_INIT;
  options.first = first;
  EXPECT_OK(syncyte_layout_relocate(rows, SYNCYTE_FLOAT64, source.info.blocks, &source.buffer, box, 1, &options,
                                    &part.buffer));
  EXPECT(part.data[0] == value_at(ny - 1, nx - 2) && part.data[1] == value_at(ny - 1, nx - 1));
  EXPECT_OK(syncyte_layout_relocate(box, SYNCYTE_FLOAT64, 1, &part.buffer, rows, target.info.blocks, &options,
                                    &target.buffer));
  for (int64_t y = 0; y < target.info.shape[0]; ++y)
    for (int64_t x = 0; x < nx; ++x) {
      const int is_in = target.info.first[0] + y == ny - 1 && x >= nx - 2;
      EXPECT(target.data[y * nx + x] == (is_in ? value_at(ny - 1, x) : -1));
    }
  EXPECT_ERROR(syncyte_layout_relocate(rows, SYNCYTE_FLOAT64, 1, &source.buffer, box, 1, NULL, &part.buffer),
               SYNCYTE_ERR_SHAPE, "extents of the second layout");
  options.first = far;
  EXPECT_ERROR(syncyte_layout_relocate(rows, SYNCYTE_FLOAT64, 1, &source.buffer, box, 1, &options, &part.buffer),
               SYNCYTE_ERR_SHAPE, "first[0] is 7; expected 0 to ");
  options.first = huge;
  EXPECT_ERROR(syncyte_layout_relocate(box, SYNCYTE_FLOAT64, 1, &part.buffer, rows, 1, &options, &target.buffer),
               SYNCYTE_ERR_SHAPE, "first[0]");
  free(source.data);
  free(target.data);
  free(part.data);
  EXPECT_OK(syncyte_layout_destroy(&rows));
  EXPECT_OK(syncyte_layout_destroy(&box));
}

static void test_wrong_layouts(void) {
  const int64_t cells[] = {ny, nx}, other[] = {ny, nx + (rank == 0)}, first[] = {0, 0};
  const int32_t too_many = size + 1, axis = 0, no_axis = 2;
  syncyte_layout_t none = NULL;
  EXPECT_ERROR(syncyte_layout_create_mesh(world, 0, cells, 1, &size, 0, NULL, 1, &axis, NULL, &none),
               SYNCYTE_ERR_ARGUMENT, "ndim is 0; expected 1 to 8");
  EXPECT_ERROR(syncyte_layout_create_mesh(world, 2, cells, 1, &too_many, 0, NULL, 1, &axis, NULL, &none),
               SYNCYTE_ERR_ARGUMENT, "product of mesh");
  EXPECT_ERROR(syncyte_layout_create_mesh(world, 2, cells, 1, &size, 0, NULL, 1, &no_axis, NULL, &none),
               SYNCYTE_ERR_ARGUMENT, "axes[0] is 2; expected -1 to 1");
  const int64_t one_too_many[16] = {ny};
  EXPECT_ERROR(syncyte_layout_create_mesh(world, 2, cells, 1, &size, size + 1, one_too_many, 1, &axis, NULL, &none),
               SYNCYTE_ERR_ARGUMENT, "a length for each part of the cut axes");
  if (size > 1)
    EXPECT_ERROR(syncyte_layout_create_mesh(world, 2, other, 1, &size, 0, NULL, 1, &axis, NULL, &none),
                 SYNCYTE_ERR_MISMATCH, "extent");
  EXPECT_ERROR(syncyte_layout_create_blocks(world, 2, cells, 2, first, 2, first, NULL, &none), SYNCYTE_ERR_ARGUMENT,
               "the blocks have 0 of 63 cells");
  EXPECT(none == NULL);
}

static void test_wrong_relocations(void) {
  syncyte_layout_t rows = mesh(0, NULL), columns = mesh(1, NULL);
  array source = array_of(rows), target = array_of(rows), other = array_of(columns);
  syncyte_relocate_options_t little = SYNCYTE_RELOCATE_OPTIONS_INIT;
  little.buffer_bytes = 1;
  EXPECT_ERROR(syncyte_layout_relocate(rows, SYNCYTE_FLOAT64, 0, NULL, rows, 1, NULL, &target.buffer),
               SYNCYTE_ERR_ARGUMENT, "arrays is 0; expected 1 arrays, one for each block");
  EXPECT_ERROR(syncyte_layout_relocate(rows, SYNCYTE_FLOAT32, 1, &source.buffer, rows, 1, NULL, &target.buffer),
               SYNCYTE_ERR_TYPE, "float64");
  EXPECT_ERROR(syncyte_layout_relocate(rows, 99, 1, &source.buffer, rows, 1, NULL, &target.buffer), SYNCYTE_ERR_TYPE,
               "dtype is 99");
  EXPECT_ERROR(syncyte_layout_relocate(rows, SYNCYTE_FLOAT64, 1, &source.buffer, rows, 1, NULL, &source.buffer),
               SYNCYTE_ERR_ARGUMENT, "separate memory");
  EXPECT_ERROR(syncyte_layout_relocate(NULL, SYNCYTE_FLOAT64, 1, &source.buffer, rows, 1, NULL, &target.buffer),
               SYNCYTE_ERR_HANDLE, "layout");
  EXPECT_ERROR(syncyte_layout_relocate_adjoint(rows, SYNCYTE_FLOAT64, 1, rows, 1, &source.buffer, NULL, &source.buffer),
               SYNCYTE_ERR_ARGUMENT, "separate memory");
  EXPECT_ERROR(syncyte_layout_relocate_adjoint(rows, SYNCYTE_FLOAT64, 1, NULL, 1, &source.buffer, NULL, &target.buffer),
               SYNCYTE_ERR_HANDLE, "to is");
  const syncyte_status_t status =
      syncyte_layout_relocate(rows, SYNCYTE_FLOAT64, 1, &source.buffer, columns, 1, &little, &other.buffer);
  if (size == 1)
    EXPECT_OK(status); /* without messages */
  else
    EXPECT_ERROR(status, SYNCYTE_ERR_ARGUMENT, "buffer_bytes is 1; expected ");
  source.buffer.shape[0] += 1;
  EXPECT_ERROR(syncyte_layout_relocate(rows, SYNCYTE_FLOAT64, 1, &source.buffer, rows, 1, NULL, &target.buffer),
               SYNCYTE_ERR_SHAPE, "arrays[0] has shape");
  source.buffer.shape[0] -= 1;
  fill(&source);
  relocate(rows, &source, rows, &target);
  expect_values(&target, 0);
  EXPECT_ERROR(syncyte_layout_describe(rows, size, 0, &source.info), SYNCYTE_ERR_ARGUMENT, "rank");
  free(source.data);
  free(target.data);
  free(other.data);
  EXPECT_OK(syncyte_layout_destroy(&rows));
  EXPECT_OK(syncyte_layout_destroy(&columns));
}

int main(void) {
  world = start(&rank, &size);
  test_rows_to_columns_with_ghosts();
  test_nodes_are_collected();
  test_adjoint();
  test_box();
  test_wrong_layouts();
  test_wrong_relocations();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
