/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks or more under `mpirun --enable-recovery`. Rank 1 dies while the others are in the operation that the
   argument names. The survivors get SYNCYTE_ERR_PEER_DIED within 10 s. The error names rank 1, and all collectives that
   they call later return it at once. They end like any other program, and each prints a verdict, because mpirun's own
   status does not show one.

   Operations on memory of rank 1 (gather to push) fail only if it is on another node. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "../support/waiting.h"
#include "syncyte.h"

enum { victim = 1, many = 1 << 19 }; /* float64: 4 MiB, which goes by messages */

static int32_t rank, size;
static int is_victim;
static syncyte_comm_t world, ring;
static syncyte_tensor_t flag, table, parameters; /* the last two have one row on each rank */
static syncyte_window_t window;
static syncyte_halo_t halo;
static syncyte_layout_t rows, columns; /* of `many` float64 in all ranks' rows */
static syncyte_bundle_t bundle;
static syncyte_tensor_t live; /* two rows of 8 float64 on each rank, two versions */
static syncyte_reducer_t reducer;
static syncyte_store_t kv; /* one key on each rank, of one float32 */
static syncyte_store_worker_t worker;
static double values[many], results[3 * many];
static const int64_t one = 1, four = 4;

static syncyte_buffer_t buffer_of(double* data, int64_t elements) {
  syncyte_buffer_t result;
  syncyte_buffer_init(data, SYNCYTE_FLOAT64, 1, &elements, &result);
  return result;
}

static syncyte_buffer_t integers(const int64_t* data) {
  syncyte_buffer_t result;
  syncyte_buffer_init((void*)data, SYNCYTE_INT64, 1, &one, &result);
  return result;
}

static void die(int signal_number) {
  (void)signal_number;
  raise(SIGKILL);
}

/* The others are in the operation by then. */
static void die_late(void) {
  if (!is_victim) return;
  sleep_for(0.3);
  die(0);
}

/* Calls an operation until it fails. The victim dies in the midst of it, most likely while data move. */
static syncyte_status_t repeat(syncyte_status_t (*operation)(void)) {
  const struct itimerval after = {{0, 0}, {0, 300000}};
  syncyte_status_t status = SYNCYTE_SUCCESS;
  if (is_victim) {
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &after, NULL);
  }
  while (status == SYNCYTE_SUCCESS) status = operation();
  return status;
}

/* The library calls these functions in place of MPI's. The victim dies in those that are armed: the others are in
 * MPI's.
 */
static int is_armed;

#define DYING(arguments, call)                                 \
  __attribute__((visibility("default"))) int MPI_##arguments { \
    if (is_armed) die_late();                                  \
    return PMPI_##call;                                        \
  }
DYING(Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made), Comm_split(comm, color, key, made))
DYING(Cart_create(MPI_Comm comm, int ndim, const int* extents, const int* periods, int reorder, MPI_Comm* made),
      Cart_create(comm, ndim, extents, periods, reorder, made))
DYING(Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made),
      Comm_create_group(comm, group, tag, made))

static syncyte_status_t split(void) {
  syncyte_comm_t made = NULL;
  is_armed = 1;
  return syncyte_comm_split(world, 0, rank, NULL, &made);
}

static syncyte_status_t dup_world(void) {
  syncyte_comm_t made = NULL;
  is_armed = 1;
  return syncyte_comm_dup(world, NULL, &made);
}

static syncyte_status_t cart(void) {
  const int32_t any_extent = 0, periodic = 1;
  syncyte_comm_t made = NULL;
  is_armed = 1;
  return syncyte_cart_create(world, 1, &any_extent, 1, &periodic, NULL, &made);
}

static syncyte_status_t group(void) {
  const int32_t ranks[] = {0, 1, 2};
  syncyte_comm_t made = NULL;
  is_armed = 1;
  return syncyte_comm_create_group(world, size, ranks, 5, NULL, &made);
}

/* The first scan from the last rank makes a communicator. */
static syncyte_status_t scan(void) {
  const syncyte_buffer_t input = buffer_of(values, 1), output = buffer_of(results, 1);
  is_armed = 1;
  return syncyte_comm_scan(world, &input, SYNCYTE_OP_SUM, 1, NULL, &output);
}

static syncyte_status_t barrier(void) {
  die_late();
  return syncyte_comm_barrier(world);
}

