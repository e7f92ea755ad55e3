/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors in arguments that the binding finds, and their report to other ranks. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "descriptor.h"

syncyte_status_t fortran_fail(syncyte_status_t status, const char* format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return syncyte_error_set(status, message);
}

syncyte_status_t fortran_wrong(syncyte_status_t status, const char* argument, int64_t axis, const char* format, ...) {
  char value[1024], reason[1200], place[24] = "";
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof value, format, arguments);
  va_end(arguments);
  if (axis >= 0) snprintf(place, sizeof place, "(%lld)", (long long)axis + 1);
  snprintf(reason, sizeof reason, "%s%s is %s", argument, place, value);
  char* const expected = strstr(value, "; expected ");
  if (expected != NULL) *expected = '\0';
  const syncyte_error_fields_t fields = {.struct_size = sizeof fields,
                                         .status = status,
                                         .argument = argument,
                                         .axis = axis,
                                         .value = value,
                                         .expected = expected != NULL ? expected + strlen("; expected ") : NULL,
                                         .reason = reason};
  return syncyte_error_set_fields(&fields);
}

syncyte_status_t fortran_refuse(fortran_scope_t scope, void* comm, syncyte_status_t status, const char* operation) {
  const syncyte_buffer_t none = {.struct_size = sizeof none, .dtype = SYNCYTE_INT8, .ndim = -1};
  syncyte_error_fields_t why = {.struct_size = sizeof why};
  const char** const texts[] = {&why.object, &why.argument, &why.value, &why.expected, &why.reason};
  char copies[sizeof texts / sizeof texts[0]][1200]; /* because a failing call ends the life of the fields' texts */
  int32_t level = 0;
  (void)syncyte_last_error_fields(&why);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
    snprintf(copies[i], sizeof copies[i], "%s", *texts[i]);
    *texts[i] = copies[i];
  }
  if (scope == FORTRAN_ERROR_AT_NEIGHBOURS) (void)syncyte_halo_exchange(comm, &none); /* fails, on the neighbours too */
  why.status = status;
  why.operation = operation;
  (void)syncyte_error_set_fields(&why);
  if (scope == FORTRAN_ERROR_IN_REQUEST) (void)syncyte_comm_ifail(comm, status, operation);
  if (scope == FORTRAN_ERROR_EVERYWHERE && syncyte_comm_check_level(comm, &level) == SYNCYTE_SUCCESS && level == 0)
    return status;
  const bool is_agreed = scope == FORTRAN_ERROR_EVERYWHERE || scope == FORTRAN_ERROR_EVERYWHERE_ALWAYS;
  return is_agreed ? syncyte_comm_agree(comm, status, operation, 0, NULL) : status;
}
