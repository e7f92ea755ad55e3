/* SPDX-License-Identifier: BSD-3-Clause */
/* Constant memory: every function that would write to a buffer refuses it on all ranks, in both forms, and writes
 * nothing; every function that only reads takes it. tests/layering/read_only.py compares the list with the headers. */
#include "vector.h"

enum { most = 64 };

static syncyte_comm_t world;
static int32_t rank, size;
static double numbers[most], others[most];
static int64_t counts[most];

static syncyte_buffer_t constant(syncyte_buffer_t buffer) {
  buffer.read_only = 1;
  return buffer;
}

#define EXPECT_REFUSED(call) EXPECT_ERROR(call, SYNCYTE_ERR_ARGUMENT, "read_only is 1; expected 0")

/* A started form may tell the error at its start, or at its end. */
#define EXPECT_REFUSED_START(start)                                                      \
  do {                                                                                   \
    syncyte_request_t request = NULL;                                                    \
    const syncyte_status_t status = (start);                                             \
    EXPECT_REFUSED(status != SYNCYTE_SUCCESS ? status : syncyte_request_wait(&request)); \
  } while (0)

static void test_collectives(void) {
  const syncyte_buffer_t in = constant(vector_of(numbers, SYNCYTE_FLOAT64, size));
  const syncyte_buffer_t one = constant(vector_of(numbers, SYNCYTE_FLOAT64, 1));
  const syncyte_buffer_t out = vector_of(others, SYNCYTE_FLOAT64, size), bad = constant(out);
  const syncyte_buffer_t first = vector_of(others, SYNCYTE_FLOAT64, 1), bad_first = constant(first);
  EXPECT_OK(syncyte_comm_allreduce(world, &in, SYNCYTE_OP_SUM, NULL, &out));
  EXPECT_OK(syncyte_comm_allgather(world, &one, NULL, &out));
  EXPECT_OK(syncyte_comm_alltoallv(world, &in, size, counts, size, counts, NULL, &out));
  EXPECT_OK(syncyte_comm_bcast(world, 0, NULL, rank == 0 ? &in : &out)); /* the root's is only read */
  EXPECT_REFUSED(syncyte_comm_allreduce(world, &in, SYNCYTE_OP_SUM, NULL, &bad));
  EXPECT_REFUSED(syncyte_comm_allreduce(world, NULL, SYNCYTE_OP_SUM, NULL, &bad)); /* in place */
  EXPECT_REFUSED(syncyte_comm_reduce(world, &in, SYNCYTE_OP_SUM, 0, NULL, &bad));
  EXPECT_REFUSED(syncyte_comm_scan(world, &in, SYNCYTE_OP_SUM, 0, NULL, &bad));
  EXPECT_REFUSED(syncyte_comm_exscan(world, &in, SYNCYTE_OP_SUM, 0, NULL, &bad));
  EXPECT_REFUSED(syncyte_comm_allgather(world, &one, NULL, &bad));
  EXPECT_REFUSED(syncyte_comm_allgatherv(world, &one, size, counts, NULL, &bad));
  EXPECT_REFUSED(syncyte_comm_alltoallv(world, &in, size, counts, size, counts, NULL, &bad));
  int64_t rows = 0;
  EXPECT_OK(syncyte_comm_relocate_rows(world, 1, &rank, 1, &in, NULL, &out, &rows));
  EXPECT_REFUSED(syncyte_comm_relocate_rows(world, 1, &rank, 1, &in, NULL, &bad, &rows));
  EXPECT_REFUSED(syncyte_comm_gather_along(world, &one, 0, 0, size, counts, NULL, &bad));
  EXPECT_REFUSED(syncyte_comm_allgather_along(world, &one, 0, size, counts, NULL, &bad));
  EXPECT_REFUSED(syncyte_comm_scatter_along(world, &in, 0, 0, size, counts, NULL, &bad_first));
  EXPECT_REFUSED(syncyte_comm_reduce_scatter_along(world, &in, 0, SYNCYTE_OP_SUM, size, counts, NULL, &bad_first));
  EXPECT_REFUSED(syncyte_comm_alltoall_along(world, &one, 0, 0, size, counts, size, counts, NULL, &bad_first));
  EXPECT_REFUSED_START(syncyte_comm_iallreduce(world, &in, SYNCYTE_OP_SUM, NULL, &bad, &request));
  EXPECT_REFUSED_START(syncyte_comm_iallgather_along(world, &one, 0, size, counts, NULL, &bad, &request));
  EXPECT_REFUSED_START(
      syncyte_comm_ireduce_scatter_along(world, &in, 0, SYNCYTE_OP_SUM, size, counts, NULL, &bad_first, &request));
  EXPECT_REFUSED_START(
      syncyte_comm_ialltoall_along(world, &one, 0, 0, size, counts, size, counts, NULL, &bad_first, &request));
  if (size == 1) return; /* a broadcast of one rank writes nothing */
  EXPECT_ERROR(syncyte_comm_bcast(world, 0, NULL, &bad), SYNCYTE_ERR_ARGUMENT, "read_only is 1");
  syncyte_request_t request = NULL;
  const syncyte_status_t started = syncyte_comm_ibcast(world, 0, NULL, &bad, &request);
  EXPECT_ERROR(started != SYNCYTE_SUCCESS ? started : syncyte_request_wait(&request), SYNCYTE_ERR_ARGUMENT,
               "read_only is 1");
}