static syncyte_status_t allreduce(int64_t elements) {
  const syncyte_buffer_t input = buffer_of(values, elements), output = buffer_of(results, elements);
  return syncyte_comm_allreduce(world, &input, SYNCYTE_OP_SUM, NULL, &output);
}

static syncyte_status_t allreduce_small(void) {
  die_late();
  return allreduce(1);
}

static syncyte_status_t bcast_one(void) {
  const syncyte_buffer_t number = buffer_of(values, 1);
  return syncyte_comm_bcast(world, 0, NULL, &number);
}

static syncyte_status_t bcast_small(void) {
  die_late();
  return bcast_one();
}

static syncyte_status_t allreduce_many(void) { return allreduce(many); }

static syncyte_status_t reduce_many(void) {
  const syncyte_buffer_t input = buffer_of(values, many), output = buffer_of(results, many);
  return syncyte_comm_reduce(world, &input, SYNCYTE_OP_SUM, 0, NULL, &output);
}

static syncyte_status_t allgather_many(void) {
  const syncyte_buffer_t input = buffer_of(values, many), output = buffer_of(results, (int64_t)size * many);
  return syncyte_comm_allgather(world, &input, NULL, &output);
}

static syncyte_status_t create_one(void) {
  syncyte_tensor_t made = NULL;
  const syncyte_status_t status = syncyte_tensor_create(world, SYNCYTE_INT64, 1, &one, NULL, &made);
  syncyte_tensor_destroy(&made);
  return status;
}

static syncyte_status_t create(void) {
  die_late();
  return create_one();
}

/* Ranks 0 and 2 disagree with rank 1, which dies while it explains that. */
static syncyte_status_t mismatch_one(void) {
  const syncyte_buffer_t number = buffer_of(values, 1);
  const syncyte_status_t status = syncyte_comm_bcast(world, is_victim, NULL, &number);
  return status == SYNCYTE_ERR_MISMATCH ? SYNCYTE_SUCCESS : status;
}

static syncyte_status_t started(void) {
  const syncyte_buffer_t number = buffer_of(values, 1);
  syncyte_request_t request = NULL;
  die_late();
  syncyte_comm_ibcast(world, 0, NULL, &number, &request);
  return syncyte_request_wait(&request);
}

static syncyte_status_t receive(void) {
  const syncyte_buffer_t number = buffer_of(values, 1);
  die_late();
  return syncyte_comm_recv(world, victim, 7, NULL, &number, NULL);
}

static syncyte_status_t any(void) {
  const syncyte_buffer_t number = buffer_of(values, 1);
  syncyte_request_t request = NULL;
  int64_t index = -1;
  die_late();
  syncyte_comm_irecv(world, victim, 7, NULL, &number, NULL, &request);
  const syncyte_status_t status = syncyte_request_wait_any(1, &request, &index);
  return request == NULL && index == 0 ? status : SYNCYTE_ERR_BUSY; /* the death ends the request, too */
}

static syncyte_status_t exchange(void) {
  const syncyte_buffer_t cells = buffer_of(values, 4);
  die_late();
  return syncyte_halo_exchange(halo, &cells);
}

static syncyte_status_t exchange_bundle(void) {
  die_late();
  return syncyte_bundle_exchange(bundle, 0, 0, NULL);
}

static syncyte_status_t exchange_bundle_once(void) { return syncyte_bundle_exchange(bundle, 0, 0, NULL); }

/* The arrays are large: the victim dies while messages of some round are under way. */
static syncyte_status_t relocate(void) {
  const int64_t shapes[2][2] = {{2, many / 2 / size * size}, {2 * size, many / 2 / size}};
  syncyte_buffer_t from, to;
  syncyte_buffer_init(values, SYNCYTE_FLOAT64, 2, shapes[0], &from);
  syncyte_buffer_init(results, SYNCYTE_FLOAT64, 2, shapes[1], &to);
  return syncyte_layout_relocate(rows, SYNCYTE_FLOAT64, 1, &from, columns, 1, NULL, &to);
}

/* Nobody has published: the victim is one of those who would. */
static syncyte_status_t take(void) {
  const int64_t shape[] = {1, 8}, lower[] = {0, 0};
  int64_t step = 0;
  syncyte_buffer_t box;
  die_late();
  syncyte_buffer_init(results, SYNCYTE_FLOAT64, 2, shape, &box);
  return syncyte_tensor_take(live, 2, lower, 1, -1, &box, &step);
}

