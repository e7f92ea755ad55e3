/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file window.h
 * @brief One-sided access to memory of other ranks: put, get, accumulate, atomics, locks.
 *
 * Every rank contributes some bytes of zeroed memory. On a node they are shared: an operation is a load, a store or a
 * processor's atomic, complete when the call returns. Between nodes it is a request to a thread of the target, which
 * need not call anything, and is complete when the call returns. Without UCX it is MPI RMA: a put or accumulate is
 * complete at the target after flush, some MPI libraries move data only when the target enters MPI, and *all*
 * accumulates, fetch-ops and compare-swaps of a window that spans several nodes go through MPI. Either way they are
 * atomic with each other. Operations return SYNCYTE_ERR_PEER_DIED if the target died or is out of reach. Bounds are
 * checked. Puts and gets of overlapping bytes by two ranks without a lock, flush and barrier between them
 * are races. An operand of put, get or accumulate may be in the window's own memory: the bytes of the access
 * themselves, or others; if it has both, the result is SYNCYTE_ERR_ARGUMENT, and nothing moves. All functions except
 * create and fence are local.
 *
 * The started form of an access (window_iput for window_put; see generated/window.h) does not wait for other ranks. An
 * access to a rank of this node is complete on return; one between nodes makes progress without further calls, and its
 * request needs no MPI. It is complete at the target when the request has ended: window_flush(), window_unlock() and
 * window_fence() do not wait for it. Accesses in flight at one time are not ordered with each other. Test and wait
 * return SYNCYTE_ERR_PEER_DIED if the target died or is out of reach. Without the fabric (between nodes by MPI RMA) the
 * whole access happens in the start.
 */
#ifndef SYNCYTE_WINDOW_H
#define SYNCYTE_WINDOW_H

#include "syncyte/base.h"
#include "syncyte/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A window. */
typedef struct syncyte_window_s* syncyte_window_t;

/** Kind of lock: one of ::syncyte_lock_values. */
typedef int32_t syncyte_lock_t;

/** Kinds of locks. */
enum syncyte_lock_values {
  SYNCYTE_LOCK_SHARED = 1,   /**< several ranks may hold it */
  SYNCYTE_LOCK_EXCLUSIVE = 2 /**< one rank may hold it */
};

/** Options of a new window. */
typedef struct syncyte_window_options_t {
  size_t struct_size;      /**< sizeof(syncyte_window_options_t) */
  const char* name;        /**< may be null, which is a name of its own; equal on all ranks */
  syncyte_memory_t memory; /**< SYNCYTE_MEMORY_HOST; other kinds are not supported yet */
  int32_t reserved;        /**< 0 */
  const char* label;       /**< name for messages, if not null; ranks may differ */
} syncyte_window_options_t;

/** All defaults: `syncyte_window_options_t options = SYNCYTE_WINDOW_OPTIONS_INIT;`. */
#define SYNCYTE_WINDOW_OPTIONS_INIT {sizeof(syncyte_window_options_t), NULL, SYNCYTE_MEMORY_HOST, 0, NULL}

