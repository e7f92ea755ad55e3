/* SPDX-License-Identifier: BSD-3-Clause */
/* Indices of tensors and windows for Fortran, which count from 1. */
#include "descriptor.h"

static syncyte_status_t check_rows(int64_t count, int64_t rows, int64_t* values) {
  for (int64_t i = 0; i < count; ++i) {
    if (values[i] < 1 || values[i] > rows)
      return fortran_fail(SYNCYTE_ERR_INDEX, "index %lld at position %lld is outside 1 to %lld", (long long)values[i],
                          (long long)(i + 1), (long long)rows);
    values[i] -= 1;
  }
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_rows(const CFI_cdesc_t* index, int64_t rows, syncyte_buffer_t* buffer) {
  const int64_t count = fortran_count(index);
  void* data = NULL;
  *buffer = (syncyte_buffer_t){.struct_size = sizeof *buffer};
  if (fortran_dtype(index) != SYNCYTE_INT32 && fortran_dtype(index) != SYNCYTE_INT64)
    return fortran_wrong(SYNCYTE_ERR_TYPE, "index", -1, "%s; expected integer(4) or integer(8)",
                         fortran_type_name(index));
  syncyte_status_t status = syncyte_memory_allocate((int64_t)sizeof(int64_t) * count, SYNCYTE_MEMORY_HOST, 0, &data);
  if (status != SYNCYTE_SUCCESS) return fortran_fail(status, "no memory for %lld indices", (long long)count);
  status = fortran_integers(index, "index", 0, data);
  if (status == SYNCYTE_SUCCESS) status = check_rows(count, rows, data);
  if (status == SYNCYTE_SUCCESS) return syncyte_buffer_init(data, SYNCYTE_INT64, 1, &count, buffer);
  (void)syncyte_memory_free(data);
  return status;
}

syncyte_status_t fortran_tensor_owner(syncyte_tensor_t tensor, const CFI_cdesc_t* index, CFI_cdesc_t* ranks) {
  syncyte_buffer_t global = SYNCYTE_BUFFER_INIT, rows;
  syncyte_status_t status = syncyte_tensor_describe(tensor, &global);
  if (status != SYNCYTE_SUCCESS) return status;
  status = fortran_check_result(ranks, "ranks", CFI_type_int32_t, index);
  if (status != SYNCYTE_SUCCESS) return status;
  status = fortran_rows(index, global.shape[0], &rows);
  if (status == SYNCYTE_SUCCESS) status = syncyte_tensor_owner(tensor, rows.shape[0], rows.data, ranks->base_addr);
  (void)syncyte_memory_free(rows.data);
  return status;
}

static syncyte_status_t from_subscripts(const syncyte_buffer_t* global, const CFI_cdesc_t* element, int64_t* number) {
  int64_t at[SYNCYTE_MAX_NDIM];
  int32_t count = 0;
  const syncyte_status_t status = fortran_reversed(element, "element", &count, at);
  if (status != SYNCYTE_SUCCESS) return status;
  if (count != global->ndim)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, "element", -1, "of %d subscripts; expected %d, the rank of the tensor",
                         count, global->ndim);
  *number = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (at[i] < 1 || at[i] > global->shape[i])
      return fortran_fail(SYNCYTE_ERR_INDEX, "subscript %lld of dimension %d is outside 1 to %lld", (long long)at[i],
                          count - i, (long long)global->shape[i]);
    *number = *number * global->shape[i] + at[i] - 1;
  }
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_element(syncyte_tensor_t tensor, const CFI_cdesc_t* element, int64_t* number) {
  syncyte_buffer_t global = SYNCYTE_BUFFER_INIT;
  int64_t total = 1;
  syncyte_status_t status = syncyte_tensor_describe(tensor, &global);
  if (status != SYNCYTE_SUCCESS) return status;
  if (element->rank > 0) return from_subscripts(&global, element, number);
  status = fortran_integer(element, "element", number);
  if (status != SYNCYTE_SUCCESS) return status;
  for (int32_t i = 0; i < global.ndim; ++i) total *= global.shape[i];
  if (*number < 1 || *number > total)
    return fortran_fail(SYNCYTE_ERR_INDEX, "element %lld is outside 1 to %lld", (long long)*number, (long long)total);
  *number -= 1;
  return SYNCYTE_SUCCESS;
}

static syncyte_status_t check_row(syncyte_tensor_t tensor, int64_t row) {
  syncyte_buffer_t global = SYNCYTE_BUFFER_INIT;
  const syncyte_status_t status = syncyte_tensor_describe(tensor, &global);
  if (status != SYNCYTE_SUCCESS || (row >= 1 && row <= global.shape[0])) return status;
  return fortran_wrong(SYNCYTE_ERR_INDEX, "row", -1, "%lld; expected 1 to %lld", (long long)row,
                       (long long)global.shape[0]);
}

