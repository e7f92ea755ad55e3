/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameter store under load: workers of all ranks pull, push and set random keys concurrently, and between nodes
   take them from each other. At the end each value equals the workers' count. Values are integers below 2^24, which
   float32 represents exactly. */
#include <pthread.h>
#include <stdlib.h>

#include "expect.h"
#include "vector.h"

enum { batch = 8, longest = 64 };
static int operations = 250000; /* of each worker; the first argument, if there is one */
static int32_t rank, size;
static syncyte_comm_t world;

/* All workers push to the first keys. Each other key is written by one worker alone, which always knows its value. */
typedef struct {
  syncyte_store_worker_t worker;
  uint64_t random; /* state of splitmix64 */
  int64_t number;  /* among the workers of all ranks */
  int64_t shared;  /* number of shared keys */
  int64_t own;     /* number of each worker's own keys */
  const int64_t* lengths;
  int64_t* expected; /* for each key: the sum of this worker's pushes, or its own key's value; 0 for others' keys */
  syncyte_request_t moving; /* a localize in flight, or null */
  int is_wrong;
} user;

static int64_t key_count(const user* me) { return me->shared + 2 * size * me->own; }

static int64_t draw(user* me, int64_t end) {
  uint64_t x = me->random += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (int64_t)((x ^ (x >> 31)) % (uint64_t)end);
}

static int64_t draw_own(user* me) { return me->shared + me->number * me->own + draw(me, me->own); }
static int64_t draw_written(user* me) { return draw(me, 4) == 0 ? draw_own(me) : draw(me, me->shared); }
static int is_own(const user* me, int64_t key) {
  return key >= me->shared && (key - me->shared) / me->own == me->number;
}

/* All values of a vector are equal. */
static float* fill(float* to, int64_t length, int64_t value) {
  for (int64_t i = 0; i < length; ++i) *to++ = (float)value;
  return to;
}

/* Checks that vectors are not torn, and that this worker sees its own writes. */
static int are_right(const user* me, const int64_t* list, int64_t count, const float* values) {
  for (int64_t k = 0; k < count; ++k) {
    const int64_t key = list[k], length = me->lengths[key];
    const float first = values[0], mine = (float)me->expected[key];
    for (int64_t i = 1; i < length; ++i)
      if (values[i] != first) return 0;
    if (is_own(me, key) ? first != mine : first < mine) return 0;
    values += length;
  }
  return 1;
}

static void write_keys(user* me, int sets, int64_t count) {
  int64_t list[batch];
  float values[batch * longest], *end = values;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t key = list[k] = sets ? draw_own(me) : draw_written(me), value = 1 + draw(me, sets ? 1000 : 3);
    me->expected[key] = sets ? value : me->expected[key] + value;
    end = fill(end, me->lengths[key], value);
  }
  const syncyte_buffer_t keys = vector_of(list, SYNCYTE_INT64, count);
  const syncyte_buffer_t given = vector_of(values, SYNCYTE_FLOAT32, end - values);
  EXPECT_OK((sets ? syncyte_store_worker_set : syncyte_store_worker_push)(me->worker, &keys, &given));
}

static void read_keys(user* me, int if_local, int64_t count) {
  int64_t list[batch], elements = 0;
  float values[batch * longest];
  int32_t is_local = 1;
  for (int64_t k = 0; k < count; ++k) {
    list[k] = draw(me, 4) == 0 ? draw(me, key_count(me)) : draw_written(me);
    elements += me->lengths[list[k]];
  }
  const syncyte_buffer_t keys = vector_of(list, SYNCYTE_INT64, count);
  const syncyte_buffer_t room = vector_of(values, SYNCYTE_FLOAT32, elements);
  if (if_local)
    EXPECT_OK(syncyte_store_worker_pull_if_local(me->worker, &keys, &room, &is_local));
  else
    EXPECT_OK(syncyte_store_worker_pull(me->worker, &keys, &room));
  me->is_wrong = is_local && !are_right(me, list, count, values);
  EXPECT(!me->is_wrong);
}

static void move_keys(user* me, int waits, int64_t count) {
  int64_t list[batch];
  for (int64_t k = 0; k < count; ++k) list[k] = draw_written(me);
  const syncyte_buffer_t keys = vector_of(list, SYNCYTE_INT64, count);
  if (waits) {
    EXPECT_OK(syncyte_store_worker_localize(me->worker, &keys));
    return;
  }
  if (me->moving != NULL) EXPECT_OK(syncyte_request_wait(&me->moving));
  EXPECT_OK(syncyte_store_worker_ilocalize(me->worker, &keys, &me->moving));
}

