/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file base.h
 * @brief Status codes, errors, element types, buffers, logging and requests.
 *
 * Conventions of the whole C interface
 * ------------------------------------
 * - Every function returns a ::syncyte_status_t: 0 is success, codes are never renumbered. syncyte_last_error() returns
 *   the thread's full message: the error, the rank, the argument, and how to correct it. No exception, abort or exit
 *   crosses this boundary.
 * - Handles are opaque values. A handle is never re-used for another object during the life of the process: a freed or
 *   foreign handle gives ::SYNCYTE_ERR_HANDLE. A handle may be stored in an int64_t, and in a file: in another job it
 *   refers to no object, except that the world and self communicators have the same handles in all jobs.
 *   `destroy` takes the handle's address and nulls it; `retain` adds a reference, `release` drops one (both local,
 *   thread-safe, without MPI).
 * - Outputs come last and are written only on success.
 * - The first member of a struct is `struct_size = sizeof(the struct)`, set by the caller, so that structs may grow: of
 *   an input the library reads what caller and library know; members that the caller's struct lacks have their
 *   defaults, and a byte that is set beyond the library's struct is ::SYNCYTE_ERR_VERSION. Of an output both know a
 *   part, which is filled; the rest is zeroed, and struct_size becomes the bytes that were filled. A size below that of
 *   the first release, above 4096 or no multiple of 8 is ::SYNCYTE_ERR_ARGUMENT, and so is a member `reserved` that is
 *   not 0. All structs of an array have the size of the first one. No struct contains another one that may grow: it
 *   points to it.
 * - Sizes and offsets in bytes are int64_t; an array's length is the parameter or member before it.
 * - A null pointer to options means defaults, and so do the SYNCYTE_..._OPTIONS_INIT initializers; zeros may mean
 *   something else.
 * - A *collective* function must be called by all ranks of its communicator in the same order. Its comment lists its
 *   *facts*: values that must be equal on all ranks. The ranks compare them before data moves (the *agreement*): if one
 *   rank's arguments are wrong, or facts differ, all ranks get the same error. A *local* function does not wait for
 *   other ranks.
 * - Objects that all ranks have dropped are freed at a *collective point*: when an object is made on the same
 *   communicator, in a sync, fence or barrier, in syncyte_comm_collect(), and in syncyte_finalize().
 * - Comments may leave out the prefix "syncyte_": tensor_sync() is syncyte_tensor_sync().
 * - Unless its comment says otherwise, a function is blocking, thread-safe on different communicators, and returns
 *   ::SYNCYTE_ERR_NOT_INITIALIZED before syncyte_init().
 *
 * Annotations, in braces, state what the code generator (bindings/generate) must know; the text behind them is only
 * copied into documentation. A parameter is `@param[in|out|in,out] name {annotations} text`:
 * - `array(N)`: N elements; `along(AXIS)`: they are the extents of the ranks' parts along the axis, which languages may
 *   collect; `optional`: may be null; `string`, `callback`: the type;
 * - `default(N)`: value in languages that let their callers leave the argument out;
 * - `contiguous`: the array must be contiguous; `tensor_dtype`: it must have the tensor's dtype;
 * - `in_place`: null means that the array which gets the result holds the input;
 * - `kept`: the memory is used after the call has returned, `kept_if_started`: of the started form. The direction says
 *   what may not be done with it, or `kept_if_started(RULE)`, which begins with a verb;
 * - `integers`: int64, which languages make of other kinds;
 * - `index(TENSOR)`: numbers of the tensor's rows, or that of an element, from 0; `offset(ARRAY)`: bytes from 0 to the
 *   place of the array's first element. Fortran counts rows and elements from 1;
 * - `mpi_handle`: a communicator of MPI, as MPI_Comm_c2f() gives it;
 * - `traced`: the trace gets the array's bytes (of the first one that is not null), or the rank as the peer;
 * - `flag`: 1 or 0, a bool in languages that have one; false if it is left out.
 *
 * A function is `@brief {annotations} text`:
 * - `forked_child`: a forked child may call it; `lookup`: likewise, and it is neither traced nor counted;
 * - `by_hand`: its implementation is in capi/src. Otherwise that of a function of a handle is generated: it calls the
 *   method of the object that has its name (`free_function`: the function that has it, for the object), or runs the
 *   class of the operation;
 * - `cxx_by_hand`: its C++ method, if any, is in include/syncyte; of a `started` function that of both forms,
 *   or by `cxx_by_hand(blocking)`, `cxx_by_hand(started)` of one;
 * - `started`: it has a started form, with an i in its name, which returns a request. The declaration is generated, in
 *   generated/HEADER.h; `@started text` says what the form's comment adds.
 *
 * A struct's member whose default is not zero has `{default(N)}`. A value of an enum with `{not(NAME)}` is not among
 * those that functions accept as a NAME.
 */
