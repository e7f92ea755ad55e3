/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameter store: samples, and every wrong input, on all ranks where the call is collective. */
#include <pthread.h>
#include <stdlib.h>

#include "expect.h"
#include "vector.h"

enum { keys = 100 };
static int32_t rank, size;
static syncyte_comm_t world;
static syncyte_store_t kv;
static syncyte_store_worker_t worker;

static void wrong_stores(void) {
  const int64_t two = 2, zero = 0, huge = INT64_MAX / 8;
  int64_t lengths[keys];
  syncyte_store_t none = NULL;
  syncyte_store_options_t options = SYNCYTE_STORE_OPTIONS_INIT;
  for (int i = 0; i < keys; ++i) lengths[i] = 1;
#define EXPECT_REFUSED(dtype, num_keys, lengths_length, lengths, status, text) \
  EXPECT_ERROR(syncyte_store_create(world, dtype, num_keys, lengths_length, lengths, &options, &none), status, text)
  EXPECT_REFUSED(SYNCYTE_FLOAT64, keys, 1, &two, SYNCYTE_ERR_UNSUPPORTED, "dtype is float64; expected float32");
  EXPECT_REFUSED(77, keys, 1, &two, SYNCYTE_ERR_TYPE, "77");
  EXPECT_REFUSED(SYNCYTE_FLOAT32, 0, 1, &two, SYNCYTE_ERR_SHAPE, "num_keys is 0; expected 1 or more");
  EXPECT_REFUSED(SYNCYTE_FLOAT32, keys, 7, lengths, SYNCYTE_ERR_SHAPE, "lengths_length is 7; expected 1, or 100");
  EXPECT_REFUSED(SYNCYTE_FLOAT32, keys, 1, NULL, SYNCYTE_ERR_ARGUMENT, "lengths is null");
  EXPECT_REFUSED(SYNCYTE_FLOAT32, keys, 1, &zero, SYNCYTE_ERR_SHAPE, "lengths[0] is 0; expected 1 or more");
  EXPECT_REFUSED(SYNCYTE_FLOAT32, keys, 1, &huge, SYNCYTE_ERR_SHAPE, "lengths[0]");
  EXPECT_REFUSED(SYNCYTE_FLOAT32, (int64_t)1 << 42, 1, &two, SYNCYTE_ERR_MEMORY, "");
  lengths[9] = -3;
  EXPECT_REFUSED(SYNCYTE_FLOAT32, keys, keys, lengths, SYNCYTE_ERR_SHAPE, "lengths[9] is -3");
  options.workers = rank == size - 1 ? 0 : 1; /* a mistake on one rank is an error on all */
  EXPECT_REFUSED(SYNCYTE_FLOAT32, keys, 1, &two, SYNCYTE_ERR_ARGUMENT, "options->workers is 0; expected 1 or more");
  options.workers = rank == 0 ? INT32_MAX : 1;
  EXPECT_REFUSED(SYNCYTE_FLOAT32, keys, 1, &two, SYNCYTE_ERR_ARGUMENT,
                 "options->workers is 2147483647; expected at most");
  options.workers = 1;
  options.intents = 0;
  EXPECT_REFUSED(SYNCYTE_FLOAT32, keys, 1, &two, SYNCYTE_ERR_ARGUMENT,
                 "options->intents is 0; expected SYNCYTE_STORE_INTENTS_MOVE_OR_COPY (1), MOVE (2) or COPY (3)");
  options.intents = SYNCYTE_STORE_INTENTS_MOVE_OR_COPY;
  EXPECT_REFUSED(SYNCYTE_FLOAT32, INT64_MAX, 1, &two, SYNCYTE_ERR_SHAPE, "num_keys is 9223372036854775807; expected");
  EXPECT_ERROR(syncyte_store_create(world, SYNCYTE_FLOAT32, keys, 1, &two, NULL, NULL), SYNCYTE_ERR_ARGUMENT,
               "store is null");
  if (size > 1) {
    lengths[9] = rank == 1 ? 2 : 1;
    EXPECT_REFUSED(SYNCYTE_FLOAT32, keys, keys, lengths, SYNCYTE_ERR_MISMATCH, "lengths");
    EXPECT_REFUSED(SYNCYTE_FLOAT32, keys + rank, 1, &two, SYNCYTE_ERR_MISMATCH, "num_keys");
  }
  EXPECT(none == NULL);
}

