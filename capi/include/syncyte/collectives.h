/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file collectives.h
 * @brief Collectives on arrays: broadcast, reductions, scans, and arrays that are cut along an axis.
 *
 * All functions are collective over comm, agree before they move data (see comm.h), and take counts of any size: data
 * beyond MPI's int counts is split. Functions without `along` take contiguous buffers as sequences of elements.
 * Functions called `along` take arrays of at least one dimension and any strides. Each rank's array is a part of a
 * whole along `axis`: `counts` holds the parts' extents there in rank order, 0 or more (syncyte_comm_counts() collects
 * them); the other extents are equal on all ranks. A negative axis counts from the end. Memory between a strided
 * output's elements is not written.
 *
 * The started form of a function (comm_ibcast for comm_bcast; see generated/collectives.h) has the same facts, and
 * works as nonblocking.h says.
 *
 * In addition to the errors listed for each function, all may return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE,
 * SYNCYTE_ERR_SHAPE for arguments that are wrong on any rank, SYNCYTE_ERR_MISMATCH if the facts differ,
 * SYNCYTE_ERR_MEMORY, and SYNCYTE_ERR_UNSUPPORTED for device memory that MPI does not accept (syncyte_mpi_takes()).
 */
#ifndef SYNCYTE_COLLECTIVES_H
#define SYNCYTE_COLLECTIVES_H

#include "syncyte/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Options of a collective operation. */
typedef struct syncyte_collective_options_t {
  size_t struct_size;          /**< sizeof(syncyte_collective_options_t) */
  void* stream;                /**< reserved: null. Work enqueued on a device buffer must be complete before the call */
  int64_t fact;                /**< an additional fact, equal on all ranks, for libraries on top; 0 by default */
  int64_t fact_count;          /**< number of facts, 0 to 24 */
  const syncyte_fact_t* facts; /**< additional facts with names for the message, read during the call; null if none */
} syncyte_collective_options_t;

/** All defaults: `syncyte_collective_options_t options = SYNCYTE_COLLECTIVE_OPTIONS_INIT;`. */
#define SYNCYTE_COLLECTIVE_OPTIONS_INIT {sizeof(syncyte_collective_options_t), NULL, 0, 0, NULL}

