/* SPDX-License-Identifier: BSD-3-Clause */
/* A reducer of syncyte/reducer.h: results, and wrong use. */
#include "expect.h"

static int32_t rank, size;
static syncyte_comm_t world;

static const syncyte_dtype_t dtypes[] = {SYNCYTE_FLOAT64, SYNCYTE_COMPLEX64};
static const int64_t elements[] = {3, 2};

static syncyte_reducer_t make_reducer(double scale) {
  syncyte_reducer_options_t options = SYNCYTE_REDUCER_OPTIONS_INIT;
  syncyte_reducer_t made = NULL;
  options.scale = scale;
  EXPECT_OK(syncyte_reducer_create(world, 2, dtypes, elements, &options, &made));
  return made;
}

/* The memory of a bucket, as floating-point numbers. */
static void* memory_of(syncyte_reducer_t reducer, int32_t bucket) {
  syncyte_buffer_t buffer = SYNCYTE_BUFFER_INIT;
  EXPECT_OK(syncyte_reducer_bucket(reducer, bucket, &buffer));
  EXPECT(buffer.struct_size == sizeof buffer);
  EXPECT(buffer.dtype == dtypes[bucket]);
  EXPECT(buffer.ndim == 1);
  EXPECT(buffer.shape[0] == elements[bucket]);
  return buffer.data;
}

static void test_rounds(void) {
  syncyte_reducer_t reducer = make_reducer(0.5);
  double* const doubles = memory_of(reducer, 0);
  float* const complexes = memory_of(reducer, 1);
  EXPECT(doubles[2] == 0);
  EXPECT(complexes[3] == 0);
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 3; ++i) doubles[i] = (rank + 1) * round * (i + 1);
    for (int i = 0; i < 4; ++i) complexes[i] = (float)(rank * i);
    EXPECT_OK(syncyte_reducer_start(reducer, round % 2));
    EXPECT_OK(syncyte_reducer_progress(reducer));
    EXPECT_OK(syncyte_reducer_start(reducer, 1 - round % 2));
    EXPECT_OK(syncyte_reducer_wait(reducer));
    for (int i = 0; i < 3; ++i) EXPECT(doubles[i] == 0.5 * size * (size + 1) / 2 * round * (i + 1));
    for (int i = 0; i < 4; ++i) EXPECT(complexes[i] == 0.5F * (float)(size * (size - 1) / 2 * i));
  }
  EXPECT_OK(syncyte_reducer_retain(reducer));
  EXPECT_OK(syncyte_reducer_release(reducer));
  EXPECT_OK(syncyte_reducer_destroy(&reducer));
  EXPECT(reducer == NULL);
}

static void test_giving_up(void) {
  syncyte_reducer_t reducer = make_reducer(1);
  EXPECT_OK(syncyte_reducer_start(reducer, 0));
  EXPECT_OK(rank == size - 1 ? syncyte_reducer_give_up(reducer) : syncyte_reducer_start(reducer, 1));
  EXPECT_ERROR(syncyte_reducer_wait(reducer), SYNCYTE_ERR_MISMATCH, "has given up round 1");
  EXPECT_OK(syncyte_reducer_destroy(&reducer));
}

static void test_wrong_use(void) {
  syncyte_reducer_t reducer = make_reducer(1), none = NULL;
  syncyte_buffer_t buffer = SYNCYTE_BUFFER_INIT;
  EXPECT_ERROR(syncyte_reducer_bucket(reducer, 2, &buffer), SYNCYTE_ERR_ARGUMENT, "bucket is 2; expected 0 to 1");
  EXPECT_ERROR(syncyte_reducer_bucket(reducer, 0, NULL), SYNCYTE_ERR_ARGUMENT, "buffer is null");
  EXPECT_ERROR(syncyte_reducer_start(reducer, -1), SYNCYTE_ERR_ARGUMENT, "bucket is -1");
  EXPECT_OK(syncyte_reducer_start(reducer, 1));
  EXPECT_ERROR(syncyte_reducer_start(reducer, 1), SYNCYTE_ERR_BUSY, "has been started in this round already");
  EXPECT_ERROR(syncyte_reducer_wait(reducer), SYNCYTE_ERR_ARGUMENT, "bucket 0 has not been started");
  EXPECT_OK(syncyte_reducer_start(reducer, 0));
  EXPECT_OK(syncyte_reducer_wait(reducer));
  EXPECT_OK(syncyte_reducer_destroy(&reducer));
  EXPECT_ERROR(syncyte_reducer_progress(reducer), SYNCYTE_ERR_HANDLE, "null handle");
  EXPECT_ERROR(syncyte_reducer_give_up(NULL), SYNCYTE_ERR_HANDLE, "null handle");
  EXPECT_ERROR(syncyte_reducer_create(world, 0, dtypes, elements, NULL, &none), SYNCYTE_ERR_ARGUMENT, "buckets is 0");
  EXPECT_ERROR(syncyte_reducer_create(world, 2, NULL, elements, NULL, &none), SYNCYTE_ERR_ARGUMENT, "dtypes is null");
  EXPECT_ERROR(syncyte_reducer_create(world, 2, dtypes, NULL, NULL, &none), SYNCYTE_ERR_ARGUMENT, "elements is null");
  EXPECT_ERROR(syncyte_reducer_create(world, 2, dtypes, elements, NULL, NULL), SYNCYTE_ERR_ARGUMENT, "reducer is null");
  EXPECT(none == NULL);
}

/* A wrong argument on one rank is an error on all. */
static void test_errors_of_one_rank(void) {
  const int is_odd_one = rank == size - 1;
  const syncyte_dtype_t integer = is_odd_one ? SYNCYTE_INT64 : SYNCYTE_FLOAT64;
  const int64_t count = is_odd_one ? -1 : 1, huge = is_odd_one ? INT64_C(1) << 50 : 1;
  syncyte_reducer_options_t options = SYNCYTE_REDUCER_OPTIONS_INIT;
  syncyte_reducer_t none = NULL;
  EXPECT_ERROR(syncyte_reducer_create(world, 1, &integer, elements, NULL, &none), SYNCYTE_ERR_TYPE,
               "dtypes[0] is int64");
  EXPECT_ERROR(syncyte_reducer_create(world, 1, dtypes, &count, NULL, &none), SYNCYTE_ERR_ARGUMENT,
               "elements[0] is -1");
  if (size > 1)
    EXPECT_ERROR(syncyte_reducer_create(world, 1, dtypes, &huge, NULL, &none), SYNCYTE_ERR_MISMATCH, "elements");
  EXPECT_ERROR(syncyte_reducer_create(world, 1, dtypes, (int64_t[]){INT64_C(1) << 50}, NULL, &none), SYNCYTE_ERR_MEMORY,
               "a reducer needs");
  options.scale = is_odd_one ? 1.0 / 0.0 : 1.0;
  EXPECT_ERROR(syncyte_reducer_create(world, 1, dtypes, elements, &options, &none), SYNCYTE_ERR_ARGUMENT,
               "options->scale is inf");
  options = (syncyte_reducer_options_t){is_odd_one ? 3 : sizeof options, 1};
  EXPECT_ERROR(syncyte_reducer_create(world, 1, dtypes, elements, &options, &none), SYNCYTE_ERR_ARGUMENT,
               "struct_size is 3");
  EXPECT(none == NULL);
}

int main(void) {
  world = start(&rank, &size);
  test_rounds();
  test_giving_up();
  test_wrong_use();
  test_errors_of_one_rank();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