static float first_value(void) {
  int64_t key = 0;
  float values[2];
  const syncyte_buffer_t wanted = vector_of(&key, SYNCYTE_INT64, 1), room = vector_of(values, SYNCYTE_FLOAT32, 2);
  EXPECT_OK(syncyte_store_worker_pull(worker, &wanted, &room));
  return values[0];
}

/* Expects that every operation refuses the buffers and writes nothing. */
static void expect_refused(const syncyte_buffer_t* wanted, const syncyte_buffer_t* values, syncyte_status_t status,
                           const char* text) {
  int32_t is_local = 7;
  syncyte_request_t request = NULL;
  EXPECT_ERROR(syncyte_store_worker_pull(worker, wanted, values), status, text);
  EXPECT_ERROR(syncyte_store_worker_push(worker, wanted, values), status, text);
  EXPECT_ERROR(syncyte_store_worker_set(worker, wanted, values), status, text);
  EXPECT_ERROR(syncyte_store_worker_ipull(worker, wanted, values, &request), status, text);
  EXPECT_ERROR(syncyte_store_worker_ipush(worker, wanted, values, &request), status, text);
  EXPECT_ERROR(syncyte_store_worker_iset(worker, wanted, values, &request), status, text);
  EXPECT_ERROR(syncyte_store_worker_push_unique(worker, wanted, values), status, text);
  EXPECT_ERROR(syncyte_store_worker_ipush_unique(worker, wanted, values, &request), status, text);
  int64_t room[6] = {-7, -7, -7, -7, -7, -7}, count = -7;
  const syncyte_buffer_t distinct = vector_of(room, SYNCYTE_INT64, 3), inverse = vector_of(room + 3, SYNCYTE_INT64, 3);
  EXPECT_ERROR(syncyte_store_worker_pull_unique(worker, wanted, &distinct, &inverse, values, &count), status, text);
  EXPECT_ERROR(syncyte_store_worker_ipull_unique(worker, wanted, &distinct, &inverse, values, &count, &request), status,
               text);
  for (int i = 0; i < 6; ++i) EXPECT(room[i] == -7);
  EXPECT(count == -7);
  EXPECT_ERROR(syncyte_store_worker_pull_if_local(worker, wanted, values, &is_local), status, text);
  EXPECT(is_local == 7);
  EXPECT(request == NULL);
  EXPECT(first_value() == 0);
}

