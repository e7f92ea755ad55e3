/* A wait for a counter may take longer than the watchdog's limit; where others hang, the report shows it. */
#include <stdio.h>
#include <unistd.h>

#include "syncyte.h"

int main(void) {
  const int64_t one = 1;
  syncyte_comm_t world = NULL;
  syncyte_tensor_t flag = NULL;
  syncyte_tensor_options_t options = SYNCYTE_TENSOR_OPTIONS_INIT;
  int64_t seen = 0;
  int32_t rank = 0;
  options.name = "flag";
  if (syncyte_init(NULL) != SYNCYTE_SUCCESS || syncyte_comm_world(&world) != SYNCYTE_SUCCESS) return 1;
  syncyte_comm_rank(world, &rank);
  if (syncyte_tensor_create(world, SYNCYTE_INT64, 1, &one, &options, &flag) != SYNCYTE_SUCCESS) return 1;
  if (rank == 0) {
    if (syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_EQ, 1, 3.0, &seen) == SYNCYTE_ERR_TIMEOUT) puts("waited in peace");
    fflush(stdout);
    syncyte_tensor_wait(flag, 0, SYNCYTE_COMPARE_EQ, 1, -1.0, &seen);
  } else {
    sleep(4);
  }
  syncyte_comm_barrier(world);
  return 0;
}