#ifndef SYNCYTE_BASE_H
#define SYNCYTE_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "syncyte/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this header; syncyte_version() returns the library's. */
#define SYNCYTE_VERSION_MAJOR 0
#define SYNCYTE_VERSION_MINOR 2
#define SYNCYTE_VERSION_PATCH 0

/** Number of the binary interface. It increases with every incompatible change; the names of the shared libraries end
 * in it (libsyncyte.so.3). */
#define SYNCYTE_ABI_VERSION 3

/** Maximum number of dimensions of a tensor or buffer. */
#define SYNCYTE_MAX_NDIM 8

/** Result of every function: one of ::syncyte_status_values. */
typedef int32_t syncyte_status_t;

/** Status codes; never renumbered. If ranks fail with different ones, an agreement gives all the highest. */
enum syncyte_status_values {
  SYNCYTE_SUCCESS = 0,
  SYNCYTE_ERR_ARGUMENT = 1,        /**< an argument's value is not allowed */
  SYNCYTE_ERR_HANDLE = 2,          /**< null, freed or foreign handle */
  SYNCYTE_ERR_INDEX = 3,           /**< an index is out of range */
  SYNCYTE_ERR_TYPE = 4,            /**< unknown element type, or the wrong one */
  SYNCYTE_ERR_SHAPE = 5,           /**< wrong shape, size or strides */
  SYNCYTE_ERR_MISMATCH = 6,        /**< ranks disagree */
  SYNCYTE_ERR_NOT_INITIALIZED = 7, /**< called before syncyte_init(), or after finalize */
  SYNCYTE_ERR_MEMORY = 8,          /**< not enough memory */
  SYNCYTE_ERR_UNSUPPORTED = 9,     /**< not available in this build, or for these arguments */
  SYNCYTE_ERR_BUSY = 10,           /**< in use by another thread or an active request */
  SYNCYTE_ERR_PEER_DIED = 11,      /**< a rank has died, or data are damaged because it died while it changed them;
                                      also from a wait for a counter or lock that no remaining rank can end */
  SYNCYTE_ERR_MPI = 12,            /**< MPI reported an error */
  SYNCYTE_ERR_IO = 13,             /**< the operating system reported an error on a file */
  SYNCYTE_ERR_FORMAT = 14,         /**< not a Syncyte file, or a truncated one */
  SYNCYTE_ERR_CHECKSUM = 15,       /**< stored data is damaged */
  SYNCYTE_ERR_NOT_FOUND = 16,      /**< no such file or key */
  SYNCYTE_ERR_VERSION = 17,        /**< library or file of another version */
  SYNCYTE_ERR_TIMEOUT = 18,        /**< a stated time limit passed */
  SYNCYTE_ERR_INTERNAL = 19,       /**< a defect of Syncyte; please report it */
  SYNCYTE_ERR_LIMIT = 20,          /**< a limit of the system, as on open files, is reached; the message names it */
  SYNCYTE_ERR_INTERRUPTED = 21     /**< the application ended a wait: see syncyte_interrupt_set() */
};

