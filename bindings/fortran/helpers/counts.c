#include "counts.h"

#include <stdlib.h>

int64_t fortran_ranks(syncyte_comm_t comm) {
  int32_t size = 0;
  return syncyte_comm_size(comm, &size) == SYNCYTE_SUCCESS ? size : 0;
}

syncyte_status_t fortran_counts(syncyte_comm_t comm, const CFI_cdesc_t* array, const char* name, int64_t** counts) {
  int32_t size = 0;
  syncyte_status_t status = syncyte_comm_size(comm, &size);
  *counts = NULL;
  if (status != SYNCYTE_SUCCESS) return fortran_fail(status, "%s: not a communicator", name);
  if (fortran_count(array) != size)
    return fortran_fail(SYNCYTE_ERR_SHAPE, "%s has %lld elements, the communicator has %d ranks", name,
                        (long long)fortran_count(array), size);
  int64_t* values = malloc(sizeof(int64_t) * (size_t)size);
  if (values == NULL) return fortran_fail(SYNCYTE_ERR_MEMORY, "%s: no memory for %d counts", name, size);
  status = fortran_integers(array, name, size, values);
  if (status == SYNCYTE_SUCCESS)
    *counts = values;
  else
    free(values);
  return status;
}
