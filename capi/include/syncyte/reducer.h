/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file reducer.h
 * @brief Buckets of memory that all ranks sum in place while they compute: gradient averaging.
 *
 * A reducer has buckets of memory, of the same types and sizes on all ranks. In a *round* every rank fills its buckets
 * and starts each one as soon as it is full, in any order, without waiting. After syncyte_reducer_wait() every bucket
 * holds scale times the sum over all ranks, with the same bits on all ranks. Then the next round begins.
 *
 * The ranks of a node read each other's buckets, and add in rank order. Once all of them have started a bucket, any
 * rank that is in a function of the reducer sums the next part of it: a rank that has started a bucket need not call
 * the reducer again for the others to get their sums. Between nodes the first rank of each node sends its node's sums,
 * when it starts a bucket or is in syncyte_reducer_progress() or syncyte_reducer_wait(). It must not drop its reducer
 * within a round.
 *
 * A round has no agreement. The watchdog (SYNCYTE_WATCHDOG) reports a rank that does not start its buckets; if that
 * rank is in syncyte_finalize() on the same node, the others get SYNCYTE_ERR_MISMATCH, which names it. A rank that
 * cannot fill its buckets calls syncyte_reducer_give_up(), and all ranks get an error.
 *
 * If two threads call functions of a reducer, the second one waits.
 */
#ifndef SYNCYTE_REDUCER_H
#define SYNCYTE_REDUCER_H

#include "syncyte/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A reducer. */
typedef struct syncyte_reducer_s* syncyte_reducer_t;

/** Options of a reducer. */
typedef struct syncyte_reducer_options_t {
  size_t struct_size; /**< sizeof(syncyte_reducer_options_t) */
  double scale;       /**< {default(1)} factor of the sums; 1 / number of ranks gives means */
} syncyte_reducer_options_t;

/** All defaults: `syncyte_reducer_options_t options = SYNCYTE_REDUCER_OPTIONS_INIT;`. */
#define SYNCYTE_REDUCER_OPTIONS_INIT {sizeof(syncyte_reducer_options_t), 1.0}

/**
 * @brief {by_hand} Makes a reducer with zeroed buckets. Collective; facts: buckets, dtypes, elements, options->scale.
 * @param[in] comm a communicator, which the reducer keeps alive
 * @param[in] buckets number of buckets, 1 or more
 * @param[in] dtypes {array(buckets)} element types, floating-point or complex; 16-bit floats are summed in float32 and
 * rounded once
 * @param[in] elements {array(buckets)} numbers of elements, 0 or more; all buckets together have at most 2^56 bytes
 * @param[in] options {optional} null for defaults
 * @param[out] reducer the reducer
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MEMORY (all ranks' buckets of a node together do not
 * fit), SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_create(syncyte_comm_t comm, int32_t buckets,
                                                       const syncyte_dtype_t* dtypes, const int64_t* elements,
                                                       const syncyte_reducer_options_t* options,
                                                       syncyte_reducer_t* reducer);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_retain(syncyte_reducer_t reducer);

/**
 * @brief Drops a reference. The last release frees this rank's buckets and gives up the round; ranks may drop their
 * reducers in any order. Local, thread-safe, without MPI.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_release(syncyte_reducer_t reducer);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_reducer_release().
 * @param[in,out] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_destroy(syncyte_reducer_t* reducer);

/**
 * @brief {by_hand, cxx_by_hand} Returns this rank's memory of a bucket. Local. It must not be read or written from the
 * start of the bucket until the end of the round.
 * @param[in] reducer a reducer
 * @param[in] bucket 0 to buckets - 1
 * @param[in,out] buffer struct_size set by the caller; data, dtype and extent (one dimension), owned by the reducer
 * @return SYNCYTE_ERR_ARGUMENT for a bucket that does not exist.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_bucket(syncyte_reducer_t reducer, int32_t bucket,
                                                       syncyte_buffer_t* buffer);

/**
 * @brief {by_hand} Starts the sum of a bucket that this rank has filled. All ranks start all buckets in each round, in
 * any order. Does not wait for other ranks; sums parts of buckets that all ranks of the node have started.
 * @param[in] reducer a reducer
 * @param[in] bucket 0 to buckets - 1
 * @return SYNCYTE_ERR_BUSY if this rank has already started it in this round; SYNCYTE_ERR_ARGUMENT for a bucket that
 * does not exist.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_start(syncyte_reducer_t reducer, int32_t bucket);

/**
 * @brief Sums parts of buckets that all ranks of the node have started, without waiting. Local.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_progress(syncyte_reducer_t reducer);

/**
 * @brief Waits for the end of the round: all buckets hold the sums. Collective.
 * @param[in] reducer a reducer
 * @return SYNCYTE_ERR_ARGUMENT if this rank has not started all buckets: the round continues. SYNCYTE_ERR_MISMATCH if
 * a rank has given up the round: it has ended, and the contents of the buckets are undefined.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_wait(syncyte_reducer_t reducer);

/**
 * @brief Gives up the round: syncyte_reducer_wait() returns SYNCYTE_ERR_MISMATCH with this rank's number on all ranks.
 * This rank must call syncyte_reducer_wait() too. Local; does not wait.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_give_up(syncyte_reducer_t reducer);

#ifdef __cplusplus
}
#endif

#endif
