/**
 * @file reducer.h
 * @brief Gradient averaging: sums pieces of memory over all ranks, in place, while the ranks compute.
 *
 * A reducer gives each rank the same pieces of memory (buckets). In a round every rank fills its pieces and starts each
 * one as soon as it is full, in any order, without waiting. After the wait for the round, all pieces on all ranks hold
 * scale times the sums, bitwise equal. Then the next round begins.
 *
 * Ranks of a node add in each other's memory: once all of them have started a piece, any rank that is in a function of
 * the reducer takes the next part of the work, so that a rank need not call again for the others to get its piece.
 * Additions on a node are in rank order. Between nodes the first rank of each node sends its sums, when it starts a
 * piece or is in syncyte_reducer_progress() or _wait(): it must not drop its reducer during a round.
 *
 * A round has no agreement of its own. The watchdog (SYNCYTE_WATCHDOG) reports a wait for a rank that does not take
 * part; if that rank has entered syncyte_finalize() on the same node, the others get SYNCYTE_ERR_MISMATCH, which names
 * it. A rank that cannot fill its pieces gives the round up, and all ranks get an error.
 *
 * One thread at a time works on a reducer; others wait for it.
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
 * @brief Makes a reducer with zeroed pieces. Collective; facts: pieces, dtypes, elements, options->scale.
 * @param[in] comm a communicator, which the reducer keeps alive
 * @param[in] pieces number of pieces, 1 or more
 * @param[in] dtypes {array(pieces)} element types, floating-point or complex; 16-bit floats are summed in float32 and
 * rounded once
 * @param[in] elements {array(pieces)} lengths, 0 or more; all pieces together have at most 2^56 bytes
 * @param[in] options {optional} null for defaults
 * @param[out] reducer the reducer
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MEMORY (all ranks' pieces of a node together do not fit),
 * SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_create(syncyte_comm_t comm, int32_t pieces,
                                                       const syncyte_dtype_t* dtypes, const int64_t* elements,
                                                       const syncyte_reducer_options_t* options,
                                                       syncyte_reducer_t* reducer);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_retain(syncyte_reducer_t reducer);

/**
 * @brief Drops a reference. The last release frees the memory of the pieces and gives up the round, without waiting:
 * other ranks may drop theirs earlier or later. Local, thread-safe, without MPI.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_release(syncyte_reducer_t reducer);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_reducer_release().
 * @param[in,out] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_destroy(syncyte_reducer_t* reducer);

/**
 * @brief Returns this rank's memory of a piece. Local. It must not be read or written between the start of the piece
 * and the end of the round.
 * @param[in] reducer a reducer
 * @param[in] piece 0 to pieces - 1
 * @param[out] buffer data, dtype and extent, one dimension; the reducer owns the memory
 * @return SYNCYTE_ERR_ARGUMENT for a piece that does not exist.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_piece(syncyte_reducer_t reducer, int32_t piece,
                                                      syncyte_buffer_t* buffer);

/**
 * @brief Starts a piece, which this rank has filled. All ranks start all pieces in each round, in any order. Does not
 * wait for other ranks, but works on the sums of pieces that they have started.
 * @param[in] reducer a reducer
 * @param[in] piece 0 to pieces - 1
 * @return SYNCYTE_ERR_BUSY if this rank has started it in this round already; SYNCYTE_ERR_ARGUMENT for a piece that
 * does not exist.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_start(syncyte_reducer_t reducer, int32_t piece);

/**
 * @brief Works on the sums of pieces that all ranks have started, without waiting. Local.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_progress(syncyte_reducer_t reducer);

/**
 * @brief Waits for the end of the round: all pieces hold the sums. Collective.
 * @param[in] reducer a reducer
 * @return SYNCYTE_ERR_ARGUMENT if this rank has not started all pieces: the round goes on. SYNCYTE_ERR_MISMATCH if a
 * rank has given up the round: the round is over, and the contents of the pieces are undefined.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_wait(syncyte_reducer_t reducer);

/**
 * @brief Gives up the round: all ranks, this one too, get SYNCYTE_ERR_MISMATCH with this rank's number from
 * syncyte_reducer_wait(), which this rank must call as well. Local, does not wait; the pieces are unchanged until then.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_give_up(syncyte_reducer_t reducer);

#ifdef __cplusplus
}
#endif

#endif
