/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file comm.h
 * @brief Start and end of Syncyte, communicators, and the agreement.
 *
 * Every collective begins with an agreement (one all-reduce of 24 bytes, 32 between nodes). SYNCYTE_CHECK=off|on|full
 * chooses whether facts are compared before data moves; if ranks have different values, the highest one applies to all.
 * With `off` the data-moving collectives have no agreement, and an error on one rank is reported only there. `full`
 * also compares count matrices entry by entry, and checksums of data that must be replicated. The agreement detects
 * differences between ranks that all enter *some* collective of the communicator. If a rank enters none, the watchdog
 * reports it, unless it has entered syncyte_finalize(). One thread at a time may be inside a collective of a
 * communicator; a second one gets SYNCYTE_ERR_BUSY.
 *
 * If MPI's thread level is serialized, one thread at a time may be inside functions that call MPI; a second one gets
 * SYNCYTE_ERR_BUSY. If the level is lower, only the thread that initialized MPI may call them; others get
 * SYNCYTE_ERR_UNSUPPORTED. These errors have no effect on other ranks, which do not get them.
 *
 * A forked child of a rank is not a rank. It can read mapped memory (tensor_gather, tensor_get_box, tensor_load,
 * window_get of this node's ranks, views), query objects (comm_rank, tensor_rows ...), and use communicators of one
 * rank in blocking collectives, so that it can load checkpoints; none of these calls MPI there. All other functions
 * return SYNCYTE_ERR_UNSUPPORTED. Memory passed to tensor_wrap() is the child's copy.
 *
 * A rank that has entered syncyte_finalize() or MPI_Finalize, and has no operation in flight, takes part only in
 * collectives of the world. Ranks of its node that wait for it in a message, a halo, a reducer, a non-blocking
 * collective, or a collective of another communicator get SYNCYTE_ERR_MISMATCH, which names it, about half a second
 * later; the communicator, halo or reducer cannot be used after that. Ranks of other nodes keep waiting, and the
 * watchdog reports them. With SYNCYTE_CHECK=off, collectives do not return this error.
 *
 * SYNCYTE_WATCHDOG=seconds: a thread of each rank ends the job, with exit code 86, once the rank has been inside one
 * operation for longer. It prints, for every rank of its node, the operation that the rank is inside, for how long, and
 * for which of the node's ranks it waits. If the variable is unset, it prints this once for each such operation, after
 * the default time, and does not end the job; messages and halos that were started and are not waited for are then not
 * listed. 0: no thread. The report covers this node only: ranks of another node appear in that node's report, which
 * exists if one of its ranks is stuck too. tensor_wait() may last any time: it is shown, and does not end the job. The
 * watchdog does not see the application's own MPI calls.
 */
#ifndef SYNCYTE_COMM_H
#define SYNCYTE_COMM_H

#include "syncyte/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A communicator: an ordered group of ranks. */
typedef struct syncyte_comm_s* syncyte_comm_t;

/** Options of syncyte_init(). */
typedef struct syncyte_init_options_t {
  size_t struct_size;   /**< sizeof(syncyte_init_options_t) */
  int32_t thread_level; /**< {default(3)} thread level to request if this call initializes MPI: 0 single, 1 funneled,
                             2 serialized, 3 multiple */
  int32_t reserved;     /**< 0 */
} syncyte_init_options_t;

/** All defaults: `syncyte_init_options_t options = SYNCYTE_INIT_OPTIONS_INIT;`. Zeros would ask for thread level
 * single. */
#define SYNCYTE_INIT_OPTIONS_INIT {sizeof(syncyte_init_options_t), 3, 0}

/** Options of a new communicator. */
typedef struct syncyte_comm_options_t {
  size_t struct_size; /**< sizeof(syncyte_comm_options_t) */
  const char* name;   /**< for messages, ranks may differ; null: made from the parent's name */
  int32_t check;      /**< {default(-1)} -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full */
  int32_t reserved;   /**< 0 */
} syncyte_comm_options_t;

/** All defaults: `syncyte_comm_options_t options = SYNCYTE_COMM_OPTIONS_INIT;`. Zeros would turn all checks off. */
#define SYNCYTE_COMM_OPTIONS_INIT {sizeof(syncyte_comm_options_t), NULL, -1, 0}

/** A named number that all ranks must share. */
typedef struct syncyte_fact_t {
  size_t struct_size; /**< sizeof(syncyte_fact_t) */
  const char* name;   /**< for the message */
  int64_t value;      /**< must be equal on all ranks */
} syncyte_fact_t;

/** Topology of a communicator: its ranks on nodes. Ranks that share memory form a node. */
typedef struct syncyte_topology_t {
  size_t struct_size; /**< sizeof(syncyte_topology_t) */
  int32_t nodes;      /**< number of nodes */
  int32_t node;       /**< number of this rank's node, 0 to nodes - 1, in order of the nodes' lowest ranks */
  int32_t node_size;  /**< number of ranks on this rank's node */
  int32_t node_rank;  /**< number of this rank on its node, in rank order */
} syncyte_topology_t;

/**
 * @brief Does what syncyte_init() does, for a program that was compiled for the binary interface `abi`. For languages
 * that do not include this header.
 * @param[in] options {optional} null for defaults
 * @param[in] abi SYNCYTE_ABI_VERSION of the header or of the declarations that the program uses
 * @return SYNCYTE_ERR_VERSION on all ranks if `abi` is not the library's number on one of them; otherwise as
 * syncyte_init().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_init_abi(const syncyte_init_options_t* options, int32_t abi);

/**
 * @brief Starts Syncyte; initializes MPI if it is not initialized. Collective over MPI_COMM_WORLD; further calls do
 * nothing.
 * @param[in] options {optional} null for defaults
 * @return SYNCYTE_ERR_NOT_INITIALIZED if MPI is already finalized. SYNCYTE_ERR_ARGUMENT on all ranks if one of them has
 * bad options or a bad environment variable; SYNCYTE_ERR_VERSION if one was compiled with headers of another binary
 * interface. MPI is then initialized, Syncyte is not, and init may be called again.
 */
static inline syncyte_status_t syncyte_init(const syncyte_init_options_t* options) {
  return syncyte_init_abi(options, SYNCYTE_ABI_VERSION);
}

/**
 * @brief Returns whether all ranks of a communicator got this thread's last error, which their agreement found, so that
 * one of them can print it for all. Local; callable at any time.
 * @param[out] rank this rank's number in that communicator; -1: the error is this rank's alone
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_last_error_agreed(int32_t* rank);

/**
 * @brief Ends Syncyte: frees all windows and communicators, and finalizes MPI if syncyte_init() had initialized it.
 * Collective over MPI_COMM_WORLD: waits for all ranks. Memory that a view still refers to stays readable. If the
 * application finalizes MPI first, this happens inside MPI_Finalize. If a rank has died before, the function does
 * not wait: it logs an error, frees nothing that ranks share, and does not finalize MPI, which must not be called any
 * more. Further calls, and calls in a forked child, do nothing.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_finalize(void);

/** Writes the application's current source line as a zero-terminated string of at most `size` bytes, including the
 * zero. Called on a separate thread; may block. */
typedef void (*syncyte_line_fn_t)(int64_t size, void* text, void* context);

/**
 * @brief Installs the function that gives this rank's current source line to the watchdog's report; null removes it.
 * The report says "unknown" if the function takes longer than a second. Local; callable at any time.
 * @param[in] hook {callback, optional} function
 * @param[in] context {optional} passed to every call; must outlive the hook
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_watchdog_line_set(syncyte_line_fn_t hook, void* context);

/** Returns non-zero to end the wait in progress, otherwise 0. */
typedef int32_t (*syncyte_interrupt_fn_t)(void* context);

/**
 * @brief Installs a function that waits of the calling thread call ten times a second, for example to check for
 * signals; null removes it. The process has one such function: a later call replaces it. Local; callable at any time.
 *
 * If the function returns non-zero, the wait returns SYNCYTE_ERR_INTERRUPTED, on this rank alone:
 * - a request stays active, and may be waited for again;
 * - a blocking receive is cancelled, or has received a message that had already arrived;
 * - a blocking send may still arrive: its memory must stay unchanged until syncyte_finalize();
 * - an access to another node's rows, keys or window may still take place, once;
 * - a lock is not held; the function is not called while the lock's owner answers;
 * - a halo cannot be used after an interrupted blocking exchange or accumulate; neighbours may still wait for it;
 * - after a collective the ranks of its communicator are out of step: every later collective on it returns
 *   SYNCYTE_ERR_INTERRUPTED on this rank; after a collective of the world communicator, syncyte_finalize() frees
 *   nothing, and does not finalize MPI.
 *
 * With SYNCYTE_CHECK=off collectives wait inside MPI, and do not call the function; syncyte_finalize() never does.
 * @param[in] hook {callback, optional} function; may call Syncyte, but must not wait for the same operation
 * @param[in] context {optional} passed to every call; must outlive the hook
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_interrupt_set(syncyte_interrupt_fn_t hook, void* context);

/**
 * @brief Limits how long this thread waits: waits that go on `seconds` after this call end about a tenth of a
 * second later, as by an interrupt: with SYNCYTE_ERR_INTERRUPTED, whose message says that the time has passed, and with
 * what syncyte_interrupt_set() says of requests, communicators and the like. Local; callable at any time.
 * @param[in] seconds 0 to 1e9; 0: no limit, as at first
 * @return SYNCYTE_ERR_ARGUMENT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_wait_limit_set(double seconds);

/**
 * @brief Ends the whole job at once, as MPI_Abort does; does not return. Callable at any time, on any rank. In a forked
 * child, ends only the child.
 * @param[in] exit_code what mpirun should return, 1 to 255
 */
SYNCYTE_EXPORT SYNCYTE_NORETURN void syncyte_abort(int32_t exit_code);

/**
 * @brief Returns whether Syncyte is initialized. Local; callable at any time.
 * @param[out] flag 1 between init and finalize, also in a child forked then; otherwise 0
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_initialized(int32_t* flag);

/**
 * @brief Returns whether this rank knows that a rank has died. A program that initialized MPI itself asks after
 * syncyte_finalize(), which looks for deaths: MPI_Finalize() may then wait for the dead rank for ever. Local,
 * thread-safe; callable at any time.
 * @param[out] flag 1 or 0
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_death_known(int32_t* flag);

/**
 * @brief Returns the thread level that MPI provides: 0 single, 1 funneled, 2 serialized, 3 multiple. Local.
 * @param[out] level the level
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_thread_level(int32_t* level);

/**
 * @brief Returns whether MPI accepts buffers in a kind of memory. It always accepts host memory. It accepts CUDA memory
 * if this build has CUDA, the machine has a device, and the MPI library reports that it is CUDA-aware or
 * SYNCYTE_CUDA_AWARE=on is set. Local.
 *
 * Operations that only move elements accept device buffers: messages, and blocking broadcasts, gathers, scatters and
 * all-to-alls. The buffers must be dense, and cut along their first axis; if an operation has two buffers on a rank,
 * both must be on devices. Work enqueued on them must be complete before the call. All other operations on a
 * communicator return SYNCYTE_ERR_UNSUPPORTED for device memory.
 * @param[in] memory kind
 * @param[out] flag 1 or 0
 * @return SYNCYTE_ERR_ARGUMENT for an unknown kind.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_mpi_takes(syncyte_memory_t memory, int32_t* flag);

/**
 * @brief {lookup, by_hand} Returns a reference to the communicator of all ranks. Local. All references have the same
 * handle, in every job.
 * @param[out] comm the communicator; to be destroyed as any other handle
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_world(syncyte_comm_t* comm);

/**
 * @brief {lookup, by_hand} Returns a reference to the communicator of this rank alone. Local. All references have the
 * same handle, in every job.
 * @param[out] comm the communicator; to be destroyed as any other handle
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_self(syncyte_comm_t* comm);

/**
 * @brief Makes a communicator from a Fortran handle (MPI_Comm_c2f, comm%MPI_VAL, mpi4py's py2f()), which is duplicated
 * and stays the caller's. Collective over it. A Cartesian one stays Cartesian (syncyte/cart.h); other topologies of MPI
 * are not kept.
 * @param[in] fortran_handle {mpi_handle} an intra-communicator
 * @param[in] options {optional} null for defaults; all ranks get an error in one rank's options
 * @param[out] comm the communicator
 * @return SYNCYTE_ERR_ARGUMENT for a null communicator, an inter-communicator and an invalid handle, on this rank
 * alone: it cannot notify the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_from_fortran(int32_t fortran_handle, const syncyte_comm_options_t* options,
                                                          syncyte_comm_t* comm);

/**
 * @brief {by_hand} Returns the MPI communicator of a handle, as a Fortran handle. Local. Syncyte owns it: use it only
 * while comm is alive, and do not free it. Messages on it are separate from Syncyte's own.
 * @param[in] comm a communicator
 * @param[out] fortran_handle for MPI_Comm_f2c
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_to_fortran(syncyte_comm_t comm, int32_t* fortran_handle);

/**
 * @brief {by_hand} Duplicates a communicator. Collective.
 * @param[in] comm a communicator
 * @param[in] options {optional} null for defaults
 * @param[out] duplicate the same ranks in the same order
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_dup(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                                 syncyte_comm_t* duplicate);

/**
 * @brief {by_hand} Splits a communicator as MPI_Comm_split does. Collective; facts: options->check (colors and keys may
 * differ).
 * @param[in] comm a communicator
 * @param[in] color ranks of the same color form a new communicator; -1: this rank gets a null handle
 * @param[in] key order within the new communicator; ties are ordered by rank
 * @param[in] options {optional} null for defaults
 * @param[out] part the communicator of this rank's color
 * @return SYNCYTE_ERR_ARGUMENT for a color below -1.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_split(syncyte_comm_t comm, int32_t color, int32_t key,
                                                   const syncyte_comm_options_t* options, syncyte_comm_t* part);

/**
 * @brief {by_hand} Splits a communicator by program, for jobs of several programs in one mpirun: ranks that pass the
 * same name form a part. Collective.
 * @param[in] comm a communicator
 * @param[in] name {string, optional} name of this rank's program, 1 to 255 bytes; null: the executable's file name
 * @param[in] options {optional} null for defaults
 * @param[out] part this program's ranks, in rank order
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_split_program(syncyte_comm_t comm, const char* name,
                                                           const syncyte_comm_options_t* options, syncyte_comm_t* part);

/**
 * @brief {by_hand} Makes a communicator of the ranks of comm that share memory with this rank. Collective.
 * @param[in] comm a communicator
 * @param[in] options {optional} null for defaults
 * @param[out] node this node's ranks, in rank order
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_split_node(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                                        syncyte_comm_t* node);

/**
 * @brief {by_hand} Makes a communicator of the first rank of each node (comm's ranks with node_rank 0). Collective. A
 * reduction on each node, then among leaders, crosses the network once per node.
 * @param[in] comm a communicator
 * @param[in] options {optional} null for defaults
 * @param[out] leaders one rank per node, numbered as the nodes are; a null handle on the other ranks
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_split_leaders(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                                           syncyte_comm_t* leaders);

/**
 * @brief {by_hand} Makes a communicator of some ranks of comm, in the order of the list. Collective over these ranks:
 * only they call it, all with the same list and tag. The communicator is freed at finalize: make it once and re-use it.
 * @param[in] comm a communicator; threads that make groups of it at the same time use different tags
 * @param[in] count number of ranks, 1 or more
 * @param[in] ranks {array(count)} ranks of comm, each once, this rank among them
 * @param[in] tag 0 to 1023
 * @param[in] options {optional} null for defaults; all ranks get an error in one rank's options
 * @param[out] group the communicator
 * @return on all ranks of the list: SYNCYTE_ERR_ARGUMENT if it names a rank twice or one that is out of range, and
 * SYNCYTE_ERR_MISMATCH if lists differ; after that no listed rank can make a group of comm. On this rank alone, which
 * cannot notify the others: SYNCYTE_ERR_ARGUMENT for a list without this rank, a count or a tag out of range. Different
 * lists are detected between ranks that list each other. The call waits for a rank that does not call.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_create_group(syncyte_comm_t comm, int64_t count, const int32_t* ranks,
                                                          int32_t tag, const syncyte_comm_options_t* options,
                                                          syncyte_comm_t* group);

/**
 * @brief {lookup, by_hand} Returns the topology: the communicator's ranks on nodes. Local.
 * @param[in] comm a communicator
 * @param[in,out] topology struct_size set by the caller; the rest is filled
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_topology(syncyte_comm_t comm, syncyte_topology_t* topology);

/**
 * @brief {lookup} Returns this process's number, 0 to size - 1. Local.
 * @param[in] comm a communicator
 * @param[out] rank the rank
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_rank(syncyte_comm_t comm, int32_t* rank);

/**
 * @brief {lookup} Returns the number of ranks. Local.
 * @param[in] comm a communicator
 * @param[out] size the number
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_size(syncyte_comm_t comm, int32_t* size);

/**
 * @brief {lookup, by_hand} Returns the check level: 0 off, 1 on, 2 full (SYNCYTE_CHECK). Local.
 * @param[in] comm a communicator
 * @param[out] level the level that its ranks agreed on
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_check_level(syncyte_comm_t comm, int32_t* level);

/**
 * @brief {lookup} Returns the number of collectives that this rank has begun on a communicator. Local. Each agreement
 * compares it: after a successful collective it is equal on all ranks until the next one begins, and identifies that
 * collective.
 * @param[in] comm a communicator
 * @param[out] number 0 on a new communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_sequence(syncyte_comm_t comm, int64_t* number);

/**
 * @brief {lookup} Returns the communicator's identifier: equal on all its ranks, unique among communicators of this and
 * other jobs. Local.
 * @param[in] comm a communicator
 * @param[out] id 0 or more
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_id(syncyte_comm_t comm, int64_t* id);

/**
 * @brief Adds a reference. Local, thread-safe, without MPI.
 * @param[in] comm a communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_retain(syncyte_comm_t comm);

/**
 * @brief Drops a reference. Local, thread-safe, without MPI. The last release makes the handle invalid. Objects made on
 * the communicator keep it alive. It is freed at a collective point of its parent; one without a parent, at finalize.
 * @param[in] comm a communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_release(syncyte_comm_t comm);

/**
 * @brief Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_comm_release().
 * @param[in,out] comm a communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_destroy(syncyte_comm_t* comm);

/**
 * @brief {by_hand} Counts and traces an operation of a library on top, as if it were Syncyte's own. Local, thread-safe.
 * @param[in] comm communicator whose name is stored in the event; if it is null or freed, the event keeps its own
 * @param[in] event the event; struct_size and operation are required
 * @return SYNCYTE_ERR_ARGUMENT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_trace_tell(syncyte_comm_t comm, const syncyte_trace_event_t* event);

/**
 * @brief {by_hand} Agreement: returns the same status on all ranks, from their statuses and facts. Collective; facts:
 * operation and those given.
 * @param[in] comm a communicator
 * @param[in] status this rank's own status, one of ::syncyte_status_values; if it is not SYNCYTE_SUCCESS, all ranks
 * get this thread's last error
 * @param[in] operation {string} name for messages, equal on all ranks
 * @param[in] count number of facts, 0 to 32
 * @param[in] facts {array(count), optional} numbers that must be equal on all ranks
 * @return on all ranks: SYNCYTE_SUCCESS; the highest status of any rank, with that rank's message; or
 * SYNCYTE_ERR_MISMATCH, with a message that names the ranks that differ.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_agree(syncyte_comm_t comm, syncyte_status_t status, const char* operation,
                                                   int64_t count, const syncyte_fact_t* facts);

/**
 * @brief {by_hand} Does the same as syncyte_comm_agree(), for ranks that may arrive late because of long work, such as
 * writing a file: the watchdog shows the wait, with the operation's name, and does not end the job for it. Collective;
 * facts: as syncyte_comm_agree().
 * @param[in] comm a communicator
 * @param[in] status as in syncyte_comm_agree()
 * @param[in] operation {string} name for messages and the watchdog, equal on all ranks
 * @param[in] count number of facts, 0 to 32
 * @param[in] facts {array(count), optional} numbers that must be equal on all ranks
 * @return as syncyte_comm_agree().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_agree_unlimited(syncyte_comm_t comm, syncyte_status_t status,
                                                             const char* operation, int64_t count,
                                                             const syncyte_fact_t* facts);

/**
 * @brief {by_hand} Frees objects that all ranks have dropped: tensors, windows and communicators made on comm.
 * Collective. Creation and sync free them too; call this to free memory without either.
 * @param[in] comm a communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_collect(syncyte_comm_t comm);

/**
 * @brief {by_hand} Returns when all ranks have called it. Collective.
 * @param[in] comm a communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_barrier(syncyte_comm_t comm);

#ifdef __cplusplus
}
#endif

#endif
