/* Whole tensors for Fortran: creation, rows by index, boxes. Indices count from 1, dimensions are reversed. */
#include <stdlib.h>

#include "descriptor.h"
#include "terms.h"

/* Reads an optional number of rows; what cannot be read becomes one that the core refuses, on all ranks. */
static syncyte_status_t read_local_rows(const CFI_cdesc_t* local_rows, int64_t* rows) {
  if (local_rows == NULL) return SYNCYTE_SUCCESS;
  const syncyte_status_t status = fortran_integer(local_rows, "local_rows", rows);
  if (status != SYNCYTE_SUCCESS) *rows = -2;
  return status;
}

syncyte_status_t fortran_tensor_create(syncyte_comm_t comm, syncyte_dtype_t dtype, const CFI_cdesc_t* shape,
                                       const CFI_cdesc_t* local_rows, const syncyte_tensor_options_t* options,
                                       syncyte_tensor_t* tensor) {
  int32_t ndim = -1; /* refused by the core on all ranks if shape cannot be read here */
  int64_t extents[SYNCYTE_MAX_NDIM] = {0};
  syncyte_tensor_options_t chosen = *options;
  syncyte_status_t status = read_local_rows(local_rows, &chosen.local_rows);
  const syncyte_status_t read = fortran_reversed(shape, "shape", &ndim, extents);
  status = read != SYNCYTE_SUCCESS ? read : status;
  const syncyte_status_t made = syncyte_tensor_create(comm, dtype, ndim, extents, &chosen, tensor);
  return fortran_settle(status, fortran_dimensions(made, ndim));
}

syncyte_status_t fortran_tensor_wrap(syncyte_comm_t comm, const CFI_cdesc_t* array,
                                     const syncyte_tensor_options_t* options, syncyte_tensor_t* tensor) {
  syncyte_buffer_t local;
  const syncyte_status_t status = fortran_buffer(array, "array", 0, &local);
  const syncyte_status_t made = syncyte_tensor_wrap(comm, &local, options, tensor);
  return fortran_settle(status, fortran_dimensions(made, local.ndim));
}

static syncyte_status_t check_rows(int64_t count, int64_t rows, int64_t* values) {
  for (int64_t i = 0; i < count; ++i) {
    if (values[i] < 1 || values[i] > rows)
      return fortran_fail(SYNCYTE_ERR_INDEX, "index %lld at position %lld is outside 1 to %lld", (long long)values[i],
                          (long long)(i + 1), (long long)rows);
    values[i] -= 1;
  }
  return SYNCYTE_SUCCESS;
}

/* Reads row numbers from 1 into row numbers from 0; the buffer's memory comes from the pool. */
static syncyte_status_t read_rows(const CFI_cdesc_t* index, int64_t rows, syncyte_buffer_t* buffer) {
  int64_t count = fortran_count(index);
  if (fortran_dtype(index) != SYNCYTE_INT32 && fortran_dtype(index) != SYNCYTE_INT64)
    return fortran_fail(SYNCYTE_ERR_TYPE, "index is %s, integer(4) or integer(8) is expected",
                        fortran_type_name(index));
  if (count < 0) return fortran_fail(SYNCYTE_ERR_SHAPE, "index has assumed size (*): pass a section");
  void* data = NULL;
  syncyte_status_t status = syncyte_memory_acquire(sizeof(int64_t) * (size_t)count, SYNCYTE_MEMORY_HOST, 0, &data);
  if (status != SYNCYTE_SUCCESS) return fortran_fail(status, "no memory for %lld indices", (long long)count);
  status = fortran_integers(index, "index", count, data);
  if (status == SYNCYTE_SUCCESS) status = check_rows(count, rows, data);
  if (status == SYNCYTE_SUCCESS) {
    (void)syncyte_buffer_init(data, SYNCYTE_INT64, 1, &count, buffer);
    return SYNCYTE_SUCCESS;
  }
  (void)syncyte_memory_release(data);
  return status;
}

typedef syncyte_status_t (*rows_function_t)(syncyte_tensor_t, const syncyte_buffer_t*, const syncyte_buffer_t*);

/* gather, scatter and scatter_add differ in the function only. */
static syncyte_status_t move_rows(rows_function_t function, syncyte_tensor_t tensor, const CFI_cdesc_t* index,
                                  const CFI_cdesc_t* array, const char* name) {
  syncyte_buffer_t global, rows, data;
  syncyte_status_t status = syncyte_tensor_describe(tensor, &global);
  if (status != SYNCYTE_SUCCESS) return status;
  status = fortran_buffer(array, name, global.dtype, &data);
  if (status == SYNCYTE_SUCCESS) status = read_rows(index, global.shape[0], &rows);
  if (status != SYNCYTE_SUCCESS) return fortran_report(status);
  status = function(tensor, &rows, &data);
  (void)syncyte_memory_release(rows.data);
  return status;
}

syncyte_status_t fortran_tensor_gather(syncyte_tensor_t tensor, const CFI_cdesc_t* index, const CFI_cdesc_t* output) {
  return move_rows(syncyte_tensor_gather, tensor, index, output, "output");
}

