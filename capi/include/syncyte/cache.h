/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file cache.h
 * @brief A shared cache: memory that processes of one machine share, and allocate blocks from at equal offsets.
 *
 * One process allocates a cache and sends it to others. Each process inserts slices of it; the calling thread then
 * acquires blocks from the slice that it inserted last, and frees them. The same order of sizes gives the same offsets
 * in every process, so that a process finds in a block the contents that another process has written to the same block.
 * Otherwise contents are undefined. Processes must synchronize reads and writes by other means.
 *
 * A cache has a part for parameters, then a part for computation. It lies in host memory, or in that of a CUDA device,
 * has no name in any file system, and is freed when the last process releases it.
 *
 * Slices of a cache on a device belong to streams instead of threads: a stream that has slices acquires blocks from the
 * last one, in whatever thread, for work that is queued on it. The functions "..._stream" take such a stream, a
 * cudaStream_t, and the number of its device. Null is the device's default stream.
 *
 * All functions are local and thread-safe, and work before syncyte_init(), without it, and after syncyte_finalize(). A
 * forked child inherits caches, but no slices; it shares the memory of blocks that it inherits with its parent.
 */
#ifndef SYNCYTE_CACHE_H
#define SYNCYTE_CACHE_H

#include "syncyte/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A shared cache. */
typedef struct syncyte_cache_s* syncyte_cache_t;

/** Sizes of a new cache, in bytes, rounded up to pages, and where it lies. */
typedef struct syncyte_cache_sizes_t {
  size_t struct_size;        /**< sizeof(syncyte_cache_sizes_t) */
  int64_t parameter_bytes;   /**< 0: as SYNCYTE_CACHE_PARAMETER_BYTES says (docs/environment.md) */
  int64_t computation_bytes; /**< 0: as SYNCYTE_CACHE_COMPUTATION_BYTES says */
  syncyte_memory_t memory;   /**< where it lies */
  int32_t device;            /**< {default(-1)} the device for SYNCYTE_MEMORY_CUDA; -1: that of the thread's context,
                                  or 0 */
  const char* framework;     /**< name and version of the framework whose allocations determine offsets, such as
                                  "torch 2.15.0", for syncyte_cache_check_framework(); at most 127 bytes; null: none */
} syncyte_cache_sizes_t;

/** All defaults. */
#define SYNCYTE_CACHE_SIZES_INIT {sizeof(syncyte_cache_sizes_t), 0, 0, SYNCYTE_MEMORY_HOST, -1, NULL}

/** The Unix socket, in a folder, by which two processes pass a cache, and how long they wait. */
typedef struct syncyte_cache_rendezvous_t {
  size_t struct_size; /**< sizeof(syncyte_cache_rendezvous_t) */
  const char* name;   /**< the socket's file is NAME.syncyte; at most 60 bytes; null: as SYNCYTE_CACHE says */
  const char* folder; /**< a folder of this user with mode 0700, made if it is missing; null: as
                           SYNCYTE_CACHE_FOLDER says; a folder that neither names must not be a symbolic link */
  int64_t nonce[2];   /**< a secret that both processes know; zeros: none */
  double timeout;     /**< {default(-1)} seconds to wait; negative: as SYNCYTE_CACHE_TIMEOUT says */
} syncyte_cache_rendezvous_t;

/** All defaults. */
#define SYNCYTE_CACHE_RENDEZVOUS_INIT {sizeof(syncyte_cache_rendezvous_t), NULL, NULL, {0, 0}, -1}

