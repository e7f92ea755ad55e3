/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file messages.h
 * @brief Point-to-point messages: arrays from one rank to another, with a check of dtype and shape at the receiver.
 *
 * A message carries its dtype and shape in front of its elements. If they differ from those of the receiver's buffer,
 * the receive returns SYNCYTE_ERR_MISMATCH, which names both. Buffers may have any strides; memory between a strided
 * buffer's elements is not written. A message that does not match leaves a strided or short (below 8 KiB) buffer
 * unchanged; the contents of a long contiguous buffer, or one with options->room, are then undefined. Messages between
 * two ranks with the same tag arrive in the order they were sent. They are separate from collectives and from the
 * application's own messages.
 *
 * These functions are local: an error before sending is returned to the caller alone, and the watchdog
 * (SYNCYTE_WATCHDOG) reports a wait for a message that is never sent. If the other rank is on the same node and has
 * entered syncyte_finalize(), a wait ends with SYNCYTE_ERR_MISMATCH; the memory of a send to it must then stay.
 * Sizes are not limited. The started form of a message (comm_isend for comm_send; see generated/messages.h) does not
 * wait.
 *
 * Memory of a message that was started may not be received into until its request has ended by a test or wait, and
 * memory that it receives into may not be sent either: SYNCYTE_ERR_ARGUMENT. Several messages may send the same memory.
 * Arrays with gaps between their elements, such as the columns of a matrix, are compared element by element. A send of
 * an array that is short, or has gaps, has copied it on return.
 *
 * After syncyte_finalize(), the request of a message in flight returns SYNCYTE_ERR_NOT_INITIALIZED. If the application
 * itself has initialized MPI and continues to use it, that call cancels a receive if MPI still can. A message that
 * cannot be cancelled (one that is arriving, or a send without a receive) may use a contiguous buffer until
 * MPI_Finalize: wait for messages before finalize.
 */
#ifndef SYNCYTE_MESSAGES_H
#define SYNCYTE_MESSAGES_H

#include "syncyte/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Source of a receive: any rank. Tag of a receive: any tag. */
#define SYNCYTE_ANY (-1)

/** Source or destination: no rank, as MPI_PROC_NULL; such a message completes at once and changes nothing. */
#define SYNCYTE_PROC_NULL (-2)

/** Bytes of the header that every message has in front of its elements. */
#define SYNCYTE_MESSAGE_ROOM 64

/** Options of a message. */
typedef struct syncyte_message_options_t {
  size_t struct_size; /**< sizeof(syncyte_message_options_t) */
  void* stream;       /**< reserved: null */
  int32_t channel;    /**< 0 to 7; a receive matches only messages of its channel. For libraries on top, whose own
                           messages have the same tags as their users' */
  int32_t room;       /**< SYNCYTE_MESSAGE_ROOM: so many bytes in front of the buffer's first element are free for the
                           message's header. MPI then gets device memory itself (syncyte_mpi_takes()), without room
                           (0) a copy on the host. Device memory is contiguous, and work enqueued on it complete */
  int64_t label;      /**< any number, which a send passes to the receiver's status; for libraries on top */
} syncyte_message_options_t;

/** All defaults: `syncyte_message_options_t options = SYNCYTE_MESSAGE_OPTIONS_INIT;`. */
#define SYNCYTE_MESSAGE_OPTIONS_INIT {sizeof(syncyte_message_options_t), NULL, 0, 0, 0}

/** Sender, tag and label of a received message. */
typedef struct syncyte_message_status_t {
  size_t struct_size; /**< sizeof(syncyte_message_status_t) */
  int32_t source;     /**< the sender's rank */
  int32_t tag;        /**< the message's tag */
  int64_t label;      /**< the sender's options->label */
} syncyte_message_status_t;

/**
 * @brief Returns the highest tag that a message may have. Local.
 * @param[out] tag at least 4094
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_message_highest_tag(int32_t* tag);

/**
 * @brief {by_hand, started} Sends an array. Local; returns when its memory may be used again, possibly before the
 * receive.
 * @param[in] comm a communicator
 * @param[in] array {kept_if_started} array to send; any strides
 * @param[in] dest rank of the receiver, or SYNCYTE_PROC_NULL
 * @param[in] tag {default(0)} 0 to syncyte_message_highest_tag()
 * @param[in] options {optional} null for defaults
 * @return SYNCYTE_ERR_ARGUMENT (dest, tag, memory of a message that was started).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_send(syncyte_comm_t comm, const syncyte_buffer_t* array, int32_t dest,
                                                  int32_t tag, const syncyte_message_options_t* options);

/**
 * @brief {by_hand, cxx_by_hand, started} Receives an array. Local; waits for the message.
 * @param[in] comm a communicator
 * @param[in] source rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
 * @param[in] tag {default(SYNCYTE_ANY)} the sender's, or SYNCYTE_ANY (in channel 0)
 * @param[in] options {optional} null for defaults
 * @param[in,out] array {kept_if_started} array to receive into; any strides, but 0 only if the extent is 1
 * @param[in,out] status {optional, kept_if_started} struct_size set by the caller; the rest is filled
 * @return SYNCYTE_ERR_ARGUMENT (source, tag, memory of a message that was started), SYNCYTE_ERR_MISMATCH (dtype,
 * shape).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_recv(syncyte_comm_t comm, int32_t source, int32_t tag,
                                                  const syncyte_message_options_t* options,
                                                  const syncyte_buffer_t* array, syncyte_message_status_t* status);

/**
 * @brief {by_hand, cxx_by_hand} Sends one array and receives another, without deadlock in any order of arrival. Local;
 * waits for both.
 * @param[in] comm a communicator
 * @param[in] send_array array to send; any strides
 * @param[in] dest rank of the receiver, or SYNCYTE_PROC_NULL
 * @param[in] send_tag {default(0)} 0 to syncyte_message_highest_tag()
 * @param[in] source rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
 * @param[in] recv_tag {default(SYNCYTE_ANY)} the sender's, or SYNCYTE_ANY (in channel 0)
 * @param[in] options {optional} null for defaults
 * @param[in,out] recv_array array to receive into; strides as in syncyte_comm_recv(); must not overlap send_array
 * @param[in,out] status {optional} struct_size set by the caller; the rest is filled
 * @return as syncyte_comm_send() and syncyte_comm_recv(); SYNCYTE_ERR_ARGUMENT too if the two arrays share memory: pass
 * a copy.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_sendrecv(syncyte_comm_t comm, const syncyte_buffer_t* send_array,
                                                      int32_t dest, int32_t send_tag, int32_t source, int32_t recv_tag,
                                                      const syncyte_message_options_t* options,
                                                      const syncyte_buffer_t* recv_array,
                                                      syncyte_message_status_t* status);

#ifdef __cplusplus
}
#endif

#include "syncyte/generated/messages.h"

#endif
