"""Declarations of Syncyte's C interface for ctypes.

Generated from the C headers by bindings/generate; do not edit.

Handles are opaque values, passed as ctypes.c_void_p. A structure's `_defaults_` are the values its members have when
they are not zero; `struct_size` must be set to ctypes.sizeof of the structure.
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any, NamedTuple


class Parameter(NamedTuple):
    """A parameter of a C function."""

    name: str
    type: Any
    text: str  # direction, whether it may be None, number of elements of an array, description


class Function:
    """A C function."""

    def __init__(self, restype: Any, doc: str, *parameters: Parameter):
        self.restype = restype
        self.doc = doc
        self.argtypes = [parameter.type for parameter in parameters]


VERSION_MAJOR = 0  # Version of this header; syncyte_version() returns the library's.
VERSION_MINOR = 1
VERSION_PATCH = 0
ABI_VERSION = 2  # Number of the binary interface; it increases with every incompatible change.
MAX_NDIM = 8  # Maximum number of dimensions of a tensor or buffer.
ANY = -1  # Source of a receive: any rank. Tag of a receive: any tag.
PROC_NULL = -2
MESSAGE_ROOM = 64  # Bytes of the header that every message has in front of its elements.
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
    ERR_NOT_INITIALISED = 7  # called before syncyte_init(), or after finalize
    ERR_MEMORY = 8  # not enough memory
    ERR_UNSUPPORTED = 9  # not available in this build, or for these arguments
    ERR_BUSY = 10  # in use by another thread or an active request
    ERR_PEER_DIED = 11  # another process died while it held a lock or changed data
    ERR_MPI = 12  # MPI reported an error
    ERR_IO = 13  # the operating system reported an error on a file
    ERR_FORMAT = 14  # not a Syncyte file, or a truncated one
    ERR_CHECKSUM = 15  # stored data is damaged
    ERR_NOT_FOUND = 16  # no such file or key
    ERR_VERSION = 17  # library or file of another version
    ERR_TIMEOUT = 18  # a stated time limit passed
    ERR_INTERNAL = 19  # a defect of Syncyte; please report it
    ERR_LIMIT = 20  # a limit of the system on open files is reached; the message names it
    ERR_INTERRUPTED = 21  # the application ended a wait: see syncyte_interrupt_set()


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
    MIN = 3  # minimum; not for complex; NaN if an operand is NaN; -0 is less than +0
    MAX = 4  # maximum; not for complex; NaN if an operand is NaN; -0 is less than +0
    LAND = 5  # logical and; integers and bool
    LOR = 6  # logical or; integers and bool
    BAND = 7  # bitwise and; integers and bool
    BOR = 8  # bitwise or; integers and bool
    BXOR = 9  # bitwise exclusive or; integers and bool
    REPLACE = 10  # the new value (windows only)
    LXOR = 11  # logical exclusive or; integers and bool


class Memory(enum.IntEnum):
    """Kinds of memory; never renumbered."""

    HOST = 0  # host memory of the process or the node
    CUDA = 1  # memory of a CUDA device


class LogLevel(enum.IntEnum):
    """Severities."""

    OFF = 0
    ERROR = 1
    WARN = 2
    INFO = 3
    DEBUG = 4


class Scan(enum.IntEnum):
    """Directions of a scan."""

    FROM_FIRST = 0  # from rank 0 up: MPI's order
    FROM_LAST = 1  # from the last rank down: the adjoint of the other


class Lock(enum.IntEnum):
    """Kinds of locks."""

    SHARED = 1  # several ranks may hold it
    EXCLUSIVE = 2  # one rank may hold it


class Compare(enum.IntEnum):
    """Comparisons of tensor_wait()."""

    EQ = 1  # equal
    NE = 2  # not equal
    GE = 3  # greater or equal
    LE = 4  # less or equal


class KvScheme(enum.IntEnum):
    """Schemes of sampling, those of AdaPM."""

    NAIVE = 1  # keys are drawn when the sample is prepared
    PRELOC = 2  # as naive, and an intent is recorded for the keys
    POOL = 3  # as preloc, from a pool of keys that the process's workers share
    LOCAL = 4  # keys are drawn when they are pulled, from the keys that are local then


class KvDistribution(enum.IntEnum):
    """Distributions over a range of n keys."""

    UNIFORM = 1  # all keys have the same probability
    LOG_UNIFORM = 2  # the i-th key, i from 1, has the probability log((i + 1) / i) / log(n + 1)


class Layout(enum.IntEnum):
    """Layouts."""

    REPLICATED = 0  # all ranks hold equal data (compared with SYNCYTE_CHECK=full); rank 0's is saved
    SHARDED = 1  # each rank holds some rows, in rank order


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
    """An array argument: address, element type, shape, strides and kind of memory. The memory belongs to the caller.
    Strides are in bytes. A buffer with the strides of a dense row-major array is *contiguous*; strides of
    dimensions of extent 1 and of empty arrays are ignored. A buffer with ndim 0 has one element. Every function
    returns SYNCYTE_ERR_SHAPE for strides whose span exceeds 64 bits. Data may have any alignment, except that
    reductions and lists of rows need aligned elements (complex ones aligned to their parts): SYNCYTE_ERR_SHAPE.
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
        # distances of neighbouring elements, in bytes
        ("strides", ctypes.c_int64 * 8),
        # kind of memory of data
        ("memory", ctypes.c_int32),
        # number of the device; 0 for host memory
        ("device", ctypes.c_int32),
    ]


class ErrorFields(ctypes.Structure):
    """Fields of a failed call's error, beside its text. Fields that do not apply are empty, and -1 for numbers."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_error_fields_t)
        ("struct_size", ctypes.c_size_t),
        # status of the call
        ("status", ctypes.c_int32),
        # rank that failed: of the communicator in a collective, otherwise of the world
        ("rank", ctypes.c_int32),
        # the function's name without "syncyte_"
        ("operation", ctypes.c_char_p),
        # name of the object that the argument belongs to, or of the collective's communicator
        ("object", ctypes.c_char_p),
        # name of the argument that is wrong, or of the fact that differs between ranks
        ("argument", ctypes.c_char_p),
        # dimension of the argument if ndim is not 0, otherwise its position in an array
        ("axis", ctypes.c_int64),
        # number of dimensions of the array that the error is about; 0: not about an array. If it is not 0, lists such
        # as [2, 3] in value and expected are extents, and an axis in value that differs between ranks counts from the
        # end
        ("ndim", ctypes.c_int32),
        # value of the argument; if it differs between ranks, the values and their ranks
        ("value", ctypes.c_char_p),
        # expected value
        ("expected", ctypes.c_char_p),
        # the message without operation and rank
        ("reason", ctypes.c_char_p),
    ]


class TraceEvent(ctypes.Structure):
    """An event for the trace hook: an operation has ended on this thread. The peer is - for send, recv, isend,
    irecv: the other rank; for a receive from SYNCYTE_ANY the sender (-1 when it starts); for sendrecv the
    receiver; - for collectives with a root (bcast, ibcast, reduce, gather_along, scatter_along): the root, on all
    ranks; - for a halo's exchanges: the neighbour if there is only one, which may be the rank itself; - for
    window operations with a target: the target; - for a wait: the peer of the operation that was started; for a
    wait for several requests, their common peer; - for all others: -1. Starting an operation and waiting for it
    are two events. A wait is "request_wait", "request_wait_all", "request_wait_any", or the "request_test" that
    completes the request; other tests, and waits for null, are not events. Lookups (of a rank, a shape, a
    pointer) are not events, and syncyte_stats() does not count them.
    """

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_trace_event_t) as the library knows it
        ("struct_size", ctypes.c_size_t),
        # for example "comm_allreduce"; valid during the call
        ("operation", ctypes.c_char_p),
        # bytes of this rank's part; for a wait, those of the started operation; or 0
        ("bytes", ctypes.c_int64),
        # CLOCK_MONOTONIC at the start, nanoseconds
        ("begin_ns", ctypes.c_int64),
        # CLOCK_MONOTONIC at the end, nanoseconds
        ("end_ns", ctypes.c_int64),
        # status of the operation
        ("status", ctypes.c_int32),
        # peer, a rank of the communicator, see above; or -1
        ("peer", ctypes.c_int32),
        # element type of the data; for a wait, that of the started operation; or 0
        ("dtype", ctypes.c_int32),
        # name of the communicator, valid during the call; or null
        ("comm", ctypes.c_char_p),
        # file of a checkpoint, valid during the call; or null
        ("path", ctypes.c_char_p),
    ]


class OperationStats(ctypes.Structure):
    """Counters of one operation in this process."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_operation_stats_t)
        ("struct_size", ctypes.c_size_t),
        # for example "comm_allreduce"; never freed
        ("operation", ctypes.c_char_p),
        # calls that have ended, counted as trace events are, see syncyte_trace_event_t
        ("calls", ctypes.c_int64),
        # calls that failed
        ("errors", ctypes.c_int64),
        # bytes of this rank's parts
        ("bytes", ctypes.c_int64),
        # duration of the calls that were traced (by SYNCYTE_TRACE or a hook)
        ("nanoseconds", ctypes.c_int64),
    ]


class InitOptions(ctypes.Structure):
    """Options of syncyte_init()."""

    _defaults_: dict[str, Any] = {"thread_level": 3}
    _fields_ = [
        # sizeof(syncyte_init_options_t)
        ("struct_size", ctypes.c_size_t),
        # thread level to request if this call initialises MPI: 0 single, 1 funneled, 2 serialized, 3 multiple
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
    """Topology of a communicator: its ranks on nodes. Ranks that share memory form a node."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_topology_t)
        ("struct_size", ctypes.c_size_t),
        # number of nodes
        ("nodes", ctypes.c_int32),
        # number of this rank's node, 0 to nodes - 1, in order of the nodes' lowest ranks
        ("node", ctypes.c_int32),
        # number of ranks on this rank's node
        ("node_size", ctypes.c_int32),
        # number of this rank on its node, in rank order
        ("node_rank", ctypes.c_int32),
    ]


class CollectiveOptions(ctypes.Structure):
    """Options of a collective operation."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_collective_options_t)
        ("struct_size", ctypes.c_size_t),
        # reserved: null. Work enqueued on a device buffer must be complete before the call
        ("stream", ctypes.c_void_p),
        # an additional fact, equal on all ranks, for libraries on top; 0 by default
        ("fact", ctypes.c_int64),
        # additional facts with names for the message, read during the call; null if none
        ("facts", ctypes.POINTER(Fact)),
        # number of facts, 0 to 24
        ("fact_count", ctypes.c_int32),
    ]


class MemoryStats(ctypes.Structure):
    """Statistics of the pool of recycled buffers. Sizes are in bytes."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_memory_stats_t)
        ("struct_size", ctypes.c_size_t),
        # acquired and not released, rounded up to size classes
        ("in_use", ctypes.c_size_t),
        # kept for re-use
        ("cached", ctypes.c_size_t),
        # limit of cached: SYNCYTE_POOL_LIMIT, or a 16th of the machine's memory
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
        # 0: SYNCYTE_CACHE_PARAMETER_BYTES, otherwise 1 GiB, scaled down if memory is short
        ("parameter_bytes", ctypes.c_int64),
        # 0: SYNCYTE_CACHE_COMPUTATION_BYTES, otherwise 11 GiB, scaled down as well
        ("computation_bytes", ctypes.c_int64),
    ]


class CacheRendezvous(ctypes.Structure):
    """The Unix socket, in a folder, by which two processes pass a cache, and how long they wait."""

    _defaults_: dict[str, Any] = {"timeout": -1}
    _fields_ = [
        # sizeof(syncyte_cache_rendezvous_t)
        ("struct_size", ctypes.c_size_t),
        # name of the socket, at most 60 bytes; null: SYNCYTE_CACHE, otherwise "cache"
        ("name", ctypes.c_char_p),
        # a folder of this user with mode 0700, made if it is missing; null: SYNCYTE_CACHE_FOLDER, otherwise
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
        # 0 to 7; a receive matches only messages of its channel. For libraries on top, whose own messages have the
        # same tags as their users'
        ("channel", ctypes.c_int32),
        # any number, which a send passes to the receiver's status; for libraries on top
        ("label", ctypes.c_int64),
        # SYNCYTE_MESSAGE_ROOM: so many bytes in front of the buffer's first element are free for the message's
        # header, which overwrites them. Device memory (syncyte_mpi_takes()) needs them and must be contiguous; work
        # enqueued on it must be complete before the call. 0: no room
        ("room", ctypes.c_int32),
    ]


class MessageStatus(ctypes.Structure):
    """Sender, tag and label of a received message."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_message_status_t)
        ("struct_size", ctypes.c_size_t),
        # the sender's rank
        ("source", ctypes.c_int32),
        # the message's tag
        ("tag", ctypes.c_int32),
        # the sender's options->label
        ("label", ctypes.c_int64),
    ]


class HaloOptions(ctypes.Structure):
    """Options of a halo."""

    _defaults_: dict[str, Any] = {"corners": 1}
    _fields_ = [
        # sizeof(syncyte_halo_options_t)
        ("struct_size", ctypes.c_size_t),
        # 1: include corners; 0: only ghosts beyond the interior along one axis
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
        # SYNCYTE_MEMORY_HOST; other kinds are not supported yet
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
        # number of this rank's rows; -1: equal parts, with the remainder on the first ranks. All ranks pass -1, or
        # all pass numbers that add up to shape[0]
        ("local_rows", ctypes.c_int64),
        # SYNCYTE_MEMORY_HOST; other kinds are not supported yet
        ("memory", ctypes.c_int32),
        # may be null; for wrap: set to 1 (a release store) when no rank uses this rank's array any more. The caller
        # owns it; it must live as long as the array
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
        # number of this process's workers, 1 to 65536; ranks may differ
        ("workers", ctypes.c_int32),
    ]


class KvSampling(ctypes.Structure):
    """Sampling options. Only keys that have as many values as min_key are drawn."""

    _defaults_: dict[str, Any] = {"scheme": 4, "distribution": 1, "with_replacement": 1, "pool_size": 250, "reuse": 1}
    _fields_ = [
        # sizeof(syncyte_kv_sampling_t)
        ("struct_size", ctypes.c_size_t),
        # when keys are drawn
        ("scheme", ctypes.c_int32),
        # distribution of the keys
        ("distribution", ctypes.c_int32),
        # 0: no key repeats in a sample; not with a pool
        ("with_replacement", ctypes.c_int32),
        # first key of the range
        ("min_key", ctypes.c_int64),
        # end of the range: its last key + 1
        ("max_key", ctypes.c_int64),
        # number of keys in the pool
        ("pool_size", ctypes.c_int64),
        # how often each key of a pool is used
        ("reuse", ctypes.c_int64),
        # seed; rank and worker number are mixed in
        ("seed", ctypes.c_int64),
    ]


