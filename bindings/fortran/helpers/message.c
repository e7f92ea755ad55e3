/* Messages between two ranks for Fortran; arrays may be sections with any strides. */
#include "descriptor.h"

syncyte_status_t fortran_comm_send(syncyte_comm_t comm, const CFI_cdesc_t* array, int32_t dest, int32_t tag) {
  syncyte_buffer_t buffer;
  const syncyte_status_t status = fortran_buffer(array, "array", 0, &buffer);
  return status != SYNCYTE_SUCCESS ? fortran_report(status) : syncyte_comm_send(comm, &buffer, dest, tag, NULL);
}

syncyte_status_t fortran_comm_recv(syncyte_comm_t comm, const CFI_cdesc_t* array, int32_t source, int32_t tag,
                                   int32_t* from, int32_t* from_tag) {
  syncyte_buffer_t buffer;
  syncyte_message_status_t sender = {.struct_size = sizeof sender};
  syncyte_status_t status = fortran_buffer(array, "array", 0, &buffer);
  if (status != SYNCYTE_SUCCESS) return fortran_report(status);
  status = syncyte_comm_recv(comm, source, tag, NULL, &buffer, &sender);
  *from = sender.source;
  *from_tag = sender.tag;
  return status;
}

syncyte_status_t fortran_comm_isend(syncyte_comm_t comm, const CFI_cdesc_t* array, int32_t dest, int32_t tag,
                                    syncyte_request_t* request) {
  syncyte_buffer_t buffer;
  const syncyte_status_t status = fortran_buffer(array, "array", 0, &buffer);
  if (status != SYNCYTE_SUCCESS) return fortran_report(status);
  return syncyte_comm_isend(comm, &buffer, dest, tag, NULL, request);
}

syncyte_status_t fortran_comm_irecv(syncyte_comm_t comm, const CFI_cdesc_t* array, int32_t source, int32_t tag,
                                    syncyte_request_t* request) {
  syncyte_buffer_t buffer;
  const syncyte_status_t status = fortran_buffer(array, "array", 0, &buffer);
  if (status != SYNCYTE_SUCCESS) return fortran_report(status);
  return syncyte_comm_irecv(comm, source, tag, NULL, &buffer, NULL, request);
}

syncyte_status_t fortran_comm_sendrecv(syncyte_comm_t comm, const CFI_cdesc_t* sent, int32_t dest, int32_t send_tag,
                                       const CFI_cdesc_t* received, int32_t source, int32_t recv_tag) {
  syncyte_buffer_t from, to;
  syncyte_status_t status = fortran_buffer(sent, "sent", 0, &from);
  if (status == SYNCYTE_SUCCESS) status = fortran_buffer(received, "received", 0, &to);
  if (status != SYNCYTE_SUCCESS) return fortran_report(status);
  return syncyte_comm_sendrecv(comm, &from, dest, send_tag, source, recv_tag, NULL, &to, NULL);
}