/* A rank waits for the others before it begins the version after the next. */
static syncyte_status_t publish(void) {
  static int64_t step = 0;
  const int64_t shape[] = {2, 8};
  syncyte_buffer_t block;
  syncyte_buffer_init(values, SYNCYTE_FLOAT64, 2, shape, &block);
  return syncyte_tensor_publish(live, 1, &block, ++step);
}

static syncyte_status_t relocate_rows(void) {
  const int64_t shape[] = {many / 8, 8};
  static int32_t destinations[many / 8];
  int64_t got = 0;
  syncyte_buffer_t from, to;
  syncyte_buffer_init(values, SYNCYTE_FLOAT64, 2, shape, &from);
  syncyte_buffer_init(results, SYNCYTE_FLOAT64, 2, shape, &to);
  for (int row = 0; row < many / 8; ++row) destinations[row] = (rank + 1) % size;
  return syncyte_comm_relocate_rows(world, many / 8, destinations, 1, &from, NULL, &to, &got);
}

static syncyte_status_t sum_buckets(void) {
  die_late();
  syncyte_reducer_start(reducer, 0);
  return syncyte_reducer_wait(reducer);
}

static syncyte_status_t wait_for_counter(void) {
  int64_t seen = 0;
  die_late();
  return syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_EQ, 1, -1.0, &seen);
}

/* The victim holds the lock of rank 0's part. */
static syncyte_status_t lock(syncyte_lock_t kind) {
  if (is_victim) syncyte_window_lock(window, 0, kind);
  syncyte_comm_barrier(world);
  die_late();
  return syncyte_window_lock(window, 0, SYNCYTE_LOCK_EXCLUSIVE);
}

static syncyte_status_t lock_exclusive(void) { return lock(SYNCYTE_LOCK_EXCLUSIVE); }
static syncyte_status_t lock_shared(void) { return lock(SYNCYTE_LOCK_SHARED); }

/* The victim holds the lock of rank 0's row. */
static syncyte_status_t lock_row(void) {
  if (is_victim) syncyte_tensor_lock(table, 0);
  syncyte_comm_barrier(world);
  die_late();
  return syncyte_tensor_lock(table, 0);
}

static syncyte_status_t gather_row(void) {
  const int64_t row = victim;
  int64_t value = 0;
  const syncyte_buffer_t index = integers(&row), output = integers(&value);
  return syncyte_tensor_gather(table, &index, &output);
}

static syncyte_status_t add_row(void) {
  const int64_t row = victim;
  const syncyte_buffer_t index = integers(&row), source = integers(&one);
  return syncyte_tensor_scatter_add(table, &index, &source);
}

static syncyte_status_t fetch_add_one(void) {
  int64_t previous = 0;
  return syncyte_tensor_fetch_add(table, victim, 1, &previous);
}

static syncyte_status_t on_key(syncyte_status_t (*operation)(syncyte_store_worker_t, const syncyte_buffer_t*,
                                                             const syncyte_buffer_t*)) {
  const int64_t key = victim;
  float value = 1.0f;
  const syncyte_buffer_t keys = integers(&key);
  syncyte_buffer_t found;
  syncyte_buffer_init(&value, SYNCYTE_FLOAT32, 1, &one, &found);
  return operation(worker, &keys, &found);
}

static syncyte_status_t pull_key(void) { return on_key(syncyte_store_worker_pull); }
static syncyte_status_t push_key(void) { return on_key(syncyte_store_worker_push); }

static syncyte_status_t put(void) {
  const syncyte_buffer_t source = integers(&one);
  return syncyte_window_put(window, victim, 0, &source);
}

static syncyte_status_t get(void) {
  int64_t value = 0;
  const syncyte_buffer_t target = integers(&value);
  return syncyte_window_get(window, victim, 0, &target);
}

static syncyte_status_t accumulate(void) {
  const syncyte_buffer_t source = integers(&one);
  return syncyte_window_accumulate(window, victim, 0, &source, SYNCYTE_OP_SUM);
}

static syncyte_status_t compare_swap(void) {
  int64_t previous = 0;
  return syncyte_window_compare_swap(window, victim, 0, SYNCYTE_INT64, &one, &four, &previous);
}