/** Element type: one of ::syncyte_dtype_values. */
typedef int32_t syncyte_dtype_t;

/** Element types; never renumbered. Complex numbers are pairs (real, imaginary); bool is one byte, 0 or 1. */
enum syncyte_dtype_values {
  SYNCYTE_FLOAT16 = 1,
  SYNCYTE_BFLOAT16 = 2,
  SYNCYTE_FLOAT32 = 3,
  SYNCYTE_FLOAT64 = 4,
  SYNCYTE_COMPLEX64 = 5,
  SYNCYTE_COMPLEX128 = 6,
  SYNCYTE_INT8 = 7,
  SYNCYTE_INT16 = 8,
  SYNCYTE_INT32 = 9,
  SYNCYTE_INT64 = 10,
  SYNCYTE_UINT8 = 11,
  SYNCYTE_BOOL = 12,
  SYNCYTE_UINT16 = 13,
  SYNCYTE_UINT32 = 14,
  SYNCYTE_UINT64 = 15
};

/** Reduction: one of ::syncyte_op_values. */
typedef int32_t syncyte_op_t;

/** Reductions; never renumbered. */
enum syncyte_op_values {
  SYNCYTE_OP_SUM = 1,      /**< sum; logical or for bool */
  SYNCYTE_OP_PROD = 2,     /**< product; logical and for bool */
  SYNCYTE_OP_MIN = 3,      /**< minimum; not for complex; NaN if an operand is NaN; -0 is less than +0 */
  SYNCYTE_OP_MAX = 4,      /**< maximum; not for complex; NaN if an operand is NaN; -0 is less than +0 */
  SYNCYTE_OP_LAND = 5,     /**< logical and; integers and bool */
  SYNCYTE_OP_LOR = 6,      /**< logical or; integers and bool */
  SYNCYTE_OP_BAND = 7,     /**< bitwise and; integers and bool */
  SYNCYTE_OP_BOR = 8,      /**< bitwise or; integers and bool */
  SYNCYTE_OP_BXOR = 9,     /**< bitwise exclusive or; integers and bool */
  SYNCYTE_OP_REPLACE = 10, /**< {not(reduction)} the new value (windows, tensor_put_signal) */
  SYNCYTE_OP_LXOR = 11     /**< logical exclusive or; integers and bool */
};

/** Kind of memory: one of ::syncyte_memory_values. */
typedef int32_t syncyte_memory_t;

/** Kinds of memory; never renumbered. */
enum syncyte_memory_values {
  SYNCYTE_MEMORY_HOST = 0, /**< host memory of the process or the node */
  SYNCYTE_MEMORY_CUDA = 1  /**< memory of a CUDA device */
};

/** Severity of a log line: one of ::syncyte_log_level_values. SYNCYTE_LOG=off|error|warn|info|debug sets the threshold.
 */
typedef int32_t syncyte_log_level_t;

/** Severities. */
enum syncyte_log_level_values {
  SYNCYTE_LOG_OFF = 0, /**< {not(severity)} as a threshold: no lines */
  SYNCYTE_LOG_ERROR = 1,
  SYNCYTE_LOG_WARN = 2,
  SYNCYTE_LOG_INFO = 3,
  SYNCYTE_LOG_DEBUG = 4
};

/**
 * @brief An array argument: address, element type, shape, strides and kind of memory.
 *
 * The memory belongs to the caller. Strides are in bytes. A buffer with the strides of a dense row-major array is
 * *contiguous*; strides of dimensions of extent 1 and of empty arrays are ignored. A buffer with ndim 0 has one
 * element. Every function returns SYNCYTE_ERR_SHAPE for strides whose span exceeds 64 bits. Data may have any
 * alignment, except that reductions and lists of rows need aligned elements (complex ones aligned to their parts):
 * SYNCYTE_ERR_SHAPE. No function waits for work that is enqueued on memory of a device: it must be complete before
 * the call, or on the stream that the function takes (syncyte_memory_set_stream()).
 */