static void wrong_buffers(void) {
  int64_t list[3] = {0, 1, 2};
  int32_t narrow[3] = {0, 1, 2};
  float values[6] = {5, 5, 5, 5, 5, 5}, floats[3] = {0, 1, 2};
  double wide[6] = {5, 5, 5, 5, 5, 5};
  const syncyte_buffer_t good = vector_of(list, SYNCYTE_INT64, 3), room = vector_of(values, SYNCYTE_FLOAT32, 6);
  syncyte_buffer_t bad = vector_of(wide, SYNCYTE_FLOAT64, 6);
  expect_refused(&good, &bad, SYNCYTE_ERR_TYPE, "values");
  bad = vector_of(floats, SYNCYTE_FLOAT32, 3);
  expect_refused(&bad, &room, SYNCYTE_ERR_TYPE, "keys");
  bad = vector_of(narrow, SYNCYTE_INT32, 3);
  expect_refused(&bad, &room, SYNCYTE_ERR_TYPE, "keys");
  bad = vector_of(values, SYNCYTE_FLOAT32, 5);
  expect_refused(&good, &bad, SYNCYTE_ERR_SHAPE, "values is of 5 elements; expected 6");
  bad = vector_of(values, SYNCYTE_FLOAT32, 3);
  bad.strides[0] = 8;
  expect_refused(&good, &bad, SYNCYTE_ERR_SHAPE, "values");
  bad = vector_of(list, SYNCYTE_INT64, 2);
  bad.strides[0] = 16;
  expect_refused(&bad, &room, SYNCYTE_ERR_SHAPE, "keys");
  bad = room;
  bad.memory = SYNCYTE_MEMORY_CUDA;
  expect_refused(&good, &bad, SYNCYTE_ERR_UNSUPPORTED, "values");
  expect_refused(NULL, &room, SYNCYTE_ERR_ARGUMENT, "keys");
  list[2] = -1;
  expect_refused(&good, &room, SYNCYTE_ERR_INDEX, "keys[2] is -1; expected 0 to 99");
  list[1] = keys;
  expect_refused(&good, &room, SYNCYTE_ERR_INDEX, "keys[1] is 100; expected 0 to 99");
  int64_t length = 0;
  int32_t owner = 0;
  EXPECT_ERROR(syncyte_store_lengths(kv, 1, &list[1], &length), SYNCYTE_ERR_INDEX, "keys[0] is 100; expected 0 to 99");
  EXPECT_ERROR(syncyte_store_lengths(kv, 1, list, NULL), SYNCYTE_ERR_ARGUMENT, "lengths is null");
  EXPECT_ERROR(syncyte_store_owner(kv, 1, &list[1], &owner), SYNCYTE_ERR_INDEX, "keys[0] is 100");
  EXPECT_ERROR(syncyte_store_owner(kv, -1, list, &owner), SYNCYTE_ERR_ARGUMENT, "count is -1");
  EXPECT_ERROR(syncyte_store_owner(kv, 1, NULL, &owner), SYNCYTE_ERR_ARGUMENT, "keys is null");
  syncyte_store_worker_info_t info = {.struct_size = 8};
  EXPECT_ERROR(syncyte_store_worker_describe(worker, &info), SYNCYTE_ERR_ARGUMENT, "info->struct_size is 8");
  /* An empty list of keys is allowed. */
  const syncyte_buffer_t no_keys = vector_of(NULL, SYNCYTE_INT64, 0), none = vector_of(NULL, SYNCYTE_FLOAT32, 0);
  EXPECT_OK(syncyte_store_worker_push(worker, &no_keys, &none));
}

/* Wrong arrays of pull_unique besides keys and values, and of prefetch. */
static void wrong_unique_buffers(void) {
  int64_t list[3] = {5, 6, 5}, found[3], places[3], count = -7;
  float values[6];
  syncyte_request_t request = NULL;
  const syncyte_buffer_t wanted = vector_of(list, SYNCYTE_INT64, 3), room = vector_of(values, SYNCYTE_FLOAT32, 6);
  const syncyte_buffer_t distinct = vector_of(found, SYNCYTE_INT64, 3), inverse = vector_of(places, SYNCYTE_INT64, 3);
  const syncyte_buffer_t few = vector_of(found, SYNCYTE_INT64, 2), narrow = vector_of(found, SYNCYTE_INT32, 3);
  const syncyte_buffer_t overlapping = vector_of(values, SYNCYTE_INT64, 3);
#define EXPECT_UNIQUE(distinct, inverse, status, text)                                                                 \
  EXPECT_ERROR(syncyte_store_worker_pull_unique(worker, &wanted, distinct, inverse, &room, &count), status, text);     \
  EXPECT_ERROR(syncyte_store_worker_ipull_unique(worker, &wanted, distinct, inverse, &room, &count, &request), status, \
               text)
  EXPECT_UNIQUE(&few, &inverse, SYNCYTE_ERR_SHAPE, "distinct");
  EXPECT_UNIQUE(&distinct, &few, SYNCYTE_ERR_SHAPE, "inverse");
  EXPECT_UNIQUE(&narrow, &inverse, SYNCYTE_ERR_TYPE, "distinct");
  EXPECT_UNIQUE(&distinct, &room, SYNCYTE_ERR_TYPE, "inverse");
  EXPECT_UNIQUE(NULL, &inverse, SYNCYTE_ERR_ARGUMENT, "distinct");
  EXPECT_UNIQUE(&distinct, NULL, SYNCYTE_ERR_ARGUMENT, "inverse");
  EXPECT_UNIQUE(&wanted, &inverse, SYNCYTE_ERR_ARGUMENT, "keys is in the memory of distinct");
  EXPECT_UNIQUE(&distinct, &distinct, SYNCYTE_ERR_ARGUMENT, "distinct is in the memory of inverse");
  EXPECT_UNIQUE(&distinct, &overlapping, SYNCYTE_ERR_ARGUMENT, "inverse is in the memory of values");
  EXPECT_ERROR(syncyte_store_worker_pull_unique(worker, &wanted, &distinct, &inverse, &room, NULL),
               SYNCYTE_ERR_ARGUMENT, "count is null");
  EXPECT_ERROR(syncyte_store_worker_ipull_unique(worker, &wanted, &distinct, &inverse, &room, &count, NULL),
               SYNCYTE_ERR_ARGUMENT, "request is null");
  EXPECT(count == -7 && request == NULL);
  EXPECT_OK(syncyte_store_worker_pull_unique(worker, &wanted, &distinct, &inverse, &room, &count));
  EXPECT(count == 2 && found[0] == 5 && found[1] == 6 && places[0] == 0 && places[1] == 1 && places[2] == 0);
  EXPECT_ERROR(syncyte_store_worker_prefetch(worker, &room), SYNCYTE_ERR_TYPE, "keys");
  EXPECT_ERROR(syncyte_store_worker_prefetch(worker, NULL), SYNCYTE_ERR_ARGUMENT, "keys");
  EXPECT_ERROR(syncyte_store_worker_prefetch(NULL, &wanted), SYNCYTE_ERR_HANDLE, "worker");
  list[1] = keys;
  EXPECT_ERROR(syncyte_store_worker_prefetch(worker, &wanted), SYNCYTE_ERR_INDEX, "keys[1] is 100; expected 0 to 99");
  /* An empty list of keys is allowed. */
  const syncyte_buffer_t no_keys = vector_of(NULL, SYNCYTE_INT64, 0), none = vector_of(NULL, SYNCYTE_FLOAT32, 0);
  EXPECT_OK(syncyte_store_worker_prefetch(worker, &no_keys));
  EXPECT_OK(syncyte_store_worker_push_unique(worker, &no_keys, &none));
  EXPECT_OK(syncyte_store_worker_pull_unique(worker, &no_keys, &no_keys, &no_keys, &none, &count));
  EXPECT(count == 0);
}

