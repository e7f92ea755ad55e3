/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file store.h
 * @brief The parameter store: a vector of float32 under each key 0 to num_keys - 1, which all ranks pull, push and
 * set.
 *
 * Operations on one key are atomic: a pull sees all of a push or none of it, and all ranks see pushes and sets of a key
 * in the same order (linearizable per key). A list of keys is not atomic as a whole; keys at one rank are processed in
 * the order of the list. Keys of a list may repeat.
 *
 * Pull, push and set are complete on return. Their started forms (ipull and others; see generated/store.h) do not wait
 * for other ranks. They return a request: keys of this node are done on return, and requests for keys of other nodes
 * are in flight: the process sends them and receives their answers without further calls. The request is null, which
 * counts as ended, if there are no such keys, so always on one node: request_wait_any() skips it, so a loop that uses
 * each result when it is told of its end uses that of a null request at once. Until the request has ended, the values
 * belong to the operation; the list of keys may be re-used on return. An operation outlives its worker.
 *
 * Order: at each home rank, operations of one worker take effect in the order of their starts, in both forms. So a pull
 * sees all earlier pushes and sets of its worker, whether they were waited for or not, and none of the later ones.
 * Operations that several threads start at the same time on one worker follow each other in any order. There is no
 * order between several home ranks, nor between workers: an operation sees those writes of another worker that were
 * waited for before it began. Only a pull that takes a prefetch may miss those that came after the prefetch
 * (store_worker_prefetch()).
 *
 * Each key has a home rank: option `homes` of store_create(), key mod ranks by default. Its values are there, or at a
 * node that has localized it (store_worker_localize()). Keys at this node are local: they are read and written in
 * shared memory. For other keys their home rank gets requests, each for many keys; a thread of its process serves them,
 * also while the rank computes without calls, and passes those on whose values are at another node. On several nodes a
 * key has at most 65534 values.
 *
 * The store takes memory for the values, rounded up to 8 bytes for each key, and 8 more bytes for each key; another 8
 * bytes for each of all keys on each node if lengths differ. On one node it has no thread.
 *
 * A worker is a user of a store within a process, usually one per thread. All functions are thread-safe, and no other
 * rank has to call anything, except for store_create, store_sync and those whose comment says Collective. Any thread
 * may call pull, push and set, start them and wait for them, with any thread level of MPI.
 *
 * If a process dies while it writes a key's values, the key is damaged: a pull or push of it returns
 * SYNCYTE_ERR_PEER_DIED, after the keys before it in the list were processed; store_worker_set() repairs it. If the
 * home rank of a key of another node died, all operations on the key return SYNCYTE_ERR_PEER_DIED, except at the node
 * that has localized it. If the lowest rank of that node died, other nodes' operations on the key return
 * SYNCYTE_ERR_PEER_DIED until a set, or store_adopt_last(). In all cases keys of other ranks may have been processed or
 * not. Errors of an operation in flight come from its request.
 */
#ifndef SYNCYTE_STORE_H
#define SYNCYTE_STORE_H

#include "syncyte/base.h"
#include "syncyte/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A parameter store. */
typedef struct syncyte_store_s* syncyte_store_t;

/** A worker: a user of a store within a process, usually one per thread. */
typedef struct syncyte_store_worker_s* syncyte_store_worker_t;

/** Most prefetches of a worker that no pull has taken: a further one drops the oldest. */
#define SYNCYTE_STORE_MAX_PREFETCHES 16

/** Homes of keys: one of ::syncyte_store_homes_values. */
typedef int32_t syncyte_store_homes_t;

/** Ways to divide the keys among P ranks. Each gives the ranks equal numbers of keys, or one more. */
enum syncyte_store_homes_values {
  SYNCYTE_STORE_HOMES_CYCLIC = 1, /**< k mod P, for ranks that are counted one of each node in turn */
  SYNCYTE_STORE_HOMES_HASH = 2,   /**< mixed: keys of any stride, such as a power of two, are spread evenly */
  SYNCYTE_STORE_HOMES_BLOCK =
      3 /**< in order, as the rows of a tensor: often used keys that are neighbours share a rank */
};

/** Effect of intents: one of ::syncyte_store_intents_values. */
typedef int32_t syncyte_store_intents_t;

