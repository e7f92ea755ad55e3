/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that move to other ranks, for Fortran: a row is an index of an array's last dimension. */
#include <stdlib.h>

#include "descriptor.h"

enum { most_arrays = 8 };

/* The ranks, as C's integers; the caller frees them. */
static syncyte_status_t read_ranks(const CFI_cdesc_t* given, int64_t count, int32_t** ranks) {
  int64_t* const numbers = malloc((size_t)(count + 1) * sizeof *numbers);
  *ranks = malloc((size_t)(count + 1) * sizeof **ranks);
  syncyte_status_t status = numbers == NULL || *ranks == NULL
                                ? fortran_fail(SYNCYTE_ERR_MEMORY, "no memory for %lld numbers", (long long)count)
                                : fortran_integers(given, "destinations", 0, numbers);
  for (int64_t i = 0; status == SYNCYTE_SUCCESS && i < count; ++i) {
    (*ranks)[i] = (int32_t)numbers[i];
    if ((*ranks)[i] != numbers[i])
      status = fortran_wrong(SYNCYTE_ERR_ARGUMENT, "destinations", i, "%lld; expected a rank", (long long)numbers[i]);
  }
  free(numbers);
  return status;
}

syncyte_status_t fortran_relocate_rows(syncyte_comm_t comm, const CFI_cdesc_t* destinations, CFI_cdesc_t* rows,
                                       CFI_cdesc_t* array, CFI_cdesc_t* array2, CFI_cdesc_t* array3,
                                       CFI_cdesc_t* array4, CFI_cdesc_t* array5, CFI_cdesc_t* array6,
                                       CFI_cdesc_t* array7, CFI_cdesc_t* array8) {
  const CFI_cdesc_t* const given[most_arrays] = {array, array2, array3, array4, array5, array6, array7, array8};
  const char* const names[most_arrays] = {"array",  "array2", "array3", "array4",
                                          "array5", "array6", "array7", "array8"};
  syncyte_buffer_t buffers[most_arrays];
  int64_t count = 0, found = 0;
  int32_t* ranks = NULL;
  const int64_t moved = fortran_count(destinations);
  syncyte_status_t status = read_ranks(destinations, moved, &ranks);
  for (int i = 0; status == SYNCYTE_SUCCESS && i < most_arrays; ++i)
    if (given[i] != NULL) status = fortran_buffer_as(given[i], names[i], 0, &buffers[count++]);
  if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(rows, "rows", 0); /* its type, before rows move */
  if (status == SYNCYTE_SUCCESS)
    status = syncyte_comm_relocate_rows(comm, moved, ranks, count, buffers, NULL, buffers, &found);
  else
    status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, comm, status, "comm_relocate_rows");
  free(ranks);
  return status == SYNCYTE_SUCCESS ? fortran_set_integer(rows, "rows", found) : status;
}
