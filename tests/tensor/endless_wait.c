/* The last rank holds a lock and waits for a counter, the others wait for the lock: until they are killed. */
#include "syncyte.h"

int main(void) {
  const int64_t one = 1;
  syncyte_comm_t world = NULL;
  syncyte_tensor_t flag = NULL;
  syncyte_window_t window = NULL;
  int64_t seen = 0;
  int32_t rank = 0;
  int32_t size = 0;
  if (syncyte_init(NULL) != SYNCYTE_SUCCESS || syncyte_comm_world(&world) != SYNCYTE_SUCCESS) return 1;
  syncyte_comm_rank(world, &rank);
  syncyte_comm_size(world, &size);
  if (syncyte_tensor_create(world, SYNCYTE_INT64, 1, &one, NULL, &flag) != SYNCYTE_SUCCESS) return 1;
  if (syncyte_window_create(world, 8, NULL, &window) != SYNCYTE_SUCCESS) return 1;
  if (rank == size - 1) syncyte_window_lock(window, 0, SYNCYTE_LOCK_SHARED);
  syncyte_comm_barrier(world);
  if (rank == size - 1) syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_EQ, 1, -1.0, &seen);
  syncyte_window_lock(window, 0, SYNCYTE_LOCK_EXCLUSIVE);
  return 0;
}