/** Effects of intents on a key, between nodes. */
enum syncyte_store_intents_values {
  SYNCYTE_STORE_INTENTS_MOVE_OR_COPY =
      1,                          /**< it moves to the node that intends to use it; each of several gets a copy */
  SYNCYTE_STORE_INTENTS_MOVE = 2, /**< it moves to the first node, and others use it there: it is linearizable */
  SYNCYTE_STORE_INTENTS_COPY = 3  /**< each node gets a copy; only localize moves keys */
};

/** Options of a new store. */
typedef struct syncyte_store_options_t {
  size_t struct_size;          /**< sizeof(syncyte_store_options_t) */
  const char* name;            /**< may be null, which is a name of its own; equal on all ranks */
  int32_t workers;             /**< {default(1)} number of this process's workers, 1 to 65536; ranks may differ */
  syncyte_store_homes_t homes; /**< {default(1)} home ranks of the keys; equal on all ranks */
  const char* label;           /**< name for messages, if not null; ranks may differ */
  int64_t foreign_bytes;       /**< {default(-1)} memory on this node for keys of other nodes, as its lowest rank gives
                                    it; -1: a quarter of the node's values, at least 1 MiB, at most an eighth of the
                                    memory that is free */
  syncyte_store_intents_t intents; /**< {default(1)} what intents do; equal on all ranks */
} syncyte_store_options_t;

/** All defaults: `syncyte_store_options_t options = SYNCYTE_STORE_OPTIONS_INIT;`. */
#define SYNCYTE_STORE_OPTIONS_INIT \
  {sizeof(syncyte_store_options_t), NULL, 1, SYNCYTE_STORE_HOMES_CYCLIC, NULL, -1, SYNCYTE_STORE_INTENTS_MOVE_OR_COPY}

/** Sampling scheme: one of ::syncyte_store_scheme_values. */
typedef int32_t syncyte_store_scheme_t;

/** Schemes of sampling. */
enum syncyte_store_scheme_values {
  SYNCYTE_STORE_PREPARED = 1, /**< keys are drawn when the sample is prepared */
  SYNCYTE_STORE_INTENDED = 2, /**< as prepared, with an intent for the keys until the sample ends */
  SYNCYTE_STORE_SHARED = 3,   /**< as intended, from a set of keys that the process's workers share */
  SYNCYTE_STORE_LOCAL = 4     /**< keys are drawn when they are pulled; then the next local key upwards is taken */
};

/** Distribution of sampled keys: one of ::syncyte_store_distribution_values. */
typedef int32_t syncyte_store_distribution_t;

/** Distributions over a range of n keys. */
enum syncyte_store_distribution_values {
  SYNCYTE_STORE_UNIFORM = 1,    /**< all keys have the same probability */
  SYNCYTE_STORE_LOG_UNIFORM = 2 /**< the i-th key, i from 1, has the probability log((i + 1) / i) / log(n + 1) */
};

/**
 * Sampling options. Only keys that have as many values as min_key are drawn.
 *
 * Scheme local: a key is drawn from the whole range, as by the other schemes. If it is not local, the next local key
 * upwards is taken in its place, from min_key on after the last one; without replacement the next one that is not in
 * the sample. If the next 256 keys have none, or with SYNCYTE_STORE_HOMES_BLOCK, it is the drawn key itself.
 */
typedef struct syncyte_store_sampling_t {
  size_t struct_size;                        /**< sizeof(syncyte_store_sampling_t) */
  syncyte_store_scheme_t scheme;             /**< {default(4)} when keys are drawn */
  syncyte_store_distribution_t distribution; /**< {default(1)} distribution of the keys */
  int32_t with_replacement;                  /**< {default(1)} 0: no key repeats in a sample; not with a shared set */
  int32_t reserved;                          /**< 0 */
  int64_t min_key;                           /**< first key of the range */
  int64_t max_key;                           /**< end of the range: its last key + 1 */
  int64_t shared_keys;                       /**< {default(250)} number of keys in the shared set, 1 to 2^28 */
  int64_t reuse;                             /**< {default(1)} how often each key of a shared set is used */
  int64_t seed;                              /**< seed; rank and worker number are mixed in */
} syncyte_store_sampling_t;