/**
 * @brief {by_hand} Makes a window. Collective; fact: options->name; sizes may differ between ranks and may be 0.
 * @param[in] comm its ranks
 * @param[in] size this rank's bytes
 * @param[in] options {optional} null for defaults
 * @param[out] window the window
 * @return SYNCYTE_ERR_MEMORY if the node's ranks together ask for more than the machine or its cgroup has available,
 * SYNCYTE_ERR_UNSUPPORTED if comm spans several nodes, a rank lacks UCX, and this MPI has no one-sided communication
 * between them.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_create(syncyte_comm_t comm, int64_t size,
                                                      const syncyte_window_options_t* options,
                                                      syncyte_window_t* window);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI.
 * @param[in] window a window
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_retain(syncyte_window_t window);

/**
 * @brief Drops a reference. Local, thread-safe, without MPI. Memory is freed at a collective point once all ranks have
 * dropped the window.
 * @param[in] window a window
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_release(syncyte_window_t window);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored. Local.
 * @param[in,out] window a window
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_destroy(syncyte_window_t* window);

/**
 * @brief {lookup} Returns the size of a rank's part. Local.
 * @param[in] window a window
 * @param[in] rank {traced} rank that contributed the part
 * @param[out] size bytes of its part
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_size(syncyte_window_t window, int32_t rank, int64_t* size);

/**
 * @brief {lookup, by_hand, cxx_by_hand} Returns the address of a rank's part, if it lies on this node. Local. Valid
 * while there is a reference to the window.
 * @param[in] window a window
 * @param[in] rank rank that contributed the part
 * @param[out] data its first byte
 * @return SYNCYTE_ERR_UNSUPPORTED for a rank on another node.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_pointer(syncyte_window_t window, int32_t rank, void** data);

/**
 * @brief {started} Writes elements to a rank. The buffer may be re-used on return; visible at the target after flush.
 * @param[in] window a window
 * @param[in] rank {traced} target
 * @param[in] offset {offset(source)} bytes from the start of its part
 * @param[in] source {contiguous, kept_if_started, traced} contiguous
 * @return SYNCYTE_ERR_INDEX beyond the end, SYNCYTE_ERR_ARGUMENT (rank), SYNCYTE_ERR_SHAPE.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_put(syncyte_window_t window, int32_t rank, int64_t offset,
                                                   const syncyte_buffer_t* source);

/**
 * @brief {forked_child, started, cxx_by_hand(blocking)} Reads elements of a rank; complete on return.
 * @param[in] window a window
 * @param[in] rank {traced} target
 * @param[in] offset {offset(target)} bytes from the start of its part
 * @param[out] target {contiguous, kept_if_started, traced} contiguous
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_get(syncyte_window_t window, int32_t rank, int64_t offset,
                                                   const syncyte_buffer_t* target);

/**
 * @brief {started} Combines elements with those at a rank; atomic per element (a complex number as a whole) with other
 * accumulates, fetch-ops and compare-swaps. The buffer may be re-used on return; visible at the target after flush.
 * @param[in] window a window
 * @param[in] rank {traced} target
 * @param[in] offset {offset(source)} bytes from the start of its part; a multiple of the element's size
 * @param[in] source {contiguous, kept_if_started, traced} contiguous
 * @param[in] op SYNCYTE_OP_SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR or REPLACE
 * @return SYNCYTE_ERR_UNSUPPORTED for an op or dtype without atomics.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_accumulate(syncyte_window_t window, int32_t rank, int64_t offset,
                                                          const syncyte_buffer_t* source, syncyte_op_t op);

/**
 * @brief {started, cxx_by_hand} Combines one element and returns its old value; atomic, sequentially consistent on a
 * node.
 * @param[in] window a window
 * @param[in] rank {traced} target
 * @param[in] offset {offset(operand)} bytes from the start of its part; a multiple of the element's size
 * @param[in] dtype element type
 * @param[in] operand one element
 * @param[in] op as in accumulate
 * @param[out] previous {kept_if_started} the old element
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_fetch_op(syncyte_window_t window, int32_t rank, int64_t offset,
                                                        syncyte_dtype_t dtype, const void* operand, syncyte_op_t op,
                                                        void* previous);

/**
 * @brief {started, cxx_by_hand} Writes desired if the element equals expected, and returns its old value; atomic.
 * @param[in] window a window
 * @param[in] rank {traced} target
 * @param[in] offset {offset(expected)} bytes from the start of its part; a multiple of the element's size
 * @param[in] dtype an integer type or bool
 * @param[in] expected one element
 * @param[in] desired one element
 * @param[out] previous {kept_if_started} the old element; equal to expected if desired was written
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_compare_swap(syncyte_window_t window, int32_t rank, int64_t offset,
                                                            syncyte_dtype_t dtype, const void* expected,
                                                            const void* desired, void* previous);

/**
 * @brief {cxx_by_hand} Waits for a rank's lock. Locks are advisory: they exclude only other lock calls. Not recursive.
 * There is no queue: an exclusive lock may wait for as long as other ranks hold shared ones. If a holder of an
 * exclusive lock dies, the wait ends with an error; a shared lock's holders are not known, so any rank's death ends it.
 * @param[in] window a window
 * @param[in] rank {traced} rank whose part is locked
 * @param[in] kind shared or exclusive
 * @return SYNCYTE_ERR_PEER_DIED if a holder, or the rank itself, died or is out of reach, or if the holder of an
 * exclusive lock has come to finalize; where the lock is shared, if all other ranks have; SYNCYTE_ERR_BUSY if this
 * rank holds it already.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_lock(syncyte_window_t window, int32_t rank, syncyte_lock_t kind);

/**
 * @brief {cxx_by_hand} Completes this rank's blocking operations on a rank, and releases its lock.
 * @param[in] window a window
 * @param[in] rank {traced} rank whose part is locked
 * @return SYNCYTE_ERR_ARGUMENT if this rank does not hold it.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_unlock(syncyte_window_t window, int32_t rank);

/**
 * @brief Completes this rank's blocking operations at their targets. Local. A started operation (iput and so on) is
 * complete when its request has ended.
 * @param[in] window a window
 * @param[in] rank {default(-1), traced} target; -1: all
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_flush(syncyte_window_t window, int32_t rank);

/**
 * @brief Completes all ranks' blocking operations: after it, all ranks see all earlier writes. Collective; also frees
 * objects that all ranks have dropped.
 * @param[in] window a window
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_window_fence(syncyte_window_t window);

#ifdef __cplusplus
}
#endif

#include "syncyte/generated/window.h"

#endif
