/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated from syncyte/collectives.h by bindings/generate; do not edit. */
/* clang-format off */
/**
 * @file generated/collectives.h
 * @brief Started forms of functions of syncyte/collectives.h, which includes this file.
 */
#ifndef SYNCYTE_GENERATED_COLLECTIVES_H
#define SYNCYTE_GENERATED_COLLECTIVES_H

#include "syncyte/collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Starts syncyte_comm_bcast(), as the head of syncyte/collectives.h says. Collective; does not wait.
 * @param[in] comm a communicator; it may be destroyed before the request has ended
 * @param[in] root rank that sends its elements
 * @param[in] options null for defaults; may be re-used on return
 * @param[in,out] array contiguous; read on root, written elsewhere; must stay unchanged on root and may not be read
 * elsewhere until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as comm_bcast, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_ibcast(syncyte_comm_t comm, int32_t root,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* array, syncyte_request_t* request);

/**
 * @brief Starts syncyte_comm_allreduce(), as the head of syncyte/collectives.h says. Collective; does not wait.
 * @param[in] comm a communicator; it may be destroyed before the request has ended
 * @param[in] input contiguous; null: output's contents (in place); must stay unchanged until the request has ended
 * @param[in] op reduction
 * @param[in] options null for defaults; may be re-used on return
 * @param[in,out] output contiguous, of input's dtype and number of elements; must not overlap input; may be neither
 * read nor written until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as comm_allreduce, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_iallreduce(syncyte_comm_t comm, const syncyte_buffer_t* input,
    syncyte_op_t op, const syncyte_collective_options_t* options, const syncyte_buffer_t* output,
    syncyte_request_t* request);

/**
 * @brief Starts syncyte_comm_allgather_along(), as the head of syncyte/collectives.h says. Collective; does not wait.
 * @param[in] comm a communicator; it may be destroyed before the request has ended
 * @param[in] input this rank's part; must stay unchanged until the request has ended
 * @param[in] axis dimension along which the parts are joined
 * @param[in] counts_length length of counts: comm's size
 * @param[in] counts extents of the parts along the axis, equal on all ranks; may be re-used on return
 * @param[in] options null for defaults; may be re-used on return
 * @param[out] output the whole array, not overlapping input; may not be read until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as comm_allgather_along, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_iallgather_along(syncyte_comm_t comm, const syncyte_buffer_t* input,
    int32_t axis, int64_t counts_length, const int64_t* counts, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output, syncyte_request_t* request);

/**
 * @brief Starts syncyte_comm_reduce_scatter_along(), as the head of syncyte/collectives.h says. Collective; does not
 * wait.
 * @param[in] comm a communicator; it may be destroyed before the request has ended
 * @param[in] input a whole array; must stay unchanged until the request has ended
 * @param[in] axis dimension to cut
 * @param[in] op reduction
 * @param[in] counts_length length of counts: comm's size
 * @param[in] counts extents of the parts along the axis, equal on all ranks; may be re-used on return
 * @param[in] options null for defaults; may be re-used on return
 * @param[out] output this rank's part, not overlapping input; may not be read until the request has ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as comm_reduce_scatter_along, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_ireduce_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input,
    int32_t axis, syncyte_op_t op, int64_t counts_length, const int64_t* counts,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output, syncyte_request_t* request);

/**
 * @brief Starts syncyte_comm_alltoall_along(), as the head of syncyte/collectives.h says. Collective; does not wait.
 * @param[in] comm a communicator; it may be destroyed before the request has ended
 * @param[in] input this rank's part along gather_axis; must stay unchanged until the request has ended
 * @param[in] gather_axis dimension along which the inputs are parts
 * @param[in] scatter_axis dimension along which the outputs are parts
 * @param[in] gather_counts_length length of gather_counts: comm's size
 * @param[in] gather_counts their extents, equal on all ranks; may be re-used on return
 * @param[in] scatter_counts_length length of scatter_counts: comm's size
 * @param[in] scatter_counts their extents, equal on all ranks; may be re-used on return
 * @param[in] options null for defaults; may be re-used on return
 * @param[out] output this rank's part along scatter_axis, not overlapping input; may not be read until the request has
 * ended
 * @param[out] request ends when the operation is complete, with its status
 * @return as comm_alltoall_along, for errors that this rank finds; test and wait return the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_ialltoall_along(syncyte_comm_t comm, const syncyte_buffer_t* input,
    int32_t gather_axis, int32_t scatter_axis, int64_t gather_counts_length, const int64_t* gather_counts,
    int64_t scatter_counts_length, const int64_t* scatter_counts, const syncyte_collective_options_t* options,
    const syncyte_buffer_t* output, syncyte_request_t* request);

#ifdef __cplusplus
}
#endif

#endif