static void test_messages(void) {
  const syncyte_buffer_t in = constant(vector_of(numbers, SYNCYTE_FLOAT64, 1));
  const syncyte_buffer_t out = vector_of(others, SYNCYTE_FLOAT64, 1), bad = constant(out);
  EXPECT_OK(syncyte_comm_sendrecv(world, &in, rank, 0, rank, 0, NULL, &out, NULL));
  EXPECT_REFUSED(syncyte_comm_recv(world, SYNCYTE_PROC_NULL, 0, NULL, &bad, NULL));
  EXPECT_REFUSED_START(syncyte_comm_irecv(world, SYNCYTE_PROC_NULL, 0, NULL, &bad, NULL, &request));
  EXPECT_REFUSED(syncyte_comm_sendrecv(world, &in, SYNCYTE_PROC_NULL, 0, SYNCYTE_PROC_NULL, 0, NULL, &bad, NULL));
}

static void test_layouts(void) {
  const int64_t cells = size;
  const int32_t axis = 0;
  syncyte_layout_t layout = NULL;
  const syncyte_buffer_t in = constant(vector_of(numbers, SYNCYTE_FLOAT64, 1));
  const syncyte_buffer_t out = vector_of(others, SYNCYTE_FLOAT64, 1), bad = constant(out);
  EXPECT_OK(syncyte_layout_create_mesh(world, 1, &cells, 1, &size, 0, NULL, 1, &axis, NULL, &layout));
  EXPECT_OK(syncyte_layout_relocate(layout, SYNCYTE_FLOAT64, 1, &in, layout, 1, NULL, &out));
  EXPECT_REFUSED(syncyte_layout_relocate(layout, SYNCYTE_FLOAT64, 1, &in, layout, 1, NULL, &bad));
  EXPECT_OK(syncyte_layout_relocate_adjoint(layout, SYNCYTE_FLOAT64, 1, layout, 1, &in, NULL, &out));
  EXPECT_REFUSED(syncyte_layout_relocate_adjoint(layout, SYNCYTE_FLOAT64, 1, layout, 1, &in, NULL, &bad));
  syncyte_bundle_t bundle = NULL;
  EXPECT_OK(syncyte_bundle_create(world, &bundle));
  EXPECT_REFUSED(syncyte_bundle_add(bundle, "field", layout, SYNCYTE_FLOAT64, 1, &bad));
  EXPECT_OK(syncyte_bundle_add(bundle, "field", layout, SYNCYTE_FLOAT64, 1, &out));
  EXPECT_REFUSED(syncyte_bundle_set_arrays(bundle, "field", 1, &bad));
  EXPECT_REFUSED(syncyte_bundle_transfer(bundle, 0, 0, 0, NULL, NULL, 1, &bad));
  EXPECT_OK(syncyte_bundle_destroy(&bundle));
  EXPECT_OK(syncyte_layout_destroy(&layout));
}

static void test_halos(void) {
  const int64_t shape = 4, width = 1;
  const int32_t chosen = 0, periodic = 1;
  syncyte_comm_t ring = NULL;
  syncyte_halo_t halo = NULL;
  const syncyte_buffer_t bad = constant(vector_of(numbers, SYNCYTE_FLOAT64, 6));
  EXPECT_OK(syncyte_cart_create(world, 1, &chosen, 1, &periodic, NULL, &ring));
  const syncyte_buffer_t in = constant(vector_of(numbers, SYNCYTE_FLOAT64, 2)),
                         out = constant(vector_of(others, SYNCYTE_FLOAT64, 2));
  EXPECT_REFUSED(syncyte_comm_neighbor_alltoall(ring, &in, NULL, &out));
  /* A halo whose exchange has failed half-way is broken: each operation gets a new one. */
  for (int number = 0; number < 5; ++number) {
    EXPECT_OK(syncyte_halo_create(ring, SYNCYTE_FLOAT64, 1, &shape, 1, &width, 1, &width, 0, NULL, NULL, &halo));
    if (number == 0) EXPECT_REFUSED(syncyte_halo_exchange(halo, &bad));
    if (number == 1) EXPECT_REFUSED(syncyte_halo_accumulate(halo, &bad));
    if (number == 2) EXPECT_REFUSED_START(syncyte_halo_iexchange(halo, &bad, &request));
    if (number == 3) EXPECT_REFUSED_START(syncyte_halo_iaccumulate(halo, &bad, &request));
    if (number == 4) EXPECT_REFUSED(syncyte_halo_transfer(halo, 0, NULL, &bad));
    EXPECT_OK(syncyte_halo_destroy(&halo));
  }
  EXPECT_OK(syncyte_comm_destroy(&ring));
}

