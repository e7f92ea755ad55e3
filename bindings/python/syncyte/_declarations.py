# SPDX-License-Identifier: BSD-3-Clause
"""Declarations of Syncyte's C interface for ctypes.

Generated from the C headers by bindings/generate; do not edit.

A parameter's comment states its direction, whether it may be None, and the number of elements of an array.
Handles are opaque values, passed as ctypes.c_void_p. A structure's `_defaults_` are the values its members have when
they are not zero; `struct_size` must be set to ctypes.sizeof of the structure.
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any, NamedTuple


class Function(NamedTuple):
    """Types of a C function, as ctypes names them."""

    restype: Any
    argtypes: list[Any]


VERSION_MAJOR = 0  # Version of this header; syncyte_version() returns the library's.
VERSION_MINOR = 2
VERSION_PATCH = 0
ABI_VERSION = 3
MAX_NDIM = 8  # Maximum number of dimensions of a tensor or buffer.
BUFFER_FIRST_SIZE = 168
MEMORY_OF_MODEL = -1
MOST_HOLDERS = 32  # Most processes that a syncyte_published_t names.
ANY = -1  # Source of a receive: any rank. Tag of a receive: any tag.
PROC_NULL = -2
MESSAGE_ROOM = 64  # Bytes of the header that every message has in front of its elements.
STORE_MAX_PREFETCHES = 16
CHECKPOINT_FORMAT = 2


class Status(enum.IntEnum):
    """Status codes; never renumbered. If ranks fail with different ones, an agreement gives all the highest."""

    SUCCESS = 0
    ERR_ARGUMENT = 1  # an argument's value is not allowed
    ERR_HANDLE = 2  # null, freed or foreign handle
    ERR_INDEX = 3  # an index is out of range
    ERR_TYPE = 4  # unknown element type, or the wrong one
    ERR_SHAPE = 5  # wrong shape, size or strides
    ERR_MISMATCH = 6  # ranks disagree
    ERR_NOT_INITIALIZED = 7  # called before syncyte_init(), or after finalize
    ERR_MEMORY = 8  # not enough memory
    ERR_UNSUPPORTED = 9  # not available in this build, or for these arguments
    ERR_BUSY = 10  # in use by another thread or an active request
    ERR_PEER_DIED = 11  # a rank has died, or data are damaged because it died while it changed them; also from a wait for a counter or lock that no remaining rank can end
    ERR_MPI = 12  # MPI reported an error
    ERR_IO = 13  # the operating system reported an error on a file
    ERR_FORMAT = 14  # not a Syncyte file, or a truncated one
    ERR_CHECKSUM = 15  # stored data is damaged
    ERR_NOT_FOUND = 16  # no such file or key
    ERR_VERSION = 17  # library or file of another version
    ERR_TIMEOUT = 18  # a stated time limit passed
    ERR_INTERNAL = 19  # a defect of Syncyte; please report it
    ERR_LIMIT = 20  # a limit of the system, as on open files, is reached; the message names it
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
    REPLACE = 10  # the new value (windows, tensor_put_signal)
    LXOR = 11  # logical exclusive or; integers and bool


class Memory(enum.IntEnum):
    """Kinds of memory; never renumbered."""

    HOST = 0  # host memory of the process or the node
    CUDA = 1  # memory of a CUDA device


class LogLevel(enum.IntEnum):
    """Severities."""

    OFF = 0  # as a threshold: no lines
    ERROR = 1
    WARN = 2
    INFO = 3
    DEBUG = 4


class Truth(enum.IntEnum):
    """Rules for points that two blocks store."""

    EQUAL = 0  # all copies are equal
    LOWER = 1  # the copy of the block with the lower cells
    UPPER = 2  # the copy of the block with the higher cells


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


class Optimizer(enum.IntEnum):
    """Optimizers of tensor_set_optimizer(). All are lazy: an update changes only rows that have a gradient."""

    SGD = 1  # gradient descent, as torch.optim.SGD; with momentum if options->momentum > 0
    ADAGRAD = 2  # AdaGrad, as torch.optim.Adagrad
    ADAM = 3  # Adam, as torch.optim.SparseAdam


class StoreHomes(enum.IntEnum):
    """Ways to divide the keys among P ranks. Each gives the ranks equal numbers of keys, or one more."""

    HOMES_CYCLIC = 1  # k mod P, for ranks that are counted one of each node in turn
    HOMES_HASH = 2  # mixed: keys of any stride, such as a power of two, are spread evenly
    HOMES_BLOCK = 3  # in order, as the rows of a tensor: often used keys that are neighbours share a rank


class StoreIntents(enum.IntEnum):
    """Effects of intents on a key, between nodes."""

    INTENTS_MOVE_OR_COPY = 1  # it moves to the node that intends to use it; each of several gets a copy
    INTENTS_MOVE = 2  # it moves to the first node, and others use it there: it is linearizable
    INTENTS_COPY = 3  # each node gets a copy; only localize moves keys


class StoreScheme(enum.IntEnum):
    """Schemes of sampling."""

    PREPARED = 1  # keys are drawn when the sample is prepared
    INTENDED = 2  # as prepared, with an intent for the keys until the sample ends
    SHARED = 3  # as intended, from a set of keys that the process's workers share
    LOCAL = 4  # keys are drawn when they are pulled; then the next local key upwards is taken


class StoreDistribution(enum.IntEnum):
    """Distributions over a range of n keys."""

    UNIFORM = 1  # all keys have the same probability
    LOG_UNIFORM = 2  # the i-th key, i from 1, has the probability log((i + 1) / i) / log(n + 1)


class EntryKind(enum.IntEnum):
    """Kinds of entries."""

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
SYNCYTE_ERR_NOT_INITIALIZED = 7
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
SYNCYTE_TRUTH_EQUAL = 0
SYNCYTE_TRUTH_LOWER = 1
SYNCYTE_TRUTH_UPPER = 2
SYNCYTE_LOCK_SHARED = 1
SYNCYTE_LOCK_EXCLUSIVE = 2
SYNCYTE_COMPARE_EQ = 1
SYNCYTE_COMPARE_NE = 2
SYNCYTE_COMPARE_GE = 3
SYNCYTE_COMPARE_LE = 4
SYNCYTE_OPTIMIZER_SGD = 1
SYNCYTE_OPTIMIZER_ADAGRAD = 2
SYNCYTE_OPTIMIZER_ADAM = 3
SYNCYTE_STORE_HOMES_CYCLIC = 1
SYNCYTE_STORE_HOMES_HASH = 2
SYNCYTE_STORE_HOMES_BLOCK = 3
SYNCYTE_STORE_INTENTS_MOVE_OR_COPY = 1
SYNCYTE_STORE_INTENTS_MOVE = 2
SYNCYTE_STORE_INTENTS_COPY = 3
SYNCYTE_STORE_PREPARED = 1
SYNCYTE_STORE_INTENDED = 2
SYNCYTE_STORE_SHARED = 3
SYNCYTE_STORE_LOCAL = 4
SYNCYTE_STORE_UNIFORM = 1
SYNCYTE_STORE_LOG_UNIFORM = 2
SYNCYTE_ENTRY_REPLICATED = 0
SYNCYTE_ENTRY_SHARDED = 1


class BufferDescription(ctypes.Structure):
    """An array argument: address, element type, shape, strides and kind of memory. The memory belongs to the caller.
    Strides are in bytes. A buffer with the strides of a dense row-major array is *contiguous*; strides of
    dimensions of extent 1 and of empty arrays are ignored. A buffer with ndim 0 has one element. Every function
    returns SYNCYTE_ERR_SHAPE for strides whose span exceeds 64 bits. Data may have any alignment, except that
    reductions and lists of rows need aligned elements (complex ones aligned to their parts): SYNCYTE_ERR_SHAPE.
    No function waits for work that is enqueued on memory of a device: it must be complete before the call, or on
    the stream that the function takes (syncyte_memory_set_stream()).
    """

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_buffer_t)
        ("data", ctypes.c_void_p),  # first element; may be null when there are no elements
        ("dtype", ctypes.c_int32),  # element type
        ("ndim", ctypes.c_int32),  # number of dimensions, 0 to SYNCYTE_MAX_NDIM
        ("shape", ctypes.c_int64 * 8),  # extents, in elements
        ("strides", ctypes.c_int64 * 8),  # distances of neighbouring elements, in bytes
        ("memory", ctypes.c_int32),  # kind of memory of data
        ("device", ctypes.c_int32),  # number of the device; 0 for host memory
        ("read_only", ctypes.c_int32),  # 1: constant memory, which no function writes to: SYNCYTE_ERR_ARGUMENT; or 0
        ("reserved", ctypes.c_int32),  # 0
    ]


class ErrorFields(ctypes.Structure):
    """Fields of a failed call's error, beside its text. Fields that do not apply are empty, and -1 for numbers."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_error_fields_t)
        ("status", ctypes.c_int32),  # status of the call
        ("rank", ctypes.c_int32),  # rank that failed, or has died (SYNCYTE_ERR_PEER_DIED): of the communicator in a collective, otherwise of the world
        ("operation", ctypes.c_char_p),  # the function's name without "syncyte_"
        ("object", ctypes.c_char_p),  # name of the object that the argument belongs to, or of the collective's communicator
        ("argument", ctypes.c_char_p),  # name of the argument that is wrong, or of the fact that differs between ranks
        ("axis", ctypes.c_int64),  # dimension of the argument if ndim is not 0, otherwise its position in an array
        ("ndim", ctypes.c_int32),  # number of dimensions of the array that the error is about; 0: not about an array. If it is not 0, lists such as [2, 3] in value and expected are extents; if the axis itself differs between ranks, value lists it counted from the end (-1 is the last)
        ("reserved", ctypes.c_int32),  # 0
        ("value", ctypes.c_char_p),  # value of the argument; if it differs between ranks, the values and their ranks
        ("expected", ctypes.c_char_p),  # expected value
        ("reason", ctypes.c_char_p),  # the message without operation and rank
    ]


class TraceEvent(ctypes.Structure):
    """An event for the trace hook: an operation has ended on this thread. The peer is - for send, recv, isend,
    irecv: the peer; for a receive from SYNCYTE_ANY the sender (-1 when it starts); for sendrecv the receiver; -
    for collectives with a root (bcast, ibcast, reduce, gather_along, scatter_along): the root, on all ranks; -
    for a halo's exchanges: the neighbour if there is only one, which may be the rank itself; - for window
    operations with a target: the target; - for a wait: the peer of the operation that was started; for a wait for
    several requests, their common peer; - for all others: -1. Starting an operation and waiting for it are two
    events. A wait is "request_wait", "request_wait_all", "request_wait_any", or the "request_test" that completes
    the request; other tests, and waits for null, are not events. Lookups (of a rank, a shape, a pointer) are not
    events, and syncyte_stats() does not count them.
    """

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_trace_event_t) as the library knows it
        ("operation", ctypes.c_char_p),  # for example "comm_allreduce"; valid during the call
        ("bytes", ctypes.c_int64),  # bytes of this rank's part; for a wait, those of the started operation; or 0
        ("begin_ns", ctypes.c_int64),  # CLOCK_MONOTONIC at the start, nanoseconds
        ("end_ns", ctypes.c_int64),  # CLOCK_MONOTONIC at the end, nanoseconds
        ("status", ctypes.c_int32),  # status of the operation
        ("peer", ctypes.c_int32),  # peer, a rank of the communicator, see above; or -1
        ("dtype", ctypes.c_int32),  # element type of the data; for a wait, that of the started operation; or 0
        ("reserved", ctypes.c_int32),  # 0
        ("comm", ctypes.c_char_p),  # name of the communicator, valid during the call; or null
        ("path", ctypes.c_char_p),  # file of a checkpoint, valid during the call; or null
    ]


class OperationStats(ctypes.Structure):
    """Counters of one operation in this process."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_operation_stats_t)
        ("operation", ctypes.c_char_p),  # for example "comm_allreduce"; never freed
        ("calls", ctypes.c_int64),  # calls that have ended, counted as trace events are, see syncyte_trace_event_t
        ("errors", ctypes.c_int64),  # calls that failed
        ("bytes", ctypes.c_int64),  # bytes of this rank's parts
        ("nanoseconds", ctypes.c_int64),  # duration of the calls that were traced (by SYNCYTE_TRACE or a hook)
    ]


class InitOptions(ctypes.Structure):
    """Options of syncyte_init()."""

    _defaults_: dict[str, Any] = {"thread_level": 3}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_init_options_t)
        ("thread_level", ctypes.c_int32),  # thread level to request if this call initializes MPI: 0 single, 1 funneled, 2 serialized, 3 multiple
        ("reserved", ctypes.c_int32),  # 0
    ]


class CommOptions(ctypes.Structure):
    """Options of a new communicator."""

    _defaults_: dict[str, Any] = {"check": -1}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_comm_options_t)
        ("name", ctypes.c_char_p),  # for messages, ranks may differ; null: made from the parent's name
        ("check", ctypes.c_int32),  # -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
        ("reserved", ctypes.c_int32),  # 0
    ]


class Fact(ctypes.Structure):
    """A named number that all ranks must share."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_fact_t)
        ("name", ctypes.c_char_p),  # for the message
        ("value", ctypes.c_int64),  # must be equal on all ranks
    ]


class Topology(ctypes.Structure):
    """Topology of a communicator: its ranks on nodes. Ranks that share memory form a node."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_topology_t)
        ("nodes", ctypes.c_int32),  # number of nodes
        ("node", ctypes.c_int32),  # number of this rank's node, 0 to nodes - 1, in order of the nodes' lowest ranks
        ("node_size", ctypes.c_int32),  # number of ranks on this rank's node
        ("node_rank", ctypes.c_int32),  # number of this rank on its node, in rank order
    ]


class CollectiveOptions(ctypes.Structure):
    """Options of a collective operation."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_collective_options_t)
        ("stream", ctypes.c_void_p),  # reserved: null. Work enqueued on a device buffer must be complete before the call
        ("fact", ctypes.c_int64),  # an additional fact, equal on all ranks, for libraries on top; 0 by default
        ("fact_count", ctypes.c_int64),  # number of facts, 0 to 24
        ("facts", ctypes.POINTER(Fact)),  # additional facts with names for the message, read during the call; null if none
    ]


class MemoryStats(ctypes.Structure):
    """Statistics of the pools of recycled buffers: of host memory, and of all devices in sum. Sizes are in bytes."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_memory_stats_t)
        ("in_use", ctypes.c_int64),  # acquired and not released, rounded up to size classes
        ("cached", ctypes.c_int64),  # kept for re-use
        ("limit", ctypes.c_int64),  # limit of cached (SYNCYTE_POOL_LIMIT)
        ("hits", ctypes.c_int64),  # requests served from the cache
        ("misses", ctypes.c_int64),  # requests that needed fresh memory
        ("device_in_use", ctypes.c_int64),  # in_use of devices
        ("device_cached", ctypes.c_int64),  # cached of devices
        ("device_limit", ctypes.c_int64),  # limit of devices: each has SYNCYTE_POOL_LIMIT
        ("device_hits", ctypes.c_int64),  # hits of devices
        ("device_misses", ctypes.c_int64),  # misses of devices
    ]


class DeviceUse(ctypes.Structure):
    """Memory of a device that an object of this process has, in a list for people."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_device_use_t)
        ("device", ctypes.c_char_p),  # UUID of the device, "GPU-..."; valid until this thread asks again
        ("holder", ctypes.c_char_p),  # the object, such as `tensor "table" (float32, [10, 4])`; valid as device
        ("bytes", ctypes.c_int64),  # of the device's pages that it has
    ]


class CacheSizes(ctypes.Structure):
    """Sizes of a new cache, in bytes, rounded up to pages, and where it lies."""

    _defaults_: dict[str, Any] = {"device": -1}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_cache_sizes_t)
        ("parameter_bytes", ctypes.c_int64),  # 0: as SYNCYTE_CACHE_PARAMETER_BYTES says (docs/environment.md)
        ("computation_bytes", ctypes.c_int64),  # 0: as SYNCYTE_CACHE_COMPUTATION_BYTES says
        ("memory", ctypes.c_int32),  # where it lies
        ("device", ctypes.c_int32),  # the device for SYNCYTE_MEMORY_CUDA; -1: that of the thread's context, or 0
        ("framework", ctypes.c_char_p),  # name and version of the framework whose allocations determine offsets, such as "torch 2.15.0", for syncyte_cache_check_framework(); at most 127 bytes; null: none
    ]


class CacheRendezvous(ctypes.Structure):
    """The Unix socket, in a folder, by which two processes pass a cache, and how long they wait."""

    _defaults_: dict[str, Any] = {"timeout": -1}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_cache_rendezvous_t)
        ("name", ctypes.c_char_p),  # the socket's file is NAME.syncyte; at most 60 bytes; null: as SYNCYTE_CACHE says
        ("folder", ctypes.c_char_p),  # a folder of this user with mode 0700, made if it is missing; null: as SYNCYTE_CACHE_FOLDER says; a folder that neither names must not be a symbolic link
        ("nonce", ctypes.c_int64 * 2),  # a secret that both processes know; zeros: none
        ("timeout", ctypes.c_double),  # seconds to wait; negative: as SYNCYTE_CACHE_TIMEOUT says
    ]


class ModelsOptions(ctypes.Structure):
    """Options of new models."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_models_options_t)
        ("budget", ctypes.c_int64),  # most bytes of all models in host memory; 0: as SYNCYTE_CACHE_MODEL_BYTES says (docs/environment.md)
        ("device_budget", ctypes.c_int64),  # most bytes on each device; 0: as SYNCYTE_CACHE_DEVICE_MODEL_BYTES says
    ]


class PublicationOptions(ctypes.Structure):
    """Options of a publication."""

    _defaults_: dict[str, Any] = {"device": -1}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_publication_options_t)
        ("checksums", ctypes.c_int32),  # 1: checksums of the tensors, which syncyte_model_verify() compares; or 0
        ("memory", ctypes.c_int32),  # where the model will lie
        ("device", ctypes.c_int32),  # the device, for SYNCYTE_MEMORY_CUDA; -1: that of the thread's context, or 0
        ("reserved", ctypes.c_int32),  # 0
    ]


class BindOptions(ctypes.Structure):
    """Options of a binding."""

    _defaults_: dict[str, Any] = {"device": -1}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_bind_options_t)
        ("memory", ctypes.c_int32),  # where the tensors are used: a kind of memory, or SYNCYTE_MEMORY_OF_MODEL
        ("device", ctypes.c_int32),  # the device, for SYNCYTE_MEMORY_CUDA; -1: the model's, if it lies on one that this process sees, otherwise that of the thread's context, or 0
        ("copy", ctypes.c_int32),  # 1: memory that the process may write, a copy where it lies on a device; or 0
        ("reserved", ctypes.c_int32),  # 0
    ]


class Published(ctypes.Structure):
    """A model in a list for people."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_published_t)
        ("name", ctypes.c_char_p),  # of the model; valid until this thread asks the server again
        ("bytes", ctypes.c_int64),  # of its file, or of the device's memory
        ("groups", ctypes.c_int64),  # number of groups; 0: not known yet
        ("ready", ctypes.c_int64),  # number of groups that are ready; less than groups: it is loading
        ("publisher", ctypes.c_int32),  # id of the process that has published it
        ("holders", ctypes.c_int32),  # number of bindings
        ("processes", ctypes.c_int32 * 32),  # ids of the first processes that have it bound, then zeros
        ("device", ctypes.c_char_p),  # UUID of the device whose memory it lies in, "GPU-..."; "" for host memory; valid as the name
    ]


class ModelInfo(ctypes.Structure):
    """What a process has bound."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_model_info_t)
        ("bytes", ctypes.c_int64),  # from the model's begin to its end
        ("tensors", ctypes.c_int64),  # number of tensors
        ("groups", ctypes.c_int64),  # number of groups
        ("ready", ctypes.c_int64),  # number of groups that this process can use
        ("memory", ctypes.c_int32),  # kind of memory of the tensors
        ("device", ctypes.c_int32),  # their device; 0 for host memory
        ("read_only", ctypes.c_int32),  # 1: other processes have the same memory, and nobody may write it; or 0
        ("reserved", ctypes.c_int32),  # 0
    ]


class ModelTensor(ctypes.Structure):
    """A tensor of a model."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_model_tensor_t)
        ("name", ctypes.c_char_p),  # valid while the model is bound
        ("data", ctypes.c_void_p),  # first element, for use once its group is ready; at a multiple of 64 bytes
        ("bytes", ctypes.c_int64),  # of all elements
        ("group", ctypes.c_int64),  # number of its group, from 0
        ("same_as", ctypes.c_int64),  # number of the first tensor that has this memory: its own, or less
        ("dtype", ctypes.c_int32),  # element type
        ("ndim", ctypes.c_int32),  # number of dimensions
        ("shape", ctypes.c_int64 * 8),  # extents, in elements
        ("strides", ctypes.c_int64 * 8),  # distances of neighbouring elements, in bytes
    ]


class MessageOptions(ctypes.Structure):
    """Options of a message."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_message_options_t)
        ("stream", ctypes.c_void_p),  # reserved: null
        ("channel", ctypes.c_int32),  # 0 to 7; a receive matches only messages of its channel. For libraries on top, whose own messages have the same tags as their users'
        ("room", ctypes.c_int32),  # SYNCYTE_MESSAGE_ROOM: so many bytes in front of the buffer's first element are free for the message's header. MPI then gets device memory itself (syncyte_mpi_takes()), without room (0) a copy on the host. Device memory is contiguous, and work enqueued on it complete
        ("label", ctypes.c_int64),  # any number, which a send passes to the receiver's status; for libraries on top
    ]


class MessageStatus(ctypes.Structure):
    """Sender, tag and label of a received message."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_message_status_t)
        ("source", ctypes.c_int32),  # the sender's rank
        ("tag", ctypes.c_int32),  # the message's tag
        ("label", ctypes.c_int64),  # the sender's options->label
    ]


class HaloOptions(ctypes.Structure):
    """Options of a halo."""

    _defaults_: dict[str, Any] = {"corners": 1}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_halo_options_t)
        ("corners", ctypes.c_int32),  # 1: include corners; 0: only ghosts beyond the interior along one axis
        ("reserved", ctypes.c_int32),  # 0
    ]


class LayoutOptions(ctypes.Structure):
    """What the arrays of a layout hold beside cells, and how a mesh divides them."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_layout_options_t)
        ("ghosts_low", ctypes.c_int64 * 8),  # ghosts before the first point of each axis, 0 or more
        ("ghosts_high", ctypes.c_int64 * 8),  # ghosts behind the last point
        ("shared", ctypes.c_int32 * 8),  # 1: points on the borders of cells along this axis; 0: cells
        ("periodic", ctypes.c_int32 * 8),  # 1: the axis is periodic
        ("truth", ctypes.c_int32),  # rule for points that two blocks store
        ("ceil", ctypes.c_int32),  # of a mesh: 1: parts of ceil(cells / parts) cells, the last ones shorter or empty, as PyTorch's DTensor cuts; 0: equal parts, the first cells % parts of which have one cell more
        ("block", ctypes.c_int64),  # of a mesh: cells that are dealt out to the parts in blocks of this length; 0: each part has consecutive cells
        ("weighted", ctypes.c_int32),  # of a mesh: 1: lengths are weights, 0 or more, and an axis is cut in proportion to them
    ]


class RelocateOptions(ctypes.Structure):
    """Options of a relocation."""

    _defaults_: dict[str, Any] = {"buffer_bytes": 8388608}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_relocate_options_t)
        ("buffer_bytes", ctypes.c_int64),  # most memory for messages on each rank; equal on all ranks
        ("first", ctypes.POINTER(ctypes.c_int64)),  # null: both layouts are of arrays of the same extents; otherwise one array is a box of the other one, this is its first point there, for each axis, and only the box is moved
        ("collective", ctypes.POINTER(CollectiveOptions)),  # what all collectives take, read during the call; null for defaults
    ]


class LayoutInfo(ctypes.Structure):
    """A layout as a rank sees it, or one of a rank's blocks."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_layout_info_t)
        ("extents", ctypes.c_int64 * 8),  # points of the whole array along each axis
        ("first", ctypes.c_int64 * 8),  # of a block: its first point, ghosts not counted
        ("shape", ctypes.c_int64 * 8),  # of a block: extents of its array, ghosts included
        ("ndim", ctypes.c_int32),  # number of axes
        ("blocks", ctypes.c_int32),  # number of the rank's blocks
        ("listed", ctypes.c_int32),  # 1: of listed points (syncyte_layout_create_indices())
    ]


