/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file nonblocking.h
 * @brief Non-blocking collectives: started by a call of generated/collectives.h, completed by a request.
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
 * @brief {by_hand} Takes part in the agreement of a non-blocking collective that this rank cannot start, for libraries
 * on top whose own checks have failed: the other ranks get the error from test or wait. Collective, in place of the
 * start; does not wait. The error is the thread's last error (syncyte_error_set()). Does nothing with
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