static int64_t prepare(int64_t count) {
  int64_t sample = 0, clock = 0;
  EXPECT_OK(syncyte_store_worker_clock(worker, &clock));
  EXPECT_OK(syncyte_store_worker_prepare_sample(worker, count, clock, 0, &sample));
  return sample;
}

/* Pulls `count` keys of the sample; each key's first value is its number. */
static void pull(int64_t sample, int64_t* drawn, int64_t count) {
  float values[2 * 1000];
  const syncyte_buffer_t room = vector_of(values, SYNCYTE_FLOAT32, 2 * count);
  const syncyte_buffer_t wanted = vector_of(drawn, SYNCYTE_INT64, count);
  EXPECT_OK(syncyte_store_worker_pull_sample(worker, sample, &wanted, &room));
  for (int64_t i = 0; i < count; ++i) EXPECT(values[2 * i] == (float)drawn[i]);
}

static syncyte_store_sampling_t sampling_of(syncyte_store_scheme_t scheme, int32_t with_replacement) {
  syncyte_store_sampling_t sampling = SYNCYTE_STORE_SAMPLING_INIT;
  sampling.scheme = scheme;
  sampling.with_replacement = with_replacement;
  sampling.min_key = 10;
  sampling.max_key = 60;
  return sampling;
}

/* Samples of the range [10, 60), each pulled in two parts. Without replacement no key is drawn twice. Key 20 is never
 * drawn, because it has another length. */
static void samples(void) {
  for (syncyte_store_scheme_t scheme = SYNCYTE_STORE_PREPARED; scheme <= SYNCYTE_STORE_LOCAL; ++scheme)
    for (int32_t with_replacement = scheme == SYNCYTE_STORE_SHARED; with_replacement < 2; ++with_replacement) {
      const syncyte_store_sampling_t sampling = sampling_of(scheme, with_replacement);
      EXPECT_OK(syncyte_store_set_sampling(kv, &sampling));
      int64_t drawn[49], again[49], times[keys] = {0};
      const int64_t sample = prepare(49);
      EXPECT(sample >= 1);
      pull(sample, drawn, 20);
      pull(sample, drawn + 20, 29);
      for (int i = 0; i < 49; ++i) {
        EXPECT(drawn[i] >= 10 && drawn[i] < 60);
        EXPECT(drawn[i] != 20);
        ++times[drawn[i]];
        if (!with_replacement) EXPECT(times[drawn[i]] == 1);
      }
      /* The same seed draws the same keys, but for local ones: other ranks' samples move them meanwhile. */
      EXPECT_OK(syncyte_store_set_sampling(kv, &sampling));
      pull(prepare(49), again, 49);
      if (with_replacement && scheme != SYNCYTE_STORE_LOCAL) EXPECT(memcmp(drawn, again, sizeof drawn) == 0);
    }
}