/**
 * @brief Allocates a cache of zeros. The system provides pages of host memory when they are first touched, those of a
 * device at once.
 *
 * Default sizes are scaled down, with a warning in the log, if the machine, its control group or the device has less
 * memory; on a device also to SYNCYTE_CACHE_DEVICE_BYTES.
 * @param[in] options {optional} sizes; null for defaults
 * @param[out] cache the cache
 * @return SYNCYTE_ERR_MEMORY (the machine or the device has less than the chosen sizes, or SYNCYTE_CACHE_DEVICE_BYTES
 * is less), SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (no devices, or they cannot share memory between processes),
 * SYNCYTE_ERR_LIMIT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_create(const syncyte_cache_sizes_t* options, syncyte_cache_t* cache);

/**
 * @brief Adds a reference.
 * @param[in] cache a cache
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_retain(syncyte_cache_t cache);

/**
 * @brief Drops a reference. Slices keep the memory until they are cleared.
 * @param[in] cache a cache
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_release(syncyte_cache_t cache);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored.
 * @param[in,out] cache a cache
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_destroy(syncyte_cache_t* cache);

/**
 * @brief {by_hand, cxx_by_hand} Sends a cache to one process of the same user, which calls syncyte_cache_receive()
 * before or after. Waits for it.
 * @param[in] cache a cache; this process keeps its reference
 * @param[in] options {optional} socket and time limit; null for defaults
 * @return SYNCYTE_ERR_TIMEOUT (no process has received it), SYNCYTE_ERR_BUSY (another process sends under this name),
 * SYNCYTE_ERR_ARGUMENT (the name; a folder of another user, or that other users can open), SYNCYTE_ERR_IO,
 * SYNCYTE_ERR_INTERRUPTED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_send(syncyte_cache_t cache, const syncyte_cache_rendezvous_t* options);

/**
 * @brief Receives a cache that another process of the same user sends. Waits for it.
 * @param[in] options {optional} socket and time limit; null for defaults
 * @param[out] cache the cache
 * @return SYNCYTE_ERR_TIMEOUT (no process has sent one), SYNCYTE_ERR_ARGUMENT (as for syncyte_cache_send(); a nonce
 * that differs from the sender's), SYNCYTE_ERR_FORMAT (the received file is not a cache), SYNCYTE_ERR_VERSION (a cache
 * of another version), SYNCYTE_ERR_UNSUPPORTED (a cache on a device that this process does not see),
 * SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_LIMIT (open files), SYNCYTE_ERR_IO, SYNCYTE_ERR_INTERRUPTED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_receive(const syncyte_cache_rendezvous_t* options,
                                                      syncyte_cache_t* cache);

/**
 * @brief {by_hand, cxx_by_hand} Checks that a cache was made for the framework of this process. Another version may
 * allocate blocks of other sizes, or in another order, and so find other contents in them. A process with a framework
 * calls it after syncyte_cache_receive().
 * @param[in] cache a cache; one that was made for no framework is for all
 * @param[in] framework {optional, string} name and version, as in syncyte_cache_sizes_t; null: none, which is no error
 * @return SYNCYTE_ERR_VERSION, naming both, if the cache was made for another one.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_check_framework(syncyte_cache_t cache, const char* framework);

/**
 * @brief {by_hand, cxx_by_hand} Returns the sizes of a cache's parts, in bytes.
 * @param[in] cache a cache
 * @param[out] parameter_bytes bytes from offset 0 on
 * @param[out] computation_bytes bytes from offset parameter_bytes on
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_sizes(syncyte_cache_t cache, int64_t* parameter_bytes,
                                                    int64_t* computation_bytes);

/**
 * @brief {by_hand, cxx_by_hand} Returns where a cache lies.
 * @param[in] cache a cache
 * @param[out] memory the kind of memory
 * @param[out] device the device's number in this process; 0 for host memory
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_device(syncyte_cache_t cache, syncyte_memory_t* memory, int32_t* device);

/**
 * @brief {by_hand, cxx_by_hand} Returns the address of a cache in this process, a multiple of 2 MiB; it differs between
 * processes. That of a cache on a device is for its kernels and copies.
 * @param[in] cache a cache
 * @param[out] data its memory, valid while this process has a reference or a slice of the cache
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_data(syncyte_cache_t cache, void** data);

/**
 * @brief {by_hand} Makes bytes resident in this process, in huge pages if the machine has some, so that first uses do
 * not wait for pages. Contents are kept. Those of a device are resident from the start.
 * @param[in] cache a cache
 * @param[in] offset 0 or more
 * @param[in] size bytes from offset on, 0 or more
 * @return SYNCYTE_ERR_ARGUMENT (outside the cache), SYNCYTE_ERR_MEMORY (more than the machine has),
 * SYNCYTE_ERR_INTERRUPTED (asked every 64 MiB; some of the bytes are resident then).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_touch(syncyte_cache_t cache, int64_t offset, int64_t size);

/**
 * @brief {by_hand} Inserts a slice: the calling thread acquires blocks from these bytes, until it inserts another slice
 * or calls syncyte_cache_clear().
 * @param[in] cache a cache
 * @param[in] offset a multiple of 512
 * @param[in] size bytes from offset on, a multiple of 512, 512 or more
 * @return SYNCYTE_ERR_ARGUMENT (outside the cache, not a multiple), SYNCYTE_ERR_BUSY (overlaps a slice that a thread
 * of this process has inserted and not cleared, or that has blocks of an ended thread or of a forked child's parent),
 * SYNCYTE_ERR_UNSUPPORTED (a cache on a device).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_insert(syncyte_cache_t cache, int64_t offset, int64_t size);

/**
 * @brief Removes all slices that the calling thread has inserted, of all caches.
 * @return SYNCYTE_ERR_BUSY, naming offsets and sizes, while blocks of them are in use: nothing has changed then.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_clear(void);

/**
 * @brief Acquires a block from the slice that the calling thread has inserted last. A full slice is an error: there is
 * no fallback to other memory.
 * @param[in] size 0 or more; rounded up to a multiple of 512, at least 512
 * @param[out] data a block at a multiple of 512 bytes; null if the thread has inserted no slice
 * @return SYNCYTE_ERR_MEMORY (the slice has no room), SYNCYTE_ERR_ARGUMENT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_allocate(int64_t size, void** data);

/**
 * @brief Returns whether a pointer lies in a slice that this process has inserted, for a thread or a stream.
 * @param[in] data {optional} any pointer
 * @param[out] holds 1 if so, otherwise 0
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_holds(const void* data, int32_t* holds);

/**
 * @brief Frees a block, from any thread.
 * @param[in] data {optional} a block of syncyte_cache_allocate(); null is ignored
 * @return SYNCYTE_ERR_ARGUMENT for another pointer, or one that was freed before.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_free(void* data);

/**
 * @brief {by_hand, cxx_by_hand} Inserts a slice of a cache on a device: the stream acquires blocks from these bytes,
 * until it gets another slice or is cleared. The program must see to it that work which uses the bytes otherwise is
 * done.
 * @param[in] cache a cache on a device
 * @param[in] stream {optional} a stream of that device, which must live as long as it has slices
 * @param[in] offset a multiple of 512
 * @param[in] size bytes from offset on, a multiple of 512, 512 or more
 * @param[in] may_overlap 1: the bytes may also be those of slices of other streams, if all of these were inserted with
 * 1; the program must then not use blocks of several of them at the same time. Otherwise 0
 * @return SYNCYTE_ERR_ARGUMENT (outside the cache, not a multiple), SYNCYTE_ERR_BUSY (overlaps a slice of this stream,
 * or one of another stream that may not), SYNCYTE_ERR_UNSUPPORTED (a cache in host memory; a forked child).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_insert_on_stream(syncyte_cache_t cache, void* stream, int64_t offset,
                                                               int64_t size, int32_t may_overlap);

/**
 * @brief Waits for a stream, and removes all its slices, of all caches.
 * @param[in] device the stream's device
 * @param[in] stream {optional} the stream
 * @return SYNCYTE_ERR_BUSY, naming offsets, while blocks of them are in use, or are freed and used by other streams:
 * nothing has changed then.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_clear_stream(int32_t device, void* stream);

/**
 * @brief Removes all slices of the calling thread and of a stream, as syncyte_cache_clear() and
 * syncyte_cache_clear_stream() do, or none.
 * @param[in] device the stream's device
 * @param[in] stream {optional} the stream
 * @return SYNCYTE_ERR_BUSY, as these functions: nothing has changed then, for the thread nor for the stream.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_clear_both(int32_t device, void* stream);

/**
 * @brief Returns whether a stream has slices.
 * @param[in] device the stream's device
 * @param[in] stream {optional} the stream
 * @param[out] has 1 if so, otherwise 0
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_stream_has_slice(int32_t device, void* stream, int32_t* has);

/**
 * @brief Acquires a block from the last slice of a stream, for work that is queued on this stream. A slice that is full
 * waits for freed blocks that other streams use; if it is full then, it is an error.
 * @param[in] device the stream's device
 * @param[in] stream {optional} the stream
 * @param[in] size 0 or more; rounded up to a multiple of 512, at least 512
 * @param[out] data a block at a multiple of 512 bytes; null if the stream has no slice
 * @return SYNCYTE_ERR_MEMORY (the slice has no room), SYNCYTE_ERR_ARGUMENT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_allocate_on_stream(int32_t device, void* stream, int64_t size,
                                                                 void** data);

/**
 * @brief Notes that work on another stream uses a block. After it is freed, the block is acquired again only once all
 * is done that the other stream has queued until then.
 * @param[in] device the device of the block's stream
 * @param[in] stream {optional} the stream that has acquired the block
 * @param[in] data the block
 * @param[in] other {optional} the other stream
 * @return SYNCYTE_ERR_ARGUMENT for a pointer that is no block of the stream.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_record_stream(int32_t device, void* stream, const void* data,
                                                            void* other);

/**
 * @brief Frees a block of a stream, from any thread. Work that the stream has queued may still use it.
 * @param[in] device the device of the block's stream
 * @param[in] stream {optional} the stream that has acquired the block
 * @param[in] data {optional} the block; null is ignored
 * @return SYNCYTE_ERR_ARGUMENT for a pointer that is no block of the stream, or that was freed before.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_cache_free_on_stream(int32_t device, void* stream, void* data);

#ifdef __cplusplus
}
#endif

#endif
