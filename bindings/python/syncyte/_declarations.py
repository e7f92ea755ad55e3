"""Declarations of Syncyte's C interface for ctypes.

Generated from the C headers by bindings/generate; do not edit.

Handles are opaque values, passed as ctypes.c_void_p. A structure's `_defaults_` are the values its members have when
they are not zero; `struct_size` must be set to ctypes.sizeof of the structure.
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any, NamedTuple, Optional


class Parameter(NamedTuple):
    """A parameter of a C function."""

    name: str
    direction: str  # "in", "out" or "in,out"
    optional: bool  # may be None
    array: Optional[str]  # number of elements, where it points to an array
    text: str


class Function(NamedTuple):
    """A C function."""

    restype: Any
    argtypes: list[Any]
    parameters: list[Parameter]
    doc: str


VERSION_MAJOR = 0  # Version of this header; syncyte_version() tells the library's.
VERSION_MINOR = 1
VERSION_PATCH = 0
ABI_VERSION = 2  # Raised whenever a change breaks the binary interface.
MAX_NDIM = 8  # Most dimensions a tensor or buffer may have.
ANY = -1  # As a source: whoever sends. As the tag of a receive: whatever tag.
PROC_NULL = -2
MESSAGE_ROOM = 64  # Bytes that every message has in front of its elements.
CHECKPOINT_FORMAT = 1  # Newest file format that this library reads and writes.


class Status(enum.IntEnum):
    """Status codes; never renumbered."""

    SUCCESS = 0
    ERR_ARGUMENT = 1  # an argument's value is not allowed
    ERR_HANDLE = 2  # null, freed or foreign handle
    ERR_INDEX = 3  # an index is out of range
    ERR_TYPE = 4  # unknown element type, or the wrong one
    ERR_SHAPE = 5  # wrong shape, size or strides
    ERR_MISMATCH = 6  # ranks disagree
    ERR_NOT_INITIALISED = 7  # before syncyte_init(), or after finalize
    ERR_MEMORY = 8  # not enough memory
    ERR_UNSUPPORTED = 9  # not available in this build, or for these arguments
    ERR_BUSY = 10  # in use by another thread or an active request
    ERR_PEER_DIED = 11  # another process died while holding what we need
    ERR_MPI = 12  # MPI reported an error
    ERR_IO = 13  # the operating system reported an error on a file
    ERR_FORMAT = 14  # not a Syncyte file, or a truncated one
    ERR_CHECKSUM = 15  # stored data is damaged
    ERR_NOT_FOUND = 16  # no such file or key
    ERR_VERSION = 17  # library or file of another version
    ERR_TIMEOUT = 18  # a stated time limit passed
    ERR_INTERNAL = 19  # a defect of Syncyte; please report it
    ERR_LIMIT = 20  # a limit of the system on open files is reached; the message names it
    ERR_INTERRUPTED = 21  # the application has ended a wait: see syncyte_interrupt_set()


class DType(enum.IntEnum):
    """Element types; never renumbered. Complex numbers are pairs (real, imaginary); bool is one byte, 0 or 1."""

    FLOAT16 = 1
    BFLOAT16 = 2
    FLOAT32 = 3
    FLOAT64 = 4
    COMPLEX64 = 5
    COMPLEX128 = 6
    INT8 = 7
    INT16 = 8
    INT32 = 9
    INT64 = 10
    UINT8 = 11
    BOOL = 12
    UINT16 = 13
    UINT32 = 14
    UINT64 = 15


class Op(enum.IntEnum):
    """Reductions; never renumbered."""

    SUM = 1  # sum; logical or for bool
    PROD = 2  # product; logical and for bool
    MIN = 3  # minimum; not for complex; NaN where one is NaN; -0 is less than +0
    MAX = 4  # maximum; not for complex; NaN where one is NaN; -0 is less than +0
    LAND = 5  # logical and; integers and bool
    LOR = 6  # logical or; integers and bool
    BAND = 7  # bitwise and; integers and bool
    BOR = 8  # bitwise or; integers and bool
    BXOR = 9  # bitwise exclusive or; integers and bool
    REPLACE = 10  # the new value (windows only)
    LXOR = 11  # logical exclusive or; integers and bool


class Memory(enum.IntEnum):
    """Kinds of memory; never renumbered."""

    HOST = 0  # ordinary memory of the process or the node
    CUDA = 1  # memory of a CUDA device


class LogLevel(enum.IntEnum):
    """Severities."""

    OFF = 0
    ERROR = 1
    WARN = 2
    INFO = 3
    DEBUG = 4


class Scan(enum.IntEnum):
    """Where a scan begins."""

    FROM_FIRST = 0  # at rank 0: MPI's order
    FROM_LAST = 1  # at the last rank: what ranks to the right have, the adjoint of the other


class Lock(enum.IntEnum):
    """Kinds of locks."""

    SHARED = 1  # with other shared ones
    EXCLUSIVE = 2  # alone


class Compare(enum.IntEnum):
    """Comparisons of tensor_wait()."""

    EQ = 1  # equal
    NE = 2  # not equal
    GE = 3  # greater or equal
    LE = 4  # less or equal


class KvScheme(enum.IntEnum):
    """Schemes of sampling, those of AdaPM."""

    NAIVE = 1  # drawn when they are prepared
    PRELOC = 2  # as naive, and an intent is recorded for them
    POOL = 3  # as preloc, from a pool of keys that the process's workers share
    LOCAL = 4  # drawn when they are pulled, from the keys that are local then


class KvDistribution(enum.IntEnum):
    """Distributions over a range of n keys."""

    UNIFORM = 1  # each with the same probability
    LOG_UNIFORM = 2  # the i-th, i from 1, with the probability log((i + 1) / i) / log(n + 1)


class Layout(enum.IntEnum):
    """Layouts."""

    REPLICATED = 0  # all ranks hold the same (compared with SYNCYTE_CHECK=full); rank 0's is saved
    SHARDED = 1  # each rank holds some rows, in order of ranks


# The same values by their names in C.
SYNCYTE_SUCCESS = 0
SYNCYTE_ERR_ARGUMENT = 1
SYNCYTE_ERR_HANDLE = 2
SYNCYTE_ERR_INDEX = 3
SYNCYTE_ERR_TYPE = 4
SYNCYTE_ERR_SHAPE = 5
SYNCYTE_ERR_MISMATCH = 6
SYNCYTE_ERR_NOT_INITIALISED = 7
SYNCYTE_ERR_MEMORY = 8
SYNCYTE_ERR_UNSUPPORTED = 9
SYNCYTE_ERR_BUSY = 10
SYNCYTE_ERR_PEER_DIED = 11
SYNCYTE_ERR_MPI = 12
SYNCYTE_ERR_IO = 13
SYNCYTE_ERR_FORMAT = 14
SYNCYTE_ERR_CHECKSUM = 15
SYNCYTE_ERR_NOT_FOUND = 16
SYNCYTE_ERR_VERSION = 17
SYNCYTE_ERR_TIMEOUT = 18
SYNCYTE_ERR_INTERNAL = 19
SYNCYTE_ERR_LIMIT = 20
SYNCYTE_ERR_INTERRUPTED = 21
SYNCYTE_FLOAT16 = 1
SYNCYTE_BFLOAT16 = 2
SYNCYTE_FLOAT32 = 3
SYNCYTE_FLOAT64 = 4
SYNCYTE_COMPLEX64 = 5
SYNCYTE_COMPLEX128 = 6
SYNCYTE_INT8 = 7
SYNCYTE_INT16 = 8
SYNCYTE_INT32 = 9
SYNCYTE_INT64 = 10
SYNCYTE_UINT8 = 11
SYNCYTE_BOOL = 12
SYNCYTE_UINT16 = 13
SYNCYTE_UINT32 = 14
SYNCYTE_UINT64 = 15
SYNCYTE_OP_SUM = 1
SYNCYTE_OP_PROD = 2
SYNCYTE_OP_MIN = 3
SYNCYTE_OP_MAX = 4
SYNCYTE_OP_LAND = 5
SYNCYTE_OP_LOR = 6
SYNCYTE_OP_BAND = 7
SYNCYTE_OP_BOR = 8
SYNCYTE_OP_BXOR = 9
SYNCYTE_OP_REPLACE = 10
SYNCYTE_OP_LXOR = 11
SYNCYTE_MEMORY_HOST = 0
SYNCYTE_MEMORY_CUDA = 1
SYNCYTE_LOG_OFF = 0
SYNCYTE_LOG_ERROR = 1
SYNCYTE_LOG_WARN = 2
SYNCYTE_LOG_INFO = 3
SYNCYTE_LOG_DEBUG = 4
SYNCYTE_SCAN_FROM_FIRST = 0
SYNCYTE_SCAN_FROM_LAST = 1
SYNCYTE_LOCK_SHARED = 1
SYNCYTE_LOCK_EXCLUSIVE = 2
SYNCYTE_COMPARE_EQ = 1
SYNCYTE_COMPARE_NE = 2
SYNCYTE_COMPARE_GE = 3
SYNCYTE_COMPARE_LE = 4
SYNCYTE_KV_NAIVE = 1
SYNCYTE_KV_PRELOC = 2
SYNCYTE_KV_POOL = 3
SYNCYTE_KV_LOCAL = 4
SYNCYTE_KV_UNIFORM = 1
SYNCYTE_KV_LOG_UNIFORM = 2
SYNCYTE_LAYOUT_REPLICATED = 0
SYNCYTE_LAYOUT_SHARDED = 1


class BufferDescription(ctypes.Structure):
    """An array argument: what it is and where it lies. The memory belongs to the caller. Strides are in bytes; a
    buffer whose strides are those of a dense row-major array is *contiguous*, and strides of dimensions of extent
    1 or of empty arrays do not matter. ndim 0 is one element. Strides whose span leaves 64 bits are refused
    everywhere with SYNCYTE_ERR_SHAPE. Data may lie at any address but for reductions and lists of rows, whose
    elements have to be aligned (complex ones to their parts): SYNCYTE_ERR_SHAPE.
    """

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_buffer_t)
        ("struct_size", ctypes.c_size_t),
        # first element; may be null when there are no elements
        ("data", ctypes.c_void_p),
        # element type
        ("dtype", ctypes.c_int32),
        # number of dimensions, 0 to SYNCYTE_MAX_NDIM
        ("ndim", ctypes.c_int32),
        # extents, in elements
        ("shape", ctypes.c_int64 * 8),
        # distance of neighbours, in bytes
        ("strides", ctypes.c_int64 * 8),
        # where data lies
        ("memory", ctypes.c_int32),
        # number of the device; 0 for host memory
        ("device", ctypes.c_int32),
    ]


class ErrorFields(ctypes.Structure):
    """What a failed call's error is about, beside its text. Texts are empty, and numbers -1, where there is nothing
    to say.
    """

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_error_fields_t)
        ("struct_size", ctypes.c_size_t),
        # of the call
        ("status", ctypes.c_int32),
        # whose error it is: of the communicator in a collective, otherwise of the world
        ("rank", ctypes.c_int32),
        # the function's name without "syncyte_"
        ("operation", ctypes.c_char_p),
        # name of what the argument belongs to, or of the collective's communicator
        ("object", ctypes.c_char_p),
        # what was wrong; what differed between ranks
        ("argument", ctypes.c_char_p),
        # dimension of the argument, or its position in an array
        ("axis", ctypes.c_int64),
        # of the argument, there; on which ranks, where it differed
        ("value", ctypes.c_char_p),
        # in its place
        ("expected", ctypes.c_char_p),
        # the message without operation and rank
        ("reason", ctypes.c_char_p),
    ]


class TraceEvent(ctypes.Structure):
    """What the trace hook is told: an operation has ended on this thread. The peer is - of send, recv, isend, irecv
    the other rank, of a receive from SYNCYTE_ANY the sender (-1 when it starts), of sendrecv the receiver; - of
    collectives with a root (bcast, ibcast, reduce, gather_along, scatter_along) the root, on all ranks; - of a
    halo's exchanges the neighbour if it has just one, which may be the rank itself; - of window operations with a
    target the target; - of a wait that of the operation that was started, of a wait for several requests where
    they all have the same; - -1 of all else. Starting an operation and waiting for it are two events. A wait is
    "request_wait", "request_wait_all", "request_wait_any", or the "request_test" that finds the end; other tests
    and waits for null are no events. Functions that only look something up (a rank, a shape, a pointer) are no
    events, and are not counted by syncyte_stats().
    """

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_trace_event_t) as the library knows it
        ("struct_size", ctypes.c_size_t),
        # for example "comm_allreduce"; valid during the call
        ("operation", ctypes.c_char_p),
        # bytes of this rank's part; of a wait, those of what was started; or 0
        ("bytes", ctypes.c_int64),
        # CLOCK_MONOTONIC at the start, nanoseconds
        ("begin_ns", ctypes.c_int64),
        # CLOCK_MONOTONIC at the end, nanoseconds
        ("end_ns", ctypes.c_int64),
        # how it ended
        ("status", ctypes.c_int32),
        # the one rank it talked to, in its communicator, see there; or -1
        ("peer", ctypes.c_int32),
        # element type of what it moved; of a wait, of what was started; or 0
        ("dtype", ctypes.c_int32),
        # name of the communicator, valid during the call; or null
        ("comm", ctypes.c_char_p),
        # file of a checkpoint, valid during the call; or null
        ("path", ctypes.c_char_p),
    ]


class OperationStats(ctypes.Structure):
    """What this process has called of one operation so far."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_operation_stats_t)
        ("struct_size", ctypes.c_size_t),
        # for example "comm_allreduce"; stays
        ("operation", ctypes.c_char_p),
        # all that have ended; as events of the trace, see syncyte_trace_event_t
        ("calls", ctypes.c_int64),
        # those that failed
        ("errors", ctypes.c_int64),
        # of this rank's parts, where operations have any
        ("bytes", ctypes.c_int64),
        # of the calls that were traced: SYNCYTE_TRACE, or a hook
        ("nanoseconds", ctypes.c_int64),
    ]


class InitOptions(ctypes.Structure):
    """Options of syncyte_init()."""

    _defaults_: dict[str, Any] = {"thread_level": 3}
    _fields_ = [
        # sizeof(syncyte_init_options_t)
        ("struct_size", ctypes.c_size_t),
        # MPI thread level to ask for if we initialise MPI: 0 single, 1 funneled, 2 serialized, 3 multiple
        ("thread_level", ctypes.c_int32),
    ]


