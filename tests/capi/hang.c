/* The last rank leaves the others alone in a barrier. */
#include <unistd.h>

#include "syncyte.h"

int main(void) {
  syncyte_comm_t world = NULL;
  int32_t rank = 0;
  int32_t size = 0;
  if (syncyte_init(NULL) != SYNCYTE_SUCCESS || syncyte_comm_world(&world) != SYNCYTE_SUCCESS) return 1;
  syncyte_comm_rank(world, &rank);
  syncyte_comm_size(world, &size);
  syncyte_comm_barrier(world);
  if (rank == size - 1) sleep(25);
  syncyte_comm_barrier(world);
  return 0;
}