typedef struct syncyte_buffer_t {
  size_t struct_size;                /**< sizeof(syncyte_buffer_t) */
  void* data;                        /**< first element; may be null when there are no elements */
  syncyte_dtype_t dtype;             /**< element type */
  int32_t ndim;                      /**< number of dimensions, 0 to SYNCYTE_MAX_NDIM */
  int64_t shape[SYNCYTE_MAX_NDIM];   /**< extents, in elements */
  int64_t strides[SYNCYTE_MAX_NDIM]; /**< distances of neighbouring elements, in bytes */
  syncyte_memory_t memory;           /**< kind of memory of data */
  int32_t device;                    /**< number of the device; 0 for host memory */
  int32_t read_only;                 /**< 1: constant memory, which no function writes to: SYNCYTE_ERR_ARGUMENT; or 0 */
  int32_t reserved;                  /**< 0 */
} syncyte_buffer_t;

/** A buffer that a function fills: `syncyte_buffer_t view = SYNCYTE_BUFFER_INIT;`. */
#define SYNCYTE_BUFFER_INIT {sizeof(syncyte_buffer_t), NULL, 0, 0, {0}, {0}, 0, 0, 0, 0}

/** sizeof(syncyte_buffer_t) in the first release: the `first_size` with which libraries on top read a caller's buffer.
 */
#define SYNCYTE_BUFFER_FIRST_SIZE 168

/**
 * @brief Returns the version of the loaded library. Local; callable at any time, from any thread.
 * @param[out] major {optional} first number
 * @param[out] minor {optional} second number
 * @param[out] patch {optional} third number
 * @param[out] abi {optional} SYNCYTE_ABI_VERSION of the library
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_version(int32_t* major, int32_t* minor, int32_t* patch, int32_t* abi);

/**
 * @brief Returns the message of this thread's last failed call. Local; callable at any time.
 * @return a string that is valid until the thread's next failing call; empty if none failed.
 */
SYNCYTE_EXPORT const char* syncyte_last_error(void);

/** Fields of a failed call's error, beside its text. Fields that do not apply are empty, and -1 for numbers. */
typedef struct syncyte_error_fields_t {
  size_t struct_size;      /**< sizeof(syncyte_error_fields_t) */
  syncyte_status_t status; /**< status of the call */
  int32_t rank;            /**< rank that failed, or has died (SYNCYTE_ERR_PEER_DIED): of the communicator in a
                                collective, otherwise of the world */
  const char* operation;   /**< the function's name without "syncyte_" */
  const char* object;      /**< name of the object that the argument belongs to, or of the collective's communicator */
  const char* argument;    /**< name of the argument that is wrong, or of the fact that differs between ranks */
  int64_t axis;            /**< dimension of the argument if ndim is not 0, otherwise its position in an array */
  int32_t ndim;            /**< number of dimensions of the array that the error is about; 0: not about an array. If it
                                is not 0, lists such as [2, 3] in value and expected are extents; if the axis itself
                                differs between ranks, value lists it counted from the end (-1 is the last) */
  int32_t reserved;        /**< 0 */
  const char* value;       /**< value of the argument; if it differs between ranks, the values and their ranks */
  const char* expected;    /**< expected value */
  const char* reason;      /**< the message without operation and rank */
} syncyte_error_fields_t;

/**
 * @brief Returns the fields of this thread's last error. Local; callable at any time.
 * @param[in,out] fields struct_size set by the caller; the rest is filled; texts are valid until the thread's next
 * failing call
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_last_error_fields(syncyte_error_fields_t* fields);

/**
 * @brief Returns the name of a status code, for example "SYNCYTE_ERR_INDEX". Local; callable at any time.
 * @param[in] status any number
 * @return a constant string; "SYNCYTE_ERR_UNKNOWN" for a number that is not a status code.
 */
