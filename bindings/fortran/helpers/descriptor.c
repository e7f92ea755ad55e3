#include "descriptor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024];

syncyte_status_t fortran_fail(syncyte_status_t status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return status;
}

syncyte_status_t fortran_report(syncyte_status_t status) { return syncyte_error_set(status, message); }

syncyte_status_t fortran_settle(syncyte_status_t local, syncyte_status_t collective) {
  return local != SYNCYTE_SUCCESS ? fortran_report(local) : collective;
}

syncyte_dtype_t fortran_dtype(const CFI_cdesc_t* array) {
  switch (array->type) {
    case CFI_type_float:
      return SYNCYTE_FLOAT32;
    case CFI_type_double:
      return SYNCYTE_FLOAT64;
    case CFI_type_float_Complex:
      return SYNCYTE_COMPLEX64;
    case CFI_type_double_Complex:
      return SYNCYTE_COMPLEX128;
    case CFI_type_int8_t:
      return SYNCYTE_INT8;
    case CFI_type_int16_t:
      return SYNCYTE_INT16;
    case CFI_type_int32_t:
      return SYNCYTE_INT32;
    case CFI_type_int64_t:
      return SYNCYTE_INT64;
    case CFI_type_Bool:
      return array->elem_len == 1 ? SYNCYTE_BOOL : 0;
    default:
      return 0;
  }
}

bool fortran_carries(syncyte_dtype_t have, syncyte_dtype_t stored) {
  if (have == SYNCYTE_INT8 && (stored == SYNCYTE_UINT8 || stored == SYNCYTE_BOOL)) return true;
  if (have == SYNCYTE_INT16 && (stored == SYNCYTE_UINT16 || stored == SYNCYTE_FLOAT16 || stored == SYNCYTE_BFLOAT16))
    return true;
  if (have == SYNCYTE_INT32 && stored == SYNCYTE_UINT32) return true;
  if (have == SYNCYTE_INT64 && stored == SYNCYTE_UINT64) return true;
  return have != 0 && have == stored;
}

const char* fortran_type_name(const CFI_cdesc_t* array) {
  static const char* const names[] = {
      [SYNCYTE_FLOAT32] = "real(4)",       [SYNCYTE_FLOAT64] = "real(8)",  [SYNCYTE_COMPLEX64] = "complex(4)",
      [SYNCYTE_COMPLEX128] = "complex(8)", [SYNCYTE_INT8] = "integer(1)",  [SYNCYTE_INT16] = "integer(2)",
      [SYNCYTE_INT32] = "integer(4)",      [SYNCYTE_INT64] = "integer(8)", [SYNCYTE_BOOL] = "logical(c_bool)"};
  const syncyte_dtype_t dtype = fortran_dtype(array);
  return dtype != 0 ? names[dtype] : "a type that Syncyte does not have";
}

int64_t fortran_count(const CFI_cdesc_t* array) {
  int64_t count = 1;
  for (int i = 0; i < array->rank; ++i) {
    if (array->dim[i].extent < 0) return -1;
    count *= array->dim[i].extent;
  }
  return count;
}

bool fortran_is_contiguous(const CFI_cdesc_t* array) {
  CFI_index_t expected = (CFI_index_t)array->elem_len;
  if (fortran_count(array) == 0) return true;
  for (int i = 0; i < array->rank; ++i) {
    if (array->dim[i].extent != 1 && array->dim[i].sm != expected) return false;
    expected *= array->dim[i].extent;
  }
  return true;
}

/* Compilers give arrays without elements no address. One that is not allocated has none either, but the extents of its
 * last allocation or of a zeroed descriptor: it passes for empty only if an extent happens to be 0. */
static bool has_no_elements(const CFI_cdesc_t* array) {
  for (int i = 0; i < array->rank; ++i)
    if (array->dim[i].extent == 0) return true;
  return false;
}

static syncyte_status_t check_array(const CFI_cdesc_t* array, const char* name) {
  if (array->base_addr == NULL && !has_no_elements(array))
    return fortran_fail(SYNCYTE_ERR_ARGUMENT, "%s is not allocated or not associated", name);
  if (fortran_count(array) < 0)
    return fortran_fail(SYNCYTE_ERR_SHAPE, "%s has assumed size (*): its last extent is unknown; pass a section", name);
  if (array->rank > SYNCYTE_MAX_NDIM)
    return fortran_fail(SYNCYTE_ERR_SHAPE, "%s has rank %d, the most is %d", name, array->rank, SYNCYTE_MAX_NDIM);
  return SYNCYTE_SUCCESS;
}

static void refuse(syncyte_status_t status, syncyte_buffer_t* buffer) {
  buffer->dtype = status == SYNCYTE_ERR_TYPE ? 0 : SYNCYTE_INT8;
  buffer->ndim = status == SYNCYTE_ERR_TYPE ? 0 : -1;
}

