/* The last rank leaves the others alone: in a barrier, in making a communicator, or at the end. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "../support/waiting.h"
#include "syncyte_mpi.h"

int main(int argc, char** argv) {
  const char* where = argc > 1 ? argv[1] : "barrier";
  syncyte_comm_t made = NULL;
  int32_t rank = 0;
  int32_t size = 0;
  if (strcmp(where, "mpi_finalize") == 0) MPI_Init(&argc, &argv);
  syncyte_comm_t world = start_world(&rank, &size);
  syncyte_comm_barrier(world);
  const int is_last = rank == size - 1;
  if (strcmp(where, "from_mpi") == 0) /* refused at once on the last rank, which cannot tell the others */
    syncyte_comm_from_mpi(is_last ? MPI_COMM_NULL : MPI_COMM_WORLD, NULL, &made);
  if (is_last) sleep(25);
  if (strcmp(where, "barrier") == 0) syncyte_comm_barrier(world);
  if (strcmp(where, "mpi_finalize") == 0) MPI_Finalize();
  syncyte_finalize();
  return 0;
}