syncyte_status_t fortran_tensor_scatter(syncyte_tensor_t tensor, const CFI_cdesc_t* index, const CFI_cdesc_t* source) {
  return move_rows(syncyte_tensor_scatter, tensor, index, source, "source");
}

syncyte_status_t fortran_tensor_scatter_add(syncyte_tensor_t tensor, const CFI_cdesc_t* index,
                                            const CFI_cdesc_t* source) {
  return move_rows(syncyte_tensor_scatter_add, tensor, index, source, "source");
}

syncyte_status_t fortran_tensor_owner(syncyte_tensor_t tensor, const CFI_cdesc_t* index, const CFI_cdesc_t* ranks) {
  syncyte_buffer_t global, rows;
  syncyte_status_t status = syncyte_tensor_describe(tensor, &global);
  if (status != SYNCYTE_SUCCESS) return status;
  const bool dense = fortran_count(ranks) == 0 || CFI_is_contiguous(ranks);
  if (ranks->type != CFI_type_int32_t || !dense || fortran_count(ranks) != fortran_count(index))
    return fortran_report(fortran_fail(SYNCYTE_ERR_SHAPE,
                                       "ranks is %s with %lld elements, contiguous integer(4) with "
                                       "%lld elements is expected",
                                       fortran_type_name(ranks), (long long)fortran_count(ranks),
                                       (long long)fortran_count(index)));
  status = read_rows(index, global.shape[0], &rows);
  if (status != SYNCYTE_SUCCESS) return fortran_report(status);
  status = syncyte_tensor_owner(tensor, rows.shape[0], rows.data, ranks->base_addr);
  (void)syncyte_memory_release(rows.data);
  return status;
}

/* Gives an array with fewer dimensions than the tensor further ones of extent 1 behind its own (in front in C). */
static syncyte_status_t widen(int32_t ndim, const char* name, syncyte_buffer_t* data) {
  const int32_t missing = ndim - data->ndim;
  if (missing < 0) return fortran_fail(SYNCYTE_ERR_SHAPE, "%s has rank %d, the tensor only %d", name, data->ndim, ndim);
  size_t bytes = 0;
  (void)syncyte_dtype_size(data->dtype, &bytes);
  for (int32_t i = ndim - 1; i >= 0; --i) {
    data->shape[i] = i >= missing ? data->shape[i - missing] : 1;
    data->strides[i] = i >= missing ? data->strides[i - missing] : (int64_t)bytes;
  }
  data->ndim = ndim;
  return SYNCYTE_SUCCESS;
}

/* From 1 to 0; lower and all shapes are in C's order here, messages in Fortran's. */
static syncyte_status_t check_box(const syncyte_buffer_t* global, const syncyte_buffer_t* data, int64_t* lower) {
  for (int32_t i = global->ndim - 1; i >= 0; --i) {
    const int64_t room = global->shape[i];
    if (lower[i] < 1 || lower[i] - 1 > room - data->shape[i])
      return fortran_fail(SYNCYTE_ERR_INDEX,
                          "the box's dimension %d begins at %lld and has extent %lld, outside 1 to %lld",
                          global->ndim - i, (long long)lower[i], (long long)data->shape[i], (long long)room);
    lower[i] -= 1;
  }
  return SYNCYTE_SUCCESS;
}

static syncyte_status_t describe_box(syncyte_tensor_t tensor, const CFI_cdesc_t* array, const CFI_cdesc_t* lower,
                                     syncyte_buffer_t* data, int64_t* first) {
  syncyte_buffer_t global;
  int32_t count = 0;
  syncyte_status_t status = syncyte_tensor_describe(tensor, &global);
  if (status != SYNCYTE_SUCCESS) return status;
  status = fortran_buffer(array, "array", global.dtype, data);
  if (status == SYNCYTE_SUCCESS) status = widen(global.ndim, "array", data);
  if (status == SYNCYTE_SUCCESS) status = fortran_reversed(lower, "lower", &count, first);
  if (status == SYNCYTE_SUCCESS && count != global.ndim)
    status = fortran_fail(SYNCYTE_ERR_SHAPE, "lower has %d elements, the tensor %d dimensions", count, global.ndim);
  if (status == SYNCYTE_SUCCESS) status = check_box(&global, data, first);
  return status == SYNCYTE_SUCCESS ? status : fortran_report(status);
}

syncyte_status_t fortran_tensor_get_box(syncyte_tensor_t tensor, const CFI_cdesc_t* array, const CFI_cdesc_t* lower) {
  syncyte_buffer_t data;
  int64_t first[SYNCYTE_MAX_NDIM];
  const syncyte_status_t status = describe_box(tensor, array, lower, &data, first);
  return status != SYNCYTE_SUCCESS ? status : syncyte_tensor_get_box(tensor, first, data.ndim, &data);
}

syncyte_status_t fortran_tensor_put_box(syncyte_tensor_t tensor, const CFI_cdesc_t* array, const CFI_cdesc_t* lower) {
  syncyte_buffer_t data;
  int64_t first[SYNCYTE_MAX_NDIM];
  const syncyte_status_t status = describe_box(tensor, array, lower, &data, first);
  return status != SYNCYTE_SUCCESS ? status : syncyte_tensor_put_box(tensor, first, data.ndim, &data);
}