syncyte_status_t fortran_buffer(const CFI_cdesc_t* array, const char* name, syncyte_dtype_t stored,
                                syncyte_buffer_t* buffer) {
  *buffer = (syncyte_buffer_t){.struct_size = sizeof *buffer, .memory = SYNCYTE_MEMORY_HOST};
  syncyte_status_t status = check_array(array, name);
  const syncyte_dtype_t dtype = fortran_dtype(array);
  if (status == SYNCYTE_SUCCESS && dtype == 0)
    status = fortran_fail(SYNCYTE_ERR_TYPE,
                          "%s has a type that Syncyte does not have: expected real(4 or 8), complex(4 or 8), "
                          "integer(1, 2, 4 or 8) or logical(c_bool)",
                          name);
  if (status != SYNCYTE_SUCCESS) {
    refuse(status, buffer);
    return status;
  }
  buffer->data = array->base_addr;
  buffer->dtype = fortran_carries(dtype, stored) ? stored : dtype;
  buffer->ndim = array->rank;
  for (int i = 0; i < array->rank; ++i) {
    const CFI_dim_t* dim = &array->dim[array->rank - 1 - i];
    buffer->shape[i] = dim->extent;
    buffer->strides[i] = dim->sm;
  }
  return SYNCYTE_SUCCESS;
}

static bool read_integer(CFI_type_t type, const void* address, int64_t* value) {
  switch (type) {
    case CFI_type_int8_t:
      *value = *(const int8_t*)address;
      return true;
    case CFI_type_int16_t:
      *value = *(const int16_t*)address;
      return true;
    case CFI_type_int32_t:
      *value = *(const int32_t*)address;
      return true;
    case CFI_type_int64_t:
      *value = *(const int64_t*)address;
      return true;
    default:
      return false;
  }
}

static syncyte_status_t expect_scalar(const CFI_cdesc_t* scalar, const char* name) {
  if (scalar->rank != 0)
    return fortran_fail(SYNCYTE_ERR_SHAPE, "%s is an array of rank %d, a scalar is expected", name, scalar->rank);
  if (scalar->base_addr == NULL)
    return fortran_fail(SYNCYTE_ERR_ARGUMENT, "%s is not allocated or not associated", name);
  return SYNCYTE_SUCCESS;
}

static syncyte_status_t not_integer(const CFI_cdesc_t* array, const char* name) {
  return fortran_fail(SYNCYTE_ERR_TYPE, "%s is %s, an integer of kind 1, 2, 4 or 8 is expected", name,
                      fortran_type_name(array));
}

syncyte_status_t fortran_integer(const CFI_cdesc_t* scalar, const char* name, int64_t* value) {
  const syncyte_status_t status = expect_scalar(scalar, name);
  if (status != SYNCYTE_SUCCESS) return status;
  return read_integer(scalar->type, scalar->base_addr, value) ? SYNCYTE_SUCCESS : not_integer(scalar, name);
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
  if (!read_integer(array->type, narrow, &kept) || kept != value) return false;
  memcpy(address, narrow, bytes);
  return true;
}

static syncyte_status_t too_small(const CFI_cdesc_t* array, const char* name, int64_t value) {
  return fortran_fail(SYNCYTE_ERR_TYPE, "%s is %s, too small for the value %lld", name, fortran_type_name(array),
                      (long long)value);
}

syncyte_status_t fortran_set_integer(const CFI_cdesc_t* scalar, const char* name, int64_t value) {
  int64_t old = 0;
  if (scalar == NULL) return SYNCYTE_SUCCESS;
  const syncyte_status_t status = fortran_integer(scalar, name, &old);
  if (status != SYNCYTE_SUCCESS) return status;
  return write_integer(scalar, scalar->base_addr, value) ? SYNCYTE_SUCCESS : too_small(scalar, name, value);
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

syncyte_status_t fortran_integers(const CFI_cdesc_t* array, const char* name, int64_t capacity, int64_t* values) {
  const syncyte_status_t status = check_array(array, name);
  if (status != SYNCYTE_SUCCESS) return status;
  const int64_t count = fortran_count(array);
  if (count > capacity)
    return fortran_fail(SYNCYTE_ERR_SHAPE, "%s has %lld elements, expected %lld", name, (long long)count,
                        (long long)capacity);
  CFI_index_t at[CFI_MAX_RANK] = {0};
  char* address = array->base_addr;
  for (int64_t i = 0; i < count; ++i, address = next_element(array, at, address))
    if (!read_integer(array->type, address, &values[i])) return not_integer(array, name);
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_set_integers(const CFI_cdesc_t* array, const char* name, const int64_t* values) {
  const int64_t count = fortran_count(array);
  CFI_index_t at[CFI_MAX_RANK] = {0};
  char* address = array->base_addr;
  for (int64_t i = 0; i < count; ++i, address = next_element(array, at, address))
    if (!write_integer(array, address, values[i])) return too_small(array, name, values[i]);
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_reversed(const CFI_cdesc_t* array, const char* name, int32_t* count, int64_t* values) {
  int64_t forward[SYNCYTE_MAX_NDIM];
  if (array->rank > 1)
    return fortran_fail(SYNCYTE_ERR_SHAPE, "%s has rank %d, a vector is expected", name, array->rank);
  const syncyte_status_t status = fortran_integers(array, name, SYNCYTE_MAX_NDIM, forward);
  if (status != SYNCYTE_SUCCESS) return status;
  *count = (int32_t)fortran_count(array);
  for (int i = 0; i < *count; ++i) values[i] = forward[*count - 1 - i];
  return SYNCYTE_SUCCESS;
}
