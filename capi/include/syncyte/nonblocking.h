/**
 * @file nonblocking.h
 * @brief Non-blocking collectives: started by a call, completed by a request.
 *
 * A start never waits for another rank: rank 0 may start, send and wait while rank 1 receives, starts and waits. A
 * start posts the agreement (see comm.h); data moves once the agreement is complete. This rank makes progress when it
 * tests or waits for a request of any kind, a message or a halo's exchange, starts another operation, or is in a
 * blocking collective of any communicator. It makes none outside Syncyte, nor in a blocking collective without checks
 * unless MPI's thread level is multiple (the default of syncyte_init()): other ranks may wait for it until it returns.
 * If some rank's thread level is lower, agreements are polled, and take longer. All ranks must call the collectives of
 * a communicator, blocking and non-blocking ones, in the same order; requests may be waited for in any order, each by
 * all ranks or by some. The watchdog (SYNCYTE_WATCHDOG) reports calls in different orders; it lists operations in
 * flight.
 *
 * Errors: a rank with a bad argument gets its error at once from the start, and no request. It still takes part in the
 * agreement, and the other ranks get its error from test or wait. If facts differ, all ranks get SYNCYTE_ERR_MISMATCH
 * from test or wait, with the text of the blocking operation. After these errors nothing is written.
 *
 * Until the request has ended, the memory of input must stay unchanged, and that of output must stay and may not be
 * read; after SYNCYTE_ERR_MPI, until MPI_Finalize, because MPI may still use it. Descriptions, counts and options are
 * read only during the start. float16 and bfloat16 are reduced in float32, as by the blocking operations, which takes
 * memory for all elements as float32.
 *
 * One thread at a time may start an operation or be inside a collective of a communicator; others get SYNCYTE_ERR_BUSY.
 * Any thread may test and wait for requests at any time. syncyte_finalize() completes requests that were not waited
 * for. A request that cannot complete there, because another rank has not started it, is named in the log and ends with
 * SYNCYTE_ERR_MISMATCH. syncyte_request_destroy() returns SYNCYTE_ERR_BUSY while the request is active.
 *
 * With SYNCYTE_CHECK=off there is no agreement, and data moves from the start.
 */
#ifndef SYNCYTE_NONBLOCKING_H
#define SYNCYTE_NONBLOCKING_H

#include "syncyte/collectives.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Starts syncyte_comm_bcast(). Collective; does not wait. Facts as there.
 * @param[in] comm a communicator
 * @param[in] root {traced} rank that sends its elements
 * @param[in] options {optional} null for defaults
 * @param[in,out] buffer {contiguous, kept, traced, cxx(values)} contiguous; read on root, written elsewhere
 * @param[out] request ends when buffer may be used again
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_ibcast(syncyte_comm_t comm, int32_t root,
                                                    const syncyte_collective_options_t* options,
                                                    const syncyte_buffer_t* buffer, syncyte_request_t* request);

/**
 * @brief Starts syncyte_comm_allreduce(). Collective; does not wait. Facts as there.
 * @param[in] comm a communicator
 * @param[in] input {optional, contiguous, in_place, kept, traced} contiguous; null: output's contents (in place)
 * @param[in] op reduction
 * @param[in] options {optional} null for defaults
 * @param[in,out] output {contiguous, kept, traced} contiguous, of input's dtype and number of elements; must not
 * overlap input
 * @param[out] request ends when output holds the result
 * @return SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_iallreduce(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                        syncyte_op_t op, const syncyte_collective_options_t* options,
                                                        const syncyte_buffer_t* output, syncyte_request_t* request);

/**
 * @brief Starts syncyte_comm_allgather_along(). Collective; does not wait. Facts as there.
 * @param[in] comm a communicator
 * @param[in] input {kept, traced} this rank's part
 * @param[in] axis dimension along which the parts are joined
 * @param[in] counts_length length of counts: comm's size
 * @param[in] counts {array(counts_length), along(axis)} extents of the parts along the axis, equal on all ranks
 * @param[in] options {optional} null for defaults
 * @param[out] output {kept} the whole array, not overlapping input
 * @param[out] request ends when output holds the result
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_iallgather_along(
    syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t axis, int64_t counts_length, const int64_t* counts,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output, syncyte_request_t* request);

/**
 * @brief Starts syncyte_comm_reduce_scatter_along(). Collective; does not wait. Facts as there.
 * @param[in] comm a communicator
 * @param[in] input {kept, traced} a whole array
 * @param[in] axis dimension to cut
 * @param[in] counts_length length of counts: comm's size
 * @param[in] counts {array(counts_length), along(axis)} extents of the parts along the axis, equal on all ranks
 * @param[in] op reduction
 * @param[in] options {optional} null for defaults
 * @param[out] output {kept} this rank's part, not overlapping input
 * @param[out] request ends when output holds the result
 * @return SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_ireduce_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                                   int32_t axis, int64_t counts_length,
                                                                   const int64_t* counts, syncyte_op_t op,
                                                                   const syncyte_collective_options_t* options,
                                                                   const syncyte_buffer_t* output,
                                                                   syncyte_request_t* request);

/**
 * @brief Starts syncyte_comm_alltoall_along(). Collective; does not wait. Facts as there.
 * @param[in] comm a communicator
 * @param[in] input {kept, traced} this rank's part along gather_axis
 * @param[in] gather_axis dimension along which the inputs are parts
 * @param[in] gather_counts_length length of gather_counts: comm's size
 * @param[in] gather_counts {array(gather_counts_length), along(gather_axis)} their extents, equal on all ranks
 * @param[in] scatter_axis dimension along which the outputs are parts
 * @param[in] scatter_counts_length length of scatter_counts: comm's size
 * @param[in] scatter_counts {array(scatter_counts_length), along(scatter_axis)} their extents, equal on all ranks
 * @param[in] options {optional} null for defaults
 * @param[out] output {kept} this rank's part along scatter_axis, not overlapping input
 * @param[out] request ends when output holds the result
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_ialltoall_along(
    syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t gather_axis, int64_t gather_counts_length,
    const int64_t* gather_counts, int32_t scatter_axis, int64_t scatter_counts_length, const int64_t* scatter_counts,
    const syncyte_collective_options_t* options, const syncyte_buffer_t* output, syncyte_request_t* request);

/**
 * @brief {by_hand, cxx_by_hand} Takes part in the agreement of a non-blocking collective that this rank cannot start,
 * for libraries on top whose own checks have failed: the other ranks get the error from test or wait. Collective, in
 * place of the start; does not wait. The error is the thread's last error (syncyte_error_set()). Does nothing with
 * SYNCYTE_CHECK=off.
 * @param[in] comm a communicator
 * @param[in] status status of the error, not SYNCYTE_SUCCESS
 * @param[in] operation {string} for messages, for example "comm_iallreduce"
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_ifail(syncyte_comm_t comm, syncyte_status_t status, const char* operation);

#ifdef __cplusplus
}
#endif

#endif
