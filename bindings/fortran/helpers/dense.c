#include "dense.h"

#include <stdlib.h>
#include <string.h>

/* Copies what lies at `at` along the dimensions up to d, in array element order; returns the end of the dense side. */
static char* copy_elements(const CFI_cdesc_t* array, int d, char* at, char* dense, bool to_dense) {
  if (d < 0) {
    memcpy(to_dense ? dense : at, to_dense ? at : dense, array->elem_len);
    return dense + array->elem_len;
  }
  for (CFI_index_t i = 0; i < array->dim[d].extent; ++i)
    dense = copy_elements(array, d - 1, at + i * array->dim[d].sm, dense, to_dense);
  return dense;
}

static void set_dense_strides(syncyte_buffer_t* buffer, size_t element_bytes) {
  int64_t stride = (int64_t)element_bytes;
  for (int i = buffer->ndim - 1; i >= 0; --i) {
    buffer->strides[i] = stride;
    stride *= buffer->shape[i];
  }
}

syncyte_status_t fortran_dense_open(const CFI_cdesc_t* array, const char* name, bool is_read, fortran_dense_t* dense) {
  dense->array = array;
  dense->copy = NULL;
  const syncyte_status_t status = fortran_buffer(array, name, 0, &dense->buffer);
  if (status != SYNCYTE_SUCCESS || fortran_is_contiguous(array)) return status;
  const size_t bytes = (size_t)fortran_count(array) * array->elem_len;
  dense->copy = malloc(bytes);
  if (dense->copy == NULL) {
    dense->buffer.ndim = -1;
    return fortran_fail(SYNCYTE_ERR_MEMORY, "%s is not contiguous, and there is no memory for a copy of %zu bytes",
                        name, bytes);
  }
  dense->buffer.data = dense->copy;
  set_dense_strides(&dense->buffer, array->elem_len);
  if (is_read) copy_elements(array, array->rank - 1, array->base_addr, dense->copy, true);
  return SYNCYTE_SUCCESS;
}

void fortran_dense_close(fortran_dense_t* dense, bool is_written) {
  if (dense->copy == NULL) return;
  if (is_written) copy_elements(dense->array, dense->array->rank - 1, dense->array->base_addr, dense->copy, false);
  free(dense->copy);
  dense->copy = NULL;
}