class LayoutPiece(ctypes.Structure):
    """Points of a box that one block has."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("first", ctypes.c_int64 * 8),  # first point
        ("count", ctypes.c_int64 * 8),  # points along each axis, 1 or more
        ("index", ctypes.c_int64 * 8),  # place of the first point in the block's array, ghosts counted
        ("rank", ctypes.c_int32),  # the owner: the first rank of the block with the right copy
        ("block", ctypes.c_int32),  # number of the block among the rank's
    ]


class ReducerOptions(ctypes.Structure):
    """Options of a reducer."""

    _defaults_: dict[str, Any] = {"scale": 1}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_reducer_options_t)
        ("scale", ctypes.c_double),  # factor of the sums; 1 / number of ranks gives means
    ]


class WindowOptions(ctypes.Structure):
    """Options of a new window."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_window_options_t)
        ("name", ctypes.c_char_p),  # may be null, which is a name of its own; equal on all ranks
        ("memory", ctypes.c_int32),  # SYNCYTE_MEMORY_HOST; other kinds are not supported yet
        ("reserved", ctypes.c_int32),  # 0
        ("label", ctypes.c_char_p),  # name for messages, if not null; ranks may differ
    ]


class TensorOptions(ctypes.Structure):
    """Options of a new tensor."""

    _defaults_: dict[str, Any] = {"local_rows": -1, "device": -1}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_tensor_options_t)
        ("name", ctypes.c_char_p),  # may be null, which is a name of its own; equal on all ranks
        ("local_rows", ctypes.c_int64),  # number of this rank's rows; -1: equal parts, with the remainder on the first ranks. All ranks pass -1, or all pass numbers that add up to shape[0]
        ("memory", ctypes.c_int32),  # where the rows lie, equal on all ranks; of SYNCYTE_MEMORY_CUDA, those of each rank on its device
        ("device", ctypes.c_int32),  # this rank's device for SYNCYTE_MEMORY_CUDA; -1: that of the thread's context, or 0. Ranks may use the same one, and see different ones
        ("released", ctypes.POINTER(ctypes.c_int64)),  # may be null; for wrap: set to 1 (a release store) when no rank uses this rank's array any more. The caller owns it; it must live as long as the array
        ("row_locks", ctypes.c_int32),  # 1: rows have locks, for tensor_lock(), of 8 bytes each; 0: no locks. Equal on all ranks
        ("deterministic", ctypes.c_int32),  # 1: scatter_add, and accumulate_box with SYNCYTE_OP_SUM, of floating-point and complex numbers take effect in tensor_sync(), with the same bits for every order of the adds and for every rank that makes them; 0: they take effect at once. Equal on all ranks
        ("label", ctypes.c_char_p),  # name for messages, if not null; ranks may differ
    ]


class OptimizerOptions(ctypes.Structure):
    """Hyperparameters; an optimizer ignores those that it does not have."""

    _defaults_: dict[str, Any] = {"momentum": 0.0, "beta1": 0.9, "beta2": 0.999, "eps": -1.0}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_optimizer_options_t)
        ("momentum", ctypes.c_double),  # SGD: 0 to less than 1
        ("beta1", ctypes.c_double),  # Adam: decay of the mean of gradients, 0 to less than 1
        ("beta2", ctypes.c_double),  # Adam: decay of the mean of squares, 0 to less than 1
        ("eps", ctypes.c_double),  # AdaGrad and Adam: added to the divisor; negative: torch's default, 1e-10 for AdaGrad and 1e-8 for Adam
    ]


class StoreOptions(ctypes.Structure):
    """Options of a new store."""

    _defaults_: dict[str, Any] = {"workers": 1, "homes": 1, "foreign_bytes": -1, "intents": 1}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_store_options_t)
        ("name", ctypes.c_char_p),  # may be null, which is a name of its own; equal on all ranks
        ("workers", ctypes.c_int32),  # number of this process's workers, 1 to 65536; ranks may differ
        ("homes", ctypes.c_int32),  # home ranks of the keys; equal on all ranks
        ("label", ctypes.c_char_p),  # name for messages, if not null; ranks may differ
        ("foreign_bytes", ctypes.c_int64),  # memory on this node for keys of other nodes, as its lowest rank gives it; -1: a quarter of the node's values, at least 1 MiB, at most an eighth of the memory that is free
        ("intents", ctypes.c_int32),  # what intents do; equal on all ranks
    ]


class StoreSampling(ctypes.Structure):
    """Sampling options. Only keys that have as many values as min_key are drawn. Scheme local: a key is drawn from
    the whole range, as by the other schemes. If it is not local, the next local key upwards is taken in its
    place, from min_key on after the last one; without replacement the next one that is not in the sample. If the
    next 256 keys have none, or with SYNCYTE_STORE_HOMES_BLOCK, it is the drawn key itself.
    """

    _defaults_: dict[str, Any] = {"scheme": 4, "distribution": 1, "with_replacement": 1, "shared_keys": 250, "reuse": 1}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_store_sampling_t)
        ("scheme", ctypes.c_int32),  # when keys are drawn
        ("distribution", ctypes.c_int32),  # distribution of the keys
        ("with_replacement", ctypes.c_int32),  # 0: no key repeats in a sample; not with a shared set
        ("reserved", ctypes.c_int32),  # 0
        ("min_key", ctypes.c_int64),  # first key of the range
        ("max_key", ctypes.c_int64),  # end of the range: its last key + 1
        ("shared_keys", ctypes.c_int64),  # number of keys in the shared set, 1 to 2^28
        ("reuse", ctypes.c_int64),  # how often each key of a shared set is used
        ("seed", ctypes.c_int64),  # seed; rank and worker number are mixed in
    ]


class StoreWorkerInfo(ctypes.Structure):
    """Counters of a worker since its creation."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_store_worker_info_t)
        ("number", ctypes.c_int64),  # number of the worker
        ("clock", ctypes.c_int64),  # as store_worker_clock()
        ("pulled_keys", ctypes.c_int64),  # by all pulls; a key that repeats counts each time, of pull_unique once
        ("pushed_keys", ctypes.c_int64),  # by push, and distinct ones by push_unique
        ("set_keys", ctypes.c_int64),  # by set
        ("localized_keys", ctypes.c_int64),  # by localize
        ("intended_keys", ctypes.c_int64),  # by intent and prepare_sample
        ("active_intents", ctypes.c_int64),  # intended keys whose window has not ended
        ("prepared_samples", ctypes.c_int64),  # samples that have keys left
        ("remote_keys", ctypes.c_int64),  # of pulled, pushed and set keys, those that were asked for at their home ranks
    ]


class CheckpointEntry(ctypes.Structure):
    """One named tensor to save or load."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_checkpoint_entry_t)
        ("key", ctypes.c_char_p),  # name, 1 to 1023 bytes; '/' is stored escaped as "%2F", '%' as "%25", and the key "." as "%2E"
        ("data", ctypes.POINTER(BufferDescription)),  # contiguous, in host or CUDA memory; this rank's rows if sharded; read during the call
        ("kind", ctypes.c_int32),  # replicated or sharded
        ("reserved", ctypes.c_int32),  # 0
    ]


class CheckpointOptions(ctypes.Structure):
    """Options of save and open."""

    _defaults_: dict[str, Any] = {}
    _fields_ = [
        ("struct_size", ctypes.c_size_t),  # sizeof(syncyte_checkpoint_options_t)
        ("block_bytes", ctypes.c_int64),  # bytes per checksum when saving, a power of two from 4096 to 2^30; 0: 4 MiB
        ("step", ctypes.c_int64),  # stored as the attribute "step" when saving; any number
        ("attributes", ctypes.c_char_p),  # text to store in the file's attribute "attributes" when saving, up to 16 MiB: scalars, strings and small arrays, in JSON by convention; null for none; read during the call
    ]


# Called after every traced operation, on the thread that ran it; must not call Syncyte.
TraceFn = ctypes.CFUNCTYPE(None, ctypes.POINTER(TraceEvent), ctypes.c_void_p)

# Sets *done to 1 if the operation has ended; does not wait. Returns the operation's status once it has ended; an error
# ends it. Not called again after the end.
RequestPollFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32))

# Waits for the end of the operation and returns its status; SYNCYTE_ERR_INTERRUPTED if it has not ended. Not called
# after poll has set *done.
RequestWaitFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)

# Frees the context. Called once, after the operation has ended, by the test or wait that returns its status, or by
# finalize.
RequestFreeFn = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

# Writes the application's current source line as a zero-terminated string of at most `size` bytes, including the zero.
# Called on a separate thread; may block.
LineFn = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)

# Returns non-zero to end the wait in progress, otherwise 0.
InterruptFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)

# Gets a slab: the axes' indices of its first point in the whole array, and its elements in host memory, dense in row-
# major order, which are valid until it returns. Any status but SYNCYTE_SUCCESS ends the collection on all ranks.
SlabFn = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(BufferDescription))


