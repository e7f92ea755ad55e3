/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameter store: visibility of pushes between ranks and threads, barriers of workers, samples, wrong input. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "expect.h"
#include "vector.h"

enum { keys = 1000, most = 64 };
static int32_t rank, size;
static syncyte_comm_t world;

static syncyte_buffer_t key_list(int64_t* list, int64_t count) { return vector_of(list, SYNCYTE_INT64, count); }
static syncyte_buffer_t value_list(float* list, int64_t count) { return vector_of(list, SYNCYTE_FLOAT32, count); }

static syncyte_store_t make_store(int64_t length, int32_t workers) {
  syncyte_store_t kv = NULL;
  syncyte_store_options_t options = SYNCYTE_STORE_OPTIONS_INIT;
  options.name = "parameters";
  options.workers = workers;
  options.struct_size = offsetof(syncyte_store_options_t, label); /* of a program that was compiled without labels */
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, keys, 1, &length, &options, &kv));
  return kv;
}

static syncyte_store_worker_t make_worker(syncyte_store_t kv, int32_t number) {
  syncyte_store_worker_t worker = NULL;
  EXPECT_OK(syncyte_store_worker_create(kv, number, &worker));
  return worker;
}

static float first_of(syncyte_store_worker_t worker, int64_t key, int64_t length) {
  float values[most];
  const syncyte_buffer_t wanted = key_list(&key, 1), room = value_list(values, length);
  EXPECT_OK(syncyte_store_worker_pull(worker, &wanted, &room));
  return values[0];
}

static int32_t nodes(void) {
  syncyte_topology_t topology = {.struct_size = sizeof topology};
  EXPECT_OK(syncyte_comm_topology(world, &topology));
  return topology.nodes;
}

/* Calls pull_if_local; values stay unchanged if a key is not local. */
static int32_t local_after_pull_if_local(syncyte_store_worker_t worker, const syncyte_buffer_t* wanted,
                                         const syncyte_buffer_t* room, const float* values) {
  int32_t is_local = 7;
  const float before = values[0];
  EXPECT_OK(syncyte_store_worker_pull_if_local(worker, wanted, room, &is_local));
  if (!is_local) EXPECT(values[0] == before);
  return is_local;
}

/* Every rank pushes to all keys, its own and others'. After sync() all ranks see all pushes. */
static void all_push(void) {
  const syncyte_store_t kv = make_store(2, 1);
  const syncyte_store_worker_t worker = make_worker(kv, 0);
  int64_t list[keys], count = 0, length = 0;
  syncyte_request_t request = NULL;
  static float values[2 * keys];
  int32_t owners[keys];
  for (int64_t i = 0; i < keys; ++i) {
    list[i] = keys - 1 - i;
    values[2 * i] = 1;
    values[2 * i + 1] = (float)list[i];
  }
  const syncyte_buffer_t wanted = key_list(list, keys), room = value_list(values, 2 * keys);
  EXPECT_OK(syncyte_store_worker_ipush(worker, &wanted, &room, &request));
  EXPECT((request == NULL) == (nodes() == 1));
  EXPECT_OK(syncyte_store_worker_flush(worker));
  EXPECT_OK(syncyte_request_wait(&request));
  EXPECT(request == NULL);
  EXPECT_OK(syncyte_store_sync(kv));
  EXPECT_OK(syncyte_store_worker_pull(worker, &wanted, &room));
  for (int64_t i = 0; i < keys; ++i) {
    EXPECT(values[2 * i] == (float)size);
    EXPECT(values[2 * i + 1] == (float)(size * list[i]));
  }
  EXPECT_OK(syncyte_store_keys(kv, &count));
  EXPECT(count == keys);
  EXPECT_OK(syncyte_store_lengths(kv, 1, list, &length));
  EXPECT(length == 2);
  EXPECT_OK(syncyte_store_owner(kv, keys, list, owners));
  for (int64_t i = 0; i < keys; ++i) EXPECT(owners[i] == list[i] % size);
  EXPECT_OK(syncyte_comm_barrier(world));
  /* After a barrier every rank sees the values of a set. */
  if (rank == size - 1) {
    EXPECT_OK(syncyte_store_worker_iset(worker, &wanted, &room, &request));
    EXPECT_OK(syncyte_store_worker_flush(worker));
    EXPECT_OK(syncyte_request_wait(&request));
  }
  EXPECT_OK(syncyte_comm_barrier(world));
  EXPECT(first_of(worker, 3, 2) == (float)size);
  EXPECT(local_after_pull_if_local(worker, &wanted, &room, values) == (nodes() == 1));
  syncyte_store_worker_t gone = worker;
  EXPECT_OK(syncyte_store_worker_destroy(&gone));
  EXPECT(gone == NULL);
  EXPECT_ERROR(syncyte_store_worker_pull(worker, &wanted, &room), SYNCYTE_ERR_HANDLE, "worker");
  syncyte_store_t dropped = kv;
  EXPECT_OK(syncyte_store_destroy(&dropped));
}

