/**
 * @file memory.h
 * @brief Recycled buffers and copies between host and device memory.
 *
 * All functions are local and thread-safe, and callable before syncyte_init().
 */
#ifndef SYNCYTE_MEMORY_H
#define SYNCYTE_MEMORY_H

#include "syncyte/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the pool of recycled buffers holds. Sizes are in bytes. */
typedef struct syncyte_memory_stats_t {
  size_t struct_size; /**< sizeof(syncyte_memory_stats_t) */
  size_t in_use;      /**< handed out, rounded up to size classes */
  size_t cached;      /**< kept for re-use */
  size_t limit;       /**< most that is kept: SYNCYTE_POOL_LIMIT, or a 16th of the machine's memory */
  int64_t hits;       /**< requests served from the cache */
  int64_t misses;     /**< requests that needed fresh memory */
} syncyte_memory_stats_t;

/**
 * @brief Takes a buffer from the pool: recycled pages where there are some. Contents are undefined, alignment 64 bytes.
 * @param[in] bytes size wanted; 0 gives a null pointer
 * @param[in] memory where
 * @param[in] device number of the device; 0 for host memory
 * @param[out] data the buffer; given back by syncyte_memory_release()
 * @return SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED (no such memory in this build), SYNCYTE_ERR_ARGUMENT (device).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_acquire(size_t bytes, syncyte_memory_t memory, int32_t device,
                                                       void** data);

/**
 * @brief Gives a buffer back to the pool.
 * @param[in] data {optional} what syncyte_memory_acquire() gave; null is fine
 * @return SYNCYTE_ERR_ARGUMENT for a pointer that is not one of the pool's, or was given back already.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_release(void* data);

/**
 * @brief Returns all cached buffers to the system.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_trim(void);

/**
 * @brief Figures of the pool of host buffers.
 * @param[in,out] stats struct_size set by the caller; the rest is filled
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_stats(syncyte_memory_stats_t* stats);

/**
 * @brief Number of devices of a kind; 1 for host memory, 0 for CUDA in a build without it or without a driver.
 * @param[in] memory kind
 * @param[out] count number of devices
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_device_count(syncyte_memory_t memory, int32_t* count);

/**
 * @brief Copies bytes between contiguous buffers of any memory kinds; returns when the copy is done or, with a stream,
 * when it is queued.
 * @param[out] target where to; shape and dtype may differ from source, the number of bytes may not
 * @param[in] source where from; must not overlap target
 * @param[in] stream {optional} a cudaStream_t; null waits for completion
 * @return SYNCYTE_ERR_SHAPE (different sizes, not contiguous), SYNCYTE_ERR_UNSUPPORTED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_copy(const syncyte_buffer_t* target, const syncyte_buffer_t* source,
                                                    void* stream);

#ifdef __cplusplus
}
#endif

#endif