CORE: dict[str, Function] = {
    # Returns the version of the loaded library. Local; callable at any time, from any thread.
    "syncyte_version": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),  # major (out, optional): first number
            ctypes.POINTER(ctypes.c_int32),  # minor (out, optional): second number
            ctypes.POINTER(ctypes.c_int32),  # patch (out, optional): third number
            ctypes.POINTER(ctypes.c_int32),  # abi (out, optional): SYNCYTE_ABI_VERSION of the library
        ],
    ),
    # Returns the message of this thread's last failed call. Local; callable at any time. Returns: a string that is
    # valid until the thread's next failing call; empty if none failed.
    "syncyte_last_error": Function(
        ctypes.c_char_p,
        [
        ],
    ),
    # Returns the fields of this thread's last error. Local; callable at any time.
    "syncyte_last_error_fields": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ErrorFields),  # fields (in,out): struct_size set by the caller; the rest is filled; texts are valid until the thread's next failing call
        ],
    ),
    # Returns the name of a status code, for example "SYNCYTE_ERR_INDEX". Local; callable at any time. Returns: a
    # constant string; "SYNCYTE_ERR_UNKNOWN" for a number that is not a status code.
    "syncyte_status_name": Function(
        ctypes.c_char_p,
        [
            ctypes.c_int32,  # status (in): any number
        ],
    ),
    # Sets this thread's last error, for libraries on top of Syncyte. Local; callable at any time. Returns: status, so
    # that a caller can `return syncyte_error_set(...)`.
    "syncyte_error_set": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # status (in): code, not SYNCYTE_SUCCESS
            ctypes.c_char_p,  # message (in): the error, the argument, and how to correct it; the rank is prepended
        ],
    ),
    # Sets this thread's last error with its fields; syncyte_error_set() sets it without. Local; callable at any time.
    # Returns: fields->status
    "syncyte_error_set_fields": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ErrorFields),  # fields (in): texts may be null; status is not SYNCYTE_SUCCESS; reason is the message; rank is not read
        ],
    ),
    # Reads a caller's struct by the rule of struct_size, for libraries on top. Local; callable at any time. Returns:
    # SYNCYTE_ERR_ARGUMENT (null, a size that no version has), SYNCYTE_ERR_VERSION (a byte set beyond ours).
    "syncyte_struct_read": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # theirs (in): the caller's struct
            ctypes.c_char_p,  # name (in): name of the argument, for the message
            ctypes.c_size_t,  # first_size (in): its sizeof in the first release
            ctypes.c_void_p,  # ours (in,out): defaults and struct_size of the library on top; gets the members that the caller's struct has
        ],
    ),
    # Returns the size of one element in bytes. Local; callable at any time. Returns: SYNCYTE_ERR_TYPE for an unknown
    # dtype.
    "syncyte_dtype_size": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # dtype (in): element type
            ctypes.POINTER(ctypes.c_int64),  # size (out): bytes of an element
        ],
    ),
    # Returns the name of an element type, for example "float32". Local; callable at any time. Returns: a constant
    # string; "unknown" for an unknown dtype.
    "syncyte_dtype_name": Function(
        ctypes.c_char_p,
        [
            ctypes.c_int32,  # dtype (in): element type
        ],
    ),
    # Fills a buffer for a contiguous row-major array in host memory. Local; callable at any time. Returns:
    # SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (ndim, a negative extent, more than 2^63 - 1 bytes).
    "syncyte_buffer_set": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # data (in, optional): first element
            ctypes.c_int32,  # dtype (in): element type
            ctypes.c_int32,  # ndim (in): number of dimensions
            ctypes.POINTER(ctypes.c_int64),  # shape (in, optional, array of ndim): extents; may be null when ndim is 0
            ctypes.POINTER(BufferDescription),  # buffer (in,out): struct_size set by the caller; the rest is filled
        ],
    ),
    # Writes a line with rank and severity to stderr, if SYNCYTE_LOG enables that severity. Local, thread-safe, callable
    # at any time.
    "syncyte_log": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # level (in): severity
            ctypes.c_char_p,  # message (in): text without a newline
        ],
    ),
    # Installs the trace hook of the process; null removes it. Local; callable at any time, not during operations.
    "syncyte_trace_set": Function(
        ctypes.c_int32,
        [
            TraceFn,  # hook (in, optional): function
            ctypes.c_void_p,  # context (in, optional): passed to every call; must outlive the hook
        ],
    ),
    # Returns the counters of an operation. Local, thread-safe, callable at any time. Returns: SYNCYTE_ERR_INDEX beyond
    # the last one.
    "syncyte_stats": Function(
        ctypes.c_int32,
        [
            ctypes.c_int64,  # index (in): 0, 1, ... until the result is SYNCYTE_ERR_INDEX; operations that were never called are not listed
            ctypes.POINTER(OperationStats),  # stats (in,out): struct_size set by the caller; the rest is filled
        ],
    ),
    # Makes a request of callbacks, for libraries on top of Syncyte. Local. Until the operation has ended, every wait of
    # Syncyte on this rank calls poll, on any thread that may call MPI. Two callbacks of one request never run at once.
    # The thread that tests or waits for the request gets the status, and the message that poll passed to
    # syncyte_error_set(). Callbacks may call Syncyte's local functions, but must not start or end Syncyte. poll must
    # not wait for another rank: while it runs, its thread polls no other request. syncyte_finalize() (or MPI_Finalize)
    # polls active requests until they have ended, and frees their contexts; Syncyte can be called meanwhile. If a
    # request has not ended 5 s after all ranks have entered finalize, an error is logged: the request stays active, and
    # its context is not freed. Returns: SYNCYTE_ERR_UNSUPPORTED in a forked child.
    "syncyte_request_create": Function(
        ctypes.c_int32,
        [
            RequestPollFn,  # poll (in): tests for completion
            RequestWaitFn,  # wait (in, optional): waits; if null, poll is called until it sets *done
            RequestFreeFn,  # free (in, optional): frees context
            ctypes.c_void_p,  # context (in, optional): passed to the callbacks; owned by the request on success
            ctypes.POINTER(ctypes.c_void_p),  # request (out): the request
        ],
    ),
    # Tests a request without waiting. Local. If it has ended, returns its status and nulls the handle.
    "syncyte_request_test": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # request (in,out): a request; null counts as ended
            ctypes.POINTER(ctypes.c_int32),  # done (out): 1 if it has ended
        ],
    ),
    # Waits for a request, returns its status, and nulls the handle. Local. Returns: SYNCYTE_ERR_INTERRUPTED if the
    # application ended the wait (syncyte_interrupt_set()): the request stays active. syncyte_request_wait_all() and
    # syncyte_request_wait_any() do the same.
    "syncyte_request_wait": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # request (in,out): a request; null counts as ended
        ],
    ),
    # Waits for all requests; returns the first status that is not success, after all have ended. Local.
    "syncyte_request_wait_all": Function(
        ctypes.c_int32,
        [
            ctypes.c_int64,  # count (in): number of requests
            ctypes.POINTER(ctypes.c_void_p),  # requests (in,out, array of count): requests, nulled; null ones are skipped
        ],
    ),
    # Waits until one of the requests ends, returns its status and nulls it. Local. The requests may be of different
    # objects, such as a halo and a store.
    "syncyte_request_wait_any": Function(
        ctypes.c_int32,
        [
            ctypes.c_int64,  # count (in): number of requests
            ctypes.POINTER(ctypes.c_void_p),  # requests (in,out, array of count): requests; null ones are skipped
            ctypes.POINTER(ctypes.c_int64),  # index (out): position of the request that ended, also if it has failed; -1 if none has: all were null, or the wait has failed
        ],
    ),
    # Frees a request that has ended, and nulls the handle; a null handle is ignored. Local. Returns: SYNCYTE_ERR_BUSY
    # while the operation is active.
    "syncyte_request_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # request (in,out): a request
        ],
    ),
    # Does what syncyte_init() does, for a program that was compiled for the binary interface `abi`. For languages that
    # do not include this header. Returns: SYNCYTE_ERR_VERSION on all ranks if `abi` is not the library's number on one
    # of them; otherwise as syncyte_init().
    "syncyte_init_abi": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(InitOptions),  # options (in, optional): null for defaults
            ctypes.c_int32,  # abi (in): SYNCYTE_ABI_VERSION of the header or of the declarations that the program uses
        ],
    ),
    # Returns whether all ranks of a communicator got this thread's last error, which their agreement found, so that one
    # of them can print it for all. Local; callable at any time.
    "syncyte_last_error_agreed": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),  # rank (out): this rank's number in that communicator; -1: the error is this rank's alone
        ],
    ),
    # Ends Syncyte: frees all windows and communicators, and finalizes MPI if syncyte_init() had initialized it.
    # Collective over MPI_COMM_WORLD: waits for all ranks. Memory that a view still refers to stays readable. If the
    # application finalizes MPI first, this happens inside MPI_Finalize. If a rank has died before, the function does
    # not wait: it logs an error, frees nothing that ranks share, and does not finalize MPI, which must not be called
    # any more. Further calls, and calls in a forked child, do nothing.
    "syncyte_finalize": Function(
        ctypes.c_int32,
        [
        ],
    ),
    # Installs the function that gives this rank's current source line to the watchdog's report; null removes it. The
    # report says "unknown" if the function takes longer than a second. Local; callable at any time.
    "syncyte_watchdog_line_set": Function(
        ctypes.c_int32,
        [
            LineFn,  # hook (in, optional): function
            ctypes.c_void_p,  # context (in, optional): passed to every call; must outlive the hook
        ],
    ),
    # Installs a function that waits of the calling thread call ten times a second, for example to check for signals;
    # null removes it. The process has one such function: a later call replaces it. Local; callable at any time. If the
    # function returns non-zero, the wait returns SYNCYTE_ERR_INTERRUPTED, on this rank alone: - a request stays active,
    # and may be waited for again; - a blocking receive is cancelled, or has received a message that had already
    # arrived; - a blocking send may still arrive: its memory must stay unchanged until syncyte_finalize(); - an access
    # to another node's rows, keys or window may still take place, once; - a lock is not held; the function is not
    # called while the lock's owner answers; - a halo cannot be used after an interrupted blocking exchange or
    # accumulate; neighbours may still wait for it; - after a collective the ranks of its communicator are out of step:
    # every later collective on it returns SYNCYTE_ERR_INTERRUPTED on this rank; after a collective of the world
    # communicator, syncyte_finalize() frees nothing, and does not finalize MPI. With SYNCYTE_CHECK=off collectives wait
    # inside MPI, and do not call the function; syncyte_finalize() never does.
    "syncyte_interrupt_set": Function(
        ctypes.c_int32,
        [
            InterruptFn,  # hook (in, optional): function; may call Syncyte, but must not wait for the same operation
            ctypes.c_void_p,  # context (in, optional): passed to every call; must outlive the hook
        ],
    ),
    # Limits how long this thread waits: waits that go on `seconds` after this call end about a tenth of a second later,
    # as by an interrupt: with SYNCYTE_ERR_INTERRUPTED, whose message says that the time has passed, and with what
    # syncyte_interrupt_set() says of requests, communicators and the like. Local; callable at any time. Returns:
    # SYNCYTE_ERR_ARGUMENT.
    "syncyte_wait_limit_set": Function(
        ctypes.c_int32,
        [
            ctypes.c_double,  # seconds (in): 0 to 1e9; 0: no limit, as at first
        ],
    ),
    # Ends the whole job at once, as MPI_Abort does; does not return. Callable at any time, on any rank. In a forked
    # child, ends only the child.
    "syncyte_abort": Function(
        None,
        [
            ctypes.c_int32,  # exit_code (in): what mpirun should return, 1 to 255
        ],
    ),
    # Returns whether Syncyte is initialized. Local; callable at any time.
    "syncyte_initialized": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),  # flag (out): 1 between init and finalize, also in a child forked then; otherwise 0
        ],
    ),
    # Returns whether this rank knows that a rank has died. A program that initialized MPI itself asks after
    # syncyte_finalize(), which looks for deaths: MPI_Finalize() may then wait for the dead rank for ever. Local,
    # thread-safe; callable at any time.
    "syncyte_death_known": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),  # flag (out): 1 or 0
        ],
    ),
    # Returns the thread level that MPI provides: 0 single, 1 funneled, 2 serialized, 3 multiple. Local.
    "syncyte_thread_level": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),  # level (out): the level
        ],
    ),
    # Returns whether MPI accepts buffers in a kind of memory. It always accepts host memory. It accepts CUDA memory if
    # this build has CUDA, the machine has a device, and the MPI library reports that it is CUDA-aware or
    # SYNCYTE_CUDA_AWARE=on is set. Local. Operations that only move elements accept device buffers: messages, and
    # blocking broadcasts, gathers, scatters and all-to-alls. The buffers must be dense, and cut along their first axis;
    # if an operation has two buffers on a rank, both must be on devices. Work enqueued on them must be complete before
    # the call. All other operations on a communicator return SYNCYTE_ERR_UNSUPPORTED for device memory. Returns:
    # SYNCYTE_ERR_ARGUMENT for an unknown kind.
    "syncyte_mpi_takes": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # memory (in): kind
            ctypes.POINTER(ctypes.c_int32),  # flag (out): 1 or 0
        ],
    ),
    # Returns a reference to the communicator of all ranks. Local. All references have the same handle, in every job.
    "syncyte_comm_world": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # comm (out): the communicator; to be destroyed as any other handle
        ],
    ),
    # Returns a reference to the communicator of this rank alone. Local. All references have the same handle, in every
    # job.
    "syncyte_comm_self": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # comm (out): the communicator; to be destroyed as any other handle
        ],
    ),
    # Makes a communicator from a Fortran handle (MPI_Comm_c2f, comm%MPI_VAL, mpi4py's py2f()), which is duplicated and
    # stays the caller's. Collective over it. A Cartesian one stays Cartesian (syncyte/cart.h); other topologies of MPI
    # are not kept. Returns: SYNCYTE_ERR_ARGUMENT for a null communicator, an inter-communicator and an invalid handle,
    # on this rank alone: it cannot notify the others.
    "syncyte_comm_from_fortran": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # fortran_handle (in): an intra-communicator
            ctypes.POINTER(CommOptions),  # options (in, optional): null for defaults; all ranks get an error in one rank's options
            ctypes.POINTER(ctypes.c_void_p),  # comm (out): the communicator
        ],
    ),
    # Returns the MPI communicator of a handle, as a Fortran handle. Local. Syncyte owns it: use it only while comm is
    # alive, and do not free it. Messages on it are separate from Syncyte's own.
    "syncyte_comm_to_fortran": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(ctypes.c_int32),  # fortran_handle (out): for MPI_Comm_f2c
        ],
    ),
    # Duplicates a communicator. Collective.
    "syncyte_comm_dup": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(CommOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # duplicate (out): the same ranks in the same order
        ],
    ),
    # Splits a communicator as MPI_Comm_split does. Collective; facts: options->check (colors and keys may differ).
    # Returns: SYNCYTE_ERR_ARGUMENT for a color below -1.
    "syncyte_comm_split": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_int32,  # color (in): ranks of the same color form a new communicator; -1: this rank gets a null handle
            ctypes.c_int32,  # key (in): order within the new communicator; ties are ordered by rank
            ctypes.POINTER(CommOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # part (out): the communicator of this rank's color
        ],
    ),
    # Splits a communicator by program, for jobs of several programs in one mpirun: ranks that pass the same name form a
    # part. Collective.
    "syncyte_comm_split_program": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_char_p,  # name (in, optional): name of this rank's program, 1 to 255 bytes; null: the executable's file name
            ctypes.POINTER(CommOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # part (out): this program's ranks, in rank order
        ],
    ),
    # Makes a communicator of the ranks of comm that share memory with this rank. Collective.
    "syncyte_comm_split_node": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(CommOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # node (out): this node's ranks, in rank order
        ],
    ),
    # Makes a communicator of the first rank of each node (comm's ranks with node_rank 0). Collective. A reduction on
    # each node, then among leaders, crosses the network once per node.
    "syncyte_comm_split_leaders": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(CommOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # leaders (out): one rank per node, numbered as the nodes are; a null handle on the other ranks
        ],
    ),
    # Makes a communicator of some ranks of comm, in the order of the list. Collective over these ranks: only they call
    # it, all with the same list and tag. The communicator is freed at finalize: make it once and re-use it. Returns: on
    # all ranks of the list: SYNCYTE_ERR_ARGUMENT if it names a rank twice or one that is out of range, and
    # SYNCYTE_ERR_MISMATCH if lists differ; after that no listed rank can make a group of comm. On this rank alone,
    # which cannot notify the others: SYNCYTE_ERR_ARGUMENT for a list without this rank, a count or a tag out of range.
    # Different lists are detected between ranks that list each other. The call waits for a rank that does not call.
    "syncyte_comm_create_group": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator; threads that make groups of it at the same time use different tags
            ctypes.c_int64,  # count (in): number of ranks, 1 or more
            ctypes.POINTER(ctypes.c_int32),  # ranks (in, array of count): ranks of comm, each once, this rank among them
            ctypes.c_int32,  # tag (in): 0 to 1023
            ctypes.POINTER(CommOptions),  # options (in, optional): null for defaults; all ranks get an error in one rank's options
            ctypes.POINTER(ctypes.c_void_p),  # group (out): the communicator
        ],
    ),
    # Returns the topology: the communicator's ranks on nodes. Local.
    "syncyte_comm_topology": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(Topology),  # topology (in,out): struct_size set by the caller; the rest is filled
        ],
    ),
    # Returns this process's number, 0 to size - 1. Local.
    "syncyte_comm_rank": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(ctypes.c_int32),  # rank (out): the rank
        ],
    ),
    # Returns the number of ranks. Local.
    "syncyte_comm_size": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(ctypes.c_int32),  # size (out): the number
        ],
    ),
    # Returns the check level: 0 off, 1 on, 2 full (SYNCYTE_CHECK). Local.
    "syncyte_comm_check_level": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(ctypes.c_int32),  # level (out): the level that its ranks agreed on
        ],
    ),
    # Returns the number of collectives that this rank has begun on a communicator. Local. Each agreement compares it:
    # after a successful collective it is equal on all ranks until the next one begins, and identifies that collective.
    "syncyte_comm_sequence": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(ctypes.c_int64),  # number (out): 0 on a new communicator
        ],
    ),
    # Returns the communicator's identifier: equal on all its ranks, unique among communicators of this and other jobs.
    # Local.
    "syncyte_comm_id": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(ctypes.c_int64),  # id (out): 0 or more
        ],
    ),
    # Adds a reference. Local, thread-safe, without MPI.
    "syncyte_comm_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
        ],
    ),
    # Drops a reference. Local, thread-safe, without MPI. The last release makes the handle invalid. Objects made on the
    # communicator keep it alive. It is freed at a collective point of its parent; one without a parent, at finalize.
    "syncyte_comm_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_comm_release().
    "syncyte_comm_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # comm (in,out): a communicator
        ],
    ),
    # Counts and traces an operation of a library on top, as if it were Syncyte's own. Local, thread-safe. Returns:
    # SYNCYTE_ERR_ARGUMENT.
    "syncyte_trace_tell": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): communicator whose name is stored in the event; if it is null or freed, the event keeps its own
            ctypes.POINTER(TraceEvent),  # event (in): the event; struct_size and operation are required
        ],
    ),
    # Agreement: returns the same status on all ranks, from their statuses and facts. Collective; facts: operation and
    # those given. Returns: on all ranks: SYNCYTE_SUCCESS; the highest status of any rank, with that rank's message; or
    # SYNCYTE_ERR_MISMATCH, with a message that names the ranks that differ.
    "syncyte_comm_agree": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_int32,  # status (in): this rank's own status, one of syncyte_status_values; if it is not SYNCYTE_SUCCESS, all ranks get this thread's last error
            ctypes.c_char_p,  # operation (in): name for messages, equal on all ranks
            ctypes.c_int64,  # count (in): number of facts, 0 to 32
            ctypes.POINTER(Fact),  # facts (in, optional, array of count): numbers that must be equal on all ranks
        ],
    ),
    # Does the same as syncyte_comm_agree(), for ranks that may arrive late because of long work, such as writing a
    # file: the watchdog shows the wait, with the operation's name, and does not end the job for it. Collective; facts:
    # as syncyte_comm_agree(). Returns: as syncyte_comm_agree().
    "syncyte_comm_agree_unlimited": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_int32,  # status (in): as in syncyte_comm_agree()
            ctypes.c_char_p,  # operation (in): name for messages and the watchdog, equal on all ranks
            ctypes.c_int64,  # count (in): number of facts, 0 to 32
            ctypes.POINTER(Fact),  # facts (in, optional, array of count): numbers that must be equal on all ranks
        ],
    ),
    # Frees objects that all ranks have dropped: tensors, windows and communicators made on comm. Collective. Creation
    # and sync free them too; call this to free memory without either.
    "syncyte_comm_collect": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
        ],
    ),
    # Returns when all ranks have called it. Collective.
    "syncyte_comm_barrier": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
        ],
    ),
    # Sends root's elements to all ranks. Collective; facts: dtype, number of elements, root, options->fact. Returns:
    # SYNCYTE_ERR_ARGUMENT (root), SYNCYTE_ERR_SHAPE (not contiguous), SYNCYTE_ERR_MISMATCH.
    "syncyte_comm_bcast": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_int32,  # root (in): rank that sends its elements
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # array (in,out): contiguous; read on root, written elsewhere
        ],
    ),
    # Starts syncyte_comm_bcast(), as the head of syncyte/collectives.h says. Collective; does not wait. Returns: as
    # comm_bcast, for errors that this rank finds; test and wait return the others.
    "syncyte_comm_ibcast": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator; it may be destroyed before the request has ended
            ctypes.c_int32,  # root (in): rank that sends its elements
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults; may be re-used on return
            ctypes.POINTER(BufferDescription),  # array (in,out): contiguous; read on root, written elsewhere; must stay unchanged on root and may not be read elsewhere until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Reduces element by element over all ranks; all ranks get the result. Collective; facts: dtype, number of elements,
    # op, options->fact. float16 and bfloat16 are reduced in float32 and rounded once. Returns: SYNCYTE_ERR_UNSUPPORTED
    # for an op that dtype does not have, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.
    "syncyte_comm_allreduce": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in, optional): contiguous; null: output's contents (in place)
            ctypes.c_int32,  # op (in): reduction
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (in,out): contiguous, of input's dtype and number of elements; must not overlap input
        ],
    ),
    # Starts syncyte_comm_allreduce(), as the head of syncyte/collectives.h says. Collective; does not wait. Returns: as
    # comm_allreduce, for errors that this rank finds; test and wait return the others.
    "syncyte_comm_iallreduce": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # input (in, optional): contiguous; null: output's contents (in place); must stay unchanged until the request has ended
            ctypes.c_int32,  # op (in): reduction
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults; may be re-used on return
            ctypes.POINTER(BufferDescription),  # output (in,out): contiguous, of input's dtype and number of elements; must not overlap input; may be neither read nor written until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Concatenates contributions of equal size of all ranks, in rank order. Collective; facts: dtype, number of
    # elements, options->fact.
    "syncyte_comm_allgather": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in): contiguous
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (out): contiguous, of input's dtype and size times as many elements; must not overlap input
        ],
    ),
    # Concatenates contributions of different sizes, in rank order. Collective; facts: dtype, counts, options->fact.
    "syncyte_comm_allgatherv": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in): contiguous, counts[rank] elements
            ctypes.c_int64,  # counts_length (in): length of counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # counts (in, array of counts_length): elements of every rank, 0 or more, equal on all ranks
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (out): contiguous, the sum of counts elements; must not overlap input
        ],
    ),
    # Every rank sends a block to every rank. Collective; facts: dtype, options->fact, and that the count that rank i
    # sends to j equals the count that j expects from i (compared as a 64-bit sum of hashes; with SYNCYTE_CHECK=full
    # entry by entry).
    "syncyte_comm_alltoallv": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in): contiguous, the blocks in order of target ranks
            ctypes.c_int64,  # send_counts_length (in): length of send_counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # send_counts (in, array of send_counts_length): elements for every rank
            ctypes.c_int64,  # recv_counts_length (in): length of recv_counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # recv_counts (in, array of recv_counts_length): elements from every rank
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (out): contiguous, the blocks in order of source ranks; must not overlap input
        ],
    ),
    # Moves rows to the ranks that the caller names, such as particles that have left a rank's part of space. The rows
    # of all arrays with one number travel together, in one message from each rank to each other. A target gets the rows
    # that stay, then those of rank 0, 1, ..., all in their order; what it has behind them stays as it is. Collective;
    # facts: count, element types, extents of the rows, whether there are targets. Returns: SYNCYTE_ERR_ARGUMENT (a
    # destination that is no rank; memory that overlaps), SYNCYTE_ERR_SHAPE (fewer rows than destinations; a target
    # without room, on all ranks, before data moves), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MISMATCH.
    "syncyte_comm_relocate_rows": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_int64,  # destinations_length (in): number of rows of this rank
            ctypes.POINTER(ctypes.c_int32),  # destinations (in, optional, array of destinations_length): the rank that each row goes to; SYNCYTE_PROC_NULL: it goes nowhere
            ctypes.c_int64,  # count (in): number of arrays, 1 or more
            ctypes.POINTER(BufferDescription),  # arrays (in, array of count): (rows, ...), with a row for each destination; rows behind them are not read
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # targets (out, optional, array of count): (rows, ...), of the arrays' element types and rows, with room for the rows that this rank gets. A target may be its array itself: the same memory and strides. Null: rows are only counted
            ctypes.POINTER(ctypes.c_int64),  # rows (out): number of rows that this rank has got
        ],
    ),
    # Exchanges a block with each neighbour on a grid. Collective over a Cartesian communicator; after the agreement it
    # waits for the neighbours only. Facts: dtype, number of elements, options->fact. A buffer has two blocks for each
    # dimension, all of equal size: one for the neighbour below, then one for the neighbour above. The block that a rank
    # sends up arrives in the neighbour's block "below", also if a periodic dimension has one or two ranks, so that both
    # neighbours are one rank. Beyond an edge that is not periodic there is no neighbour: that block of input is not
    # read, and that of output not written. The operation is its own adjoint if those blocks are 0. Returns:
    # SYNCYTE_ERR_ARGUMENT (not Cartesian), SYNCYTE_ERR_SHAPE (elements are not a multiple of 2 ndim).
    "syncyte_comm_neighbor_alltoall": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a Cartesian communicator
            ctypes.POINTER(BufferDescription),  # input (in): contiguous, a block for each neighbour
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (out): contiguous, of input's dtype and number of elements; must not overlap input
        ],
    ),
    # Reduces element by element over all ranks, to root. Collective; facts: dtype, number of elements, op, root,
    # options->fact. float16 and bfloat16 are reduced in float32 and rounded once. Returns: SYNCYTE_ERR_UNSUPPORTED for
    # an op that dtype does not have.
    "syncyte_comm_reduce": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in, optional): contiguous; null on root: output's contents (in place)
            ctypes.c_int32,  # op (in): reduction
            ctypes.c_int32,  # root (in): rank that gets the result
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (in,out, optional): on root: contiguous, of input's dtype and number of elements, not overlapping it; elsewhere neither read nor written, may be null
        ],
    ),
    # Reduces element by element over the ranks from the first (or the last) to this one, its own included. Collective;
    # facts: dtype, number of elements, op, reverse, options->fact. Returns: SYNCYTE_ERR_UNSUPPORTED for an op that
    # dtype does not have.
    "syncyte_comm_scan": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in, optional): contiguous; null: output's contents (in place)
            ctypes.c_int32,  # op (in): reduction
            ctypes.c_int32,  # reverse (in): 0: from rank 0 up; 1: from the last rank down, the adjoint of the other
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (in,out): contiguous, of input's dtype and number of elements; must not overlap input
        ],
    ),
    # Exclusive scan: does the same as syncyte_comm_scan(), without this rank's own elements. The rank where it begins
    # gets the identity element of op: 0 for SUM, 1 for PROD, the highest value (or infinity) for MIN, the lowest for
    # MAX. Collective; facts as syncyte_comm_scan(). Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not
    # have.
    "syncyte_comm_exscan": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in, optional): contiguous; null: output's contents (in place)
            ctypes.c_int32,  # op (in): reduction
            ctypes.c_int32,  # reverse (in): 0: from rank 0 up; 1: from the last rank down, the adjoint of the other
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (in,out): contiguous, of input's dtype and number of elements; must not overlap input
        ],
    ),
    # Collects one number from each rank, usually an extent. Collective; facts: options->fact.
    "syncyte_comm_counts": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_int64,  # count (in): this rank's number, 0 or more
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.c_int64,  # counts_length (in): length of counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # counts (out, array of counts_length): the numbers of all ranks, in rank order
        ],
    ),
    # Joins the ranks' parts along an axis, on root. Collective; facts: dtype, extents of the other axes, axis, counts,
    # root, options->fact.
    "syncyte_comm_gather_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in): this rank's part
            ctypes.c_int32,  # axis (in): dimension along which the parts are joined
            ctypes.c_int32,  # root (in): rank that gets the whole array
            ctypes.c_int64,  # counts_length (in): length of counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # counts (in, array of counts_length): extents of the parts along the axis, equal on all ranks
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (out, optional): on root: the whole array, not overlapping input; elsewhere ignored, may be null
        ],
    ),
    # Joins the ranks' parts along an axis, on all ranks. Collective; facts as syncyte_comm_gather_along(), without
    # root.
    "syncyte_comm_allgather_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in): this rank's part
            ctypes.c_int32,  # axis (in): dimension along which the parts are joined
            ctypes.c_int64,  # counts_length (in): length of counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # counts (in, array of counts_length): extents of the parts along the axis, equal on all ranks
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (out): the whole array, not overlapping input
        ],
    ),
    # Starts syncyte_comm_allgather_along(), as the head of syncyte/collectives.h says. Collective; does not wait.
    # Returns: as comm_allgather_along, for errors that this rank finds; test and wait return the others.
    "syncyte_comm_iallgather_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # input (in): this rank's part; must stay unchanged until the request has ended
            ctypes.c_int32,  # axis (in): dimension along which the parts are joined
            ctypes.c_int64,  # counts_length (in): length of counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # counts (in, array of counts_length): extents of the parts along the axis, equal on all ranks; may be re-used on return
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults; may be re-used on return
            ctypes.POINTER(BufferDescription),  # output (out): the whole array, not overlapping input; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Cuts root's array along an axis, a part for every rank. Collective; facts as syncyte_comm_gather_along().
    "syncyte_comm_scatter_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in, optional): on root: the whole array; elsewhere ignored, may be null
            ctypes.c_int32,  # axis (in): dimension to cut
            ctypes.c_int32,  # root (in): rank that has the whole array
            ctypes.c_int64,  # counts_length (in): length of counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # counts (in, array of counts_length): extents of the parts along the axis, equal on all ranks
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (out): this rank's part, not overlapping input
        ],
    ),
    # Reduces the ranks' whole arrays element by element, and gives each rank its part of the result. Collective; facts:
    # dtype, extents, axis, counts, op, options->fact. float16 and bfloat16 are reduced in float32 and rounded once.
    # Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
    "syncyte_comm_reduce_scatter_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in): a whole array
            ctypes.c_int32,  # axis (in): dimension to cut
            ctypes.c_int32,  # op (in): reduction
            ctypes.c_int64,  # counts_length (in): length of counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # counts (in, array of counts_length): extents of the parts along the axis, equal on all ranks
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (out): this rank's part, not overlapping input
        ],
    ),
    # Starts syncyte_comm_reduce_scatter_along(), as the head of syncyte/collectives.h says. Collective; does not wait.
    # Returns: as comm_reduce_scatter_along, for errors that this rank finds; test and wait return the others.
    "syncyte_comm_ireduce_scatter_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # input (in): a whole array; must stay unchanged until the request has ended
            ctypes.c_int32,  # axis (in): dimension to cut
            ctypes.c_int32,  # op (in): reduction
            ctypes.c_int64,  # counts_length (in): length of counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # counts (in, array of counts_length): extents of the parts along the axis, equal on all ranks; may be re-used on return
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults; may be re-used on return
            ctypes.POINTER(BufferDescription),  # output (out): this rank's part, not overlapping input; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Changes the axis along which an array is partitioned over the ranks (a parallel transposition); with equal axes,
    # changes the extents of its parts. Collective; facts: dtype, extents of the other axes, both axes, all counts,
    # options->fact. Rank r passes its part of extent gather_counts[r] along gather_axis, and gets its part of extent
    # scatter_counts[r] along scatter_axis; the extent along the other axis is that of the whole array.
    "syncyte_comm_alltoall_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # input (in): this rank's part along gather_axis
            ctypes.c_int32,  # gather_axis (in): dimension along which the inputs are parts
            ctypes.c_int32,  # scatter_axis (in): dimension along which the outputs are parts
            ctypes.c_int64,  # gather_counts_length (in): length of gather_counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # gather_counts (in, array of gather_counts_length): their extents, equal on all ranks
            ctypes.c_int64,  # scatter_counts_length (in): length of scatter_counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # scatter_counts (in, array of scatter_counts_length): their extents, equal on all ranks
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # output (out): this rank's part along scatter_axis, not overlapping input
        ],
    ),
    # Starts syncyte_comm_alltoall_along(), as the head of syncyte/collectives.h says. Collective; does not wait.
    # Returns: as comm_alltoall_along, for errors that this rank finds; test and wait return the others.
    "syncyte_comm_ialltoall_along": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # input (in): this rank's part along gather_axis; must stay unchanged until the request has ended
            ctypes.c_int32,  # gather_axis (in): dimension along which the inputs are parts
            ctypes.c_int32,  # scatter_axis (in): dimension along which the outputs are parts
            ctypes.c_int64,  # gather_counts_length (in): length of gather_counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # gather_counts (in, array of gather_counts_length): their extents, equal on all ranks; may be re-used on return
            ctypes.c_int64,  # scatter_counts_length (in): length of scatter_counts: comm's size
            ctypes.POINTER(ctypes.c_int64),  # scatter_counts (in, array of scatter_counts_length): their extents, equal on all ranks; may be re-used on return
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults; may be re-used on return
            ctypes.POINTER(BufferDescription),  # output (out): this rank's part along scatter_axis, not overlapping input; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Acquires a buffer from the pool of the memory's kind and device, recycled if possible. Its contents are undefined;
    # its alignment is 64 bytes. Work that was enqueued on a recycled buffer of a device has ended. Returns:
    # SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_UNSUPPORTED (no such memory in this build), SYNCYTE_ERR_ARGUMENT (device).
    "syncyte_memory_allocate": Function(
        ctypes.c_int32,
        [
            ctypes.c_int64,  # size (in): bytes; 0 gives a null pointer
            ctypes.c_int32,  # memory (in): kind of memory
            ctypes.c_int32,  # device (in): number of the device; 0 for host memory
            ctypes.POINTER(ctypes.c_void_p),  # data (out): the buffer, to be released by syncyte_memory_free()
        ],
    ),
    # Releases a buffer to its pool. For a buffer of a device it first waits for all work that is enqueued on the
    # device, as cudaFree does: the caller need not wait, but must enqueue nothing on the buffer from the call on.
    # Returns: SYNCYTE_ERR_ARGUMENT for a pointer that is not the pool's, or that was released before.
    "syncyte_memory_free": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # data (in, optional): a buffer of syncyte_memory_allocate(); null is ignored
        ],
    ),
    # Returns all cached buffers to the system and to the devices.
    "syncyte_memory_trim": Function(
        ctypes.c_int32,
        [
        ],
    ),
    # Returns statistics of the pools.
    "syncyte_memory_stats": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(MemoryStats),  # stats (in,out): struct_size set by the caller; the rest is filled
        ],
    ),
    # Describes one after another the objects of this process that have memory of devices, in the order in which they
    # were made: whole tensors (this rank's pages), with the states of their optimizers, and shared caches, also those
    # that other processes have too. Buffers are in memory_stats(), models in models_describe(). Number 0 begins; others
    # are of the same moment. Returns: SYNCYTE_ERR_INDEX beyond the last one.
    "syncyte_memory_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_int64,  # number (in): 0, 1, ... until the result is SYNCYTE_ERR_INDEX
            ctypes.POINTER(DeviceUse),  # use (in,out): struct_size set by the caller; the rest is filled
        ],
    ),
    # Returns the number of devices of a kind of memory: 1 for host memory; for CUDA 0 without a driver, or in a build
    # without CUDA. Devices are counted without starting the driver where NVIDIA's management library is installed:
    # children that are forked afterwards may use them. A child that is forked after the first use of a device cannot.
    "syncyte_memory_device_count": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # memory (in): kind
            ctypes.POINTER(ctypes.c_int32),  # count (out): number of devices
        ],
    ),
    # Copies bytes between contiguous buffers of any memory kinds; returns when the copy is done or, with a stream, when
    # it is queued. Returns: SYNCYTE_ERR_SHAPE (different sizes, not contiguous), SYNCYTE_ERR_UNSUPPORTED.
    "syncyte_memory_copy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(BufferDescription),  # target (out): buffer to write; shape and dtype may differ from source, the number of bytes may not
            ctypes.POINTER(BufferDescription),  # source (in): buffer to read; must not overlap target
            ctypes.c_void_p,  # stream (in, optional): a cudaStream_t; null waits for completion
        ],
    ),
    # Chooses the stream on which operations of the calling thread on tensors and tables in device memory are queued
    # from now on.
    "syncyte_memory_set_stream": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # memory (in): SYNCYTE_MEMORY_CUDA
            ctypes.c_void_p,  # stream (in, optional): a cudaStream_t of the device; null: operations run on the device's default stream and are complete on return. cudaStreamLegacy is the default stream, without this wait
        ],
    ),
    # Allocates a cache of zeros. The system provides pages of host memory when they are first touched, those of a
    # device at once. Default sizes are scaled down, with a warning in the log, if the machine, its control group or the
    # device has less memory; on a device also to SYNCYTE_CACHE_DEVICE_BYTES. Returns: SYNCYTE_ERR_MEMORY (the machine
    # or the device has less than the chosen sizes, or SYNCYTE_CACHE_DEVICE_BYTES is less), SYNCYTE_ERR_ARGUMENT,
    # SYNCYTE_ERR_UNSUPPORTED (no devices, or they cannot share memory between processes), SYNCYTE_ERR_LIMIT.
    "syncyte_cache_create": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(CacheSizes),  # options (in, optional): sizes; null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # cache (out): the cache
        ],
    ),
    # Adds a reference.
    "syncyte_cache_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cache (in): a cache
        ],
    ),
    # Drops a reference. Slices keep the memory until they are cleared.
    "syncyte_cache_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cache (in): a cache
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored.
    "syncyte_cache_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # cache (in,out): a cache
        ],
    ),
    # Sends a cache to one process of the same user, which calls syncyte_cache_receive() before or after. Waits for it.
    # Returns: SYNCYTE_ERR_TIMEOUT (no process has received it), SYNCYTE_ERR_BUSY (another process sends under this
    # name), SYNCYTE_ERR_ARGUMENT (the name; a folder of another user, or that other users can open), SYNCYTE_ERR_IO,
    # SYNCYTE_ERR_INTERRUPTED.
    "syncyte_cache_send": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cache (in): a cache; this process keeps its reference
            ctypes.POINTER(CacheRendezvous),  # options (in, optional): socket and time limit; null for defaults
        ],
    ),
    # Receives a cache that another process of the same user sends. Waits for it. Returns: SYNCYTE_ERR_TIMEOUT (no
    # process has sent one), SYNCYTE_ERR_ARGUMENT (as for syncyte_cache_send(); a nonce that differs from the sender's),
    # SYNCYTE_ERR_FORMAT (the received file is not a cache), SYNCYTE_ERR_VERSION (a cache of another version),
    # SYNCYTE_ERR_UNSUPPORTED (a cache on a device that this process does not see), SYNCYTE_ERR_MEMORY,
    # SYNCYTE_ERR_LIMIT (open files), SYNCYTE_ERR_IO, SYNCYTE_ERR_INTERRUPTED.
    "syncyte_cache_receive": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(CacheRendezvous),  # options (in, optional): socket and time limit; null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # cache (out): the cache
        ],
    ),
    # Checks that a cache was made for the framework of this process. Another version may allocate blocks of other
    # sizes, or in another order, and so find other contents in them. A process with a framework calls it after
    # syncyte_cache_receive(). Returns: SYNCYTE_ERR_VERSION, naming both, if the cache was made for another one.
    "syncyte_cache_check_framework": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cache (in): a cache; one that was made for no framework is for all
            ctypes.c_char_p,  # framework (in, optional): name and version, as in syncyte_cache_sizes_t; null: none, which is no error
        ],
    ),
    # Returns the sizes of a cache's parts, in bytes.
    "syncyte_cache_sizes": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cache (in): a cache
            ctypes.POINTER(ctypes.c_int64),  # parameter_bytes (out): bytes from offset 0 on
            ctypes.POINTER(ctypes.c_int64),  # computation_bytes (out): bytes from offset parameter_bytes on
        ],
    ),
    # Returns where a cache lies.
    "syncyte_cache_device": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cache (in): a cache
            ctypes.POINTER(ctypes.c_int32),  # memory (out): the kind of memory
            ctypes.POINTER(ctypes.c_int32),  # device (out): the device's number in this process; 0 for host memory
        ],
    ),
    # Returns the address of a cache in this process, a multiple of 2 MiB; it differs between processes. That of a cache
    # on a device is for its kernels and copies.
    "syncyte_cache_data": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cache (in): a cache
            ctypes.POINTER(ctypes.c_void_p),  # data (out): its memory, valid while this process has a reference or a slice of the cache
        ],
    ),
    # Makes bytes resident in this process, in huge pages if the machine has some, so that first uses do not wait for
    # pages. Contents are kept. Those of a device are resident from the start. Returns: SYNCYTE_ERR_ARGUMENT (outside
    # the cache), SYNCYTE_ERR_MEMORY (more than the machine has), SYNCYTE_ERR_INTERRUPTED (asked every 64 MiB; some of
    # the bytes are resident then).
    "syncyte_cache_touch": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cache (in): a cache
            ctypes.c_int64,  # offset (in): 0 or more
            ctypes.c_int64,  # size (in): bytes from offset on, 0 or more
        ],
    ),
    # Inserts a slice: the calling thread acquires blocks from these bytes, until it inserts another slice or calls
    # syncyte_cache_clear(). Returns: SYNCYTE_ERR_ARGUMENT (outside the cache, not a multiple), SYNCYTE_ERR_BUSY
    # (overlaps a slice that a thread of this process has inserted and not cleared, or that has blocks of an ended
    # thread or of a forked child's parent), SYNCYTE_ERR_UNSUPPORTED (a cache on a device).
    "syncyte_cache_insert": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cache (in): a cache
            ctypes.c_int64,  # offset (in): a multiple of 512
            ctypes.c_int64,  # size (in): bytes from offset on, a multiple of 512, 512 or more
        ],
    ),
    # Removes all slices that the calling thread has inserted, of all caches. Returns: SYNCYTE_ERR_BUSY, naming offsets
    # and sizes, while blocks of them are in use: nothing has changed then.
    "syncyte_cache_clear": Function(
        ctypes.c_int32,
        [
        ],
    ),
    # Acquires a block from the slice that the calling thread has inserted last. A full slice is an error: there is no
    # fallback to other memory. Returns: SYNCYTE_ERR_MEMORY (the slice has no room), SYNCYTE_ERR_ARGUMENT.
    "syncyte_cache_allocate": Function(
        ctypes.c_int32,
        [
            ctypes.c_int64,  # size (in): 0 or more; rounded up to a multiple of 512, at least 512
            ctypes.POINTER(ctypes.c_void_p),  # data (out): a block at a multiple of 512 bytes; null if the thread has inserted no slice
        ],
    ),
    # Returns whether a pointer lies in a slice that this process has inserted, for a thread or a stream.
    "syncyte_cache_holds": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # data (in, optional): any pointer
            ctypes.POINTER(ctypes.c_int32),  # holds (out): 1 if so, otherwise 0
        ],
    ),
    # Frees a block, from any thread. Returns: SYNCYTE_ERR_ARGUMENT for another pointer, or one that was freed before.
    "syncyte_cache_free": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # data (in, optional): a block of syncyte_cache_allocate(); null is ignored
        ],
    ),
    # Inserts a slice of a cache on a device: the stream acquires blocks from these bytes, until it gets another slice
    # or is cleared. The program must see to it that work which uses the bytes otherwise is done. Returns:
    # SYNCYTE_ERR_ARGUMENT (outside the cache, not a multiple), SYNCYTE_ERR_BUSY (overlaps a slice of this stream, or
    # one of another stream that may not), SYNCYTE_ERR_UNSUPPORTED (a cache in host memory; a forked child).
    "syncyte_cache_insert_on_stream": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cache (in): a cache on a device
            ctypes.c_void_p,  # stream (in, optional): a stream of that device, which must live as long as it has slices
            ctypes.c_int64,  # offset (in): a multiple of 512
            ctypes.c_int64,  # size (in): bytes from offset on, a multiple of 512, 512 or more
            ctypes.c_int32,  # may_overlap (in): 1: the bytes may also be those of slices of other streams, if all of these were inserted with 1; the program must then not use blocks of several of them at the same time. Otherwise 0
        ],
    ),
    # Waits for a stream, and removes all its slices, of all caches. Returns: SYNCYTE_ERR_BUSY, naming offsets, while
    # blocks of them are in use, or are freed and used by other streams: nothing has changed then.
    "syncyte_cache_clear_stream": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # device (in): the stream's device
            ctypes.c_void_p,  # stream (in, optional): the stream
        ],
    ),
    # Removes all slices of the calling thread and of a stream, as syncyte_cache_clear() and
    # syncyte_cache_clear_stream() do, or none. Returns: SYNCYTE_ERR_BUSY, as these functions: nothing has changed then,
    # for the thread nor for the stream.
    "syncyte_cache_clear_both": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # device (in): the stream's device
            ctypes.c_void_p,  # stream (in, optional): the stream
        ],
    ),
    # Returns whether a stream has slices.
    "syncyte_cache_stream_has_slice": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # device (in): the stream's device
            ctypes.c_void_p,  # stream (in, optional): the stream
            ctypes.POINTER(ctypes.c_int32),  # has (out): 1 if so, otherwise 0
        ],
    ),
    # Acquires a block from the last slice of a stream, for work that is queued on this stream. A slice that is full
    # waits for freed blocks that other streams use; if it is full then, it is an error. Returns: SYNCYTE_ERR_MEMORY
    # (the slice has no room), SYNCYTE_ERR_ARGUMENT.
    "syncyte_cache_allocate_on_stream": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # device (in): the stream's device
            ctypes.c_void_p,  # stream (in, optional): the stream
            ctypes.c_int64,  # size (in): 0 or more; rounded up to a multiple of 512, at least 512
            ctypes.POINTER(ctypes.c_void_p),  # data (out): a block at a multiple of 512 bytes; null if the stream has no slice
        ],
    ),
    # Notes that work on another stream uses a block. After it is freed, the block is acquired again only once all is
    # done that the other stream has queued until then. Returns: SYNCYTE_ERR_ARGUMENT for a pointer that is no block of
    # the stream.
    "syncyte_cache_record_stream": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # device (in): the device of the block's stream
            ctypes.c_void_p,  # stream (in, optional): the stream that has acquired the block
            ctypes.c_void_p,  # data (in): the block
            ctypes.c_void_p,  # other (in, optional): the other stream
        ],
    ),
    # Frees a block of a stream, from any thread. Work that the stream has queued may still use it. Returns:
    # SYNCYTE_ERR_ARGUMENT for a pointer that is no block of the stream, or that was freed before.
    "syncyte_cache_free_on_stream": Function(
        ctypes.c_int32,
        [
            ctypes.c_int32,  # device (in): the device of the block's stream
            ctypes.c_void_p,  # stream (in, optional): the stream that has acquired the block
            ctypes.c_void_p,  # data (in, optional): the block; null is ignored
        ],
    ),
    # Makes an empty set of models in this process, which others do not see before syncyte_models_serve(). Returns:
    # SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_LIMIT (open files).
    "syncyte_models_create": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ModelsOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # models (out): the models
        ],
    ),
    # Connects to models that another process of the same user serves. Waits for it. Returns: SYNCYTE_ERR_TIMEOUT (no
    # process serves them), SYNCYTE_ERR_ARGUMENT (as for syncyte_cache_receive()), SYNCYTE_ERR_FORMAT (the process at
    # the socket serves no models), SYNCYTE_ERR_VERSION, SYNCYTE_ERR_IO, SYNCYTE_ERR_INTERRUPTED.
    "syncyte_models_connect": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(CacheRendezvous),  # options (in, optional): socket and time limit of this and of later calls; null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # models (out): the models
        ],
    ),
    # Serves the models at a socket until the last reference is dropped. Other processes of this user may then connect.
    # Returns: SYNCYTE_ERR_BUSY (served already; the name is in use), SYNCYTE_ERR_ARGUMENT (as for syncyte_cache_send();
    # models of another process), SYNCYTE_ERR_IO, SYNCYTE_ERR_TIMEOUT, SYNCYTE_ERR_UNSUPPORTED (a forked child).
    "syncyte_models_serve": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # models (in): models of this process
            ctypes.POINTER(CacheRendezvous),  # options (in, optional): socket, and time limit of this call; null for defaults
        ],
    ),
    # Adds a reference.
    "syncyte_models_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # models (in): models
        ],
    ),
    # Drops a reference. The last one of the process that has made the models ends the service and all names; what is
    # bound can be used.
    "syncyte_models_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # models (in): models
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored.
    "syncyte_models_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # models (in,out): models
        ],
    ),
    # Describes one model after another. Number 0 asks the server; others are of the answer that this thread has got.
    # Returns: SYNCYTE_ERR_INDEX beyond the last one, SYNCYTE_ERR_PEER_DIED, SYNCYTE_ERR_TIMEOUT.
    "syncyte_models_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # models (in): models
            ctypes.c_int64,  # number (in): 0, 1, ... until the result is SYNCYTE_ERR_INDEX
            ctypes.POINTER(Published),  # published (in,out): struct_size set by the caller; the rest is filled
        ],
    ),
    # Removes a model that nobody has bound. Its name is free then. Returns: SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_BUSY (it
    # is bound, or loading), SYNCYTE_ERR_PEER_DIED, SYNCYTE_ERR_TIMEOUT.
    "syncyte_models_remove": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # models (in): models
            ctypes.c_char_p,  # name (in): of the model
        ],
    ),
    # Begins a list of tensors. Nothing is published before syncyte_publication_start(). Returns: SYNCYTE_ERR_ARGUMENT,
    # SYNCYTE_ERR_UNSUPPORTED (there is no device).
    "syncyte_publication_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # models (in): models
            ctypes.c_char_p,  # name (in): of the model, 1 to 255 bytes
            ctypes.POINTER(PublicationOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # publication (out): the publication
        ],
    ),
    # Adds a reference.
    "syncyte_publication_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # publication (in): a publication
        ],
    ),
    # Drops a reference. The last one before syncyte_publication_finish() gives the publication up.
    "syncyte_publication_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # publication (in): a publication
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored.
    "syncyte_publication_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # publication (in,out): a publication
        ],
    ),
    # Adds a tensor. Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (gaps in memory of a device).
    "syncyte_publication_add": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # publication (in): a publication that has not started
            ctypes.c_char_p,  # tensor (in): its name, 1 to 1024 bytes, which no other tensor of the model has
            ctypes.POINTER(BufferDescription),  # buffer (in): any strides; its memory must stay until syncyte_publication_finish(). Its address may be null if syncyte_publication_fill() gives the elements. Memory of a device too, without gaps between the elements; all work that writes it must be complete
        ],
    ),
    # Takes the name and the memory. From now on processes can bind the model, and wait for its groups. Returns:
    # SYNCYTE_ERR_BUSY (the name is taken), SYNCYTE_ERR_MEMORY (the budget without what is bound; the machine; the
    # device), SYNCYTE_ERR_UNSUPPORTED (the device cannot share memory), SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_LIMIT (open
    # files), SYNCYTE_ERR_PEER_DIED, SYNCYTE_ERR_TIMEOUT.
    "syncyte_publication_start": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # publication (in): a publication with 1 or more tensors; one that has started is left alone
        ],
    ),
    # Copies the elements of a tensor into the model; starts first. A group is ready once all its tensors and those of
    # the groups before it are written. Returns: as syncyte_publication_start(); SYNCYTE_ERR_NOT_FOUND,
    # SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_BUSY (its group is ready, so that others may read it).
    "syncyte_publication_fill": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # publication (in): a publication
            ctypes.c_char_p,  # tensor (in): name of the tensor
            ctypes.POINTER(BufferDescription),  # buffer (in): of its type and shape, any strides; of a device as for syncyte_publication_add(), and with the strides that the tensor has there
        ],
    ),
    # Copies all tensors that are not filled, in the order in which they were added, and seals the model; starts first.
    # On an error after the start, the name is free and binders get the error. Returns: as syncyte_publication_start();
    # SYNCYTE_ERR_ARGUMENT (a tensor without address is not filled), SYNCYTE_ERR_INTERRUPTED.
    "syncyte_publication_finish": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # publication (in): a publication, which ends
        ],
    ),
    # Gives the publication up. All binders get this error. Returns: SYNCYTE_ERR_ARGUMENT (it has ended; a code that is
    # none of an error).
    "syncyte_publication_fail": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # publication (in): a publication, which ends
            ctypes.c_int32,  # code (in): status of the error
            ctypes.c_char_p,  # reason (in): text of the error
        ],
    ),
    # Binds a model: maps it into this process, or copies it. Waits until its publisher has the memory, but not for its
    # tensors. Returns: SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_FORMAT (a damaged manifest), SYNCYTE_ERR_VERSION (published
    # by another version), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_LIMIT (open files), SYNCYTE_ERR_UNSUPPORTED (the model lies
    # on a device that this process does not see; its devices cannot share memory), SYNCYTE_ERR_ARGUMENT (no such
    # device), SYNCYTE_ERR_PEER_DIED, SYNCYTE_ERR_TIMEOUT; the error of a failed publication.
    "syncyte_models_bind": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # models (in): models
            ctypes.c_char_p,  # name (in): of the model
            ctypes.POINTER(BindOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # model (out): the model, which stays while this process has a reference
        ],
    ),
    # Adds a reference.
    "syncyte_model_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # model (in): a model
        ],
    ),
    # Drops a reference. The last one unmaps the model.
    "syncyte_model_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # model (in): a model
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored.
    "syncyte_model_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # model (in,out): a model
        ],
    ),
    # Describes a model. Does not wait. Returns: the error of a failed publication, unless all groups are ready.
    "syncyte_model_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # model (in): a model
            ctypes.POINTER(ModelInfo),  # info (in,out): struct_size set by the caller; the rest is filled
        ],
    ),
    # Describes a tensor by its number. Does not wait for its group. Returns: SYNCYTE_ERR_INDEX.
    "syncyte_model_tensor": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # model (in): a model
            ctypes.c_int64,  # number (in): 0 to the number of tensors - 1, in the order in which they were added
            ctypes.POINTER(ModelTensor),  # tensor (in,out): struct_size set by the caller; the rest is filled
        ],
    ),
    # Finds a tensor by its name; waits for its group, or copies it. Returns: SYNCYTE_ERR_NOT_FOUND; as
    # syncyte_model_wait().
    "syncyte_model_find": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # model (in): a model
            ctypes.c_char_p,  # name (in): of the tensor
            ctypes.POINTER(BufferDescription),  # buffer (in,out): struct_size set by the caller; the rest is filled. The memory is valid while the model is bound; writes are this process's own, unless syncyte_model_info_t::read_only forbids them
        ],
    ),
    # Waits until a group and those before it are ready, and copies them if the binding is a copy. Returns:
    # SYNCYTE_ERR_INDEX, SYNCYTE_ERR_TIMEOUT, SYNCYTE_ERR_PEER_DIED (the server, or the publisher, has ended), the error
    # of a failed publication, SYNCYTE_ERR_INTERRUPTED.
    "syncyte_model_wait": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # model (in): a model
            ctypes.c_int64,  # group (in): 0 to the number of groups - 1; -1: all
            ctypes.c_double,  # timeout (in): seconds; negative: as long as another group becomes ready within the time limit of the models (SYNCYTE_CACHE_TIMEOUT)
        ],
    ),
    # Compares the published bytes with the checksums that were published. Waits for all groups. Returns:
    # SYNCYTE_ERR_CHECKSUM (names the tensor), SYNCYTE_ERR_UNSUPPORTED (published without checksums, or on a device that
    # this process does not see, also if the binding is a copy); as syncyte_model_wait().
    "syncyte_model_verify": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # model (in): a model
        ],
    ),
    # Returns the highest tag that a message may have. Local.
    "syncyte_message_highest_tag": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),  # tag (out): at least 4094
        ],
    ),
    # Sends an array. Local; returns when its memory may be used again, possibly before the receive. Returns:
    # SYNCYTE_ERR_ARGUMENT (dest, tag, memory of a message that was started).
    "syncyte_comm_send": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # array (in): array to send; any strides
            ctypes.c_int32,  # dest (in): rank of the receiver, or SYNCYTE_PROC_NULL
            ctypes.c_int32,  # tag (in): 0 to syncyte_message_highest_tag()
            ctypes.POINTER(MessageOptions),  # options (in, optional): null for defaults
        ],
    ),
    # Starts syncyte_comm_send(), as the head of syncyte/messages.h says. Returns: as comm_send, for errors that this
    # rank finds; test and wait return the others.
    "syncyte_comm_isend": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # array (in): array to send; any strides; must stay unchanged until the request has ended
            ctypes.c_int32,  # dest (in): rank of the receiver, or SYNCYTE_PROC_NULL
            ctypes.c_int32,  # tag (in): 0 to syncyte_message_highest_tag()
            ctypes.POINTER(MessageOptions),  # options (in, optional): null for defaults; may be re-used on return
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Receives an array. Local; waits for the message. Returns: SYNCYTE_ERR_ARGUMENT (source, tag, memory of a message
    # that was started), SYNCYTE_ERR_MISMATCH (dtype, shape).
    "syncyte_comm_recv": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_int32,  # source (in): rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
            ctypes.c_int32,  # tag (in): the sender's, or SYNCYTE_ANY (in channel 0)
            ctypes.POINTER(MessageOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # array (in,out): array to receive into; any strides, but 0 only if the extent is 1
            ctypes.POINTER(MessageStatus),  # status (in,out, optional): struct_size set by the caller; the rest is filled
        ],
    ),
    # Starts syncyte_comm_recv(), as the head of syncyte/messages.h says. Returns: as comm_recv, for errors that this
    # rank finds; test and wait return the others.
    "syncyte_comm_irecv": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator; it may be destroyed before the request has ended
            ctypes.c_int32,  # source (in): rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
            ctypes.c_int32,  # tag (in): the sender's, or SYNCYTE_ANY (in channel 0)
            ctypes.POINTER(MessageOptions),  # options (in, optional): null for defaults; may be re-used on return
            ctypes.POINTER(BufferDescription),  # array (in,out): array to receive into; any strides, but 0 only if the extent is 1; may be neither read nor written until the request has ended
            ctypes.POINTER(MessageStatus),  # status (in,out, optional): struct_size set by the caller; the rest is filled; may be null; may be neither read nor written until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Sends one array and receives another, without deadlock in any order of arrival. Local; waits for both. Returns: as
    # syncyte_comm_send() and syncyte_comm_recv(); SYNCYTE_ERR_ARGUMENT too if the two arrays share memory: pass a copy.
    "syncyte_comm_sendrecv": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.POINTER(BufferDescription),  # send_array (in): array to send; any strides
            ctypes.c_int32,  # dest (in): rank of the receiver, or SYNCYTE_PROC_NULL
            ctypes.c_int32,  # send_tag (in): 0 to syncyte_message_highest_tag()
            ctypes.c_int32,  # source (in): rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
            ctypes.c_int32,  # recv_tag (in): the sender's, or SYNCYTE_ANY (in channel 0)
            ctypes.POINTER(MessageOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # recv_array (in,out): array to receive into; strides as in syncyte_comm_recv(); must not overlap send_array
            ctypes.POINTER(MessageStatus),  # status (in,out, optional): struct_size set by the caller; the rest is filled
        ],
    ),
    # Takes part in the agreement of a non-blocking collective that this rank cannot start, for libraries on top whose
    # own checks have failed: the other ranks get the error from test or wait. Collective, in place of the start; does
    # not wait. The error is the thread's last error (syncyte_error_set()). Does nothing with SYNCYTE_CHECK=off.
    "syncyte_comm_ifail": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_int32,  # status (in): status of the error, not SYNCYTE_SUCCESS
            ctypes.c_char_p,  # operation (in): for messages, for example "comm_iallreduce"
        ],
    ),
    # Makes a Cartesian communicator of the first ranks of a communicator. Collective; facts: ndim, dims, periods.
    # Returns: SYNCYTE_ERR_ARGUMENT if the grid is larger than the communicator, or if dims cannot be chosen because the
    # number of ranks is not a multiple of the given ones.
    "syncyte_cart_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_int32,  # ndim (in): dimensions of the grid, 1 to SYNCYTE_MAX_NDIM
            ctypes.POINTER(ctypes.c_int32),  # dims (in, array of ndim): ranks along each dimension; 0: chosen, so that the grid holds all ranks and the chosen dims are as even as possible (MPI_Dims_create)
            ctypes.c_int64,  # periods_length (in): length of periods: ndim
            ctypes.POINTER(ctypes.c_int32),  # periods (in, optional, array of periods_length): for each dimension 1 if it is periodic (the last rank's neighbour is the first one), otherwise 0; null: 0 for all
            ctypes.POINTER(CommOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # cart (out): the Cartesian communicator; a null handle on ranks beyond the grid
        ],
    ),
    # Returns the number of dimensions of the grid; 0 for a communicator that is not Cartesian. Local.
    "syncyte_cart_ndim": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cart (in): a communicator
            ctypes.POINTER(ctypes.c_int32),  # ndim (out): the number
        ],
    ),
    # Returns the grid's dims and periods. Local. Returns: SYNCYTE_ERR_ARGUMENT if cart is not Cartesian or has another
    # number of dimensions.
    "syncyte_cart_grid": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cart (in): a Cartesian communicator
            ctypes.c_int32,  # ndim (in): its number of dimensions
            ctypes.POINTER(ctypes.c_int32),  # dims (out, optional, array of ndim): ranks along each dimension
            ctypes.POINTER(ctypes.c_int32),  # periods (out, optional, array of ndim): 1 for a periodic dimension, otherwise 0
        ],
    ),
    # Returns a rank's coordinates on the grid. Local. Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, rank, ndim).
    "syncyte_cart_coords": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cart (in): a Cartesian communicator
            ctypes.c_int32,  # rank (in): one of its ranks
            ctypes.c_int32,  # ndim (in): its number of dimensions
            ctypes.POINTER(ctypes.c_int32),  # coords (out, array of ndim): 0 to the dims - 1
        ],
    ),
    # Returns the rank at some coordinates. Local. Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, ndim).
    "syncyte_cart_rank_at": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cart (in): a Cartesian communicator
            ctypes.c_int32,  # ndim (in): its number of dimensions
            ctypes.POINTER(ctypes.c_int32),  # coords (in, array of ndim): any numbers; they wrap round in periodic dimensions
            ctypes.POINTER(ctypes.c_int32),  # rank (out): the rank; SYNCYTE_PROC_NULL beyond the edge of a dimension that is not periodic
        ],
    ),
    # Returns this rank's neighbours in a shift, in which all ranks send `displacement` places up along a dimension.
    # Local. Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, dimension).
    "syncyte_cart_shift": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cart (in): a Cartesian communicator
            ctypes.c_int32,  # dimension (in): 0 to ndim - 1
            ctypes.c_int32,  # displacement (in): number of places; negative: down
            ctypes.POINTER(ctypes.c_int32),  # source (out, optional): rank that sends to this rank; SYNCYTE_PROC_NULL beyond an edge
            ctypes.POINTER(ctypes.c_int32),  # dest (out, optional): rank that receives from this rank; SYNCYTE_PROC_NULL beyond an edge
        ],
    ),
    # Makes a halo. Collective over cart; facts: dtype, ndim, axes, low, high, options->corners, extents along the other
    # axes. Extents along a cut axis may differ, but must be equal on ranks with the same place along that dimension.
    # Returns: SYNCYTE_ERR_ARGUMENT (cart is not Cartesian, axes, widths), SYNCYTE_ERR_SHAPE (no room for the ghosts; an
    # interior smaller than a neighbour's ghosts of it), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MISMATCH.
    "syncyte_halo_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # cart (in): a Cartesian communicator, which the halo keeps alive
            ctypes.c_int32,  # dtype (in): element type of the arrays
            ctypes.c_int32,  # ndim (in): dimensions of the arrays, at least those of the grid
            ctypes.POINTER(ctypes.c_int64),  # shape (in, array of ndim): extents of this rank's arrays, ghosts included
            ctypes.c_int64,  # low_length (in): length of low: the grid's dimensions
            ctypes.POINTER(ctypes.c_int64),  # low (in, array of low_length): ghost cells at the low end of each of these axes, 0 or more
            ctypes.c_int64,  # high_length (in): length of high: the grid's dimensions
            ctypes.POINTER(ctypes.c_int64),  # high (in, array of high_length): ghost cells at the high end
            ctypes.c_int64,  # axes_length (in): length of axes: the grid's dimensions; ignored if axes is null
            ctypes.POINTER(ctypes.c_int32),  # axes (in, optional, array of axes_length): axis that each dimension of the grid cuts; negative ones count from the end; null: 0, 1, ...
            ctypes.POINTER(HaloOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # halo (out): the halo
        ],
    ),
    # Adds a reference. Local, thread-safe, without MPI.
    "syncyte_halo_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # halo (in): a halo
        ],
    ),
    # Drops a reference; the last release makes the handle invalid. Local, thread-safe, without MPI: a halo's memory is
    # local, unlike a window's, and is freed at once, or when its exchange in flight has ended.
    "syncyte_halo_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # halo (in): a halo
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_halo_release().
    "syncyte_halo_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # halo (in,out): a halo
        ],
    ),
    # Returns the arrays that a halo is for. Local.
    "syncyte_halo_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # halo (in): a halo
            ctypes.POINTER(BufferDescription),  # array (in,out): struct_size set by the caller; dtype and shape, without memory
            ctypes.POINTER(BufferDescription),  # interior (in,out, optional): struct_size set by the caller; the interior of a contiguous array: shape, strides, and the offset of its first cell in bytes, as data
        ],
    ),
    # Returns the communicator of a halo. Local.
    "syncyte_halo_comm": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # halo (in): a halo
            ctypes.POINTER(ctypes.c_void_p),  # cart (out): a new reference to it, to be destroyed as any other handle
        ],
    ),
    # Fills the ghosts. All ranks of the communicator call it; waits for the neighbours only. Returns: SYNCYTE_ERR_TYPE,
    # SYNCYTE_ERR_SHAPE; the status of a neighbour that failed; SYNCYTE_ERR_MISMATCH if a neighbour calls another
    # function of the halo; SYNCYTE_ERR_BUSY while another exchange of this halo is in flight.
    "syncyte_halo_exchange": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # halo (in): a halo
            ctypes.POINTER(BufferDescription),  # array (in,out): array of the halo's dtype and shape; any strides, but 0 only if the extent is 1
        ],
    ),
    # Starts syncyte_halo_exchange(), as the head of syncyte/halo.h says. Returns: as halo_exchange, for errors that
    # this rank finds; test and wait return the others.
    "syncyte_halo_iexchange": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # halo (in): a halo; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # array (in,out): array of the halo's dtype and shape; any strides, but 0 only if the extent is 1; must stay and may not be read in its ghosts nor written in cells that ghosts copy until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Adjoint of syncyte_halo_exchange(): adds the ghosts to the cells that they copy, and sets them to 0. All ranks of
    # the communicator call it; waits for the neighbours only. bool is added as a logical or; 16-bit floats are rounded
    # at every addition. Returns: as syncyte_halo_exchange().
    "syncyte_halo_accumulate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # halo (in): a halo
            ctypes.POINTER(BufferDescription),  # array (in,out): array of the halo's dtype and shape; any strides, but 0 only if the extent is 1
        ],
    ),
    # Starts syncyte_halo_accumulate(), as the head of syncyte/halo.h says. Returns: as halo_accumulate, for errors that
    # this rank finds; test and wait return the others.
    "syncyte_halo_iaccumulate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # halo (in): a halo; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # array (in,out): array of the halo's dtype and shape; any strides, but 0 only if the extent is 1; may be neither read nor written until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Exchanges or accumulates, and compares facts with the neighbours: for libraries on top, whose operation must be
    # the same on both neighbours. All ranks of the communicator call it; waits for the neighbours only. Returns: as
    # syncyte_halo_exchange(); SYNCYTE_ERR_MISMATCH on all ranks with a neighbour that has a different fact, with a
    # message that names the fact and both ranks. A rank receives the facts of a neighbour if its own ghosts copy cells
    # of that neighbour (adjoint: if the neighbour's ghosts copy its cells).
    "syncyte_halo_transfer": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # halo (in): a halo
            ctypes.c_int32,  # adjoint (in): 0: as syncyte_halo_exchange(), which a neighbour may call instead; 1: as syncyte_halo_accumulate()
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults; fact_count at most 7. Facts that a neighbour does not pass are 0
            ctypes.POINTER(BufferDescription),  # array (in,out): array of the halo's dtype and shape; any strides, but 0 only if the extent is 1
        ],
    ),
    # Returns the number of exchanges and accumulates that this rank has begun. Local. Neighbours compare it; so it
    # identifies the last one.
    "syncyte_halo_sequence": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # halo (in): a halo
            ctypes.POINTER(ctypes.c_int64),  # number (out): 0 for a new halo
        ],
    ),
    # Makes a layout whose axes are cut by the dimensions of a mesh. The first ranks of comm are on the mesh in row-
    # major order; those beyond it have no block. Collective; facts: the layout. Returns: SYNCYTE_ERR_ARGUMENT,
    # SYNCYTE_ERR_MISMATCH.
    "syncyte_layout_create_mesh": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator, which the layout keeps alive
            ctypes.c_int32,  # ndim (in): number of axes, 1 to SYNCYTE_MAX_NDIM
            ctypes.POINTER(ctypes.c_int64),  # cells (in, array of ndim): cells along each axis
            ctypes.c_int32,  # mesh_ndim (in): dimensions of the mesh, 1 to SYNCYTE_MAX_NDIM
            ctypes.POINTER(ctypes.c_int32),  # mesh (in, array of mesh_ndim): ranks along each dimension of the mesh
            ctypes.c_int64,  # lengths_length (in): length of lengths: the parts of all cut axes; ignored if lengths is null
            ctypes.POINTER(ctypes.c_int64),  # lengths (in, optional, array of lengths_length): cells of each part of the cut axes, axis by axis, or its weight, without ceil and block; null: as the options say
            ctypes.c_int64,  # axes_length (in): length of axes: mesh_ndim
            ctypes.POINTER(ctypes.c_int32),  # axes (in, array of axes_length): the axis that each dimension of the mesh cuts; -1: it cuts none, and its ranks have equal copies. If several cut one axis, the parts of the first one are cut further by the next
            ctypes.POINTER(LayoutOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # layout (out): the layout
        ],
    ),
    # Makes a layout of blocks that the ranks have chosen. Each rank gives its own; together they hold each cell once.
    # Equal blocks of several ranks are copies. Collective; facts: cells, options. Returns: SYNCYTE_ERR_ARGUMENT (a
    # block beyond the array; overlapping blocks; cells in no block), SYNCYTE_ERR_MISMATCH.
    "syncyte_layout_create_blocks": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator, which the layout keeps alive
            ctypes.c_int32,  # ndim (in): number of axes, 1 to SYNCYTE_MAX_NDIM
            ctypes.POINTER(ctypes.c_int64),  # cells (in, array of ndim): cells of the whole array along each axis
            ctypes.c_int64,  # firsts_length (in): length of firsts: ndim for each of this rank's blocks, which may be none
            ctypes.POINTER(ctypes.c_int64),  # firsts (in, optional, array of firsts_length): first cell of each block, counted from 0
            ctypes.c_int64,  # counts_length (in): length of counts: that of firsts
            ctypes.POINTER(ctypes.c_int64),  # counts (in, optional, array of counts_length): cells of each block along each axis, 0 or more
            ctypes.POINTER(LayoutOptions),  # options (in, optional): null for defaults; ceil, block and weighted are 0
            ctypes.POINTER(ctypes.c_void_p),  # layout (out): the layout
        ],
    ),
    # Makes a layout of arrays whose rows are points of an unstructured mesh: each rank lists the points of its own
    # arrays along axis 0, in the order of the array and in any order of numbers. A point may be in several lists, or in
    # one several times; `truth` says which copy is right. The last points of a list may be ghosts, which a bundle fills
    # with the right copies. Every rank keeps all lists: 48 bytes for each run of consecutive points that the same
    # arrays have. Collective; facts: extents, truth. Returns: SYNCYTE_ERR_ARGUMENT (a number that is no point; a point
    # that no rank lists, or only as a ghost), SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.
    "syncyte_layout_create_indices": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator, which the layout keeps alive
            ctypes.c_int32,  # ndim (in): number of axes, 1 to SYNCYTE_MAX_NDIM
            ctypes.POINTER(ctypes.c_int64),  # extents (in, array of ndim): points of the whole array along axis 0, and extents of the others, which are whole on each rank
            ctypes.c_int64,  # counts_length (in): length of counts: the number of this rank's arrays, which may be 0
            ctypes.POINTER(ctypes.c_int64),  # counts (in, optional, array of counts_length): extent of each array along axis 0, ghosts included
            ctypes.c_int64,  # ghosts_length (in): length of ghosts: that of counts; ignored if ghosts is null
            ctypes.POINTER(ctypes.c_int64),  # ghosts (in, optional, array of ghosts_length): number of ghosts at the end of each array; null: none
            ctypes.c_int64,  # points_length (in): length of points: the sum of counts
            ctypes.POINTER(ctypes.c_int64),  # points (in, optional, array of points_length): the points, counted from 0, array after array
            ctypes.c_int32,  # truth (in): SYNCYTE_TRUTH_LOWER: the copy of a point on the lowest rank is right, SYNCYTE_TRUTH_UPPER: on the highest; SYNCYTE_TRUTH_EQUAL: all copies are equal
            ctypes.POINTER(ctypes.c_void_p),  # layout (out): the layout
        ],
    ),
    # Makes a layout of the same cells and blocks for arrays of other points: nodes or faces of a grid, or with other
    # ghosts. Axes that are periodic stay so; options may add others. Collective over the layout's communicator; facts:
    # the layout, options. Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_MISMATCH.
    "syncyte_layout_like": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): a layout of cells
            ctypes.POINTER(LayoutOptions),  # options (in, optional): null for cells without ghosts; ceil, block and weighted are 0
            ctypes.POINTER(ctypes.c_void_p),  # result (out): the new layout
        ],
    ),
    # Adds a reference. Local, thread-safe, without MPI.
    "syncyte_layout_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): a layout
        ],
    ),
    # Drops a reference; the last release makes the handle invalid. Local, thread-safe, without MPI.
    "syncyte_layout_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): a layout
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_layout_release().
    "syncyte_layout_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # layout (in,out): a layout
        ],
    ),
    # Returns the communicator of a layout. Local.
    "syncyte_layout_comm": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): a layout
            ctypes.POINTER(ctypes.c_void_p),  # comm (out): a new reference to it, to be destroyed as any other handle
        ],
    ),
    # Describes a layout, and one block of a rank. Local. Returns: SYNCYTE_ERR_ARGUMENT for a number that is not a rank,
    # or a negative block.
    "syncyte_layout_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): a layout
            ctypes.c_int32,  # rank (in): a rank of its communicator
            ctypes.c_int32,  # block (in): 0 to the number of the rank's blocks - 1; if there is no such block, first and shape are 0
            ctypes.POINTER(LayoutInfo),  # info (in,out): struct_size set by the caller
        ],
    ),
    # Describes a layout as text, for people: a line for each block, with its rank, its first point and the shape of its
    # array. Local.
    "syncyte_layout_text": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): a layout
            ctypes.POINTER(ctypes.c_char_p),  # text (out): the text; valid as long as the layout
        ],
    ),
    # Finds who has the points of a box, or one point: returns its pieces, which hold each point once, at the block with
    # the right copy. Local; the time grows with the blocks that the box meets. To learn the number of pieces, pass
    # capacity 0. Returns: SYNCYTE_ERR_INDEX outside the array, SYNCYTE_ERR_SHAPE (another number of axes, a negative
    # count), SYNCYTE_ERR_ARGUMENT (a negative capacity).
    "syncyte_layout_pieces": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): a layout
            ctypes.c_int64,  # first_length (in): length of first: the layout's axes
            ctypes.POINTER(ctypes.c_int64),  # first (in, array of first_length): first point of the box
            ctypes.c_int64,  # count_length (in): length of count: the layout's axes
            ctypes.POINTER(ctypes.c_int64),  # count (in, array of count_length): points of the box along each axis, 0 or more
            ctypes.c_int64,  # capacity (in): length of pieces; further ones are only counted
            ctypes.POINTER(LayoutPiece),  # pieces (out, optional, array of capacity): the pieces, block by block
            ctypes.POINTER(ctypes.c_int64),  # number (out): number of pieces; 0 if the box has no points
        ],
    ),
    # Names the axes, and the units of the coordinates along them, for people: the text of the layout has them, and the
    # datasets of its fields in a checkpoint. Layouts made by layout_like() afterwards have them too. Local; may be
    # called once. Returns: SYNCYTE_ERR_ARGUMENT (another number of names than axes; the axes have names already).
    "syncyte_layout_name_axes": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): a layout
            ctypes.c_char_p,  # names (in): a name for each axis, with commas between: "y, x"
            ctypes.c_char_p,  # units (in): null, or a unit for each axis: "m, m"
        ],
    ),
    # Returns the names of the axes and their units. Local.
    "syncyte_layout_axis_names": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): a layout
            ctypes.POINTER(ctypes.c_char_p),  # names (out): the names, with ", " between; "" if there are none; valid as long as the layout
            ctypes.POINTER(ctypes.c_char_p),  # units (out): likewise
        ],
    ),
    # Moves an array from one layout to another of the same extents and communicator: each point of a target gets the
    # value of the right copy. Ghosts are neither read nor written. Pairs of ranks exchange messages in rounds, through
    # buffer_bytes of memory on each rank, so that the array is whole nowhere unless `to` says so: a layout with one
    # block collects it on one rank, or on all. Collective; facts: dtype, both layouts, options. Returns:
    # SYNCYTE_ERR_ARGUMENT (number of arrays, buffer_bytes, overlapping memory), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE,
    # SYNCYTE_ERR_MISMATCH.
    "syncyte_layout_relocate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): the layout of the arrays
            ctypes.c_int32,  # dtype (in): element type, also on ranks without a block
            ctypes.c_int64,  # count (in): number of arrays: this rank's blocks
            ctypes.POINTER(BufferDescription),  # arrays (in, optional, array of count): the arrays of this rank's blocks, ghosts included, with any strides
            ctypes.c_void_p,  # to (in): the layout to move to
            ctypes.c_int64,  # target_count (in): number of targets: this rank's blocks in `to`
            ctypes.POINTER(RelocateOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # targets (out, optional, array of target_count): the arrays to fill, ghosts included, with any strides; separate memory
        ],
    ),
    # The adjoint of syncyte_layout_relocate(): <R x, y> = <x, R' y>. Each place of the arrays becomes the sum of the
    # places of the targets that relocation fills from it, and 0 if there is none, as in ghosts and in copies that are
    # not the right ones. Sums are the same from run to run. Collective; facts: dtype, both layouts, options. Returns:
    # as syncyte_layout_relocate().
    "syncyte_layout_relocate_adjoint": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): the layout of the arrays
            ctypes.c_int32,  # dtype (in): element type, also on ranks without a block
            ctypes.c_int64,  # count (in): number of arrays: this rank's blocks
            ctypes.c_void_p,  # to (in): the layout of the targets
            ctypes.c_int64,  # target_count (in): number of targets: this rank's blocks in `to`
            ctypes.POINTER(BufferDescription),  # targets (in, optional, array of target_count): what to send back, ghosts included, which are not read; any strides
            ctypes.POINTER(RelocateOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(BufferDescription),  # arrays (out, optional, array of count): the arrays to write, ghosts included, with any strides; separate memory
        ],
    ),
    # Collects an array on one rank, slab by slab in row-major order, such as for a file or a picture of one's own. No
    # rank has more of the array than its own blocks and 8 MiB of messages, and root a slab. Collective; facts: dtype,
    # the layout, root, slab_bytes. Returns: as syncyte_layout_relocate(); the status of take.
    "syncyte_layout_collect": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # layout (in): the layout of the arrays
            ctypes.c_int32,  # dtype (in): element type, also on ranks without a block
            ctypes.c_int64,  # count (in): number of arrays: this rank's blocks
            ctypes.POINTER(BufferDescription),  # arrays (in, optional, array of count): the arrays of this rank's blocks, ghosts included, which are not read; any strides
            ctypes.c_int32,  # root (in): the rank that gets the slabs
            ctypes.c_int64,  # slab_bytes (in): most bytes of a slab, which has one element at least; 1 or more
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults
            SlabFn,  # take (in): called on root for each slab; it calls no collective
            ctypes.c_void_p,  # context (in, optional): passed to it
        ],
    ),
    # Makes a bundle without fields. Collective. Returns: SYNCYTE_ERR_MISMATCH.
    "syncyte_bundle_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator, which the bundle keeps alive
            ctypes.POINTER(ctypes.c_void_p),  # bundle (out): the bundle
        ],
    ),
    # Adds a reference. Local, thread-safe, without MPI.
    "syncyte_bundle_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle
        ],
    ),
    # Drops a reference; the last release makes the handle invalid. Local, thread-safe, without MPI: its memory is freed
    # at once, or when its operation in flight has ended.
    "syncyte_bundle_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_bundle_release().
    "syncyte_bundle_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # bundle (in,out): a bundle
        ],
    ),
    # Returns the communicator of a bundle. Local.
    "syncyte_bundle_comm": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle
            ctypes.POINTER(ctypes.c_void_p),  # comm (out): a new reference to it, to be destroyed as any other handle
        ],
    ),
    # Adds a field. Collective over the bundle's communicator; facts: name, dtype, layout. Returns: SYNCYTE_ERR_ARGUMENT
    # (a name that is taken, another communicator, number of arrays, overlapping memory), SYNCYTE_ERR_TYPE,
    # SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH; SYNCYTE_ERR_BUSY while an operation is in flight.
    "syncyte_bundle_add": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle
            ctypes.c_char_p,  # name (in): name of the field, which no other field of the bundle has
            ctypes.c_void_p,  # layout (in): a layout of the bundle's communicator, which the bundle keeps alive; no ghosts along an axis that is dealt out in blocks
            ctypes.c_int32,  # dtype (in): element type, also on ranks without a block
            ctypes.c_int64,  # count (in): number of arrays: this rank's blocks
            ctypes.POINTER(BufferDescription),  # arrays (in,out, optional, array of count): the arrays of this rank's blocks, ghosts included, with any strides, in memory that no other array of the bundle has. The memory must stay until the bundle has gone, or has other arrays
        ],
    ),
    # Takes other arrays for a field. Local. Returns: as syncyte_bundle_add().
    "syncyte_bundle_set_arrays": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle
            ctypes.c_char_p,  # name (in): name of the field
            ctypes.c_int64,  # count (in): number of arrays: this rank's blocks
            ctypes.POINTER(BufferDescription),  # arrays (in,out, optional, array of count): as those of syncyte_bundle_add()
        ],
    ),
    # Returns the number of fields. Local.
    "syncyte_bundle_fields": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle
            ctypes.POINTER(ctypes.c_int64),  # count (out): the number
        ],
    ),
    # Describes a field. Local. Returns: SYNCYTE_ERR_INDEX.
    "syncyte_bundle_field": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle
            ctypes.c_int64,  # number (in): 0 to the number of fields - 1, in the order in which they were added
            ctypes.POINTER(ctypes.c_char_p),  # name (out): its name, valid until the bundle gets another field or is destroyed
            ctypes.POINTER(ctypes.c_void_p),  # layout (out): a new reference to its layout, to be destroyed as any other handle
            ctypes.POINTER(ctypes.c_int32),  # dtype (out): its element type
        ],
    ),
    # Returns the array of one of this rank's blocks. Local. Returns: SYNCYTE_ERR_INDEX.
    "syncyte_bundle_array": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle
            ctypes.c_int64,  # number (in): of the field, as of syncyte_bundle_field()
            ctypes.c_int32,  # block (in): 0 to the number of this rank's blocks - 1
            ctypes.POINTER(BufferDescription),  # array (in,out): struct_size set by the caller; the memory is the user's
        ],
    ),
    # Fills the ghosts. All ranks of the communicator call it; waits for the neighbours only. Returns:
    # SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_SHAPE; the status of a neighbour that failed; SYNCYTE_ERR_MISMATCH if a
    # neighbour calls another operation, or with another depth or mask; SYNCYTE_ERR_BUSY while another operation of this
    # bundle is in flight.
    "syncyte_bundle_exchange": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle; its arrays may not be read in their ghosts nor written until the end
            ctypes.c_int64,  # depth (in): ghosts at each end of an axis, at most those of the widest field; 0: all. A field with fewer ghosts has all of them filled
            ctypes.c_int64,  # only_length (in): length of only: the number of fields; ignored if only is null
            ctypes.POINTER(ctypes.c_int32),  # only (in, optional, array of only_length): 1 for each field that takes part, otherwise 0, in the order in which the fields were added; null: all
        ],
    ),
    # Starts syncyte_bundle_exchange(), as the head of syncyte/bundle.h says. Returns: as bundle_exchange, for errors
    # that this rank finds; test and wait return the others.
    "syncyte_bundle_iexchange": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle; its arrays may not be read in their ghosts nor written until the end; it may be destroyed before the request has ended
            ctypes.c_int64,  # depth (in): ghosts at each end of an axis, at most those of the widest field; 0: all. A field with fewer ghosts has all of them filled
            ctypes.c_int64,  # only_length (in): length of only: the number of fields; ignored if only is null
            ctypes.POINTER(ctypes.c_int32),  # only (in, optional, array of only_length): 1 for each field that takes part, otherwise 0, in the order in which the fields were added; null: all; may be re-used on return
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Adjoint of syncyte_bundle_exchange(): adds the ghosts to the points that they copy, and sets them to 0. The order
    # of the additions is fixed. bool is added as a logical or; 16-bit floats are rounded at every addition. All ranks
    # of the communicator call it; waits for the neighbours only. Returns: as syncyte_bundle_exchange().
    "syncyte_bundle_accumulate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle; its arrays may be neither read nor written until the end
            ctypes.c_int64,  # depth (in): as of syncyte_bundle_exchange()
            ctypes.c_int64,  # only_length (in): length of only: the number of fields; ignored if only is null
            ctypes.POINTER(ctypes.c_int32),  # only (in, optional, array of only_length): as of syncyte_bundle_exchange()
        ],
    ),
    # Starts syncyte_bundle_accumulate(), as the head of syncyte/bundle.h says. Returns: as bundle_accumulate, for
    # errors that this rank finds; test and wait return the others.
    "syncyte_bundle_iaccumulate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle; its arrays may be neither read nor written until the end; it may be destroyed before the request has ended
            ctypes.c_int64,  # depth (in): as of syncyte_bundle_exchange()
            ctypes.c_int64,  # only_length (in): length of only: the number of fields; ignored if only is null
            ctypes.POINTER(ctypes.c_int32),  # only (in, optional, array of only_length): as of syncyte_bundle_exchange(); may be null; may be re-used on return
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Adds the copies of shared points. All ranks of the communicator call it; waits for the neighbours only. It is its
    # own adjoint. Returns: as syncyte_bundle_exchange().
    "syncyte_bundle_sum": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle; its arrays may be neither read nor written until the end
            ctypes.c_int64,  # only_length (in): length of only: the number of fields; ignored if only is null
            ctypes.POINTER(ctypes.c_int32),  # only (in, optional, array of only_length): as of syncyte_bundle_exchange()
        ],
    ),
    # Starts syncyte_bundle_sum(), as the head of syncyte/bundle.h says. Returns: as bundle_sum, for errors that this
    # rank finds; test and wait return the others.
    "syncyte_bundle_isum": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle; its arrays may be neither read nor written until the end; it may be destroyed before the request has ended
            ctypes.c_int64,  # only_length (in): length of only: the number of fields; ignored if only is null
            ctypes.POINTER(ctypes.c_int32),  # only (in, optional, array of only_length): as of syncyte_bundle_exchange(); may be null; may be re-used on return
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Does an operation on other arrays than the bundle's, and compares facts with the neighbours: for libraries on top,
    # whose operation must be the same on both neighbours. All ranks of the communicator call it; waits for the
    # neighbours only. Returns: as syncyte_bundle_exchange(); SYNCYTE_ERR_MISMATCH, with a message that names the fact
    # and both ranks, if a neighbour has a different fact.
    "syncyte_bundle_transfer": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # bundle (in): a bundle
            ctypes.c_int32,  # operation (in): 0: as syncyte_bundle_exchange(), which a neighbour may call instead; 1: as syncyte_bundle_accumulate(); 2: as syncyte_bundle_sum()
            ctypes.c_int64,  # depth (in): as of syncyte_bundle_exchange(); 0 for a sum
            ctypes.c_int64,  # only_length (in): length of only: the number of fields; ignored if only is null
            ctypes.POINTER(ctypes.c_int32),  # only (in, optional, array of only_length): as of syncyte_bundle_exchange()
            ctypes.POINTER(CollectiveOptions),  # options (in, optional): null for defaults; fact_count at most 2. Facts that a neighbour does not pass are 0
            ctypes.c_int64,  # count (in): number of arrays
            ctypes.POINTER(BufferDescription),  # arrays (in,out, optional, array of count): the arrays of this rank's blocks of the fields that take part, field by field, as those of syncyte_bundle_add(); read and written during the call
        ],
    ),
    # Makes a reducer with zeroed buckets. Collective; facts: buckets, dtypes, elements, options->scale. Returns:
    # SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MEMORY (all ranks' buckets of a node together do not fit),
    # SYNCYTE_ERR_MISMATCH.
    "syncyte_reducer_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator, which the reducer keeps alive
            ctypes.c_int32,  # buckets (in): number of buckets, 1 or more
            ctypes.POINTER(ctypes.c_int32),  # dtypes (in, array of buckets): element types, floating-point or complex; 16-bit floats are summed in float32 and rounded once
            ctypes.POINTER(ctypes.c_int64),  # elements (in, array of buckets): numbers of elements, 0 or more; all buckets together have at most 2^56 bytes
            ctypes.POINTER(ReducerOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # reducer (out): the reducer
        ],
    ),
    # Adds a reference. Local, thread-safe, without MPI.
    "syncyte_reducer_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # reducer (in): a reducer
        ],
    ),
    # Drops a reference. The last release frees this rank's buckets and gives up the round; ranks may drop their
    # reducers in any order. Local, thread-safe, without MPI.
    "syncyte_reducer_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # reducer (in): a reducer
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_reducer_release().
    "syncyte_reducer_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # reducer (in,out): a reducer
        ],
    ),
    # Returns this rank's memory of a bucket. Local. It must not be read or written from the start of the bucket until
    # the end of the round. Returns: SYNCYTE_ERR_ARGUMENT for a bucket that does not exist.
    "syncyte_reducer_bucket": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # reducer (in): a reducer
            ctypes.c_int32,  # bucket (in): 0 to buckets - 1
            ctypes.POINTER(BufferDescription),  # buffer (in,out): struct_size set by the caller; data, dtype and extent (one dimension), owned by the reducer
        ],
    ),
    # Starts the sum of a bucket that this rank has filled. All ranks start all buckets in each round, in any order.
    # Does not wait for other ranks; sums parts of buckets that all ranks of the node have started. Returns:
    # SYNCYTE_ERR_BUSY if this rank has already started it in this round; SYNCYTE_ERR_ARGUMENT for a bucket that does
    # not exist.
    "syncyte_reducer_start": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # reducer (in): a reducer
            ctypes.c_int32,  # bucket (in): 0 to buckets - 1
        ],
    ),
    # Sums parts of buckets that all ranks of the node have started, without waiting. Local.
    "syncyte_reducer_progress": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # reducer (in): a reducer
        ],
    ),
    # Waits for the end of the round: all buckets hold the sums. Collective. Returns: SYNCYTE_ERR_ARGUMENT if this rank
    # has not started all buckets: the round continues. SYNCYTE_ERR_MISMATCH if a rank has given up the round: it has
    # ended, and the contents of the buckets are undefined.
    "syncyte_reducer_wait": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # reducer (in): a reducer
        ],
    ),
    # Gives up the round: syncyte_reducer_wait() returns SYNCYTE_ERR_MISMATCH with this rank's number on all ranks. This
    # rank must call syncyte_reducer_wait() too. Local; does not wait.
    "syncyte_reducer_give_up": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # reducer (in): a reducer
        ],
    ),
    # Reads rows of an array: output[i] = table[index[i]], converted if the types differ. Local, without MPI; callable
    # at any time, by several threads at once. Rows may repeat. float16, bfloat16, float32 and float64 are converted
    # into each other, rounded to nearest even; float64 is converted to 16-bit types by way of float32. All three may be
    # on one device: the operation is queued on the stream of memory_set_stream(), or complete on return if there is
    # none. An index that is out of range is skipped then; it is the error of the call or, if it was queued, of the next
    # call for a table of this device, or of tensor_sync() of a tensor on it, that finds it done; its row of the output
    # is zeros. Returns: SYNCYTE_ERR_INDEX (names the first index that is out of range and its position; nothing is
    # written in host memory), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT (output overlaps the table, or
    # they lie on different devices), SYNCYTE_ERR_UNSUPPORTED (a build without kernels).
    "syncyte_rows_gather": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(BufferDescription),  # table (in): 1 or more dimensions, any strides; the dimensions after the first form a row, which is contiguous in device memory
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous, any number of dimensions
            ctypes.POINTER(BufferDescription),  # output (out): contiguous, index's elements times a row's elements; must not overlap the table
        ],
    ),
    # Makes a window. Collective; fact: options->name; sizes may differ between ranks and may be 0. Returns:
    # SYNCYTE_ERR_MEMORY if the node's ranks together ask for more than the machine or its cgroup has available,
    # SYNCYTE_ERR_UNSUPPORTED if comm spans several nodes, a rank lacks UCX, and this MPI has no one-sided communication
    # between them.
    "syncyte_window_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): its ranks
            ctypes.c_int64,  # size (in): this rank's bytes
            ctypes.POINTER(WindowOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # window (out): the window
        ],
    ),
    # Adds a reference. Local, thread-safe, without MPI.
    "syncyte_window_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
        ],
    ),
    # Drops a reference. Local, thread-safe, without MPI. Memory is freed at a collective point once all ranks have
    # dropped the window.
    "syncyte_window_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored. Local.
    "syncyte_window_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # window (in,out): a window
        ],
    ),
    # Returns the size of a rank's part. Local.
    "syncyte_window_size": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
            ctypes.c_int32,  # rank (in): rank that contributed the part
            ctypes.POINTER(ctypes.c_int64),  # size (out): bytes of its part
        ],
    ),
    # Returns the address of a rank's part, if it lies on this node. Local. Valid while there is a reference to the
    # window. Returns: SYNCYTE_ERR_UNSUPPORTED for a rank on another node.
    "syncyte_window_pointer": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
            ctypes.c_int32,  # rank (in): rank that contributed the part
            ctypes.POINTER(ctypes.c_void_p),  # data (out): its first byte
        ],
    ),
    # Writes elements to a rank. The buffer may be re-used on return; visible at the target after flush. Returns:
    # SYNCYTE_ERR_INDEX beyond the end, SYNCYTE_ERR_ARGUMENT (rank), SYNCYTE_ERR_SHAPE.
    "syncyte_window_put": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
            ctypes.c_int32,  # rank (in): target
            ctypes.c_int64,  # offset (in): bytes from the start of its part
            ctypes.POINTER(BufferDescription),  # source (in): contiguous
        ],
    ),
    # Starts syncyte_window_put(), as the head of syncyte/window.h says. Returns: as window_put, for errors that this
    # rank finds; test and wait return the others.
    "syncyte_window_iput": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window; it may be destroyed before the request has ended
            ctypes.c_int32,  # rank (in): target
            ctypes.c_int64,  # offset (in): bytes from the start of its part
            ctypes.POINTER(BufferDescription),  # source (in): contiguous; must stay unchanged until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Reads elements of a rank; complete on return.
    "syncyte_window_get": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
            ctypes.c_int32,  # rank (in): target
            ctypes.c_int64,  # offset (in): bytes from the start of its part
            ctypes.POINTER(BufferDescription),  # target (out): contiguous
        ],
    ),
    # Starts syncyte_window_get(), as the head of syncyte/window.h says. Returns: as window_get, for errors that this
    # rank finds; test and wait return the others.
    "syncyte_window_iget": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window; it may be destroyed before the request has ended
            ctypes.c_int32,  # rank (in): target
            ctypes.c_int64,  # offset (in): bytes from the start of its part
            ctypes.POINTER(BufferDescription),  # target (out): contiguous; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Combines elements with those at a rank; atomic per element (a complex number as a whole) with other accumulates,
    # fetch-ops and compare-swaps. The buffer may be re-used on return; visible at the target after flush. Returns:
    # SYNCYTE_ERR_UNSUPPORTED for an op or dtype without atomics.
    "syncyte_window_accumulate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
            ctypes.c_int32,  # rank (in): target
            ctypes.c_int64,  # offset (in): bytes from the start of its part; a multiple of the element's size
            ctypes.POINTER(BufferDescription),  # source (in): contiguous
            ctypes.c_int32,  # op (in): SYNCYTE_OP_SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR or REPLACE
        ],
    ),
    # Starts syncyte_window_accumulate(), as the head of syncyte/window.h says. Returns: as window_accumulate, for
    # errors that this rank finds; test and wait return the others.
    "syncyte_window_iaccumulate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window; it may be destroyed before the request has ended
            ctypes.c_int32,  # rank (in): target
            ctypes.c_int64,  # offset (in): bytes from the start of its part; a multiple of the element's size
            ctypes.POINTER(BufferDescription),  # source (in): contiguous; must stay unchanged until the request has ended
            ctypes.c_int32,  # op (in): SYNCYTE_OP_SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR or REPLACE
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Combines one element and returns its old value; atomic, sequentially consistent on a node.
    "syncyte_window_fetch_op": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
            ctypes.c_int32,  # rank (in): target
            ctypes.c_int64,  # offset (in): bytes from the start of its part; a multiple of the element's size
            ctypes.c_int32,  # dtype (in): element type
            ctypes.c_void_p,  # operand (in): one element
            ctypes.c_int32,  # op (in): as in accumulate
            ctypes.c_void_p,  # previous (out): the old element
        ],
    ),
    # Starts syncyte_window_fetch_op(), as the head of syncyte/window.h says. Returns: as window_fetch_op, for errors
    # that this rank finds; test and wait return the others.
    "syncyte_window_ifetch_op": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window; it may be destroyed before the request has ended
            ctypes.c_int32,  # rank (in): target
            ctypes.c_int64,  # offset (in): bytes from the start of its part; a multiple of the element's size
            ctypes.c_int32,  # dtype (in): element type
            ctypes.c_void_p,  # operand (in): one element; may be re-used on return
            ctypes.c_int32,  # op (in): as in accumulate
            ctypes.c_void_p,  # previous (out): the old element; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Writes desired if the element equals expected, and returns its old value; atomic.
    "syncyte_window_compare_swap": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
            ctypes.c_int32,  # rank (in): target
            ctypes.c_int64,  # offset (in): bytes from the start of its part; a multiple of the element's size
            ctypes.c_int32,  # dtype (in): an integer type or bool
            ctypes.c_void_p,  # expected (in): one element
            ctypes.c_void_p,  # desired (in): one element
            ctypes.c_void_p,  # previous (out): the old element; equal to expected if desired was written
        ],
    ),
    # Starts syncyte_window_compare_swap(), as the head of syncyte/window.h says. Returns: as window_compare_swap, for
    # errors that this rank finds; test and wait return the others.
    "syncyte_window_icompare_swap": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window; it may be destroyed before the request has ended
            ctypes.c_int32,  # rank (in): target
            ctypes.c_int64,  # offset (in): bytes from the start of its part; a multiple of the element's size
            ctypes.c_int32,  # dtype (in): an integer type or bool
            ctypes.c_void_p,  # expected (in): one element; may be re-used on return
            ctypes.c_void_p,  # desired (in): one element; may be re-used on return
            ctypes.c_void_p,  # previous (out): the old element; equal to expected if desired was written; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Waits for a rank's lock. Locks are advisory: they exclude only other lock calls. Not recursive. There is no queue:
    # an exclusive lock may wait for as long as other ranks hold shared ones. If a holder of an exclusive lock dies, the
    # wait ends with an error; a shared lock's holders are not known, so any rank's death ends it. Returns:
    # SYNCYTE_ERR_PEER_DIED if a holder, or the rank itself, died or is out of reach, or if the holder of an exclusive
    # lock has come to finalize; where the lock is shared, if all other ranks have; SYNCYTE_ERR_BUSY if this rank holds
    # it already.
    "syncyte_window_lock": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
            ctypes.c_int32,  # rank (in): rank whose part is locked
            ctypes.c_int32,  # kind (in): shared or exclusive
        ],
    ),
    # Completes this rank's blocking operations on a rank, and releases its lock. Returns: SYNCYTE_ERR_ARGUMENT if this
    # rank does not hold it.
    "syncyte_window_unlock": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
            ctypes.c_int32,  # rank (in): rank whose part is locked
        ],
    ),
    # Completes this rank's blocking operations at their targets. Local. A started operation (iput and so on) is
    # complete when its request has ended.
    "syncyte_window_flush": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
            ctypes.c_int32,  # rank (in): target; -1: all
        ],
    ),
    # Completes all ranks' blocking operations: after it, all ranks see all earlier writes. Collective; also frees
    # objects that all ranks have dropped.
    "syncyte_window_fence": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # window (in): a window
        ],
    ),
    # Makes a tensor of zeros. Collective; facts: dtype, shape, kind of partition, options->name. Named tensors that
    # programs make in different orders are an error. Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (negative, or more
    # than 2^63 - 1 bytes), SYNCYTE_ERR_ARGUMENT (local_rows do not add up), SYNCYTE_ERR_MEMORY (more than the node
    # has), SYNCYTE_ERR_MISMATCH, SYNCYTE_ERR_UNSUPPORTED.
    "syncyte_tensor_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): its ranks
            ctypes.c_int32,  # dtype (in): element type
            ctypes.c_int32,  # ndim (in): number of dimensions, 1 to SYNCYTE_MAX_NDIM
            ctypes.POINTER(ctypes.c_int64),  # shape (in, array of ndim): global extents, in elements; 0 is allowed
            ctypes.POINTER(TensorOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # tensor (out): the tensor
        ],
    ),
    # Makes a tensor of arrays that the ranks already have. Collective; facts: dtype, all extents but the first,
    # options->name. The caller owns the memory, which must live until a collective point frees the tensor;
    # options->released is set then. The memory is not shared: other ranks access it as they access other nodes' rows,
    # on the same node too, and there is no node view.
    "syncyte_tensor_wrap": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): its ranks
            ctypes.POINTER(BufferDescription),  # local (in,out): this rank's rows, contiguous; shape[0] may differ between ranks and may be 0. In device memory only if comm has one rank
            ctypes.POINTER(TensorOptions),  # options (in, optional): null for defaults; local_rows must be -1
            ctypes.POINTER(ctypes.c_void_p),  # tensor (out): the tensor
        ],
    ),
    # Makes a tensor of zeros that is cut by a layout: each point is stored once, by the first rank that has its right
    # copy, without ghosts. Collective, with tensor_open() on ranks that do not have the layout; facts: dtype, layout,
    # options->name. Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (more than 2^63 - 1 bytes), SYNCYTE_ERR_ARGUMENT (a
    # block of a rank outside comm), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH, SYNCYTE_ERR_UNSUPPORTED.
    "syncyte_tensor_create_by_layout": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): its ranks; those of the layout may be some of them
            ctypes.c_int32,  # dtype (in): element type
            ctypes.c_void_p,  # layout (in): the layout, of this communicator or of another one of its ranks
            ctypes.c_int64,  # slots (in): number of versions of the field that the tensor keeps, for tensor_publish() and tensor_take(); it is the first extent of the tensor, before those of the layout. 0: there are no versions
            ctypes.POINTER(TensorOptions),  # options (in, optional): null for defaults; row_locks, deterministic and local_rows have their defaults
            ctypes.POINTER(ctypes.c_void_p),  # tensor (out): the tensor
        ],
    ),
    # Takes part in tensor_create_by_layout() of other ranks by the tensor's name alone: element type, shape and layout
    # are theirs. Collective, with their call; facts: name. Returns: SYNCYTE_ERR_ARGUMENT (no name; no rank has a
    # layout), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH (the others make a tensor of another name, which the message
    # says).
    "syncyte_tensor_open": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): its ranks
            ctypes.c_char_p,  # name (in): the name that the others give
            ctypes.POINTER(ctypes.c_void_p),  # tensor (out): the tensor
        ],
    ),
    # Cuts a tensor anew, in place: the handle and the values stay, each rank has another part. A rank may use this to
    # balance loads, or to pass from rows to the blocks of a solver and back. Collective; facts: tensor, layout. It is a
    # sync, too. Until it returns, a rank has the memory of both parts; that of the old one is freed at a later
    # collective point. Wrapped arrays are released in this way. No other thread may use the tensor meanwhile, and a
    # child that was forked before goes on reading the old memory. Returns: SYNCYTE_ERR_BUSY (views, references,
    # operations, locks), SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH,
    # SYNCYTE_ERR_UNSUPPORTED (slots, an optimizer; a layout for a tensor with row_locks or deterministic),
    # SYNCYTE_ERR_PEER_DIED; the tensor then is as before.
    "syncyte_tensor_relocate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor without slots and optimizer, of which no rank has a view (tensor_local, tensor_node), a second reference, an operation in flight or a lock. Views without a reference of their own are not seen: they end
            ctypes.c_void_p,  # layout (in): the layout, of the tensor's shape and communicator, or of another one of its ranks; null on all ranks: the tensor is cut by rows
            ctypes.c_int64,  # local_rows (in): without a layout, as syncyte_tensor_options_t::local_rows; otherwise -1
        ],
    ),
    # Publishes this rank's part of the next version of a tensor with slots: copies the points that it owns from the
    # arrays of its blocks. The version is complete when all ranks that own points have published it. Local; does not
    # wait for ranks that take versions, and for those that publish only if it is slots - 1 versions ahead of them (with
    # one slot, 1), until all other ranks have ended: all must publish equally often. Thread-safe. Returns:
    # SYNCYTE_ERR_ARGUMENT (step, number of arrays), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_UNSUPPORTED (no
    # slots), SYNCYTE_ERR_PEER_DIED.
    "syncyte_tensor_publish": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor with slots
            ctypes.c_int64,  # count (in): number of arrays: this rank's blocks
            ctypes.POINTER(BufferDescription),  # arrays (in, optional, array of count): the arrays of this rank's blocks, ghosts included, with any strides, in memory that is not the tensor's
            ctypes.c_int64,  # step (in): the caller's number of the version, equal on all ranks that own points, and more than that of the last one. After an error because another rank has another one, the right one may be given
        ],
    ),
    # Reads the box [lower, lower + extent of output) of the newest complete version of a tensor with slots, after
    # waiting, mostly asleep, for one whose step is at_least or more. All elements are of one version: if it is
    # overwritten meanwhile, a newer one is read. With two slots or more, the newest one stays until there is another;
    # with one slot there is none while ranks publish. Local. Returns: as get_box; SYNCYTE_ERR_TIMEOUT,
    # SYNCYTE_ERR_UNSUPPORTED (no slots), SYNCYTE_ERR_PEER_DIED (a rank has died, or the first rank that publishes has
    # ended before it has published a version that is new enough).
    "syncyte_tensor_take": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor with slots
            ctypes.c_int64,  # lower_length (in): length of lower: the layout's axes
            ctypes.POINTER(ctypes.c_int64),  # lower (in, array of lower_length): first element of the box in the field
            ctypes.c_int64,  # at_least (in): lowest step that is taken
            ctypes.c_double,  # timeout (in): seconds; less than 0: no limit
            ctypes.POINTER(BufferDescription),  # output (out): as many dimensions as the layout, any strides, the tensor's dtype, in memory that is not the tensor's; undefined after an error
            ctypes.POINTER(ctypes.c_int64),  # step (out): the step of the version
        ],
    ),
    # Adds a reference: every exported view holds one. Local, thread-safe, without MPI; works after finalize.
    "syncyte_tensor_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
        ],
    ),
    # Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a collective point
    # once all ranks have dropped the tensor; ranks may drop tensors in any order.
    "syncyte_tensor_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_tensor_release().
    "syncyte_tensor_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # tensor (in,out): a tensor
        ],
    ),
    # Returns element type and global shape. Local.
    "syncyte_tensor_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.POINTER(BufferDescription),  # global (in,out): struct_size set by the caller; the rest is filled, with data null
        ],
    ),
    # Returns a new reference to the tensor's communicator. Local.
    "syncyte_tensor_comm": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.POINTER(ctypes.c_void_p),  # comm (out): the communicator
        ],
    ),
    # Returns a new reference to the layout of a tensor that is cut by one, among all ranks of the tensor. Local.
    "syncyte_tensor_layout": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.POINTER(ctypes.c_void_p),  # layout (out): the layout; null if the tensor is cut by rows
        ],
    ),
    # Returns the rows that a rank owns. Local.
    "syncyte_tensor_rows": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.c_int32,  # rank (in): owner
            ctypes.POINTER(ctypes.c_int64),  # first (out): its first row; if it has none, the next rank's first row
            ctypes.POINTER(ctypes.c_int64),  # count (out): number of rows
        ],
    ),
    # Returns the owners of rows, in O(log P) each or better. Local. Returns: SYNCYTE_ERR_INDEX, naming index and
    # position.
    "syncyte_tensor_owner": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.c_int64,  # count (in): number of rows
            ctypes.POINTER(ctypes.c_int64),  # index (in, array of count): global row numbers
            ctypes.POINTER(ctypes.c_int32),  # ranks (out, array of count): their owners
        ],
    ),
    # Returns the owners of a box, in ascending order, and the part of the box that each owns: all of the box's elements
    # in rows first to first + rows - 1. Local; O(owners). To learn the number of owners, pass capacity 0. Returns:
    # SYNCYTE_ERR_INDEX outside the tensor, SYNCYTE_ERR_SHAPE (another number of dimensions, a negative extent),
    # SYNCYTE_ERR_ARGUMENT (a negative capacity).
    "syncyte_tensor_locate_box": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.c_int64,  # lower_length (in): length of lower: the tensor's dimensions
            ctypes.POINTER(ctypes.c_int64),  # lower (in, array of lower_length): first element of the box
            ctypes.c_int64,  # extent_length (in): length of extent: the tensor's dimensions
            ctypes.POINTER(ctypes.c_int64),  # extent (in, array of extent_length): the box's shape, in elements
            ctypes.c_int64,  # capacity (in): length of ranks, first and rows; further owners are only counted
            ctypes.POINTER(ctypes.c_int32),  # ranks (out, optional, array of capacity): owners
            ctypes.POINTER(ctypes.c_int64),  # first (out, optional, array of capacity): each owner's first row of the box, a global number
            ctypes.POINTER(ctypes.c_int64),  # rows (out, optional, array of capacity): number of each owner's rows of the box, 1 or more
            ctypes.POINTER(ctypes.c_int64),  # count (out): number of owners; 0 if the box has no elements
        ],
    ),
    # Returns a view of this rank's rows, or of its block. Local. The view is valid while there is a reference to the
    # tensor: retain it for as long as the view lives. Returns: SYNCYTE_ERR_UNSUPPORTED if the rank has several blocks.
    "syncyte_tensor_local": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.POINTER(BufferDescription),  # view (in,out): struct_size set by the caller; contiguous; shape[0] is the number of local rows. Of a block: its points without ghosts, and without shared points that another rank has; all extents are 0 if there is none. With slots, the first extent is their number
        ],
    ),
    # Returns a view of the rows of all ranks of this node, in one address range, in rank order. Local. Lifetime as
    # tensor_local(). Returns: SYNCYTE_ERR_UNSUPPORTED for a wrapped tensor of several ranks.
    "syncyte_tensor_node": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.POINTER(BufferDescription),  # view (in,out): struct_size set by the caller; contiguous; shape[0] is the number of the node's rows
            ctypes.POINTER(ctypes.c_int64),  # first_row (out): if the node's ranks are consecutive, the global number of the view's first row, so that view row i is global row first_row + i; otherwise -1: the view then holds the ranges of tensor_rows() for the node's ranks, one after another
        ],
    ),
    # Lets a device of this process access a tensor: kernels of that device may use the addresses of tensor_local() and
    # tensor_node(). Local. Host memory is registered with the driver until the tensor is freed; what kernels do with it
    # has ended before a call of the library, such as tensor_sync(), orders it for others. Returns: SYNCYTE_ERR_ARGUMENT
    # (there is no such device), SYNCYTE_ERR_UNSUPPORTED (a wrapped tensor; the device cannot access the memory of all
    # devices of the tensor, or host memory at the host's addresses), SYNCYTE_ERR_BUSY (the caller has registered the
    # memory), SYNCYTE_ERR_MEMORY.
    "syncyte_tensor_allow_device": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor; not a wrapped one
            ctypes.c_int32,  # device (in): the device's number
        ],
    ),
    # Reads rows: output[i] = tensor[index[i]]. Local; a forked child may call it. Rows may repeat. Returns:
    # SYNCYTE_ERR_INDEX (names index and position; in host memory nothing is written), SYNCYTE_ERR_TYPE,
    # SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT (output is in memory of other rows that are read, or of index).
    "syncyte_tensor_gather": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous, any number of dimensions
            ctypes.POINTER(BufferDescription),  # output (out): contiguous, of the tensor's dtype, index's elements times a row's elements
        ],
    ),
    # Starts syncyte_tensor_gather(), as the head of syncyte/tensor.h says. Returns: as tensor_gather, for errors that
    # this rank finds; test and wait return the others.
    "syncyte_tensor_igather": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous, any number of dimensions; may be re-used on return
            ctypes.POINTER(BufferDescription),  # output (out): contiguous, of the tensor's dtype, index's elements times a row's elements; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Writes rows: tensor[index[i]] = source[i]. Local. If a row repeats, its last source stays. A row that two ranks
    # write at once, or that is added to meanwhile, is undefined. Returns: as gather; SYNCYTE_ERR_ARGUMENT if source or
    # index is in memory of other rows that are written.
    "syncyte_tensor_scatter": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous
            ctypes.POINTER(BufferDescription),  # source (in): contiguous, of the tensor's dtype, index's elements times a row's elements
        ],
    ),
    # Starts syncyte_tensor_scatter(), as the head of syncyte/tensor.h says. Returns: as tensor_scatter, for errors that
    # this rank finds; test and wait return the others.
    "syncyte_tensor_iscatter": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous; may be re-used on return
            ctypes.POINTER(BufferDescription),  # source (in): contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Adds to rows: tensor[index[i]] += source[i]. Local. No add is lost when several ranks add at once. A row that
    # repeats is added to several times, in an undefined order. bool: logical or. Each element is added atomically; of a
    # complex number, each component: a rank that reads it meanwhile may see the components of different adds. In a
    # tensor made with options->deterministic, rows of floating-point or complex numbers change in the next
    # tensor_sync(): the owner sums exactly what all ranks have added to a row since the last one, adds the sum to the
    # row, and rounds once, to nearest even. The result has the same bits whatever the timing, the number of ranks, and
    # the ranks that add. A sum of zero is +0. Until then this rank keeps the sum of each row that it has added to:
    # usually 32 to 40 bytes for each real number, and at most 560, if the magnitudes of a row's numbers span all
    # exponents of float64. Returns: as scatter; SYNCYTE_ERR_PEER_DIED if a process died while it added to one of the
    # rows (the row is damaged, the message names it; rows before it have been added), or if an owner died or is out of
    # reach; SYNCYTE_ERR_UNSUPPORTED if a row lies on another node and there is no fabric.
    "syncyte_tensor_scatter_add": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous
            ctypes.POINTER(BufferDescription),  # source (in): contiguous, of the tensor's dtype, index's elements times a row's elements
        ],
    ),
    # Starts syncyte_tensor_scatter_add(), as the head of syncyte/tensor.h says. Returns: as tensor_scatter_add, for
    # errors that this rank finds; test and wait return the others.
    "syncyte_tensor_iscatter_add": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous; may be re-used on return
            ctypes.POINTER(BufferDescription),  # source (in): contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Writes rows, then signals: tensor[index[i]] = source[i], and then adds value to an element of counters, or sets
    # it. A rank that sees the new element (by tensor_wait or tensor_load) sees all the rows, whoever owns them: the
    # signal is given after all owners have the rows. Local. Returns: as scatter and tensor_fetch_add,
    # SYNCYTE_ERR_ARGUMENT for another op. After an error of the arguments neither rows nor element are changed; after
    # another error the element is not.
    "syncyte_tensor_put_signal": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous; may be empty
            ctypes.POINTER(BufferDescription),  # source (in): as of scatter
            ctypes.c_void_p,  # counters (in): a tensor of int32 or int64, of any communicator
            ctypes.c_int64,  # element (in): number of its element in row-major order
            ctypes.c_int64,  # value (in): number that is added or set
            ctypes.c_int32,  # op (in): SYNCYTE_OP_SUM: adds value; SYNCYTE_OP_REPLACE: sets the element to value
        ],
    ),
    # Starts syncyte_tensor_put_signal(), as the head of syncyte/tensor.h says. The signal follows when all owners have
    # the rows, without further calls. If rows of other nodes go by the fabric and counters by MPI RMA, the start waits
    # for the rows. If an owner of rows dies, the element is not changed. Returns: as tensor_put_signal, for errors that
    # this rank finds; test and wait return the others.
    "syncyte_tensor_iput_signal": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous; may be empty; may be re-used on return
            ctypes.POINTER(BufferDescription),  # source (in): as of scatter; must stay unchanged until the request has ended
            ctypes.c_void_p,  # counters (in): a tensor of int32 or int64, of any communicator; it may be destroyed before the request has ended
            ctypes.c_int64,  # element (in): number of its element in row-major order
            ctypes.c_int64,  # value (in): number that is added or set
            ctypes.c_int32,  # op (in): SYNCYTE_OP_SUM: adds value; SYNCYTE_OP_REPLACE: sets the element to value
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Gives the tensor an optimizer, which tensor_apply_gradients() uses, with a new state of zeros; an optimizer that
    # the tensor had is dropped. Collective; facts: the tensor, optimizer, whether there is momentum. The
    # hyperparameters are this rank's: they apply to its own gradients. No thread may call tensor_apply_gradients()
    # meanwhile. Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH,
    # SYNCYTE_ERR_UNSUPPORTED (the tensor is on devices that cannot change each other's memory atomically).
    "syncyte_tensor_set_optimizer": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor of float16, bfloat16, float32 or float64
            ctypes.c_int32,  # optimizer (in): kind of optimizer
            ctypes.c_double,  # lr (in): learning rate, 0 or more
            ctypes.POINTER(OptimizerOptions),  # options (in, optional): null for defaults
        ],
    ),
    # Changes the learning rate of this rank's later calls of tensor_apply_gradients(). Local. Returns:
    # SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (the tensor has no optimizer).
    "syncyte_tensor_set_learning_rate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor with an optimizer
            ctypes.c_double,  # lr (in): learning rate, 0 or more
        ],
    ),
    # Updates rows by the tensor's optimizer: gradients[i] belongs to tensor[index[i]]. Local; rows of other nodes are
    # updated by their owners' library. Gradients of a row that repeats are summed first, so that each call updates a
    # row once. Calls of several ranks for the same row are separate updates, done one after another in any order, each
    # exactly once. On return all are done; all ranks see them after tensor_sync(). An Adam update's number, which
    # corrects the moments' bias, is the number of calls for this tensor by all ranks so far. A row that is written or
    # added to meanwhile is undefined. Returns: as scatter_add; SYNCYTE_ERR_ARGUMENT also if gradients lie in the
    # optimizer's state of these rows; SYNCYTE_ERR_UNSUPPORTED also if the tensor has no optimizer. After
    # SYNCYTE_ERR_PEER_DIED some rows may have been updated, and others not.
    "syncyte_tensor_apply_gradients": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor with an optimizer
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous
            ctypes.POINTER(BufferDescription),  # gradients (in): contiguous, of the tensor's dtype, index's elements times a row's elements
        ],
    ),
    # Starts syncyte_tensor_apply_gradients(), as the head of syncyte/tensor.h says. Gradients of a row that repeats are
    # summed, and an Adam update gets its number, in the start; if another node has the number, the start waits for the
    # answer of that node's library. The learning rate is that of the start. Returns: as tensor_apply_gradients, for
    # errors that this rank finds; test and wait return the others.
    "syncyte_tensor_iapply_gradients": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor with an optimizer; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # index (in): int32 or int64, contiguous; may be re-used on return
            ctypes.POINTER(BufferDescription),  # gradients (in): contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Returns a new reference to the tensor that holds the optimizer's state, to save it or restore it. Local. Returns:
    # SYNCYTE_ERR_UNSUPPORTED (the tensor has no optimizer).
    "syncyte_tensor_optimizer_state": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor with an optimizer
            ctypes.POINTER(ctypes.c_void_p),  # state (out): float32 (float64 for float64), shape {rows, slots, elements of a row}, partitioned as the tensor: SGD's momentum; AdaGrad's sum of squares; Adam's means of gradients and of squares. Null if there is none. Rows of fewer than 16 bytes may have further, unused slots
        ],
    ),
    # Returns a new reference to the tensor that holds the optimizer's number of updates. Local. Returns:
    # SYNCYTE_ERR_UNSUPPORTED (the tensor has no optimizer).
    "syncyte_tensor_optimizer_steps": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor with an optimizer
            ctypes.POINTER(ctypes.c_void_p),  # steps (out): int64, shape {1}. Null unless the optimizer is Adam
        ],
    ),
    # Reads the box [lower, lower + extent of output) of the tensor. Local; a forked child may call it. Returns:
    # SYNCYTE_ERR_INDEX outside the tensor, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_ARGUMENT (output is in
    # memory of other elements of the box).
    "syncyte_tensor_get_box": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.c_int64,  # lower_length (in): length of lower: the tensor's dimensions
            ctypes.POINTER(ctypes.c_int64),  # lower (in, array of lower_length): first element of the box
            ctypes.POINTER(BufferDescription),  # output (out): as many dimensions as the tensor, any strides, the tensor's dtype
        ],
    ),
    # Starts syncyte_tensor_get_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows need packed
    # memory of their size until the end; the test or wait that finds the end copies them to output. Returns: as
    # tensor_get_box, for errors that this rank finds; test and wait return the others.
    "syncyte_tensor_iget_box": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor; it may be destroyed before the request has ended
            ctypes.c_int64,  # lower_length (in): length of lower: the tensor's dimensions
            ctypes.POINTER(ctypes.c_int64),  # lower (in, array of lower_length): first element of the box; may be re-used on return
            ctypes.POINTER(BufferDescription),  # output (out): as many dimensions as the tensor, any strides, the tensor's dtype; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Writes the box [lower, lower + extent of source) of the tensor. Local. Visible to other ranks as in scatter.
    # Returns: as get_box, for source.
    "syncyte_tensor_put_box": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.c_int64,  # lower_length (in): length of lower: the tensor's dimensions
            ctypes.POINTER(ctypes.c_int64),  # lower (in, array of lower_length): first element of the box
            ctypes.POINTER(BufferDescription),  # source (in): as many dimensions as the tensor, any strides, the tensor's dtype
        ],
    ),
    # Starts syncyte_tensor_put_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows need packed
    # memory of their size until the end. Returns: as tensor_put_box, for errors that this rank finds; test and wait
    # return the others.
    "syncyte_tensor_iput_box": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor; it may be destroyed before the request has ended
            ctypes.c_int64,  # lower_length (in): length of lower: the tensor's dimensions
            ctypes.POINTER(ctypes.c_int64),  # lower (in, array of lower_length): first element of the box; may be re-used on return
            ctypes.POINTER(BufferDescription),  # source (in): as many dimensions as the tensor, any strides, the tensor's dtype; may be re-used on return
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Combines each element of the box [lower, lower + extent of source) with alpha * source: with SYNCYTE_OP_SUM,
    # tensor[box] += alpha * source. Local; done at the owners on return. Each element is combined atomically, also with
    # other ranks' accumulate_box and scatter_add, so no contribution is lost; of complex numbers, each component is
    # added atomically. The box as a whole is not atomic. Views, put_box, scatter and counters do not take part: call
    # sync between them and accumulates to the same elements. Sums of a tensor made with options->deterministic change
    # in the next sync, by whole rows: there an element outside of the box that is -0 becomes +0. Returns: as put_box;
    # SYNCYTE_ERR_ARGUMENT for an unknown op or SYNCYTE_OP_REPLACE, SYNCYTE_ERR_UNSUPPORTED for an op that the dtype
    # lacks, or if a row is reached by MPI RMA; SYNCYTE_ERR_PEER_DIED as scatter_add.
    "syncyte_tensor_accumulate_box": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
            ctypes.c_int64,  # lower_length (in): length of lower: the tensor's dimensions
            ctypes.POINTER(ctypes.c_int64),  # lower (in, array of lower_length): first element of the box
            ctypes.POINTER(BufferDescription),  # source (in): as many dimensions as the tensor, any strides, the tensor's dtype
            ctypes.c_void_p,  # alpha (in, optional): one element of the tensor's dtype, by which source is multiplied first, in that type; null: 1
            ctypes.c_int32,  # op (in): SYNCYTE_OP_SUM; for other than complex numbers also PROD, MIN and MAX; for integers and bool also LAND, LOR, LXOR, BAND, BOR and BXOR
        ],
    ),
    # Starts syncyte_tensor_accumulate_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows need
    # packed memory of their size until the end. Returns: as tensor_accumulate_box, for errors that this rank finds;
    # test and wait return the others.
    "syncyte_tensor_iaccumulate_box": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor; it may be destroyed before the request has ended
            ctypes.c_int64,  # lower_length (in): length of lower: the tensor's dimensions
            ctypes.POINTER(ctypes.c_int64),  # lower (in, array of lower_length): first element of the box; may be re-used on return
            ctypes.POINTER(BufferDescription),  # source (in): as many dimensions as the tensor, any strides, the tensor's dtype; may be re-used on return
            ctypes.c_void_p,  # alpha (in, optional): one element of the tensor's dtype, by which source is multiplied first, in that type; null: 1; may be re-used on return
            ctypes.c_int32,  # op (in): SYNCYTE_OP_SUM; for other than complex numbers also PROD, MIN and MAX; for integers and bool also LAND, LOR, LXOR, BAND, BOR and BXOR
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Adds to one element of an int32 or int64 tensor and returns its old value; atomic, acquire and release. Local.
    "syncyte_tensor_fetch_add": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor of int32 or int64
            ctypes.c_int64,  # element (in): number of the element in row-major order
            ctypes.c_int64,  # operand (in): number to add
            ctypes.POINTER(ctypes.c_int64),  # previous (out, optional): the old value
        ],
    ),
    # Starts syncyte_tensor_fetch_add(), as the head of syncyte/tensor.h says. The test or wait that finds the end
    # stores the old value. Returns: as tensor_fetch_add, for errors that this rank finds; test and wait return the
    # others.
    "syncyte_tensor_ifetch_add": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor of int32 or int64; it may be destroyed before the request has ended
            ctypes.c_int64,  # element (in): number of the element in row-major order
            ctypes.c_int64,  # operand (in): number to add
            ctypes.POINTER(ctypes.c_int64),  # previous (out, optional): the old value; may be null; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Writes desired to one element if it equals expected, and returns its old value; atomic, acquire and release.
    # Local.
    "syncyte_tensor_compare_swap": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor of int32 or int64
            ctypes.c_int64,  # element (in): number of the element in row-major order
            ctypes.c_int64,  # expected (in): value to compare with
            ctypes.c_int64,  # desired (in): value to write if they are equal
            ctypes.POINTER(ctypes.c_int64),  # previous (out, optional): the old value
        ],
    ),
    # Starts syncyte_tensor_compare_swap(), as the head of syncyte/tensor.h says. The test or wait that finds the end
    # stores the old value. Returns: as tensor_compare_swap, for errors that this rank finds; test and wait return the
    # others.
    "syncyte_tensor_icompare_swap": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor of int32 or int64; it may be destroyed before the request has ended
            ctypes.c_int64,  # element (in): number of the element in row-major order
            ctypes.c_int64,  # expected (in): value to compare with
            ctypes.c_int64,  # desired (in): value to write if they are equal
            ctypes.POINTER(ctypes.c_int64),  # previous (out, optional): the old value; may be null; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Reads one element of an int32 or int64 tensor; acquire. Local; a forked child may call it.
    "syncyte_tensor_load": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor of int32 or int64
            ctypes.c_int64,  # element (in): number of the element in row-major order
            ctypes.POINTER(ctypes.c_int64),  # value (out): its value
        ],
    ),
    # Writes one element of an int32 or int64 tensor; release: a rank that reads the new value sees all earlier writes
    # of this rank (on the same node; on other nodes, those before a flush). Local.
    "syncyte_tensor_store": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor of int32 or int64
            ctypes.c_int64,  # element (in): number of the element in row-major order
            ctypes.c_int64,  # value (in): its new value
        ],
    ),
    # Waits, mostly asleep, until a comparison of one element of an int32 or int64 tensor is true; acquire. Local; a
    # forked child may call it. Returns: SYNCYTE_ERR_TIMEOUT after timeout seconds; SYNCYTE_ERR_PEER_DIED if any rank of
    # the job dies meanwhile, since it may be the one that would change the element, and if all other ranks of the
    # tensor have come to finalize: then this rank's other threads alone could change it. Ranks of other nodes are asked
    # by the fabric, after a second.
    "syncyte_tensor_wait": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor of int32 or int64
            ctypes.c_int64,  # element (in): number of the element in row-major order
            ctypes.c_int32,  # compare (in): comparison of the element with value
            ctypes.c_int64,  # value (in): value to compare with
            ctypes.c_double,  # timeout (in): seconds, 0 or more; negative: no limit
            ctypes.POINTER(ctypes.c_int64),  # found (out, optional): the element's value for which the comparison is true
        ],
    ),
    # Waits, mostly asleep, until it has a row's lock. Local. The lock excludes other holders of it, and nothing else:
    # operations on the row take no notice, so the holder may call all of them. Writes of earlier holders are visible to
    # the holder. Each row has its own lock, so a rank may hold several; ranks that take them in different orders may
    # wait for each other for ever. A second lock of the row by this rank waits too, for an unlock by another thread.
    # There is no started form: a rank would hold a lock that it started from a moment that it does not know. Returns:
    # SYNCYTE_ERR_UNSUPPORTED for a tensor without row_locks, SYNCYTE_ERR_INDEX, SYNCYTE_ERR_PEER_DIED if the holder or,
    # on another node, the row's owner has died, or if the holder has come to finalize.
    "syncyte_tensor_lock": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor made with row_locks 1
            ctypes.c_int64,  # row (in): a row's number
        ],
    ),
    # Completes this rank's writes, as flush, and releases a row's lock. Local. Any thread of the rank may call it.
    # Returns: as lock; SYNCYTE_ERR_ARGUMENT if this rank does not hold the lock.
    "syncyte_tensor_unlock": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor made with row_locks 1
            ctypes.c_int64,  # row (in): a row's number
        ],
    ),
    # Completes this rank's writes at their owners. Local.
    "syncyte_tensor_flush": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
        ],
    ),
    # Synchronizes the tensor: after it, all ranks see all earlier writes of all ranks. Collective; also frees objects
    # that all ranks have dropped, and makes the adds of a tensor with options->deterministic. Adds that another thread
    # makes meanwhile may wait for the next call. Returns: SYNCYTE_ERR_MISMATCH if ranks pass different tensors: adds
    # wait for the next call. SYNCYTE_ERR_MEMORY: the adds of a tensor with options->deterministic may be lost.
    "syncyte_tensor_sync": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # tensor (in): a tensor
        ],
    ),
    # Makes a store of zeros. Collective; facts: dtype, num_keys, lengths_length, lengths, homes, intents,
    # options->name. Returns: SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_UNSUPPORTED
    # (another dtype; on several nodes: a length of more than 65534, or no fabric between them, for the reason that the
    # message names), SYNCYTE_ERR_MEMORY (more than the node has), SYNCYTE_ERR_MISMATCH.
    "syncyte_store_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): its ranks
            ctypes.c_int32,  # dtype (in): SYNCYTE_FLOAT32
            ctypes.c_int64,  # num_keys (in): 1 or more
            ctypes.c_int64,  # lengths_length (in): 1 if all keys have the same number of values; otherwise num_keys
            ctypes.POINTER(ctypes.c_int64),  # lengths (in, array of lengths_length): number of values, 1 or more, of all keys or of each
            ctypes.POINTER(StoreOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # store (out): the store
        ],
    ),
    # Adds a reference. Local, thread-safe, without MPI; works after finalize.
    "syncyte_store_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
        ],
    ),
    # Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a collective point
    # once all ranks have dropped the store; its workers hold references of their own.
    "syncyte_store_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_store_release().
    "syncyte_store_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # store (in,out): a store
        ],
    ),
    # Returns the number of keys. Local.
    "syncyte_store_keys": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
            ctypes.POINTER(ctypes.c_int64),  # num_keys (out): as given to store_create()
        ],
    ),
    # Returns the number of values of each key. Local. Returns: SYNCYTE_ERR_INDEX, naming key and position.
    "syncyte_store_lengths": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
            ctypes.c_int64,  # count (in): number of keys
            ctypes.POINTER(ctypes.c_int64),  # keys (in, array of count): keys
            ctypes.POINTER(ctypes.c_int64),  # lengths (out, array of count): number of values of each
        ],
    ),
    # Returns the home ranks of keys. Local. Returns: SYNCYTE_ERR_INDEX, naming key and position.
    "syncyte_store_owner": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
            ctypes.c_int64,  # count (in): number of keys
            ctypes.POINTER(ctypes.c_int64),  # keys (in, array of count): keys
            ctypes.POINTER(ctypes.c_int32),  # ranks (out, array of count): the rank that knows where each key's values are; the same for ever
        ],
    ),
    # Tells which keys are local: their values are at this node now. Local. Returns: SYNCYTE_ERR_INDEX, naming key and
    # position.
    "syncyte_store_is_local": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
            ctypes.c_int64,  # count (in): number of keys
            ctypes.POINTER(ctypes.c_int64),  # keys (in, array of count): keys
            ctypes.POINTER(ctypes.c_int32),  # flags (out, array of count): 1, or 0, for each key
        ],
    ),
    # Asks home ranks where the values of keys are now; no other rank has to call it. Returns: SYNCYTE_ERR_INDEX, naming
    # key and position; SYNCYTE_ERR_PEER_DIED (dead home rank), SYNCYTE_ERR_IO.
    "syncyte_store_locate": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
            ctypes.c_int64,  # count (in): number of keys
            ctypes.POINTER(ctypes.c_int64),  # keys (in, array of count): keys
            ctypes.POINTER(ctypes.c_int32),  # ranks (out, array of count): for each key its home rank, or the lowest rank of the node that has localized it
        ],
    ),
    # Gives keys their homes' last values, if they were lost with the node to which they had moved: those that they had
    # when they left their homes. Adds and sets at that node are lost. Until then, or until a set, operations on such a
    # key return SYNCYTE_ERR_PEER_DIED. No other rank has to call it. Returns: as locate.
    "syncyte_store_adopt_last": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
            ctypes.c_int64,  # count (in): number of keys
            ctypes.POINTER(ctypes.c_int64),  # keys (in, array of count): keys
            ctypes.POINTER(ctypes.c_int32),  # flags (out, array of count): 1 for each key that was lost, 0 for others, which stay as they are
        ],
    ),
    # Sets the sampling options of this process's workers; prepared samples keep theirs. Local. Returns:
    # SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (a shared set without replacement).
    "syncyte_store_set_sampling": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
            ctypes.POINTER(StoreSampling),  # options (in): initialized with SYNCYTE_STORE_SAMPLING_INIT
        ],
    ),
    # Synchronizes the store: after it, all ranks see all earlier writes of all ranks that were waited for. Collective,
    # called by one thread of each process; also frees objects that all ranks have dropped.
    "syncyte_store_sync": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
        ],
    ),
    # Makes a worker. Local. Any thread may use it. Returns: SYNCYTE_ERR_ARGUMENT.
    "syncyte_store_worker_create": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # store (in): a store
            ctypes.c_int32,  # number (in): 0 to workers - 1 (options of store_create()); no other live worker of this process may have it
            ctypes.POINTER(ctypes.c_void_p),  # worker (out): the worker
        ],
    ),
    # Adds a reference. Local, thread-safe, without MPI; works after finalize.
    "syncyte_store_worker_retain": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
        ],
    ),
    # Drops a reference. Local, thread-safe, without MPI; works after finalize. The last release ends the worker:
    # barriers of its process no longer wait for it. Operations in flight continue: their requests stay valid.
    "syncyte_store_worker_release": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
        ],
    ),
    # Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_store_worker_release().
    "syncyte_store_worker_destroy": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # worker (in,out): a worker
        ],
    ),
    # Reads the values of keys, concatenated in the order of the keys. A forked child may call it if all keys are local.
    # Returns: SYNCYTE_ERR_INDEX (names the first key that is out of range and its position), SYNCYTE_ERR_TYPE,
    # SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT (keys lie in the memory of values), SYNCYTE_ERR_UNSUPPORTED (device
    # memory): nothing was written. SYNCYTE_ERR_PEER_DIED (damaged key, dead home rank), SYNCYTE_ERR_IO (no connection
    # to a home rank).
    "syncyte_store_worker_pull": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous, any number of dimensions
            ctypes.POINTER(BufferDescription),  # values (out): float32, contiguous, as many as the keys have
        ],
    ),
    # Starts syncyte_store_worker_pull(), as the head of syncyte/store.h says. Returns: as store_worker_pull, for errors
    # that this rank finds; test and wait return the others.
    "syncyte_store_worker_ipull": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous, any number of dimensions; may be re-used on return
            ctypes.POINTER(BufferDescription),  # values (out): float32, contiguous, as many as the keys have; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Adds to the values of keys; a key that repeats is added to several times. Each value is added exactly once.
    # Returns: as pull.
    "syncyte_store_worker_push": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous
            ctypes.POINTER(BufferDescription),  # values (in): float32, contiguous, as many as the keys have
        ],
    ),
    # Starts syncyte_store_worker_push(), as the head of syncyte/store.h says. Returns: as store_worker_push, for errors
    # that this rank finds; test and wait return the others.
    "syncyte_store_worker_ipush": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous; may be re-used on return
            ctypes.POINTER(BufferDescription),  # values (in): float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Replaces the values of keys; if a key repeats, its last values stay. Repairs damaged keys. Returns: as pull,
    # except SYNCYTE_ERR_PEER_DIED for a damaged key.
    "syncyte_store_worker_set": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous
            ctypes.POINTER(BufferDescription),  # values (in): float32, contiguous, as many as the keys have
        ],
    ),
    # Starts syncyte_store_worker_set(), as the head of syncyte/store.h says. Returns: as store_worker_set, for errors
    # that this rank finds; test and wait return the others.
    "syncyte_store_worker_iset": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous; may be re-used on return
            ctypes.POINTER(BufferDescription),  # values (in): float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Reads the values of keys if all of them are local; on one node they always are. Local, without requests. Returns:
    # as pull.
    "syncyte_store_worker_pull_if_local": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous
            ctypes.POINTER(BufferDescription),  # values (out): float32, contiguous, as many as the keys have; unchanged if a key is not local
            ctypes.POINTER(ctypes.c_int32),  # is_local (out): 1, or 0 if a key is not local
        ],
    ),
    # Reads the values of each distinct key of a list once: key i of the list has the values of distinct key inverse[i].
    # Distinct keys are in the order of their first appearance. Arrays are written up to the distinct keys that there
    # are; the rest is unchanged. Returns: as pull; SYNCYTE_ERR_ARGUMENT also if two of the arrays share memory.
    "syncyte_store_worker_pull_unique": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous, any number of dimensions
            ctypes.POINTER(BufferDescription),  # distinct (out): int64, contiguous, room for as many keys as the list has
            ctypes.POINTER(BufferDescription),  # inverse (out): int64, contiguous, as many elements as the list has keys
            ctypes.POINTER(BufferDescription),  # values (out): float32, contiguous, room for as many as the list's keys have; concatenated in the order of the distinct keys
            ctypes.POINTER(ctypes.c_int64),  # count (out): number of distinct keys
        ],
    ),
    # Starts syncyte_store_worker_pull_unique(), as the head of syncyte/store.h says. Returns: as
    # store_worker_pull_unique, for errors that this rank finds; test and wait return the others.
    "syncyte_store_worker_ipull_unique": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous, any number of dimensions; may be re-used on return
            ctypes.POINTER(BufferDescription),  # distinct (out): int64, contiguous, room for as many keys as the list has; complete on return
            ctypes.POINTER(BufferDescription),  # inverse (out): int64, contiguous, as many elements as the list has keys; complete on return
            ctypes.POINTER(BufferDescription),  # values (out): float32, contiguous, room for as many as the list's keys have; concatenated in the order of the distinct keys; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_int64),  # count (out): number of distinct keys; complete on return
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Adds to the values of keys, as push, and sends each distinct key once: first the values of a key that repeats are
    # added to each other, in the order of the list. So rounding may differ from that of push. Returns: as pull.
    "syncyte_store_worker_push_unique": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous
            ctypes.POINTER(BufferDescription),  # values (in): float32, contiguous, as many as the keys have
        ],
    ),
    # Starts syncyte_store_worker_push_unique(), as the head of syncyte/store.h says. Returns: as
    # store_worker_push_unique, for errors that this rank finds; test and wait return the others.
    "syncyte_store_worker_ipush_unique": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous; may be re-used on return
            ctypes.POINTER(BufferDescription),  # values (in): float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Starts a pull whose values wait in the worker: its next pull, ipull, pull_unique, or ipull_unique of exactly this
    # list of keys takes them; so does pull_if_local, if they have come. They have the worker's own pushes and sets up
    # to that pull, also started ones. They may miss writes of other workers after the prefetch, unless a
    # store_worker_barrier() or store_sync() follows those: it drops the prefetches that began before. Nothing is
    # prefetched if all keys are local, so always on one node. A worker keeps SYNCYTE_STORE_MAX_PREFETCHES prefetches,
    # each with its values; a further one drops the oldest. Of several prefetches of one list a pull takes the oldest. A
    # pull whose prefetch was dropped or has failed reads the values as if there had been none; an ipull that takes a
    # prefetch in flight tells its error. Prefetches are also dropped by a push or set that fails, or if several threads
    # start pushes, sets and prefetches of the worker at the same time. Local; it does not wait. Returns: as pull, for
    # errors of arguments.
    "syncyte_store_worker_prefetch": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous; may be re-used on return
        ],
    ),
    # Drops the worker's prefetches, so that its next pulls read the values. Local.
    "syncyte_store_worker_drop_prefetches": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
        ],
    ),
    # Moves the values of keys to this node, so that they are local, until another node localizes them or memory for
    # other keys is needed (store_options_t::foreign_bytes: those that came first leave first). A key that cannot come
    # stays where it is, and is used from there: it is damaged, a rank has died, memory is used up, or
    # SYNCYTE_STORE_MOVES is off. On return, or at the end of the request, each key is here or cannot come. Other
    # operations go on meanwhile, also on these keys; the order of a worker's operations is kept. Returns: as pull.
    "syncyte_store_worker_localize": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous
        ],
    ),
    # Starts syncyte_store_worker_localize(), as the head of syncyte/store.h says. Returns: as store_worker_localize,
    # for errors that this rank finds; test and wait return the others.
    "syncyte_store_worker_ilocalize": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker; it may be destroyed before the request has ended
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous; may be re-used on return
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Signals that this worker will use keys while its clock is in [start, end): they come to this node shortly before,
    # or copies of them if workers of other nodes intend to use them too (store_options_t::intents). A copy goes when no
    # window of this node's workers needs it. A key for which there is no memory is used where it is. Local; waits for
    # nothing. Returns: as pull; SYNCYTE_ERR_ARGUMENT.
    "syncyte_store_worker_intent": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(BufferDescription),  # keys (in): int64, contiguous
            ctypes.c_int64,  # start (in): 0 or more
            ctypes.c_int64,  # end (in): more than start; 0: start + 1
        ],
    ),
    # Adds 1 to the worker's clock, which begins at 0. Local.
    "syncyte_store_worker_advance_clock": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(ctypes.c_int64),  # clock (out, optional): its new value
        ],
    ),
    # Returns the worker's clock. Local.
    "syncyte_store_worker_clock": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(ctypes.c_int64),  # clock (out): 0 or more
        ],
    ),
    # Prepares a sample: this worker will pull its keys while its clock is in [start, end). Local. Returns:
    # SYNCYTE_ERR_ARGUMENT (store_set_sampling() was not called; more keys than there are, without replacement).
    "syncyte_store_worker_prepare_sample": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.c_int64,  # count (in): number of keys, 0 to 2^40
            ctypes.c_int64,  # start (in): 0 or more
            ctypes.c_int64,  # end (in): more than start; 0: start + 1
            ctypes.POINTER(ctypes.c_int64),  # sample (out): the sample's number, 1 or more, for store_worker_pull_sample()
        ],
    ),
    # Reads the next keys of a sample and their values. A sample ends when its last key was pulled. The keys are
    # complete on return, the values as in pull. Returns: SYNCYTE_ERR_ARGUMENT (no such sample, or too few keys left),
    # and as pull.
    "syncyte_store_worker_pull_sample": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): the worker that has prepared it
            ctypes.c_int64,  # sample (in): its number
            ctypes.POINTER(BufferDescription),  # keys (out): int64, contiguous, at most as many as the sample has left
            ctypes.POINTER(BufferDescription),  # values (out): float32, contiguous, as many as the keys have
        ],
    ),
    # Starts syncyte_store_worker_pull_sample(), as the head of syncyte/store.h says. Returns: as
    # store_worker_pull_sample, for errors that this rank finds; test and wait return the others.
    "syncyte_store_worker_ipull_sample": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): the worker that has prepared it; it may be destroyed before the request has ended
            ctypes.c_int64,  # sample (in): its number
            ctypes.POINTER(BufferDescription),  # keys (out): int64, contiguous, at most as many as the sample has left; complete on return
            ctypes.POINTER(BufferDescription),  # values (out): float32, contiguous, as many as the keys have; may not be read until the request has ended
            ctypes.POINTER(ctypes.c_void_p),  # request (out): ends when the operation is complete, with its status
        ],
    ),
    # Ends a sample before all its keys were pulled. Local.
    "syncyte_store_worker_finish_sample": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): the worker that has prepared it
            ctypes.c_int64,  # sample (in): its number; one that has ended is ignored
        ],
    ),
    # Waits until all operations in flight of this worker have ended: its writes are where the keys are, and keys of
    # intents for its present clock are here or cannot come. Errors of operations stay for their requests. Local.
    "syncyte_store_worker_flush": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
        ],
    ),
    # Barrier of all workers of all ranks: after it, all workers see all earlier writes. It waits first for the worker's
    # operations in flight, whose errors stay for their requests. Collective: each worker calls it, in a thread of its
    # own if a process has several. One worker enters the collective for its process, so MPI's thread level must then be
    # serialized or above. Workers that were destroyed are not waited for. Returns: SYNCYTE_ERR_MISMATCH on all workers
    # of all ranks if some call another collective function; SYNCYTE_ERR_BUSY if another thread is in a collective call
    # of the same worker.
    "syncyte_store_worker_barrier": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
        ],
    ),
    # Returns the counters of a worker. Local.
    "syncyte_store_worker_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # worker (in): a worker
            ctypes.POINTER(StoreWorkerInfo),  # info (in,out): struct_size is set by the caller
        ],
    ),
}


