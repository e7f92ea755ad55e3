/**
 * @file reducer.h
 * @brief Memory that all ranks have alike and that is summed in place, piece by piece, while they compute: gradients.
 *
 * A reducer gives each rank a number of pieces of memory. In a round every rank fills its pieces and starts each as
 * soon as it is full, in any order, without waiting; when it has waited for the round all pieces hold, on all ranks,
 * scale times the sums, with the same bits. Then the next round begins.
 *
 * Ranks of a node add up in each other's memory: once all of them have started a piece, whichever rank is in a function
 * of the reducer takes the next part of the work, so that a rank that has started a piece need do nothing more for the
 * others to get it. Additions are in the order of ranks there. Between nodes the first rank of each sends its sums,
 * when it starts a piece or is in syncyte_reducer_progress() or _wait(): it must not drop its reducer in a round.
 *
 * A round has no agreement of its own: a rank that does not come is the watchdog's (SYNCYTE_WATCHDOG), unless it has
 * come to syncyte_finalize() on the same node: then the others get SYNCYTE_ERR_MISMATCH, which names it. One that
 * cannot bring what it should gives the round up, and all get an error.
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
  double scale;       /**< {default(1)} what sums are multiplied with; one over the ranks gives means */
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
 * @brief Drops a reference. With the last one the memory of the pieces goes and the round is given up, without waiting:
 * other ranks may drop theirs earlier or later. Local, thread-safe, without MPI.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_release(syncyte_reducer_t reducer);

/**
 * @brief Drops a reference and nulls the handle; null is fine. Local, as syncyte_reducer_release().
 * @param[in,out] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_destroy(syncyte_reducer_t* reducer);

/**
 * @brief This rank's memory of a piece. Local. Between the start of the piece and the end of the round it must be
 * neither read nor written; at all other times it is this rank's own.
 * @param[in] reducer a reducer
 * @param[in] piece 0 to pieces - 1
 * @param[out] buffer data, dtype and the one extent; the memory is the reducer's
 * @return SYNCYTE_ERR_ARGUMENT for a piece that does not exist.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_piece(syncyte_reducer_t reducer, int32_t piece,
                                                      syncyte_buffer_t* buffer);

/**
 * @brief This rank's piece is full. All ranks start all pieces in each round, in any order; does not wait for other
 * ranks, but works on the sums of what they have started.
 * @param[in] reducer a reducer
 * @param[in] piece 0 to pieces - 1
 * @return SYNCYTE_ERR_BUSY if this rank has started it in this round already; SYNCYTE_ERR_ARGUMENT for a piece that
 * does not exist.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_start(syncyte_reducer_t reducer, int32_t piece);

/**
 * @brief Works on the sums of what all have started, without waiting. Local.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_progress(syncyte_reducer_t reducer);

/**
 * @brief Waits for the end of the round: all pieces hold the sums. Collective.
 * @param[in] reducer a reducer
 * @return SYNCYTE_ERR_ARGUMENT if this rank has not started all pieces: the round goes on; SYNCYTE_ERR_MISMATCH where a
 * rank has given the round up: it is over, and what the pieces hold is undefined.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_wait(syncyte_reducer_t reducer);

/**
 * @brief This rank does not bring what is missing of the round: all that wait for it, this rank too, which has to, get
 * SYNCYTE_ERR_MISMATCH with this rank's number. Local, does not wait; the pieces stay untouched until then.
 * @param[in] reducer a reducer
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_reducer_give_up(syncyte_reducer_t reducer);

#ifdef __cplusplus
}
#endif

#endif
