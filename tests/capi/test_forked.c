/* SPDX-License-Identifier: BSD-3-Clause */
/* A forked child of a rank may read mapped memory and use the communicator of one rank. All other calls are refused in
 * the child, and do not affect the ranks. */
#include <mpi.h>

#include "in_child.h"
#include "vector.h"

enum { rows = 6, columns = 4 };
static const int64_t shape[2] = {rows, columns};
static int32_t rank, size;
static syncyte_comm_t world, self;
static syncyte_tensor_t tensor;
static syncyte_window_t window;
static syncyte_reducer_t reducer;
static syncyte_store_t store;
static syncyte_store_worker_t worker;
static syncyte_request_t in_flight;

static void read_tensor(void) {
  int64_t every[rows] = {0, 1, 2, 3, 4, 5};
  double got[rows][columns] = {{0}};
  const int64_t lower[2] = {0, 0};
  const syncyte_buffer_t index = vector_of(every, SYNCYTE_INT64, rows);
  syncyte_buffer_t output = {0};
  EXPECT_OK(syncyte_buffer_init(got, SYNCYTE_FLOAT64, 2, shape, &output));
  EXPECT_OK(syncyte_tensor_gather(tensor, &index, &output));
  for (int i = 0; i < rows; ++i) EXPECT(got[i][columns - 1] == i);
  got[rows - 1][0] = -1;
  EXPECT_OK(syncyte_tensor_get_box(tensor, 2, lower, &output));
  EXPECT(got[rows - 1][0] == rows - 1);
}

/* Key 1 of the store holds the number of ranks. */
static void pull(void) {
  int64_t key = 1;
  float value = -1;
  int32_t is_local = 0;
  const syncyte_buffer_t wanted = vector_of(&key, SYNCYTE_INT64, 1), room = vector_of(&value, SYNCYTE_FLOAT32, 1);
  EXPECT_OK(syncyte_store_worker_pull(worker, &wanted, &room));
  EXPECT(value == (float)size);
  value = -1;
  EXPECT_OK(syncyte_store_worker_pull_if_local(worker, &wanted, &room, &is_local));
  EXPECT(is_local == 1);
  EXPECT(value == (float)size);
}

static void read_rows(void) {
  syncyte_buffer_t view = SYNCYTE_BUFFER_INIT;
  int32_t number = -1;
  read_tensor();
  pull();
  EXPECT_OK(syncyte_tensor_local(tensor, &view));
  EXPECT_OK(syncyte_comm_rank(world, &number));
  EXPECT(number == rank);
  EXPECT_OK(syncyte_initialized(&number));
  EXPECT(number == 1);
  for (int other = 0; other < size; ++other) {
    int64_t found = -1;
    const syncyte_buffer_t target = vector_of(&found, SYNCYTE_INT64, 1);
    EXPECT_OK(syncyte_window_get(window, other, 0, &target));
    EXPECT(found == other);
  }
}

static syncyte_status_t never_done(void* nothing, int32_t* done) {
  (void)nothing;
  (void)done;
  return SYNCYTE_SUCCESS;
}

static void use_the_worker(void) {
  int64_t key = 0;
  float value = 1;
  syncyte_request_t request = NULL;
  const syncyte_buffer_t keys = vector_of(&key, SYNCYTE_INT64, 1), values = vector_of(&value, SYNCYTE_FLOAT32, 1);
  EXPECT_REFUSED(syncyte_store_worker_push(worker, &keys, &values));
  EXPECT_REFUSED(syncyte_store_worker_set(worker, &keys, &values));
  EXPECT_REFUSED(syncyte_store_worker_pull_sample(worker, 1, &keys, &values));
  EXPECT_REFUSED(syncyte_store_worker_ipull(worker, &keys, &values, &request));
  EXPECT_REFUSED(syncyte_store_worker_ipush(worker, &keys, &values, &request));
  EXPECT_REFUSED(syncyte_store_worker_iset(worker, &keys, &values, &request));
  EXPECT_REFUSED(syncyte_store_worker_ipull_sample(worker, 1, &keys, &values, &request));
  EXPECT_REFUSED(syncyte_store_worker_push_unique(worker, &keys, &values));
  EXPECT_REFUSED(syncyte_store_worker_prefetch(worker, &keys));
  EXPECT_REFUSED(syncyte_store_worker_flush(worker));
  EXPECT_REFUSED(syncyte_store_worker_barrier(worker));
  EXPECT_REFUSED(syncyte_store_sync(store));
}