/* Published from constant memory, and not taken into it. */
static void refuse_versions(const syncyte_buffer_t* constant_values, const syncyte_buffer_t* bad) {
  const int64_t corner[2] = {0, 0};
  const int32_t one = 1, axis = -1;
  syncyte_layout_t layout = NULL;
  syncyte_tensor_t field = NULL;
  int64_t step = 0;
  EXPECT_OK(syncyte_layout_create_mesh(world, 2, constant_values->shape, 1, &one, 0, NULL, 1, &axis, NULL, &layout));
  EXPECT_OK(syncyte_tensor_create_by_layout(world, constant_values->dtype, layout, 2, NULL, &field));
  EXPECT_OK(syncyte_tensor_publish(field, rank == 0, constant_values, 1));
  EXPECT_REFUSED(syncyte_tensor_take(field, 2, corner, 1, 30.0, bad, &step));
  EXPECT_OK(syncyte_tensor_destroy(&field));
  EXPECT_OK(syncyte_layout_destroy(&layout));
}

static void test_tensors(void) {
  const int64_t shape[] = {8, 2}, corner[] = {0, 0}, box[] = {1, 2};
  int64_t rows[] = {7};
  syncyte_tensor_t tensor = NULL, wrapped = NULL;
  syncyte_buffer_t block, filled;
  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_FLOAT64, 2, shape, NULL, &tensor));
  EXPECT_OK(syncyte_buffer_init(numbers, SYNCYTE_FLOAT64, 2, box, &block));
  EXPECT_OK(syncyte_buffer_init(others, SYNCYTE_FLOAT64, 2, box, &filled));
  const syncyte_buffer_t index = constant(vector_of(rows, SYNCYTE_INT64, 1)), in = constant(block),
                         bad = constant(filled);
  EXPECT_OK(syncyte_tensor_gather(tensor, &index, &filled));
  EXPECT_OK(syncyte_tensor_scatter_add(tensor, &index, &in));
  EXPECT_OK(syncyte_tensor_put_box(tensor, 2, corner, &in));
  EXPECT_REFUSED(syncyte_tensor_gather(tensor, &index, &bad));
  EXPECT_REFUSED_START(syncyte_tensor_igather(tensor, &index, &bad, &request));
  EXPECT_REFUSED(syncyte_tensor_get_box(tensor, 2, corner, &bad));
  EXPECT_REFUSED_START(syncyte_tensor_iget_box(tensor, 2, corner, &bad, &request));
  EXPECT_REFUSED(syncyte_tensor_wrap(world, &bad, NULL, &wrapped));
  refuse_versions(&in, &bad);
  rows[0] = 0;
  EXPECT_OK(syncyte_rows_gather(&in, &index, &filled));
  EXPECT_REFUSED(syncyte_rows_gather(&in, &index, &bad));
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
}

static void test_windows(void) {
  syncyte_window_t window = NULL;
  const syncyte_buffer_t in = constant(vector_of(numbers, SYNCYTE_FLOAT64, 2));
  const syncyte_buffer_t bad = constant(vector_of(others, SYNCYTE_FLOAT64, 2));
  EXPECT_OK(syncyte_window_create(world, 64, NULL, &window));
  EXPECT_OK(syncyte_window_put(window, rank, 0, &in));
  EXPECT_OK(syncyte_window_accumulate(window, rank, 0, &in, SYNCYTE_OP_SUM));
  EXPECT_REFUSED(syncyte_window_get(window, rank, 0, &bad));
  EXPECT_REFUSED_START(syncyte_window_iget(window, rank, 0, &bad, &request));
  EXPECT_OK(syncyte_window_destroy(&window));
}