class CommOptions(ctypes.Structure):
    """Options of a new communicator."""

    _defaults_: dict[str, Any] = {"check": -1}
    _fields_ = [
        # sizeof(syncyte_comm_options_t)
        ("struct_size", ctypes.c_size_t),
        # for messages; null: made from the parent's name
        ("name", ctypes.c_char_p),
        # -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
        ("check", ctypes.c_int32),
    ]


class Fact(ctypes.Structure):
    """A named number that all ranks must share."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # for the message
        ("name", ctypes.c_char_p),
        # must be equal on all ranks
        ("value", ctypes.c_int64),
    ]


class Topology(ctypes.Structure):
    """How the ranks of a communicator lie on nodes: ranks that share memory form a node."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_topology_t)
        ("struct_size", ctypes.c_size_t),
        # number of nodes
        ("nodes", ctypes.c_int32),
        # this rank's node, 0 to nodes - 1, in order of lowest ranks
        ("node", ctypes.c_int32),
        # ranks on this rank's node
        ("node_size", ctypes.c_int32),
        # this rank's place among them, in order of ranks
        ("node_rank", ctypes.c_int32),
    ]


class CollectiveOptions(ctypes.Structure):
    """Options of a collective operation."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_collective_options_t)
        ("struct_size", ctypes.c_size_t),
        # reserved: null. What is enqueued on a device buffer has ended before the call
        ("stream", ctypes.c_void_p),
        # a further fact that all ranks must share, for libraries on top; 0 by default
        ("fact", ctypes.c_int64),
        # such facts with names for the message, read during the call; null if there are none
        ("facts", ctypes.POINTER(Fact)),
        # number of facts, 0 to 24
        ("fact_count", ctypes.c_int32),
    ]


class MemoryStats(ctypes.Structure):
    """What the pool of recycled buffers holds. Sizes are in bytes."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_memory_stats_t)
        ("struct_size", ctypes.c_size_t),
        # handed out, rounded up to size classes
        ("in_use", ctypes.c_size_t),
        # kept for re-use
        ("cached", ctypes.c_size_t),
        # most that is kept: SYNCYTE_POOL_LIMIT, or a 16th of the machine's memory
        ("limit", ctypes.c_size_t),
        # requests served from the cache
        ("hits", ctypes.c_int64),
        # requests that needed fresh memory
        ("misses", ctypes.c_int64),
    ]


class CacheSizes(ctypes.Structure):
    """Sizes of a new cache, in bytes; rounded up to pages."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_cache_sizes_t)
        ("struct_size", ctypes.c_size_t),
        # 0: SYNCYTE_CACHE_PARAMETER_BYTES, otherwise 1 GiB or what the machine has
        ("parameter_bytes", ctypes.c_int64),
        # 0: SYNCYTE_CACHE_COMPUTATION_BYTES, otherwise 11 GiB or what the machine has
        ("computation_bytes", ctypes.c_int64),
    ]


class CacheMeeting(ctypes.Structure):
    """Where two processes meet, a Unix socket in a folder, and how long they wait."""

    _defaults_: dict[str, Any] = {"timeout": -1}
    _fields_ = [
        # sizeof(syncyte_cache_meeting_t)
        ("struct_size", ctypes.c_size_t),
        # of the socket, at most 60 bytes; null: SYNCYTE_CACHE, otherwise "cache"
        ("name", ctypes.c_char_p),
        # the user's own, mode 0700, made where it is missing; null: SYNCYTE_CACHE_FOLDER, otherwise
        # $XDG_RUNTIME_DIR/syncyte, otherwise $TMPDIR/syncyte-UID
        ("folder", ctypes.c_char_p),
        # a secret that both processes know; zeros: none
        ("nonce", ctypes.c_int64 * 2),
        # seconds to wait; negative: SYNCYTE_CACHE_TIMEOUT, otherwise 10
        ("timeout", ctypes.c_double),
    ]


class MessageOptions(ctypes.Structure):
    """Options of a message."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_message_options_t)
        ("struct_size", ctypes.c_size_t),
        # reserved: null
        ("stream", ctypes.c_void_p),
        # 0 to 7; messages of different channels do not meet: for libraries on top, that send derivatives with the
        # tags of their users
        ("channel", ctypes.c_int32),
        # of a send: any number, which the receiver finds in its status; for libraries on top
        ("label", ctypes.c_int64),
        # SYNCYTE_MESSAGE_ROOM: so many bytes in front of the buffer's first element are the message's, to be written.
        # Device memory that MPI takes (syncyte_mpi_takes()) needs them, and is contiguous; what was enqueued on it
        # has ended before the call. 0: there are none
        ("room", ctypes.c_int32),
    ]


class MessageStatus(ctypes.Structure):
    """Who sent a message that was received."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_message_status_t)
        ("struct_size", ctypes.c_size_t),
        # the sender's rank
        ("source", ctypes.c_int32),
        # its tag
        ("tag", ctypes.c_int32),
        # its options->label
        ("label", ctypes.c_int64),
    ]


class HaloOptions(ctypes.Structure):
    """Options of a halo."""

    _defaults_: dict[str, Any] = {"corners": 1}
    _fields_ = [
        # sizeof(syncyte_halo_options_t)
        ("struct_size", ctypes.c_size_t),
        # 1: corners too; 0: only ghosts that lie beyond the interior along one axis
        ("corners", ctypes.c_int32),
    ]


class ReducerOptions(ctypes.Structure):
    """Options of a reducer."""

    _defaults_: dict[str, Any] = {"scale": 1}
    _fields_ = [
        # sizeof(syncyte_reducer_options_t)
        ("struct_size", ctypes.c_size_t),
        # factor of the sums; 1 / number of ranks gives means
        ("scale", ctypes.c_double),
    ]


class WindowOptions(ctypes.Structure):
    """Options of a new window."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_window_options_t)
        ("struct_size", ctypes.c_size_t),
        # for messages; may be null
        ("name", ctypes.c_char_p),
        # SYNCYTE_MEMORY_HOST
        ("memory", ctypes.c_int32),
    ]


class TensorOptions(ctypes.Structure):
    """Options of a new tensor."""

    _defaults_: dict[str, Any] = {"local_rows": -1}
    _fields_ = [
        # sizeof(syncyte_tensor_options_t)
        ("struct_size", ctypes.c_size_t),
        # for messages; may be null
        ("name", ctypes.c_char_p),
        # this rank's rows; -1: as equal as possible, the remainder on the first ranks. All ranks give -1, or all give
        # their own, which must add up to shape[0]
        ("local_rows", ctypes.c_int64),
        # SYNCYTE_MEMORY_HOST
        ("memory", ctypes.c_int32),
        # may be null; of wrap: set to 1 (a release store) when no rank uses this rank's array any more. It is the
        # caller's and lives as long as the array
        ("released", ctypes.POINTER(ctypes.c_int64)),
    ]


class KvOptions(ctypes.Structure):
    """Options of a new store."""

    _defaults_: dict[str, Any] = {"workers": 1}
    _fields_ = [
        # sizeof(syncyte_kv_options_t)
        ("struct_size", ctypes.c_size_t),
        # for messages; may be null
        ("name", ctypes.c_char_p),
        # of this process, 1 to 65536; ranks may differ
        ("workers", ctypes.c_int32),
    ]


class KvSampling(ctypes.Structure):
    """How keys are sampled. Only keys that have as many values as min_key are drawn."""

    _defaults_: dict[str, Any] = {"scheme": 4, "distribution": 1, "with_replacement": 1, "pool_size": 250, "reuse": 1}
    _fields_ = [
        # sizeof(syncyte_kv_sampling_t)
        ("struct_size", ctypes.c_size_t),
        # when keys are drawn
        ("scheme", ctypes.c_int32),
        # of the keys
        ("distribution", ctypes.c_int32),
        # 0: no key twice in a sample; not with a pool
        ("with_replacement", ctypes.c_int32),
        # first key of the range
        ("min_key", ctypes.c_int64),
        # the key after its last one
        ("max_key", ctypes.c_int64),
        # keys of the pool
        ("pool_size", ctypes.c_int64),
        # how often each key of a pool is given
        ("reuse", ctypes.c_int64),
        # with the rank and the worker's number it says which keys are drawn
        ("seed", ctypes.c_int64),
    ]


class KvWorkerInfo(ctypes.Structure):
    """What a worker has done since it was made."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_kv_worker_info_t)
        ("struct_size", ctypes.c_size_t),
        # of the worker
        ("number", ctypes.c_int64),
        # as kv_worker_clock()
        ("clock", ctypes.c_int64),
        # by pull, pull_if_local and pull_sample; a key that repeats counts each time
        ("pulled_keys", ctypes.c_int64),
        # by push
        ("pushed_keys", ctypes.c_int64),
        # by set
        ("set_keys", ctypes.c_int64),
        # by localize
        ("localized_keys", ctypes.c_int64),
        # by intent and prepare_sample
        ("intended_keys", ctypes.c_int64),
        # intended keys whose window has not ended
        ("active_intents", ctypes.c_int64),
        # samples that have keys left
        ("prepared_samples", ctypes.c_int64),
    ]


class CheckpointEntry(ctypes.Structure):
    """One named tensor to save or load."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_checkpoint_entry_t)
        ("struct_size", ctypes.c_size_t),
        # name, 1 to 1023 bytes; '/' is stored escaped as "%2F", '%' as "%25", and the key "." as "%2E"
        ("key", ctypes.c_char_p),
        # replicated or sharded
        ("layout", ctypes.c_int32),
        # host memory, contiguous; this rank's rows if sharded
        ("data", BufferDescription),
    ]