static void call_what_is_refused(void) {
  double values[columns] = {1, 2, 3, 4};
  int64_t row = 0, number = 7, word = 0;
  int32_t level = 0, done = 0;
  const int64_t one_row[2] = {1, columns};
  const syncyte_buffer_t index = vector_of(&row, SYNCYTE_INT64, 1), counter = vector_of(&number, SYNCYTE_INT64, 1);
  const syncyte_buffer_t line = vector_of(values, SYNCYTE_FLOAT64, columns);
  syncyte_buffer_t source = {0};
  syncyte_comm_t comm = NULL;
  syncyte_tensor_t made = NULL;
  syncyte_request_t request = NULL;
  EXPECT_OK(syncyte_buffer_init(values, SYNCYTE_FLOAT64, 2, one_row, &source));
  if (size > 1) { /* collectives of several ranks */
    EXPECT_REFUSED(syncyte_comm_barrier(world));
    EXPECT_REFUSED(syncyte_comm_allreduce(world, &line, SYNCYTE_OP_SUM, NULL, &line));
    EXPECT_REFUSED(syncyte_comm_agree(world, SYNCYTE_SUCCESS, "agree", 0, NULL));
  }
  EXPECT_ERROR(syncyte_tensor_sync(tensor), SYNCYTE_ERR_UNSUPPORTED, "use COMM_SELF in blocking collectives");
  EXPECT_REFUSED(syncyte_comm_dup(self, NULL, &comm));
  EXPECT_REFUSED(syncyte_comm_neighbor_alltoall(self, &line, NULL, &line));
  EXPECT_REFUSED(syncyte_tensor_create(self, SYNCYTE_FLOAT64, 2, shape, NULL, &made));
  EXPECT_REFUSED(syncyte_tensor_wrap(self, &source, NULL, &made));
  EXPECT_REFUSED(syncyte_comm_send(world, &line, 0, 0, NULL));
  EXPECT_REFUSED(syncyte_comm_irecv(world, 0, 0, NULL, &line, NULL, &request));
  EXPECT_REFUSED(syncyte_comm_iallreduce(self, &line, SYNCYTE_OP_SUM, NULL, &line, &request));
  EXPECT_REFUSED(syncyte_request_create(never_done, NULL, NULL, NULL, &request));
  EXPECT_REFUSED(syncyte_request_test(&in_flight, &done));
  EXPECT_REFUSED(syncyte_request_wait(&in_flight));
  EXPECT_REFUSED(syncyte_request_destroy(&in_flight));
  EXPECT_REFUSED(syncyte_tensor_scatter(tensor, &index, &source));
  EXPECT_REFUSED(syncyte_tensor_scatter_add(tensor, &index, &source));
  EXPECT_REFUSED(syncyte_tensor_put_signal(tensor, &index, &source, tensor, 0, 1, SYNCYTE_OP_SUM));
  EXPECT_REFUSED(syncyte_tensor_accumulate_box(tensor, 2, one_row, &source, NULL, SYNCYTE_OP_SUM));
  EXPECT_REFUSED(syncyte_tensor_lock(tensor, 0));
  EXPECT_REFUSED(syncyte_tensor_unlock(tensor, 0));
  EXPECT_REFUSED(syncyte_window_lock(window, 0, SYNCYTE_LOCK_EXCLUSIVE));
  EXPECT_REFUSED(syncyte_window_unlock(window, 0));
  EXPECT_REFUSED(syncyte_window_put(window, 0, 0, &counter));
  EXPECT_REFUSED(syncyte_window_accumulate(window, 0, 0, &counter, SYNCYTE_OP_SUM));
  EXPECT_REFUSED(syncyte_window_iput(window, 0, 0, &counter, &request));
  EXPECT_REFUSED(syncyte_window_iget(window, 0, 0, &counter, &request));
  EXPECT_REFUSED(syncyte_window_iaccumulate(window, 0, 0, &counter, SYNCYTE_OP_SUM, &request));
  EXPECT_REFUSED(syncyte_window_ifetch_op(window, 0, 0, SYNCYTE_INT64, &number, SYNCYTE_OP_SUM, &word, &request));
  EXPECT_REFUSED(syncyte_window_icompare_swap(window, 0, 0, SYNCYTE_INT64, &number, &number, &word, &request));
  EXPECT_REFUSED(syncyte_tensor_iget_box(tensor, 2, one_row, &source, &request));
  EXPECT_REFUSED(syncyte_tensor_iput_box(tensor, 2, one_row, &source, &request));
  EXPECT_REFUSED(syncyte_tensor_iaccumulate_box(tensor, 2, one_row, &source, NULL, SYNCYTE_OP_SUM, &request));
  EXPECT_REFUSED(syncyte_window_fence(window));
  EXPECT_REFUSED(syncyte_reducer_start(reducer, 0));
  EXPECT_REFUSED(syncyte_reducer_wait(reducer));
  EXPECT_REFUSED(syncyte_reducer_give_up(reducer));
  EXPECT_REFUSED(syncyte_thread_level(&level));
}

