/* What a Fortran program does with an error that nobody asked for: the job ends, on all ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "descriptor.h"
#include "terms.h"

_Noreturn void fortran_end_job(syncyte_status_t status) {
  int started = 0, ended = 0;
  fprintf(stderr, "Syncyte error %s: %s\n", syncyte_status_name(status), fortran_last_error());
  fflush(stderr);
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started && !ended) MPI_Abort(MPI_COMM_WORLD, status);
  exit(status);
}
