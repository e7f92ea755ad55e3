/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays behind Fortran's descriptors: types, layout, buffers and dense copies. */
#include <stdlib.h>
#include <string.h>

#include <syncyte/element_types.h>

#include "descriptor.h"

static const struct {
  CFI_type_t type;
  syncyte_dtype_t dtype;
  const char* name;
} types[] = {{CFI_type_float, SYNCYTE_FLOAT32, "real(4)"},
             {CFI_type_double, SYNCYTE_FLOAT64, "real(8)"},
             {CFI_type_float_Complex, SYNCYTE_COMPLEX64, "complex(4)"},
             {CFI_type_double_Complex, SYNCYTE_COMPLEX128, "complex(8)"},
             {CFI_type_int8_t, SYNCYTE_INT8, "integer(1)"},
             {CFI_type_int16_t, SYNCYTE_INT16, "integer(2)"},
             {CFI_type_int32_t, SYNCYTE_INT32, "integer(4)"},
             {CFI_type_int64_t, SYNCYTE_INT64, "integer(8)"},
             {CFI_type_Bool, SYNCYTE_BOOL, "logical(c_bool)"},
             {CFI_type_other, 0, "a type that Syncyte does not have"}};

/* Index of an array's type in the table. */
static size_t type_of(const CFI_cdesc_t* array) {
  const size_t last = sizeof types / sizeof types[0] - 1;
  size_t i = 0;
  while (i < last && types[i].type != array->type) ++i;
  return array->type == CFI_type_Bool && array->elem_len != 1 ? last : i;
}

syncyte_dtype_t fortran_dtype(const CFI_cdesc_t* array) { return types[type_of(array)].dtype; }

const char* fortran_type_name(const CFI_cdesc_t* array) { return types[type_of(array)].name; }

bool fortran_carries(syncyte_dtype_t have, syncyte_dtype_t stored) {
  switch (stored) {
#define CARRIED(constant, name, type, mpi_type, scalar_type, hdf5_type, fortran_type) \
  case SYNCYTE_##constant:                                                            \
    return have == SYNCYTE_##constant || have == SYNCYTE_##fortran_type;
    SYNCYTE_ELEMENT_TYPES(CARRIED)
#undef CARRIED
    default:
      return false;
  }
}