static void use_the_communicator_of_one_rank(void) {
  double values[3] = {1, 2, 3}, result[3] = {0, 0, 0};
  int64_t counts[1] = {3}, length = 0;
  uint16_t halves[3] = {0x3c00, 0x4000, 0x4200}, half_result[3] = {0, 0, 0};
  const syncyte_buffer_t from = vector_of(values, SYNCYTE_FLOAT64, 3), to = vector_of(result, SYNCYTE_FLOAT64, 3);
  const syncyte_buffer_t half = vector_of(halves, SYNCYTE_FLOAT16, 3);
  const syncyte_buffer_t half_to = vector_of(half_result, SYNCYTE_FLOAT16, 3);
  syncyte_comm_t again = NULL;
  EXPECT_OK(syncyte_comm_self(&again));
  EXPECT(again == self);
#define EXPECT_COPIED(call)                             \
  do {                                                  \
    memset(result, 0, sizeof result);                   \
    EXPECT_OK(call);                                    \
    EXPECT(memcmp(result, values, sizeof result) == 0); \
  } while (0)
  EXPECT_COPIED(syncyte_comm_allreduce(self, &from, SYNCYTE_OP_SUM, NULL, &to));
  EXPECT_COPIED(syncyte_comm_reduce(self, &from, SYNCYTE_OP_MAX, 0, NULL, &to));
  EXPECT_COPIED(syncyte_comm_scan(self, &from, SYNCYTE_OP_SUM, 1, NULL, &to));
  EXPECT_COPIED(syncyte_comm_allgather(self, &from, NULL, &to));
  EXPECT_COPIED(syncyte_comm_allgatherv(self, &from, 1, counts, NULL, &to));
  EXPECT_COPIED(syncyte_comm_alltoallv(self, &from, 1, counts, 1, counts, NULL, &to));
  EXPECT_COPIED(syncyte_comm_gather_along(self, &from, 0, 0, 1, counts, NULL, &to));
  EXPECT_COPIED(syncyte_comm_allgather_along(self, &from, 0, 1, counts, NULL, &to));
  EXPECT_COPIED(syncyte_comm_scatter_along(self, &from, 0, 0, 1, counts, NULL, &to));
  EXPECT_COPIED(syncyte_comm_reduce_scatter_along(self, &from, 0, SYNCYTE_OP_SUM, 1, counts, NULL, &to));
  EXPECT_OK(syncyte_comm_allreduce(self, &half, SYNCYTE_OP_SUM, NULL, &half_to));
  EXPECT(memcmp(half_result, halves, sizeof halves) == 0);
  EXPECT_OK(syncyte_comm_exscan(self, &from, SYNCYTE_OP_PROD, 0, NULL, &to));
  EXPECT(result[0] == 1);
  EXPECT(result[2] == 1);
  EXPECT_OK(syncyte_comm_bcast(self, 0, NULL, &to));
  EXPECT_OK(syncyte_comm_counts(self, 5, NULL, 1, &length));
  EXPECT(length == 5);
  EXPECT_OK(syncyte_comm_barrier(self));
  EXPECT_ERROR(syncyte_comm_bcast(self, 1, NULL, &to), SYNCYTE_ERR_ARGUMENT, "root is 1");
  EXPECT_OK(syncyte_comm_destroy(&again));
}