static void test_stores(void) {
  const int64_t length = 2;
  int64_t key = 3, sample = 0;
  int32_t is_local = 0;
  float values[2] = {1, 2}, pulled[2];
  syncyte_store_sampling_t sampling = SYNCYTE_STORE_SAMPLING_INIT;
  sampling.max_key = 10;
  syncyte_store_t kv = NULL;
  syncyte_store_worker_t worker = NULL;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, 10, 1, &length, NULL, &kv));
  EXPECT_OK(syncyte_store_set_sampling(kv, &sampling));
  EXPECT_OK(syncyte_store_worker_create(kv, 0, &worker));
  EXPECT_OK(syncyte_store_worker_prepare_sample(worker, 1, 0, 0, &sample));
  const syncyte_buffer_t keys = vector_of(&key, SYNCYTE_INT64, 1), named = constant(keys);
  const syncyte_buffer_t in = constant(vector_of(values, SYNCYTE_FLOAT32, 2));
  const syncyte_buffer_t out = vector_of(pulled, SYNCYTE_FLOAT32, 2), bad = constant(out);
  EXPECT_OK(syncyte_store_worker_push(worker, &named, &in));
  EXPECT_OK(syncyte_store_worker_set(worker, &named, &in));
  EXPECT_OK(syncyte_store_worker_pull(worker, &named, &out));
  EXPECT_REFUSED(syncyte_store_worker_pull(worker, &named, &bad));
  EXPECT_REFUSED_START(syncyte_store_worker_ipull(worker, &named, &bad, &request));
  EXPECT_REFUSED(syncyte_store_worker_pull_if_local(worker, &named, &bad, &is_local));
  int64_t found = 0, place = 0, count = 0;
  const syncyte_buffer_t distinct = vector_of(&found, SYNCYTE_INT64, 1), bad_distinct = constant(distinct);
  const syncyte_buffer_t inverse = vector_of(&place, SYNCYTE_INT64, 1), bad_inverse = constant(inverse);
  EXPECT_OK(syncyte_store_worker_prefetch(worker, &named));
  EXPECT_OK(syncyte_store_worker_push_unique(worker, &named, &in));
  EXPECT_OK(syncyte_store_worker_pull_unique(worker, &named, &distinct, &inverse, &out, &count));
  EXPECT_REFUSED(syncyte_store_worker_pull_unique(worker, &named, &distinct, &inverse, &bad, &count));
  EXPECT_REFUSED(syncyte_store_worker_pull_unique(worker, &named, &bad_distinct, &inverse, &out, &count));
  EXPECT_REFUSED(syncyte_store_worker_pull_unique(worker, &named, &distinct, &bad_inverse, &out, &count));
  EXPECT_REFUSED_START(syncyte_store_worker_ipull_unique(worker, &named, &distinct, &inverse, &bad, &count, &request));
  EXPECT_REFUSED(syncyte_store_worker_pull_sample(worker, sample, &named, &out));
  EXPECT_REFUSED(syncyte_store_worker_pull_sample(worker, sample, &keys, &bad));
  EXPECT_REFUSED_START(syncyte_store_worker_ipull_sample(worker, sample, &named, &out, &request));
  EXPECT_REFUSED_START(syncyte_store_worker_ipull_sample(worker, sample, &keys, &bad, &request));
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&kv));
}

static void test_memory(void) {
  const syncyte_buffer_t in = constant(vector_of(numbers, SYNCYTE_FLOAT64, 2));
  const syncyte_buffer_t out = vector_of(others, SYNCYTE_FLOAT64, 2), bad = constant(out);
  EXPECT_OK(syncyte_memory_copy(&out, &in, NULL));
  EXPECT_REFUSED(syncyte_memory_copy(&bad, &in, NULL));
  static const double fixed[2] = {3, 4};
  const int64_t two = 2;
  syncyte_buffer_t source;
  EXPECT_OK(syncyte_buffer_init_const(fixed, SYNCYTE_FLOAT64, 1, &two, &source));
  EXPECT_OK(syncyte_memory_copy(&out, &source, NULL));
  EXPECT(others[0] == 3);
  EXPECT(others[1] == 4);
  EXPECT_REFUSED(syncyte_memory_copy(&source, &in, NULL));
  EXPECT_ERROR(syncyte_buffer_init_const(fixed, SYNCYTE_FLOAT64, -1, &two, &source), SYNCYTE_ERR_SHAPE, "ndim is -1");
  syncyte_buffer_t wrong = in;
  wrong.read_only = 2;
  EXPECT_ERROR(syncyte_memory_copy(&out, &wrong, NULL), SYNCYTE_ERR_ARGUMENT, "read_only is 2; expected 0 or 1");
  wrong = in;
  wrong.reserved = 1;
  EXPECT_ERROR(syncyte_memory_copy(&out, &wrong, NULL), SYNCYTE_ERR_ARGUMENT, "reserved is 1; expected 0");
}

int main(void) {
  world = start(&rank, &size);
  for (int i = 0; i < size; ++i) counts[i] = 1;
  for (int i = 0; i < most; ++i) numbers[i] = i;
  test_collectives();
  test_messages();
  test_layouts();
  test_halos();
  test_tensors();
  test_windows();
  test_stores();
  test_memory();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