static syncyte_status_t get_box(void) {
  const int64_t row = victim;
  int64_t value = 0;
  const syncyte_buffer_t output = integers(&value);
  return syncyte_tensor_get_box(table, 1, &row, &output);
}

static syncyte_status_t put_box(void) {
  const int64_t row = victim;
  const syncyte_buffer_t source = integers(&one);
  return syncyte_tensor_put_box(table, 1, &row, &source);
}

static syncyte_status_t accumulate_box(void) {
  const int64_t row = victim;
  const syncyte_buffer_t source = integers(&one);
  return syncyte_tensor_accumulate_box(table, 1, &row, &source, NULL, SYNCYTE_OP_SUM);
}

static syncyte_status_t apply_gradients(void) {
  const int64_t row = victim;
  const syncyte_buffer_t index = integers(&row), gradients = buffer_of(values, 1);
  return syncyte_tensor_apply_gradients(parameters, &index, &gradients);
}

/* Rank 1 owns the row. Each rank owns its counter, which counts the calls that succeed. */
static syncyte_status_t put_signal(void) {
  static int64_t signals;
  const int64_t row = victim;
  int64_t seen = 0;
  const syncyte_buffer_t index = integers(&row), source = buffer_of(values, 1);
  const syncyte_status_t status =
      syncyte_tensor_put_signal(parameters, &index, &source, table, rank, 1, SYNCYTE_OP_SUM);
  signals += status == SYNCYTE_SUCCESS;
  syncyte_tensor_load(table, rank, &seen);
  return seen == signals ? status : SYNCYTE_ERR_INTERNAL;
}

/* Rank 1 owns the counter. */
static syncyte_status_t iput_signal(void) {
  const int64_t row = 0;
  const syncyte_buffer_t index = integers(&row), source = integers(&one);
  syncyte_request_t request = NULL;
  syncyte_tensor_iput_signal(table, &index, &source, table, victim, 1, SYNCYTE_OP_SUM, &request);
  return syncyte_request_wait(&request);
}

static syncyte_request_t started_gather(void) {
  static int64_t value;
  const int64_t row = victim;
  const syncyte_buffer_t index = integers(&row), output = integers(&value);
  syncyte_request_t request = NULL;
  syncyte_tensor_igather(table, &index, &output, &request);
  return request;
}

static syncyte_status_t test_gather(void) {
  syncyte_request_t request = started_gather();
  syncyte_status_t status = SYNCYTE_SUCCESS;
  int32_t is_done = 0;
  while (status == SYNCYTE_SUCCESS && !is_done) status = syncyte_request_test(&request, &is_done);
  return status;
}

static syncyte_status_t wait_gather(void) {
  syncyte_request_t request = started_gather();
  return syncyte_request_wait(&request);
}

static syncyte_status_t wait_any_gather(void) {
  syncyte_request_t request = started_gather();
  int64_t index = -1;
  return syncyte_request_wait_any(1, &request, &index);
}

static syncyte_status_t sync_tensor(void) {
  die_late();
  return syncyte_tensor_sync(table);
}

static syncyte_status_t sync_store(void) {
  die_late();
  return syncyte_store_sync(kv);
}

static syncyte_status_t worker_barrier(void) {
  die_late();
  return syncyte_store_worker_barrier(worker);
}

struct mode {
  const char* name;
  syncyte_status_t (*run)(void);
  int is_repeated; /* the victim dies in one of many calls */
};