/**
 * @brief {started} Sends root's elements to all ranks. Collective; facts: dtype, number of elements, root,
 * options->fact.
 * @param[in] comm a communicator
 * @param[in] root {traced} rank that sends its elements
 * @param[in] options {optional} null for defaults
 * @param[in,out] array {contiguous, traced, kept_if_started(must stay unchanged on root and may not be read
 * elsewhere)} contiguous; read on root, written elsewhere
 * @return SYNCYTE_ERR_ARGUMENT (root), SYNCYTE_ERR_SHAPE (not contiguous), SYNCYTE_ERR_MISMATCH.
 * @started Collective; does not wait.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_bcast(syncyte_comm_t comm, int32_t root,
                                                   const syncyte_collective_options_t* options,
                                                   const syncyte_buffer_t* array);

/**
 * @brief {started} Reduces element by element over all ranks; all ranks get the result. Collective; facts: dtype,
 * number of elements, op, options->fact. float16 and bfloat16 are reduced in float32 and rounded once.
 * @param[in] comm a communicator
 * @param[in] input {optional, contiguous, in_place, traced, kept_if_started} contiguous; null: output's contents (in
 * place)
 * @param[in] op reduction
 * @param[in] options {optional} null for defaults
 * @param[in,out] output {contiguous, traced, kept_if_started} contiguous, of input's dtype and number of elements; must
 * not overlap input
 * @return SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE,
 * SYNCYTE_ERR_MISMATCH.
 * @started Collective; does not wait.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_allreduce(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                       syncyte_op_t op, const syncyte_collective_options_t* options,
                                                       const syncyte_buffer_t* output);

/**
 * @brief Concatenates contributions of equal size of all ranks, in rank order. Collective; facts: dtype, number of
 * elements, options->fact.
 * @param[in] comm a communicator
 * @param[in] input {contiguous, traced} contiguous
 * @param[in] options {optional} null for defaults
 * @param[out] output {contiguous} contiguous, of input's dtype and size times as many elements; must not overlap input
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_allgather(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                       const syncyte_collective_options_t* options,
                                                       const syncyte_buffer_t* output);

/**
 * @brief Concatenates contributions of different sizes, in rank order. Collective; facts: dtype, counts,
 * options->fact.
 * @param[in] comm a communicator
 * @param[in] input {contiguous, traced} contiguous, counts[rank] elements
 * @param[in] counts_length length of counts: comm's size
 * @param[in] counts {array(counts_length)} elements of every rank, 0 or more, equal on all ranks
 * @param[in] options {optional} null for defaults
 * @param[out] output {contiguous} contiguous, the sum of counts elements; must not overlap input
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_allgatherv(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                        int64_t counts_length, const int64_t* counts,
                                                        const syncyte_collective_options_t* options,
                                                        const syncyte_buffer_t* output);

/**
 * @brief Every rank sends a block to every rank. Collective; facts: dtype, options->fact, and that the count that rank
 * i sends to j equals the count that j expects from i (compared as a 64-bit sum of hashes; with SYNCYTE_CHECK=full
 * entry by entry).
 * @param[in] comm a communicator
 * @param[in] input {contiguous, traced} contiguous, the blocks in order of target ranks
 * @param[in] send_counts_length length of send_counts: comm's size
 * @param[in] send_counts {array(send_counts_length)} elements for every rank
 * @param[in] recv_counts_length length of recv_counts: comm's size
 * @param[in] recv_counts {array(recv_counts_length)} elements from every rank
 * @param[in] options {optional} null for defaults
 * @param[out] output {contiguous} contiguous, the blocks in order of source ranks; must not overlap input
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_alltoallv(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                       int64_t send_counts_length, const int64_t* send_counts,
                                                       int64_t recv_counts_length, const int64_t* recv_counts,
                                                       const syncyte_collective_options_t* options,
                                                       const syncyte_buffer_t* output);

/**
 * @brief {by_hand, cxx_by_hand} Moves rows to the ranks that the caller names, such as particles that have left a
 * rank's part of space. The rows of all arrays with one number travel together, in one message from each rank to each
 * other. A target gets the rows that stay, then those of rank 0, 1, ..., all in their order; what it has behind them
 * stays as it is. Collective; facts: count, element types, extents of the rows, whether there are targets.
 * @param[in] comm a communicator
 * @param[in] destinations_length number of rows of this rank
 * @param[in] destinations {array(destinations_length), optional} the rank that each row goes to; SYNCYTE_PROC_NULL: it
 * goes nowhere
 * @param[in] count number of arrays, 1 or more
 * @param[in] arrays {array(count)} (rows, ...), with a row for each destination; rows behind them are not read
 * @param[in] options {optional} null for defaults
 * @param[out] targets {array(count), optional} (rows, ...), of the arrays' element types and rows, with room for the
 * rows that this rank gets. A target may be its array itself: the same memory and strides. Null: rows are only counted
 * @param[out] rows number of rows that this rank has got
 * @return SYNCYTE_ERR_ARGUMENT (a destination that is no rank; memory that overlaps), SYNCYTE_ERR_SHAPE (fewer rows
 * than destinations; a target without room, on all ranks, before data moves), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_relocate_rows(syncyte_comm_t comm, int64_t destinations_length,
                                                           const int32_t* destinations, int64_t count,
                                                           const syncyte_buffer_t* arrays,
                                                           const syncyte_collective_options_t* options,
                                                           const syncyte_buffer_t* targets, int64_t* rows);

/**
 * @brief Exchanges a block with each neighbour on a grid. Collective over a Cartesian communicator; after the agreement
 * it waits for the neighbours only. Facts: dtype, number of elements, options->fact.
 *
 * A buffer has two blocks for each dimension, all of equal size: one for the neighbour below, then one for the
 * neighbour above. The block that a rank sends up arrives in the neighbour's block "below", also if a periodic
 * dimension has one or two ranks, so that both neighbours are one rank. Beyond an edge that is not periodic there is no
 * neighbour: that block of input is not read, and that of output not written. The operation is its own adjoint if those
 * blocks are 0.
 * @param[in] comm a Cartesian communicator
 * @param[in] input {contiguous, traced} contiguous, a block for each neighbour
 * @param[in] options {optional} null for defaults
 * @param[out] output {contiguous} contiguous, of input's dtype and number of elements; must not overlap input
 * @return SYNCYTE_ERR_ARGUMENT (not Cartesian), SYNCYTE_ERR_SHAPE (elements are not a multiple of 2 ndim).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_neighbor_alltoall(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                               const syncyte_collective_options_t* options,
                                                               const syncyte_buffer_t* output);

/**
 * @brief {cxx_by_hand} Reduces element by element over all ranks, to root. Collective; facts: dtype, number of
 * elements, op, root, options->fact. float16 and bfloat16 are reduced in float32 and rounded once.
 * @param[in] comm a communicator
 * @param[in] input {optional, contiguous, in_place, traced} contiguous; null on root: output's contents (in place)
 * @param[in] op reduction
 * @param[in] root {traced} rank that gets the result
 * @param[in] options {optional} null for defaults
 * @param[in,out] output {optional, contiguous, traced} on root: contiguous, of input's dtype and number of elements,
 * not overlapping it; elsewhere neither read nor written, may be null
 * @return SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_reduce(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
                                                    int32_t root, const syncyte_collective_options_t* options,
                                                    const syncyte_buffer_t* output);

/**
 * @brief Reduces element by element over the ranks from the first (or the last) to this one, its own included.
 * Collective; facts: dtype, number of elements, op, reverse, options->fact.
 * @param[in] comm a communicator
 * @param[in] input {optional, contiguous, in_place, traced} contiguous; null: output's contents (in place)
 * @param[in] op reduction
 * @param[in] reverse {flag} 0: from rank 0 up; 1: from the last rank down, the adjoint of the other
 * @param[in] options {optional} null for defaults
 * @param[in,out] output {contiguous, traced} contiguous, of input's dtype and number of elements; must not overlap
 * input
 * @return SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_scan(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
                                                  int32_t reverse, const syncyte_collective_options_t* options,
                                                  const syncyte_buffer_t* output);

/**
 * @brief Exclusive scan: does the same as syncyte_comm_scan(), without this rank's own elements. The rank where it
 * begins gets the identity element of op: 0 for SUM, 1 for PROD, the highest value (or infinity) for MIN, the lowest
 * for MAX. Collective; facts as syncyte_comm_scan().
 * @param[in] comm a communicator
 * @param[in] input {optional, contiguous, in_place, traced} contiguous; null: output's contents (in place)
 * @param[in] op reduction
 * @param[in] reverse {flag} 0: from rank 0 up; 1: from the last rank down, the adjoint of the other
 * @param[in] options {optional} null for defaults
 * @param[in,out] output {contiguous, traced} contiguous, of input's dtype and number of elements; must not overlap
 * input
 * @return SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_exscan(syncyte_comm_t comm, const syncyte_buffer_t* input, syncyte_op_t op,
                                                    int32_t reverse, const syncyte_collective_options_t* options,
                                                    const syncyte_buffer_t* output);

/**
 * @brief {cxx_by_hand} Collects one number from each rank, usually an extent. Collective; facts: options->fact.
 * @param[in] comm a communicator
 * @param[in] count this rank's number, 0 or more
 * @param[in] options {optional} null for defaults
 * @param[in] counts_length length of counts: comm's size
 * @param[out] counts {array(counts_length)} the numbers of all ranks, in rank order
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_counts(syncyte_comm_t comm, int64_t count,
                                                    const syncyte_collective_options_t* options, int64_t counts_length,
                                                    int64_t* counts);

/**
 * @brief Joins the ranks' parts along an axis, on root. Collective; facts: dtype, extents of the other axes, axis,
 * counts, root, options->fact.
 * @param[in] comm a communicator
 * @param[in] input {traced} this rank's part
 * @param[in] axis dimension along which the parts are joined
 * @param[in] root {traced} rank that gets the whole array
 * @param[in] counts_length length of counts: comm's size
 * @param[in] counts {array(counts_length), along(axis)} extents of the parts along the axis, equal on all ranks
 * @param[in] options {optional} null for defaults
 * @param[out] output {optional} on root: the whole array, not overlapping input; elsewhere ignored, may be null
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_gather_along(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                          int32_t axis, int32_t root, int64_t counts_length,
                                                          const int64_t* counts,
                                                          const syncyte_collective_options_t* options,
                                                          const syncyte_buffer_t* output);

/**
 * @brief {started} Joins the ranks' parts along an axis, on all ranks. Collective; facts as
 * syncyte_comm_gather_along(), without root.
 * @param[in] comm a communicator
 * @param[in] input {traced, kept_if_started} this rank's part
 * @param[in] axis dimension along which the parts are joined
 * @param[in] counts_length length of counts: comm's size
 * @param[in] counts {array(counts_length), along(axis)} extents of the parts along the axis, equal on all ranks
 * @param[in] options {optional} null for defaults
 * @param[out] output {kept_if_started} the whole array, not overlapping input
 * @started Collective; does not wait.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_allgather_along(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                             int32_t axis, int64_t counts_length, const int64_t* counts,
                                                             const syncyte_collective_options_t* options,
                                                             const syncyte_buffer_t* output);

/**
 * @brief Cuts root's array along an axis, a part for every rank. Collective; facts as syncyte_comm_gather_along().
 * @param[in] comm a communicator
 * @param[in] input {optional, traced} on root: the whole array; elsewhere ignored, may be null
 * @param[in] axis dimension to cut
 * @param[in] root {traced} rank that has the whole array
 * @param[in] counts_length length of counts: comm's size
 * @param[in] counts {array(counts_length), along(axis)} extents of the parts along the axis, equal on all ranks
 * @param[in] options {optional} null for defaults
 * @param[out] output {traced} this rank's part, not overlapping input
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                           int32_t axis, int32_t root, int64_t counts_length,
                                                           const int64_t* counts,
                                                           const syncyte_collective_options_t* options,
                                                           const syncyte_buffer_t* output);

/**
 * @brief {started} Reduces the ranks' whole arrays element by element, and gives each rank its part of the result.
 * Collective; facts: dtype, extents, axis, counts, op, options->fact. float16 and bfloat16 are reduced in float32 and
 * rounded once.
 * @param[in] comm a communicator
 * @param[in] input {traced, kept_if_started} a whole array
 * @param[in] axis dimension to cut
 * @param[in] op reduction
 * @param[in] counts_length length of counts: comm's size
 * @param[in] counts {array(counts_length), along(axis)} extents of the parts along the axis, equal on all ranks
 * @param[in] options {optional} null for defaults
 * @param[out] output {kept_if_started} this rank's part, not overlapping input
 * @return SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
 * @started Collective; does not wait.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_reduce_scatter_along(syncyte_comm_t comm, const syncyte_buffer_t* input,
                                                                  int32_t axis, syncyte_op_t op, int64_t counts_length,
                                                                  const int64_t* counts,
                                                                  const syncyte_collective_options_t* options,
                                                                  const syncyte_buffer_t* output);

/**
 * @brief {started} Changes the axis along which an array is partitioned over the ranks (a parallel transposition); with
 * equal axes, changes the extents of its parts. Collective; facts: dtype, extents of the other axes, both axes, all
 * counts, options->fact.
 *
 * Rank r passes its part of extent gather_counts[r] along gather_axis, and gets its part of extent scatter_counts[r]
 * along scatter_axis; the extent along the other axis is that of the whole array.
 * @param[in] comm a communicator
 * @param[in] input {traced, kept_if_started} this rank's part along gather_axis
 * @param[in] gather_axis dimension along which the inputs are parts
 * @param[in] scatter_axis dimension along which the outputs are parts
 * @param[in] gather_counts_length length of gather_counts: comm's size
 * @param[in] gather_counts {array(gather_counts_length), along(gather_axis)} their extents, equal on all ranks
 * @param[in] scatter_counts_length length of scatter_counts: comm's size
 * @param[in] scatter_counts {array(scatter_counts_length), along(scatter_axis)} their extents, equal on all ranks
 * @param[in] options {optional} null for defaults
 * @param[out] output {kept_if_started} this rank's part along scatter_axis, not overlapping input
 * @started Collective; does not wait.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_alltoall_along(
    syncyte_comm_t comm, const syncyte_buffer_t* input, int32_t gather_axis, int32_t scatter_axis,
    int64_t gather_counts_length, const int64_t* gather_counts, int64_t scatter_counts_length,
    const int64_t* scatter_counts, const syncyte_collective_options_t* options, const syncyte_buffer_t* output);

#ifdef __cplusplus
}
#endif

#include "syncyte/generated/collectives.h"

#endif
