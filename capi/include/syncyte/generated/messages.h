/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated from syncyte/messages.h by bindings/generate; do not edit. */
/* clang-format off */
/**
 * @file generated/messages.h
 * @brief Started forms of functions of syncyte/messages.h, which includes this file.
 */
#ifndef SYNCYTE_GENERATED_MESSAGES_H
#define SYNCYTE_GENERATED_MESSAGES_H

#include "syncyte/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Starts syncyte_comm_send(), as the head of syncyte/messages.h says.
 * @param[in] comm a communicator; it may be destroyed before the request has ended
 * @param[in] array array to send; any strides; must stay unchanged until the request has ended
 * @param[in] dest rank of the receiver, or SYNCYTE_PROC_NULL
 * @param[in] tag 0 to syncyte_message_highest_tag()
 * @param[in] options null for defaults; may be re-used on return
 * @param[out] request ends when the operation is complete, with its status
 * @return as comm_send, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_isend(syncyte_comm_t comm, const syncyte_buffer_t* array, int32_t dest,
    int32_t tag, const syncyte_message_options_t* options, syncyte_request_t* request);

/**
 * @brief Starts syncyte_comm_recv(), as the head of syncyte/messages.h says.
 * @param[in] comm a communicator; it may be destroyed before the request has ended
 * @param[in] source rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
 * @param[in] tag the sender's, or SYNCYTE_ANY (in channel 0)
 * @param[in] options null for defaults; may be re-used on return
 * @param[in,out] array array to receive into; any strides, but 0 only if the extent is 1; may be neither read nor
 * written until the request has ended
 * @param[in,out] status struct_size set by the caller; the rest is filled; may be null; may be neither read nor written
 * until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as comm_recv, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_irecv(syncyte_comm_t comm, int32_t source, int32_t tag,
    const syncyte_message_options_t* options, const syncyte_buffer_t* array, syncyte_message_status_t* status,
    syncyte_request_t* request);

#ifdef __cplusplus
}
#endif

#endif
