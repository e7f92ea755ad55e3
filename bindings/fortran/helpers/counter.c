/* Counters for Fortran: one element of an integer tensor, named by its number from 1 or by its subscripts. */
#include "descriptor.h"

static syncyte_status_t from_subscripts(const syncyte_buffer_t* global, const CFI_cdesc_t* element, int64_t* number) {
  int64_t at[SYNCYTE_MAX_NDIM];
  int32_t count = 0;
  const syncyte_status_t status = fortran_reversed(element, "element", &count, at);
  if (status != SYNCYTE_SUCCESS) return status;
  if (count != global->ndim)
    return fortran_fail(SYNCYTE_ERR_SHAPE, "element has %d subscripts, the tensor %d dimensions", count, global->ndim);
  *number = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (at[i] < 1 || at[i] > global->shape[i])
      return fortran_fail(SYNCYTE_ERR_INDEX, "subscript %lld of dimension %d is outside 1 to %lld", (long long)at[i],
                          count - i, (long long)global->shape[i]);
    *number = *number * global->shape[i] + at[i] - 1;
  }
  return SYNCYTE_SUCCESS;
}

static syncyte_status_t from_number(const syncyte_buffer_t* global, const CFI_cdesc_t* element, int64_t* number) {
  int64_t total = 1;
  const syncyte_status_t status = fortran_integer(element, "element", number);
  if (status != SYNCYTE_SUCCESS) return status;
  for (int32_t i = 0; i < global->ndim; ++i) total *= global->shape[i];
  if (*number < 1 || *number > total)
    return fortran_fail(SYNCYTE_ERR_INDEX, "element %lld is outside 1 to %lld", (long long)*number, (long long)total);
  *number -= 1;
  return SYNCYTE_SUCCESS;
}

/* Number from 0 of the element meant; reports its own errors. */
static syncyte_status_t find_element(syncyte_tensor_t tensor, const CFI_cdesc_t* element, int64_t* number) {
  syncyte_buffer_t global;
  syncyte_status_t status = syncyte_tensor_describe(tensor, &global);
  if (status != SYNCYTE_SUCCESS) return status;
  status = element->rank == 0 ? from_number(&global, element, number) : from_subscripts(&global, element, number);
  return status == SYNCYTE_SUCCESS ? status : fortran_report(status);
}

/* Reads the element's number and a value. */
static syncyte_status_t read_pair(syncyte_tensor_t tensor, const CFI_cdesc_t* element, const CFI_cdesc_t* scalar,
                                  const char* name, int64_t* number, int64_t* value) {
  const syncyte_status_t status = find_element(tensor, element, number);
  if (status != SYNCYTE_SUCCESS) return status;
  const syncyte_status_t read = fortran_integer(scalar, name, value);
  return read == SYNCYTE_SUCCESS ? read : fortran_report(read);
}

/* Writes an optional output of a call that went well. */
static syncyte_status_t hand_back(syncyte_status_t status, const CFI_cdesc_t* scalar, const char* name, int64_t value) {
  if (status != SYNCYTE_SUCCESS) return status;
  const syncyte_status_t written = fortran_set_integer(scalar, name, value);
  return written == SYNCYTE_SUCCESS ? written : fortran_report(written);
}

syncyte_status_t fortran_tensor_load(syncyte_tensor_t tensor, const CFI_cdesc_t* element, int64_t* value) {
  int64_t number = 0;
  const syncyte_status_t status = find_element(tensor, element, &number);
  return status != SYNCYTE_SUCCESS ? status : syncyte_tensor_load(tensor, number, value);
}

syncyte_status_t fortran_tensor_store(syncyte_tensor_t tensor, const CFI_cdesc_t* element, const CFI_cdesc_t* value) {
  int64_t number = 0, wanted = 0;
  const syncyte_status_t status = read_pair(tensor, element, value, "value", &number, &wanted);
  return status != SYNCYTE_SUCCESS ? status : syncyte_tensor_store(tensor, number, wanted);
}

syncyte_status_t fortran_tensor_fetch_add(syncyte_tensor_t tensor, const CFI_cdesc_t* element,
                                          const CFI_cdesc_t* operand, const CFI_cdesc_t* previous) {
  int64_t number = 0, value = 0, before = 0;
  syncyte_status_t status = read_pair(tensor, element, operand, "operand", &number, &value);
  if (status != SYNCYTE_SUCCESS) return status;
  status = syncyte_tensor_fetch_add(tensor, number, value, &before);
  return hand_back(status, previous, "previous", before);
}

syncyte_status_t fortran_tensor_compare_swap(syncyte_tensor_t tensor, const CFI_cdesc_t* element,
                                             const CFI_cdesc_t* expected, const CFI_cdesc_t* desired,
                                             const CFI_cdesc_t* previous) {
  int64_t number = 0, old = 0, value = 0, before = 0;
  syncyte_status_t status = read_pair(tensor, element, expected, "expected", &number, &old);
  if (status != SYNCYTE_SUCCESS) return status;
  status = fortran_integer(desired, "desired", &value);
  if (status != SYNCYTE_SUCCESS) return fortran_report(status);
  status = syncyte_tensor_compare_swap(tensor, number, old, value, &before);
  return hand_back(status, previous, "previous", before);
}

syncyte_status_t fortran_tensor_wait(syncyte_tensor_t tensor, const CFI_cdesc_t* element, syncyte_compare_t compare,
                                     const CFI_cdesc_t* value, double timeout, const CFI_cdesc_t* found) {
  int64_t number = 0, wanted = 0, seen = 0;
  syncyte_status_t status = read_pair(tensor, element, value, "value", &number, &wanted);
  if (status != SYNCYTE_SUCCESS) return status;
  status = syncyte_tensor_wait(tensor, number, compare, wanted, timeout, &seen);
  return hand_back(status, found, "found", seen);
}
