/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file checkpoint.h
 * @brief Checkpoints: named tensors in one HDF5 file, written and read by any number of ranks. Library libsyncyte_hdf5.
 *
 * Each key is one dataset, a plain array that h5py and h5dump read. Its attributes hold the dtype, the sharding and the
 * CRC32C of fixed blocks of its row-major bytes. A save is atomic: a temporary file in the same directory is written,
 * flushed, closed, synced and checked before it is renamed; then the directory is synced. A load reads only the bytes
 * that a rank asks for, and at most a partial block at each end to verify them.
 */
#ifndef SYNCYTE_CHECKPOINT_H
#define SYNCYTE_CHECKPOINT_H

#include "syncyte/base.h"
#include "syncyte/bundle.h"
#include "syncyte/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** File format that this library writes, and the newest that it reads; it reads all older ones. */
#define SYNCYTE_CHECKPOINT_FORMAT 2

/** An open checkpoint file. */
typedef struct syncyte_checkpoint_s* syncyte_checkpoint_t;

/** How the ranks hold an entry's data: one of ::syncyte_entry_kind_values. */
typedef int32_t syncyte_entry_kind_t;

/** Kinds of entries. */
enum syncyte_entry_kind_values {
  SYNCYTE_ENTRY_REPLICATED = 0, /**< all ranks hold equal data (compared with SYNCYTE_CHECK=full); rank 0's is saved */
  SYNCYTE_ENTRY_SHARDED = 1     /**< each rank holds some rows, in rank order */
};

/** One named tensor to save or load. */
typedef struct syncyte_checkpoint_entry_t {
  size_t struct_size;           /**< sizeof(syncyte_checkpoint_entry_t) */
  const char* key;              /**< name, 1 to 1023 bytes; '/' is stored escaped as "%2F", '%' as "%25", and the key
                                     "." as "%2E" */
  const syncyte_buffer_t* data; /**< contiguous, in host or CUDA memory; this rank's rows if sharded; read during the
                                     call */
  syncyte_entry_kind_t kind;    /**< replicated or sharded */
  int32_t reserved;             /**< 0 */
} syncyte_checkpoint_entry_t;

/** Options of save and open. */
typedef struct syncyte_checkpoint_options_t {
  size_t struct_size;     /**< sizeof(syncyte_checkpoint_options_t) */
  int64_t block_bytes;    /**< bytes per checksum when saving, a power of two from 4096 to 2^30; 0: 4 MiB */
  int64_t step;           /**< stored as the attribute "step" when saving; any number */
  const char* attributes; /**< text to store in the file's attribute "attributes" when saving, up to 16 MiB: scalars,
                               strings and small arrays, in JSON by convention; null for none; read during the call */
} syncyte_checkpoint_options_t;