/** Defaults: scheme local, uniform, with replacement. The caller sets max_key. */
#define SYNCYTE_STORE_SAMPLING_INIT \
  {sizeof(syncyte_store_sampling_t), SYNCYTE_STORE_LOCAL, SYNCYTE_STORE_UNIFORM, 1, 0, 0, 0, 250, 1, 0}

/** Counters of a worker since its creation. */
typedef struct syncyte_store_worker_info_t {
  size_t struct_size;       /**< sizeof(syncyte_store_worker_info_t) */
  int64_t number;           /**< number of the worker */
  int64_t clock;            /**< as store_worker_clock() */
  int64_t pulled_keys;      /**< by all pulls; a key that repeats counts each time, of pull_unique once */
  int64_t pushed_keys;      /**< by push, and distinct ones by push_unique */
  int64_t set_keys;         /**< by set */
  int64_t localized_keys;   /**< by localize */
  int64_t intended_keys;    /**< by intent and prepare_sample */
  int64_t active_intents;   /**< intended keys whose window has not ended */
  int64_t prepared_samples; /**< samples that have keys left */
  int64_t remote_keys;      /**< of pulled, pushed and set keys, those that were asked for at their home ranks */
} syncyte_store_worker_info_t;

/**
 * @brief {by_hand} Makes a store of zeros. Collective; facts: dtype, num_keys, lengths_length, lengths, homes, intents,
 * options->name.
 * @param[in] comm its ranks
 * @param[in] dtype SYNCYTE_FLOAT32
 * @param[in] num_keys 1 or more
 * @param[in] lengths_length 1 if all keys have the same number of values; otherwise num_keys
 * @param[in] lengths {array(lengths_length)} number of values, 1 or more, of all keys or of each
 * @param[in] options {optional} null for defaults
 * @param[out] store the store
 * @return SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_UNSUPPORTED (another dtype;
 * on several nodes: a length of more than 65534, or no fabric between them, for the reason that the message names),
 * SYNCYTE_ERR_MEMORY (more than the node has), SYNCYTE_ERR_MISMATCH.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_create(syncyte_comm_t comm, syncyte_dtype_t dtype, int64_t num_keys,
                                                     int64_t lengths_length, const int64_t* lengths,
                                                     const syncyte_store_options_t* options, syncyte_store_t* store);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI; works after finalize.
 * @param[in] store a store
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_retain(syncyte_store_t store);

/**
 * @brief Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a collective
 * point once all ranks have dropped the store; its workers hold references of their own.
 * @param[in] store a store
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_release(syncyte_store_t store);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_store_release().
 * @param[in,out] store a store
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_destroy(syncyte_store_t* store);

/**
 * @brief {lookup} Returns the number of keys. Local.
 * @param[in] store a store
 * @param[out] num_keys as given to store_create()
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_keys(syncyte_store_t store, int64_t* num_keys);

/**
 * @brief {lookup, cxx_by_hand} Returns the number of values of each key. Local.
 * @param[in] store a store
 * @param[in] count number of keys
 * @param[in] keys {array(count)} keys
 * @param[out] lengths {array(count)} number of values of each
 * @return SYNCYTE_ERR_INDEX, naming key and position.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_lengths(syncyte_store_t store, int64_t count, const int64_t* keys,
                                                      int64_t* lengths);

/**
 * @brief {lookup, cxx_by_hand} Returns the home ranks of keys. Local.
 * @param[in] store a store
 * @param[in] count number of keys
 * @param[in] keys {array(count)} keys
 * @param[out] ranks {array(count)} the rank that knows where each key's values are; the same for ever
 * @return SYNCYTE_ERR_INDEX, naming key and position.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_owner(syncyte_store_t store, int64_t count, const int64_t* keys,
                                                    int32_t* ranks);

/**
 * @brief {lookup, cxx_by_hand} Tells which keys are local: their values are at this node now. Local.
 * @param[in] store a store
 * @param[in] count number of keys
 * @param[in] keys {array(count)} keys
 * @param[out] flags {array(count)} 1, or 0, for each key
 * @return SYNCYTE_ERR_INDEX, naming key and position.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_is_local(syncyte_store_t store, int64_t count, const int64_t* keys,
                                                       int32_t* flags);

/**
 * @brief {lookup, cxx_by_hand} Asks home ranks where the values of keys are now; no other rank has to call it.
 * @param[in] store a store
 * @param[in] count number of keys
 * @param[in] keys {array(count)} keys
 * @param[out] ranks {array(count)} for each key its home rank, or the lowest rank of the node that has localized it
 * @return SYNCYTE_ERR_INDEX, naming key and position; SYNCYTE_ERR_PEER_DIED (dead home rank), SYNCYTE_ERR_IO.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_locate(syncyte_store_t store, int64_t count, const int64_t* keys,
                                                     int32_t* ranks);

/**
 * @brief {lookup, cxx_by_hand} Gives keys their homes' last values, if they were lost with the node to which they had
 * moved: those that they had when they left their homes. Adds and sets at that node are lost. Until then, or until a
 * set, operations on such a key return SYNCYTE_ERR_PEER_DIED. No other rank has to call it.
 * @param[in] store a store
 * @param[in] count number of keys
 * @param[in] keys {array(count)} keys
 * @param[out] flags {array(count)} 1 for each key that was lost, 0 for others, which stay as they are
 * @return as locate.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_adopt_last(syncyte_store_t store, int64_t count, const int64_t* keys,
                                                         int32_t* flags);

/**
 * @brief {by_hand, cxx_by_hand} Sets the sampling options of this process's workers; prepared samples keep theirs.
 * Local.
 * @param[in] store a store
 * @param[in] options initialized with SYNCYTE_STORE_SAMPLING_INIT
 * @return SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (a shared set without replacement).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_set_sampling(syncyte_store_t store,
                                                           const syncyte_store_sampling_t* options);

/**
 * @brief Synchronizes the store: after it, all ranks see all earlier writes of all ranks that were waited for.
 * Collective, called by one thread of each process; also frees objects that all ranks have dropped.
 * @param[in] store a store
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_sync(syncyte_store_t store);

/**
 * @brief {by_hand, cxx_by_hand} Makes a worker. Local. Any thread may use it.
 * @param[in] store a store
 * @param[in] number 0 to workers - 1 (options of store_create()); no other live worker of this process may have it
 * @param[out] worker the worker
 * @return SYNCYTE_ERR_ARGUMENT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_create(syncyte_store_t store, int32_t number,
                                                            syncyte_store_worker_t* worker);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI; works after finalize.
 * @param[in] worker a worker
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_retain(syncyte_store_worker_t worker);

/**
 * @brief Drops a reference. Local, thread-safe, without MPI; works after finalize. The last release ends the worker:
 * barriers of its process no longer wait for it. Operations in flight continue: their requests stay valid.
 * @param[in] worker a worker
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_release(syncyte_store_worker_t worker);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_store_worker_release().
 * @param[in,out] worker a worker
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_destroy(syncyte_store_worker_t* worker);

/**
 * @brief {forked_child, by_hand, started} Reads the values of keys, concatenated in the order of the keys. A forked
 * child may call it if all keys are local.
 * @param[in] worker a worker
 * @param[in] keys {contiguous, integers} int64, contiguous, any number of dimensions
 * @param[out] values {contiguous, kept_if_started} float32, contiguous, as many as the keys have
 * @return SYNCYTE_ERR_INDEX (names the first key that is out of range and its position), SYNCYTE_ERR_TYPE,
 * SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT (keys lie in the memory of values), SYNCYTE_ERR_UNSUPPORTED (device memory):
 * nothing was written. SYNCYTE_ERR_PEER_DIED (damaged key,
 * dead home rank), SYNCYTE_ERR_IO (no connection to a home rank).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_pull(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                                          const syncyte_buffer_t* values);

/**
 * @brief {by_hand, started} Adds to the values of keys; a key that repeats is added to several times. Each value is
 * added exactly once.
 * @param[in] worker a worker
 * @param[in] keys {contiguous, integers} int64, contiguous
 * @param[in] values {contiguous, kept_if_started} float32, contiguous, as many as the keys have
 * @return as pull.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_push(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                                          const syncyte_buffer_t* values);

/**
 * @brief {by_hand, started} Replaces the values of keys; if a key repeats, its last values stay. Repairs damaged keys.
 * @param[in] worker a worker
 * @param[in] keys {contiguous, integers} int64, contiguous
 * @param[in] values {contiguous, kept_if_started} float32, contiguous, as many as the keys have
 * @return as pull, except SYNCYTE_ERR_PEER_DIED for a damaged key.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_set(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                                         const syncyte_buffer_t* values);

/**
 * @brief {forked_child, by_hand, cxx_by_hand} Reads the values of keys if all of them are local; on one node they
 * always are. Local, without requests.
 * @param[in] worker a worker
 * @param[in] keys {contiguous, integers} int64, contiguous
 * @param[out] values {contiguous} float32, contiguous, as many as the keys have; unchanged if a key is not local
 * @param[out] is_local 1, or 0 if a key is not local
 * @return as pull.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_pull_if_local(syncyte_store_worker_t worker,
                                                                   const syncyte_buffer_t* keys,
                                                                   const syncyte_buffer_t* values, int32_t* is_local);

/**
 * @brief {by_hand, cxx_by_hand(started), started} Reads the values of each distinct key of a list once: key i of the
 * list has the values of distinct key inverse[i]. Distinct keys are in the order of their first appearance. Arrays are
 * written up to the distinct keys that there are; the rest is unchanged.
 * @param[in] worker a worker
 * @param[in] keys {contiguous, integers} int64, contiguous, any number of dimensions
 * @param[out] distinct {contiguous} int64, contiguous, room for as many keys as the list has
 * @param[out] inverse {contiguous} int64, contiguous, as many elements as the list has keys
 * @param[out] values {contiguous, kept_if_started} float32, contiguous, room for as many as the list's keys have;
 * concatenated in the order of the distinct keys
 * @param[out] count number of distinct keys
 * @return as pull; SYNCYTE_ERR_ARGUMENT also if two of the arrays share memory.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_pull_unique(syncyte_store_worker_t worker,
                                                                 const syncyte_buffer_t* keys,
                                                                 const syncyte_buffer_t* distinct,
                                                                 const syncyte_buffer_t* inverse,
                                                                 const syncyte_buffer_t* values, int64_t* count);

/**
 * @brief {by_hand, started} Adds to the values of keys, as push, and sends each distinct key once: first the values of
 * a key that repeats are added to each other, in the order of the list. So rounding may differ from that of push.
 * @param[in] worker a worker
 * @param[in] keys {contiguous, integers} int64, contiguous
 * @param[in] values {contiguous, kept_if_started} float32, contiguous, as many as the keys have
 * @return as pull.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_push_unique(syncyte_store_worker_t worker,
                                                                 const syncyte_buffer_t* keys,
                                                                 const syncyte_buffer_t* values);

/**
 * @brief {by_hand} Starts a pull whose values wait in the worker: its next pull, ipull, pull_unique, or ipull_unique of
 * exactly this list of keys takes them; so does pull_if_local, if they have come. They have the worker's own pushes and
 * sets up to that pull, also started ones. They may miss writes of other workers after the prefetch, unless a
 * store_worker_barrier() or store_sync() follows those: it drops the prefetches that began before.
 *
 * Nothing is prefetched if all keys are local, so always on one node. A worker keeps ::SYNCYTE_STORE_MAX_PREFETCHES
 * prefetches, each with its values; a further one drops the oldest. Of several prefetches of one list a pull takes the
 * oldest. A pull whose prefetch was dropped or has failed reads the values as if there had been none; an ipull that
 * takes a prefetch in flight tells its error. Prefetches are also dropped by a push or set that fails, or if several
 * threads start pushes, sets and prefetches of the worker at the same time. Local; it does not wait.
 * @param[in] worker a worker
 * @param[in] keys {contiguous, integers} int64, contiguous; may be re-used on return
 * @return as pull, for errors of arguments.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_prefetch(syncyte_store_worker_t worker,
                                                              const syncyte_buffer_t* keys);

/**
 * @brief Drops the worker's prefetches, so that its next pulls read the values. Local.
 * @param[in] worker a worker
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_drop_prefetches(syncyte_store_worker_t worker);

/**
 * @brief {by_hand, started} Moves the values of keys to this node, so that they are local, until another node localizes
 * them or memory for other keys is needed (store_options_t::foreign_bytes: those that came first leave first). A key
 * that cannot come stays where it is, and is used from there: it is damaged, a rank has died, memory is used up, or
 * SYNCYTE_STORE_MOVES is off. On return, or at the end of the request, each key is here or cannot come. Other
 * operations go on meanwhile, also on these keys; the order of a worker's operations is kept.
 * @param[in] worker a worker
 * @param[in] keys {contiguous, integers} int64, contiguous
 * @return as pull.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_localize(syncyte_store_worker_t worker,
                                                              const syncyte_buffer_t* keys);

/**
 * @brief Signals that this worker will use keys while its clock is in [start, end): they come to this node shortly
 * before, or copies of them if workers of other nodes intend to use them too (store_options_t::intents). A copy goes
 * when no window of this node's workers needs it. A key for which there is no memory is used where it is. Local; waits
 * for nothing.
 * @param[in] worker a worker
 * @param[in] keys {contiguous, integers} int64, contiguous
 * @param[in] start 0 or more
 * @param[in] end {default(0)} more than start; 0: start + 1
 * @return as pull; SYNCYTE_ERR_ARGUMENT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_intent(syncyte_store_worker_t worker, const syncyte_buffer_t* keys,
                                                            int64_t start, int64_t end);

/**
 * @brief Adds 1 to the worker's clock, which begins at 0. Local.
 * @param[in] worker a worker
 * @param[out] clock {optional} its new value
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_advance_clock(syncyte_store_worker_t worker, int64_t* clock);

/**
 * @brief {lookup} Returns the worker's clock. Local.
 * @param[in] worker a worker
 * @param[out] clock 0 or more
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_clock(syncyte_store_worker_t worker, int64_t* clock);

/**
 * @brief Prepares a sample: this worker will pull its keys while its clock is in [start, end). Local.
 * @param[in] worker a worker
 * @param[in] count number of keys, 0 to 2^40
 * @param[in] start 0 or more
 * @param[in] end {default(0)} more than start; 0: start + 1
 * @param[out] sample the sample's number, 1 or more, for store_worker_pull_sample()
 * @return SYNCYTE_ERR_ARGUMENT (store_set_sampling() was not called; more keys than there are, without replacement).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_prepare_sample(syncyte_store_worker_t worker, int64_t count,
                                                                    int64_t start, int64_t end, int64_t* sample);

/**
 * @brief {by_hand, started} Reads the next keys of a sample and their values. A sample ends when its last key was
 * pulled. The keys are complete on return, the values as in pull.
 * @param[in] worker the worker that has prepared it
 * @param[in] sample its number
 * @param[out] keys {contiguous} int64, contiguous, at most as many as the sample has left
 * @param[out] values {contiguous, kept_if_started} float32, contiguous, as many as the keys have
 * @return SYNCYTE_ERR_ARGUMENT (no such sample, or too few keys left), and as pull.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_pull_sample(syncyte_store_worker_t worker, int64_t sample,
                                                                 const syncyte_buffer_t* keys,
                                                                 const syncyte_buffer_t* values);

/**
 * @brief Ends a sample before all its keys were pulled. Local.
 * @param[in] worker the worker that has prepared it
 * @param[in] sample its number; one that has ended is ignored
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_finish_sample(syncyte_store_worker_t worker, int64_t sample);

/**
 * @brief Waits until all operations in flight of this worker have ended: its writes are where the keys are, and keys
 * of intents for its present clock are here or cannot come. Errors of operations stay for their requests. Local.
 * @param[in] worker a worker
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_flush(syncyte_store_worker_t worker);

/**
 * @brief Barrier of all workers of all ranks: after it, all workers see all earlier writes. It waits first for the
 * worker's operations in flight, whose errors stay for their requests. Collective: each worker calls it, in a thread
 * of its own if a process has several. One worker enters the collective for its process, so MPI's thread level must
 * then be serialized or above. Workers that were destroyed are not waited for.
 * @param[in] worker a worker
 * @return SYNCYTE_ERR_MISMATCH on all workers of all ranks if some call another collective function; SYNCYTE_ERR_BUSY
 * if another thread is in a collective call of the same worker.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_barrier(syncyte_store_worker_t worker);

/**
 * @brief {by_hand, cxx_by_hand} Returns the counters of a worker. Local.
 * @param[in] worker a worker
 * @param[in,out] info struct_size is set by the caller
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_store_worker_describe(syncyte_store_worker_t worker,
                                                              syncyte_store_worker_info_t* info);

#ifdef __cplusplus
}
#endif

#include "syncyte/generated/store.h"

#endif
