/**
 * @file comm.h
 * @brief Start and end of Syncyte, communicators, and the agreement.
 *
 * Every collective first agrees (one 24-byte Allreduce on a private duplicate): SYNCYTE_CHECK=off|on|full (default on)
 * chooses whether facts are compared before data moves; the variable is itself agreed when a communicator is made.
 * `off` skips the agreement of the data-moving collectives (an error on one rank is then that rank's alone), `full`
 * also compares count matrices entry by entry and checksums of what must be replicated. The agreement finds what
 * differs between ranks that all enter *some* collective of the communicator; a rank that enters none is the
 * watchdog's, unless it has come to syncyte_finalize(). One thread at a time may be inside a collective of a
 * communicator; a second one gets SYNCYTE_ERR_BUSY.
 *
 * Where MPI was initialised with level serialized, one thread at a time may be inside of what calls MPI at all (a
 * second one: SYNCYTE_ERR_BUSY); with less only the thread that initialised MPI may call it (others:
 * SYNCYTE_ERR_UNSUPPORTED). Nothing has happened then, and the other ranks are not told.
 *
 * A child that a rank has forked is no rank. It can read what is mapped (tensor_gather, tensor_get_box, tensor_load,
 * window_get of this node's ranks, views), ask what objects are (comm_rank, tensor_rows ...), and use communicators of
 * one rank in blocking collectives, so that it can load checkpoints; none of that enters MPI there. Everything else
 * answers SYNCYTE_ERR_UNSUPPORTED. Memory given to tensor_wrap() is the child's copy.
 *
 * A rank that has come to syncyte_finalize() or MPI_Finalize, and has nothing under way, takes part in collectives of
 * the world only. Ranks of its node that wait for it in a message, a halo, a reducer, a started collective, or a
 * collective of another communicator get SYNCYTE_ERR_MISMATCH, which names it, about half a second after it has come
 * there; the communicator, halo or reducer is then of no use any more. Ranks of other nodes wait: the watchdog's report
 * names them. Where SYNCYTE_CHECK is off nobody is told in a collective.
 *
 * SYNCYTE_WATCHDOG=seconds: a thread of each rank that ends the job, with exit code 86, once the rank has been inside
 * one operation for longer, and prints where every rank of its node is, in which operation, for how long, and for which
 * of the node's ranks it waits. Unset, it prints that once for each such operation after 60 seconds, and never ends the
 * job; messages and halos that were started and are not waited for are then not listed. 0: no such thread. It sees this
 * node only: ranks of other nodes appear in the reports of those nodes, if one of them is stuck too, and in none
 * otherwise. tensor_wait() may last as long as it likes: it is shown, and never ends the job. What is no operation of
 * Syncyte (the application's own MPI calls) it does not see.
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
  int32_t thread_level; /**< {default(3)} MPI thread level to ask for if we initialise MPI: 0 single, 1 funneled,
                             2 serialized, 3 multiple */
} syncyte_init_options_t;

/** All defaults: `syncyte_init_options_t options = SYNCYTE_INIT_OPTIONS_INIT;`. Zeros would ask for thread level
 * single. */
#define SYNCYTE_INIT_OPTIONS_INIT {sizeof(syncyte_init_options_t), 3}

/** Options of a new communicator. */
typedef struct syncyte_comm_options_t {
  size_t struct_size; /**< sizeof(syncyte_comm_options_t) */
  const char* name;   /**< for messages; null: made from the parent's name */
  int32_t check;      /**< {default(-1)} -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full */
} syncyte_comm_options_t;

/** All defaults: `syncyte_comm_options_t options = SYNCYTE_COMM_OPTIONS_INIT;`. Zeros would turn all checks off. */
#define SYNCYTE_COMM_OPTIONS_INIT {sizeof(syncyte_comm_options_t), NULL, -1}

/** A named number that all ranks must share. */
typedef struct syncyte_fact_t {
  const char* name; /**< for the message */
  int64_t value;    /**< must be equal on all ranks */
} syncyte_fact_t;

/** How the ranks of a communicator lie on nodes: ranks that share memory form a node. */
typedef struct syncyte_topology_t {
  size_t struct_size; /**< sizeof(syncyte_topology_t) */
  int32_t nodes;      /**< number of nodes */
  int32_t node;       /**< this rank's node, 0 to nodes - 1, in order of lowest ranks */
  int32_t node_size;  /**< ranks on this rank's node */
  int32_t node_rank;  /**< this rank's place among them, in order of ranks */
} syncyte_topology_t;

