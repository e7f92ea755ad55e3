/* Checkpoints for Fortran: entries made of array descriptors, rows that count from 1. */
#include "syncyte/checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "descriptor.h"

/* Fills an entry; its key is a copy that fortran_entry_clear() frees. dtype: the element type to take the array for if
 * it carries that (bytes of bool, bits of 16-bit floats), or 0. */
syncyte_status_t fortran_entry_fill(const char* key, const CFI_cdesc_t* array, syncyte_layout_t layout,
                                    syncyte_dtype_t dtype, syncyte_checkpoint_entry_t* entry) {
  syncyte_buffer_t data;
  syncyte_status_t status = fortran_buffer(array, "array", dtype, &data);
  if (status == SYNCYTE_SUCCESS && dtype != 0 && data.dtype != dtype)
    status = fortran_fail(SYNCYTE_ERR_TYPE, "array is %s and cannot hold %s", fortran_type_name(array),
                          syncyte_dtype_name(dtype));
  if (status == SYNCYTE_SUCCESS && !fortran_is_contiguous(array))
    status =
        fortran_fail(SYNCYTE_ERR_SHAPE, "array of key %s is not contiguous; give a contiguous array or a copy", key);
  if (status != SYNCYTE_SUCCESS) return fortran_report(status);
  char* copy = strdup(key);
  if (copy == NULL) return fortran_report(fortran_fail(SYNCYTE_ERR_MEMORY, "no memory for key %s", key));
  *entry = (syncyte_checkpoint_entry_t){sizeof *entry, copy, layout, data};
  return SYNCYTE_SUCCESS;
}

/* The same for this rank's rows of a tensor. */
syncyte_status_t fortran_entry_fill_tensor(const char* key, syncyte_tensor_t tensor,
                                           syncyte_checkpoint_entry_t* entry) {
  syncyte_buffer_t data = {.struct_size = sizeof data};
  const syncyte_status_t status = syncyte_tensor_local(tensor, &data);
  if (status != SYNCYTE_SUCCESS) return status;
  char* copy = strdup(key);
  if (copy == NULL) return fortran_report(fortran_fail(SYNCYTE_ERR_MEMORY, "no memory for key %s", key));
  *entry = (syncyte_checkpoint_entry_t){sizeof *entry, copy, SYNCYTE_LAYOUT_SHARDED, data};
  return SYNCYTE_SUCCESS;
}

void fortran_entry_clear(syncyte_checkpoint_entry_t* entry) {
  free((void*)entry->key);
  entry->key = NULL;
}

/* Reads an optional number of save's. */
static syncyte_status_t read_optional(const CFI_cdesc_t* scalar, const char* name, int64_t* value) {
  return scalar == NULL ? SYNCYTE_SUCCESS : fortran_integer(scalar, name, value);
}

syncyte_status_t fortran_checkpoint_save(syncyte_comm_t comm, const char* path, int64_t count,
                                         const syncyte_checkpoint_entry_t* entries, const CFI_cdesc_t* step,
                                         const CFI_cdesc_t* block_bytes) {
  syncyte_checkpoint_options_t options = {.struct_size = sizeof options};
  int64_t bytes = 0;
  syncyte_status_t status = read_optional(step, "step", &options.step);
  if (status == SYNCYTE_SUCCESS) status = read_optional(block_bytes, "block_bytes", &bytes);
  if (status == SYNCYTE_SUCCESS && bytes < 0)
    status =
        fortran_fail(SYNCYTE_ERR_ARGUMENT, "block_bytes is %lld, 0 or a power of two is expected", (long long)bytes);
  options.block_bytes = (size_t)bytes;
  if (status != SYNCYTE_SUCCESS) options.struct_size = 0; /* refused on all ranks */
  return fortran_settle(status, syncyte_checkpoint_save(comm, path, count, entries, &options));
}

static syncyte_status_t check_rows(const char* key, const syncyte_buffer_t* global, const syncyte_buffer_t* target,
                                   int64_t first) {
  const int64_t rows = global->ndim == 0 ? 1 : global->shape[0];
  const int64_t wanted = target->ndim == 0 ? 1 : target->shape[0];
  if (first >= 1 && first - 1 <= rows - wanted) return SYNCYTE_SUCCESS;
  return fortran_fail(SYNCYTE_ERR_INDEX, "%s: %lld rows from row %lld are outside 1 to %lld", key, (long long)wanted,
                      (long long)first, (long long)rows);
}

syncyte_status_t fortran_checkpoint_read(syncyte_checkpoint_t checkpoint, const char* key, const CFI_cdesc_t* first_row,
                                         const CFI_cdesc_t* array) {
  syncyte_buffer_t global = {.struct_size = sizeof global}, target;
  int64_t first = 0;
  syncyte_status_t status = syncyte_checkpoint_describe(checkpoint, key, &global, NULL);
  if (status != SYNCYTE_SUCCESS) return status;
  status = fortran_integer(first_row, "first_row", &first);
  if (status == SYNCYTE_SUCCESS) status = fortran_buffer(array, "array", global.dtype, &target);
  if (status == SYNCYTE_SUCCESS) status = check_rows(key, &global, &target, first);
  return status != SYNCYTE_SUCCESS ? fortran_report(status)
                                   : syncyte_checkpoint_read(checkpoint, key, first - 1, &target);
}