SYNCYTE_EXPORT const char* syncyte_status_name(syncyte_status_t status);

/**
 * @brief Sets this thread's last error, for libraries on top of Syncyte. Local; callable at any time.
 * @param[in] status code, not SYNCYTE_SUCCESS
 * @param[in] message {string} the error, the argument, and how to correct it; the rank is prepended
 * @return status, so that a caller can `return syncyte_error_set(...)`.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_error_set(syncyte_status_t status, const char* message);

/**
 * @brief Sets this thread's last error with its fields; syncyte_error_set() sets it without. Local; callable at any
 * time.
 * @param[in] fields texts may be null; status is not SYNCYTE_SUCCESS; reason is the message; rank is not read
 * @return fields->status
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_error_set_fields(const syncyte_error_fields_t* fields);

/**
 * @brief Reads a caller's struct by the rule of struct_size, for libraries on top. Local; callable at any time.
 * @param[in] theirs the caller's struct
 * @param[in] name {string} name of the argument, for the message
 * @param[in] first_size its sizeof in the first release
 * @param[in,out] ours defaults and struct_size of the library on top; gets the members that the caller's struct has
 * @return SYNCYTE_ERR_ARGUMENT (null, a size that no version has), SYNCYTE_ERR_VERSION (a byte set beyond ours).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_struct_read(const void* theirs, const char* name, size_t first_size,
                                                    void* ours);

/**
 * @brief Returns the size of one element in bytes. Local; callable at any time.
 * @param[in] dtype element type
 * @param[out] size bytes of an element
 * @return SYNCYTE_ERR_TYPE for an unknown dtype.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_dtype_size(syncyte_dtype_t dtype, int64_t* size);

/**
 * @brief Returns the name of an element type, for example "float32". Local; callable at any time.
 * @param[in] dtype element type
 * @return a constant string; "unknown" for an unknown dtype.
 */
SYNCYTE_EXPORT const char* syncyte_dtype_name(syncyte_dtype_t dtype);

/**
 * @brief Fills a buffer for a contiguous row-major array in host memory. Local; callable at any time.
 * @param[in] data {optional} first element
 * @param[in] dtype element type
 * @param[in] ndim number of dimensions
 * @param[in] shape {array(ndim), optional} extents; may be null when ndim is 0
 * @param[in,out] buffer struct_size set by the caller; the rest is filled
 * @return SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (ndim, a negative extent, more than 2^63 - 1 bytes).
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_buffer_set(void* data, syncyte_dtype_t dtype, int32_t ndim,
                                                   const int64_t* shape, syncyte_buffer_t* buffer);

/**
 * @brief Does the same as syncyte_buffer_set(), and sets struct_size too.
 * @param[in] data {optional} first element
 * @param[in] dtype element type
 * @param[in] ndim number of dimensions
 * @param[in] shape {array(ndim), optional} extents; may be null when ndim is 0
 * @param[out] buffer the description
 * @return as syncyte_buffer_set()
 */
static inline syncyte_status_t syncyte_buffer_init(void* data, syncyte_dtype_t dtype, int32_t ndim,
                                                   const int64_t* shape, syncyte_buffer_t* buffer) {
  if (buffer != NULL) buffer->struct_size = sizeof *buffer;
  return syncyte_buffer_set(data, dtype, ndim, shape, buffer);
}

/**
 * @brief Does the same as syncyte_buffer_init() for constant memory: functions that write refuse the buffer.
 * @param[in] data {optional} first element
 * @param[in] dtype element type
 * @param[in] ndim number of dimensions
 * @param[in] shape {array(ndim), optional} extents; may be null when ndim is 0
 * @param[out] buffer the description
 * @return as syncyte_buffer_set()
 */