HDF5: dict[str, Function] = {
    # Returns the version of the loaded libsyncyte_hdf5. Local; callable at any time, from any thread.
    "syncyte_hdf5_version": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_int32),  # major (out, optional): first number
            ctypes.POINTER(ctypes.c_int32),  # minor (out, optional): second number
            ctypes.POINTER(ctypes.c_int32),  # patch (out, optional): third number
            ctypes.POINTER(ctypes.c_int32),  # abi (out, optional): SYNCYTE_ABI_VERSION of the library
        ],
    ),
    # Saves entries into one file, atomically: on any error the old file is untouched. Collective; facts: path, count,
    # keys, kinds, dtypes, extents (without the first one of sharded entries), options; with SYNCYTE_CHECK=full also the
    # CRC32C of replicated entries. A mismatch error names the key, the property and the ranks that differ. The new file
    # takes the permissions of the file that it replaces, and its owner and group if this process may set them
    # (otherwise the file is this user's, and a different group gets no access). If the path is a symbolic link, the
    # link stays and its target is replaced. Rank 0 locks the temporary file (flock). A save removes unlocked temporary
    # files of the same target, which killed jobs have left. Returns: SYNCYTE_ERR_IO (names path and reason),
    # SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.
    "syncyte_checkpoint_save": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_char_p,  # path (in): file to write or replace; equal on all ranks, on a file system that all ranks see
            ctypes.c_int64,  # count (in): number of entries
            ctypes.POINTER(CheckpointEntry),  # entries (in, array of count): in the same order on all ranks, keys unique
            ctypes.POINTER(CheckpointOptions),  # options (in, optional): null for defaults
        ],
    ),
    # Opens a checkpoint: rank 0 reads and verifies the metadata and sends it to all ranks. Collective; facts: path.
    # Returns: SYNCYTE_ERR_NOT_FOUND (no such file), SYNCYTE_ERR_FORMAT (not a checkpoint, or truncated),
    # SYNCYTE_ERR_CHECKSUM (damaged metadata), SYNCYTE_ERR_VERSION (a newer format, or a feature that this library does
    # not know), SYNCYTE_ERR_IO; each names the file.
    "syncyte_checkpoint_open": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_char_p,  # path (in): file
            ctypes.POINTER(CheckpointOptions),  # options (in, optional): null for defaults
            ctypes.POINTER(ctypes.c_void_p),  # checkpoint (out): the open file
        ],
    ),
    # Closes the file and nulls the handle; a null handle is ignored. Local.
    "syncyte_checkpoint_close": Function(
        ctypes.c_int32,
        [
            ctypes.POINTER(ctypes.c_void_p),  # checkpoint (in,out): an open checkpoint
        ],
    ),
    # Returns the number of keys and the saved step. Local.
    "syncyte_checkpoint_count": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # checkpoint (in): an open checkpoint
            ctypes.POINTER(ctypes.c_int64),  # count (out): number of keys
            ctypes.POINTER(ctypes.c_int64),  # step (out, optional): the saved step
        ],
    ),
    # Returns the attributes that were saved with the file. Local.
    "syncyte_checkpoint_attributes": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # checkpoint (in): an open checkpoint
            ctypes.POINTER(ctypes.c_char_p),  # attributes (out): the text; "" if there are none. Valid until the checkpoint is closed
        ],
    ),
    # Returns a key by its number in alphabetical order. Local.
    "syncyte_checkpoint_key": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # checkpoint (in): an open checkpoint
            ctypes.c_int64,  # number (in): 0 to count - 1
            ctypes.POINTER(ctypes.c_char_p),  # key (out): valid until the checkpoint is closed
        ],
    ),
    # Returns the element type, global shape and kind of a key. Local. Returns: SYNCYTE_ERR_NOT_FOUND, naming the key
    # and the file.
    "syncyte_checkpoint_describe": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # checkpoint (in): an open checkpoint
            ctypes.c_char_p,  # key (in): its name
            ctypes.POINTER(BufferDescription),  # global (in,out): struct_size set by the caller; the rest is filled, with data null
            ctypes.POINTER(ctypes.c_int32),  # kind (out, optional): kind with which it was saved
        ],
    ),
    # Reads rows [first_row, first_row + target.shape[0]) of a key and verifies their checksums. Local: each rank reads
    # the rows that it needs. A 0-dimensional key counts as one row, read into a 0-dimensional target. Returns:
    # SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_INDEX, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_CHECKSUM (names file,
    # key and block), SYNCYTE_ERR_FORMAT (truncated), SYNCYTE_ERR_IO.
    "syncyte_checkpoint_read": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # checkpoint (in): an open checkpoint
            ctypes.c_char_p,  # key (in): its name
            ctypes.c_int64,  # first_row (in): first row to read
            ctypes.POINTER(BufferDescription),  # target (out): contiguous memory of the key's dtype; all extents but the first are the key's. Its contents are undefined after an error
        ],
    ),
    # Returns the bytes of tensor data that this rank has read from the file so far, including those read only for
    # verification. Local.
    "syncyte_checkpoint_bytes_read": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # checkpoint (in): an open checkpoint
            ctypes.POINTER(ctypes.c_int64),  # bytes (out): the number
        ],
    ),
    # Loads entries: every rank reads replicated entries whole, and its rows of sharded entries. The buffers' first
    # extents, in rank order, partition the rows. The number of ranks may differ from that of the save. Collective; all
    # ranks get the same status. Returns: as open and read; SYNCYTE_ERR_SHAPE if the rows of a sharded entry do not add
    # up to the key's.
    "syncyte_checkpoint_load": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): a communicator
            ctypes.c_char_p,  # path (in): file
            ctypes.c_int64,  # count (in): number of entries
            ctypes.POINTER(CheckpointEntry),  # entries (in,out, array of count): in the same order on all ranks; the memory they describe is filled
            ctypes.POINTER(CheckpointOptions),  # options (in, optional): null for defaults
        ],
    ),
    # Saves the fields of a bundle, and entries beside them, into one file, as syncyte_checkpoint_save(). Each field is
    # a key, and its dataset the whole array, without ghosts, each point once: the right copy of those that several
    # blocks store. Fields are collected and written slab by slab: this takes 16 MiB on each rank, and messages of 8
    # MiB. Collective. Returns: as syncyte_checkpoint_save().
    "syncyte_checkpoint_save_bundle": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): the bundle's communicator
            ctypes.c_char_p,  # path (in): as of syncyte_checkpoint_save()
            ctypes.c_void_p,  # bundle (in): a bundle without an operation in flight
            ctypes.c_int64,  # count (in): number of entries, which may be 0
            ctypes.POINTER(CheckpointEntry),  # entries (in, optional, array of count): further arrays, whose keys no field has: scalars as replicated entries
            ctypes.POINTER(CheckpointOptions),  # options (in, optional): null for defaults
        ],
    ),
    # Loads the fields of a bundle, and entries beside them, on any number of ranks and into any layouts: every place of
    # a block gets the value of its point. Ghosts are not written; syncyte_bundle_exchange() fills them. The file may
    # have been written by either function of save. Collective. Returns: as syncyte_checkpoint_load(); SYNCYTE_ERR_SHAPE
    # if a key has other extents than the field.
    "syncyte_checkpoint_load_bundle": Function(
        ctypes.c_int32,
        [
            ctypes.c_void_p,  # comm (in): the bundle's communicator
            ctypes.c_char_p,  # path (in): file
            ctypes.c_void_p,  # bundle (in): a bundle without an operation in flight
            ctypes.c_int64,  # count (in): number of entries, which may be 0
            ctypes.POINTER(CheckpointEntry),  # entries (in,out, optional, array of count): as of syncyte_checkpoint_load()
            ctypes.POINTER(CheckpointOptions),  # options (in, optional): null for defaults
        ],
    ),
}
