/**
 * @file messages.h
 * @brief Point-to-point messages: arrays from one rank to another, compared at the receiver with what it expects.
 *
 * A message carries its dtype and shape in front of its elements; if they are not those of the receiver's buffer, the
 * receive answers SYNCYTE_ERR_MISMATCH and names both. Buffers may have any strides; nothing beside a strided buffer's
 * elements is written, and a strided or short (below 8 KiB) one is not written at all by a message that does not match;
 * what a long contiguous one, or one with options->room, then holds is undefined. Messages between two ranks with one
 * tag arrive in the order they were sent. They meet neither collectives nor the application's own messages.
 *
 * These functions are local: an error before sending is the caller's alone, and a message that never comes is the
 * watchdog's (SYNCYTE_WATCHDOG). Where the other rank has come to syncyte_finalize() on the same node, a wait ends with
 * SYNCYTE_ERR_MISMATCH; the memory of a message to it that is not sent must stay. Sizes are not limited.
 *
 * The request of a message that is under way in syncyte_finalize() answers SYNCYTE_ERR_NOT_INITIALISED from then on.
 * Where MPI is the application's and goes on, a receive is cancelled at that answer if MPI still can. What it cannot
 * take back, a message that is arriving or that nobody has received, may use a contiguous buffer until MPI_Finalize:
 * wait for messages before the end.
 */
#ifndef SYNCYTE_MESSAGES_H
#define SYNCYTE_MESSAGES_H

#include "syncyte/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** As a source: whoever sends. As the tag of a receive: whatever tag. */
#define SYNCYTE_ANY (-1)

/** As a source or destination: nobody, as MPI_PROC_NULL; such a message ends at once and changes nothing. */
#define SYNCYTE_PROC_NULL (-2)

/** Bytes that every message has in front of its elements. */
#define SYNCYTE_MESSAGE_ROOM 64

/** Options of a message. */
typedef struct syncyte_message_options_t {
  size_t struct_size; /**< sizeof(syncyte_message_options_t) */
  void* stream;       /**< reserved: null */
  int32_t channel; /**< 0 to 7; messages of different channels do not meet: for libraries on top, that send derivatives
                        with the tags of their users */
  int64_t label;   /**< of a send: any number, which the receiver finds in its status; for libraries on top */
  int32_t room;    /**< SYNCYTE_MESSAGE_ROOM: so many bytes in front of the buffer's first element are the message's, to
                        be written. Device memory that MPI takes (syncyte_mpi_takes()) needs them, and is contiguous;
                        what was enqueued on it has ended before the call. 0: there are none */
} syncyte_message_options_t;

/** All defaults: `syncyte_message_options_t options = SYNCYTE_MESSAGE_OPTIONS_INIT;`. */
#define SYNCYTE_MESSAGE_OPTIONS_INIT {sizeof(syncyte_message_options_t), NULL, 0, 0, 0}

/** Who sent a message that was received. */
typedef struct syncyte_message_status_t {
  size_t struct_size; /**< sizeof(syncyte_message_status_t) */
  int32_t source;     /**< the sender's rank */
  int32_t tag;        /**< its tag */
  int64_t label;      /**< its options->label */
} syncyte_message_status_t;

/**
 * @brief Highest tag of a message. Local.
 * @param[out] tag at least 4094
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_message_highest_tag(int32_t* tag);

/**
 * @brief Sends an array, and returns when its memory may be used again; the receiver may not have it yet. Local.
 * @param[in] comm a communicator
 * @param[in] buffer what to send; any strides
 * @param[in] dest rank of the receiver, or SYNCYTE_PROC_NULL
 * @param[in] tag 0 to syncyte_message_highest_tag()
 * @param[in] options {optional} null for defaults
 * @return SYNCYTE_ERR_ARGUMENT (dest, tag).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_send(syncyte_comm_t comm, const syncyte_buffer_t* buffer, int32_t dest,
                                                  int32_t tag, const syncyte_message_options_t* options);

/**
 * @brief Receives an array. Local; waits for the message.
 * @param[in] comm a communicator
 * @param[in] source rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
 * @param[in] tag the sender's, or SYNCYTE_ANY (in channel 0)
 * @param[in] options {optional} null for defaults
 * @param[in,out] buffer where to; any strides, but 0 only where the extent is 1
 * @param[in,out] status {optional} struct_size set by the caller; the rest is filled
 * @return SYNCYTE_ERR_ARGUMENT (source, tag), SYNCYTE_ERR_MISMATCH (dtype, shape).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_recv(syncyte_comm_t comm, int32_t source, int32_t tag,
                                                  const syncyte_message_options_t* options,
                                                  const syncyte_buffer_t* buffer, syncyte_message_status_t* status);

/**
 * @brief Starts to send an array. Local; does not wait.
 * @param[in] comm a communicator
 * @param[in] buffer what to send; its memory must stay, unchanged, until the request has ended
 * @param[in] dest rank of the receiver, or SYNCYTE_PROC_NULL
 * @param[in] tag 0 to syncyte_message_highest_tag()
 * @param[in] options {optional} null for defaults
 * @param[out] request ends when the memory may be used again
 * @return SYNCYTE_ERR_ARGUMENT (dest, tag).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_isend(syncyte_comm_t comm, const syncyte_buffer_t* buffer, int32_t dest,
                                                   int32_t tag, const syncyte_message_options_t* options,
                                                   syncyte_request_t* request);

/**
 * @brief Starts to receive an array. Local; does not wait. The request ends with syncyte_comm_recv()'s status.
 * @param[in] comm a communicator
 * @param[in] source rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
 * @param[in] tag the sender's, or SYNCYTE_ANY (in channel 0)
 * @param[in] options {optional} null for defaults
 * @param[in] buffer where to; its memory must stay, and may not be read, until the request has ended
 * @param[in,out] status {optional} struct_size set by the caller; filled when the request ends, and must stay until
 * then
 * @param[out] request ends when the array is there
 * @return SYNCYTE_ERR_ARGUMENT (source, tag).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_irecv(syncyte_comm_t comm, int32_t source, int32_t tag,
                                                   const syncyte_message_options_t* options,
                                                   const syncyte_buffer_t* buffer, syncyte_message_status_t* status,
                                                   syncyte_request_t* request);

/**
 * @brief Sends one array and receives another, whoever comes first. Local; waits for both.
 * @param[in] comm a communicator
 * @param[in] send_buffer what to send; any strides
 * @param[in] dest rank of the receiver, or SYNCYTE_PROC_NULL
 * @param[in] send_tag 0 to syncyte_message_highest_tag()
 * @param[in] source rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
 * @param[in] recv_tag the sender's, or SYNCYTE_ANY (in channel 0)
 * @param[in] options {optional} null for defaults
 * @param[in,out] recv_buffer where to; strides as in syncyte_comm_recv(); must not overlap send_buffer
 * @param[in,out] status {optional} struct_size set by the caller; the rest is filled
 * @return as syncyte_comm_send() and syncyte_comm_recv().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_sendrecv(syncyte_comm_t comm, const syncyte_buffer_t* send_buffer,
                                                      int32_t dest, int32_t send_tag, int32_t source, int32_t recv_tag,
                                                      const syncyte_message_options_t* options,
                                                      const syncyte_buffer_t* recv_buffer,
                                                      syncyte_message_status_t* status);

#ifdef __cplusplus
}
#endif

#endif
