/**
 * @file kv.h
 * @brief The parameter store: a vector of float32 under each key 0 to key_count - 1, which all ranks pull, push and
 * set.
 *
 * What is done to one key is done at once: a pull sees all of a push or nothing of it, and pushes and sets of a key
 * follow one another in one order that all ranks see (linearizable per key). A list of keys is gone through in its
 * order, and other ranks may come between. Keys of a list may repeat.
 *
 * So far all ranks of a store share one node's memory, and every key is local: operations are complete on return, and
 * their timestamp is -1. Memory: the values, rounded up to 8 bytes for each key, 8 bytes more for each key, and a
 * further 8 where lengths differ; there is no thread.
 *
 * A worker is one of a process's users of a store, mostly a thread. Functions but kv_create, kv_sync and those that say
 * so are local and thread-safe.
 *
 * Where a process has died while it wrote a key's values, the key is damaged: a pull or push of it answers
 * SYNCYTE_ERR_PEER_DIED, after what came before it in the list was done; kv_worker_set() makes it whole.
 */
#ifndef SYNCYTE_KV_H
#define SYNCYTE_KV_H

#include "syncyte/base.h"
#include "syncyte/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A parameter store. */
typedef struct syncyte_kv_s* syncyte_kv_t;

/** One of a process's users of a store. */
typedef struct syncyte_kv_worker_s* syncyte_kv_worker_t;

/** Options of a new store. */
typedef struct syncyte_kv_options_t {
  size_t struct_size; /**< sizeof(syncyte_kv_options_t) */
  const char* name;   /**< for messages; may be null */
  int32_t workers;    /**< {default(1)} of this process, 1 to 65536; ranks may differ */
} syncyte_kv_options_t;

/** All defaults: `syncyte_kv_options_t options = SYNCYTE_KV_OPTIONS_INIT;`. */
#define SYNCYTE_KV_OPTIONS_INIT {sizeof(syncyte_kv_options_t), NULL, 1}

/** When sampled keys are drawn: one of ::syncyte_kv_scheme_values. */
typedef int32_t syncyte_kv_scheme_t;

/** Schemes of sampling, those of AdaPM. */
enum syncyte_kv_scheme_values {
  SYNCYTE_KV_NAIVE = 1,  /**< drawn when they are prepared */
  SYNCYTE_KV_PRELOC = 2, /**< as naive, and an intent is recorded for them */
  SYNCYTE_KV_POOL = 3,   /**< as preloc, from a pool of keys that the process's workers share */
  SYNCYTE_KV_LOCAL = 4   /**< drawn when they are pulled, from the keys that are local then */
};

/** Distribution of sampled keys: one of ::syncyte_kv_distribution_values. */
typedef int32_t syncyte_kv_distribution_t;

/** Distributions over a range of n keys. */
enum syncyte_kv_distribution_values {
  SYNCYTE_KV_UNIFORM = 1,    /**< each with the same probability */
  SYNCYTE_KV_LOG_UNIFORM = 2 /**< the i-th, i from 1, with the probability log((i + 1) / i) / log(n + 1) */
};

/** How keys are sampled. Only keys that have as many values as min_key are drawn. */
typedef struct syncyte_kv_sampling_t {
  size_t struct_size;                     /**< sizeof(syncyte_kv_sampling_t) */
  syncyte_kv_scheme_t scheme;             /**< {default(4)} when keys are drawn */
  syncyte_kv_distribution_t distribution; /**< {default(1)} of the keys */
  int32_t with_replacement;               /**< {default(1)} 0: no key twice in a sample; not with a pool */
  int64_t min_key;                        /**< first key of the range */
  int64_t max_key;                        /**< the key after its last one */
  int64_t pool_size;                      /**< {default(250)} keys of the pool */
  int64_t reuse;                          /**< {default(1)} how often each key of a pool is given */
  int64_t seed;                           /**< with the rank and the worker's number it says which keys are drawn */
} syncyte_kv_sampling_t;