class CheckpointOptions(ctypes.Structure):
    """Options of save and open."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_checkpoint_options_t)
        ("struct_size", ctypes.c_size_t),
        # bytes per checksum when saving, a power of two from 4096 to 2^30; 0: 4 MiB
        ("block_bytes", ctypes.c_size_t),
        # stored as the attribute "step" when saving; any number
        ("step", ctypes.c_int64),
    ]


# Called after every traced operation, on the thread that ran it; must not call Syncyte.
TraceFn = ctypes.CFUNCTYPE(None, ctypes.POINTER(TraceEvent), ctypes.c_void_p)

# Sets *done to 1 when the operation has ended, without waiting. Returns the operation's status once it has ended; an
# error ends it. Not called again after the end.
RequestPollFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32))

# Waits for the end of the operation and returns its status; SYNCYTE_ERR_INTERRUPTED if it has not ended. Not called
# once poll has told of the end.
RequestWaitFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)

# Frees the context; called once, after the operation has ended: when a test or a wait tells of it, or by finalize.
RequestFreeFn = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

# Writes at which line of its program the application is, as a text of at most `bytes` bytes that ends with a zero
# byte. Called on a thread of its own; may block.
LineFn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)

# Whether the wait in progress shall end: 0 if not.
InterruptFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


CORE: dict[str, Function] = {
    "syncyte_version": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),
            ctypes.POINTER(ctypes.c_int32),
            ctypes.POINTER(ctypes.c_int32),
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("major", "out", True, None, "first number"),
            Parameter("minor", "out", True, None, "second number"),
            Parameter("patch", "out", True, None, "third number"),
            Parameter("abi", "out", True, None, "SYNCYTE_ABI_VERSION of the library"),
        ],
        "Version of the loaded library. Local; callable at any time, from any thread.",
    ),
    "syncyte_last_error": Function(
        ctypes.c_char_p,
        [
        ],
        [
        ],
        (
            "Message of this thread's last failed call. Local; callable at any time. Returns: a string that is"
            " valid until the thread's next failing call; empty if none failed."
        ),
    ),
    "syncyte_last_error_fields": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ErrorFields),
        ],
        [
            Parameter("fields", "in,out", False, None,
                "struct_size set by the caller; the rest is filled; texts are valid until the thread's next "
                "failing call"),
        ],
        "What this thread's last failed call is about. Local; callable at any time.",
    ),
    "syncyte_status_name": Function(
        ctypes.c_char_p,
        [
            ctypes.c_int32,
        ],
        [
            Parameter("status", "in", False, None, "any number"),
        ],
        (
            "Name of a status code, for example \"SYNCYTE_ERR_INDEX\". Local; callable at any time. Returns: a "
            "constant string; \"SYNCYTE_ERR_UNKNOWN\" for a number that is none of ours."
        ),
    ),
    "syncyte_error_set": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,
            ctypes.c_char_p,
        ],
        [
            Parameter("status", "in", False, None, "code, not SYNCYTE_SUCCESS"),
            Parameter("message", "in", False, None, "what, which argument, what to do; the rank is put in front"),
        ],
        (
            "Sets this thread's last error, for libraries on top of Syncyte. Local; callable at any time. "
            "Returns: status, so that a caller can `return syncyte_error_set(...)`."
        ),
    ),
    "syncyte_dtype_size": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_size_t),
        ],
        [
            Parameter("dtype", "in", False, None, "element type"),
            Parameter("bytes", "out", False, None, "size of an element"),
        ],
        "Bytes of one element. Local; callable at any time. Returns: SYNCYTE_ERR_TYPE for an unknown dtype.",
    ),
    "syncyte_dtype_name": Function(
        ctypes.c_char_p,
        [
            ctypes.c_int32,
        ],
        [
            Parameter("dtype", "in", False, None, "element type"),
        ],
        (
            "Name of an element type, for example \"float32\". Local; callable at any time. Returns: a constant "
            "string; \"unknown\" for a number that is none of ours."
        ),
    ),
    "syncyte_buffer_init": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("data", "in", True, None, "first element"),
            Parameter("dtype", "in", False, None, "element type"),
            Parameter("ndim", "in", False, None, "number of dimensions"),
            Parameter("shape", "in", True, "ndim", "extents; may be null when ndim is 0"),
            Parameter("buffer", "out", False, None, "the description"),
        ],
        (
            "Fills a buffer for a contiguous row-major array in host memory. Local; callable at any time. "
            "Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (ndim, a negative extent, more than 2^63 - 1 bytes)."
        ),
    ),
    "syncyte_log": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,
            ctypes.c_char_p,
        ],
        [
            Parameter("level", "in", False, None, "severity"),
            Parameter("message", "in", False, None, "text without a newline"),
        ],
        (
            "Writes a line to stderr, with rank and severity, if SYNCYTE_LOG lets it through. Local, thread-"
            "safe, any time."
        ),
    ),
    "syncyte_trace_set": Function(
        ctypes.c_int32,
        [
            TraceFn,
            ctypes.c_void_p,
        ],
        [
            Parameter("hook", "in", True, None, "function"),
            Parameter("context", "in", True, None, "passed to every call; must outlive the hook"),
        ],
        (
            "Installs the trace hook of the process; null removes it. Local; callable at any time, not during "
            "operations."
        ),
    ),
    "syncyte_stats": Function(
        ctypes.c_int32,
        [
            ctypes.c_int64,
            ctypes.POINTER(OperationStats),
        ],
        [
            Parameter("index", "in", False, None,
                "0, 1, ... until SYNCYTE_ERR_INDEX is answered; operations that were never called are not there"),
            Parameter("stats", "in,out", False, None, "struct_size set by the caller; the rest is filled"),
        ],
        (
            "Counters of an operation. Local, thread-safe, any time. Returns: SYNCYTE_ERR_INDEX beyond the "
            "last one."
        ),
    ),
    "syncyte_request_create": Function(
        ctypes.c_int32,
        [
            RequestPollFn,
            RequestWaitFn,
            RequestFreeFn,
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("poll", "in", False, None, "tests for completion"),
            Parameter("wait", "in", True, None, "waits; when null, poll is called until done"),
            Parameter("free", "in", True, None, "frees context"),
            Parameter("context", "in", True, None, "passed to the callbacks; owned by the request on success"),
            Parameter("request", "out", False, None, "the request"),
        ],
        (
            "Makes a request out of callbacks, for libraries on top of Syncyte. Local. Until the operation has"
            " ended, every wait of Syncyte on this rank calls poll, on any thread that may call MPI. Two "
            "callbacks of one request never run at once. The thread that tests or waits for the request gets "
            "the status, and the message that poll gave to syncyte_error_set(). Callbacks may call Syncyte's "
            "local functions, but must not start or end Syncyte. poll must not wait for another rank: no other"
            " request's poll is called inside of it. syncyte_finalize() (or MPI_Finalize) goes on with active "
            "requests until they have ended, and frees their contexts. Syncyte can be called meanwhile. A "
            "request that has not ended 5 s after all ranks have come to finalize is named in the log and "
            "left: it stays active, and its context is not freed. Returns: SYNCYTE_ERR_UNSUPPORTED in a forked"
            " child."
        ),
    ),
    "syncyte_request_test": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("request", "in,out", False, None, "a request; null counts as ended"),
            Parameter("done", "out", False, None, "1 if it has ended"),
        ],
        (
            "Tests a request without waiting. Local. When it has ended, its status is returned and the handle "
            "is nulled."
        ),
    ),
    "syncyte_request_wait": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("request", "in,out", False, None, "a request; null counts as ended"),
        ],
        (
            "Waits for a request, returns its status, and nulls the handle. Local. Returns: "
            "SYNCYTE_ERR_INTERRUPTED, and the request stays active: see syncyte_interrupt_set(). That holds "
            "for the next two functions too."
        ),
    ),
    "syncyte_request_wait_all": Function(
        ctypes.c_int32,
        [
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("count", "in", False, None, "number of requests"),
            Parameter("requests", "in,out", False, "count", "requests, nulled; null ones are skipped"),
        ],
        "Waits for all requests; returns the first status that is not success, after all have ended. Local.",
    ),
    "syncyte_request_wait_any": Function(
        ctypes.c_int32,
        [
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_void_p),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("count", "in", False, None, "number of requests"),
            Parameter("requests", "in,out", False, "count", "requests; null ones are skipped"),
            Parameter("index", "out", False, None, "which one ended; -1 if all were null"),
        ],
        "Waits until one of the requests ends, returns its status and nulls it. Local.",
    ),
    "syncyte_request_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("request", "in,out", False, None, "a request"),
        ],
        (
            "Frees a request that has ended, and nulls the handle; null is fine. Local. Returns: "
            "SYNCYTE_ERR_BUSY while the operation is active (MPI cannot cancel)."
        ),
    ),
    "syncyte_init": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(InitOptions),
        ],
        [
            Parameter("options", "in", True, None, "null for defaults"),
        ],
        (
            "Starts Syncyte; initialises MPI if nobody has. Collective over MPI_COMM_WORLD; further calls do "
            "nothing. Returns: SYNCYTE_ERR_NOT_INITIALISED if MPI is already finalised. SYNCYTE_ERR_ARGUMENT "
            "on all ranks if one of them has bad options or a bad environment variable; Syncyte is then not "
            "started (MPI is), and may be once that is mended."
        ),
    ),
    "syncyte_finalize": Function(
        ctypes.c_int32,
        [
        ],
        [
        ],
        (
            "Ends Syncyte: frees all windows and communicators, and finalises MPI if syncyte_init() had "
            "initialised it. Collective over MPI_COMM_WORLD: waits for all ranks. Memory that a view still "
            "refers to stays readable. If the application finalises MPI first, this happens inside "
            "MPI_Finalize. Where the process of a rank of this node has ended before, nobody is waited for: an"
            " error is logged, nothing is freed, and MPI is not finalised. Further calls, and calls in a "
            "forked child, do nothing."
        ),
    ),
    "syncyte_watchdog_line_set": Function(
        ctypes.c_int32,
        [
            LineFn,
            ctypes.c_void_p,
        ],
        [
            Parameter("hook", "in", True, None, "function"),
            Parameter("context", "in", True, None, "passed to every call; must outlive the hook"),
        ],
        (
            "Installs what the watchdog's report asks for the line of this rank's program; null removes it. "
            "Where no answer comes within a second the report says \"unknown\". Local; callable at any time."
        ),
    ),
    "syncyte_interrupt_set": Function(
        ctypes.c_int32,
        [
            InterruptFn,
            ctypes.c_void_p,
        ],
        [
            Parameter("hook", "in", True, None,
                "function; may call Syncyte, but must not wait for what the wait is for"),
            Parameter("context", "in", True, None, "passed to every call; must outlive the hook"),
        ],
        (
            "Installs what waits of the calling thread ask ten times a second, for example whether a signal "
            "has come; null removes it. There is one for the process: a later call replaces it. Local; "
            "callable at any time. A wait that is told to end returns SYNCYTE_ERR_INTERRUPTED, on this rank "
            "alone: - a request stays active, and may be waited for again; - a blocking receive is taken back,"
            " or has received a message that was there already; - a blocking send may still arrive: its memory"
            " must stay as it is until syncyte_finalize(); - a halo can be used no longer after a blocking "
            "exchange or accumulate, which neighbours may still wait for; - a collective leaves the ranks of "
            "its communicator out of step: every later collective on it returns SYNCYTE_ERR_INTERRUPTED on "
            "this rank; after one of the world communicator syncyte_finalize() frees nothing, and does not "
            "finalise MPI. With SYNCYTE_CHECK=off collectives wait inside MPI, and do not ask; nor does "
            "syncyte_finalize()."
        ),
    ),
    "syncyte_abort": Function(
        None,
        [
            ctypes.c_int32,
        ],
        [
            Parameter("exit_code", "in", False, None, "what mpirun should return, 1 to 255"),
        ],
        (
            "Ends the whole job at once, as MPI_Abort does; does not return. Callable at any time, on any "
            "rank. In a forked child it ends the child only."
        ),
    ),
    "syncyte_initialized": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("flag", "out", False, None,
                "1 between init and finalize, also in a child forked then; otherwise 0"),
        ],
        "Whether Syncyte is started. Local; callable at any time.",
    ),
    "syncyte_thread_level": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("level", "out", False, None, "the level"),
        ],
        "Thread level that MPI provides: 0 single, 1 funneled, 2 serialized, 3 multiple. Local.",
    ),
    "syncyte_mpi_takes": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("memory", "in", False, None, "kind"),
            Parameter("flag", "out", False, None, "1 or 0"),
        ],
        (
            "Whether MPI takes buffers in a kind of memory: host memory always; a CUDA device's where this "
            "build has CUDA, the machine a device, and the MPI library says that it is CUDA-aware, or "
            "SYNCYTE_CUDA_AWARE=on does for it. Local. Such buffers can be given to what only moves elements: "
            "messages, and broadcasts, gathers, scatters and all-to-alls that wait. They are dense, and cut "
            "along their first axis; where an operation has two on a rank, both are on devices; what was "
            "enqueued on them has ended before the call. Every other operation on a communicator answers "
            "SYNCYTE_ERR_UNSUPPORTED for device memory. Returns: SYNCYTE_ERR_ARGUMENT for an unknown kind."
        ),
    ),
    "syncyte_comm_world": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "out", False, None, "the communicator; to be destroyed as any other handle"),
        ],
        (
            "A reference to the communicator of all ranks. Local. All references have one handle, the same in "
            "every job."
        ),
    ),
    "syncyte_comm_self": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "out", False, None, "the communicator; to be destroyed as any other handle"),
        ],
        (
            "A reference to the communicator of this rank alone. Local. All references have one handle, the "
            "same in every job."
        ),
    ),
    "syncyte_comm_from_fortran": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,
            ctypes.POINTER(CommOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("fortran_handle", "in", False, None, "an intra-communicator"),
            Parameter("options", "in", True, None,
                "null for defaults; what is wrong with them on one rank is every rank's error"),
            Parameter("comm", "out", False, None, "the communicator"),
        ],
        (
            "Makes a communicator from a Fortran handle (MPI_Comm_c2f, comm%MPI_VAL, mpi4py's py2f()), which "
            "is duplicated and stays the caller's. Collective over it. Returns: SYNCYTE_ERR_ARGUMENT for a "
            "null or inter-communicator and for what MPI does not know, on this rank alone: it cannot tell the"
            " others."
        ),
    ),
    "syncyte_comm_to_fortran": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("fortran_handle", "out", False, None, "for MPI_Comm_f2c"),
        ],
        (
            "The MPI communicator behind a handle, as a Fortran handle. Local. It stays Syncyte's: use it only"
            " while comm is alive, and never free it; messages on it do not meet Syncyte's own."
        ),
    ),
    "syncyte_comm_dup": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(CommOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("duplicate", "out", False, None, "the same ranks in the same order"),
        ],
        "Duplicates a communicator. Collective.",
    ),
    "syncyte_comm_split": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(CommOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("color", "in", False, None,
                "ranks of one color form a new communicator; -1: this rank gets a null handle"),
            Parameter("key", "in", False, None, "order within the new communicator; ties by rank"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("part", "out", False, None, "this rank's part"),
        ],
        (
            "Splits a communicator as MPI_Comm_split does. Collective; facts: none (colors and keys may "
            "differ). Returns: SYNCYTE_ERR_ARGUMENT for a color below -1."
        ),
    ),
    "syncyte_comm_split_program": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.POINTER(CommOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("name", "in", True, None,
                "name of this rank's program, 1 to 255 bytes; null: the executable's file name"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("part", "out", False, None, "this program's ranks, in order of ranks"),
        ],
        (
            "Splits by program, for jobs of several programs in one mpirun: ranks that give the same name form"
            " a part. Collective."
        ),
    ),
    "syncyte_comm_node": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(CommOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("node", "out", False, None, "this node's ranks, in order of ranks"),
        ],
        "The ranks of comm that share memory with this rank, as a communicator. Collective.",
    ),
    "syncyte_comm_leaders": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(CommOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("leaders", "out", False, None,
                "one rank per node, whose rank there is its node's number; on the other ranks a null handle, as "
                "with syncyte_comm_split()"),
        ],
        (
            "The first rank of each node (those of comm's ranks whose node_rank is 0), as a communicator. "
            "Collective. What is reduced on the node first and then among leaders crosses the network once per"
            " node."
        ),
    ),
    "syncyte_comm_group": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int32),
            ctypes.c_int64,
            ctypes.c_int32,
            ctypes.POINTER(CommOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None,
                "a communicator; groups of it that threads make at once have different tags"),
            Parameter("ranks", "in", False, "count", "ranks of comm, each once, this rank among them"),
            Parameter("count", "in", False, None, "number of ranks, 1 or more"),
            Parameter("tag", "in", False, None, "0 to 1023"),
            Parameter("options", "in", True, None,
                "null for defaults; what is wrong with them on one rank is every rank's error"),
            Parameter("group", "out", False, None, "the communicator"),
        ],
        (
            "A communicator of some ranks of comm, in the order of the list. Collective over these ranks, "
            "which alone call; all with the same list and tag. It is freed at finalize, so keep it where it is"
            " needed again. Returns: on all ranks of the list: SYNCYTE_ERR_ARGUMENT where it names a rank that"
            " is out of range or twice, and SYNCYTE_ERR_MISMATCH where lists differ, after which comm makes no"
            " further group on any rank named; on this rank alone, which cannot tell the others: "
            "SYNCYTE_ERR_ARGUMENT for a list without this rank, a count or a tag out of range. Lists that "
            "differ are found between ranks that name each other; a rank that never calls is waited for."
        ),
    ),
    "syncyte_comm_topology": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(Topology),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("topology", "in,out", False, None, "struct_size set by the caller; the rest is filled"),
        ],
        "How the ranks lie on nodes. Local.",
    ),
    "syncyte_comm_rank": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("rank", "out", False, None, "the rank"),
        ],
        "This process's number, 0 to size - 1. Local.",
    ),
    "syncyte_comm_size": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("size", "out", False, None, "the number"),
        ],
        "Number of ranks. Local.",
    ),
    "syncyte_comm_check_level": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("level", "out", False, None, "the level that its ranks agreed on"),
        ],
        "How much is compared before data moves: 0 off, 1 on, 2 full (SYNCYTE_CHECK). Local.",
    ),
    "syncyte_comm_sequence": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("number", "out", False, None, "0 on a new communicator"),
        ],
        (
            "Number of collectives that this rank has begun on a communicator. Local. Each agreement compares "
            "it: after a collective that succeeded it is equal on all ranks, until the next begins, and so "
            "identifies that collective."
        ),
    ),
    "syncyte_comm_id": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("id", "out", False, None, "0 or more"),
        ],
        (
            "What identifies a communicator, equal on all its ranks; no other one of this job has it, nor of "
            "another job. Local."
        ),
    ),
    "syncyte_comm_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
        ],
        "Adds a reference. Local, thread-safe, without MPI.",
    ),
    "syncyte_comm_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
        ],
        (
            "Drops a reference. Local, thread-safe, without MPI. With the last one the handle becomes an "
            "error; objects made on the communicator keep it alive, and it is freed at a collective point of "
            "its parent, roots at finalize."
        ),
    ),
    "syncyte_comm_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in,out", False, None, "a communicator"),
        ],
        "Drops a reference and nulls the handle; null is fine. Local, as syncyte_comm_release().",
    ),
    "syncyte_trace_tell": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(TraceEvent),
        ],
        [
            Parameter("comm", "in", False, None,
                "the communicator whose name the event gets; with one that is null or freed the event keeps its "
                "own"),
            Parameter("event", "in", False, None,
                "what the trace is told; of it struct_size and operation are needed"),
        ],
        (
            "Counts and traces an operation of a library on top, as if it were Syncyte's own. Local, thread-"
            "safe. Returns: SYNCYTE_ERR_ARGUMENT."
        ),
    ),
    "syncyte_comm_agree": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_char_p,
            ctypes.c_int32,
            ctypes.POINTER(Fact),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("status", "in", False, None,
                "this rank's own verdict, one of syncyte_status_values; if it is not SYNCYTE_SUCCESS, its last "
                "error is what all ranks are told"),
            Parameter("operation", "in", False, None, "name for messages, equal on all ranks"),
            Parameter("count", "in", False, None, "number of facts, 0 to 32"),
            Parameter("facts", "in", True, "count", "numbers that must be equal on all ranks"),
        ],
        (
            "All ranks learn whether all are well and agree. Collective; facts: operation and those given. "
            "Returns: on all ranks: SYNCYTE_SUCCESS; the highest status of any rank, with that rank's message;"
            " or SYNCYTE_ERR_MISMATCH, with a message that names the odd ranks."
        ),
    ),
    "syncyte_comm_agree_patiently": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_char_p,
            ctypes.c_int32,
            ctypes.POINTER(Fact),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("status", "in", False, None, "as in syncyte_comm_agree()"),
            Parameter("operation", "in", False, None, "name for messages and the watchdog, equal on all ranks"),
            Parameter("count", "in", False, None, "number of facts, 0 to 32"),
            Parameter("facts", "in", True, "count", "numbers that must be equal on all ranks"),
        ],
        (
            "As syncyte_comm_agree(), where a rank may come late because it has long work to do, such as to "
            "write a file: the watchdog shows the wait, with the operation's name, and never ends the job for "
            "it. Collective; facts: as there. Returns: as syncyte_comm_agree()."
        ),
    ),
    "syncyte_collect": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
        ],
        (
            "Frees what all ranks have dropped: tensors, windows and communicators made on comm. Collective. "
            "Creation and sync do the same; call it where memory should go back without either."
        ),
    ),
    "syncyte_comm_barrier": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
        ],
        "Returns when all ranks have called it. Collective.",
    ),
    "syncyte_comm_bcast": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("root", "in", False, None, "whose elements"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("buffer", "in,out", False, None, "contiguous; read on root, written elsewhere"),
        ],
        (
            "Sends root's elements to all ranks. Collective; facts: dtype, number of elements, root, "
            "options->fact. Returns: SYNCYTE_ERR_ARGUMENT (root), SYNCYTE_ERR_SHAPE (not contiguous), "
            "SYNCYTE_ERR_MISMATCH."
        ),
    ),
    "syncyte_comm_allreduce": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", True, None, "contiguous; null: output's contents (in place)"),
            Parameter("op", "in", False, None, "reduction"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "in,out", False, None,
                "contiguous, of input's dtype and number of elements; must not overlap input"),
        ],
        (
            "Reduces element by element over all ranks; all get the same result. Collective; facts: dtype, "
            "number of elements, op, options->fact. float16 and bfloat16 are reduced in float32 and rounded "
            "once. Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have, SYNCYTE_ERR_TYPE, "
            "SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH."
        ),
    ),
    "syncyte_comm_allgather": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", False, None, "contiguous"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", False, None,
                "contiguous, of input's dtype and size times as many elements; must not overlap input"),
        ],
        (
            "Concatenates equal contributions of all ranks, in order of ranks. Collective; facts: dtype, "
            "number of elements, options->fact."
        ),
    ),
    "syncyte_comm_allgatherv": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", False, None, "contiguous, counts[rank] elements"),
            Parameter("counts", "in", False, "counts_length", "elements of every rank, 0 or more, equal on all ranks"),
            Parameter("counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", False, None, "contiguous, the sum of counts elements; must not overlap input"),
        ],
        (
            "Concatenates contributions of different sizes, in order of ranks. Collective; facts: dtype, "
            "counts, options->fact."
        ),
    ),
    "syncyte_comm_alltoallv": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", False, None, "contiguous, the pieces in order of target ranks"),
            Parameter("send_counts", "in", False, "send_counts_length", "elements for every rank"),
            Parameter("send_counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("recv_counts", "in", False, "recv_counts_length", "elements from every rank"),
            Parameter("recv_counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", False, None,
                "contiguous, the pieces in order of source ranks; must not overlap input"),
        ],
        (
            "Every rank sends a piece to every rank. Collective; facts: dtype, options->fact, and that what i "
            "sends to j is what j expects from i (compared as a 64-bit sum of hashes; with SYNCYTE_CHECK=full "
            "entry by entry)."
        ),
    ),
    "syncyte_comm_reduce": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", True, None, "contiguous; null on root: output's contents (in place)"),
            Parameter("op", "in", False, None, "reduction"),
            Parameter("root", "in", False, None, "who gets the result"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "in,out", True, None,
                "on root: contiguous, of input's dtype and number of elements, not overlapping it; elsewhere "
                "neither read nor written, may be null"),
        ],
        (
            "Reduces element by element over all ranks, to root. Collective; facts: dtype, number of elements,"
            " op, root, options->fact. float16 and bfloat16 are reduced in float32 and rounded once. Returns: "
            "SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have."
        ),
    ),
    "syncyte_comm_scan": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", True, None, "contiguous; null: output's contents (in place)"),
            Parameter("op", "in", False, None, "reduction"),
            Parameter("from", "in", False, None, "where the scan begins"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "in,out", False, None,
                "contiguous, of input's dtype and number of elements; must not overlap input"),
        ],
        (
            "Reduces element by element over the ranks from the first (or the last) to this one, its own "
            "included. Collective; facts: dtype, number of elements, op, from, options->fact. Returns: "
            "SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have."
        ),
    ),
    "syncyte_comm_exscan": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", True, None, "contiguous; null: output's contents (in place)"),
            Parameter("op", "in", False, None, "reduction"),
            Parameter("from", "in", False, None, "where the scan begins"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "in,out", False, None,
                "contiguous, of input's dtype and number of elements; must not overlap input"),
        ],
        (
            "As syncyte_comm_scan(), without this rank's own. The rank where it begins gets what op leaves as "
            "it is: 0 for SUM, 1 for PROD, the highest value (or infinity) for MIN, the lowest for MAX. "
            "Collective; facts as there. Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have."
        ),
    ),
    "syncyte_comm_counts": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("count", "in", False, None, "this rank's, 0 or more"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("counts", "out", False, "counts_length", "all ranks', in order of ranks"),
            Parameter("counts_length", "in", False, None, "room there, in numbers: comm's size"),
        ],
        "Collects one number of every rank, usually an extent. Collective; facts: options->fact.",
    ),
    "syncyte_comm_gather_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", False, None, "this rank's part"),
            Parameter("axis", "in", False, None, "along which the parts lie"),
            Parameter("counts", "in", False, "counts_length",
                "extents of the parts along the axis, equal on all ranks"),
            Parameter("counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("root", "in", False, None, "who gets the whole"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", True, None,
                "on root: the whole array, not overlapping input; elsewhere ignored, may be null"),
        ],
        (
            "Joins the ranks' parts along an axis, on root. Collective; facts: dtype, extents but along the "
            "axis, axis, counts, root, options->fact."
        ),
    ),
    "syncyte_comm_allgather_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", False, None, "this rank's part"),
            Parameter("axis", "in", False, None, "along which the parts lie"),
            Parameter("counts", "in", False, "counts_length",
                "extents of the parts along the axis, equal on all ranks"),
            Parameter("counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", False, None, "the whole array, not overlapping input"),
        ],
        (
            "Joins the ranks' parts along an axis, on all ranks. Collective; facts as "
            "syncyte_comm_gather_along(), without root."
        ),
    ),
    "syncyte_comm_scatter_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", True, None, "on root: the whole array; elsewhere ignored, may be null"),
            Parameter("axis", "in", False, None, "along which to cut"),
            Parameter("counts", "in", False, "counts_length",
                "extents of the parts along the axis, equal on all ranks"),
            Parameter("counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("root", "in", False, None, "who has the whole"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", False, None, "this rank's part, not overlapping input"),
        ],
        (
            "Cuts root's array along an axis, a part for every rank. Collective; facts as "
            "syncyte_comm_gather_along()."
        ),
    ),
    "syncyte_comm_reduce_scatter_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", False, None, "a whole array"),
            Parameter("axis", "in", False, None, "along which to cut"),
            Parameter("counts", "in", False, "counts_length",
                "extents of the parts along the axis, equal on all ranks"),
            Parameter("counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("op", "in", False, None, "reduction"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", False, None, "this rank's part, not overlapping input"),
        ],
        (
            "Reduces the ranks' whole arrays element by element, and gives each rank its part of the result. "
            "Collective; facts: dtype, extents, axis, counts, op, options->fact. float16 and bfloat16 are "
            "reduced in float32 and rounded once. Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does "
            "not have."
        ),
    ),
    "syncyte_comm_alltoall_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", False, None, "this rank's part along gather_axis"),
            Parameter("gather_axis", "in", False, None, "along which the parts of the input lie"),
            Parameter("gather_counts", "in", False, "gather_counts_length", "their extents, equal on all ranks"),
            Parameter("gather_counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("scatter_axis", "in", False, None, "along which the parts of the output lie"),
            Parameter("scatter_counts", "in", False, "scatter_counts_length", "their extents, equal on all ranks"),
            Parameter("scatter_counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", False, None, "this rank's part along scatter_axis, not overlapping input"),
        ],
        (
            "Changes the axis along which a whole array is partitioned over the ranks (a parallel "
            "transposition); with equal axes, the extents of its parts. Collective; facts: dtype, extents but "
            "along the axes, both axes, all counts, options->fact. Rank r gives the part of gather_counts[r] "
            "along gather_axis, and gets the part of scatter_counts[r] along scatter_axis; along the other "
            "axis each has the whole."
        ),
    ),
    "syncyte_memory_acquire": Function(
        ctypes.c_int32,
        [
            ctypes.c_size_t,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("bytes", "in", False, None, "size wanted; 0 gives a null pointer"),
            Parameter("memory", "in", False, None, "where"),
            Parameter("device", "in", False, None, "number of the device; 0 for host memory"),
            Parameter("data", "out", False, None, "the buffer; given back by syncyte_memory_release()"),
        ],
        (
            "Takes a buffer from the pool: recycled pages where there are some. Contents are undefined, "
            "alignment 64 bytes. Returns: SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED (no such memory in this "
            "build), SYNCYTE_ERR_ARGUMENT (device)."
        ),
    ),
    "syncyte_memory_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("data", "in", True, None, "what syncyte_memory_acquire() gave; null is fine"),
        ],
        (
            "Gives a buffer back to the pool. Returns: SYNCYTE_ERR_ARGUMENT for a pointer that is not one of "
            "the pool's, or was given back already."
        ),
    ),
    "syncyte_memory_trim": Function(
        ctypes.c_int32,
        [
        ],
        [
        ],
        "Returns all cached buffers to the system.",
    ),
    "syncyte_memory_stats": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(MemoryStats),
        ],
        [
            Parameter("stats", "in,out", False, None, "struct_size set by the caller; the rest is filled"),
        ],
        "Figures of the pool of host buffers.",
    ),
    "syncyte_memory_device_count": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("memory", "in", False, None, "kind"),
            Parameter("count", "out", False, None, "number of devices"),
        ],
        "Number of devices of a kind; 1 for host memory, 0 for CUDA in a build without it or without a driver.",
    ),
    "syncyte_memory_copy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
            ctypes.c_void_p,
        ],
        [
            Parameter("target", "out", False, None,
                "where to; shape and dtype may differ from source, the number of bytes may not"),
            Parameter("source", "in", False, None, "where from; must not overlap target"),
            Parameter("stream", "in", True, None, "a cudaStream_t; null waits for completion"),
        ],
        (
            "Copies bytes between contiguous buffers of any memory kinds; returns when the copy is done or, "
            "with a stream, when it is queued. Returns: SYNCYTE_ERR_SHAPE (different sizes, not contiguous), "
            "SYNCYTE_ERR_UNSUPPORTED."
        ),
    ),
    "syncyte_cache_allocate": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(CacheSizes),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("sizes", "in", True, None, "null for defaults"),
            Parameter("cache", "out", False, None, "the cache"),
        ],
        (
            "Allocates a cache of zeros, whose pages the system gives when they are first touched. Default "
            "sizes are scaled down, with a warning in the log, where the machine or its control group has "
            "less. Returns: SYNCYTE_ERR_MEMORY (sizes that were chosen are more than the machine has), "
            "SYNCYTE_ERR_ARGUMENT."
        ),
    ),
    "syncyte_cache_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("cache", "in", False, None, "a cache"),
        ],
        "Adds a reference.",
    ),
    "syncyte_cache_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("cache", "in", False, None, "a cache"),
        ],
        "Drops a reference. Slices keep the memory until they are cleared.",
    ),
    "syncyte_cache_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("cache", "in,out", False, None, "a cache"),
        ],
        "Drops a reference and nulls the handle; null is fine.",
    ),
    "syncyte_cache_send": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(CacheMeeting),
        ],
        [
            Parameter("cache", "in", False, None, "a cache; stays this process's too"),
            Parameter("meeting", "in", True, None, "where; null for defaults"),
        ],
        (
            "Hands a cache to one process of the same user, which calls syncyte_cache_receive() before or "
            "after. Waits for it. Returns: SYNCYTE_ERR_TIMEOUT (no process has come), SYNCYTE_ERR_BUSY "
            "(another process sends under this name), SYNCYTE_ERR_ARGUMENT (a folder that is another user's or"
            " open to others; a name), SYNCYTE_ERR_IO, SYNCYTE_ERR_INTERRUPTED."
        ),
    ),
    "syncyte_cache_receive": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(CacheMeeting),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("meeting", "in", True, None, "where; null for defaults"),
            Parameter("cache", "out", False, None, "the cache"),
        ],
        (
            "Takes a cache that another process of the same user sends. Waits for it. Returns: "
            "SYNCYTE_ERR_TIMEOUT (no process has sent one), SYNCYTE_ERR_ARGUMENT (as for syncyte_cache_send();"
            " another nonce than the sender's), SYNCYTE_ERR_FORMAT and SYNCYTE_ERR_VERSION (what came is no "
            "cache, or another version's), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_IO, SYNCYTE_ERR_INTERRUPTED."
        ),
    ),
    "syncyte_cache_sizes": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("cache", "in", False, None, "a cache"),
            Parameter("parameter_bytes", "out", False, None, "from offset 0 on"),
            Parameter("computation_bytes", "out", False, None, "from offset parameter_bytes on"),
        ],
        "Sizes of a cache's parts, in bytes.",
    ),
    "syncyte_cache_data": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("cache", "in", False, None, "a cache"),
            Parameter("data", "out", False, None,
                "its memory, valid while this process has a reference or a slice of the cache"),
        ],
        "First byte of a cache in this process, at a multiple of 2 MiB; another one in other processes.",
    ),
    "syncyte_cache_touch": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.c_int64,
        ],
        [
            Parameter("cache", "in", False, None, "a cache"),
            Parameter("offset", "in", False, None, "0 or more"),
            Parameter("size", "in", False, None, "bytes from offset on, 0 or more"),
        ],
        (
            "Makes bytes resident in this process, in huge pages where the machine has some, so that first "
            "uses do not wait for pages. Contents stay. Returns: SYNCYTE_ERR_ARGUMENT (outside of the cache), "
            "SYNCYTE_ERR_MEMORY (more than the machine has)."
        ),
    ),
    "syncyte_cache_insert": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.c_int64,
        ],
        [
            Parameter("cache", "in", False, None, "a cache"),
            Parameter("offset", "in", False, None, "a multiple of 512"),
            Parameter("size", "in", False, None, "bytes from offset on, a multiple of 512, at least that"),
        ],
        (
            "The calling thread takes blocks from these bytes, until it inserts another slice or clears. "
            "Returns: SYNCYTE_ERR_ARGUMENT (outside of the cache, not a multiple), SYNCYTE_ERR_BUSY (overlaps "
            "a slice that a thread of this process has inserted and not cleared, or that has blocks of an "
            "ended thread or of a forked child's parent)."
        ),
    ),
    "syncyte_cache_insert_for_parameter": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("cache", "in", False, None, "a cache"),
        ],
        (
            "Inserts the part for parameters: syncyte_cache_insert(cache, 0, parameter_bytes). Returns: "
            "SYNCYTE_ERR_BUSY."
        ),
    ),
    "syncyte_cache_insert_for_computation": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("cache", "in", False, None, "a cache"),
        ],
        (
            "Inserts the part for computation: syncyte_cache_insert(cache, parameter_bytes, "
            "computation_bytes). Returns: SYNCYTE_ERR_BUSY."
        ),
    ),
    "syncyte_cache_clear": Function(
        ctypes.c_int32,
        [
        ],
        [
        ],
        (
            "Forgets all slices that the calling thread has inserted, of all caches. Returns: "
            "SYNCYTE_ERR_BUSY, naming offsets and sizes, while blocks of them are used: nothing has changed "
            "then."
        ),
    ),
    "syncyte_cache_acquire": Function(
        ctypes.c_int32,
        [
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("bytes", "in", False, None, "0 or more; rounded up to a multiple of 512, at least that"),
            Parameter("data", "out", False, None,
                "a block at a multiple of 512 bytes; null where the thread has inserted no slice"),
        ],
        (
            "Takes a block from the slice that the calling thread has inserted last. A full slice is an error:"
            " nothing comes from elsewhere. Returns: SYNCYTE_ERR_MEMORY (the slice has no room), "
            "SYNCYTE_ERR_ARGUMENT."
        ),
    ),
    "syncyte_cache_holds": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("data", "in", True, None, "any pointer"),
            Parameter("holds", "out", False, None, "1 if so, otherwise 0"),
        ],
        "Whether a pointer lies in a slice that a thread of this process has inserted.",
    ),
    "syncyte_cache_free": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("data", "in", True, None, "what syncyte_cache_acquire() gave; null is fine"),
        ],
        (
            "Gives a block back, from any thread. Returns: SYNCYTE_ERR_ARGUMENT for another pointer, or one "
            "that was given back already."
        ),
    ),
    "syncyte_message_highest_tag": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("tag", "out", False, None, "at least 4094"),
        ],
        "Highest tag of a message. Local.",
    ),
    "syncyte_comm_send": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(MessageOptions),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("buffer", "in", False, None, "what to send; any strides"),
            Parameter("dest", "in", False, None, "rank of the receiver, or SYNCYTE_PROC_NULL"),
            Parameter("tag", "in", False, None, "0 to syncyte_message_highest_tag()"),
            Parameter("options", "in", True, None, "null for defaults"),
        ],
        (
            "Sends an array, and returns when its memory may be used again; the receiver may not have it yet. "
            "Local. Returns: SYNCYTE_ERR_ARGUMENT (dest, tag)."
        ),
    ),
    "syncyte_comm_recv": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(MessageOptions),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(MessageStatus),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("source", "in", False, None, "rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL"),
            Parameter("tag", "in", False, None, "the sender's, or SYNCYTE_ANY (in channel 0)"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("buffer", "in,out", False, None, "where to; any strides, but 0 only where the extent is 1"),
            Parameter("status", "in,out", True, None, "struct_size set by the caller; the rest is filled"),
        ],
        (
            "Receives an array. Local; waits for the message. Returns: SYNCYTE_ERR_ARGUMENT (source, tag), "
            "SYNCYTE_ERR_MISMATCH (dtype, shape)."
        ),
    ),
    "syncyte_comm_isend": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(MessageOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("buffer", "in", False, None,
                "what to send; its memory must stay, unchanged, until the request has ended"),
            Parameter("dest", "in", False, None, "rank of the receiver, or SYNCYTE_PROC_NULL"),
            Parameter("tag", "in", False, None, "0 to syncyte_message_highest_tag()"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("request", "out", False, None, "ends when the memory may be used again"),
        ],
        "Starts to send an array. Local; does not wait. Returns: SYNCYTE_ERR_ARGUMENT (dest, tag).",
    ),
    "syncyte_comm_irecv": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(MessageOptions),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(MessageStatus),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("source", "in", False, None, "rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL"),
            Parameter("tag", "in", False, None, "the sender's, or SYNCYTE_ANY (in channel 0)"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("buffer", "in", False, None,
                "where to; its memory must stay, and may not be read, until the request has ended"),
            Parameter("status", "in,out", True, None,
                "struct_size set by the caller; filled when the request ends, and must stay until then"),
            Parameter("request", "out", False, None, "ends when the array is there"),
        ],
        (
            "Starts to receive an array. Local; does not wait. The request ends with syncyte_comm_recv()'s "
            "status. Returns: SYNCYTE_ERR_ARGUMENT (source, tag)."
        ),
    ),
    "syncyte_comm_sendrecv": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(MessageOptions),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(MessageStatus),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("send_buffer", "in", False, None, "what to send; any strides"),
            Parameter("dest", "in", False, None, "rank of the receiver, or SYNCYTE_PROC_NULL"),
            Parameter("send_tag", "in", False, None, "0 to syncyte_message_highest_tag()"),
            Parameter("source", "in", False, None, "rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL"),
            Parameter("recv_tag", "in", False, None, "the sender's, or SYNCYTE_ANY (in channel 0)"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("recv_buffer", "in,out", False, None,
                "where to; strides as in syncyte_comm_recv(); must not overlap send_buffer"),
            Parameter("status", "in,out", True, None, "struct_size set by the caller; the rest is filled"),
        ],
        (
            "Sends one array and receives another, whoever comes first. Local; waits for both. Returns: as "
            "syncyte_comm_send() and syncyte_comm_recv()."
        ),
    ),
    "syncyte_comm_ibcast": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("root", "in", False, None, "whose elements"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("buffer", "in,out", False, None, "contiguous; read on root, written elsewhere"),
            Parameter("request", "out", False, None, "ends when buffer may be used again"),
        ],
        "Starts syncyte_comm_bcast(). Collective; does not wait. Facts as there.",
    ),
    "syncyte_comm_iallreduce": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", True, None, "contiguous; null: output's contents (in place)"),
            Parameter("op", "in", False, None, "reduction"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "in,out", False, None,
                "contiguous, of input's dtype and number of elements; must not overlap input"),
            Parameter("request", "out", False, None, "ends when output holds the result"),
        ],
        (
            "Starts syncyte_comm_allreduce(). Collective; does not wait. Facts as there. Returns: "
            "SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have."
        ),
    ),
    "syncyte_comm_iallgather_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", False, None, "this rank's part"),
            Parameter("axis", "in", False, None, "along which the parts lie"),
            Parameter("counts", "in", False, "counts_length",
                "extents of the parts along the axis, equal on all ranks"),
            Parameter("counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", False, None, "the whole array, not overlapping input"),
            Parameter("request", "out", False, None, "ends when output holds the result"),
        ],
        "Starts syncyte_comm_allgather_along(). Collective; does not wait. Facts as there.",
    ),
    "syncyte_comm_ireduce_scatter_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", False, None, "a whole array"),
            Parameter("axis", "in", False, None, "along which to cut"),
            Parameter("counts", "in", False, "counts_length",
                "extents of the parts along the axis, equal on all ranks"),
            Parameter("counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("op", "in", False, None, "reduction"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", False, None, "this rank's part, not overlapping input"),
            Parameter("request", "out", False, None, "ends when output holds the result"),
        ],
        (
            "Starts syncyte_comm_reduce_scatter_along(). Collective; does not wait. Facts as there. Returns: "
            "SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have."
        ),
    ),
    "syncyte_comm_ialltoall_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("input", "in", False, None, "this rank's part along gather_axis"),
            Parameter("gather_axis", "in", False, None, "along which the parts of the input lie"),
            Parameter("gather_counts", "in", False, "gather_counts_length", "their extents, equal on all ranks"),
            Parameter("gather_counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("scatter_axis", "in", False, None, "along which the parts of the output lie"),
            Parameter("scatter_counts", "in", False, "scatter_counts_length", "their extents, equal on all ranks"),
            Parameter("scatter_counts_length", "in", False, None, "number of them: comm's size"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("output", "out", False, None, "this rank's part along scatter_axis, not overlapping input"),
            Parameter("request", "out", False, None, "ends when output holds the result"),
        ],
        "Starts syncyte_comm_alltoall_along(). Collective; does not wait. Facts as there.",
    ),
    "syncyte_comm_ifail": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_char_p,
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("status", "in", False, None, "of the error, not SYNCYTE_SUCCESS"),
            Parameter("operation", "in", False, None, "for messages, for example \"comm_iallreduce\""),
        ],
        (
            "Takes part in the agreement of a non-blocking collective that this rank cannot start, for "
            "libraries on top whose own checks have failed: the others get the error from test or wait. "
            "Collective, in place of the start; does not wait. The error is the thread's last "
            "(syncyte_error_set()). Does nothing with SYNCYTE_CHECK=off."
        ),
    ),
    "syncyte_cart_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int32),
            ctypes.POINTER(ctypes.c_int32),
            ctypes.POINTER(CommOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("ndim", "in", False, None, "dimensions of the grid, 1 to SYNCYTE_MAX_NDIM"),
            Parameter("extents", "in", False, "ndim",
                "places along each dimension; 0: chosen, so that all ranks have a place and the chosen extents "
                "are as even as possible (MPI_Dims_create)"),
            Parameter("periods", "in", True, "ndim",
                "for each dimension 1 where the last place's neighbour is the first one, otherwise 0; null: 0 "
                "everywhere"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("cart", "out", False, None, "the ranks on the grid; a null handle for those beyond its places"),
        ],
        (
            "Puts the first ranks of a communicator on a grid, in their order. Collective; facts: ndim, "
            "extents, periods. Returns: SYNCYTE_ERR_ARGUMENT for more places than ranks, and where extents "
            "cannot be chosen because the number of ranks is no multiple of the given ones."
        ),
    ),
    "syncyte_cart_ndim": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("cart", "in", False, None, "a communicator"),
            Parameter("ndim", "out", False, None, "the number"),
        ],
        "Number of dimensions of the grid; 0 for a communicator that is not Cartesian. Local.",
    ),
    "syncyte_cart_grid": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int32),
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("cart", "in", False, None, "a Cartesian communicator"),
            Parameter("ndim", "in", False, None, "its number of dimensions"),
            Parameter("extents", "out", True, "ndim", "places along each dimension"),
            Parameter("periods", "out", True, "ndim", "1 for a periodic dimension, otherwise 0"),
        ],
        (
            "The grid. Local. Returns: SYNCYTE_ERR_ARGUMENT if cart is not Cartesian or has another number of "
            "dimensions."
        ),
    ),
    "syncyte_cart_coordinates": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("cart", "in", False, None, "a Cartesian communicator"),
            Parameter("rank", "in", False, None, "one of its ranks"),
            Parameter("ndim", "in", False, None, "its number of dimensions"),
            Parameter("coordinates", "out", False, "ndim", "0 to the extents - 1"),
        ],
        "Where a rank lies. Local. Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, rank, ndim).",
    ),
    "syncyte_cart_rank": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int32),
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("cart", "in", False, None, "a Cartesian communicator"),
            Parameter("ndim", "in", False, None, "its number of dimensions"),
            Parameter("coordinates", "in", False, "ndim", "any numbers; they wrap round in periodic dimensions"),
            Parameter("rank", "out", False, None,
                "the rank; SYNCYTE_PROC_NULL beyond the edge of a dimension that is not periodic"),
        ],
        "Who lies at some coordinates. Local. Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, ndim).",
    ),
    "syncyte_cart_shift": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int32),
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("cart", "in", False, None, "a Cartesian communicator"),
            Parameter("dimension", "in", False, None, "0 to ndim - 1"),
            Parameter("displacement", "in", False, None, "how many places; negative: down"),
            Parameter("source", "out", True, None, "who sends to this rank; SYNCYTE_PROC_NULL beyond an edge"),
            Parameter("dest", "out", True, None, "who receives from this rank; SYNCYTE_PROC_NULL beyond an edge"),
        ],
        (
            "This rank's neighbours along a dimension, for a shift in which all ranks send `displacement` "
            "places up. Local. Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, dimension)."
        ),
    ),
    "syncyte_halo_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(ctypes.c_int32),
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(HaloOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("cart", "in", False, None, "a Cartesian communicator, which the halo keeps alive"),
            Parameter("dtype", "in", False, None, "element type of the arrays"),
            Parameter("ndim", "in", False, None, "dimensions of the arrays, at least those of the grid"),
            Parameter("shape", "in", False, "ndim", "extents of this rank's arrays, ghosts included"),
            Parameter("axes", "in", True, "axes_length",
                "which axis each dimension of the grid cuts, negative ones from the end; null: 0, 1, ..."),
            Parameter("axes_length", "in", False, None,
                "number of them: the grid's dimensions; ignored if axes is null"),
            Parameter("low", "in", False, "low_length", "ghost cells at the low end of each of these axes, 0 or more"),
            Parameter("low_length", "in", False, None, "number of them: the grid's dimensions"),
            Parameter("high", "in", False, "high_length", "ghost cells at the high end"),
            Parameter("high_length", "in", False, None, "number of them: the grid's dimensions"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("halo", "out", False, None, "the halo"),
        ],
        (
            "Makes a halo. Collective over cart; facts: dtype, ndim, axes, low, high, options->corners, "
            "extents along the other axes. Extents along a cut axis may differ, but must be equal on ranks "
            "with the same place along that dimension. Returns: SYNCYTE_ERR_ARGUMENT (cart is not Cartesian, "
            "axes, widths), SYNCYTE_ERR_SHAPE (no room for the ghosts; an interior smaller than what a "
            "neighbour's ghosts show of it), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MISMATCH."
        ),
    ),
    "syncyte_halo_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("halo", "in", False, None, "a halo"),
        ],
        "Adds a reference. Local, thread-safe, without MPI.",
    ),
    "syncyte_halo_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("halo", "in", False, None, "a halo"),
        ],
        (
            "Drops a reference; with the last one the handle becomes an error. Local, thread-safe, without "
            "MPI: unlike a window's, a halo's memory is this rank's own and goes at once, or when its exchange"
            " under way has ended."
        ),
    ),
    "syncyte_halo_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("halo", "in,out", False, None, "a halo"),
        ],
        "Drops a reference and nulls the handle; null is fine. Local, as syncyte_halo_release().",
    ),
    "syncyte_halo_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("halo", "in", False, None, "a halo"),
            Parameter("array", "out", False, None, "dtype and shape, without memory"),
            Parameter("interior", "out", True, None,
                "the interior: its shape; data is the offset of its first cell in a contiguous array, in bytes, "
                "and strides are those of a contiguous array"),
        ],
        "The arrays a halo is for. Local.",
    ),
    "syncyte_halo_comm": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("halo", "in", False, None, "a halo"),
            Parameter("cart", "out", False, None, "a new reference to it, to be destroyed as any other handle"),
        ],
        "The communicator of a halo. Local.",
    ),
    "syncyte_halo_exchange": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("halo", "in", False, None, "a halo"),
            Parameter("array", "in,out", False, None,
                "of the halo's dtype and shape; any strides, but 0 only where the extent is 1"),
        ],
        (
            "Fills the ghosts. All ranks of the communicator call it; waits for the neighbours only. Returns: "
            "SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE; the status of a neighbour that failed; SYNCYTE_ERR_MISMATCH "
            "where a neighbour does something else with the halo; SYNCYTE_ERR_BUSY while another exchange of "
            "this halo is under way."
        ),
    ),
    "syncyte_halo_accumulate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("halo", "in", False, None, "a halo"),
            Parameter("array", "in,out", False, None,
                "of the halo's dtype and shape; any strides, but 0 only where the extent is 1"),
        ],
        (
            "The adjoint of syncyte_halo_exchange(): adds the ghosts to the cells they show, and sets them to "
            "0. All ranks of the communicator call it; waits for the neighbours only. bool is added as a "
            "logical or, 16-bit floats round at every addition. Returns: as syncyte_halo_exchange()."
        ),
    ),
    "syncyte_halo_transfer": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(CollectiveOptions),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("halo", "in", False, None, "a halo"),
            Parameter("adjoint", "in", False, None,
                "0: as syncyte_halo_exchange(), with which it may meet; 1: as syncyte_halo_accumulate()"),
            Parameter("options", "in", True, None,
                "null for defaults; fact_count at most 5. Facts that a neighbour does not give are 0"),
            Parameter("array", "in,out", False, None,
                "of the halo's dtype and shape; any strides, but 0 only where the extent is 1"),
        ],
        (
            "Exchanges or accumulates, and compares facts with the neighbours: for libraries on top, whose "
            "operation on a neighbour must be the same one. All ranks of the communicator call it; waits for "
            "the neighbours only. Returns: as syncyte_halo_exchange(); SYNCYTE_ERR_MISMATCH on all ranks that "
            "have a neighbour with another fact, with a message that names the fact and both ranks. A rank "
            "learns of a neighbour's facts where its own ghosts show cells of that neighbour (adjoint: where "
            "that neighbour's show its own)."
        ),
    ),
    "syncyte_halo_sequence": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("halo", "in", False, None, "a halo"),
            Parameter("number", "out", False, None, "0 for a new halo"),
        ],
        (
            "Number of exchanges and accumulates that this rank has begun. Local. Neighbours compare it; so it"
            " identifies the last one."
        ),
    ),
    "syncyte_halo_iexchange": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("halo", "in", False, None, "a halo"),
            Parameter("array", "in", False, None,
                "of the halo's dtype and shape; its memory must stay until the request has ended, and until then "
                "ghosts must not be read, nor interior cells that ghosts show be written"),
            Parameter("request", "out", False, None, "ends with syncyte_halo_exchange()'s status"),
        ],
        (
            "Starts to fill the ghosts; does not wait. With corners, later dimensions start when the request "
            "is tested or waited for. One exchange of a halo is under way at a time. Returns: SYNCYTE_ERR_BUSY"
            " while another exchange of this halo is under way."
        ),
    ),
    "syncyte_halo_iaccumulate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("halo", "in", False, None, "a halo"),
            Parameter("array", "in", False, None,
                "of the halo's dtype and shape; its memory must stay, and may not be read or written, until the "
                "request has ended"),
            Parameter("request", "out", False, None, "ends with syncyte_halo_accumulate()'s status"),
        ],
        (
            "Starts to accumulate; does not wait. As syncyte_halo_iexchange(). Returns: SYNCYTE_ERR_BUSY while"
            " another exchange of this halo is under way."
        ),
    ),
    "syncyte_reducer_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int32),
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(ReducerOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator, which the reducer keeps alive"),
            Parameter("buckets", "in", False, None, "number of buckets, 1 or more"),
            Parameter("dtypes", "in", False, "buckets",
                "element types, floating-point or complex; 16-bit floats are summed in float32 and rounded once"),
            Parameter("elements", "in", False, "buckets",
                "numbers of elements, 0 or more; all buckets together have at most 2^56 bytes"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("reducer", "out", False, None, "the reducer"),
        ],
        (
            "Makes a reducer with zeroed buckets. Collective; facts: buckets, dtypes, elements, "
            "options->scale. Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MEMORY (all ranks' "
            "buckets of a node together do not fit), SYNCYTE_ERR_MISMATCH."
        ),
    ),
    "syncyte_reducer_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("reducer", "in", False, None, "a reducer"),
        ],
        "Adds a reference. Local, thread-safe, without MPI.",
    ),
    "syncyte_reducer_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("reducer", "in", False, None, "a reducer"),
        ],
        (
            "Drops a reference. With the last one the memory of the buckets goes and the round is given up, "
            "without waiting: other ranks may drop theirs earlier or later. Local, thread-safe, without MPI."
        ),
    ),
    "syncyte_reducer_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("reducer", "in,out", False, None, "a reducer"),
        ],
        "Drops a reference and nulls the handle; null is fine. Local, as syncyte_reducer_release().",
    ),
    "syncyte_reducer_bucket": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("reducer", "in", False, None, "a reducer"),
            Parameter("bucket", "in", False, None, "0 to buckets - 1"),
            Parameter("buffer", "out", False, None, "data, dtype and the one extent; the memory is the reducer's"),
        ],
        (
            "This rank's memory of a bucket. Local. Between the start of the bucket and the end of the round "
            "it must be neither read nor written; at all other times it is this rank's own. Returns: "
            "SYNCYTE_ERR_ARGUMENT for a bucket that does not exist."
        ),
    ),
    "syncyte_reducer_start": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
        ],
        [
            Parameter("reducer", "in", False, None, "a reducer"),
            Parameter("bucket", "in", False, None, "0 to buckets - 1"),
        ],
        (
            "This rank's bucket is full. All ranks start all buckets in each round, in any order; does not "
            "wait for other ranks, but works on the sums of what they have started. Returns: SYNCYTE_ERR_BUSY "
            "if this rank has started it in this round already; SYNCYTE_ERR_ARGUMENT for a bucket that does "
            "not exist."
        ),
    ),
    "syncyte_reducer_progress": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("reducer", "in", False, None, "a reducer"),
        ],
        "Works on the sums of what all have started, without waiting. Local.",
    ),
    "syncyte_reducer_wait": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("reducer", "in", False, None, "a reducer"),
        ],
        (
            "Waits for the end of the round: all buckets hold the sums. Collective. Returns: "
            "SYNCYTE_ERR_ARGUMENT if this rank has not started all buckets: the round goes on; "
            "SYNCYTE_ERR_MISMATCH where a rank has given the round up: it is over, and what the buckets hold "
            "is undefined."
        ),
    ),
    "syncyte_reducer_give_up": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("reducer", "in", False, None, "a reducer"),
        ],
        (
            "Gives up the round: syncyte_reducer_wait() answers SYNCYTE_ERR_MISMATCH with this rank's number "
            "on all ranks. This rank has to call it too. Local, does not wait; the buckets stay untouched "
            "until then."
        ),
    ),
    "syncyte_rows_gather": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("table", "in", False, None,
                "1 or more dimensions, any strides, in host memory; what follows the first dimension is a row"),
            Parameter("index", "in", False, None, "int32 or int64, contiguous, any number of dimensions"),
            Parameter("output", "out", False, None,
                "contiguous, index's elements times a row's elements; must not overlap the table"),
        ],
        (
            "Reads rows of an array: output[i] = table[index[i]], converted where the types differ. Local, "
            "without MPI; callable at any time, by several threads at once. Rows may repeat. float16, "
            "bfloat16, float32 and float64 are converted into each other, rounded to nearest even; float64 "
            "becomes 16 bits wide by way of float32. Returns: SYNCYTE_ERR_INDEX (names the first index that is"
            " out of range and its position; nothing is written), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, "
            "SYNCYTE_ERR_UNSUPPORTED for device memory."
        ),
    ),
    "syncyte_window_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.POINTER(WindowOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "its ranks"),
            Parameter("bytes", "in", False, None, "this rank's bytes"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("window", "out", False, None, "the window"),
        ],
        (
            "Makes a window. Collective; sizes may differ between ranks and may be 0. Returns: "
            "SYNCYTE_ERR_MEMORY if the node's ranks together ask for more than the machine or its cgroup has "
            "available, SYNCYTE_ERR_UNSUPPORTED if comm spans several nodes and this MPI has no one-sided "
            "communication between them."
        ),
    ),
    "syncyte_window_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("window", "in", False, None, "a window"),
        ],
        "Adds a reference. Local, thread-safe, without MPI.",
    ),
    "syncyte_window_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("window", "in", False, None, "a window"),
        ],
        (
            "Drops a reference. Local, thread-safe, without MPI. Memory is freed at a collective point once "
            "all ranks have dropped the window."
        ),
    ),
    "syncyte_window_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("window", "in,out", False, None, "a window"),
        ],
        "Drops a reference and nulls the handle; null is fine. Local.",
    ),
    "syncyte_window_size": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_size_t),
        ],
        [
            Parameter("window", "in", False, None, "a window"),
            Parameter("rank", "in", False, None, "whose part"),
            Parameter("bytes", "out", False, None, "its size"),
        ],
        "Size of a rank's part. Local.",
    ),
    "syncyte_window_pointer": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("window", "in", False, None, "a window"),
            Parameter("rank", "in", False, None, "whose part"),
            Parameter("data", "out", False, None, "its first byte"),
        ],
        (
            "Address of a rank's part, if it lies on this node. Local. Valid while the window is referred to. "
            "Returns: SYNCYTE_ERR_UNSUPPORTED for a rank on another node."
        ),
    ),
    "syncyte_window_put": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_size_t,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("window", "in", False, None, "a window"),
            Parameter("rank", "in", False, None, "target"),
            Parameter("offset", "in", False, None, "where, in bytes from the start of its part"),
            Parameter("source", "in", False, None, "contiguous"),
        ],
        (
            "Writes elements to a rank. The buffer may be re-used on return; visible at the target after "
            "flush. Returns: SYNCYTE_ERR_INDEX beyond the end, SYNCYTE_ERR_ARGUMENT (rank), SYNCYTE_ERR_SHAPE."
        ),
    ),
    "syncyte_window_get": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_size_t,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("window", "in", False, None, "a window"),
            Parameter("rank", "in", False, None, "target"),
            Parameter("offset", "in", False, None, "where, in bytes from the start of its part"),
            Parameter("target", "out", False, None, "contiguous"),
        ],
        "Reads elements of a rank; they are there on return.",
    ),
    "syncyte_window_accumulate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_size_t,
            ctypes.c_int32,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("window", "in", False, None, "a window"),
            Parameter("rank", "in", False, None, "target"),
            Parameter("offset", "in", False, None, "where, in bytes; a multiple of the element's size"),
            Parameter("op", "in", False, None,
                "SYNCYTE_OP_SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR or REPLACE"),
            Parameter("source", "in", False, None, "contiguous"),
        ],
        (
            "Combines elements with those at a rank; atomic per element with other accumulates, fetch-ops and "
            "compare-swaps. The buffer may be re-used on return; visible at the target after flush. Returns: "
            "SYNCYTE_ERR_UNSUPPORTED for an op or dtype without atomics."
        ),
    ),
    "syncyte_window_fetch_op": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_size_t,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ],
        [
            Parameter("window", "in", False, None, "a window"),
            Parameter("rank", "in", False, None, "target"),
            Parameter("offset", "in", False, None, "where, in bytes; a multiple of the element's size"),
            Parameter("dtype", "in", False, None, "element type"),
            Parameter("op", "in", False, None, "as in accumulate"),
            Parameter("operand", "in", False, None, "one element"),
            Parameter("previous", "out", False, None, "one element"),
        ],
        "Combines one element and returns what was there before; atomic, sequentially consistent on a node.",
    ),
    "syncyte_window_compare_swap": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_size_t,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ],
        [
            Parameter("window", "in", False, None, "a window"),
            Parameter("rank", "in", False, None, "target"),
            Parameter("offset", "in", False, None, "where, in bytes; a multiple of the element's size"),
            Parameter("dtype", "in", False, None, "an integer type or bool"),
            Parameter("expected", "in", False, None, "one element"),
            Parameter("desired", "in", False, None, "one element"),
            Parameter("previous", "out", False, None, "one element; equal to expected if the exchange took place"),
        ],
        "Writes desired if the element equals expected, and returns what was there before; atomic.",
    ),
    "syncyte_window_lock": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
        ],
        [
            Parameter("window", "in", False, None, "a window"),
            Parameter("rank", "in", False, None, "whose lock"),
            Parameter("kind", "in", False, None, "shared or exclusive"),
        ],
        (
            "Waits for a rank's lock. Locks are advisory: they keep out only others that lock. Not recursive. "
            "Nobody queues: an exclusive lock may wait for as long as others keep sharing. What cannot be seen"
            " to be dead (a holder on another node, one that shares) is waited for; the watchdog "
            "(SYNCYTE_WATCHDOG) ends a wait beyond its limit. Returns: SYNCYTE_ERR_PEER_DIED if the holder of "
            "an exclusive lock on this node died, SYNCYTE_ERR_BUSY if this rank holds it already."
        ),
    ),
    "syncyte_window_unlock": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
        ],
        [
            Parameter("window", "in", False, None, "a window"),
            Parameter("rank", "in", False, None, "whose lock"),
        ],
        (
            "Completes this rank's operations on a rank, and gives its lock back. Returns: "
            "SYNCYTE_ERR_ARGUMENT if this rank does not hold it."
        ),
    ),
    "syncyte_window_flush": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
        ],
        [
            Parameter("window", "in", False, None, "a window"),
            Parameter("rank", "in", False, None, "target; -1: all"),
        ],
        "Completes this rank's operations at their targets. Local.",
    ),
    "syncyte_window_fence": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("window", "in", False, None, "a window"),
        ],
        (
            "Completes all ranks' operations: what was written before is seen by all after. Collective; also "
            "frees what all ranks have dropped."
        ),
    ),
    "syncyte_tensor_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(TensorOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "its ranks"),
            Parameter("dtype", "in", False, None, "element type"),
            Parameter("ndim", "in", False, None, "number of dimensions, 1 to SYNCYTE_MAX_NDIM"),
            Parameter("shape", "in", False, "ndim", "global extents, in elements; 0 is allowed"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("tensor", "out", False, None, "the tensor"),
        ],
        (
            "Makes a tensor of zeros. Collective; facts: dtype, shape, kind of partition. Returns: "
            "SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (negative, or more than 2^63 - 1 bytes), SYNCYTE_ERR_ARGUMENT"
            " (local_rows do not add up), SYNCYTE_ERR_MEMORY (more than the node has), SYNCYTE_ERR_MISMATCH, "
            "SYNCYTE_ERR_UNSUPPORTED."
        ),
    ),
    "syncyte_tensor_wrap": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(TensorOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "its ranks"),
            Parameter("local", "in", False, None,
                "this rank's rows, contiguous; shape[0] may differ between ranks and may be 0"),
            Parameter("options", "in", True, None, "null for defaults; local_rows must be -1"),
            Parameter("tensor", "out", False, None, "the tensor"),
        ],
        (
            "Makes a tensor of arrays that the ranks already have. Collective; facts: dtype, extents but the "
            "first. The memory stays the caller's and must live until the tensor is freed by a collective "
            "point, which options->released tells. It is not shared, so other ranks reach it by MPI RMA on a "
            "node too, adds by other ranks answer SYNCYTE_ERR_UNSUPPORTED, and there is no node view."
        ),
    ),
    "syncyte_tensor_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
        ],
        (
            "Adds a reference: every exported view holds one. Local, thread-safe, without MPI; works after "
            "finalize."
        ),
    ),
    "syncyte_tensor_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
        ],
        (
            "Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a "
            "collective point once all ranks have dropped the tensor; ranks may drop tensors in any order."
        ),
    ),
    "syncyte_tensor_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("tensor", "in,out", False, None, "a tensor"),
        ],
        "Drops a reference and nulls the handle; null is fine. Local, as syncyte_tensor_release().",
    ),
    "syncyte_tensor_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("global", "out", False, None, "filled, with data null"),
        ],
        "Element type and global shape. Local.",
    ),
    "syncyte_tensor_comm": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("comm", "out", False, None, "the communicator"),
        ],
        "A new reference to the tensor's communicator. Local.",
    ),
    "syncyte_tensor_rows": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("rank", "in", False, None, "whose"),
            Parameter("first", "out", False, None, "its first row; where the next rank's begin if it has none"),
            Parameter("count", "out", False, None, "how many"),
        ],
        "The rows a rank owns. Local.",
    ),
    "syncyte_tensor_owner": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("count", "in", False, None, "number of rows asked for"),
            Parameter("rows", "in", False, "count", "global row numbers"),
            Parameter("ranks", "out", False, "count", "their owners"),
        ],
        (
            "Owners of rows, O(log P) each or better. Local. Returns: SYNCYTE_ERR_INDEX, naming index and "
            "position."
        ),
    ),
    "syncyte_tensor_local": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("view", "out", False, None, "contiguous; shape[0] is the number of local rows"),
        ],
        (
            "This rank's rows in place. Local. Valid while the tensor is referred to: retain it for as long as"
            " the view lives."
        ),
    ),
    "syncyte_tensor_node": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("view", "out", False, None, "contiguous; shape[0] is the number of the node's rows"),
            Parameter("first_row", "out", False, None,
                "global number of the view's first row if the node's ranks are consecutive, so that view row i is"
                " global row first_row + i; otherwise -1: the view then holds the ranges that tensor_rows() gives"
                " for the node's ranks one after another"),
        ],
        (
            "The rows of all of this node's ranks in place, in one address range, in order of ranks. Local. "
            "Lifetime as tensor_local(). Returns: SYNCYTE_ERR_UNSUPPORTED for a wrapped tensor of several "
            "ranks."
        ),
    ),
    "syncyte_tensor_gather": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("index", "in", False, None, "int32 or int64, contiguous, any number of dimensions"),
            Parameter("output", "out", False, None,
                "contiguous, of the tensor's dtype, index's elements times a row's elements"),
        ],
        (
            "Reads rows: output[i] = tensor[index[i]]. Local. Rows may repeat. Returns: SYNCYTE_ERR_INDEX "
            "(names index and position; nothing is written), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE."
        ),
    ),
    "syncyte_tensor_scatter": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("index", "in", False, None, "int32 or int64, contiguous"),
            Parameter("source", "in", False, None,
                "contiguous, of the tensor's dtype, index's elements times a row's elements"),
        ],
        (
            "Writes rows: tensor[index[i]] = source[i]. Local. Of rows that repeat the last one stays; a row "
            "written by two ranks at once, or added to meanwhile, is undefined. Returns: as gather."
        ),
    ),
    "syncyte_tensor_scatter_add": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("index", "in", False, None, "int32 or int64, contiguous"),
            Parameter("source", "in", False, None,
                "contiguous, of the tensor's dtype, index's elements times a row's elements"),
        ],
        (
            "Adds to rows: tensor[index[i]] += source[i]. Local. Exact under contention: no add is lost, rows "
            "that repeat are added several times, in an order that is not defined. bool: logical or. Returns: "
            "as gather; SYNCYTE_ERR_PEER_DIED if a process died while it added to one of the rows (the row is "
            "damaged, the message names it; rows before it are added), SYNCYTE_ERR_UNSUPPORTED if a row lies "
            "on another node."
        ),
    ),
    "syncyte_tensor_get_box": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("lower", "in", False, "lower_length", "first element of the box"),
            Parameter("lower_length", "in", False, None, "number of them: the tensor's dimensions"),
            Parameter("output", "out", False, None,
                "as many dimensions as the tensor, any strides, the tensor's dtype"),
        ],
        (
            "Reads the box [lower, lower + extent of output) of the tensor. Local. Returns: SYNCYTE_ERR_INDEX "
            "outside the tensor, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_TYPE."
        ),
    ),
    "syncyte_tensor_put_box": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.c_int64,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
            Parameter("lower", "in", False, "lower_length", "first element of the box"),
            Parameter("lower_length", "in", False, None, "number of them: the tensor's dimensions"),
            Parameter("source", "in", False, None,
                "as many dimensions as the tensor, any strides, the tensor's dtype"),
        ],
        (
            "Writes the box [lower, lower + extent of source) of the tensor. Local. Visible to others as "
            "gather's rows."
        ),
    ),
    "syncyte_tensor_fetch_add": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor of int32 or int64"),
            Parameter("element", "in", False, None, "number of the element in row-major order"),
            Parameter("operand", "in", False, None, "what to add"),
            Parameter("previous", "out", True, None, "the value before"),
        ],
        (
            "Adds to one element of an int32 or int64 tensor and returns what was there; atomic, acquire and "
            "release. Local."
        ),
    ),
    "syncyte_tensor_compare_swap": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor of int32 or int64"),
            Parameter("element", "in", False, None, "number of the element in row-major order"),
            Parameter("expected", "in", False, None, "compared with"),
            Parameter("desired", "in", False, None, "written if equal"),
            Parameter("previous", "out", True, None, "the value before"),
        ],
        (
            "Writes desired to one element if it equals expected, and returns what was there; atomic, acquire "
            "and release. Local."
        ),
    ),
    "syncyte_tensor_load": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor of int32 or int64"),
            Parameter("element", "in", False, None, "number of the element in row-major order"),
            Parameter("value", "out", False, None, "its value"),
        ],
        "Reads one element of an int32 or int64 tensor; acquire. Local.",
    ),
    "syncyte_tensor_store": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.c_int64,
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor of int32 or int64"),
            Parameter("element", "in", False, None, "number of the element in row-major order"),
            Parameter("value", "in", False, None, "its new value"),
        ],
        (
            "Writes one element of an int32 or int64 tensor; release: what this rank wrote before (on a node; "
            "elsewhere after flush) is seen by whoever reads the new value. Local."
        ),
    ),
    "syncyte_tensor_wait": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.c_int32,
            ctypes.c_int64,
            ctypes.c_double,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor of int32 or int64"),
            Parameter("element", "in", False, None, "number of the element in row-major order"),
            Parameter("compare", "in", False, None, "how the element is compared with value"),
            Parameter("value", "in", False, None, "compared with"),
            Parameter("timeout", "in", False, None, "seconds, 0 or more; negative: no limit"),
            Parameter("found", "out", True, None, "the element's value that compared true"),
        ],
        (
            "Waits, asleep, until one element of an int32 or int64 tensor compares true; acquire. Local. "
            "Returns: SYNCYTE_ERR_TIMEOUT after timeout seconds."
        ),
    ),
    "syncyte_tensor_flush": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
        ],
        "Completes this rank's writes: they are at their owners on return. Local.",
    ),
    "syncyte_tensor_sync": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("tensor", "in", False, None, "a tensor"),
        ],
        (
            "What any rank wrote before is seen by all ranks after. Collective; also frees what all ranks have"
            " dropped."
        ),
    ),
    "syncyte_kv_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(KvOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "its ranks, all of one node"),
            Parameter("dtype", "in", False, None, "SYNCYTE_FLOAT32"),
            Parameter("key_count", "in", False, None, "1 or more"),
            Parameter("length_count", "in", False, None, "1, if all keys have as many values; otherwise key_count"),
            Parameter("lengths", "in", False, "length_count", "number of values, 1 or more, of all keys or of each"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("kv", "out", False, None, "the store"),
        ],
        (
            "Makes a store of zeros. Collective; facts: dtype, key_count, length_count, lengths. Returns: "
            "SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_UNSUPPORTED (another "
            "dtype, ranks of several nodes), SYNCYTE_ERR_MEMORY (more than the node has), "
            "SYNCYTE_ERR_MISMATCH."
        ),
    ),
    "syncyte_kv_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("kv", "in", False, None, "a store"),
        ],
        "Adds a reference. Local, thread-safe, without MPI; works after finalize.",
    ),
    "syncyte_kv_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("kv", "in", False, None, "a store"),
        ],
        (
            "Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a "
            "collective point once all ranks have dropped the store; its workers hold references of their own."
        ),
    ),
    "syncyte_kv_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("kv", "in,out", False, None, "a store"),
        ],
        "Drops a reference and nulls the handle; null is fine. Local, as syncyte_kv_release().",
    ),
    "syncyte_kv_keys": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("kv", "in", False, None, "a store"),
            Parameter("key_count", "out", False, None, "as given to kv_create()"),
        ],
        "Number of keys. Local.",
    ),
    "syncyte_kv_lengths": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("kv", "in", False, None, "a store"),
            Parameter("count", "in", False, None, "number of keys asked for"),
            Parameter("keys", "in", False, "count", "keys"),
            Parameter("lengths", "out", False, "count", "how many values each has"),
        ],
        "Numbers of keys' values. Local. Returns: SYNCYTE_ERR_INDEX, naming key and position.",
    ),
    "syncyte_kv_owner": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("kv", "in", False, None, "a store"),
            Parameter("count", "in", False, None, "number of keys asked for"),
            Parameter("keys", "in", False, "count", "keys"),
            Parameter("ranks", "out", False, "count", "their owners"),
        ],
        "Ranks that own keys now. Local. Returns: SYNCYTE_ERR_INDEX, naming key and position.",
    ),
    "syncyte_kv_set_sampling": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(KvSampling),
        ],
        [
            Parameter("kv", "in", False, None, "a store"),
            Parameter("sampling", "in", False, None, "what is wanted, begun with SYNCYTE_KV_SAMPLING_INIT"),
        ],
        (
            "Says how this process's workers sample keys from now on; samples that are prepared stay as they "
            "are. Local. Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (a pool without replacement)."
        ),
    ),
    "syncyte_kv_sync": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("kv", "in", False, None, "a store"),
        ],
        (
            "What any rank wrote before is seen by all ranks after. Collective, one thread of each process; "
            "also frees what all ranks have dropped."
        ),
    ),
    "syncyte_kv_worker_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("kv", "in", False, None, "a store"),
            Parameter("number", "in", False, None,
                "0 to workers - 1 (options of kv_create()), of no other worker of this process that has not been "
                "destroyed"),
            Parameter("worker", "out", False, None, "the worker"),
        ],
        (
            "Makes a worker. Local. It may be used by another thread than the one that makes it. Returns: "
            "SYNCYTE_ERR_ARGUMENT."
        ),
    ),
    "syncyte_kv_worker_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
        ],
        "Adds a reference. Local, thread-safe, without MPI; works after finalize.",
    ),
    "syncyte_kv_worker_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
        ],
        (
            "Drops a reference. Local, thread-safe, without MPI; works after finalize. With the last one the "
            "worker ends: the others of its process meet without it."
        ),
    ),
    "syncyte_kv_worker_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("worker", "in,out", False, None, "a worker"),
        ],
        "Drops a reference and nulls the handle; null is fine. Local, as syncyte_kv_worker_release().",
    ),
    "syncyte_kv_worker_pull": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
            Parameter("keys", "in", False, None, "int64, contiguous, any number of dimensions"),
            Parameter("values", "out", False, None,
                "float32, contiguous, as many as the keys have; not to be read before kv_worker_wait()"),
            Parameter("timestamp", "out", True, None, "what to wait for; -1: complete. Null: complete on return"),
        ],
        (
            "Reads the values of keys, one key's after another's. Local. Returns: SYNCYTE_ERR_INDEX (names the"
            " first key that is out of range and its position), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, "
            "SYNCYTE_ERR_UNSUPPORTED (device memory): nothing was written. SYNCYTE_ERR_PEER_DIED."
        ),
    ),
    "syncyte_kv_worker_push": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
            Parameter("keys", "in", False, None, "int64, contiguous"),
            Parameter("values", "in", False, None,
                "float32, contiguous, as many as the keys have; not to be changed before kv_worker_wait()"),
            Parameter("timestamp", "out", True, None, "as of pull"),
        ],
        "Adds to the values of keys; of a key that repeats several times. Local. Returns: as pull.",
    ),
    "syncyte_kv_worker_set": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
            Parameter("keys", "in", False, None, "int64, contiguous"),
            Parameter("values", "in", False, None,
                "float32, contiguous, as many as the keys have; not to be changed before kv_worker_wait()"),
            Parameter("timestamp", "out", True, None, "as of pull"),
        ],
        (
            "Replaces the values of keys; of a key that repeats the last ones stay. Makes damaged keys whole. "
            "Local. Returns: as pull, but for SYNCYTE_ERR_PEER_DIED."
        ),
    ),
    "syncyte_kv_worker_pull_if_local": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
            Parameter("keys", "in", False, None, "int64, contiguous"),
            Parameter("values", "out", False, None,
                "float32, contiguous, as many as the keys have; not touched if a key is not local"),
            Parameter("is_local", "out", False, None, "1, or 0 if a key is not local"),
        ],
        "Reads the values of keys if all of them are local: on one node they are. Local. Returns: as pull.",
    ),
    "syncyte_kv_worker_localize": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
            Parameter("keys", "in", False, None, "int64, contiguous"),
            Parameter("timestamp", "out", True, None, "as of pull"),
        ],
        (
            "Asks that this rank owns keys. On one node it checks and counts them: they are local. Local. "
            "Returns: as pull."
        ),
    ),
    "syncyte_kv_worker_intent": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(BufferDescription),
            ctypes.c_int64,
            ctypes.c_int64,
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
            Parameter("keys", "in", False, None, "int64, contiguous"),
            Parameter("start", "in", False, None, "0 or more"),
            Parameter("end", "in", False, None, "more than start; 0: start + 1"),
        ],
        (
            "Says that this worker is going to use keys while its clock is in [start, end). On one node it "
            "checks and records it. Local. Returns: as pull; SYNCYTE_ERR_ARGUMENT."
        ),
    ),
    "syncyte_kv_worker_advance_clock": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
            Parameter("clock", "out", True, None, "what it is now"),
        ],
        "Adds 1 to the worker's clock, which begins at 0. Local.",
    ),
    "syncyte_kv_worker_clock": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
            Parameter("clock", "out", False, None, "0 or more"),
        ],
        "The worker's clock. Local.",
    ),
    "syncyte_kv_worker_prepare_sample": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
            Parameter("count", "in", False, None, "number of keys, 0 to 2^40"),
            Parameter("start", "in", False, None, "0 or more"),
            Parameter("end", "in", False, None, "more than start; 0: start + 1"),
            Parameter("sample", "out", False, None, "the sample's number, 1 or more, for kv_worker_pull_sample()"),
        ],
        (
            "Says that this worker is going to pull sampled keys while its clock is in [start, end). Local. "
            "Returns: SYNCYTE_ERR_ARGUMENT (no kv_set_sampling() before; more keys than there are, without "
            "replacement)."
        ),
    ),
    "syncyte_kv_worker_pull_sample": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("worker", "in", False, None, "the worker that has prepared it"),
            Parameter("sample", "in", False, None, "its number"),
            Parameter("keys", "out", False, None, "int64, contiguous, at most as many as the sample has left"),
            Parameter("values", "out", False, None, "float32, contiguous, as many as the keys have"),
            Parameter("timestamp", "out", True, None, "as of pull"),
        ],
        (
            "Reads the next keys of a sample and their values. Local. A sample ends when its last key was "
            "pulled. Returns: SYNCYTE_ERR_ARGUMENT (no such sample, or not as many keys left), and as pull."
        ),
    ),
    "syncyte_kv_worker_finish_sample": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
        ],
        [
            Parameter("worker", "in", False, None, "the worker that has prepared it"),
            Parameter("sample", "in", False, None, "its number; one that has ended is fine"),
        ],
        "Ends a sample of which no more keys are going to be pulled. Local.",
    ),
    "syncyte_kv_worker_wait": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
        ],
        [
            Parameter("worker", "in", False, None, "the worker that began it"),
            Parameter("timestamp", "in", False, None, "what the operation gave; -1: complete"),
        ],
        (
            "Waits until an operation is complete. Local. Waiting twice is fine. Returns: SYNCYTE_ERR_ARGUMENT"
            " for a timestamp that no operation gave."
        ),
    ),
    "syncyte_kv_worker_wait_all": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
        ],
        "Waits until all of the worker's operations are complete. Local.",
    ),
    "syncyte_kv_worker_wait_sync": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
        ],
        (
            "Waits until what this process has written before is with the owners of the keys: on one node it "
            "is. Local."
        ),
    ),
    "syncyte_kv_worker_barrier": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
        ],
        (
            "All workers of all ranks meet; what any of them wrote before is seen by all after. Collective: "
            "each worker calls, in a thread of its own where a process has several. One of them enters the "
            "collective for its process, so MPI must be at the thread level SYNCYTE_THREAD_SERIALIZED or above"
            " there. A worker that is destroyed is not waited for. Returns: SYNCYTE_ERR_MISMATCH on all "
            "workers of all ranks where some meet in another function; SYNCYTE_ERR_BUSY where another thread "
            "meets as the same worker."
        ),
    ),
    "syncyte_kv_worker_begin_setup": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
        ],
        (
            "Begins the phase in which values are set for the first time: a barrier, so far. Collective, as "
            "kv_worker_barrier(). Returns: SYNCYTE_ERR_ARGUMENT within the phase."
        ),
    ),
    "syncyte_kv_worker_end_setup": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
        ],
        (
            "Ends the phase that kv_worker_begin_setup() began; all values that were set are there for all "
            "workers. Collective, as kv_worker_barrier(). Returns: SYNCYTE_ERR_ARGUMENT outside of the phase."
        ),
    ),
    "syncyte_kv_worker_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(KvWorkerInfo),
        ],
        [
            Parameter("worker", "in", False, None, "a worker"),
            Parameter("info", "in,out", False, None, "struct_size is set by the caller"),
        ],
        "What a worker has done. Local.",
    ),
}


HDF5: dict[str, Function] = {
    "syncyte_checkpoint_save": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_int64,
            ctypes.POINTER(CheckpointEntry),
            ctypes.POINTER(CheckpointOptions),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("path", "in", False, None,
                "file to write or replace; equal on all ranks, on a file system that all see"),
            Parameter("count", "in", False, None, "number of entries"),
            Parameter("entries", "in", False, "count", "in the same order on all ranks, keys unique"),
            Parameter("options", "in", True, None, "null for defaults"),
        ],
        (
            "Saves entries into one file, atomically: on any error the old file is untouched. Collective; "
            "facts: path, count, keys, layouts, dtypes, extents (but the first of sharded ones), options; with"
            " SYNCYTE_CHECK=full also the CRC32C of replicated entries. A mismatch names the key, what "
            "differs, and the ranks. A file that is replaced gives the new one its permissions, and its owner "
            "and group where this process may give them (otherwise the file becomes this user's, and another "
            "group gets no access). A path that is a symbolic link stays one: what it leads to is written. "
            "Rank 0 locks the temporary file (flock); a save removes those of earlier saves of the same file "
            "that nobody has locked: they are left where a job is killed. Returns: SYNCYTE_ERR_IO (names path "
            "and reason), SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH."
        ),
    ),
    "syncyte_checkpoint_open": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.POINTER(CheckpointOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("path", "in", False, None, "file"),
            Parameter("options", "in", True, None, "null for defaults"),
            Parameter("checkpoint", "out", False, None, "the open file"),
        ],
        (
            "Opens a checkpoint: rank 0 reads and verifies the metadata, all get it. Collective; facts: path. "
            "Returns: SYNCYTE_ERR_NOT_FOUND (no such file), SYNCYTE_ERR_FORMAT (foreign or truncated), "
            "SYNCYTE_ERR_CHECKSUM (damaged metadata), SYNCYTE_ERR_VERSION (a newer format), SYNCYTE_ERR_IO; "
            "each names the file."
        ),
    ),
    "syncyte_checkpoint_close": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),
        ],
        [
            Parameter("checkpoint", "in,out", False, None, "an open checkpoint"),
        ],
        "Closes the file and nulls the handle; null is fine. Local.",
    ),
    "syncyte_checkpoint_count": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("checkpoint", "in", False, None, "an open checkpoint"),
            Parameter("count", "out", False, None, "number of keys"),
            Parameter("step", "out", True, None, "the saved step"),
        ],
        "Number of keys, and the step it was saved with. Local.",
    ),
    "syncyte_checkpoint_key": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.POINTER(ctypes.c_char_p),
        ],
        [
            Parameter("checkpoint", "in", False, None, "an open checkpoint"),
            Parameter("number", "in", False, None, "0 to count - 1"),
            Parameter("key", "out", False, None, "valid until the checkpoint is closed"),
        ],
        "The key with a number, in alphabetical order. Local.",
    ),
    "syncyte_checkpoint_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.POINTER(BufferDescription),
            ctypes.POINTER(ctypes.c_int32),
        ],
        [
            Parameter("checkpoint", "in", False, None, "an open checkpoint"),
            Parameter("key", "in", False, None, "its name"),
            Parameter("global", "out", False, None, "filled, with data null"),
            Parameter("layout", "out", True, None, "how it was saved"),
        ],
        (
            "Element type, global shape and layout of a key. Local. Returns: SYNCYTE_ERR_NOT_FOUND, naming the"
            " key and the file."
        ),
    ),
    "syncyte_checkpoint_read": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_int64,
            ctypes.POINTER(BufferDescription),
        ],
        [
            Parameter("checkpoint", "in", False, None, "an open checkpoint"),
            Parameter("key", "in", False, None, "its name"),
            Parameter("first_row", "in", False, None, "first row to read"),
            Parameter("target", "out", False, None,
                "contiguous host memory of the key's dtype; all extents but the first are the key's. Its contents"
                " are undefined after an error"),
        ],
        (
            "Reads rows [first_row, first_row + target.shape[0]) of a key and verifies their checksums. Local:"
            " each rank reads what it needs. A 0-dimensional key counts as one row, read into a 0-dimensional "
            "target. Returns: SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_INDEX, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, "
            "SYNCYTE_ERR_CHECKSUM (names file, key and block), SYNCYTE_ERR_FORMAT (truncated), SYNCYTE_ERR_IO."
        ),
    ),
    "syncyte_checkpoint_bytes_read": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
        ],
        [
            Parameter("checkpoint", "in", False, None, "an open checkpoint"),
            Parameter("bytes", "out", False, None, "the number"),
        ],
        (
            "Bytes of tensor data that this rank has read from the file so far, those for verification "
            "included. Local."
        ),
    ),
    "syncyte_checkpoint_load": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_int64,
            ctypes.POINTER(CheckpointEntry),
            ctypes.POINTER(CheckpointOptions),
        ],
        [
            Parameter("comm", "in", False, None, "a communicator"),
            Parameter("path", "in", False, None, "file"),
            Parameter("count", "in", False, None, "number of entries"),
            Parameter("entries", "in,out", False, "count",
                "in the same order on all ranks; the memory they describe is filled"),
            Parameter("options", "in", True, None, "null for defaults"),
        ],
        (
            "Loads entries: replicated ones whole on every rank, sharded ones by the rows that the ranks' "
            "buffers have, in order of ranks; any number of ranks may load what any other number saved. "
            "Collective; all ranks get the same verdict. Returns: as open and read; SYNCYTE_ERR_SHAPE if the "
            "rows of a sharded entry do not add up to the key's."
        ),
    ),
}
