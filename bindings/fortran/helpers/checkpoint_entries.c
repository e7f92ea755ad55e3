/* SPDX-License-Identifier: BSD-3-Clause */
/* Checkpoints for Fortran: entries made of array descriptors, rows that count from 1. */
#include "checkpoint_entries.h"

#include <stdlib.h>
#include <string.h>

#include "descriptor.h"

static syncyte_status_t fill(const char* key, syncyte_entry_kind_t kind, const syncyte_buffer_t* data,
                             syncyte_checkpoint_entry_t* entry) {
  char* name = strdup(key);
  syncyte_buffer_t* array = malloc(sizeof *array);
  if (name == NULL || array == NULL) {
    free(name);
    free(array);
    return fortran_fail(SYNCYTE_ERR_MEMORY, "no memory for key %s", key);
  }
  *array = *data;
  *entry = (syncyte_checkpoint_entry_t){.struct_size = sizeof *entry, .key = name, .data = array, .kind = kind};
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_entry_fill(const char* key, const CFI_cdesc_t* array, syncyte_entry_kind_t kind,
                                    syncyte_dtype_t dtype, syncyte_checkpoint_entry_t* entry) {
  syncyte_buffer_t data;
  const syncyte_status_t status = fortran_buffer_as(array, "array", dtype, &data);
  if (status != SYNCYTE_SUCCESS) return status;
  if (dtype != 0 && data.dtype != dtype)
    return fortran_wrong(SYNCYTE_ERR_TYPE, "array", -1, "%s; expected a type that can hold %s",
                         fortran_type_name(array), syncyte_dtype_name(dtype));
  if (!fortran_is_contiguous(array))
    return fortran_fail(SYNCYTE_ERR_SHAPE, "array of key %s is not contiguous; give a contiguous array or a copy", key);
  return fill(key, kind, &data, entry);
}

syncyte_status_t fortran_entry_fill_tensor(const char* key, syncyte_tensor_t tensor,
                                           syncyte_checkpoint_entry_t* entry) {
  syncyte_buffer_t data = {.struct_size = sizeof data};
  syncyte_layout_t layout = NULL;
  syncyte_status_t status = syncyte_tensor_layout(tensor, &layout);
  if (status == SYNCYTE_SUCCESS && layout != NULL) {
    (void)syncyte_layout_destroy(&layout);
    return fortran_wrong(SYNCYTE_ERR_UNSUPPORTED, "tensor", -1,
                         "cut by a layout; expected one that is cut by rows (relocate), or a bundle of the layout's "
                         "arrays");
  }
  if (status == SYNCYTE_SUCCESS) status = syncyte_tensor_local(tensor, &data);
  return status != SYNCYTE_SUCCESS ? status : fill(key, SYNCYTE_ENTRY_SHARDED, &data, entry);
}

syncyte_status_t fortran_entry_clear(syncyte_checkpoint_entry_t* entry) {
  free((void*)entry->key);
  free((void*)entry->data);
  entry->key = NULL;
  entry->data = NULL;
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_checkpoint_read(syncyte_checkpoint_t checkpoint, const char* key, const CFI_cdesc_t* first_row,
                                         CFI_cdesc_t* array) {
  syncyte_buffer_t global = {.struct_size = sizeof global}, target;
  int64_t first = 0;
  syncyte_status_t status = syncyte_checkpoint_describe(checkpoint, key, &global, NULL);
  if (status == SYNCYTE_SUCCESS) status = fortran_integer(first_row, "first_row", &first);
  if (status == SYNCYTE_SUCCESS) status = fortran_buffer_as(array, "array", global.dtype, &target);
  const int64_t rows = global.ndim == 0 ? 1 : global.shape[0];
  const int64_t wanted = status != SYNCYTE_SUCCESS || target.ndim == 0 ? 1 : target.shape[0];
  if (status == SYNCYTE_SUCCESS && (first < 1 || first - 1 > rows - wanted))
    return fortran_fail(SYNCYTE_ERR_INDEX, "%s: %lld rows from row %lld are outside 1 to %lld", key, (long long)wanted,
                        (long long)first, (long long)rows);
  return status != SYNCYTE_SUCCESS ? status : syncyte_checkpoint_read(checkpoint, key, first - 1, &target);
}