static const struct mode modes[] = {
    {"split", split, 0},
    {"dup", dup_world, 0},
    {"cart", cart, 0},
    {"group", group, 0},
    {"scan", scan, 0},
    {"barrier", barrier, 0},
    {"allreduce", allreduce_small, 0},
    {"allreduces", allreduce_many, 1},
    {"reduces", reduce_many, 1},
    {"allgathers", allgather_many, 1},
    {"bcast", bcast_small, 0},
    {"bcasts", bcast_one, 1},
    {"create", create, 0},
    {"creations", create_one, 1},
    {"mismatches", mismatch_one, 1},
    {"started", started, 0},
    {"receive", receive, 0},
    {"any", any, 0},
    {"halo", exchange, 0},
    {"bundle", exchange_bundle, 0},
    {"bundles", exchange_bundle_once, 1},
    {"relocations", relocate, 1},
    {"rows", relocate_rows, 1},
    {"take", take, 0},
    {"publish", publish, 1},
    {"reducer", sum_buckets, 0},
    {"counter", wait_for_counter, 0},
    {"lock", lock_exclusive, 0},
    {"shared_lock", lock_shared, 0},
    {"row_lock", lock_row, 0},
    {"gather", gather_row, 1},
    {"add", add_row, 1},
    {"fetch_add", fetch_add_one, 1},
    {"put", put, 1},
    {"get", get, 1},
    {"accumulate", accumulate, 1},
    {"compare_swap", compare_swap, 1},
    {"get_box", get_box, 1},
    {"put_box", put_box, 1},
    {"accumulate_box", accumulate_box, 1},
    {"apply_gradients", apply_gradients, 1},
    {"put_signal", put_signal, 1},
    {"iput_signal", iput_signal, 1},
    {"test", test_gather, 1},
    {"wait", wait_gather, 1},
    {"wait_any", wait_any_gather, 1},
    {"pull", pull_key, 1},
    {"push", push_key, 1},
    {"sync", sync_tensor, 0},
    {"store_sync", sync_store, 0},
    {"worker_barrier", worker_barrier, 0},
};

/* Two rows of each rank, cut into columns on the other side; a bundle whose field has the victim as a neighbour. */
static void make_layouts(void) {
  const int64_t width = many / 2 / size * size, cells[] = {2 * size, width};
  const int32_t first = 0, second = 1;
  const int64_t shape[] = {4, 8}, narrow[] = {2 * size, 8};
  syncyte_layout_options_t ghosts = SYNCYTE_LAYOUT_OPTIONS_INIT;
  syncyte_layout_t field = NULL, plain = NULL;
  syncyte_buffer_t array;
  ghosts.ghosts_low[0] = ghosts.ghosts_high[0] = 1;
  ghosts.periodic[0] = 1;
  syncyte_layout_create_mesh(world, 2, cells, 1, &size, 0, NULL, 1, &first, NULL, &rows);
  syncyte_layout_create_mesh(world, 2, cells, 1, &size, 0, NULL, 1, &second, NULL, &columns);
  syncyte_layout_create_mesh(world, 2, narrow, 1, &size, 0, NULL, 1, &first, &ghosts, &field);
  syncyte_layout_create_mesh(world, 2, narrow, 1, &size, 0, NULL, 1, &first, NULL, &plain);
  syncyte_tensor_create_by_layout(world, SYNCYTE_FLOAT64, plain, 2, NULL, &live);
  syncyte_layout_destroy(&plain);
  syncyte_bundle_create(world, &bundle);
  syncyte_buffer_init(results, SYNCYTE_FLOAT64, 2, shape, &array);
  syncyte_bundle_add(bundle, "field", field, SYNCYTE_FLOAT64, 1, &array);
  syncyte_layout_destroy(&field);
}

static void make_objects(void) {
  const int32_t any_extent = 0, periodic = 1;
  const syncyte_dtype_t type = SYNCYTE_FLOAT64;
  const int64_t parts = size;
  syncyte_tensor_options_t with_locks = SYNCYTE_TENSOR_OPTIONS_INIT;
  with_locks.row_locks = 1;
  flag = make_flag(world);
  syncyte_tensor_create(world, SYNCYTE_INT64, 1, &parts, &with_locks, &table);
  syncyte_tensor_create(world, SYNCYTE_FLOAT64, 1, &parts, NULL, &parameters);
  syncyte_tensor_set_optimizer(parameters, SYNCYTE_OPTIMIZER_SGD, 0.1, NULL);
  syncyte_store_create(world, SYNCYTE_FLOAT32, parts, 1, &one, NULL, &kv);
  syncyte_store_worker_create(kv, 0, &worker);
  syncyte_window_create(world, 8, NULL, &window);
  syncyte_cart_create(world, 1, &any_extent, 1, &periodic, NULL, &ring);
  syncyte_halo_create(ring, SYNCYTE_FLOAT64, 1, &four, 1, &one, 1, &one, 0, NULL, NULL, &halo);
  syncyte_reducer_create(world, 1, &type, &one, NULL, &reducer);
  make_layouts();
  syncyte_comm_barrier(world);
}

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void limit_time(const char* what, double begin, double limit) {
  const double spent = seconds() - begin;
  if (spent > limit) printf("rank %d: %s took %.1f s\n", rank, what, spent);
}