/* Windows of a few clocks, which pass meanwhile. */
static void intend(user* me, int64_t count) {
  int64_t list[batch], clock = 0;
  for (int64_t k = 0; k < count; ++k) list[k] = draw_written(me);
  const syncyte_buffer_t keys = vector_of(list, SYNCYTE_INT64, count);
  EXPECT_OK(syncyte_store_worker_advance_clock(me->worker, &clock));
  EXPECT_OK(syncyte_store_worker_intent(me->worker, &keys, clock, clock + 1 + draw(me, 3)));
}

static void* storm(void* context) {
  user* const me = context;
  for (int i = 0; i < operations && !me->is_wrong; ++i) {
    const int64_t kind = draw(me, 14), count = 1 + draw(me, batch);
    if (kind < 5)
      write_keys(me, kind == 0, count);
    else if (kind < 10)
      read_keys(me, kind == 5, count);
    else if (kind < 12)
      move_keys(me, kind == 10, count);
    else
      intend(me, count);
  }
  if (me->moving != NULL) EXPECT_OK(syncyte_request_wait(&me->moving));
  EXPECT_OK(syncyte_store_worker_barrier(me->worker));
  return NULL;
}

/* The store holds the sums of all workers' pushes. */
static void check(const user* me, int64_t* counted, int64_t* expected) {
  const int64_t keys = key_count(me);
  const syncyte_buffer_t parts = vector_of(counted, SYNCYTE_INT64, keys),
                         sums = vector_of(expected, SYNCYTE_INT64, keys);
  EXPECT_OK(syncyte_comm_allreduce(world, &parts, SYNCYTE_OP_SUM, NULL, &sums));
  int wrong = 0;
  for (int64_t key = 0; key < keys; ++key) {
    float values[longest];
    const syncyte_buffer_t wanted = vector_of(&key, SYNCYTE_INT64, 1);
    const syncyte_buffer_t room = vector_of(values, SYNCYTE_FLOAT32, me->lengths[key]);
    EXPECT_OK(syncyte_store_worker_pull(me->worker, &wanted, &room));
    for (int64_t i = 0; i < me->lengths[key]; ++i) wrong += values[i] != (float)expected[key];
    if (expected[key] >= 1 << 24) ++wrong;
  }
  EXPECT(wrong == 0);
}

static void run(int64_t shared, int64_t own, int64_t most_values, int64_t foreign_bytes) {
  user users[2] = {{.shared = shared, .own = own}, {.shared = shared, .own = own}};
  const int64_t keys = key_count(users);
  int64_t* const lengths = malloc((size_t)keys * sizeof *lengths);
  for (int64_t key = 0; key < keys; ++key) lengths[key] = 1 + key * 7 % most_values;
  syncyte_store_options_t options = SYNCYTE_STORE_OPTIONS_INIT;
  options.workers = 2;
  options.foreign_bytes = foreign_bytes;
  syncyte_store_t kv = NULL;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, keys, keys, lengths, &options, &kv));
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) {
    users[i].number = 2 * rank + i;
    users[i].random = (uint64_t)(users[i].number + keys);
    users[i].lengths = lengths;
    users[i].expected = calloc((size_t)keys, sizeof(int64_t));
    EXPECT_OK(syncyte_store_worker_create(kv, i, &users[i].worker));
  }
  for (int i = 0; i < 2; ++i) EXPECT(pthread_create(&threads[i], NULL, storm, &users[i]) == 0);
  for (int i = 0; i < 2; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  for (int64_t key = 0; key < keys; ++key) users[0].expected[key] += users[1].expected[key];
  check(users, users[0].expected, users[1].expected);
  for (int i = 0; i < 2; ++i) {
    EXPECT_OK(syncyte_store_worker_destroy(&users[i].worker));
    free(users[i].expected);
  }
  EXPECT_OK(syncyte_store_destroy(&kv));
  free(lengths);
}

int main(int argc, char** argv) {
  if (argc > 1) operations = atoi(argv[1]);
  world = start(&rank, &size);
  run(5, 1, longest, -1);
  run(20000, 2000, 16, 1 << 16);
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures == 0 ? 0 : 1;
}