/* Pulls and pushes of all keys that are in flight at the same time, and waits in any order. */
static void operations_in_flight(void) {
  enum { depth = 8 };
  syncyte_store_t kv = make_store(1, 1);
  syncyte_store_worker_t worker = make_worker(kv, 0);
  static int64_t lists[depth][keys];
  static float values[depth][keys];
  syncyte_request_t requests[depth];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < depth; ++i) {
      for (int64_t k = 0; k < keys; ++k) {
        lists[i][k] = (k * 7 + i) % keys;
        values[i][k] = 1;
      }
      const syncyte_buffer_t wanted = key_list(lists[i], keys), given = value_list(values[i], keys);
      EXPECT_OK(syncyte_store_worker_ipush(worker, &wanted, &given, &requests[i]));
      EXPECT((requests[i] == NULL) == (nodes() == 1));
      memset(lists[i], -1, sizeof lists[i]); /* the list of keys may be re-used on return */
    }
    EXPECT_OK(syncyte_request_wait_all(depth, requests));
    EXPECT_OK(syncyte_store_sync(kv));
    for (int i = 0; i < depth; ++i) {
      for (int64_t k = 0; k < keys; ++k) lists[i][k] = (k * 3 + i) % keys;
      const syncyte_buffer_t wanted = key_list(lists[i], keys), room = value_list(values[i], keys);
      EXPECT_OK(syncyte_store_worker_ipull(worker, &wanted, &room, &requests[i]));
    }
    int wrong = 0;
    for (int i = depth - 1; i >= 0; --i) {
      EXPECT_OK(syncyte_request_wait(&requests[i]));
      for (int64_t k = 0; k < keys; ++k) wrong += values[i][k] != (float)(depth * (round + 1) * size);
    }
    EXPECT(wrong == 0);
    EXPECT_OK(syncyte_store_sync(kv));
  }
  /* A store's request is waited for with any other. */
  double number = 1, sum = 0;
  int64_t one = 1, which = -1;
  syncyte_buffer_t in, out;
  EXPECT_OK(syncyte_buffer_init(&number, SYNCYTE_FLOAT64, 1, &one, &in));
  EXPECT_OK(syncyte_buffer_init(&sum, SYNCYTE_FLOAT64, 1, &one, &out));
  const syncyte_buffer_t wanted = key_list(lists[0], keys), room = value_list(values[0], keys);
  EXPECT_OK(syncyte_store_worker_ipull(worker, &wanted, &room, &requests[0]));
  EXPECT_OK(syncyte_comm_iallreduce(world, &in, SYNCYTE_OP_SUM, NULL, &out, &requests[1]));
  EXPECT_OK(syncyte_request_wait_any(2, requests, &which));
  EXPECT(which == 0 || which == 1);
  EXPECT_OK(syncyte_request_wait_all(2, requests));
  EXPECT(sum == (double)size);
  EXPECT_ERROR(syncyte_store_worker_ipull(worker, &wanted, &room, NULL), SYNCYTE_ERR_ARGUMENT, "request is null");
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&kv));
}