/**
 * @brief Starts Syncyte; initialises MPI if nobody has. Collective over MPI_COMM_WORLD; further calls do nothing.
 * @param[in] options {optional} null for defaults
 * @return SYNCYTE_ERR_NOT_INITIALISED if MPI is already finalised. SYNCYTE_ERR_ARGUMENT on all ranks if one of them has
 * bad options or a bad environment variable; Syncyte is then not started (MPI is), and may be once that is mended.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_init(const syncyte_init_options_t* options);

/**
 * @brief Ends Syncyte: frees all windows and communicators, and finalises MPI if syncyte_init() had initialised it.
 * Collective over MPI_COMM_WORLD: waits for all ranks. Memory that a view still refers to stays readable. If the
 * application finalises MPI first, this happens inside MPI_Finalize. Where the process of a rank of this node has ended
 * before, nobody is waited for: an error is logged, nothing is freed, and MPI is not finalised. Further calls, and
 * calls in a forked child, do nothing.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_finalize(void);

/** Writes at which line of its program the application is, as a text of at most `bytes` bytes that ends with a zero
 * byte. Called on a thread of its own; may block. */
typedef void (*syncyte_line_fn_t)(void* text, int64_t bytes, void* context);

/**
 * @brief Installs what the watchdog's report asks for the line of this rank's program; null removes it. Where no answer
 * comes within a second the report says "unknown". Local; callable at any time.
 * @param[in] hook {callback, optional} function
 * @param[in] context {optional} passed to every call; must outlive the hook
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_watchdog_line_set(syncyte_line_fn_t hook, void* context);

/** Whether the wait in progress shall end: 0 if not. */
typedef int32_t (*syncyte_interrupt_fn_t)(void* context);

/**
 * @brief Installs what waits of the calling thread ask ten times a second, for example whether a signal has come; null
 * removes it. There is one for the process: a later call replaces it. Local; callable at any time.
 *
 * A wait that is told to end returns SYNCYTE_ERR_INTERRUPTED, on this rank alone:
 * - a request stays active, and may be waited for again;
 * - a blocking receive is taken back, or has received a message that was there already;
 * - a blocking send may still arrive: its memory must stay as it is until syncyte_finalize();
 * - a halo can be used no longer after a blocking exchange or accumulate, which neighbours may still wait for;
 * - a collective leaves the ranks of its communicator out of step: every later collective on it returns
 *   SYNCYTE_ERR_INTERRUPTED on this rank; after one of the world communicator syncyte_finalize() frees nothing, and
 * does not finalise MPI.
 *
 * With SYNCYTE_CHECK=off collectives wait inside MPI, and do not ask; nor does syncyte_finalize().
 * @param[in] hook {callback, optional} function; may call Syncyte, but must not wait for what the wait is for
 * @param[in] context {optional} passed to every call; must outlive the hook
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_interrupt_set(syncyte_interrupt_fn_t hook, void* context);

/**
 * @brief Ends the whole job at once, as MPI_Abort does; does not return. Callable at any time, on any rank. In a forked
 * child it ends the child only.
 * @param[in] exit_code what mpirun should return, 1 to 255
 */
SYNCYTE_EXPORT void syncyte_abort(int32_t exit_code);