int64_t fortran_count(const CFI_cdesc_t* array) {
  int64_t count = 1;
  for (int i = 0; i < array->rank; ++i) {
    if (array->dim[i].extent < 0) return 0;
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

/* An array without elements may have a null address. An array that is not allocated has one too, with the extents of
 * its last allocation or of a zeroed descriptor; it passes for empty if one of them is 0. */
syncyte_status_t fortran_check(const CFI_cdesc_t* array, const char* name) {
  bool is_empty = false, is_assumed = false;
  for (int i = 0; i < array->rank; ++i) {
    is_empty |= array->dim[i].extent == 0;
    is_assumed |= array->dim[i].extent < 0;
  }
  if (array->base_addr == NULL && !is_empty)
    return fortran_wrong(SYNCYTE_ERR_ARGUMENT, name, -1, "not allocated or not associated");
  if (is_assumed)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, name, -1,
                         "of assumed size (*); expected a section, whose extents are known");
  if (array->rank > SYNCYTE_MAX_NDIM)
    return fortran_wrong(SYNCYTE_ERR_SHAPE, name, -1, "of rank %d; expected at most %d", array->rank, SYNCYTE_MAX_NDIM);
  return SYNCYTE_SUCCESS;
}

/* Copies the elements at `at` along dimensions 0 to d, in array element order; returns the end of the dense copy. */
static char* copy_elements(const CFI_cdesc_t* array, int d, char* at, char* dense, bool to_dense) {
  if (d < 0) {
    memcpy(to_dense ? dense : at, to_dense ? at : dense, array->elem_len);
    return dense + array->elem_len;
  }
  for (CFI_index_t i = 0; i < array->dim[d].extent; ++i)
    dense = copy_elements(array, d - 1, at + i * array->dim[d].sm, dense, to_dense);
  return dense;
}

/* Describes a dense copy instead of a section. */
static syncyte_status_t copy_section(const CFI_cdesc_t* array, const char* name, syncyte_buffer_t* buffer) {
  int64_t stride = (int64_t)array->elem_len;
  char* copy = malloc((size_t)(fortran_count(array) * stride));
  if (copy == NULL)
    return fortran_fail(SYNCYTE_ERR_MEMORY, "%s is not contiguous, and there is no memory for a copy", name);
  copy_elements(array, array->rank - 1, array->base_addr, copy, true);
  buffer->data = copy;
  for (int i = buffer->ndim - 1; i >= 0; --i) {
    buffer->strides[i] = stride;
    stride *= buffer->shape[i];
  }
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_release(const CFI_cdesc_t* array, int32_t is_written, syncyte_buffer_t* buffer) {
  if (buffer->data == NULL || buffer->data == array->base_addr) return SYNCYTE_SUCCESS;
  if (is_written != 0) copy_elements(array, array->rank - 1, array->base_addr, buffer->data, false);
  free(buffer->data);
  buffer->data = NULL;
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_buffer_as(const CFI_cdesc_t* array, const char* name, syncyte_dtype_t stored,
                                   syncyte_buffer_t* buffer) {
  *buffer = (syncyte_buffer_t){.struct_size = sizeof *buffer, .memory = SYNCYTE_MEMORY_HOST};
  const syncyte_status_t status = fortran_check(array, name);
  const syncyte_dtype_t dtype = fortran_dtype(array);
  if (status != SYNCYTE_SUCCESS) return status;
  if (dtype == 0)
    return fortran_wrong(SYNCYTE_ERR_TYPE, name, -1,
                         "of a type that Syncyte does not have; expected real(4 or 8), complex(4 or 8), "
                         "integer(1, 2, 4 or 8) or logical(c_bool)");
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

syncyte_status_t fortran_buffer(const CFI_cdesc_t* array, const char* name, syncyte_buffer_t* buffer) {
  return fortran_buffer_as(array, name, 0, buffer);
}

syncyte_status_t fortran_dense_buffer(const CFI_cdesc_t* array, const char* name, syncyte_buffer_t* buffer) {
  const syncyte_status_t status = fortran_buffer(array, name, buffer);
  return status != SYNCYTE_SUCCESS || fortran_is_contiguous(array) ? status : copy_section(array, name, buffer);
}

syncyte_status_t fortran_alike(const CFI_cdesc_t* array, const CFI_cdesc_t* like, const char* name) {
  if (array->rank == 0 && like->rank == 0 && array->type == like->type) return SYNCYTE_SUCCESS;
  return fortran_wrong(SYNCYTE_ERR_TYPE, name, -1, "%s of rank %d; expected a scalar %s", fortran_type_name(array),
                       array->rank, fortran_type_name(like));
}

syncyte_status_t fortran_handle(const CFI_cdesc_t* handle, const char* name, int32_t* value) {
  const bool is_whole = handle->rank == 0 && handle->elem_len == sizeof(int32_t);
  if (!is_whole || handle->type == CFI_type_float || handle->type == CFI_type_Bool)
    return fortran_wrong(SYNCYTE_ERR_TYPE, name, -1, "%s of rank %d; expected a default integer or a type(MPI_Comm)",
                         fortran_type_name(handle), handle->rank);
  *value = *(const int32_t*)handle->base_addr;
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_axis(int32_t dim, const syncyte_buffer_t* array, const char* name, const char* array_name,
                              int32_t* axis) {
  if (array->ndim == 0) return fortran_wrong(SYNCYTE_ERR_SHAPE, array_name, -1, "of no dimension; expected 1 or more");
  if (dim < 1 || dim > array->ndim)
    return fortran_wrong(SYNCYTE_ERR_ARGUMENT, name, -1, "%d; expected 1 to %d, the rank of %s", dim, array->ndim,
                         array_name);
  *axis = -dim;
  return SYNCYTE_SUCCESS;
}