static inline syncyte_status_t syncyte_buffer_init_const(const void* data, syncyte_dtype_t dtype, int32_t ndim,
                                                         const int64_t* shape, syncyte_buffer_t* buffer) {
  const syncyte_status_t status = syncyte_buffer_init((void*)data, dtype, ndim, shape, buffer);
  if (status == SYNCYTE_SUCCESS) buffer->read_only = 1;
  return status;
}

/**
 * @brief Writes a line with rank and severity to stderr, if SYNCYTE_LOG enables that severity. Local, thread-safe,
 * callable at any time.
 * @param[in] level severity
 * @param[in] message {string} text without a newline
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_log(syncyte_log_level_t level, const char* message);

/**
 * An event for the trace hook: an operation has ended on this thread. The peer is
 * - for send, recv, isend, irecv: the peer; for a receive from SYNCYTE_ANY the sender (-1 when it starts); for
 *   sendrecv the receiver;
 * - for collectives with a root (bcast, ibcast, reduce, gather_along, scatter_along): the root, on all ranks;
 * - for a halo's exchanges: the neighbour if there is only one, which may be the rank itself;
 * - for window operations with a target: the target;
 * - for a wait: the peer of the operation that was started; for a wait for several requests, their common peer;
 * - for all others: -1.
 *
 * Starting an operation and waiting for it are two events. A wait is "request_wait", "request_wait_all",
 * "request_wait_any", or the "request_test" that completes the request; other tests, and waits for null, are not
 * events. Lookups (of a rank, a shape, a pointer) are not events, and syncyte_stats() does not count them.
 */
typedef struct syncyte_trace_event_t {
  size_t struct_size;      /**< sizeof(syncyte_trace_event_t) as the library knows it */
  const char* operation;   /**< for example "comm_allreduce"; valid during the call */
  int64_t bytes;           /**< bytes of this rank's part; for a wait, those of the started operation; or 0 */
  int64_t begin_ns;        /**< CLOCK_MONOTONIC at the start, nanoseconds */
  int64_t end_ns;          /**< CLOCK_MONOTONIC at the end, nanoseconds */
  syncyte_status_t status; /**< status of the operation */
  int32_t peer;            /**< peer, a rank of the communicator, see above; or -1 */
  syncyte_dtype_t dtype;   /**< element type of the data; for a wait, that of the started operation; or 0 */
  int32_t reserved;        /**< 0 */
  const char* comm;        /**< name of the communicator, valid during the call; or null */
  const char* path;        /**< file of a checkpoint, valid during the call; or null */
} syncyte_trace_event_t;

/** Called after every traced operation, on the thread that ran it; must not call Syncyte. */
typedef void (*syncyte_trace_fn_t)(const syncyte_trace_event_t* event, void* context);

/**
 * @brief Installs the trace hook of the process; null removes it. Local; callable at any time, not during operations.
 * @param[in] hook {callback, optional} function
 * @param[in] context {optional} passed to every call; must outlive the hook
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_trace_set(syncyte_trace_fn_t hook, void* context);

/** Counters of one operation in this process. */
typedef struct syncyte_operation_stats_t {
  size_t struct_size;    /**< sizeof(syncyte_operation_stats_t) */
  const char* operation; /**< for example "comm_allreduce"; never freed */
  int64_t calls;         /**< calls that have ended, counted as trace events are, see ::syncyte_trace_event_t */
  int64_t errors;        /**< calls that failed */
  int64_t bytes;         /**< bytes of this rank's parts */
  int64_t nanoseconds;   /**< duration of the calls that were traced (by SYNCYTE_TRACE or a hook) */
} syncyte_operation_stats_t;

/**
 * @brief Returns the counters of an operation. Local, thread-safe, callable at any time.
 * @param[in] index 0, 1, ... until the result is SYNCYTE_ERR_INDEX; operations that were never called are not listed
 * @param[in,out] stats struct_size set by the caller; the rest is filled
 * @return SYNCYTE_ERR_INDEX beyond the last one.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_stats(int64_t index, syncyte_operation_stats_t* stats);

/** A non-blocking operation. */
typedef struct syncyte_request_s* syncyte_request_t;