/**
 * @brief Whether Syncyte is started. Local; callable at any time.
 * @param[out] flag 1 between init and finalize, also in a child forked then; otherwise 0
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_initialized(int32_t* flag);

/**
 * @brief Thread level that MPI provides: 0 single, 1 funneled, 2 serialized, 3 multiple. Local.
 * @param[out] level the level
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_thread_level(int32_t* level);

/**
 * @brief Whether MPI takes buffers in a kind of memory: host memory always; a CUDA device's where this build has CUDA,
 * the machine a device, and the MPI library says that it is CUDA-aware, or SYNCYTE_CUDA_AWARE=on does for it. Local.
 *
 * Such buffers can be given to what only moves elements: messages, and broadcasts, gathers, scatters and all-to-alls
 * that wait. They are dense, and cut along their first axis; where an operation has two on a rank, both are on devices;
 * what was enqueued on them has ended before the call. Every other operation on a communicator answers
 * SYNCYTE_ERR_UNSUPPORTED for device memory.
 * @param[in] memory kind
 * @param[out] flag 1 or 0
 * @return SYNCYTE_ERR_ARGUMENT for an unknown kind.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_mpi_takes(syncyte_memory_t memory, int32_t* flag);

/**
 * @brief A reference to the communicator of all ranks. Local. All references have one handle, the same in every job.
 * @param[out] comm the communicator; to be destroyed as any other handle
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_world(syncyte_comm_t* comm);

/**
 * @brief A reference to the communicator of this rank alone. Local. All references have one handle, the same in every
 * job.
 * @param[out] comm the communicator; to be destroyed as any other handle
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_self(syncyte_comm_t* comm);

/**
 * @brief Makes a communicator from a Fortran handle (MPI_Comm_c2f, comm%MPI_VAL, mpi4py's py2f()), which is duplicated
 * and stays the caller's. Collective over it.
 * @param[in] fortran_handle an intra-communicator
 * @param[in] options {optional} null for defaults; what is wrong with them on one rank is every rank's error
 * @param[out] comm the communicator
 * @return SYNCYTE_ERR_ARGUMENT for a null or inter-communicator and for what MPI does not know, on this rank alone: it
 * cannot tell the others.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_from_fortran(int32_t fortran_handle, const syncyte_comm_options_t* options,
                                                          syncyte_comm_t* comm);

/**
 * @brief The MPI communicator behind a handle, as a Fortran handle. Local. It stays Syncyte's: use it only while comm
 * is alive, and never free it; messages on it do not meet Syncyte's own.
 * @param[in] comm a communicator
 * @param[out] fortran_handle for MPI_Comm_f2c
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_to_fortran(syncyte_comm_t comm, int32_t* fortran_handle);

/**
 * @brief Duplicates a communicator. Collective.
 * @param[in] comm a communicator
 * @param[in] options {optional} null for defaults
 * @param[out] duplicate the same ranks in the same order
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_dup(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                                 syncyte_comm_t* duplicate);

/**
 * @brief Splits a communicator as MPI_Comm_split does. Collective; facts: none (colors and keys may differ).
 * @param[in] comm a communicator
 * @param[in] color ranks of one color form a new communicator; -1: this rank gets a null handle
 * @param[in] key order within the new communicator; ties by rank
 * @param[in] options {optional} null for defaults
 * @param[out] part this rank's part
 * @return SYNCYTE_ERR_ARGUMENT for a color below -1.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_split(syncyte_comm_t comm, int32_t color, int32_t key,
                                                   const syncyte_comm_options_t* options, syncyte_comm_t* part);

/**
 * @brief Splits by program, for jobs of several programs in one mpirun: ranks that give the same name form a part.
 * Collective.
 * @param[in] comm a communicator
 * @param[in] name {string, optional} name of this rank's program, 1 to 255 bytes; null: the executable's file name
 * @param[in] options {optional} null for defaults
 * @param[out] part this program's ranks, in order of ranks
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_split_program(syncyte_comm_t comm, const char* name,
                                                           const syncyte_comm_options_t* options, syncyte_comm_t* part);

/**
 * @brief The ranks of comm that share memory with this rank, as a communicator. Collective.
 * @param[in] comm a communicator
 * @param[in] options {optional} null for defaults
 * @param[out] node this node's ranks, in order of ranks
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_node(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                                  syncyte_comm_t* node);

/**
 * @brief The first rank of each node (those of comm's ranks whose node_rank is 0), as a communicator. Collective. What
 * is reduced on the node first and then among leaders crosses the network once per node.
 * @param[in] comm a communicator
 * @param[in] options {optional} null for defaults
 * @param[out] leaders one rank per node, whose rank there is its node's number; on the other ranks a null handle, as
 * with syncyte_comm_split()
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_leaders(syncyte_comm_t comm, const syncyte_comm_options_t* options,
                                                     syncyte_comm_t* leaders);

/**
 * @brief A communicator of some ranks of comm, in the order of the list. Collective over these ranks, which alone call;
 * all with the same list and tag. It is freed at finalize, so keep it where it is needed again.
 * @param[in] comm a communicator; groups of it that threads make at once have different tags
 * @param[in] ranks {array(count)} ranks of comm, each once, this rank among them
 * @param[in] count number of ranks, 1 or more
 * @param[in] tag 0 to 1023
 * @param[in] options {optional} null for defaults; what is wrong with them on one rank is every rank's error
 * @param[out] group the communicator
 * @return on all ranks of the list: SYNCYTE_ERR_ARGUMENT where it names a rank that is out of range or twice, and
 * SYNCYTE_ERR_MISMATCH where lists differ, after which comm makes no further group on any rank named; on this rank
 * alone, which cannot tell the others: SYNCYTE_ERR_ARGUMENT for a list without this rank, a count or a tag out of
 * range. Lists that differ are found between ranks that name each other; a rank that never calls is waited for.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_group(syncyte_comm_t comm, const int32_t* ranks, int64_t count,
                                                   int32_t tag, const syncyte_comm_options_t* options,
                                                   syncyte_comm_t* group);

/**
 * @brief How the ranks lie on nodes. Local.
 * @param[in] comm a communicator
 * @param[in,out] topology struct_size set by the caller; the rest is filled
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_topology(syncyte_comm_t comm, syncyte_topology_t* topology);

/**
 * @brief This process's number, 0 to size - 1. Local.
 * @param[in] comm a communicator
 * @param[out] rank the rank
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_rank(syncyte_comm_t comm, int32_t* rank);

/**
 * @brief Number of ranks. Local.
 * @param[in] comm a communicator
 * @param[out] size the number
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_size(syncyte_comm_t comm, int32_t* size);

/**
 * @brief How much is compared before data moves: 0 off, 1 on, 2 full (SYNCYTE_CHECK). Local.
 * @param[in] comm a communicator
 * @param[out] level the level that its ranks agreed on
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_check_level(syncyte_comm_t comm, int32_t* level);

/**
 * @brief Number of collectives that this rank has begun on a communicator. Local. Each agreement compares it: after a
 * collective that succeeded it is equal on all ranks, until the next begins, and so identifies that collective.
 * @param[in] comm a communicator
 * @param[out] number 0 on a new communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_sequence(syncyte_comm_t comm, int64_t* number);

/**
 * @brief What identifies a communicator, equal on all its ranks; no other one of this job has it, nor of another job.
 * Local.
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
 * @brief Drops a reference. Local, thread-safe, without MPI. With the last one the handle becomes an error; objects
 * made on the communicator keep it alive, and it is freed at a collective point of its parent, roots at finalize.
 * @param[in] comm a communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_release(syncyte_comm_t comm);

/**
 * @brief Drops a reference and nulls the handle; null is fine. Local, as syncyte_comm_release().
 * @param[in,out] comm a communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_destroy(syncyte_comm_t* comm);

/**
 * @brief Counts and traces an operation of a library on top, as if it were Syncyte's own. Local, thread-safe.
 * @param[in] comm the communicator whose name the event gets; with one that is null or freed the event keeps its own
 * @param[in] event what the trace is told; of it struct_size and operation are needed
 * @return SYNCYTE_ERR_ARGUMENT.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_trace_tell(syncyte_comm_t comm, const syncyte_trace_event_t* event);

/**
 * @brief All ranks learn whether all are well and agree. Collective; facts: operation and those given.
 * @param[in] comm a communicator
 * @param[in] status this rank's own verdict, one of ::syncyte_status_values; if it is not SYNCYTE_SUCCESS, its last
 * error is what all ranks are told
 * @param[in] operation {string} name for messages, equal on all ranks
 * @param[in] count number of facts, 0 to 32
 * @param[in] facts {array(count), optional} numbers that must be equal on all ranks
 * @return on all ranks: SYNCYTE_SUCCESS; the highest status of any rank, with that rank's message; or
 * SYNCYTE_ERR_MISMATCH, with a message that names the odd ranks.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_agree(syncyte_comm_t comm, syncyte_status_t status, const char* operation,
                                                   int32_t count, const syncyte_fact_t* facts);

/**
 * @brief As syncyte_comm_agree(), where a rank may come late because it has long work to do, such as to write a file:
 * the watchdog shows the wait, with the operation's name, and never ends the job for it. Collective; facts: as there.
 * @param[in] comm a communicator
 * @param[in] status as in syncyte_comm_agree()
 * @param[in] operation {string} name for messages and the watchdog, equal on all ranks
 * @param[in] count number of facts, 0 to 32
 * @param[in] facts {array(count), optional} numbers that must be equal on all ranks
 * @return as syncyte_comm_agree().
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_agree_patiently(syncyte_comm_t comm, syncyte_status_t status,
                                                             const char* operation, int32_t count,
                                                             const syncyte_fact_t* facts);

/**
 * @brief Frees what all ranks have dropped: tensors, windows and communicators made on comm. Collective. Creation and
 * sync do the same; call it where memory should go back without either.
 * @param[in] comm a communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_collect(syncyte_comm_t comm);

/**
 * @brief Returns when all ranks have called it. Collective.
 * @param[in] comm a communicator
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_comm_barrier(syncyte_comm_t comm);

#ifdef __cplusplus
}
#endif

#endif
