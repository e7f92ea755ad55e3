/* SPDX-License-Identifier: BSD-3-Clause */
/* Bundles of syncyte/bundle.h: a line of cells and nodes, in all forms, and wrong use. */
#include "expect.h"

enum { own = 3, ghosts = 1 };

static int32_t rank, size;
static syncyte_comm_t world;
static syncyte_layout_t cells, nodes;

static double density[own + 2 * ghosts], force[own + 1];

static syncyte_buffer_t buffer_of(void* data, int64_t extent) {
  syncyte_buffer_t result;
  EXPECT_OK(syncyte_buffer_init(data, SYNCYTE_FLOAT64, 1, &extent, &result));
  return result;
}

static void reset(void) {
  for (int i = 0; i < own + 2; ++i) density[i] = -1;
  for (int i = 0; i < own; ++i) density[i + 1] = own * rank + i;
  for (int i = 0; i <= own; ++i) force[i] = 1;
}

static syncyte_bundle_t bundle_of_both(void) {
  syncyte_bundle_t result = NULL;
  const syncyte_buffer_t first = buffer_of(density, own + 2), second = buffer_of(force, own + 1);
  EXPECT_OK(syncyte_bundle_create(world, &result));
  EXPECT_OK(syncyte_bundle_add(result, "density", cells, SYNCYTE_FLOAT64, 1, &first));
  EXPECT_OK(syncyte_bundle_add(result, "force", nodes, SYNCYTE_FLOAT64, 1, &second));
  reset();
  return result;
}

static void expect_density(int is_filled) {
  for (int i = 0; i < own; ++i) EXPECT(density[i + 1] == own * rank + i);
  EXPECT(density[0] == (is_filled && rank > 0 ? own * rank - 1 : -1));
  EXPECT(density[own + 1] == (is_filled && rank < size - 1 ? own * (rank + 1) : -1));
}

static void expect_force(int is_summed) {
  for (int i = 0; i <= own; ++i) {
    const int has_copy = (i == 0 && rank > 0) || (i == own && rank < size - 1);
    EXPECT(force[i] == 1 + (is_summed && has_copy));
  }
}

static void test_operations(void) {
  syncyte_bundle_t bundle = bundle_of_both();
  const int32_t only_density[] = {1, 0}, only_force[] = {0, 1};
  EXPECT_OK(syncyte_bundle_exchange(bundle, 0, 2, only_density));
  expect_density(1);
  expect_force(0);
  EXPECT_OK(syncyte_bundle_sum(bundle, 2, only_force));
  expect_force(1);
  for (int i = 0; i < own + 2; ++i) density[i] = 1;
  EXPECT_OK(syncyte_bundle_accumulate(bundle, 1, 2, only_density));
  EXPECT(density[1] == 1 + (rank > 0));
  EXPECT(density[0] == (rank == 0));
  syncyte_comm_t comm = NULL;
  EXPECT_OK(syncyte_bundle_comm(bundle, &comm));
  EXPECT(comm != NULL);
  EXPECT_OK(syncyte_comm_destroy(&comm));
  EXPECT_OK(syncyte_bundle_destroy(&bundle));
}

/* For libraries on top: other arrays than the bundle's, which stay as they are. */
static void test_other_arrays(void) {
  syncyte_bundle_t bundle = bundle_of_both();
  const int32_t only[] = {0, 1};
  double others[own + 1] = {2, 2, 2, 2};
  const syncyte_buffer_t array = buffer_of(others, own + 1);
  reset();
  EXPECT_OK(syncyte_bundle_transfer(bundle, 2, 0, 2, only, NULL, 1, &array));
  EXPECT(others[0] == (rank == 0 ? 2 : 4) && others[1] == 2 && others[own] == (rank == size - 1 ? 2 : 4));
  EXPECT(force[0] == 1 && force[own] == 1);
  EXPECT_ERROR(syncyte_bundle_transfer(bundle, 3, 0, 2, only, NULL, 1, &array), SYNCYTE_ERR_ARGUMENT,
               "operation is 3; expected 0 to 2");
  EXPECT_ERROR(syncyte_bundle_transfer(bundle, 0, 0, 2, only, NULL, 1, NULL), SYNCYTE_ERR_ARGUMENT, "arrays is null");
  EXPECT_OK(syncyte_bundle_destroy(&bundle));
}

