/* Windows for Fortran: places count from 1 in elements of the array. */
#include "descriptor.h"

/* Describes the array and turns the number of its first element at the target into bytes. */
static syncyte_status_t locate(const CFI_cdesc_t* array, const char* name, const CFI_cdesc_t* first,
                               syncyte_buffer_t* buffer, size_t* offset) {
  int64_t element = 0;
  syncyte_status_t status = fortran_buffer(array, name, 0, buffer);
  if (status == SYNCYTE_SUCCESS) status = fortran_integer(first, "first", &element);
  if (status == SYNCYTE_SUCCESS && (element < 1 || element > INT64_MAX / (int64_t)array->elem_len))
    status = fortran_fail(SYNCYTE_ERR_INDEX, "first = %lld: elements count from 1", (long long)element);
  if (status != SYNCYTE_SUCCESS) return fortran_report(status);
  *offset = (size_t)(element - 1) * array->elem_len;
  return SYNCYTE_SUCCESS;
}

syncyte_status_t fortran_window_create(syncyte_comm_t comm, const CFI_cdesc_t* bytes,
                                       const syncyte_window_options_t* options, syncyte_window_t* window) {
  int64_t size = 0;
  syncyte_status_t status = fortran_integer(bytes, "bytes", &size);
  if (status == SYNCYTE_SUCCESS && size < 0)
    status = fortran_fail(SYNCYTE_ERR_ARGUMENT, "bytes is %lld, 0 or more are expected", (long long)size);
  syncyte_window_options_t chosen = *options;
  if (status != SYNCYTE_SUCCESS) chosen.struct_size = 0; /* refused by the core on all ranks */
  return fortran_settle(status, syncyte_window_create(comm, (size_t)size, &chosen, window));
}

syncyte_status_t fortran_window_put(syncyte_window_t window, const CFI_cdesc_t* source, int32_t rank,
                                    const CFI_cdesc_t* first) {
  syncyte_buffer_t buffer;
  size_t offset = 0;
  const syncyte_status_t status = locate(source, "source", first, &buffer, &offset);
  return status != SYNCYTE_SUCCESS ? status : syncyte_window_put(window, rank, offset, &buffer);
}

syncyte_status_t fortran_window_get(syncyte_window_t window, const CFI_cdesc_t* target, int32_t rank,
                                    const CFI_cdesc_t* first) {
  syncyte_buffer_t buffer;
  size_t offset = 0;
  const syncyte_status_t status = locate(target, "target", first, &buffer, &offset);
  return status != SYNCYTE_SUCCESS ? status : syncyte_window_get(window, rank, offset, &buffer);
}

syncyte_status_t fortran_window_accumulate(syncyte_window_t window, const CFI_cdesc_t* source, int32_t rank,
                                           const CFI_cdesc_t* first, syncyte_op_t op) {
  syncyte_buffer_t buffer;
  size_t offset = 0;
  const syncyte_status_t status = locate(source, "source", first, &buffer, &offset);
  return status != SYNCYTE_SUCCESS ? status : syncyte_window_accumulate(window, rank, offset, op, &buffer);
}

/* Scalars that take part in one atomic operation have one type. */
static syncyte_status_t same_scalars(const CFI_cdesc_t* one, const CFI_cdesc_t* other, const char* name) {
  if (one->rank == 0 && other->rank == 0 && one->type == other->type) return SYNCYTE_SUCCESS;
  return fortran_report(fortran_fail(SYNCYTE_ERR_TYPE, "%s is %s of rank %d, expected a scalar %s", name,
                                     fortran_type_name(other), other->rank, fortran_type_name(one)));
}

syncyte_status_t fortran_window_fetch_op(syncyte_window_t window, const CFI_cdesc_t* operand, int32_t rank,
                                         const CFI_cdesc_t* first, syncyte_op_t op, const CFI_cdesc_t* previous) {
  syncyte_buffer_t buffer;
  size_t offset = 0;
  syncyte_status_t status = same_scalars(operand, previous, "previous");
  if (status == SYNCYTE_SUCCESS) status = locate(operand, "operand", first, &buffer, &offset);
  if (status != SYNCYTE_SUCCESS) return status;
  return syncyte_window_fetch_op(window, rank, offset, buffer.dtype, op, buffer.data, previous->base_addr);
}

syncyte_status_t fortran_window_compare_swap(syncyte_window_t window, const CFI_cdesc_t* expected,
                                             const CFI_cdesc_t* desired, int32_t rank, const CFI_cdesc_t* first,
                                             const CFI_cdesc_t* previous) {
  syncyte_buffer_t buffer;
  size_t offset = 0;
  syncyte_status_t status = same_scalars(expected, desired, "desired");
  if (status == SYNCYTE_SUCCESS) status = same_scalars(expected, previous, "previous");
  if (status == SYNCYTE_SUCCESS) status = locate(expected, "expected", first, &buffer, &offset);
  if (status != SYNCYTE_SUCCESS) return status;
  return syncyte_window_compare_swap(window, rank, offset, buffer.dtype, buffer.data, desired->base_addr,
                                     previous->base_addr);
}