/* One length for each key; key k has k % 5 + 1 values. */
static void lengths_differ(void) {
  int64_t lengths[keys], list[3] = {4, 0, 999};
  float values[11], found[11];
  for (int64_t i = 0; i < keys; ++i) lengths[i] = i % 5 + 1;
  syncyte_store_t kv = NULL;
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, keys, keys, lengths, NULL, &kv));
  syncyte_store_worker_t worker = make_worker(kv, 0);
  for (int i = 0; i < 11; ++i) values[i] = (float)(i + 1);
  const syncyte_buffer_t wanted = key_list(list, 3), given = value_list(values, 11), room = value_list(found, 11);
  EXPECT_OK(syncyte_store_worker_push(worker, &wanted, &given));
  EXPECT_OK(syncyte_store_worker_barrier(worker));
  EXPECT_OK(syncyte_store_worker_pull(worker, &wanted, &room));
  for (int i = 0; i < 11; ++i) EXPECT(found[i] == (float)(size * (i + 1)));
  const syncyte_buffer_t few = value_list(found, 10);
  EXPECT_ERROR(syncyte_store_worker_pull(worker, &wanted, &few), SYNCYTE_ERR_SHAPE,
               "values is of 10 elements; expected 11, the sum of the keys' lengths");
  int64_t memory[12] = {list[0], list[1], list[2]};
  const syncyte_buffer_t inside = key_list(memory, 3), over = value_list((float*)(memory + 2), 11);
  EXPECT_ERROR(syncyte_store_worker_pull(worker, &inside, &over), SYNCYTE_ERR_ARGUMENT,
               "keys is in the memory of values; expected separate memory");
  EXPECT_ERROR(syncyte_store_worker_push(worker, &inside, &few), SYNCYTE_ERR_SHAPE, "values is of 10 elements");
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&kv));
}

/* Each of two threads of a rank has a worker. */
typedef struct {
  syncyte_store_t kv;
  syncyte_store_worker_t worker;
  int number;
} user;

static void* meet_often(void* context) {
  const user* const me = context;
  int64_t key = 7;
  float one = 1;
  const syncyte_buffer_t wanted = key_list(&key, 1), given = value_list(&one, 1);
  if (rank == 0 && me->number == 0) EXPECT_OK(syncyte_store_worker_set(me->worker, &wanted, &given));
  EXPECT_OK(syncyte_store_worker_barrier(me->worker));
  for (int round = 1; round <= 20; ++round) {
    EXPECT(first_of(me->worker, 7, 1) == (float)(1 + 2 * size * (round - 1)));
    EXPECT_OK(syncyte_store_worker_barrier(me->worker));
    EXPECT_OK(syncyte_store_worker_push(me->worker, &wanted, &given));
    EXPECT_OK(syncyte_store_worker_barrier(me->worker));
  }
  EXPECT_OK(syncyte_store_worker_barrier(me->worker));
  return NULL;
}

static void in_threads(syncyte_store_t kv, void* (*work)(void*)) {
  pthread_t threads[2];
  user users[2];
  /* Both workers are made first, because a barrier does not wait for a destroyed worker that is not made again yet. */
  for (int i = 0; i < 2; ++i) users[i] = (user){kv, make_worker(kv, i), i};
  for (int i = 0; i < 2; ++i) EXPECT(pthread_create(&threads[i], NULL, work, &users[i]) == 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT_OK(syncyte_store_worker_destroy(&users[i].worker));
  }
}

static void* leave_early(void* context) {
  user* const me = context;
  EXPECT_OK(syncyte_store_worker_barrier(me->worker));
  if (me->number == 1) EXPECT_OK(syncyte_store_worker_destroy(&me->worker)); /* later barriers do not wait for it */
  if (me->number == 0) EXPECT_OK(syncyte_store_worker_barrier(me->worker));
  return NULL;
}

static void workers_meet(void) {
  syncyte_store_t kv = make_store(1, 2);
  in_threads(kv, meet_often);
  in_threads(kv, leave_early);
  in_threads(kv, leave_early); /* with workers that are made again */
  EXPECT_OK(syncyte_store_destroy(&kv));
}