/* Frequencies of 100,000 draws against their probabilities, within six standard deviations. */
static void distributions(void) {
  for (int is_log = 0; is_log < 2; ++is_log) {
    syncyte_store_sampling_t sampling = sampling_of(SYNCYTE_STORE_PREPARED, 1);
    sampling.distribution = is_log ? SYNCYTE_STORE_LOG_UNIFORM : SYNCYTE_STORE_UNIFORM;
    sampling.min_key = 30;
    sampling.max_key = 37; /* 7 keys: log(2) / log(8) = 1/3, for the first three log(4) / log(8) = 2/3 */
    sampling.seed = rank + 1;
    EXPECT_OK(syncyte_store_set_sampling(kv, &sampling));
    const double n = 100000;
    double first = 0, three = 0;
    for (int i = 0; i < 100; ++i) {
      int64_t drawn[1000];
      pull(prepare(1000), drawn, 1000);
      for (int k = 0; k < 1000; ++k) {
        first += drawn[k] == 30;
        three += drawn[k] <= 32;
      }
    }
    const double p_first = is_log ? 1.0 / 3 : 1.0 / 7, p_three = is_log ? 2.0 / 3 : 3.0 / 7;
    const double off_first = first / n - p_first, off_three = three / n - p_three;
    EXPECT(off_first * off_first < 36 * p_first * (1 - p_first) / n);
    EXPECT(off_three * off_three < 36 * p_three * (1 - p_three) / n);
  }
}

static void finished_samples(void) {
  int64_t drawn[3];
  float values[6];
  const syncyte_buffer_t wanted = vector_of(drawn, SYNCYTE_INT64, 3), room = vector_of(values, SYNCYTE_FLOAT32, 6);
  const int64_t sample = prepare(5);
  pull(sample, drawn, 3);
  EXPECT_OK(syncyte_store_worker_finish_sample(worker, sample));
  EXPECT_OK(syncyte_store_worker_finish_sample(worker, sample));
  EXPECT_ERROR(syncyte_store_worker_pull_sample(worker, sample, &wanted, &room), SYNCYTE_ERR_ARGUMENT, "sample is");
}

/* Each key of a shared set is drawn `reuse` times before new keys are drawn. */
static void shared_sets(void) {
  syncyte_store_sampling_t sampling = sampling_of(SYNCYTE_STORE_SHARED, 1);
  sampling.shared_keys = 5;
  sampling.reuse = 3;
  EXPECT_OK(syncyte_store_set_sampling(kv, &sampling));
  int64_t drawn[15];
  int times[keys] = {0};
  pull(prepare(15), drawn, 15);
  for (int i = 0; i < 15; ++i) ++times[drawn[i]];
  for (int i = 0; i < keys; ++i) EXPECT(times[i] % 3 == 0);
  syncyte_store_worker_info_t info = {.struct_size = sizeof info};
  EXPECT_OK(syncyte_store_worker_describe(worker, &info));
  EXPECT(info.active_intents >= 15);
  EXPECT(info.prepared_samples == 0);
}