static int32_t knows_death(void) {
  int32_t known = 0;
  syncyte_death_known(&known);
  return known;
}

static int victim_is_in_the_fields(void) {
  syncyte_error_fields_t fields = {0};
  fields.struct_size = sizeof fields;
  return syncyte_last_error_fields(&fields) == SYNCYTE_SUCCESS && fields.rank == victim;
}

/* What a survivor calls later fails at once. Collectives of itself alone still work. */
static int all_fail_at_once(void) {
  const int32_t other = size == 2 ? victim : rank == 2 ? 0 : 2;
  syncyte_comm_t self = NULL, part = NULL;
  const syncyte_buffer_t number = buffer_of(values, 1);
  const syncyte_buffer_t cells = buffer_of(values, 4);
  syncyte_comm_self(&self);
  return knows_death() && syncyte_comm_barrier(world) == SYNCYTE_ERR_PEER_DIED && victim_is_in_the_fields() &&
         allreduce(1) == SYNCYTE_ERR_PEER_DIED && create_one() == SYNCYTE_ERR_PEER_DIED &&
         syncyte_comm_split(world, 0, rank, NULL, &part) == SYNCYTE_ERR_PEER_DIED &&
         syncyte_comm_send(world, &number, other, 3, NULL) == SYNCYTE_ERR_PEER_DIED &&
         syncyte_halo_exchange(halo, &cells) == SYNCYTE_ERR_PEER_DIED &&
         syncyte_bundle_exchange(bundle, 0, 0, NULL) == SYNCYTE_ERR_PEER_DIED && relocate() == SYNCYTE_ERR_PEER_DIED &&
         syncyte_comm_bcast(self, 0, NULL, &number) == SYNCYTE_SUCCESS;
}

static void survive(const struct mode* mode) {
  const double begin = seconds();
  const syncyte_status_t status = mode->is_repeated ? repeat(mode->run) : mode->run();
  limit_time("the wait", begin, 10.0);
  const int is_named = strstr(syncyte_last_error(), "rank 1") != NULL && victim_is_in_the_fields();
  if (!is_named) printf("rank %d: %s\n", rank, syncyte_last_error());
  sleep_for(0.5); /* the other survivor has found the death too, before this process ends */
  const double later = seconds();
  const int all_fail = all_fail_at_once();
  if (!all_fail) printf("rank %d, later: %s\n", rank, syncyte_last_error());
  syncyte_store_worker_destroy(&worker);
  syncyte_store_destroy(&kv);
  syncyte_halo_destroy(&halo);
  syncyte_bundle_destroy(&bundle);
  syncyte_layout_destroy(&rows);
  syncyte_layout_destroy(&columns);
  syncyte_reducer_destroy(&reducer);
  syncyte_window_destroy(&window);
  syncyte_tensor_destroy(&parameters);
  syncyte_tensor_destroy(&table);
  syncyte_tensor_destroy(&flag);
  syncyte_tensor_destroy(&live);
  syncyte_comm_destroy(&ring);
  const syncyte_status_t end = syncyte_finalize();
  limit_time("the end", later, 2.0);
  printf("rank %d survives: %s, %s, then %s, %s\n", rank, syncyte_status_name(status), is_named ? "named" : "not named",
         all_fail ? "all fail" : "not all fail", syncyte_status_name(end));
  fflush(stdout);
}

/* The others are in finalize when the victim dies. It succeeds; the death is a line of the log, which goes to stderr.
 */
static void end(void) {
  char log[4096] = "";
  FILE* const file = tmpfile();
  const double begin = seconds();
  dup2(fileno(file), STDERR_FILENO);
  die_late();
  const syncyte_status_t status = syncyte_finalize();
  limit_time("the end", begin, 10.0);
  rewind(file);
  log[fread(log, 1, sizeof log - 1, file)] = '\0';
  const int is_told = strstr(log, "finalize: rank 1 of world has died") != NULL;
  printf("rank %d ends: %s, %s\n", rank, is_told ? "told" : log, syncyte_status_name(status));
  fflush(stdout);
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "barrier";
  world = start_world(&rank, &size);
  is_victim = rank == victim;
  make_objects();
  if (knows_death()) return 1;
  if (strcmp(name, "finalize") == 0) end();
  for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i)
    if (strcmp(name, modes[i].name) == 0) survive(&modes[i]);
  return 0;
}