static atomic_int refused;

static void* meet_as_one(void* context) {
  const syncyte_status_t status = syncyte_store_worker_barrier(context);
  if (status == SYNCYTE_ERR_BUSY)
    EXPECT(strstr(syncyte_last_error(), "worker 0 of store \"parameters\" is in a") != NULL);
  EXPECT(status == SYNCYTE_SUCCESS || status == SYNCYTE_ERR_BUSY);
  refused += status == SYNCYTE_ERR_BUSY;
  return NULL;
}

/* If two threads call barrier as one worker, one waits for the other worker, and one gets an error. */
static void a_worker_is_one_of_those_who_meet(void) {
  syncyte_store_t kv = make_store(1, 2);
  syncyte_store_worker_t first = make_worker(kv, 0), second = make_worker(kv, 1);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) EXPECT(pthread_create(&threads[i], NULL, meet_as_one, first) == 0);
  while (refused == 0) sched_yield();
  EXPECT_OK(syncyte_store_worker_barrier(second));
  for (int i = 0; i < 2; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  EXPECT(refused == 1);
  EXPECT_OK(syncyte_store_worker_destroy(&first));
  EXPECT_OK(syncyte_store_worker_destroy(&second));
  EXPECT_OK(syncyte_store_destroy(&kv));
}

/* Some ranks call the barrier of workers, others another collective of the store. */
static void a_barrier_meets_another_call(void) {
  syncyte_store_t kv = make_store(1, 1);
  syncyte_store_worker_t worker = make_worker(kv, 0);
  if (size > 1)
    EXPECT_ERROR(rank == 0 ? syncyte_store_sync(kv) : syncyte_store_worker_barrier(worker), SYNCYTE_ERR_MISMATCH,
                 "store_worker_barrier");
  EXPECT_OK(syncyte_store_worker_barrier(worker));
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&kv));
}

static void numbers_of_workers(void) {
  syncyte_store_t kv = make_store(1, 2);
  syncyte_store_worker_t first = make_worker(kv, 0), second = NULL;
  EXPECT_ERROR(syncyte_store_worker_create(kv, 0, &second), SYNCYTE_ERR_ARGUMENT,
               "number is 0, which is a worker already");
  EXPECT_ERROR(syncyte_store_worker_create(kv, 2, &second), SYNCYTE_ERR_ARGUMENT,
               "number is 2; expected 0 to 1 (2 workers)");
  EXPECT_ERROR(syncyte_store_worker_create(kv, -1, &second), SYNCYTE_ERR_ARGUMENT, "number is -1");
  EXPECT(second == NULL);
  EXPECT_OK(syncyte_store_destroy(&kv)); /* the worker holds its own reference */
  EXPECT(first_of(first, 0, 1) == 0);
  EXPECT_OK(syncyte_store_worker_destroy(&first));
}

/* On one node keys do not move: an intent is checked and counted. */
static void clocks_and_intents(void) {
  syncyte_store_t kv = make_store(1, 1);
  syncyte_store_worker_t worker = make_worker(kv, 0);
  int64_t list[3] = {1, 2, 3}, clock = -1;
  const syncyte_buffer_t wanted = key_list(list, 3);
  EXPECT_OK(syncyte_store_worker_clock(worker, &clock));
  EXPECT(clock == 0);
  EXPECT_OK(syncyte_store_worker_intent(worker, &wanted, 1, 0));
  EXPECT_OK(syncyte_store_worker_intent(worker, &wanted, 0, 4));
  EXPECT_OK(syncyte_store_worker_localize(worker, &wanted));
  EXPECT_OK(syncyte_store_worker_advance_clock(worker, NULL));
  EXPECT_OK(syncyte_store_worker_advance_clock(worker, &clock));
  EXPECT(clock == 2);
  syncyte_store_worker_info_t info = {.struct_size = sizeof info};
  EXPECT_OK(syncyte_store_worker_describe(worker, &info));
  EXPECT(info.number == 0);
  EXPECT(info.clock == 2);
  EXPECT(info.localized_keys == 3);
  EXPECT(info.intended_keys == 6);
  EXPECT(info.active_intents == 3);
  EXPECT_ERROR(syncyte_store_worker_intent(worker, &wanted, -1, 0), SYNCYTE_ERR_ARGUMENT,
               "start is -1; expected 0 or more");
  EXPECT_ERROR(syncyte_store_worker_intent(worker, &wanted, 3, 3), SYNCYTE_ERR_ARGUMENT,
               "end is 3; expected more than start (3)");
  list[1] = keys;
  EXPECT_ERROR(syncyte_store_worker_intent(worker, &wanted, 1, 0), SYNCYTE_ERR_INDEX,
               "keys[1] is 1000; expected 0 to 999");
  EXPECT_ERROR(syncyte_store_worker_localize(worker, &wanted), SYNCYTE_ERR_INDEX, "keys[1]");
  EXPECT_OK(syncyte_store_worker_describe(worker, &info));
  EXPECT(info.intended_keys == 6);
  EXPECT(info.localized_keys == 3);
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&kv));
}

