/**
 * @file checkpoint.h
 * @brief Checkpoints: named tensors in one HDF5 file, written and read by any number of ranks. Library libsyncyte_hdf5.
 *
 * One dataset per key, plain arrays that h5py and h5dump read; dtype, sharding and CRC32C of fixed blocks of the
 * row-major bytes in attributes. A save is atomic: a temporary file in the same directory is written, flushed, closed,
 * synced and checked before it takes the name; the directory is synced. A load reads only the bytes a rank asks for,
 * and at most a partial block at each end to verify them.
 *
 * The struct_size of entries and options is exactly their sizeof: a longer one is refused, because what it asks for
 * would be ignored.
 */
#ifndef SYNCYTE_CHECKPOINT_H
#define SYNCYTE_CHECKPOINT_H

#include "syncyte/base.h"
#include "syncyte/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Newest file format that this library reads and writes. */
#define SYNCYTE_CHECKPOINT_FORMAT 1

/** An open checkpoint file. */
typedef struct syncyte_checkpoint_s* syncyte_checkpoint_t;

/** How an entry's data lies on the ranks: one of ::syncyte_layout_values. */
typedef int32_t syncyte_layout_t;

/** Layouts. */
enum syncyte_layout_values {
  SYNCYTE_LAYOUT_REPLICATED = 0, /**< all ranks hold the same (compared with SYNCYTE_CHECK=full); rank 0's is saved */
  SYNCYTE_LAYOUT_SHARDED = 1     /**< each rank holds some rows, in order of ranks */
};

/** One named tensor to save or load. */
typedef struct syncyte_checkpoint_entry_t {
  size_t struct_size;      /**< sizeof(syncyte_checkpoint_entry_t) */
  const char* key;         /**< name, 1 to 1023 bytes; '/' is stored escaped as "%2F", '%' as "%25", and the key "."
                                as "%2E" */
  syncyte_layout_t layout; /**< replicated or sharded */
  syncyte_buffer_t data;   /**< host memory, contiguous; this rank's rows if sharded */
} syncyte_checkpoint_entry_t;

/** Options of save and open. */
typedef struct syncyte_checkpoint_options_t {
  size_t struct_size; /**< sizeof(syncyte_checkpoint_options_t) */
  size_t block_bytes; /**< bytes per checksum when saving, a power of two from 4096 to 2^30; 0: 4 MiB */
  int64_t step;       /**< stored as the attribute "step" when saving; any number */
} syncyte_checkpoint_options_t;

/**
 * @brief Saves entries into one file, atomically: on any error the old file is untouched. Collective; facts: path,
 * count, keys, layouts, dtypes, extents (but the first of sharded ones), options; with SYNCYTE_CHECK=full also the
 * CRC32C of replicated entries. A mismatch names the key, what differs, and the ranks.
 *
 * A file that is replaced gives the new one its permissions, and its owner and group where this process may give them
 * (otherwise the file becomes this user's, and another group gets no access). A path that is a symbolic link stays one:
 * what it leads to is written. Rank 0 locks the temporary file (flock); a save removes those of earlier saves of the
 * same file that nobody has locked: they are left where a job is killed.
 * @param[in] comm a communicator
 * @param[in] path {string} file to write or replace; equal on all ranks, on a file system that all see
 * @param[in] count number of entries
 * @param[in] entries {array(count)} in the same order on all ranks, keys unique
 * @param[in] options {optional} null for defaults
 * @return SYNCYTE_ERR_IO (names path and reason), SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_save(syncyte_comm_t comm, const char* path, int64_t count,
                                                        const syncyte_checkpoint_entry_t* entries,
                                                        const syncyte_checkpoint_options_t* options);

/**
 * @brief Opens a checkpoint: rank 0 reads and verifies the metadata, all get it. Collective; facts: path.
 * @param[in] comm a communicator
 * @param[in] path {string} file
 * @param[in] options {optional} null for defaults
 * @param[out] checkpoint the open file
 * @return SYNCYTE_ERR_NOT_FOUND (no such file), SYNCYTE_ERR_FORMAT (foreign or truncated), SYNCYTE_ERR_CHECKSUM
 * (damaged metadata), SYNCYTE_ERR_VERSION (a newer format), SYNCYTE_ERR_IO; each names the file.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_open(syncyte_comm_t comm, const char* path,
                                                        const syncyte_checkpoint_options_t* options,
                                                        syncyte_checkpoint_t* checkpoint);

/**
 * @brief Closes the file and nulls the handle; null is fine. Local.
 * @param[in,out] checkpoint an open checkpoint
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_close(syncyte_checkpoint_t* checkpoint);

/**
 * @brief Number of keys, and the step it was saved with. Local.
 * @param[in] checkpoint an open checkpoint
 * @param[out] count number of keys
 * @param[out] step {optional} the saved step
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_count(syncyte_checkpoint_t checkpoint, int64_t* count,
                                                         int64_t* step);

/**
 * @brief The key with a number, in alphabetical order. Local.
 * @param[in] checkpoint an open checkpoint
 * @param[in] number 0 to count - 1
 * @param[out] key valid until the checkpoint is closed
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_key(syncyte_checkpoint_t checkpoint, int64_t number,
                                                       const char** key);

/**
 * @brief Element type, global shape and layout of a key. Local.
 * @param[in] checkpoint an open checkpoint
 * @param[in] key {string} its name
 * @param[out] global filled, with data null
 * @param[out] layout {optional} how it was saved
 * @return SYNCYTE_ERR_NOT_FOUND, naming the key and the file.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_describe(syncyte_checkpoint_t checkpoint, const char* key,
                                                            syncyte_buffer_t* global, syncyte_layout_t* layout);

/**
 * @brief Reads rows [first_row, first_row + target.shape[0]) of a key and verifies their checksums. Local: each rank
 * reads what it needs. A 0-dimensional key counts as one row, read into a 0-dimensional target.
 * @param[in] checkpoint an open checkpoint
 * @param[in] key {string} its name
 * @param[in] first_row first row to read
 * @param[out] target contiguous host memory of the key's dtype; all extents but the first are the key's. Its contents
 * are undefined after an error
 * @return SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_INDEX, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_CHECKSUM (names
 * file, key and block), SYNCYTE_ERR_FORMAT (truncated), SYNCYTE_ERR_IO.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_read(syncyte_checkpoint_t checkpoint, const char* key,
                                                        int64_t first_row, const syncyte_buffer_t* target);

/**
 * @brief Bytes of tensor data that this rank has read from the file so far, those for verification included. Local.
 * @param[in] checkpoint an open checkpoint
 * @param[out] bytes the number
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_checkpoint_bytes_read(syncyte_checkpoint_t checkpoint, int64_t* bytes);

/**
 * @brief Loads entries: replicated ones whole on every rank, sharded ones by the rows that the ranks' buffers have, in
 * order of ranks; any number of ranks may load what any other number saved. Collective; all ranks get the same verdict.
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

#ifdef __cplusplus
}
#endif

#endif