static void wrong_samples(void) {
  syncyte_store_sampling_t sampling = sampling_of(5, 1);
  EXPECT_ERROR(syncyte_store_set_sampling(kv, &sampling), SYNCYTE_ERR_ARGUMENT, "options->scheme is 5; expected");
  sampling = sampling_of(SYNCYTE_STORE_SHARED, 0);
  EXPECT_ERROR(syncyte_store_set_sampling(kv, &sampling), SYNCYTE_ERR_UNSUPPORTED,
               "a shared set only with replacement");
  sampling = sampling_of(SYNCYTE_STORE_SHARED, 1);
  sampling.shared_keys = 0;
  EXPECT_ERROR(syncyte_store_set_sampling(kv, &sampling), SYNCYTE_ERR_ARGUMENT, "options->shared_keys is 0");
  sampling.shared_keys = (1 << 28) + 1;
  EXPECT_ERROR(syncyte_store_set_sampling(kv, &sampling), SYNCYTE_ERR_ARGUMENT, "options->shared_keys is 268435457");
  sampling.shared_keys = 1;
  sampling.with_replacement = 2;
  EXPECT_ERROR(syncyte_store_set_sampling(kv, &sampling), SYNCYTE_ERR_ARGUMENT, "options->with_replacement is 2");
  sampling.with_replacement = 1;
  sampling.reuse = 0;
  EXPECT_ERROR(syncyte_store_set_sampling(kv, &sampling), SYNCYTE_ERR_ARGUMENT, "options->reuse is 0");
  sampling = sampling_of(SYNCYTE_STORE_LOCAL, 1);
  sampling.distribution = 0;
  EXPECT_ERROR(syncyte_store_set_sampling(kv, &sampling), SYNCYTE_ERR_ARGUMENT, "options->distribution is 0");
  sampling = sampling_of(SYNCYTE_STORE_LOCAL, 1);
  sampling.min_key = -1;
  EXPECT_ERROR(syncyte_store_set_sampling(kv, &sampling), SYNCYTE_ERR_ARGUMENT, "options->min_key is -1");
  sampling.min_key = 60;
  EXPECT_ERROR(syncyte_store_set_sampling(kv, &sampling), SYNCYTE_ERR_ARGUMENT,
               "options->max_key is 60; expected 61 to 100");
  sampling = sampling_of(SYNCYTE_STORE_LOCAL, 0);
  EXPECT_OK(syncyte_store_set_sampling(kv, &sampling));
  int64_t sample = 0, drawn[3];
  float values[6];
  const syncyte_buffer_t wanted = vector_of(drawn, SYNCYTE_INT64, 3), room = vector_of(values, SYNCYTE_FLOAT32, 6);
  const syncyte_buffer_t few = vector_of(values, SYNCYTE_FLOAT32, 5);
  EXPECT_ERROR(syncyte_store_worker_prepare_sample(worker, 50, 0, 0, &sample), SYNCYTE_ERR_ARGUMENT,
               "count is 50; expected at most 49");
  EXPECT_ERROR(syncyte_store_worker_prepare_sample(worker, -1, 0, 0, &sample), SYNCYTE_ERR_ARGUMENT, "count is -1");
  EXPECT_ERROR(syncyte_store_worker_prepare_sample(worker, (int64_t)1 << 41, 0, 0, &sample), SYNCYTE_ERR_ARGUMENT,
               "count");
  EXPECT_ERROR(syncyte_store_worker_prepare_sample(worker, 1, INT64_MAX, 0, &sample), SYNCYTE_ERR_ARGUMENT, "start is");
  EXPECT_ERROR(syncyte_store_worker_prepare_sample(worker, 1, 2, 1, &sample), SYNCYTE_ERR_ARGUMENT, "end is 1");
  EXPECT_ERROR(syncyte_store_worker_pull_sample(worker, 999, &wanted, &room), SYNCYTE_ERR_ARGUMENT, "sample is 999");
  sample = prepare(2);
  EXPECT_ERROR(syncyte_store_worker_pull_sample(worker, sample, &wanted, &room), SYNCYTE_ERR_ARGUMENT,
               "expected at most 2");
  sample = prepare(3);
  EXPECT_ERROR(syncyte_store_worker_pull_sample(worker, sample, &wanted, &few), SYNCYTE_ERR_SHAPE,
               "values is of 5 elements; expected 6 (3 keys of 2)");
  EXPECT_OK(syncyte_store_worker_pull_sample(worker, sample, &wanted, &room));
  EXPECT_ERROR(syncyte_store_worker_pull_sample(worker, sample, &wanted, &room), SYNCYTE_ERR_ARGUMENT, "sample is");
}