class KvWorkerInfo(ctypes.Structure):
    """Counters of a worker since its creation."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        # sizeof(syncyte_kv_worker_info_t)
        ("struct_size", ctypes.c_size_t),
        # number of the worker
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

# Sets *done to 1 if the operation has ended; does not wait. Returns the operation's status once it has ended; an
# error ends it. Not called again after the end.
RequestPollFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32))

# Waits for the end of the operation and returns its status; SYNCYTE_ERR_INTERRUPTED if it has not ended. Not called
# after poll has set *done.
RequestWaitFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)

# Frees the context. Called once, after the operation has ended, by the test or wait that returns its status, or by
# finalize.
RequestFreeFn = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

# Writes the application's current source line as a zero-terminated string of at most `bytes` bytes, including the
# zero. Called on a separate thread; may block.
LineFn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)

# Returns non-zero to end the wait in progress, otherwise 0.
InterruptFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)


CORE: dict[str, Function] = {
    "syncyte_version": Function(
        ctypes.c_int32,
        "Returns the version of the loaded library. Local; callable at any time, from any thread.",
        Parameter("major", ctypes.POINTER(ctypes.c_int32), "out, optional: first number"),
        Parameter("minor", ctypes.POINTER(ctypes.c_int32), "out, optional: second number"),
        Parameter("patch", ctypes.POINTER(ctypes.c_int32), "out, optional: third number"),
        Parameter("abi", ctypes.POINTER(ctypes.c_int32), "out, optional: SYNCYTE_ABI_VERSION of the library"),
    ),
    "syncyte_last_error": Function(
        ctypes.c_char_p,
        "Returns the message of this thread's last failed call. Local; callable at any time. Returns: a string that is valid until the thread's next failing call; empty if none failed.",
    ),
    "syncyte_last_error_fields": Function(
        ctypes.c_int32,
        "Returns the fields of this thread's last error. Local; callable at any time.",
        Parameter("fields", ctypes.POINTER(ErrorFields), "in,out: struct_size set by the caller; the rest is filled; texts are valid until the thread's next failing call"),
    ),
    "syncyte_status_name": Function(
        ctypes.c_char_p,
        "Returns the name of a status code, for example \"SYNCYTE_ERR_INDEX\". Local; callable at any time. Returns: a constant string; \"SYNCYTE_ERR_UNKNOWN\" for a number that is not a status code.",
        Parameter("status", ctypes.c_int32, "in: any number"),
    ),
    "syncyte_error_set": Function(
        ctypes.c_int32,
        "Sets this thread's last error, for libraries on top of Syncyte. Local; callable at any time. Returns: status, so that a caller can `return syncyte_error_set(...)`.",
        Parameter("status", ctypes.c_int32, "in: code, not SYNCYTE_SUCCESS"),
        Parameter("message", ctypes.c_char_p, "in: the error, the argument, and how to correct it; the rank is prepended"),
    ),
    "syncyte_error_set_fields": Function(
        ctypes.c_int32,
        "Sets this thread's last error with its fields; syncyte_error_set() sets it without. Local; callable at any time. Returns: fields->status",
        Parameter("fields", ctypes.POINTER(ErrorFields), "in: texts may be null; status is not SYNCYTE_SUCCESS; reason is the message; rank is not read"),
    ),
    "syncyte_dtype_size": Function(
        ctypes.c_int32,
        "Returns the size of one element in bytes. Local; callable at any time. Returns: SYNCYTE_ERR_TYPE for an unknown dtype.",
        Parameter("dtype", ctypes.c_int32, "in: element type"),
        Parameter("bytes", ctypes.POINTER(ctypes.c_size_t), "out: size of an element"),
    ),
    "syncyte_dtype_name": Function(
        ctypes.c_char_p,
        "Returns the name of an element type, for example \"float32\". Local; callable at any time. Returns: a constant string; \"unknown\" for an unknown dtype.",
        Parameter("dtype", ctypes.c_int32, "in: element type"),
    ),
    "syncyte_buffer_init": Function(
        ctypes.c_int32,
        "Fills a buffer for a contiguous row-major array in host memory. Local; callable at any time. Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (ndim, a negative extent, more than 2^63 - 1 bytes).",
        Parameter("data", ctypes.c_void_p, "in, optional: first element"),
        Parameter("dtype", ctypes.c_int32, "in: element type"),
        Parameter("ndim", ctypes.c_int32, "in: number of dimensions"),
        Parameter("shape", ctypes.POINTER(ctypes.c_int64), "in, optional, array of ndim: extents; may be null when ndim is 0"),
        Parameter("buffer", ctypes.POINTER(BufferDescription), "out: the description"),
    ),
    "syncyte_log": Function(
        ctypes.c_int32,
        "Writes a line with rank and severity to stderr, if SYNCYTE_LOG enables that severity. Local, thread-safe, callable at any time.",
        Parameter("level", ctypes.c_int32, "in: severity"),
        Parameter("message", ctypes.c_char_p, "in: text without a newline"),
    ),
    "syncyte_trace_set": Function(
        ctypes.c_int32,
        "Installs the trace hook of the process; null removes it. Local; callable at any time, not during operations.",
        Parameter("hook", TraceFn, "in, optional: function"),
        Parameter("context", ctypes.c_void_p, "in, optional: passed to every call; must outlive the hook"),
    ),
    "syncyte_stats": Function(
        ctypes.c_int32,
        "Returns the counters of an operation. Local, thread-safe, callable at any time. Returns: SYNCYTE_ERR_INDEX beyond the last one.",
        Parameter("index", ctypes.c_int64, "in: 0, 1, ... until the result is SYNCYTE_ERR_INDEX; operations that were never called are not listed"),
        Parameter("stats", ctypes.POINTER(OperationStats), "in,out: struct_size set by the caller; the rest is filled"),
    ),
    "syncyte_request_create": Function(
        ctypes.c_int32,
        "Makes a request of callbacks, for libraries on top of Syncyte. Local. Until the operation has ended, every wait of Syncyte on this rank calls poll, on any thread that may call MPI. Two callbacks of one request never run at once. The thread that tests or waits for the request gets the status, and the message that poll passed to syncyte_error_set(). Callbacks may call Syncyte's local functions, but must not start or end Syncyte. poll must not wait for another rank: while it runs, its thread polls no other request. syncyte_finalize() (or MPI_Finalize) polls active requests until they have ended, and frees their contexts; Syncyte can be called meanwhile. If a request has not ended 5 s after all ranks have entered finalize, an error is logged: the request stays active, and its context is not freed. Returns: SYNCYTE_ERR_UNSUPPORTED in a forked child.",
        Parameter("poll", RequestPollFn, "in: tests for completion"),
        Parameter("wait", RequestWaitFn, "in, optional: waits; if null, poll is called until it sets *done"),
        Parameter("free", RequestFreeFn, "in, optional: frees context"),
        Parameter("context", ctypes.c_void_p, "in, optional: passed to the callbacks; owned by the request on success"),
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "out: the request"),
    ),
    "syncyte_request_test": Function(
        ctypes.c_int32,
        "Tests a request without waiting. Local. If it has ended, returns its status and nulls the handle.",
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "in,out: a request; null counts as ended"),
        Parameter("done", ctypes.POINTER(ctypes.c_int32), "out: 1 if it has ended"),
    ),
    "syncyte_request_wait": Function(
        ctypes.c_int32,
        "Waits for a request, returns its status, and nulls the handle. Local. Returns: SYNCYTE_ERR_INTERRUPTED if the application ended the wait (syncyte_interrupt_set()): the request stays active. syncyte_request_wait_all() and syncyte_request_wait_any() do the same.",
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "in,out: a request; null counts as ended"),
    ),
    "syncyte_request_wait_all": Function(
        ctypes.c_int32,
        "Waits for all requests; returns the first status that is not success, after all have ended. Local.",
        Parameter("count", ctypes.c_int64, "in: number of requests"),
        Parameter("requests", ctypes.POINTER(ctypes.c_void_p), "in,out, array of count: requests, nulled; null ones are skipped"),
    ),
    "syncyte_request_wait_any": Function(
        ctypes.c_int32,
        "Waits until one of the requests ends, returns its status and nulls it. Local.",
        Parameter("count", ctypes.c_int64, "in: number of requests"),
        Parameter("requests", ctypes.POINTER(ctypes.c_void_p), "in,out, array of count: requests; null ones are skipped"),
        Parameter("index", ctypes.POINTER(ctypes.c_int64), "out: position of the request that ended; -1 if all were null"),
    ),
    "syncyte_request_destroy": Function(
        ctypes.c_int32,
        "Frees a request that has ended, and nulls the handle; a null handle is ignored. Local. Returns: SYNCYTE_ERR_BUSY while the operation is active (MPI cannot cancel).",
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "in,out: a request"),
    ),
    "syncyte_init": Function(
        ctypes.c_int32,
        "Starts Syncyte; initialises MPI if it is not initialised. Collective over MPI_COMM_WORLD; further calls do nothing. Returns: SYNCYTE_ERR_NOT_INITIALISED if MPI is already finalised. SYNCYTE_ERR_ARGUMENT on all ranks if one of them has bad options or a bad environment variable; MPI is then initialised, Syncyte is not, and init may be called again.",
        Parameter("options", ctypes.POINTER(InitOptions), "in, optional: null for defaults"),
    ),
    "syncyte_finalize": Function(
        ctypes.c_int32,
        "Ends Syncyte: frees all windows and communicators, and finalises MPI if syncyte_init() had initialised it. Collective over MPI_COMM_WORLD: waits for all ranks. Memory that a view still refers to stays readable. If the application finalises MPI first, this happens inside MPI_Finalize. If the process of a rank of this node has ended before, the function does not wait: it logs an error, frees nothing, and does not finalise MPI. Further calls, and calls in a forked child, do nothing.",
    ),
    "syncyte_watchdog_line_set": Function(
        ctypes.c_int32,
        "Installs the function that gives this rank's current source line to the watchdog's report; null removes it. The report says \"unknown\" if the function takes longer than a second. Local; callable at any time.",
        Parameter("hook", LineFn, "in, optional: function"),
        Parameter("context", ctypes.c_void_p, "in, optional: passed to every call; must outlive the hook"),
    ),
    "syncyte_interrupt_set": Function(
        ctypes.c_int32,
        "Installs a function that waits of the calling thread call ten times a second, for example to check for signals; null removes it. The process has one such function: a later call replaces it. Local; callable at any time. If the function returns non-zero, the wait returns SYNCYTE_ERR_INTERRUPTED, on this rank alone: - a request stays active, and may be waited for again; - a blocking receive is cancelled, or has received a message that had already arrived; - a blocking send may still arrive: its memory must stay unchanged until syncyte_finalize(); - a halo cannot be used after an interrupted blocking exchange or accumulate; neighbours may still wait for it; - after a collective the ranks of its communicator are out of step: every later collective on it returns SYNCYTE_ERR_INTERRUPTED on this rank; after a collective of the world communicator, syncyte_finalize() frees nothing, and does not finalise MPI. With SYNCYTE_CHECK=off collectives wait inside MPI, and do not call the function; syncyte_finalize() never does.",
        Parameter("hook", InterruptFn, "in, optional: function; may call Syncyte, but must not wait for the same operation"),
        Parameter("context", ctypes.c_void_p, "in, optional: passed to every call; must outlive the hook"),
    ),
    "syncyte_abort": Function(
        None,
        "Ends the whole job at once, as MPI_Abort does; does not return. Callable at any time, on any rank. In a forked child, ends only the child.",
        Parameter("exit_code", ctypes.c_int32, "in: what mpirun should return, 1 to 255"),
    ),
    "syncyte_initialized": Function(
        ctypes.c_int32,
        "Returns whether Syncyte is initialised. Local; callable at any time.",
        Parameter("flag", ctypes.POINTER(ctypes.c_int32), "out: 1 between init and finalize, also in a child forked then; otherwise 0"),
    ),
    "syncyte_thread_level": Function(
        ctypes.c_int32,
        "Returns the thread level that MPI provides: 0 single, 1 funneled, 2 serialized, 3 multiple. Local.",
        Parameter("level", ctypes.POINTER(ctypes.c_int32), "out: the level"),
    ),
    "syncyte_mpi_takes": Function(
        ctypes.c_int32,
        "Returns whether MPI accepts buffers in a kind of memory. It always accepts host memory. It accepts CUDA memory if this build has CUDA, the machine has a device, and the MPI library reports that it is CUDA-aware or SYNCYTE_CUDA_AWARE=on is set. Local. Operations that only move elements accept device buffers: messages, and blocking broadcasts, gathers, scatters and all-to-alls. The buffers must be dense, and cut along their first axis; if an operation has two buffers on a rank, both must be on devices. Work enqueued on them must be complete before the call. All other operations on a communicator return SYNCYTE_ERR_UNSUPPORTED for device memory. Returns: SYNCYTE_ERR_ARGUMENT for an unknown kind.",
        Parameter("memory", ctypes.c_int32, "in: kind"),
        Parameter("flag", ctypes.POINTER(ctypes.c_int32), "out: 1 or 0"),
    ),
    "syncyte_comm_world": Function(
        ctypes.c_int32,
        "Returns a reference to the communicator of all ranks. Local. All references have the same handle, in every job.",
        Parameter("comm", ctypes.POINTER(ctypes.c_void_p), "out: the communicator; to be destroyed as any other handle"),
    ),
    "syncyte_comm_self": Function(
        ctypes.c_int32,
        "Returns a reference to the communicator of this rank alone. Local. All references have the same handle, in every job.",
        Parameter("comm", ctypes.POINTER(ctypes.c_void_p), "out: the communicator; to be destroyed as any other handle"),
    ),
    "syncyte_comm_from_fortran": Function(
        ctypes.c_int32,
        "Makes a communicator from a Fortran handle (MPI_Comm_c2f, comm%MPI_VAL, mpi4py's py2f()), which is duplicated and stays the caller's. Collective over it. Returns: SYNCYTE_ERR_ARGUMENT for a null communicator, an inter-communicator and an invalid handle, on this rank alone: it cannot notify the others.",
        Parameter("fortran_handle", ctypes.c_int32, "in: an intra-communicator"),
        Parameter("options", ctypes.POINTER(CommOptions), "in, optional: null for defaults; all ranks get an error in one rank's options"),
        Parameter("comm", ctypes.POINTER(ctypes.c_void_p), "out: the communicator"),
    ),
    "syncyte_comm_to_fortran": Function(
        ctypes.c_int32,
        "Returns the MPI communicator of a handle, as a Fortran handle. Local. Syncyte owns it: use it only while comm is alive, and do not free it. Messages on it are separate from Syncyte's own.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("fortran_handle", ctypes.POINTER(ctypes.c_int32), "out: for MPI_Comm_f2c"),
    ),
    "syncyte_comm_dup": Function(
        ctypes.c_int32,
        "Duplicates a communicator. Collective.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("options", ctypes.POINTER(CommOptions), "in, optional: null for defaults"),
        Parameter("duplicate", ctypes.POINTER(ctypes.c_void_p), "out: the same ranks in the same order"),
    ),
    "syncyte_comm_split": Function(
        ctypes.c_int32,
        "Splits a communicator as MPI_Comm_split does. Collective; facts: options->check (colors and keys may differ). Returns: SYNCYTE_ERR_ARGUMENT for a color below -1.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("color", ctypes.c_int32, "in: ranks of the same color form a new communicator; -1: this rank gets a null handle"),
        Parameter("key", ctypes.c_int32, "in: order within the new communicator; ties are ordered by rank"),
        Parameter("options", ctypes.POINTER(CommOptions), "in, optional: null for defaults"),
        Parameter("part", ctypes.POINTER(ctypes.c_void_p), "out: the communicator of this rank's color"),
    ),
    "syncyte_comm_split_program": Function(
        ctypes.c_int32,
        "Splits a communicator by program, for jobs of several programs in one mpirun: ranks that pass the same name form a part. Collective.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("name", ctypes.c_char_p, "in, optional: name of this rank's program, 1 to 255 bytes; null: the executable's file name"),
        Parameter("options", ctypes.POINTER(CommOptions), "in, optional: null for defaults"),
        Parameter("part", ctypes.POINTER(ctypes.c_void_p), "out: this program's ranks, in rank order"),
    ),
    "syncyte_comm_node": Function(
        ctypes.c_int32,
        "Makes a communicator of the ranks of comm that share memory with this rank. Collective.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("options", ctypes.POINTER(CommOptions), "in, optional: null for defaults"),
        Parameter("node", ctypes.POINTER(ctypes.c_void_p), "out: this node's ranks, in rank order"),
    ),
    "syncyte_comm_leaders": Function(
        ctypes.c_int32,
        "Makes a communicator of the first rank of each node (comm's ranks with node_rank 0). Collective. A reduction on each node, then among leaders, crosses the network once per node.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("options", ctypes.POINTER(CommOptions), "in, optional: null for defaults"),
        Parameter("leaders", ctypes.POINTER(ctypes.c_void_p), "out: one rank per node, numbered as the nodes are; a null handle on the other ranks"),
    ),
    "syncyte_comm_group": Function(
        ctypes.c_int32,
        "Makes a communicator of some ranks of comm, in the order of the list. Collective over these ranks: only they call it, all with the same list and tag. The communicator is freed at finalize: make it once and re-use it. Returns: on all ranks of the list: SYNCYTE_ERR_ARGUMENT if it names a rank twice or one that is out of range, and SYNCYTE_ERR_MISMATCH if lists differ; after that no listed rank can make a group of comm. On this rank alone, which cannot notify the others: SYNCYTE_ERR_ARGUMENT for a list without this rank, a count or a tag out of range. Different lists are detected between ranks that list each other. The call waits for a rank that does not call.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator; threads that make groups of it at the same time use different tags"),
        Parameter("ranks", ctypes.POINTER(ctypes.c_int32), "in, array of count: ranks of comm, each once, this rank among them"),
        Parameter("count", ctypes.c_int64, "in: number of ranks, 1 or more"),
        Parameter("tag", ctypes.c_int32, "in: 0 to 1023"),
        Parameter("options", ctypes.POINTER(CommOptions), "in, optional: null for defaults; all ranks get an error in one rank's options"),
        Parameter("group", ctypes.POINTER(ctypes.c_void_p), "out: the communicator"),
    ),
    "syncyte_comm_topology": Function(
        ctypes.c_int32,
        "Returns the topology: the communicator's ranks on nodes. Local.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("topology", ctypes.POINTER(Topology), "in,out: struct_size set by the caller; the rest is filled"),
    ),
    "syncyte_comm_rank": Function(
        ctypes.c_int32,
        "Returns this process's number, 0 to size - 1. Local.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("rank", ctypes.POINTER(ctypes.c_int32), "out: the rank"),
    ),
    "syncyte_comm_size": Function(
        ctypes.c_int32,
        "Returns the number of ranks. Local.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("size", ctypes.POINTER(ctypes.c_int32), "out: the number"),
    ),
    "syncyte_comm_check_level": Function(
        ctypes.c_int32,
        "Returns the check level: 0 off, 1 on, 2 full (SYNCYTE_CHECK). Local.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("level", ctypes.POINTER(ctypes.c_int32), "out: the level that its ranks agreed on"),
    ),
    "syncyte_comm_sequence": Function(
        ctypes.c_int32,
        "Returns the number of collectives that this rank has begun on a communicator. Local. Each agreement compares it: after a successful collective it is equal on all ranks until the next one begins, and identifies that collective.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("number", ctypes.POINTER(ctypes.c_int64), "out: 0 on a new communicator"),
    ),
    "syncyte_comm_id": Function(
        ctypes.c_int32,
        "Returns the communicator's identifier: equal on all its ranks, unique among communicators of this and other jobs. Local.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("id", ctypes.POINTER(ctypes.c_int64), "out: 0 or more"),
    ),
    "syncyte_comm_retain": Function(
        ctypes.c_int32,
        "Adds a reference. Local, thread-safe, without MPI.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
    ),
    "syncyte_comm_release": Function(
        ctypes.c_int32,
        "Drops a reference. Local, thread-safe, without MPI. The last release makes the handle invalid. Objects made on the communicator keep it alive. It is freed at a collective point of its parent; one without a parent, at finalize.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
    ),
    "syncyte_comm_destroy": Function(
        ctypes.c_int32,
        "Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_comm_release().",
        Parameter("comm", ctypes.POINTER(ctypes.c_void_p), "in,out: a communicator"),
    ),
    "syncyte_trace_tell": Function(
        ctypes.c_int32,
        "Counts and traces an operation of a library on top, as if it were Syncyte's own. Local, thread-safe. Returns: SYNCYTE_ERR_ARGUMENT.",
        Parameter("comm", ctypes.c_void_p, "in: communicator whose name is stored in the event; if it is null or freed, the event keeps its own"),
        Parameter("event", ctypes.POINTER(TraceEvent), "in: the event; struct_size and operation are required"),
    ),
    "syncyte_comm_agree": Function(
        ctypes.c_int32,
        "Agreement: returns the same status on all ranks, from their statuses and facts. Collective; facts: operation and those given. Returns: on all ranks: SYNCYTE_SUCCESS; the highest status of any rank, with that rank's message; or SYNCYTE_ERR_MISMATCH, with a message that names the ranks that differ.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("status", ctypes.c_int32, "in: this rank's own status, one of syncyte_status_values; if it is not SYNCYTE_SUCCESS, all ranks get this thread's last error"),
        Parameter("operation", ctypes.c_char_p, "in: name for messages, equal on all ranks"),
        Parameter("count", ctypes.c_int32, "in: number of facts, 0 to 32"),
        Parameter("facts", ctypes.POINTER(Fact), "in, optional, array of count: numbers that must be equal on all ranks"),
    ),
    "syncyte_comm_agree_unlimited": Function(
        ctypes.c_int32,
        "Does the same as syncyte_comm_agree(), for ranks that may arrive late because of long work, such as writing a file: the watchdog shows the wait, with the operation's name, and does not end the job for it. Collective; facts: as syncyte_comm_agree(). Returns: as syncyte_comm_agree().",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("status", ctypes.c_int32, "in: as in syncyte_comm_agree()"),
        Parameter("operation", ctypes.c_char_p, "in: name for messages and the watchdog, equal on all ranks"),
        Parameter("count", ctypes.c_int32, "in: number of facts, 0 to 32"),
        Parameter("facts", ctypes.POINTER(Fact), "in, optional, array of count: numbers that must be equal on all ranks"),
    ),
    "syncyte_collect": Function(
        ctypes.c_int32,
        "Frees objects that all ranks have dropped: tensors, windows and communicators made on comm. Collective. Creation and sync free them too; call this to free memory without either.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
    ),
    "syncyte_comm_barrier": Function(
        ctypes.c_int32,
        "Returns when all ranks have called it. Collective.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
    ),
    "syncyte_comm_bcast": Function(
        ctypes.c_int32,
        "Sends root's elements to all ranks. Collective; facts: dtype, number of elements, root, options->fact. Returns: SYNCYTE_ERR_ARGUMENT (root), SYNCYTE_ERR_SHAPE (not contiguous), SYNCYTE_ERR_MISMATCH.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("root", ctypes.c_int32, "in: rank that sends its elements"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("buffer", ctypes.POINTER(BufferDescription), "in,out: contiguous; read on root, written elsewhere"),
    ),
    "syncyte_comm_allreduce": Function(
        ctypes.c_int32,
        "Reduces element by element over all ranks; all ranks get the result. Collective; facts: dtype, number of elements, op, options->fact. float16 and bfloat16 are reduced in float32 and rounded once. Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in, optional: contiguous; null: output's contents (in place)"),
        Parameter("op", ctypes.c_int32, "in: reduction"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "in,out: contiguous, of input's dtype and number of elements; must not overlap input"),
    ),
    "syncyte_comm_allgather": Function(
        ctypes.c_int32,
        "Concatenates contributions of equal size of all ranks, in rank order. Collective; facts: dtype, number of elements, options->fact.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: contiguous"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: contiguous, of input's dtype and size times as many elements; must not overlap input"),
    ),
    "syncyte_comm_allgatherv": Function(
        ctypes.c_int32,
        "Concatenates contributions of different sizes, in rank order. Collective; facts: dtype, counts, options->fact.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: contiguous, counts[rank] elements"),
        Parameter("counts", ctypes.POINTER(ctypes.c_int64), "in, array of counts_length: elements of every rank, 0 or more, equal on all ranks"),
        Parameter("counts_length", ctypes.c_int64, "in: length of counts: comm's size"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: contiguous, the sum of counts elements; must not overlap input"),
    ),
    "syncyte_comm_alltoallv": Function(
        ctypes.c_int32,
        "Every rank sends a piece to every rank. Collective; facts: dtype, options->fact, and that the count that rank i sends to j equals the count that j expects from i (compared as a 64-bit sum of hashes; with SYNCYTE_CHECK=full entry by entry).",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: contiguous, the pieces in order of target ranks"),
        Parameter("send_counts", ctypes.POINTER(ctypes.c_int64), "in, array of send_counts_length: elements for every rank"),
        Parameter("send_counts_length", ctypes.c_int64, "in: length of send_counts: comm's size"),
        Parameter("recv_counts", ctypes.POINTER(ctypes.c_int64), "in, array of recv_counts_length: elements from every rank"),
        Parameter("recv_counts_length", ctypes.c_int64, "in: length of recv_counts: comm's size"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: contiguous, the pieces in order of source ranks; must not overlap input"),
    ),
    "syncyte_comm_neighbor_alltoall": Function(
        ctypes.c_int32,
        "Exchanges a block with each neighbour on a grid. Collective over a Cartesian communicator; after the agreement it waits for the neighbours only. Facts: dtype, number of elements, options->fact. A buffer has two blocks for each dimension, all of equal size: one for the neighbour below, then one for the neighbour above. The block that a rank sends up arrives in the neighbour's block \"below\", also if a periodic dimension has one or two ranks, so that both neighbours are one rank. Beyond an edge that is not periodic there is no neighbour: that block of input is not read, and that of output not written. The operation is its own adjoint if those blocks are 0. Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian), SYNCYTE_ERR_SHAPE (elements are not a multiple of 2 ndim).",
        Parameter("comm", ctypes.c_void_p, "in: a Cartesian communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: contiguous, a block for each neighbour"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: contiguous, of input's dtype and number of elements; must not overlap input"),
    ),
    "syncyte_comm_reduce": Function(
        ctypes.c_int32,
        "Reduces element by element over all ranks, to root. Collective; facts: dtype, number of elements, op, root, options->fact. float16 and bfloat16 are reduced in float32 and rounded once. Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in, optional: contiguous; null on root: output's contents (in place)"),
        Parameter("op", ctypes.c_int32, "in: reduction"),
        Parameter("root", ctypes.c_int32, "in: rank that gets the result"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "in,out, optional: on root: contiguous, of input's dtype and number of elements, not overlapping it; elsewhere neither read nor written, may be null"),
    ),
    "syncyte_comm_scan": Function(
        ctypes.c_int32,
        "Reduces element by element over the ranks from the first (or the last) to this one, its own included. Collective; facts: dtype, number of elements, op, from, options->fact. Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in, optional: contiguous; null: output's contents (in place)"),
        Parameter("op", ctypes.c_int32, "in: reduction"),
        Parameter("from", ctypes.c_int32, "in: where the scan begins"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "in,out: contiguous, of input's dtype and number of elements; must not overlap input"),
    ),
    "syncyte_comm_exscan": Function(
        ctypes.c_int32,
        "Exclusive scan: does the same as syncyte_comm_scan(), without this rank's own elements. The rank where it begins gets the identity element of op: 0 for SUM, 1 for PROD, the highest value (or infinity) for MIN, the lowest for MAX. Collective; facts as syncyte_comm_scan(). Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in, optional: contiguous; null: output's contents (in place)"),
        Parameter("op", ctypes.c_int32, "in: reduction"),
        Parameter("from", ctypes.c_int32, "in: where the scan begins"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "in,out: contiguous, of input's dtype and number of elements; must not overlap input"),
    ),
    "syncyte_comm_counts": Function(
        ctypes.c_int32,
        "Collects one number from each rank, usually an extent. Collective; facts: options->fact.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("count", ctypes.c_int64, "in: this rank's number, 0 or more"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("counts", ctypes.POINTER(ctypes.c_int64), "out, array of counts_length: the numbers of all ranks, in rank order"),
        Parameter("counts_length", ctypes.c_int64, "in: length of counts: comm's size"),
    ),
    "syncyte_comm_gather_along": Function(
        ctypes.c_int32,
        "Joins the ranks' parts along an axis, on root. Collective; facts: dtype, extents of the other axes, axis, counts, root, options->fact.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: this rank's part"),
        Parameter("axis", ctypes.c_int32, "in: dimension along which the parts are joined"),
        Parameter("counts", ctypes.POINTER(ctypes.c_int64), "in, array of counts_length: extents of the parts along the axis, equal on all ranks"),
        Parameter("counts_length", ctypes.c_int64, "in: length of counts: comm's size"),
        Parameter("root", ctypes.c_int32, "in: rank that gets the whole array"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out, optional: on root: the whole array, not overlapping input; elsewhere ignored, may be null"),
    ),
    "syncyte_comm_allgather_along": Function(
        ctypes.c_int32,
        "Joins the ranks' parts along an axis, on all ranks. Collective; facts as syncyte_comm_gather_along(), without root.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: this rank's part"),
        Parameter("axis", ctypes.c_int32, "in: dimension along which the parts are joined"),
        Parameter("counts", ctypes.POINTER(ctypes.c_int64), "in, array of counts_length: extents of the parts along the axis, equal on all ranks"),
        Parameter("counts_length", ctypes.c_int64, "in: length of counts: comm's size"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: the whole array, not overlapping input"),
    ),
    "syncyte_comm_scatter_along": Function(
        ctypes.c_int32,
        "Cuts root's array along an axis, a part for every rank. Collective; facts as syncyte_comm_gather_along().",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in, optional: on root: the whole array; elsewhere ignored, may be null"),
        Parameter("axis", ctypes.c_int32, "in: dimension to cut"),
        Parameter("counts", ctypes.POINTER(ctypes.c_int64), "in, array of counts_length: extents of the parts along the axis, equal on all ranks"),
        Parameter("counts_length", ctypes.c_int64, "in: length of counts: comm's size"),
        Parameter("root", ctypes.c_int32, "in: rank that has the whole array"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: this rank's part, not overlapping input"),
    ),
    "syncyte_comm_reduce_scatter_along": Function(
        ctypes.c_int32,
        "Reduces the ranks' whole arrays element by element, and gives each rank its part of the result. Collective; facts: dtype, extents, axis, counts, op, options->fact. float16 and bfloat16 are reduced in float32 and rounded once. Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: a whole array"),
        Parameter("axis", ctypes.c_int32, "in: dimension to cut"),
        Parameter("counts", ctypes.POINTER(ctypes.c_int64), "in, array of counts_length: extents of the parts along the axis, equal on all ranks"),
        Parameter("counts_length", ctypes.c_int64, "in: length of counts: comm's size"),
        Parameter("op", ctypes.c_int32, "in: reduction"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: this rank's part, not overlapping input"),
    ),
    "syncyte_comm_alltoall_along": Function(
        ctypes.c_int32,
        "Changes the axis along which an array is partitioned over the ranks (a parallel transposition); with equal axes, changes the extents of its parts. Collective; facts: dtype, extents of the other axes, both axes, all counts, options->fact. Rank r passes its part of extent gather_counts[r] along gather_axis, and gets its part of extent scatter_counts[r] along scatter_axis; the extent along the other axis is that of the whole array.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: this rank's part along gather_axis"),
        Parameter("gather_axis", ctypes.c_int32, "in: dimension along which the inputs are parts"),
        Parameter("gather_counts", ctypes.POINTER(ctypes.c_int64), "in, array of gather_counts_length: their extents, equal on all ranks"),
        Parameter("gather_counts_length", ctypes.c_int64, "in: length of gather_counts: comm's size"),
        Parameter("scatter_axis", ctypes.c_int32, "in: dimension along which the outputs are parts"),
        Parameter("scatter_counts", ctypes.POINTER(ctypes.c_int64), "in, array of scatter_counts_length: their extents, equal on all ranks"),
        Parameter("scatter_counts_length", ctypes.c_int64, "in: length of scatter_counts: comm's size"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: this rank's part along scatter_axis, not overlapping input"),
    ),
    "syncyte_memory_acquire": Function(
        ctypes.c_int32,
        "Acquires a buffer from the pool, recycled if possible. Its contents are undefined; its alignment is 64 bytes. Returns: SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED (no such memory in this build), SYNCYTE_ERR_ARGUMENT (device).",
        Parameter("bytes", ctypes.c_size_t, "in: size; 0 gives a null pointer"),
        Parameter("memory", ctypes.c_int32, "in: kind of memory"),
        Parameter("device", ctypes.c_int32, "in: number of the device; 0 for host memory"),
        Parameter("data", ctypes.POINTER(ctypes.c_void_p), "out: the buffer, to be released by syncyte_memory_release()"),
    ),
    "syncyte_memory_release": Function(
        ctypes.c_int32,
        "Releases a buffer to the pool. Returns: SYNCYTE_ERR_ARGUMENT for a pointer that is not the pool's, or that was released before.",
        Parameter("data", ctypes.c_void_p, "in, optional: a buffer of syncyte_memory_acquire(); null is ignored"),
    ),
    "syncyte_memory_trim": Function(
        ctypes.c_int32,
        "Returns all cached buffers to the system.",
    ),
    "syncyte_memory_stats": Function(
        ctypes.c_int32,
        "Returns statistics of the pool of host buffers.",
        Parameter("stats", ctypes.POINTER(MemoryStats), "in,out: struct_size set by the caller; the rest is filled"),
    ),
    "syncyte_memory_device_count": Function(
        ctypes.c_int32,
        "Returns the number of devices of a kind of memory: 1 for host memory; for CUDA 0 without a driver, or in a build without CUDA.",
        Parameter("memory", ctypes.c_int32, "in: kind"),
        Parameter("count", ctypes.POINTER(ctypes.c_int32), "out: number of devices"),
    ),
    "syncyte_memory_copy": Function(
        ctypes.c_int32,
        "Copies bytes between contiguous buffers of any memory kinds; returns when the copy is done or, with a stream, when it is queued. Returns: SYNCYTE_ERR_SHAPE (different sizes, not contiguous), SYNCYTE_ERR_UNSUPPORTED.",
        Parameter("target", ctypes.POINTER(BufferDescription), "out: buffer to write; shape and dtype may differ from source, the number of bytes may not"),
        Parameter("source", ctypes.POINTER(BufferDescription), "in: buffer to read; must not overlap target"),
        Parameter("stream", ctypes.c_void_p, "in, optional: a cudaStream_t; null waits for completion"),
    ),
    "syncyte_cache_allocate": Function(
        ctypes.c_int32,
        "Allocates a cache of zeros. The system provides its pages when they are first touched. Default sizes are scaled down, with a warning in the log, if the machine or its control group has less memory. Returns: SYNCYTE_ERR_MEMORY (the machine has less than the chosen sizes), SYNCYTE_ERR_ARGUMENT.",
        Parameter("sizes", ctypes.POINTER(CacheSizes), "in, optional: null for defaults"),
        Parameter("cache", ctypes.POINTER(ctypes.c_void_p), "out: the cache"),
    ),
    "syncyte_cache_retain": Function(
        ctypes.c_int32,
        "Adds a reference.",
        Parameter("cache", ctypes.c_void_p, "in: a cache"),
    ),
    "syncyte_cache_release": Function(
        ctypes.c_int32,
        "Drops a reference. Slices keep the memory until they are cleared.",
        Parameter("cache", ctypes.c_void_p, "in: a cache"),
    ),
    "syncyte_cache_destroy": Function(
        ctypes.c_int32,
        "Drops a reference and nulls the handle; a null handle is ignored.",
        Parameter("cache", ctypes.POINTER(ctypes.c_void_p), "in,out: a cache"),
    ),
    "syncyte_cache_send": Function(
        ctypes.c_int32,
        "Sends a cache to one process of the same user, which calls syncyte_cache_receive() before or after. Waits for it. Returns: SYNCYTE_ERR_TIMEOUT (no process has received it), SYNCYTE_ERR_BUSY (another process sends under this name), SYNCYTE_ERR_ARGUMENT (the name; a folder of another user, or that other users can open), SYNCYTE_ERR_IO, SYNCYTE_ERR_INTERRUPTED.",
        Parameter("cache", ctypes.c_void_p, "in: a cache; this process keeps its reference"),
        Parameter("rendezvous", ctypes.POINTER(CacheRendezvous), "in, optional: socket and time limit; null for defaults"),
    ),
    "syncyte_cache_receive": Function(
        ctypes.c_int32,
        "Receives a cache that another process of the same user sends. Waits for it. Returns: SYNCYTE_ERR_TIMEOUT (no process has sent one), SYNCYTE_ERR_ARGUMENT (as for syncyte_cache_send(); a nonce that differs from the sender's), SYNCYTE_ERR_FORMAT (the received file is not a cache), SYNCYTE_ERR_VERSION (a cache of another version), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_IO, SYNCYTE_ERR_INTERRUPTED.",
        Parameter("rendezvous", ctypes.POINTER(CacheRendezvous), "in, optional: socket and time limit; null for defaults"),
        Parameter("cache", ctypes.POINTER(ctypes.c_void_p), "out: the cache"),
    ),
    "syncyte_cache_sizes": Function(
        ctypes.c_int32,
        "Returns the sizes of a cache's parts, in bytes.",
        Parameter("cache", ctypes.c_void_p, "in: a cache"),
        Parameter("parameter_bytes", ctypes.POINTER(ctypes.c_int64), "out: bytes from offset 0 on"),
        Parameter("computation_bytes", ctypes.POINTER(ctypes.c_int64), "out: bytes from offset parameter_bytes on"),
    ),
    "syncyte_cache_data": Function(
        ctypes.c_int32,
        "Returns the address of a cache in this process, a multiple of 2 MiB; it differs between processes.",
        Parameter("cache", ctypes.c_void_p, "in: a cache"),
        Parameter("data", ctypes.POINTER(ctypes.c_void_p), "out: its memory, valid while this process has a reference or a slice of the cache"),
    ),
    "syncyte_cache_touch": Function(
        ctypes.c_int32,
        "Makes bytes resident in this process, in huge pages if the machine has some, so that first uses do not wait for pages. Contents are kept. Returns: SYNCYTE_ERR_ARGUMENT (outside the cache), SYNCYTE_ERR_MEMORY (more than the machine has).",
        Parameter("cache", ctypes.c_void_p, "in: a cache"),
        Parameter("offset", ctypes.c_int64, "in: 0 or more"),
        Parameter("size", ctypes.c_int64, "in: bytes from offset on, 0 or more"),
    ),
    "syncyte_cache_insert": Function(
        ctypes.c_int32,
        "Inserts a slice: the calling thread acquires blocks from these bytes, until it inserts another slice or calls syncyte_cache_clear(). Returns: SYNCYTE_ERR_ARGUMENT (outside the cache, not a multiple), SYNCYTE_ERR_BUSY (overlaps a slice that a thread of this process has inserted and not cleared, or that has blocks of an ended thread or of a forked child's parent).",
        Parameter("cache", ctypes.c_void_p, "in: a cache"),
        Parameter("offset", ctypes.c_int64, "in: a multiple of 512"),
        Parameter("size", ctypes.c_int64, "in: bytes from offset on, a multiple of 512, 512 or more"),
    ),
    "syncyte_cache_insert_for_parameter": Function(
        ctypes.c_int32,
        "Inserts the part for parameters: syncyte_cache_insert(cache, 0, parameter_bytes). Returns: SYNCYTE_ERR_BUSY, as syncyte_cache_insert().",
        Parameter("cache", ctypes.c_void_p, "in: a cache"),
    ),
    "syncyte_cache_insert_for_computation": Function(
        ctypes.c_int32,
        "Inserts the part for computation: syncyte_cache_insert(cache, parameter_bytes, computation_bytes). Returns: SYNCYTE_ERR_BUSY, as syncyte_cache_insert().",
        Parameter("cache", ctypes.c_void_p, "in: a cache"),
    ),
    "syncyte_cache_clear": Function(
        ctypes.c_int32,
        "Removes all slices that the calling thread has inserted, of all caches. Returns: SYNCYTE_ERR_BUSY, naming offsets and sizes, while blocks of them are in use: nothing has changed then.",
    ),
    "syncyte_cache_acquire": Function(
        ctypes.c_int32,
        "Acquires a block from the slice that the calling thread has inserted last. A full slice is an error: there is no fallback to other memory. Returns: SYNCYTE_ERR_MEMORY (the slice has no room), SYNCYTE_ERR_ARGUMENT.",
        Parameter("bytes", ctypes.c_int64, "in: 0 or more; rounded up to a multiple of 512, at least 512"),
        Parameter("data", ctypes.POINTER(ctypes.c_void_p), "out: a block at a multiple of 512 bytes; null if the thread has inserted no slice"),
    ),
    "syncyte_cache_holds": Function(
        ctypes.c_int32,
        "Returns whether a pointer lies in a slice that a thread of this process has inserted.",
        Parameter("data", ctypes.c_void_p, "in, optional: any pointer"),
        Parameter("holds", ctypes.POINTER(ctypes.c_int32), "out: 1 if so, otherwise 0"),
    ),
    "syncyte_cache_free": Function(
        ctypes.c_int32,
        "Frees a block, from any thread. Returns: SYNCYTE_ERR_ARGUMENT for another pointer, or one that was freed before.",
        Parameter("data", ctypes.c_void_p, "in, optional: a block of syncyte_cache_acquire(); null is ignored"),
    ),
    "syncyte_message_highest_tag": Function(
        ctypes.c_int32,
        "Returns the highest tag that a message may have. Local.",
        Parameter("tag", ctypes.POINTER(ctypes.c_int32), "out: at least 4094"),
    ),
    "syncyte_comm_send": Function(
        ctypes.c_int32,
        "Sends an array. Local; returns when its memory may be used again, possibly before the receive. Returns: SYNCYTE_ERR_ARGUMENT (dest, tag).",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("buffer", ctypes.POINTER(BufferDescription), "in: array to send; any strides"),
        Parameter("dest", ctypes.c_int32, "in: rank of the receiver, or SYNCYTE_PROC_NULL"),
        Parameter("tag", ctypes.c_int32, "in: 0 to syncyte_message_highest_tag()"),
        Parameter("options", ctypes.POINTER(MessageOptions), "in, optional: null for defaults"),
    ),
    "syncyte_comm_recv": Function(
        ctypes.c_int32,
        "Receives an array. Local; waits for the message. Returns: SYNCYTE_ERR_ARGUMENT (source, tag), SYNCYTE_ERR_MISMATCH (dtype, shape).",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("source", ctypes.c_int32, "in: rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL"),
        Parameter("tag", ctypes.c_int32, "in: the sender's, or SYNCYTE_ANY (in channel 0)"),
        Parameter("options", ctypes.POINTER(MessageOptions), "in, optional: null for defaults"),
        Parameter("buffer", ctypes.POINTER(BufferDescription), "in,out: array to receive into; any strides, but 0 only if the extent is 1"),
        Parameter("status", ctypes.POINTER(MessageStatus), "in,out, optional: struct_size set by the caller; the rest is filled"),
    ),
    "syncyte_comm_isend": Function(
        ctypes.c_int32,
        "Starts to send an array. Local; does not wait. Returns: SYNCYTE_ERR_ARGUMENT (dest, tag).",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("buffer", ctypes.POINTER(BufferDescription), "in: array to send; its memory must stay, unchanged, until the request has ended"),
        Parameter("dest", ctypes.c_int32, "in: rank of the receiver, or SYNCYTE_PROC_NULL"),
        Parameter("tag", ctypes.c_int32, "in: 0 to syncyte_message_highest_tag()"),
        Parameter("options", ctypes.POINTER(MessageOptions), "in, optional: null for defaults"),
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "out: ends when the memory may be used again"),
    ),
    "syncyte_comm_irecv": Function(
        ctypes.c_int32,
        "Starts to receive an array. Local; does not wait. The request's status is that of syncyte_comm_recv(). Returns: SYNCYTE_ERR_ARGUMENT (source, tag).",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("source", ctypes.c_int32, "in: rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL"),
        Parameter("tag", ctypes.c_int32, "in: the sender's, or SYNCYTE_ANY (in channel 0)"),
        Parameter("options", ctypes.POINTER(MessageOptions), "in, optional: null for defaults"),
        Parameter("buffer", ctypes.POINTER(BufferDescription), "in: array to receive into; its memory must stay, and may not be read, until the request has ended"),
        Parameter("status", ctypes.POINTER(MessageStatus), "in,out, optional: struct_size set by the caller; filled when the request ends, and must stay until then"),
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "out: ends when the array has arrived"),
    ),
    "syncyte_comm_sendrecv": Function(
        ctypes.c_int32,
        "Sends one array and receives another, without deadlock in any order of arrival. Local; waits for both. Returns: as syncyte_comm_send() and syncyte_comm_recv().",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("send_buffer", ctypes.POINTER(BufferDescription), "in: array to send; any strides"),
        Parameter("dest", ctypes.c_int32, "in: rank of the receiver, or SYNCYTE_PROC_NULL"),
        Parameter("send_tag", ctypes.c_int32, "in: 0 to syncyte_message_highest_tag()"),
        Parameter("source", ctypes.c_int32, "in: rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL"),
        Parameter("recv_tag", ctypes.c_int32, "in: the sender's, or SYNCYTE_ANY (in channel 0)"),
        Parameter("options", ctypes.POINTER(MessageOptions), "in, optional: null for defaults"),
        Parameter("recv_buffer", ctypes.POINTER(BufferDescription), "in,out: array to receive into; strides as in syncyte_comm_recv(); must not overlap send_buffer"),
        Parameter("status", ctypes.POINTER(MessageStatus), "in,out, optional: struct_size set by the caller; the rest is filled"),
    ),
    "syncyte_comm_ibcast": Function(
        ctypes.c_int32,
        "Starts syncyte_comm_bcast(). Collective; does not wait. Facts as there.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("root", ctypes.c_int32, "in: rank that sends its elements"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("buffer", ctypes.POINTER(BufferDescription), "in,out: contiguous; read on root, written elsewhere"),
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "out: ends when buffer may be used again"),
    ),
    "syncyte_comm_iallreduce": Function(
        ctypes.c_int32,
        "Starts syncyte_comm_allreduce(). Collective; does not wait. Facts as there. Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in, optional: contiguous; null: output's contents (in place)"),
        Parameter("op", ctypes.c_int32, "in: reduction"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "in,out: contiguous, of input's dtype and number of elements; must not overlap input"),
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "out: ends when output holds the result"),
    ),
    "syncyte_comm_iallgather_along": Function(
        ctypes.c_int32,
        "Starts syncyte_comm_allgather_along(). Collective; does not wait. Facts as there.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: this rank's part"),
        Parameter("axis", ctypes.c_int32, "in: dimension along which the parts are joined"),
        Parameter("counts", ctypes.POINTER(ctypes.c_int64), "in, array of counts_length: extents of the parts along the axis, equal on all ranks"),
        Parameter("counts_length", ctypes.c_int64, "in: length of counts: comm's size"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: the whole array, not overlapping input"),
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "out: ends when output holds the result"),
    ),
    "syncyte_comm_ireduce_scatter_along": Function(
        ctypes.c_int32,
        "Starts syncyte_comm_reduce_scatter_along(). Collective; does not wait. Facts as there. Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: a whole array"),
        Parameter("axis", ctypes.c_int32, "in: dimension to cut"),
        Parameter("counts", ctypes.POINTER(ctypes.c_int64), "in, array of counts_length: extents of the parts along the axis, equal on all ranks"),
        Parameter("counts_length", ctypes.c_int64, "in: length of counts: comm's size"),
        Parameter("op", ctypes.c_int32, "in: reduction"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: this rank's part, not overlapping input"),
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "out: ends when output holds the result"),
    ),
    "syncyte_comm_ialltoall_along": Function(
        ctypes.c_int32,
        "Starts syncyte_comm_alltoall_along(). Collective; does not wait. Facts as there.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("input", ctypes.POINTER(BufferDescription), "in: this rank's part along gather_axis"),
        Parameter("gather_axis", ctypes.c_int32, "in: dimension along which the inputs are parts"),
        Parameter("gather_counts", ctypes.POINTER(ctypes.c_int64), "in, array of gather_counts_length: their extents, equal on all ranks"),
        Parameter("gather_counts_length", ctypes.c_int64, "in: length of gather_counts: comm's size"),
        Parameter("scatter_axis", ctypes.c_int32, "in: dimension along which the outputs are parts"),
        Parameter("scatter_counts", ctypes.POINTER(ctypes.c_int64), "in, array of scatter_counts_length: their extents, equal on all ranks"),
        Parameter("scatter_counts_length", ctypes.c_int64, "in: length of scatter_counts: comm's size"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: this rank's part along scatter_axis, not overlapping input"),
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "out: ends when output holds the result"),
    ),
    "syncyte_comm_ifail": Function(
        ctypes.c_int32,
        "Takes part in the agreement of a non-blocking collective that this rank cannot start, for libraries on top whose own checks have failed: the other ranks get the error from test or wait. Collective, in place of the start; does not wait. The error is the thread's last error (syncyte_error_set()). Does nothing with SYNCYTE_CHECK=off.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("status", ctypes.c_int32, "in: status of the error, not SYNCYTE_SUCCESS"),
        Parameter("operation", ctypes.c_char_p, "in: for messages, for example \"comm_iallreduce\""),
    ),
    "syncyte_cart_create": Function(
        ctypes.c_int32,
        "Makes a Cartesian communicator of the first ranks of a communicator. Collective; facts: ndim, extents, periods. Returns: SYNCYTE_ERR_ARGUMENT if the grid is larger than the communicator, or if extents cannot be chosen because the number of ranks is not a multiple of the given ones.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("ndim", ctypes.c_int32, "in: dimensions of the grid, 1 to SYNCYTE_MAX_NDIM"),
        Parameter("extents", ctypes.POINTER(ctypes.c_int32), "in, array of ndim: ranks along each dimension; 0: chosen, so that the grid holds all ranks and the chosen extents are as even as possible (MPI_Dims_create)"),
        Parameter("periods", ctypes.POINTER(ctypes.c_int32), "in, optional, array of ndim: for each dimension 1 if it is periodic (the last rank's neighbour is the first one), otherwise 0; null: 0 for all"),
        Parameter("options", ctypes.POINTER(CommOptions), "in, optional: null for defaults"),
        Parameter("cart", ctypes.POINTER(ctypes.c_void_p), "out: the Cartesian communicator; a null handle on ranks beyond the grid"),
    ),
    "syncyte_cart_ndim": Function(
        ctypes.c_int32,
        "Returns the number of dimensions of the grid; 0 for a communicator that is not Cartesian. Local.",
        Parameter("cart", ctypes.c_void_p, "in: a communicator"),
        Parameter("ndim", ctypes.POINTER(ctypes.c_int32), "out: the number"),
    ),
    "syncyte_cart_grid": Function(
        ctypes.c_int32,
        "Returns extents and periods of the grid. Local. Returns: SYNCYTE_ERR_ARGUMENT if cart is not Cartesian or has another number of dimensions.",
        Parameter("cart", ctypes.c_void_p, "in: a Cartesian communicator"),
        Parameter("ndim", ctypes.c_int32, "in: its number of dimensions"),
        Parameter("extents", ctypes.POINTER(ctypes.c_int32), "out, optional, array of ndim: ranks along each dimension"),
        Parameter("periods", ctypes.POINTER(ctypes.c_int32), "out, optional, array of ndim: 1 for a periodic dimension, otherwise 0"),
    ),
    "syncyte_cart_coordinates": Function(
        ctypes.c_int32,
        "Returns a rank's coordinates on the grid. Local. Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, rank, ndim).",
        Parameter("cart", ctypes.c_void_p, "in: a Cartesian communicator"),
        Parameter("rank", ctypes.c_int32, "in: one of its ranks"),
        Parameter("ndim", ctypes.c_int32, "in: its number of dimensions"),
        Parameter("coordinates", ctypes.POINTER(ctypes.c_int32), "out, array of ndim: 0 to the extents - 1"),
    ),
    "syncyte_cart_rank": Function(
        ctypes.c_int32,
        "Returns the rank at some coordinates. Local. Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, ndim).",
        Parameter("cart", ctypes.c_void_p, "in: a Cartesian communicator"),
        Parameter("ndim", ctypes.c_int32, "in: its number of dimensions"),
        Parameter("coordinates", ctypes.POINTER(ctypes.c_int32), "in, array of ndim: any numbers; they wrap round in periodic dimensions"),
        Parameter("rank", ctypes.POINTER(ctypes.c_int32), "out: the rank; SYNCYTE_PROC_NULL beyond the edge of a dimension that is not periodic"),
    ),
    "syncyte_cart_shift": Function(
        ctypes.c_int32,
        "Returns this rank's neighbours in a shift, in which all ranks send `displacement` places up along a dimension. Local. Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, dimension).",
        Parameter("cart", ctypes.c_void_p, "in: a Cartesian communicator"),
        Parameter("dimension", ctypes.c_int32, "in: 0 to ndim - 1"),
        Parameter("displacement", ctypes.c_int32, "in: number of places; negative: down"),
        Parameter("source", ctypes.POINTER(ctypes.c_int32), "out, optional: rank that sends to this rank; SYNCYTE_PROC_NULL beyond an edge"),
        Parameter("dest", ctypes.POINTER(ctypes.c_int32), "out, optional: rank that receives from this rank; SYNCYTE_PROC_NULL beyond an edge"),
    ),
    "syncyte_halo_create": Function(
        ctypes.c_int32,
        "Makes a halo. Collective over cart; facts: dtype, ndim, axes, low, high, options->corners, extents along the other axes. Extents along a cut axis may differ, but must be equal on ranks with the same place along that dimension. Returns: SYNCYTE_ERR_ARGUMENT (cart is not Cartesian, axes, widths), SYNCYTE_ERR_SHAPE (no room for the ghosts; an interior smaller than a neighbour's ghosts of it), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MISMATCH.",
        Parameter("cart", ctypes.c_void_p, "in: a Cartesian communicator, which the halo keeps alive"),
        Parameter("dtype", ctypes.c_int32, "in: element type of the arrays"),
        Parameter("ndim", ctypes.c_int32, "in: dimensions of the arrays, at least those of the grid"),
        Parameter("shape", ctypes.POINTER(ctypes.c_int64), "in, array of ndim: extents of this rank's arrays, ghosts included"),
        Parameter("axes", ctypes.POINTER(ctypes.c_int32), "in, optional, array of axes_length: axis that each dimension of the grid cuts; negative ones count from the end; null: 0, 1, ..."),
        Parameter("axes_length", ctypes.c_int64, "in: length of axes: the grid's dimensions; ignored if axes is null"),
        Parameter("low", ctypes.POINTER(ctypes.c_int64), "in, array of low_length: ghost cells at the low end of each of these axes, 0 or more"),
        Parameter("low_length", ctypes.c_int64, "in: length of low: the grid's dimensions"),
        Parameter("high", ctypes.POINTER(ctypes.c_int64), "in, array of high_length: ghost cells at the high end"),
        Parameter("high_length", ctypes.c_int64, "in: length of high: the grid's dimensions"),
        Parameter("options", ctypes.POINTER(HaloOptions), "in, optional: null for defaults"),
        Parameter("halo", ctypes.POINTER(ctypes.c_void_p), "out: the halo"),
    ),
    "syncyte_halo_retain": Function(
        ctypes.c_int32,
        "Adds a reference. Local, thread-safe, without MPI.",
        Parameter("halo", ctypes.c_void_p, "in: a halo"),
    ),
    "syncyte_halo_release": Function(
        ctypes.c_int32,
        "Drops a reference; the last release makes the handle invalid. Local, thread-safe, without MPI: a halo's memory is local, unlike a window's, and is freed at once, or when its exchange in flight has ended.",
        Parameter("halo", ctypes.c_void_p, "in: a halo"),
    ),
    "syncyte_halo_destroy": Function(
        ctypes.c_int32,
        "Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_halo_release().",
        Parameter("halo", ctypes.POINTER(ctypes.c_void_p), "in,out: a halo"),
    ),
    "syncyte_halo_describe": Function(
        ctypes.c_int32,
        "Returns the arrays that a halo is for. Local.",
        Parameter("halo", ctypes.c_void_p, "in: a halo"),
        Parameter("array", ctypes.POINTER(BufferDescription), "out: dtype and shape, without memory"),
        Parameter("interior", ctypes.POINTER(BufferDescription), "out, optional: the interior of a contiguous array: shape, strides, and the offset of its first cell in bytes, as data"),
    ),
    "syncyte_halo_comm": Function(
        ctypes.c_int32,
        "Returns the communicator of a halo. Local.",
        Parameter("halo", ctypes.c_void_p, "in: a halo"),
        Parameter("cart", ctypes.POINTER(ctypes.c_void_p), "out: a new reference to it, to be destroyed as any other handle"),
    ),
    "syncyte_halo_exchange": Function(
        ctypes.c_int32,
        "Fills the ghosts. All ranks of the communicator call it; waits for the neighbours only. Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE; the status of a neighbour that failed; SYNCYTE_ERR_MISMATCH if a neighbour calls another function of the halo; SYNCYTE_ERR_BUSY while another exchange of this halo is in flight.",
        Parameter("halo", ctypes.c_void_p, "in: a halo"),
        Parameter("array", ctypes.POINTER(BufferDescription), "in,out: array of the halo's dtype and shape; any strides, but 0 only if the extent is 1"),
    ),
    "syncyte_halo_accumulate": Function(
        ctypes.c_int32,
        "Adjoint of syncyte_halo_exchange(): adds the ghosts to the cells that they copy, and sets them to 0. All ranks of the communicator call it; waits for the neighbours only. bool is added as a logical or; 16-bit floats are rounded at every addition. Returns: as syncyte_halo_exchange().",
        Parameter("halo", ctypes.c_void_p, "in: a halo"),
        Parameter("array", ctypes.POINTER(BufferDescription), "in,out: array of the halo's dtype and shape; any strides, but 0 only if the extent is 1"),
    ),
    "syncyte_halo_transfer": Function(
        ctypes.c_int32,
        "Exchanges or accumulates, and compares facts with the neighbours: for libraries on top, whose operation must be the same on both neighbours. All ranks of the communicator call it; waits for the neighbours only. Returns: as syncyte_halo_exchange(); SYNCYTE_ERR_MISMATCH on all ranks with a neighbour that has a different fact, with a message that names the fact and both ranks. A rank receives the facts of a neighbour if its own ghosts copy cells of that neighbour (adjoint: if the neighbour's ghosts copy its cells).",
        Parameter("halo", ctypes.c_void_p, "in: a halo"),
        Parameter("adjoint", ctypes.c_int32, "in: 0: as syncyte_halo_exchange(), which a neighbour may call instead; 1: as syncyte_halo_accumulate()"),
        Parameter("options", ctypes.POINTER(CollectiveOptions), "in, optional: null for defaults; fact_count at most 5. Facts that a neighbour does not pass are 0"),
        Parameter("array", ctypes.POINTER(BufferDescription), "in,out: array of the halo's dtype and shape; any strides, but 0 only if the extent is 1"),
    ),
    "syncyte_halo_sequence": Function(
        ctypes.c_int32,
        "Returns the number of exchanges and accumulates that this rank has begun. Local. Neighbours compare it; so it identifies the last one.",
        Parameter("halo", ctypes.c_void_p, "in: a halo"),
        Parameter("number", ctypes.POINTER(ctypes.c_int64), "out: 0 for a new halo"),
    ),
    "syncyte_halo_iexchange": Function(
        ctypes.c_int32,
        "Starts to fill the ghosts; does not wait. With corners, later dimensions start when the request is tested or waited for. A halo has at most one exchange in flight. Returns: SYNCYTE_ERR_BUSY while another exchange of this halo is in flight.",
        Parameter("halo", ctypes.c_void_p, "in: a halo"),
        Parameter("array", ctypes.POINTER(BufferDescription), "in: array of the halo's dtype and shape; its memory must stay until the request has ended; until then ghosts must not be read, and interior cells that ghosts copy must not be written"),
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "out: ends with syncyte_halo_exchange()'s status"),
    ),
    "syncyte_halo_iaccumulate": Function(
        ctypes.c_int32,
        "Starts syncyte_halo_accumulate(); does not wait. See syncyte_halo_iexchange(). Returns: SYNCYTE_ERR_BUSY while another exchange of this halo is in flight.",
        Parameter("halo", ctypes.c_void_p, "in: a halo"),
        Parameter("array", ctypes.POINTER(BufferDescription), "in: array of the halo's dtype and shape; its memory must stay, and may not be read or written, until the request has ended"),
        Parameter("request", ctypes.POINTER(ctypes.c_void_p), "out: ends with syncyte_halo_accumulate()'s status"),
    ),
    "syncyte_reducer_create": Function(
        ctypes.c_int32,
        "Makes a reducer with zeroed buckets. Collective; facts: buckets, dtypes, elements, options->scale. Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MEMORY (all ranks' buckets of a node together do not fit), SYNCYTE_ERR_MISMATCH.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator, which the reducer keeps alive"),
        Parameter("buckets", ctypes.c_int32, "in: number of buckets, 1 or more"),
        Parameter("dtypes", ctypes.POINTER(ctypes.c_int32), "in, array of buckets: element types, floating-point or complex; 16-bit floats are summed in float32 and rounded once"),
        Parameter("elements", ctypes.POINTER(ctypes.c_int64), "in, array of buckets: numbers of elements, 0 or more; all buckets together have at most 2^56 bytes"),
        Parameter("options", ctypes.POINTER(ReducerOptions), "in, optional: null for defaults"),
        Parameter("reducer", ctypes.POINTER(ctypes.c_void_p), "out: the reducer"),
    ),
    "syncyte_reducer_retain": Function(
        ctypes.c_int32,
        "Adds a reference. Local, thread-safe, without MPI.",
        Parameter("reducer", ctypes.c_void_p, "in: a reducer"),
    ),
    "syncyte_reducer_release": Function(
        ctypes.c_int32,
        "Drops a reference. The last release frees this rank's buckets and gives up the round; ranks may drop their reducers in any order. Local, thread-safe, without MPI.",
        Parameter("reducer", ctypes.c_void_p, "in: a reducer"),
    ),
    "syncyte_reducer_destroy": Function(
        ctypes.c_int32,
        "Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_reducer_release().",
        Parameter("reducer", ctypes.POINTER(ctypes.c_void_p), "in,out: a reducer"),
    ),
    "syncyte_reducer_bucket": Function(
        ctypes.c_int32,
        "Returns this rank's memory of a bucket. Local. It must not be read or written from the start of the bucket until the end of the round. Returns: SYNCYTE_ERR_ARGUMENT for a bucket that does not exist.",
        Parameter("reducer", ctypes.c_void_p, "in: a reducer"),
        Parameter("bucket", ctypes.c_int32, "in: 0 to buckets - 1"),
        Parameter("buffer", ctypes.POINTER(BufferDescription), "out: data, dtype and extent (one dimension); the reducer owns the memory"),
    ),
    "syncyte_reducer_start": Function(
        ctypes.c_int32,
        "Starts the sum of a bucket that this rank has filled. All ranks start all buckets in each round, in any order. Does not wait for other ranks; sums parts of buckets that all ranks of the node have started. Returns: SYNCYTE_ERR_BUSY if this rank has already started it in this round; SYNCYTE_ERR_ARGUMENT for a bucket that does not exist.",
        Parameter("reducer", ctypes.c_void_p, "in: a reducer"),
        Parameter("bucket", ctypes.c_int32, "in: 0 to buckets - 1"),
    ),
    "syncyte_reducer_progress": Function(
        ctypes.c_int32,
        "Sums parts of buckets that all ranks of the node have started, without waiting. Local.",
        Parameter("reducer", ctypes.c_void_p, "in: a reducer"),
    ),
    "syncyte_reducer_wait": Function(
        ctypes.c_int32,
        "Waits for the end of the round: all buckets hold the sums. Collective. Returns: SYNCYTE_ERR_ARGUMENT if this rank has not started all buckets: the round continues. SYNCYTE_ERR_MISMATCH if a rank has given up the round: it has ended, and the contents of the buckets are undefined.",
        Parameter("reducer", ctypes.c_void_p, "in: a reducer"),
    ),
    "syncyte_reducer_give_up": Function(
        ctypes.c_int32,
        "Gives up the round: syncyte_reducer_wait() returns SYNCYTE_ERR_MISMATCH with this rank's number on all ranks. This rank must call syncyte_reducer_wait() too. Local; does not wait.",
        Parameter("reducer", ctypes.c_void_p, "in: a reducer"),
    ),
    "syncyte_rows_gather": Function(
        ctypes.c_int32,
        "Reads rows of an array: output[i] = table[index[i]], converted if the types differ. Local, without MPI; callable at any time, by several threads at once. Rows may repeat. float16, bfloat16, float32 and float64 are converted into each other, rounded to nearest even; float64 is converted to 16-bit types by way of float32. Returns: SYNCYTE_ERR_INDEX (names the first index that is out of range and its position; nothing is written), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_UNSUPPORTED for device memory.",
        Parameter("table", ctypes.POINTER(BufferDescription), "in: 1 or more dimensions, any strides, in host memory; the dimensions after the first form a row"),
        Parameter("index", ctypes.POINTER(BufferDescription), "in: int32 or int64, contiguous, any number of dimensions"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: contiguous, index's elements times a row's elements; must not overlap the table"),
    ),
    "syncyte_window_create": Function(
        ctypes.c_int32,
        "Makes a window. Collective; sizes may differ between ranks and may be 0. Returns: SYNCYTE_ERR_MEMORY if the node's ranks together ask for more than the machine or its cgroup has available, SYNCYTE_ERR_UNSUPPORTED if comm spans several nodes and this MPI has no one-sided communication between them.",
        Parameter("comm", ctypes.c_void_p, "in: its ranks"),
        Parameter("bytes", ctypes.c_size_t, "in: this rank's bytes"),
        Parameter("options", ctypes.POINTER(WindowOptions), "in, optional: null for defaults"),
        Parameter("window", ctypes.POINTER(ctypes.c_void_p), "out: the window"),
    ),
    "syncyte_window_retain": Function(
        ctypes.c_int32,
        "Adds a reference. Local, thread-safe, without MPI.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
    ),
    "syncyte_window_release": Function(
        ctypes.c_int32,
        "Drops a reference. Local, thread-safe, without MPI. Memory is freed at a collective point once all ranks have dropped the window.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
    ),
    "syncyte_window_destroy": Function(
        ctypes.c_int32,
        "Drops a reference and nulls the handle; a null handle is ignored. Local.",
        Parameter("window", ctypes.POINTER(ctypes.c_void_p), "in,out: a window"),
    ),
    "syncyte_window_size": Function(
        ctypes.c_int32,
        "Returns the size of a rank's part. Local.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
        Parameter("rank", ctypes.c_int32, "in: rank that contributed the part"),
        Parameter("bytes", ctypes.POINTER(ctypes.c_size_t), "out: its size"),
    ),
    "syncyte_window_pointer": Function(
        ctypes.c_int32,
        "Returns the address of a rank's part, if it lies on this node. Local. Valid while there is a reference to the window. Returns: SYNCYTE_ERR_UNSUPPORTED for a rank on another node.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
        Parameter("rank", ctypes.c_int32, "in: rank that contributed the part"),
        Parameter("data", ctypes.POINTER(ctypes.c_void_p), "out: its first byte"),
    ),
    "syncyte_window_put": Function(
        ctypes.c_int32,
        "Writes elements to a rank. The buffer may be re-used on return; visible at the target after flush. Returns: SYNCYTE_ERR_INDEX beyond the end, SYNCYTE_ERR_ARGUMENT (rank), SYNCYTE_ERR_SHAPE.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
        Parameter("rank", ctypes.c_int32, "in: target"),
        Parameter("offset", ctypes.c_size_t, "in: bytes from the start of its part"),
        Parameter("source", ctypes.POINTER(BufferDescription), "in: contiguous"),
    ),
    "syncyte_window_get": Function(
        ctypes.c_int32,
        "Reads elements of a rank; complete on return.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
        Parameter("rank", ctypes.c_int32, "in: target"),
        Parameter("offset", ctypes.c_size_t, "in: bytes from the start of its part"),
        Parameter("target", ctypes.POINTER(BufferDescription), "out: contiguous"),
    ),
    "syncyte_window_accumulate": Function(
        ctypes.c_int32,
        "Combines elements with those at a rank; atomic per element with other accumulates, fetch-ops and compare-swaps. The buffer may be re-used on return; visible at the target after flush. Returns: SYNCYTE_ERR_UNSUPPORTED for an op or dtype without atomics.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
        Parameter("rank", ctypes.c_int32, "in: target"),
        Parameter("offset", ctypes.c_size_t, "in: bytes from the start of its part; a multiple of the element's size"),
        Parameter("op", ctypes.c_int32, "in: SYNCYTE_OP_SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR or REPLACE"),
        Parameter("source", ctypes.POINTER(BufferDescription), "in: contiguous"),
    ),
    "syncyte_window_fetch_op": Function(
        ctypes.c_int32,
        "Combines one element and returns its old value; atomic, sequentially consistent on a node.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
        Parameter("rank", ctypes.c_int32, "in: target"),
        Parameter("offset", ctypes.c_size_t, "in: bytes from the start of its part; a multiple of the element's size"),
        Parameter("dtype", ctypes.c_int32, "in: element type"),
        Parameter("op", ctypes.c_int32, "in: as in accumulate"),
        Parameter("operand", ctypes.c_void_p, "in: one element"),
        Parameter("previous", ctypes.c_void_p, "out: the old element"),
    ),
    "syncyte_window_compare_swap": Function(
        ctypes.c_int32,
        "Writes desired if the element equals expected, and returns its old value; atomic.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
        Parameter("rank", ctypes.c_int32, "in: target"),
        Parameter("offset", ctypes.c_size_t, "in: bytes from the start of its part; a multiple of the element's size"),
        Parameter("dtype", ctypes.c_int32, "in: an integer type or bool"),
        Parameter("expected", ctypes.c_void_p, "in: one element"),
        Parameter("desired", ctypes.c_void_p, "in: one element"),
        Parameter("previous", ctypes.c_void_p, "out: the old element; equal to expected if desired was written"),
    ),
    "syncyte_window_lock": Function(
        ctypes.c_int32,
        "Waits for a rank's lock. Locks are advisory: they exclude only other lock calls. Not recursive. There is no queue: an exclusive lock may wait for as long as other ranks hold shared ones. The death of a holder is detected only for exclusive locks on the same node; otherwise the wait lasts until the watchdog (SYNCYTE_WATCHDOG) ends it. Returns: SYNCYTE_ERR_PEER_DIED if the holder of an exclusive lock on this node died, SYNCYTE_ERR_BUSY if this rank holds it already.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
        Parameter("rank", ctypes.c_int32, "in: rank whose part is locked"),
        Parameter("kind", ctypes.c_int32, "in: shared or exclusive"),
    ),
    "syncyte_window_unlock": Function(
        ctypes.c_int32,
        "Completes this rank's operations on a rank, and releases its lock. Returns: SYNCYTE_ERR_ARGUMENT if this rank does not hold it.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
        Parameter("rank", ctypes.c_int32, "in: rank whose part is locked"),
    ),
    "syncyte_window_flush": Function(
        ctypes.c_int32,
        "Completes this rank's operations at their targets. Local.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
        Parameter("rank", ctypes.c_int32, "in: target; -1: all"),
    ),
    "syncyte_window_fence": Function(
        ctypes.c_int32,
        "Completes all ranks' operations: after it, all ranks see all earlier writes. Collective; also frees objects that all ranks have dropped.",
        Parameter("window", ctypes.c_void_p, "in: a window"),
    ),
    "syncyte_tensor_create": Function(
        ctypes.c_int32,
        "Makes a tensor of zeros. Collective; facts: dtype, shape, kind of partition. Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (negative, or more than 2^63 - 1 bytes), SYNCYTE_ERR_ARGUMENT (local_rows do not add up), SYNCYTE_ERR_MEMORY (more than the node has), SYNCYTE_ERR_MISMATCH, SYNCYTE_ERR_UNSUPPORTED.",
        Parameter("comm", ctypes.c_void_p, "in: its ranks"),
        Parameter("dtype", ctypes.c_int32, "in: element type"),
        Parameter("ndim", ctypes.c_int32, "in: number of dimensions, 1 to SYNCYTE_MAX_NDIM"),
        Parameter("shape", ctypes.POINTER(ctypes.c_int64), "in, array of ndim: global extents, in elements; 0 is allowed"),
        Parameter("options", ctypes.POINTER(TensorOptions), "in, optional: null for defaults"),
        Parameter("tensor", ctypes.POINTER(ctypes.c_void_p), "out: the tensor"),
    ),
    "syncyte_tensor_wrap": Function(
        ctypes.c_int32,
        "Makes a tensor of arrays that the ranks already have. Collective; facts: dtype, all extents but the first. The caller owns the memory, which must live until a collective point frees the tensor; options->released is set then. The memory is not shared: other ranks access it by MPI RMA, on the same node too, their adds return SYNCYTE_ERR_UNSUPPORTED, and there is no node view.",
        Parameter("comm", ctypes.c_void_p, "in: its ranks"),
        Parameter("local", ctypes.POINTER(BufferDescription), "in: this rank's rows, contiguous; shape[0] may differ between ranks and may be 0"),
        Parameter("options", ctypes.POINTER(TensorOptions), "in, optional: null for defaults; local_rows must be -1"),
        Parameter("tensor", ctypes.POINTER(ctypes.c_void_p), "out: the tensor"),
    ),
    "syncyte_tensor_retain": Function(
        ctypes.c_int32,
        "Adds a reference: every exported view holds one. Local, thread-safe, without MPI; works after finalize.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
    ),
    "syncyte_tensor_release": Function(
        ctypes.c_int32,
        "Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a collective point once all ranks have dropped the tensor; ranks may drop tensors in any order.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
    ),
    "syncyte_tensor_destroy": Function(
        ctypes.c_int32,
        "Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_tensor_release().",
        Parameter("tensor", ctypes.POINTER(ctypes.c_void_p), "in,out: a tensor"),
    ),
    "syncyte_tensor_describe": Function(
        ctypes.c_int32,
        "Returns element type and global shape. Local.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("global", ctypes.POINTER(BufferDescription), "out: filled, with data null"),
    ),
    "syncyte_tensor_comm": Function(
        ctypes.c_int32,
        "Returns a new reference to the tensor's communicator. Local.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("comm", ctypes.POINTER(ctypes.c_void_p), "out: the communicator"),
    ),
    "syncyte_tensor_rows": Function(
        ctypes.c_int32,
        "Returns the rows that a rank owns. Local.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("rank", ctypes.c_int32, "in: owner"),
        Parameter("first", ctypes.POINTER(ctypes.c_int64), "out: its first row; if it has none, the next rank's first row"),
        Parameter("count", ctypes.POINTER(ctypes.c_int64), "out: number of rows"),
    ),
    "syncyte_tensor_owner": Function(
        ctypes.c_int32,
        "Returns the owners of rows, in O(log P) each or better. Local. Returns: SYNCYTE_ERR_INDEX, naming index and position.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("count", ctypes.c_int64, "in: number of rows"),
        Parameter("rows", ctypes.POINTER(ctypes.c_int64), "in, array of count: global row numbers"),
        Parameter("ranks", ctypes.POINTER(ctypes.c_int32), "out, array of count: their owners"),
    ),
    "syncyte_tensor_local": Function(
        ctypes.c_int32,
        "Returns a view of this rank's rows. Local. The view is valid while there is a reference to the tensor: retain it for as long as the view lives.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("view", ctypes.POINTER(BufferDescription), "out: contiguous; shape[0] is the number of local rows"),
    ),
    "syncyte_tensor_node": Function(
        ctypes.c_int32,
        "Returns a view of the rows of all ranks of this node, in one address range, in rank order. Local. Lifetime as tensor_local(). Returns: SYNCYTE_ERR_UNSUPPORTED for a wrapped tensor of several ranks.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("view", ctypes.POINTER(BufferDescription), "out: contiguous; shape[0] is the number of the node's rows"),
        Parameter("first_row", ctypes.POINTER(ctypes.c_int64), "out: if the node's ranks are consecutive, the global number of the view's first row, so that view row i is global row first_row + i; otherwise -1: the view then holds the ranges of tensor_rows() for the node's ranks, one after another"),
    ),
    "syncyte_tensor_gather": Function(
        ctypes.c_int32,
        "Reads rows: output[i] = tensor[index[i]]. Local; a forked child may call it. Rows may repeat. Returns: SYNCYTE_ERR_INDEX (names index and position; nothing is written), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("index", ctypes.POINTER(BufferDescription), "in: int32 or int64, contiguous, any number of dimensions"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: contiguous, of the tensor's dtype, index's elements times a row's elements"),
    ),
    "syncyte_tensor_scatter": Function(
        ctypes.c_int32,
        "Writes rows: tensor[index[i]] = source[i]. Local. If a row repeats, its last source stays. A row that two ranks write at once, or that is added to meanwhile, is undefined. Returns: as gather.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("index", ctypes.POINTER(BufferDescription), "in: int32 or int64, contiguous"),
        Parameter("source", ctypes.POINTER(BufferDescription), "in: contiguous, of the tensor's dtype, index's elements times a row's elements"),
    ),
    "syncyte_tensor_scatter_add": Function(
        ctypes.c_int32,
        "Adds to rows: tensor[index[i]] += source[i]. Local. No add is lost when several ranks add at once. A row that repeats is added to several times, in an undefined order. bool: logical or. Returns: as gather; SYNCYTE_ERR_PEER_DIED if a process died while it added to one of the rows (the row is damaged, the message names it; rows before it have been added), SYNCYTE_ERR_UNSUPPORTED if a row lies on another node.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("index", ctypes.POINTER(BufferDescription), "in: int32 or int64, contiguous"),
        Parameter("source", ctypes.POINTER(BufferDescription), "in: contiguous, of the tensor's dtype, index's elements times a row's elements"),
    ),
    "syncyte_tensor_get_box": Function(
        ctypes.c_int32,
        "Reads the box [lower, lower + extent of output) of the tensor. Local; a forked child may call it. Returns: SYNCYTE_ERR_INDEX outside the tensor, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_TYPE.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("lower", ctypes.POINTER(ctypes.c_int64), "in, array of lower_length: first element of the box"),
        Parameter("lower_length", ctypes.c_int64, "in: length of lower: the tensor's dimensions"),
        Parameter("output", ctypes.POINTER(BufferDescription), "out: as many dimensions as the tensor, any strides, the tensor's dtype"),
    ),
    "syncyte_tensor_put_box": Function(
        ctypes.c_int32,
        "Writes the box [lower, lower + extent of source) of the tensor. Local. Visible to other ranks as in scatter.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
        Parameter("lower", ctypes.POINTER(ctypes.c_int64), "in, array of lower_length: first element of the box"),
        Parameter("lower_length", ctypes.c_int64, "in: length of lower: the tensor's dimensions"),
        Parameter("source", ctypes.POINTER(BufferDescription), "in: as many dimensions as the tensor, any strides, the tensor's dtype"),
    ),
    "syncyte_tensor_fetch_add": Function(
        ctypes.c_int32,
        "Adds to one element of an int32 or int64 tensor and returns its old value; atomic, acquire and release. Local.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor of int32 or int64"),
        Parameter("element", ctypes.c_int64, "in: number of the element in row-major order"),
        Parameter("operand", ctypes.c_int64, "in: number to add"),
        Parameter("previous", ctypes.POINTER(ctypes.c_int64), "out, optional: the old value"),
    ),
    "syncyte_tensor_compare_swap": Function(
        ctypes.c_int32,
        "Writes desired to one element if it equals expected, and returns its old value; atomic, acquire and release. Local.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor of int32 or int64"),
        Parameter("element", ctypes.c_int64, "in: number of the element in row-major order"),
        Parameter("expected", ctypes.c_int64, "in: value to compare with"),
        Parameter("desired", ctypes.c_int64, "in: value to write if they are equal"),
        Parameter("previous", ctypes.POINTER(ctypes.c_int64), "out, optional: the old value"),
    ),
    "syncyte_tensor_load": Function(
        ctypes.c_int32,
        "Reads one element of an int32 or int64 tensor; acquire. Local; a forked child may call it.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor of int32 or int64"),
        Parameter("element", ctypes.c_int64, "in: number of the element in row-major order"),
        Parameter("value", ctypes.POINTER(ctypes.c_int64), "out: its value"),
    ),
    "syncyte_tensor_store": Function(
        ctypes.c_int32,
        "Writes one element of an int32 or int64 tensor; release: a rank that reads the new value sees all earlier writes of this rank (on the same node; on other nodes, those before a flush). Local.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor of int32 or int64"),
        Parameter("element", ctypes.c_int64, "in: number of the element in row-major order"),
        Parameter("value", ctypes.c_int64, "in: its new value"),
    ),
    "syncyte_tensor_wait": Function(
        ctypes.c_int32,
        "Waits, mostly asleep, until a comparison of one element of an int32 or int64 tensor is true; acquire. Local; a forked child may call it. Returns: SYNCYTE_ERR_TIMEOUT after timeout seconds.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor of int32 or int64"),
        Parameter("element", ctypes.c_int64, "in: number of the element in row-major order"),
        Parameter("compare", ctypes.c_int32, "in: comparison of the element with value"),
        Parameter("value", ctypes.c_int64, "in: value to compare with"),
        Parameter("timeout", ctypes.c_double, "in: seconds, 0 or more; negative: no limit"),
        Parameter("found", ctypes.POINTER(ctypes.c_int64), "out, optional: the element's value for which the comparison is true"),
    ),
    "syncyte_tensor_flush": Function(
        ctypes.c_int32,
        "Completes this rank's writes at their owners. Local.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
    ),
    "syncyte_tensor_sync": Function(
        ctypes.c_int32,
        "Synchronises the tensor: after it, all ranks see all earlier writes of all ranks. Collective; also frees objects that all ranks have dropped.",
        Parameter("tensor", ctypes.c_void_p, "in: a tensor"),
    ),
    "syncyte_kv_create": Function(
        ctypes.c_int32,
        "Makes a store of zeros. Collective; facts: dtype, key_count, length_count, lengths. Returns: SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_UNSUPPORTED (another dtype, ranks of several nodes), SYNCYTE_ERR_MEMORY (more than the node has), SYNCYTE_ERR_MISMATCH.",
        Parameter("comm", ctypes.c_void_p, "in: its ranks, all of one node"),
        Parameter("dtype", ctypes.c_int32, "in: SYNCYTE_FLOAT32"),
        Parameter("key_count", ctypes.c_int64, "in: 1 or more"),
        Parameter("length_count", ctypes.c_int64, "in: 1 if all keys have the same number of values; otherwise key_count"),
        Parameter("lengths", ctypes.POINTER(ctypes.c_int64), "in, array of length_count: number of values, 1 or more, of all keys or of each"),
        Parameter("options", ctypes.POINTER(KvOptions), "in, optional: null for defaults"),
        Parameter("kv", ctypes.POINTER(ctypes.c_void_p), "out: the store"),
    ),
    "syncyte_kv_retain": Function(
        ctypes.c_int32,
        "Adds a reference. Local, thread-safe, without MPI; works after finalize.",
        Parameter("kv", ctypes.c_void_p, "in: a store"),
    ),
    "syncyte_kv_release": Function(
        ctypes.c_int32,
        "Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a collective point once all ranks have dropped the store; its workers hold references of their own.",
        Parameter("kv", ctypes.c_void_p, "in: a store"),
    ),
    "syncyte_kv_destroy": Function(
        ctypes.c_int32,
        "Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_kv_release().",
        Parameter("kv", ctypes.POINTER(ctypes.c_void_p), "in,out: a store"),
    ),
    "syncyte_kv_keys": Function(
        ctypes.c_int32,
        "Returns the number of keys. Local.",
        Parameter("kv", ctypes.c_void_p, "in: a store"),
        Parameter("key_count", ctypes.POINTER(ctypes.c_int64), "out: as given to kv_create()"),
    ),
    "syncyte_kv_lengths": Function(
        ctypes.c_int32,
        "Returns the number of values of each key. Local. Returns: SYNCYTE_ERR_INDEX, naming key and position.",
        Parameter("kv", ctypes.c_void_p, "in: a store"),
        Parameter("count", ctypes.c_int64, "in: number of keys"),
        Parameter("keys", ctypes.POINTER(ctypes.c_int64), "in, array of count: keys"),
        Parameter("lengths", ctypes.POINTER(ctypes.c_int64), "out, array of count: number of values of each"),
    ),
    "syncyte_kv_owner": Function(
        ctypes.c_int32,
        "Returns the current owners of keys. Local. Returns: SYNCYTE_ERR_INDEX, naming key and position.",
        Parameter("kv", ctypes.c_void_p, "in: a store"),
        Parameter("count", ctypes.c_int64, "in: number of keys"),
        Parameter("keys", ctypes.POINTER(ctypes.c_int64), "in, array of count: keys"),
        Parameter("ranks", ctypes.POINTER(ctypes.c_int32), "out, array of count: their owners"),
    ),
    "syncyte_kv_set_sampling": Function(
        ctypes.c_int32,
        "Sets the sampling options of this process's workers; prepared samples keep theirs. Local. Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (a pool without replacement).",
        Parameter("kv", ctypes.c_void_p, "in: a store"),
        Parameter("sampling", ctypes.POINTER(KvSampling), "in: options, initialised with SYNCYTE_KV_SAMPLING_INIT"),
    ),
    "syncyte_kv_sync": Function(
        ctypes.c_int32,
        "Synchronises the store: after it, all ranks see all earlier writes of all ranks. Collective, called by one thread of each process; also frees objects that all ranks have dropped.",
        Parameter("kv", ctypes.c_void_p, "in: a store"),
    ),
    "syncyte_kv_worker_create": Function(
        ctypes.c_int32,
        "Makes a worker. Local. Any thread may use it. Returns: SYNCYTE_ERR_ARGUMENT.",
        Parameter("kv", ctypes.c_void_p, "in: a store"),
        Parameter("number", ctypes.c_int32, "in: 0 to workers - 1 (options of kv_create()); no other live worker of this process may have it"),
        Parameter("worker", ctypes.POINTER(ctypes.c_void_p), "out: the worker"),
    ),
    "syncyte_kv_worker_retain": Function(
        ctypes.c_int32,
        "Adds a reference. Local, thread-safe, without MPI; works after finalize.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
    ),
    "syncyte_kv_worker_release": Function(
        ctypes.c_int32,
        "Drops a reference. Local, thread-safe, without MPI; works after finalize. The last release ends the worker: barriers of its process no longer wait for it.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
    ),
    "syncyte_kv_worker_destroy": Function(
        ctypes.c_int32,
        "Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_kv_worker_release().",
        Parameter("worker", ctypes.POINTER(ctypes.c_void_p), "in,out: a worker"),
    ),
    "syncyte_kv_worker_pull": Function(
        ctypes.c_int32,
        "Reads the values of keys, concatenated in the order of the keys. Local; a forked child may call it. Returns: SYNCYTE_ERR_INDEX (names the first key that is out of range and its position), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_UNSUPPORTED (device memory): nothing was written. SYNCYTE_ERR_PEER_DIED (damaged key).",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
        Parameter("keys", ctypes.POINTER(BufferDescription), "in: int64, contiguous, any number of dimensions"),
        Parameter("values", ctypes.POINTER(BufferDescription), "out: float32, contiguous, as many as the keys have; not to be read before kv_worker_wait()"),
        Parameter("timestamp", ctypes.POINTER(ctypes.c_int64), "out, optional: timestamp to wait for; -1: complete. Null: complete on return"),
    ),
    "syncyte_kv_worker_push": Function(
        ctypes.c_int32,
        "Adds to the values of keys; a key that repeats is added to several times. Local. Returns: as pull.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
        Parameter("keys", ctypes.POINTER(BufferDescription), "in: int64, contiguous"),
        Parameter("values", ctypes.POINTER(BufferDescription), "in: float32, contiguous, as many as the keys have; not to be changed before kv_worker_wait()"),
        Parameter("timestamp", ctypes.POINTER(ctypes.c_int64), "out, optional: as in pull"),
    ),
    "syncyte_kv_worker_set": Function(
        ctypes.c_int32,
        "Replaces the values of keys; if a key repeats, its last values stay. Repairs damaged keys. Local. Returns: as pull, except SYNCYTE_ERR_PEER_DIED.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
        Parameter("keys", ctypes.POINTER(BufferDescription), "in: int64, contiguous"),
        Parameter("values", ctypes.POINTER(BufferDescription), "in: float32, contiguous, as many as the keys have; not to be changed before kv_worker_wait()"),
        Parameter("timestamp", ctypes.POINTER(ctypes.c_int64), "out, optional: as in pull"),
    ),
    "syncyte_kv_worker_pull_if_local": Function(
        ctypes.c_int32,
        "Reads the values of keys if all of them are local; on one node they always are. Local. Returns: as pull.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
        Parameter("keys", ctypes.POINTER(BufferDescription), "in: int64, contiguous"),
        Parameter("values", ctypes.POINTER(BufferDescription), "out: float32, contiguous, as many as the keys have; unchanged if a key is not local"),
        Parameter("is_local", ctypes.POINTER(ctypes.c_int32), "out: 1, or 0 if a key is not local"),
    ),
    "syncyte_kv_worker_localize": Function(
        ctypes.c_int32,
        "Moves keys to this rank. On one node all keys are local: it only checks and counts them. Local. Returns: as pull.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
        Parameter("keys", ctypes.POINTER(BufferDescription), "in: int64, contiguous"),
        Parameter("timestamp", ctypes.POINTER(ctypes.c_int64), "out, optional: as in pull"),
    ),
    "syncyte_kv_worker_intent": Function(
        ctypes.c_int32,
        "Signals that this worker will use keys while its clock is in [start, end). On one node it only checks and records the intent. Local. Returns: as pull; SYNCYTE_ERR_ARGUMENT.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
        Parameter("keys", ctypes.POINTER(BufferDescription), "in: int64, contiguous"),
        Parameter("start", ctypes.c_int64, "in: 0 or more"),
        Parameter("end", ctypes.c_int64, "in: more than start; 0: start + 1"),
    ),
    "syncyte_kv_worker_advance_clock": Function(
        ctypes.c_int32,
        "Adds 1 to the worker's clock, which begins at 0. Local.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
        Parameter("clock", ctypes.POINTER(ctypes.c_int64), "out, optional: its new value"),
    ),
    "syncyte_kv_worker_clock": Function(
        ctypes.c_int32,
        "Returns the worker's clock. Local.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
        Parameter("clock", ctypes.POINTER(ctypes.c_int64), "out: 0 or more"),
    ),
    "syncyte_kv_worker_prepare_sample": Function(
        ctypes.c_int32,
        "Prepares a sample: this worker will pull its keys while its clock is in [start, end). Local. Returns: SYNCYTE_ERR_ARGUMENT (kv_set_sampling() was not called; more keys than there are, without replacement).",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
        Parameter("count", ctypes.c_int64, "in: number of keys, 0 to 2^40"),
        Parameter("start", ctypes.c_int64, "in: 0 or more"),
        Parameter("end", ctypes.c_int64, "in: more than start; 0: start + 1"),
        Parameter("sample", ctypes.POINTER(ctypes.c_int64), "out: the sample's number, 1 or more, for kv_worker_pull_sample()"),
    ),
    "syncyte_kv_worker_pull_sample": Function(
        ctypes.c_int32,
        "Reads the next keys of a sample and their values. Local. A sample ends when its last key was pulled. Returns: SYNCYTE_ERR_ARGUMENT (no such sample, or too few keys left), and as pull.",
        Parameter("worker", ctypes.c_void_p, "in: the worker that has prepared it"),
        Parameter("sample", ctypes.c_int64, "in: its number"),
        Parameter("keys", ctypes.POINTER(BufferDescription), "out: int64, contiguous, at most as many as the sample has left"),
        Parameter("values", ctypes.POINTER(BufferDescription), "out: float32, contiguous, as many as the keys have"),
        Parameter("timestamp", ctypes.POINTER(ctypes.c_int64), "out, optional: as in pull"),
    ),
    "syncyte_kv_worker_finish_sample": Function(
        ctypes.c_int32,
        "Ends a sample before all its keys were pulled. Local.",
        Parameter("worker", ctypes.c_void_p, "in: the worker that has prepared it"),
        Parameter("sample", ctypes.c_int64, "in: its number; one that has ended is ignored"),
    ),
    "syncyte_kv_worker_wait": Function(
        ctypes.c_int32,
        "Waits until an operation is complete. Local. May be called again with the same timestamp. Returns: SYNCYTE_ERR_ARGUMENT for a timestamp that no operation returned.",
        Parameter("worker", ctypes.c_void_p, "in: the worker that began it"),
        Parameter("timestamp", ctypes.c_int64, "in: the operation's timestamp; -1: complete"),
    ),
    "syncyte_kv_worker_wait_all": Function(
        ctypes.c_int32,
        "Waits until all of the worker's operations are complete. Local.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
    ),
    "syncyte_kv_worker_wait_sync": Function(
        ctypes.c_int32,
        "Waits until all writes of this process have reached the owners of the keys; on one node they have. Local.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
    ),
    "syncyte_kv_worker_barrier": Function(
        ctypes.c_int32,
        "Barrier of all workers of all ranks: after it, all workers see all earlier writes. Collective: each worker calls it, in a thread of its own if a process has several. One worker enters the collective for its process, so MPI's thread level must then be serialized or above. Workers that were destroyed are not waited for. Returns: SYNCYTE_ERR_MISMATCH on all workers of all ranks if some call another collective function; SYNCYTE_ERR_BUSY if another thread is in a collective call of the same worker.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
    ),
    "syncyte_kv_worker_begin_setup": Function(
        ctypes.c_int32,
        "Begins the setup phase, in which values are set for the first time: a barrier. Collective, as kv_worker_barrier(). Returns: SYNCYTE_ERR_ARGUMENT within the phase.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
    ),
    "syncyte_kv_worker_end_setup": Function(
        ctypes.c_int32,
        "Ends the setup phase; after it, all workers see all values that were set. Collective, as kv_worker_barrier(). Returns: SYNCYTE_ERR_ARGUMENT outside the phase.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
    ),
    "syncyte_kv_worker_describe": Function(
        ctypes.c_int32,
        "Returns the counters of a worker. Local.",
        Parameter("worker", ctypes.c_void_p, "in: a worker"),
        Parameter("info", ctypes.POINTER(KvWorkerInfo), "in,out: struct_size is set by the caller"),
    ),
}


HDF5: dict[str, Function] = {
    "syncyte_checkpoint_save": Function(
        ctypes.c_int32,
        "Saves entries into one file, atomically: on any error the old file is untouched. Collective; facts: path, count, keys, layouts, dtypes, extents (without the first one of sharded entries), options; with SYNCYTE_CHECK=full also the CRC32C of replicated entries. A mismatch error names the key, the property and the ranks that differ. The new file takes the permissions of the file that it replaces, and its owner and group if this process may set them (otherwise the file is this user's, and a different group gets no access). If the path is a symbolic link, the link stays and its target is replaced. Rank 0 locks the temporary file (flock). A save removes unlocked temporary files of the same target, which killed jobs have left. Returns: SYNCYTE_ERR_IO (names path and reason), SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("path", ctypes.c_char_p, "in: file to write or replace; equal on all ranks, on a file system that all ranks see"),
        Parameter("count", ctypes.c_int64, "in: number of entries"),
        Parameter("entries", ctypes.POINTER(CheckpointEntry), "in, array of count: in the same order on all ranks, keys unique"),
        Parameter("options", ctypes.POINTER(CheckpointOptions), "in, optional: null for defaults"),
    ),
    "syncyte_checkpoint_open": Function(
        ctypes.c_int32,
        "Opens a checkpoint: rank 0 reads and verifies the metadata and sends it to all ranks. Collective; facts: path. Returns: SYNCYTE_ERR_NOT_FOUND (no such file), SYNCYTE_ERR_FORMAT (not a checkpoint, or truncated), SYNCYTE_ERR_CHECKSUM (damaged metadata), SYNCYTE_ERR_VERSION (a newer format), SYNCYTE_ERR_IO; each names the file.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("path", ctypes.c_char_p, "in: file"),
        Parameter("options", ctypes.POINTER(CheckpointOptions), "in, optional: null for defaults"),
        Parameter("checkpoint", ctypes.POINTER(ctypes.c_void_p), "out: the open file"),
    ),
    "syncyte_checkpoint_close": Function(
        ctypes.c_int32,
        "Closes the file and nulls the handle; a null handle is ignored. Local.",
        Parameter("checkpoint", ctypes.POINTER(ctypes.c_void_p), "in,out: an open checkpoint"),
    ),
    "syncyte_checkpoint_count": Function(
        ctypes.c_int32,
        "Returns the number of keys and the saved step. Local.",
        Parameter("checkpoint", ctypes.c_void_p, "in: an open checkpoint"),
        Parameter("count", ctypes.POINTER(ctypes.c_int64), "out: number of keys"),
        Parameter("step", ctypes.POINTER(ctypes.c_int64), "out, optional: the saved step"),
    ),
    "syncyte_checkpoint_key": Function(
        ctypes.c_int32,
        "Returns a key by its number in alphabetical order. Local.",
        Parameter("checkpoint", ctypes.c_void_p, "in: an open checkpoint"),
        Parameter("number", ctypes.c_int64, "in: 0 to count - 1"),
        Parameter("key", ctypes.POINTER(ctypes.c_char_p), "out: valid until the checkpoint is closed"),
    ),
    "syncyte_checkpoint_describe": Function(
        ctypes.c_int32,
        "Returns the element type, global shape and layout of a key. Local. Returns: SYNCYTE_ERR_NOT_FOUND, naming the key and the file.",
        Parameter("checkpoint", ctypes.c_void_p, "in: an open checkpoint"),
        Parameter("key", ctypes.c_char_p, "in: its name"),
        Parameter("global", ctypes.POINTER(BufferDescription), "out: filled, with data null"),
        Parameter("layout", ctypes.POINTER(ctypes.c_int32), "out, optional: layout with which it was saved"),
    ),
    "syncyte_checkpoint_read": Function(
        ctypes.c_int32,
        "Reads rows [first_row, first_row + target.shape[0]) of a key and verifies their checksums. Local: each rank reads the rows that it needs. A 0-dimensional key counts as one row, read into a 0-dimensional target. Returns: SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_INDEX, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_CHECKSUM (names file, key and block), SYNCYTE_ERR_FORMAT (truncated), SYNCYTE_ERR_IO.",
        Parameter("checkpoint", ctypes.c_void_p, "in: an open checkpoint"),
        Parameter("key", ctypes.c_char_p, "in: its name"),
        Parameter("first_row", ctypes.c_int64, "in: first row to read"),
        Parameter("target", ctypes.POINTER(BufferDescription), "out: contiguous host memory of the key's dtype; all extents but the first are the key's. Its contents are undefined after an error"),
    ),
    "syncyte_checkpoint_bytes_read": Function(
        ctypes.c_int32,
        "Returns the bytes of tensor data that this rank has read from the file so far, including those read only for verification. Local.",
        Parameter("checkpoint", ctypes.c_void_p, "in: an open checkpoint"),
        Parameter("bytes", ctypes.POINTER(ctypes.c_int64), "out: the number"),
    ),
    "syncyte_checkpoint_load": Function(
        ctypes.c_int32,
        "Loads entries: every rank reads replicated entries whole, and its rows of sharded entries. The buffers' first extents, in rank order, partition the rows. The number of ranks may differ from that of the save. Collective; all ranks get the same status. Returns: as open and read; SYNCYTE_ERR_SHAPE if the rows of a sharded entry do not add up to the key's.",
        Parameter("comm", ctypes.c_void_p, "in: a communicator"),
        Parameter("path", ctypes.c_char_p, "in: file"),
        Parameter("count", ctypes.c_int64, "in: number of entries"),
        Parameter("entries", ctypes.POINTER(CheckpointEntry), "in,out, array of count: in the same order on all ranks; the memory they describe is filled"),
        Parameter("options", ctypes.POINTER(CheckpointOptions), "in, optional: null for defaults"),
    ),
}
