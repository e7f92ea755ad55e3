/* SPDX-License-Identifier: BSD-3-Clause */
/* Integers of any kind behind Fortran's descriptors. */
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"

/* Reads an integer; false for another type. */
static bool read_integer(syncyte_dtype_t dtype, const void* address, int64_t* value) {
  if (dtype == SYNCYTE_INT8) *value = *(const int8_t*)address;
  if (dtype == SYNCYTE_INT16) *value = *(const int16_t*)address;
  if (dtype == SYNCYTE_INT32) *value = *(const int32_t*)address;
  if (dtype == SYNCYTE_INT64) *value = *(const int64_t*)address;
  return dtype == SYNCYTE_INT8 || dtype == SYNCYTE_INT16 || dtype == SYNCYTE_INT32 || dtype == SYNCYTE_INT64;
}

static syncyte_status_t expect_scalar(const CFI_cdesc_t* scalar, const char* name) {
  if (scalar->rank != 0)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, name, -1, "an array of rank %d; expected a scalar", scalar->rank);
  if (scalar->base_addr == NULL)
    return fortran_wrong(SYNCYTE_ERR_ARGUMENT, name, -1, "not allocated or not associated");
  return SYNCYTE_SUCCESS;
}

static syncyte_status_t not_integer(const CFI_cdesc_t* array, const char* name) {
  return fortran_wrong(SYNCYTE_ERR_TYPE, name, -1, "%s; expected an integer of kind 1, 2, 4 or 8",
                       fortran_type_name(array));
}

syncyte_status_t fortran_integer(const CFI_cdesc_t* scalar, const char* name, int64_t* value) {
  const syncyte_status_t status = expect_scalar(scalar, name);
  if (status != SYNCYTE_SUCCESS) return status;
  return read_integer(fortran_dtype(scalar), scalar->base_addr, value) ? SYNCYTE_SUCCESS : not_integer(scalar, name);
}

/* Writes an integer of the array's kind; false where that cannot hold it. */
static bool write_integer(const CFI_cdesc_t* array, void* address, int64_t value) {
  const int8_t i8 = (int8_t)value;
  const int16_t i16 = (int16_t)value;
  const int32_t i32 = (int32_t)value;
  const size_t bytes = array->elem_len;
  const void* narrow = bytes == 1 ? (const void*)&i8 : bytes == 2 ? (const void*)&i16 : &i32;
  if (bytes == 8) narrow = &value;
  int64_t kept = 0;
  if (!read_integer(fortran_dtype(array), narrow, &kept) || kept != value) return false;
  memcpy(address, narrow, bytes);
  return true;
}

/* The address of the element after the one at `at`, in array element order. */
static char* next_element(const CFI_cdesc_t* array, CFI_index_t* at, char* address) {
  for (int d = 0; d < array->rank; ++d) {
    address += array->dim[d].sm;
    if (++at[d] < array->dim[d].extent) break;
    address -= at[d] * array->dim[d].sm;
    at[d] = 0;
  }
  return address;
}

syncyte_status_t fortran_integers(const CFI_cdesc_t* array, const char* name, int32_t is_reversed, int64_t* values) {
  const syncyte_status_t status = fortran_check(array, name);
  if (status != SYNCYTE_SUCCESS) return status;
  if (is_reversed != 0 && array->rank > 1)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, name, -1, "of rank %d; expected a vector", array->rank);
  const int64_t count = fortran_count(array);
  CFI_index_t at[CFI_MAX_RANK] = {0};
  char* address = array->base_addr;
  const syncyte_dtype_t dtype = fortran_dtype(array);
  for (int64_t i = 0; i < count; ++i, address = next_element(array, at, address))
    if (!read_integer(dtype, address, &values[is_reversed != 0 ? count - 1 - i : i])) return not_integer(array, name);
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_some_integers(const CFI_cdesc_t* array, const char* name, int64_t count, int64_t* values) {
  if (fortran_count(array) == count) return fortran_integers(array, name, 0, values);
  return fortran_wrong(SYNCYTE_ERR_SHAPE, name, -1, "of %lld elements; expected %lld", (long long)fortran_count(array),
                       (long long)count);
}

syncyte_status_t fortran_integers_buffer(const CFI_cdesc_t* array, const char* name, syncyte_buffer_t* buffer) {
  syncyte_status_t status = fortran_buffer(array, name, buffer);
  if (status != SYNCYTE_SUCCESS) return status;
  const syncyte_dtype_t dtype = buffer->dtype;
  if (dtype == SYNCYTE_INT64 && fortran_is_contiguous(array)) return SYNCYTE_SUCCESS;
  const bool is_integer =
      dtype == SYNCYTE_INT8 || dtype == SYNCYTE_INT16 || dtype == SYNCYTE_INT32 || dtype == SYNCYTE_INT64;
  if (!is_integer) return not_integer(array, name);
  const int64_t count = fortran_count(array);
  int64_t* copy = calloc((size_t)count + 1, sizeof *copy);
  if (copy == NULL) return fortran_fail(SYNCYTE_ERR_MEMORY, "no memory for a copy of %s", name);
  status = fortran_integers(array, name, 0, copy);
  if (status == SYNCYTE_SUCCESS) return syncyte_buffer_init(copy, SYNCYTE_INT64, 1, &count, buffer);
  free(copy);
  return status;
}

syncyte_status_t fortran_check_result(const CFI_cdesc_t* result, const char* name, CFI_type_t type,
                                      const CFI_cdesc_t* like) {
  const long long count = (long long)fortran_count(like);
  if (result->type == type && fortran_is_contiguous(result) && fortran_count(result) == count) return SYNCYTE_SUCCESS;
  return fortran_wrong(result->type == type ? SYNCYTE_ERR_SHAPE : SYNCYTE_ERR_TYPE, name, -1,
                       "%s with %lld elements; expected contiguous integer(%d) with %lld elements",
                       fortran_type_name(result), (long long)fortran_count(result), type == CFI_type_int32_t ? 4 : 8,
                       count);
}

syncyte_status_t fortran_set_integers(const CFI_cdesc_t* array, const char* name, const int64_t* values) {
  const int64_t count = fortran_count(array);
  CFI_index_t at[CFI_MAX_RANK] = {0};
  char* address = array->base_addr;
  for (int64_t i = 0; i < count; ++i, address = next_element(array, at, address))
    if (!write_integer(array, address, values[i]))
      return fortran_wrong(SYNCYTE_ERR_TYPE, name, -1, "%s, too small for the value %lld", fortran_type_name(array),
                           (long long)values[i]);
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_reversed(const CFI_cdesc_t* array, const char* name, int32_t* count, int64_t* values) {
  if (fortran_count(array) > SYNCYTE_MAX_NDIM)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, name, -1, "of %lld elements; expected at most %d",
                         (long long)fortran_count(array), SYNCYTE_MAX_NDIM);
  *count = (int32_t)fortran_count(array);
  return fortran_integers(array, name, 1, values);
}

syncyte_status_t fortran_set_integer(const CFI_cdesc_t* scalar, const char* name, int64_t value) {
  int64_t old = 0;
  if (scalar == NULL) return SYNCYTE_SUCCESS;
  const syncyte_status_t status = fortran_integer(scalar, name, &old); /* checks it */
  return status != SYNCYTE_SUCCESS ? status : fortran_set_integers(scalar, name, &value);
}
