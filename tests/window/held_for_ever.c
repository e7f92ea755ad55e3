/* The last rank takes rank 0's lock, shared, and keeps it; the others wait for it until the watchdog ends them. */
#include <unistd.h>

#include "syncyte.h"

int main(void) {
  syncyte_comm_t world = NULL;
  syncyte_window_t window = NULL;
  syncyte_window_options_t options = SYNCYTE_WINDOW_OPTIONS_INIT;
  int32_t rank = 0;
  int32_t size = 0;
  options.name = "parts";
  if (syncyte_init(NULL) != SYNCYTE_SUCCESS || syncyte_comm_world(&world) != SYNCYTE_SUCCESS) return 1;
  syncyte_comm_rank(world, &rank);
  syncyte_comm_size(world, &size);
  if (syncyte_window_create(world, 8, &options, &window) != SYNCYTE_SUCCESS) return 1;
  if (rank == size - 1) syncyte_window_lock(window, 0, SYNCYTE_LOCK_SHARED);
  syncyte_comm_barrier(world);
  if (rank == size - 1) {
    sleep(25);
  } else {
    syncyte_window_lock(window, 0, SYNCYTE_LOCK_EXCLUSIVE);
  }
  return 0;
}