static void end(void) {
  EXPECT_OK(syncyte_init(NULL));
  EXPECT_OK(syncyte_reducer_destroy(&reducer));
  EXPECT_OK(syncyte_window_destroy(&window));
  EXPECT_OK(syncyte_finalize());
  read_tensor();
  EXPECT_OK(syncyte_tensor_destroy(&tensor));
}

static void make_store(void) {
  const int64_t one = 1;
  int64_t key = 1;
  float value = 1;
  const syncyte_buffer_t wanted = vector_of(&key, SYNCYTE_INT64, 1), given = vector_of(&value, SYNCYTE_FLOAT32, 1);
  EXPECT_OK(syncyte_store_create(world, SYNCYTE_FLOAT32, 2, 1, &one, NULL, &store));
  EXPECT_OK(syncyte_store_worker_create(store, 0, &worker));
  EXPECT_OK(syncyte_store_worker_push(worker, &wanted, &given));
  EXPECT_OK(syncyte_store_sync(store));
}

/* Makes the objects that children use: a tensor whose rows contain their numbers, a window with each rank's number, a
   reducer, a store. */
static void make_objects(void) {
  const syncyte_dtype_t dtype = SYNCYTE_FLOAT32;
  const int64_t elements = 10;
  syncyte_buffer_t local = SYNCYTE_BUFFER_INIT;
  void* mine = NULL;
  int64_t first = 0, count = 0;
  EXPECT_OK(syncyte_comm_self(&self));
  make_store();
  EXPECT_OK(syncyte_tensor_create(world, SYNCYTE_FLOAT64, 2, shape, NULL, &tensor));
  EXPECT_OK(syncyte_window_create(world, sizeof(int64_t), NULL, &window));
  EXPECT_OK(syncyte_reducer_create(world, 1, &dtype, &elements, NULL, &reducer));
  EXPECT_OK(syncyte_window_pointer(window, rank, &mine));
  *(int64_t*)mine = rank;
  EXPECT_OK(syncyte_tensor_local(tensor, &local));
  EXPECT_OK(syncyte_tensor_rows(tensor, rank, &first, &count));
  for (int64_t i = 0; i < count * columns; ++i) ((double*)local.data)[i] = (double)(first + i / columns);
  EXPECT_OK(syncyte_tensor_sync(tensor));
}

/* The ranks continue: operations in flight complete, and the children have not affected them. */
static void use_objects(const int32_t* arrived) {
  const syncyte_buffer_t sent = vector_of(&rank, SYNCYTE_INT32, 1);
  EXPECT_OK(syncyte_comm_send(world, &sent, (rank + size - 1) % size, 3, NULL));
  EXPECT_OK(syncyte_request_wait(&in_flight));
  EXPECT(*arrived == (rank + 1) % size);
  EXPECT_OK(syncyte_reducer_start(reducer, 0));
  EXPECT_OK(syncyte_reducer_wait(reducer));
  EXPECT_OK(syncyte_comm_barrier(world));
}

int main(void) {
  int32_t arrived = -1;
  world = start(&rank, &size);
  make_objects();
  const syncyte_buffer_t message = vector_of(&arrived, SYNCYTE_INT32, 1);
  EXPECT_OK(syncyte_comm_irecv(world, (rank + 1) % size, 3, NULL, &message, NULL, &in_flight));
  in_child(5, read_rows);
  in_child(5, call_what_is_refused);
  in_child(5, use_the_worker);
  in_child(5, use_the_communicator_of_one_rank);
  in_child(5, end);
  use_objects(&arrived);
  EXPECT_OK(syncyte_finalize());
  return failures != 0;
}