static void set_numbers(void) {
  int64_t list[keys], lengths[keys];
  float values[2 * keys + 1];
  int64_t place = 0;
  for (int64_t i = 0; i < keys; ++i) {
    list[i] = i;
    lengths[i] = i == 20 ? 3 : 2;
    for (int64_t k = 0; k < lengths[i]; ++k) values[place++] = (float)i;
  }
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, keys, keys, lengths, NULL, &kv));
  EXPECT_OK(syncyte_store_worker_create(kv, 0, &worker));
  const syncyte_buffer_t all = vector_of(list, SYNCYTE_INT64, keys), given = vector_of(values, SYNCYTE_FLOAT32, place);
  EXPECT_OK(syncyte_store_worker_set(worker, &all, &given));
  int64_t sample = 0;
  EXPECT_ERROR(syncyte_store_worker_prepare_sample(worker, 1, 0, 0, &sample), SYNCYTE_ERR_ARGUMENT, "has no sampling");
  EXPECT_OK(syncyte_store_sync(kv));
}

static syncyte_store_worker_t waits;

static void* wait_in_vain(void* context) {
  EXPECT_ERROR(syncyte_store_worker_barrier(waits), SYNCYTE_ERR_NOT_INITIALIZED, "");
  return context;
}

int main(void) {
  world = start(&rank, &size);
  wrong_stores();
  const int64_t two = 2;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, keys, 1, &two, NULL, &kv));
  EXPECT_OK(syncyte_store_worker_create(kv, 0, &worker));
  wrong_buffers();
  wrong_unique_buffers();
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&kv));
  set_numbers();
  samples();
  finished_samples();
  distributions();
  shared_sets();
  wrong_samples();
  /* finalize() while a worker, a store, prefetches and operations without a wait are left, and a thread waits for a
   * worker. */
  const syncyte_store_worker_t left = worker;
  int64_t clock = 0, key = 0;
  float values[2];
  const syncyte_buffer_t wanted = vector_of(&key, SYNCYTE_INT64, 1), room = vector_of(values, SYNCYTE_FLOAT32, 2);
  syncyte_store_options_t options = SYNCYTE_STORE_OPTIONS_INIT;
  syncyte_store_t pair = NULL;
  pthread_t waiting;
  options.workers = 2;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, 1, 1, &two, &options, &pair));
  EXPECT_OK(syncyte_store_worker_create(pair, 0, &waits));
  EXPECT(pthread_create(&waiting, NULL, wait_in_vain, NULL) == 0);
  int64_t all[keys];
  for (int64_t i = 0; i < keys; ++i) all[i] = i;
  const syncyte_buffer_t list = vector_of(all, SYNCYTE_INT64, keys);
  for (int i = 0; i < 3; ++i) EXPECT_OK(syncyte_store_worker_prefetch(left, &list));
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  EXPECT_ERROR(syncyte_store_worker_clock(left, &clock), SYNCYTE_ERR_NOT_INITIALIZED, "");
  EXPECT_ERROR(syncyte_store_sync(kv), SYNCYTE_ERR_NOT_INITIALIZED, "");
  EXPECT_ERROR(syncyte_store_worker_pull(left, &wanted, &room), SYNCYTE_ERR_NOT_INITIALIZED, "");
  EXPECT_ERROR(syncyte_store_worker_push(left, &wanted, &room), SYNCYTE_ERR_NOT_INITIALIZED, "");
  EXPECT_ERROR(syncyte_store_worker_set(left, &wanted, &room), SYNCYTE_ERR_NOT_INITIALIZED, "");
  EXPECT_ERROR(syncyte_store_worker_prefetch(left, &list), SYNCYTE_ERR_NOT_INITIALIZED, "");
  EXPECT_ERROR(syncyte_store_worker_push_unique(left, &wanted, &room), SYNCYTE_ERR_NOT_INITIALIZED, "");
  EXPECT_ERROR(syncyte_store_worker_barrier(left), SYNCYTE_ERR_NOT_INITIALIZED, "");
  EXPECT(pthread_join(waiting, NULL) == 0);
  EXPECT_OK(syncyte_store_worker_destroy(&waits));
  EXPECT_OK(syncyte_store_destroy(&pair));
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&kv));
  return failures == 0 ? 0 : 1;
}