/**
 * Sets *done to 1 if the operation has ended; does not wait. Returns the operation's status once it has ended; an error
 * ends it. Not called again after the end.
 */
typedef syncyte_status_t (*syncyte_request_poll_fn_t)(void* context, int32_t* done);
/**
 * Waits for the end of the operation and returns its status; SYNCYTE_ERR_INTERRUPTED if it has not ended. Not called
 * after poll has set *done.
 */
typedef syncyte_status_t (*syncyte_request_wait_fn_t)(void* context);
/** Frees the context. Called once, after the operation has ended, by the test or wait that returns its status, or by
 * finalize. */
typedef void (*syncyte_request_free_fn_t)(void* context);

/**
 * @brief Makes a request of callbacks, for libraries on top of Syncyte. Local.
 *
 * Until the operation has ended, every wait of Syncyte on this rank calls poll, on any thread that may call MPI. Two
 * callbacks of one request never run at once. The thread that tests or waits for the request gets the status, and the
 * message that poll passed to syncyte_error_set(). Callbacks may call Syncyte's local functions, but must not start or
 * end Syncyte. poll must not wait for another rank: while it runs, its thread polls no other request.
 *
 * syncyte_finalize() (or MPI_Finalize) polls active requests until they have ended, and frees their contexts; Syncyte
 * can be called meanwhile. If a request has not ended 5 s after all ranks have entered finalize, an error is logged:
 * the request stays active, and its context is not freed.
 *
 * @param[in] poll {callback} tests for completion
 * @param[in] wait {callback, optional} waits; if null, poll is called until it sets *done
 * @param[in] free {callback, optional} frees context
 * @param[in] context {optional} passed to the callbacks; owned by the request on success
 * @param[out] request the request
 * @return SYNCYTE_ERR_UNSUPPORTED in a forked child.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_request_create(syncyte_request_poll_fn_t poll, syncyte_request_wait_fn_t wait,
                                                       syncyte_request_free_fn_t free, void* context,
                                                       syncyte_request_t* request);

/**
 * @brief {by_hand} Tests a request without waiting. Local. If it has ended, returns its status and nulls the handle.
 * @param[in,out] request a request; null counts as ended
 * @param[out] done 1 if it has ended
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_request_test(syncyte_request_t* request, int32_t* done);

/**
 * @brief {by_hand} Waits for a request, returns its status, and nulls the handle. Local.
 * @param[in,out] request a request; null counts as ended
 * @return SYNCYTE_ERR_INTERRUPTED if the application ended the wait (syncyte_interrupt_set()): the request stays
 * active. syncyte_request_wait_all() and syncyte_request_wait_any() do the same.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_request_wait(syncyte_request_t* request);

/**
 * @brief Waits for all requests; returns the first status that is not success, after all have ended. Local.
 * @param[in] count number of requests
 * @param[in,out] requests {array(count)} requests, nulled; null ones are skipped
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_request_wait_all(int64_t count, syncyte_request_t* requests);

/**
 * @brief Waits until one of the requests ends, returns its status and nulls it. Local. The requests may be of different
 * objects, such as a halo and a store.
 * @param[in] count number of requests
 * @param[in,out] requests {array(count)} requests; null ones are skipped
 * @param[out] index position of the request that ended, also if it has failed; -1 if none has: all were null, or the
 * wait has failed
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_request_wait_any(int64_t count, syncyte_request_t* requests, int64_t* index);

/**
 * @brief {by_hand} Frees a request that has ended, and nulls the handle; a null handle is ignored. Local.
 * @param[in,out] request a request
 * @return SYNCYTE_ERR_BUSY while the operation is active.
 */
SYNCYTE_EXPORT syncyte_status_t syncyte_request_destroy(syncyte_request_t* request);

#ifdef __cplusplus
}
#endif

#endif
