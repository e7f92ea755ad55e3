/* Errors in arguments that the binding finds, and their report to other ranks. */
#include <stdarg.h>
#include <stdio.h>

#include "descriptor.h"

syncyte_status_t fortran_fail(syncyte_status_t status, const char* format, ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return syncyte_error_set(status, message);
}

syncyte_status_t fortran_refuse(fortran_scope_t scope, void* comm, syncyte_status_t status, const char* operation) {
  const syncyte_buffer_t none = {.struct_size = sizeof none, .dtype = SYNCYTE_INT8, .ndim = -1};
  syncyte_error_fields_t why = {.struct_size = sizeof why};
  char reason[1024];
  int32_t level = 0;
  (void)syncyte_last_error_fields(&why);
  snprintf(reason, sizeof reason, "%s", why.reason);
  if (scope == FORTRAN_ERROR_AT_NEIGHBOURS) (void)syncyte_halo_exchange(comm, &none); /* fails, on the neighbours too */
  why = (syncyte_error_fields_t){
      .struct_size = sizeof why, .status = status, .operation = operation, .axis = -1, .reason = reason};
  (void)syncyte_error_set_fields(&why);
  if (scope == FORTRAN_ERROR_IN_REQUEST) (void)syncyte_comm_ifail(comm, status, operation);
  if (scope == FORTRAN_ERROR_EVERYWHERE && syncyte_comm_check_level(comm, &level) == SYNCYTE_SUCCESS && level == 0)
    return status;
  const bool is_agreed = scope == FORTRAN_ERROR_EVERYWHERE || scope == FORTRAN_ERROR_EVERYWHERE_ALWAYS;
  return is_agreed ? syncyte_comm_agree(comm, status, operation, 0, NULL) : status;
}