static void test_started_forms(void) {
  syncyte_bundle_t bundle = bundle_of_both(), other = bundle_of_both();
  syncyte_request_t first = NULL, second = NULL, third = NULL;
  static double apart[own + 2], forces_apart[own + 1];
  const syncyte_buffer_t elsewhere = buffer_of(apart, own + 2), forces_elsewhere = buffer_of(forces_apart, own + 1);
  for (int i = 0; i < own + 2; ++i) apart[i] = 1;
  EXPECT_OK(syncyte_bundle_set_arrays(other, "density", 1, &elsewhere));
  EXPECT_OK(syncyte_bundle_set_arrays(other, "force", 1, &forces_elsewhere));
  EXPECT_OK(syncyte_bundle_iexchange(bundle, 0, 0, NULL, &first));
  EXPECT_OK(syncyte_bundle_iaccumulate(other, 0, 0, NULL, &second));
  EXPECT_ERROR(syncyte_bundle_isum(bundle, 0, NULL, &third), SYNCYTE_ERR_BUSY, "in flight");
  EXPECT_OK(syncyte_request_wait(&second));
  EXPECT_OK(syncyte_request_wait(&first));
  expect_density(1);
  EXPECT(apart[1] == 1 + (rank > 0));
  EXPECT_OK(syncyte_bundle_isum(bundle, 0, NULL, &third));
  EXPECT_OK(syncyte_bundle_destroy(&bundle)); /* before the end */
  EXPECT_OK(syncyte_request_wait(&third));
  expect_force(1);
  EXPECT_OK(syncyte_bundle_destroy(&other));
}

static void test_wrong_use(void) {
  syncyte_bundle_t bundle = bundle_of_both();
  double more[own + 2];
  const syncyte_buffer_t third = buffer_of(more, own + 2);
  const int32_t wrong[] = {1, 2};
  EXPECT_ERROR(syncyte_bundle_create(world, NULL), SYNCYTE_ERR_ARGUMENT, "bundle is null");
  EXPECT_ERROR(syncyte_bundle_add(bundle, NULL, cells, SYNCYTE_FLOAT64, 1, &third), SYNCYTE_ERR_ARGUMENT,
               "name is null");
  EXPECT_ERROR(syncyte_bundle_add(bundle, "more", NULL, SYNCYTE_FLOAT64, 1, &third), SYNCYTE_ERR_HANDLE, "layout");
  EXPECT_ERROR(syncyte_bundle_add(bundle, "more", cells, SYNCYTE_FLOAT64, 1, NULL), SYNCYTE_ERR_ARGUMENT,
               "arrays is null");
  EXPECT_ERROR(syncyte_bundle_add(bundle, "more", cells, 99, 1, &third), SYNCYTE_ERR_TYPE, "dtype is 99");
  EXPECT_ERROR(syncyte_bundle_add(bundle, "more", nodes, SYNCYTE_FLOAT64, 1, &third), SYNCYTE_ERR_SHAPE,
               "expected [4], with the points that neighbours store too");
  EXPECT_ERROR(syncyte_bundle_set_arrays(bundle, "density", 0, NULL), SYNCYTE_ERR_ARGUMENT, "arrays is 0");
  EXPECT_ERROR(syncyte_bundle_exchange(bundle, 2, 0, NULL), SYNCYTE_ERR_ARGUMENT, "depth is 2; expected 0 to 1");
  EXPECT_ERROR(syncyte_bundle_exchange(bundle, -1, 0, NULL), SYNCYTE_ERR_ARGUMENT, "depth is -1");
  EXPECT_ERROR(syncyte_bundle_sum(bundle, 2, wrong), SYNCYTE_ERR_ARGUMENT, "only[1] is 2; expected 0 or 1");
  EXPECT_ERROR(syncyte_bundle_sum(bundle, 1, wrong), SYNCYTE_ERR_SHAPE, "one for each field");
  EXPECT_ERROR(syncyte_bundle_iexchange(bundle, 0, 0, NULL, NULL), SYNCYTE_ERR_ARGUMENT, "request is null");
  EXPECT_OK(syncyte_bundle_exchange(bundle, 0, 0, NULL));
  expect_density(1);
  EXPECT_OK(syncyte_bundle_destroy(&bundle));
  EXPECT_ERROR(syncyte_bundle_exchange(bundle, 0, 0, NULL), SYNCYTE_ERR_HANDLE, "bundle");
}

int main(void) {
  world = start(&rank, &size);
  const int64_t extent = own * (int64_t)size;
  const int32_t axis = 0;
  syncyte_layout_options_t options = SYNCYTE_LAYOUT_OPTIONS_INIT, borders = SYNCYTE_LAYOUT_OPTIONS_INIT;
  options.ghosts_low[0] = options.ghosts_high[0] = ghosts;
  borders.shared[0] = 1;
  EXPECT_OK(syncyte_layout_create_mesh(world, 1, &extent, 1, &size, 0, NULL, 1, &axis, &options, &cells));
  EXPECT_OK(syncyte_layout_like(cells, &borders, &nodes));
  test_operations();
  test_other_arrays();
  test_started_forms();
  test_wrong_use();
  EXPECT_OK(syncyte_layout_destroy(&cells));
  EXPECT_OK(syncyte_layout_destroy(&nodes));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