/**
 * @brief Returns the version of the loaded libsyncyte_hdf5. Local; callable at any time, from any thread.
 * @param[out] major {optional} first number
 * @param[out] minor {optional} second number
 * @param[out] patch {optional} third number
 * @param[out] abi {optional} SYNCYTE_ABI_VERSION of the library
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_hdf5_version(int32_t* major, int32_t* minor, int32_t* patch, int32_t* abi);

/**
 * @brief Saves entries into one file, atomically: on any error the old file is untouched. Collective; facts: path,
 * count, keys, kinds, dtypes, extents (without the first one of sharded entries), options; with SYNCYTE_CHECK=full
 * also the CRC32C of replicated entries. A mismatch error names the key, the property and the ranks that differ.
 *
 * The new file takes the permissions of the file that it replaces, and its owner and group if this process may set them
 * (otherwise the file is this user's, and a different group gets no access). If the path is a symbolic link, the link
 * stays and its target is replaced. Rank 0 locks the temporary file (flock). A save removes unlocked temporary files of
 * the same target, which killed jobs have left.
 * @param[in] comm a communicator
 * @param[in] path {string} file to write or replace; equal on all ranks, on a file system that all ranks see
 * @param[in] count number of entries
 * @param[in] entries {array(count)} in the same order on all ranks, keys unique
 * @param[in] options {optional} null for defaults
 * @return SYNCYTE_ERR_IO (names path and reason), SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_save(syncyte_comm_t comm, const char* path, int64_t count,
                                                        const syncyte_checkpoint_entry_t* entries,
                                                        const syncyte_checkpoint_options_t* options);

/**
 * @brief Opens a checkpoint: rank 0 reads and verifies the metadata and sends it to all ranks. Collective; facts: path.
 * @param[in] comm a communicator
 * @param[in] path {string} file
 * @param[in] options {optional} null for defaults
 * @param[out] checkpoint the open file
 * @return SYNCYTE_ERR_NOT_FOUND (no such file), SYNCYTE_ERR_FORMAT (not a checkpoint, or truncated),
 * SYNCYTE_ERR_CHECKSUM (damaged metadata), SYNCYTE_ERR_VERSION (a newer format, or a feature
 * that this library does not know), SYNCYTE_ERR_IO; each names the file.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_open(syncyte_comm_t comm, const char* path,
                                                        const syncyte_checkpoint_options_t* options,
                                                        syncyte_checkpoint_t* checkpoint);

/**
 * @brief Closes the file and nulls the handle; a null handle is ignored. Local.
 * @param[in,out] checkpoint an open checkpoint
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_close(syncyte_checkpoint_t* checkpoint);

/**
 * @brief Returns the number of keys and the saved step. Local.
 * @param[in] checkpoint an open checkpoint
 * @param[out] count number of keys
 * @param[out] step {optional} the saved step
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_count(syncyte_checkpoint_t checkpoint, int64_t* count,
                                                         int64_t* step);

/**
 * @brief Returns the attributes that were saved with the file. Local.
 * @param[in] checkpoint an open checkpoint
 * @param[out] attributes the text; "" if there are none. Valid until the checkpoint is closed
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_attributes(syncyte_checkpoint_t checkpoint, const char** attributes);

/**
 * @brief Returns a key by its number in alphabetical order. Local.
 * @param[in] checkpoint an open checkpoint
 * @param[in] number 0 to count - 1
 * @param[out] key valid until the checkpoint is closed
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_key(syncyte_checkpoint_t checkpoint, int64_t number,
                                                       const char** key);

/**
 * @brief Returns the element type, global shape and kind of a key. Local.
 * @param[in] checkpoint an open checkpoint
 * @param[in] key {string} its name
 * @param[in,out] global struct_size set by the caller; the rest is filled, with data null
 * @param[out] kind {optional} kind with which it was saved
 * @return SYNCYTE_ERR_NOT_FOUND, naming the key and the file.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_describe(syncyte_checkpoint_t checkpoint, const char* key,
                                                            syncyte_buffer_t* global, syncyte_entry_kind_t* kind);

/**
 * @brief Reads rows [first_row, first_row + target.shape[0]) of a key and verifies their checksums. Local: each rank
 * reads the rows that it needs. A 0-dimensional key counts as one row, read into a 0-dimensional target.
 * @param[in] checkpoint an open checkpoint
 * @param[in] key {string} its name
 * @param[in] first_row first row to read
 * @param[out] target contiguous memory of the key's dtype; all extents but the first are the key's. Its contents
 * are undefined after an error
 * @return SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_INDEX, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_CHECKSUM (names
 * file, key and block), SYNCYTE_ERR_FORMAT (truncated), SYNCYTE_ERR_IO.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_read(syncyte_checkpoint_t checkpoint, const char* key,
                                                        int64_t first_row, const syncyte_buffer_t* target);

/**
 * @brief Returns the bytes of tensor data that this rank has read from the file so far, including those read only for
 * verification. Local.
 * @param[in] checkpoint an open checkpoint
 * @param[out] bytes the number
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_bytes_read(syncyte_checkpoint_t checkpoint, int64_t* bytes);

/**
 * @brief Loads entries: every rank reads replicated entries whole, and its rows of sharded entries. The buffers' first
 * extents, in rank order, partition the rows. The number of ranks may differ from that of the save. Collective; all
 * ranks get the same status.
 * @param[in] comm a communicator
 * @param[in] path {string} file
 * @param[in] count number of entries
 * @param[in,out] entries {array(count)} in the same order on all ranks; the memory they describe is filled
 * @param[in] options {optional} null for defaults
 * @return as open and read; SYNCYTE_ERR_SHAPE if the rows of a sharded entry do not add up to the key's.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_load(syncyte_comm_t comm, const char* path, int64_t count,
                                                        const syncyte_checkpoint_entry_t* entries,
                                                        const syncyte_checkpoint_options_t* options);

/**
 * @brief Saves the fields of a bundle, and entries beside them, into one file, as syncyte_checkpoint_save(). Each field
 * is a key, and its dataset the whole array, without ghosts, each point once: the right copy of those that several
 * blocks store. Fields are collected and written slab by slab: this takes 16 MiB on each rank, and messages of
 * 8 MiB. Collective.
 * @param[in] comm the bundle's communicator
 * @param[in] path {string} as of syncyte_checkpoint_save()
 * @param[in] bundle a bundle without an operation in flight
 * @param[in] count number of entries, which may be 0
 * @param[in] entries {array(count), optional} further arrays, whose keys no field has: scalars as replicated entries
 * @param[in] options {optional} null for defaults
 * @return as syncyte_checkpoint_save().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_save_bundle(syncyte_comm_t comm, const char* path,
                                                               syncyte_bundle_t bundle, int64_t count,
                                                               const syncyte_checkpoint_entry_t* entries,
                                                               const syncyte_checkpoint_options_t* options);

/**
 * @brief Loads the fields of a bundle, and entries beside them, on any number of ranks and into any layouts: every
 * place of a block gets the value of its point. Ghosts are not written; syncyte_bundle_exchange() fills them. The file
 * may have been written by either function of save. Collective.
 * @param[in] comm the bundle's communicator
 * @param[in] path {string} file
 * @param[in] bundle a bundle without an operation in flight
 * @param[in] count number of entries, which may be 0
 * @param[in,out] entries {array(count), optional} as of syncyte_checkpoint_load()
 * @param[in] options {optional} null for defaults
 * @return as syncyte_checkpoint_load(); SYNCYTE_ERR_SHAPE if a key has other extents than the field.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_load_bundle(syncyte_comm_t comm, const char* path,
                                                               syncyte_bundle_t bundle, int64_t count,
                                                               const syncyte_checkpoint_entry_t* entries,
                                                               const syncyte_checkpoint_options_t* options);

#ifdef __cplusplus
}
#endif

#endif
