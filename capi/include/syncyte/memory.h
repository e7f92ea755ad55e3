/* SPDX-License-Identifier: BSD-3-Clause */
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

/** Statistics of the pools of recycled buffers: of host memory, and of all devices in sum. Sizes are in bytes. */
typedef struct syncyte_memory_stats_t {
  size_t struct_size;    /**< sizeof(syncyte_memory_stats_t) */
  int64_t in_use;        /**< acquired and not released, rounded up to size classes */
  int64_t cached;        /**< kept for re-use */
  int64_t limit;         /**< limit of cached (SYNCYTE_POOL_LIMIT) */
  int64_t hits;          /**< requests served from the cache */
  int64_t misses;        /**< requests that needed fresh memory */
  int64_t device_in_use; /**< in_use of devices */
  int64_t device_cached; /**< cached of devices */
  int64_t device_limit;  /**< limit of devices: each has SYNCYTE_POOL_LIMIT */
  int64_t device_hits;   /**< hits of devices */
  int64_t device_misses; /**< misses of devices */
} syncyte_memory_stats_t;

/** Memory of a device that an object of this process has, in a list for people. */
typedef struct syncyte_device_use_t {
  size_t struct_size; /**< sizeof(syncyte_device_use_t) */
  const char* device; /**< UUID of the device, "GPU-..."; valid until this thread asks again */
  const char* holder; /**< the object, such as `tensor "table" (float32, [10, 4])`; valid as device */
  int64_t bytes;      /**< of the device's pages that it has */
} syncyte_device_use_t;

/**
 * @brief Acquires a buffer from the pool of the memory's kind and device, recycled if possible. Its contents are
 * undefined; its alignment is 64 bytes. Work that was enqueued on a recycled buffer of a device has ended.
 * @param[in] size bytes; 0 gives a null pointer
 * @param[in] memory kind of memory
 * @param[in] device number of the device; 0 for host memory
 * @param[out] data the buffer, to be released by syncyte_memory_free()
 * @return SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED (no such memory in this build), SYNCYTE_ERR_ARGUMENT (device).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_allocate(int64_t size, syncyte_memory_t memory, int32_t device,
                                                        void** data);

/**
 * @brief Releases a buffer to its pool. For a buffer of a device it first waits for all work that is enqueued on the
 * device, as cudaFree does: the caller need not wait, but must enqueue nothing on the buffer from the call on.
 * @param[in] data {optional} a buffer of syncyte_memory_allocate(); null is ignored
 * @return SYNCYTE_ERR_ARGUMENT for a pointer that is not the pool's, or that was released before.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_free(void* data);

/**
 * @brief Returns all cached buffers to the system and to the devices.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_trim(void);

/**
 * @brief Returns statistics of the pools.
 * @param[in,out] stats struct_size set by the caller; the rest is filled
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_stats(syncyte_memory_stats_t* stats);

/**
 * @brief Describes one after another the objects of this process that have memory of devices, in the order
 * in which they were made: whole tensors (this rank's pages), with the states of their optimizers, and shared caches,
 * also those that other processes have too. Buffers are in memory_stats(), models in models_describe(). Number 0
 * begins; others are of the same moment.
 * @param[in] number 0, 1, ... until the result is SYNCYTE_ERR_INDEX
 * @param[in,out] use struct_size set by the caller; the rest is filled
 * @return SYNCYTE_ERR_INDEX beyond the last one.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_describe(int64_t number, syncyte_device_use_t* use);

/**
 * @brief Returns the number of devices of a kind of memory: 1 for host memory; for CUDA 0 without a driver, or in a
 * build without CUDA. Devices are counted without starting the driver where NVIDIA's management library is installed:
 * children that are forked afterwards may use them. A child that is forked after the first use of a device cannot.
 * @param[in] memory kind
 * @param[out] count number of devices
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_device_count(syncyte_memory_t memory, int32_t* count);

/**
 * @brief Copies bytes between contiguous buffers of any memory kinds; returns when the copy is done or, with a stream,
 * when it is queued.
 * @param[out] target buffer to write; shape and dtype may differ from source, the number of bytes may not
 * @param[in] source buffer to read; must not overlap target
 * @param[in] stream {optional} a cudaStream_t; null waits for completion
 * @return SYNCYTE_ERR_SHAPE (different sizes, not contiguous), SYNCYTE_ERR_UNSUPPORTED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_copy(const syncyte_buffer_t* target, const syncyte_buffer_t* source,
                                                    void* stream);

/**
 * @brief Chooses the stream on which operations of the calling thread on tensors and tables in device memory
 * are queued from now on.
 * @param[in] memory SYNCYTE_MEMORY_CUDA
 * @param[in] stream {optional} a cudaStream_t of the device; null: operations run on the device's default stream and
 * are complete on return. cudaStreamLegacy is the default stream, without this wait
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_memory_set_stream(syncyte_memory_t memory, void* stream);

#ifdef __cplusplus
}
#endif

#endif