/** Local, uniform, with replacement; max_key is to be set. */
#define SYNCYTE_KV_SAMPLING_INIT \
  {sizeof(syncyte_kv_sampling_t), SYNCYTE_KV_LOCAL, SYNCYTE_KV_UNIFORM, 1, 0, 0, 250, 1, 0}

/** What a worker has done since it was made. */
typedef struct syncyte_kv_worker_info_t {
  size_t struct_size;       /**< sizeof(syncyte_kv_worker_info_t) */
  int64_t number;           /**< of the worker */
  int64_t clock;            /**< as kv_worker_clock() */
  int64_t pulled_keys;      /**< by pull, pull_if_local and pull_sample; a key that repeats counts each time */
  int64_t pushed_keys;      /**< by push */
  int64_t set_keys;         /**< by set */
  int64_t localized_keys;   /**< by localize */
  int64_t intended_keys;    /**< by intent and prepare_sample */
  int64_t active_intents;   /**< intended keys whose window has not ended */
  int64_t prepared_samples; /**< samples that have keys left */
} syncyte_kv_worker_info_t;

/**
 * @brief Makes a store of zeros. Collective; facts: dtype, key_count, length_count, lengths.
 * @param[in] comm its ranks, all of one node
 * @param[in] dtype SYNCYTE_FLOAT32
 * @param[in] key_count 1 or more
 * @param[in] length_count 1, if all keys have as many values; otherwise key_count
 * @param[in] lengths {array(length_count)} number of values, 1 or more, of all keys or of each
 * @param[in] options {optional} null for defaults
 * @param[out] kv the store
 * @return SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_UNSUPPORTED (another dtype, ranks of
 * several nodes), SYNCYTE_ERR_MEMORY (more than the node has), SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_create(syncyte_comm_t comm, syncyte_dtype_t dtype, int64_t key_count,
                                                  int64_t length_count, const int64_t* lengths,
                                                  const syncyte_kv_options_t* options, syncyte_kv_t* kv);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI; works after finalize.
 * @param[in] kv a store
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_retain(syncyte_kv_t kv);

/**
 * @brief Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a collective
 * point once all ranks have dropped the store; its workers hold references of their own.
 * @param[in] kv a store
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_release(syncyte_kv_t kv);

/**
 * @brief Drops a reference and nulls the handle; null is fine. Local, as syncyte_kv_release().
 * @param[in,out] kv a store
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_destroy(syncyte_kv_t* kv);

/**
 * @brief Number of keys. Local.
 * @param[in] kv a store
 * @param[out] key_count as given to kv_create()
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_keys(syncyte_kv_t kv, int64_t* key_count);

/**
 * @brief Numbers of keys' values. Local.
 * @param[in] kv a store
 * @param[in] count number of keys asked for
 * @param[in] keys {array(count)} keys
 * @param[out] lengths {array(count)} how many values each has
 * @return SYNCYTE_ERR_INDEX, naming key and position.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_lengths(syncyte_kv_t kv, int64_t count, const int64_t* keys,
                                                   int64_t* lengths);

/**
 * @brief Ranks that own keys now. Local.
 * @param[in] kv a store
 * @param[in] count number of keys asked for
 * @param[in] keys {array(count)} keys
 * @param[out] ranks {array(count)} their owners
 * @return SYNCYTE_ERR_INDEX, naming key and position.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_owner(syncyte_kv_t kv, int64_t count, const int64_t* keys, int32_t* ranks);

/**
 * @brief Says how this process's workers sample keys from now on; samples that are prepared stay as they are. Local.
 * @param[in] kv a store
 * @param[in] sampling what is wanted, begun with SYNCYTE_KV_SAMPLING_INIT
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (a pool without replacement).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_set_sampling(syncyte_kv_t kv, const syncyte_kv_sampling_t* sampling);

/**
 * @brief What any rank wrote before is seen by all ranks after. Collective, one thread of each process; also frees what
 * all ranks have dropped.
 * @param[in] kv a store
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_sync(syncyte_kv_t kv);

/**
 * @brief Makes a worker. Local. It may be used by another thread than the one that makes it.
 * @param[in] kv a store
 * @param[in] number 0 to workers - 1 (options of kv_create()), of no other worker of this process that has not been
 * destroyed
 * @param[out] worker the worker
 * @return SYNCYTE_ERR_ARGUMENT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_create(syncyte_kv_t kv, int32_t number, syncyte_kv_worker_t* worker);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI; works after finalize.
 * @param[in] worker a worker
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_retain(syncyte_kv_worker_t worker);

/**
 * @brief Drops a reference. Local, thread-safe, without MPI; works after finalize. With the last one the worker ends:
 * the others of its process meet without it.
 * @param[in] worker a worker
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_release(syncyte_kv_worker_t worker);

/**
 * @brief Drops a reference and nulls the handle; null is fine. Local, as syncyte_kv_worker_release().
 * @param[in,out] worker a worker
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_destroy(syncyte_kv_worker_t* worker);

/**
 * @brief Reads the values of keys, one key's after another's. Local.
 * @param[in] worker a worker
 * @param[in] keys int64, contiguous, any number of dimensions
 * @param[out] values float32, contiguous, as many as the keys have; not to be read before kv_worker_wait()
 * @param[out] timestamp {optional} what to wait for; -1: complete. Null: complete on return
 * @return SYNCYTE_ERR_INDEX (names the first key that is out of range and its position), SYNCYTE_ERR_TYPE,
 * SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_UNSUPPORTED (device memory): nothing was written. SYNCYTE_ERR_PEER_DIED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_pull(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                                       const syncyte_buffer_t* values, int64_t* timestamp);

/**
 * @brief Adds to the values of keys; of a key that repeats several times. Local.
 * @param[in] worker a worker
 * @param[in] keys int64, contiguous
 * @param[in] values float32, contiguous, as many as the keys have; not to be changed before kv_worker_wait()
 * @param[out] timestamp {optional} as of pull
 * @return as pull.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_push(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                                       const syncyte_buffer_t* values, int64_t* timestamp);

/**
 * @brief Replaces the values of keys; of a key that repeats the last ones stay. Makes damaged keys whole. Local.
 * @param[in] worker a worker
 * @param[in] keys int64, contiguous
 * @param[in] values float32, contiguous, as many as the keys have; not to be changed before kv_worker_wait()
 * @param[out] timestamp {optional} as of pull
 * @return as pull, but for SYNCYTE_ERR_PEER_DIED.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_set(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                                      const syncyte_buffer_t* values, int64_t* timestamp);

/**
 * @brief Reads the values of keys if all of them are local: on one node they are. Local.
 * @param[in] worker a worker
 * @param[in] keys int64, contiguous
 * @param[out] values float32, contiguous, as many as the keys have; not touched if a key is not local
 * @param[out] is_local 1, or 0 if a key is not local
 * @return as pull.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_pull_if_local(syncyte_kv_worker_t worker,
                                                                const syncyte_buffer_t* keys,
                                                                const syncyte_buffer_t* values, int32_t* is_local);

/**
 * @brief Asks that this rank owns keys. On one node it checks and counts them: they are local. Local.
 * @param[in] worker a worker
 * @param[in] keys int64, contiguous
 * @param[out] timestamp {optional} as of pull
 * @return as pull.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_localize(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                                           int64_t* timestamp);

/**
 * @brief Says that this worker is going to use keys while its clock is in [start, end). On one node it checks and
 * records it. Local.
 * @param[in] worker a worker
 * @param[in] keys int64, contiguous
 * @param[in] start 0 or more
 * @param[in] end more than start; 0: start + 1
 * @return as pull; SYNCYTE_ERR_ARGUMENT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_intent(syncyte_kv_worker_t worker, const syncyte_buffer_t* keys,
                                                         int64_t start, int64_t end);

/**
 * @brief Adds 1 to the worker's clock, which begins at 0. Local.
 * @param[in] worker a worker
 * @param[out] clock {optional} what it is now
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_advance_clock(syncyte_kv_worker_t worker, int64_t* clock);

/**
 * @brief The worker's clock. Local.
 * @param[in] worker a worker
 * @param[out] clock 0 or more
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_clock(syncyte_kv_worker_t worker, int64_t* clock);

/**
 * @brief Says that this worker is going to pull sampled keys while its clock is in [start, end). Local.
 * @param[in] worker a worker
 * @param[in] count number of keys, 0 to 2^40
 * @param[in] start 0 or more
 * @param[in] end more than start; 0: start + 1
 * @param[out] sample the sample's number, 1 or more, for kv_worker_pull_sample()
 * @return SYNCYTE_ERR_ARGUMENT (no kv_set_sampling() before; more keys than there are, without replacement).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_prepare_sample(syncyte_kv_worker_t worker, int64_t count,
                                                                 int64_t start, int64_t end, int64_t* sample);

/**
 * @brief Reads the next keys of a sample and their values. Local. A sample ends when its last key was pulled.
 * @param[in] worker the worker that has prepared it
 * @param[in] sample its number
 * @param[out] keys int64, contiguous, at most as many as the sample has left
 * @param[out] values float32, contiguous, as many as the keys have
 * @param[out] timestamp {optional} as of pull
 * @return SYNCYTE_ERR_ARGUMENT (no such sample, or not as many keys left), and as pull.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_pull_sample(syncyte_kv_worker_t worker, int64_t sample,
                                                              const syncyte_buffer_t* keys,
                                                              const syncyte_buffer_t* values, int64_t* timestamp);

/**
 * @brief Ends a sample of which no more keys are going to be pulled. Local.
 * @param[in] worker the worker that has prepared it
 * @param[in] sample its number; one that has ended is fine
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_finish_sample(syncyte_kv_worker_t worker, int64_t sample);

/**
 * @brief Waits until an operation is complete. Local. Waiting twice is fine.
 * @param[in] worker the worker that began it
 * @param[in] timestamp what the operation gave; -1: complete
 * @return SYNCYTE_ERR_ARGUMENT for a timestamp that no operation gave.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_wait(syncyte_kv_worker_t worker, int64_t timestamp);

/**
 * @brief Waits until all of the worker's operations are complete. Local.
 * @param[in] worker a worker
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_wait_all(syncyte_kv_worker_t worker);

/**
 * @brief Waits until what this process has written before is with the owners of the keys: on one node it is. Local.
 * @param[in] worker a worker
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_wait_sync(syncyte_kv_worker_t worker);

/**
 * @brief All workers of all ranks meet; what any of them wrote before is seen by all after. Collective: each worker
 * calls, in a thread of its own where a process has several. One of them enters the collective for its process, so MPI
 * must be at the thread level SYNCYTE_THREAD_SERIALIZED or above there. A worker that is destroyed is not waited for.
 * @param[in] worker a worker
 * @return SYNCYTE_ERR_MISMATCH on all workers of all ranks where some meet in another function; SYNCYTE_ERR_BUSY where
 * another thread meets as the same worker.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_barrier(syncyte_kv_worker_t worker);

/**
 * @brief Begins the phase in which values are set for the first time: a barrier, so far. Collective, as
 * kv_worker_barrier().
 * @param[in] worker a worker
 * @return SYNCYTE_ERR_ARGUMENT within the phase.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_begin_setup(syncyte_kv_worker_t worker);

/**
 * @brief Ends the phase that kv_worker_begin_setup() began; all values that were set are there for all workers.
 * Collective, as kv_worker_barrier().
 * @param[in] worker a worker
 * @return SYNCYTE_ERR_ARGUMENT outside of the phase.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_end_setup(syncyte_kv_worker_t worker);

/**
 * @brief What a worker has done. Local.
 * @param[in] worker a worker
 * @param[in,out] info struct_size is set by the caller
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_kv_worker_describe(syncyte_kv_worker_t worker, syncyte_kv_worker_info_t* info);

#ifdef __cplusplus
}
#endif

#endif