static int keys_stay = 0; /* 1: a key may stay where it is, because there is too little memory for moves */

/* A key moves to each rank's node in turn; what is added to it stays. */
static void keys_move(void) {
  syncyte_store_t kv = make_store(1, 1);
  syncyte_store_worker_t worker = make_worker(kv, 0);
  int64_t list[2] = {1, 2};
  int32_t flags[2] = {0, 0}, ranks[2] = {-1, -1};
  float one[2] = {1, 1}, found[2] = {0, 0};
  const syncyte_buffer_t wanted = key_list(list, 2), ones = value_list(one, 2), values = value_list(found, 2);
  for (int turn = 0; turn < size; ++turn) {
    EXPECT_OK(syncyte_store_worker_barrier(worker));
    if (turn != rank) continue;
    syncyte_request_t request = NULL;
    EXPECT_OK(syncyte_store_worker_ilocalize(worker, &wanted, &request));
    EXPECT_OK(syncyte_request_wait(&request));
    EXPECT_OK(syncyte_store_is_local(kv, 2, list, flags));
    EXPECT(keys_stay || (flags[0] == 1 && flags[1] == 1));
    EXPECT_OK(syncyte_store_worker_push(worker, &wanted, &ones));
  }
  EXPECT_OK(syncyte_store_worker_barrier(worker));
  EXPECT_OK(syncyte_store_worker_pull(worker, &wanted, &values));
  EXPECT(found[0] == (float)size && found[1] == (float)size);
  EXPECT_OK(syncyte_store_locate(kv, 2, list, ranks));
  EXPECT(ranks[0] >= 0 && ranks[0] < size);
  EXPECT_OK(syncyte_store_locate(kv, 0, NULL, NULL));
  EXPECT_OK(syncyte_store_adopt_last(kv, 2, list, flags));
  EXPECT(flags[0] == 0 && flags[1] == 0);
  list[1] = keys;
  EXPECT_ERROR(syncyte_store_locate(kv, 2, list, ranks), SYNCYTE_ERR_INDEX, "keys[1] is 1000; expected 0 to 999");
  EXPECT_ERROR(syncyte_store_is_local(kv, 2, list, flags), SYNCYTE_ERR_INDEX, "keys[1] is 1000; expected 0 to 999");
  EXPECT_OK(syncyte_store_worker_barrier(worker));
  EXPECT_OK(syncyte_store_worker_destroy(&worker));
  EXPECT_OK(syncyte_store_destroy(&kv));
}

int main(int argc, char** argv) {
  keys_stay = argc > 1 && strcmp(argv[1], "keys_stay") == 0;
  world = start(&rank, &size);
  all_push();
  operations_in_flight();
  lengths_differ();
  workers_meet();
  a_worker_is_one_of_those_who_meet();
  a_barrier_meets_another_call();
  numbers_of_workers();
  clocks_and_intents();
  keys_move();
  EXPECT_OK(syncyte_comm_destroy(&world));
  EXPECT_OK(syncyte_finalize());
  return failures == 0 ? 0 : 1;
}