syncyte_status_t fortran_tensor_lock(syncyte_tensor_t tensor, int64_t row) {
  const syncyte_status_t status = check_row(tensor, row);
  return status != SYNCYTE_SUCCESS ? status : syncyte_tensor_lock(tensor, row - 1);
}

syncyte_status_t fortran_tensor_unlock(syncyte_tensor_t tensor, int64_t row) {
  const syncyte_status_t status = check_row(tensor, row);
  return status != SYNCYTE_SUCCESS ? status : syncyte_tensor_unlock(tensor, row - 1);
}

/* An array with fewer dimensions than the tensor gets further ones of extent 1 behind its own (in front in C). */
syncyte_status_t fortran_box(const syncyte_buffer_t* global, syncyte_buffer_t* buffer, int64_t length, int64_t* first) {
  const int32_t ndim = global->ndim, missing = ndim - buffer->ndim;
  if (missing < 0)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, "array", -1, "of rank %d; expected at most %d, the rank of the tensor",
                         buffer->ndim, ndim);
  int64_t bytes = 0;
  (void)syncyte_dtype_size(buffer->dtype, &bytes);
  for (int32_t i = ndim - 1; i >= 0; --i) {
    buffer->shape[i] = i >= missing ? buffer->shape[i - missing] : 1;
    buffer->strides[i] = i >= missing ? buffer->strides[i - missing] : bytes;
  }
  buffer->ndim = ndim;
  if (length != ndim) return SYNCYTE_SUCCESS; /* the core refuses that */
  for (int32_t i = ndim - 1; i >= 0; --i) {
    const int64_t room = global->shape[i];
    if (first[i] < 1 || first[i] - 1 > room - buffer->shape[i])
      return fortran_fail(SYNCYTE_ERR_INDEX,
                          "the box's dimension %d begins at %lld and has extent %lld, outside 1 to %lld", ndim - i,
                          (long long)first[i], (long long)buffer->shape[i], (long long)room);
    first[i] -= 1;
  }
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_tensor_publish(syncyte_tensor_t tensor, const CFI_cdesc_t* array, int64_t step) {
  syncyte_buffer_t global = SYNCYTE_BUFFER_INIT, buffer;
  syncyte_status_t status = syncyte_tensor_describe(tensor, &global);
  if (status == SYNCYTE_SUCCESS && array != NULL) status = fortran_buffer_as(array, "array", global.dtype, &buffer);
  return status != SYNCYTE_SUCCESS ? status : syncyte_tensor_publish(tensor, array != NULL, &buffer, step);
}

/* The box is one of the field: the tensor's last dimension, in C its first, is that of the slots. */
syncyte_status_t fortran_tensor_take(syncyte_tensor_t tensor, const CFI_cdesc_t* lower, CFI_cdesc_t* array,
                                     int64_t at_least, double timeout, int64_t* step) {
  syncyte_buffer_t global = SYNCYTE_BUFFER_INIT, buffer;
  int64_t first[SYNCYTE_MAX_NDIM];
  int32_t count = 0;
  syncyte_status_t status = syncyte_tensor_describe(tensor, &global);
  if (global.ndim > 1) global.ndim -= 1; /* without slots, the core refuses the tensor */
  for (int32_t i = 0; i < global.ndim; ++i) global.shape[i] = global.shape[i + 1];
  if (status == SYNCYTE_SUCCESS) status = fortran_reversed(lower, "lower", &count, first);
  if (status == SYNCYTE_SUCCESS) status = fortran_buffer_as(array, "array", global.dtype, &buffer);
  if (status == SYNCYTE_SUCCESS) status = fortran_box(&global, &buffer, count, first);
  return status != SYNCYTE_SUCCESS ? status
                                   : syncyte_tensor_take(tensor, count, first, at_least, timeout, &buffer, step);
}

syncyte_status_t fortran_place(const CFI_cdesc_t* first, const syncyte_buffer_t* array, int64_t* offset) {
  int64_t element = 0;
  int64_t bytes = 1;
  const syncyte_status_t status = fortran_integer(first, "first", &element);
  if (status != SYNCYTE_SUCCESS) return status;
  (void)syncyte_dtype_size(array->dtype, &bytes);
  if (element < 1 || element > INT64_MAX / bytes)
    return fortran_fail(SYNCYTE_ERR_INDEX, "first = %lld: elements count from 1", (long long)element);
  *offset = (element - 1) * bytes;
  return SYNCYTE_SUCCESS;
}
