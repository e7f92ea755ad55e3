! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/base.h by bindings/generate; do not edit.
!> Status codes, errors, element types, buffers, logging and requests.
module syncyte_base_c
  use, intrinsic :: iso_c_binding
  implicit none
  public

  !> Version of this header; syncyte_version() returns the library's.
  integer(c_int32_t), parameter :: SYNCYTE_VERSION_MAJOR = 0_c_int32_t

  integer(c_int32_t), parameter :: SYNCYTE_VERSION_MINOR = 2_c_int32_t

  integer(c_int32_t), parameter :: SYNCYTE_VERSION_PATCH = 0_c_int32_t

  !> Number of the binary interface. It increases with every incompatible change; the names of the shared libraries
  !> end in it (libsyncyte.so.3).
  integer(c_int32_t), parameter :: SYNCYTE_ABI_VERSION = 3_c_int32_t

  !> Maximum number of dimensions of a tensor or buffer.
  integer(c_int32_t), parameter :: SYNCYTE_MAX_NDIM = 8_c_int32_t

  !> sizeof(syncyte_buffer_t) in the first release: the `first_size` with which libraries on top read a caller's
  !> buffer.
  integer(c_int32_t), parameter :: SYNCYTE_BUFFER_FIRST_SIZE = 168_c_int32_t

  !> Status codes; never renumbered. If ranks fail with different ones, an agreement gives all the highest.
  integer(c_int32_t), parameter :: SYNCYTE_SUCCESS = 0_c_int32_t
  ! an argument's value is not allowed
  integer(c_int32_t), parameter :: SYNCYTE_ERR_ARGUMENT = 1_c_int32_t
  ! null, freed or foreign handle
  integer(c_int32_t), parameter :: SYNCYTE_ERR_HANDLE = 2_c_int32_t
  ! an index is out of range
  integer(c_int32_t), parameter :: SYNCYTE_ERR_INDEX = 3_c_int32_t
  ! unknown element type, or the wrong one
  integer(c_int32_t), parameter :: SYNCYTE_ERR_TYPE = 4_c_int32_t
  ! wrong shape, size or strides
  integer(c_int32_t), parameter :: SYNCYTE_ERR_SHAPE = 5_c_int32_t
  ! ranks disagree
  integer(c_int32_t), parameter :: SYNCYTE_ERR_MISMATCH = 6_c_int32_t
  ! called before syncyte_init(), or after finalize
  integer(c_int32_t), parameter :: SYNCYTE_ERR_NOT_INITIALIZED = 7_c_int32_t
  ! not enough memory
  integer(c_int32_t), parameter :: SYNCYTE_ERR_MEMORY = 8_c_int32_t
  ! not available in this build, or for these arguments
  integer(c_int32_t), parameter :: SYNCYTE_ERR_UNSUPPORTED = 9_c_int32_t
  ! in use by another thread or an active request
  integer(c_int32_t), parameter :: SYNCYTE_ERR_BUSY = 10_c_int32_t
  ! a rank has died, or data are damaged because it died while it changed them; also from a wait for a counter or
  ! lock that no remaining rank can end
  integer(c_int32_t), parameter :: SYNCYTE_ERR_PEER_DIED = 11_c_int32_t
  ! MPI reported an error
  integer(c_int32_t), parameter :: SYNCYTE_ERR_MPI = 12_c_int32_t
  ! the operating system reported an error on a file
  integer(c_int32_t), parameter :: SYNCYTE_ERR_IO = 13_c_int32_t
  ! not a Syncyte file, or a truncated one
  integer(c_int32_t), parameter :: SYNCYTE_ERR_FORMAT = 14_c_int32_t
  ! stored data is damaged
  integer(c_int32_t), parameter :: SYNCYTE_ERR_CHECKSUM = 15_c_int32_t
  ! no such file or key
  integer(c_int32_t), parameter :: SYNCYTE_ERR_NOT_FOUND = 16_c_int32_t
  ! library or file of another version
  integer(c_int32_t), parameter :: SYNCYTE_ERR_VERSION = 17_c_int32_t
  ! a stated time limit passed
  integer(c_int32_t), parameter :: SYNCYTE_ERR_TIMEOUT = 18_c_int32_t
  ! a defect of Syncyte; please report it
  integer(c_int32_t), parameter :: SYNCYTE_ERR_INTERNAL = 19_c_int32_t
  ! a limit of the system, as on open files, is reached; the message names it
  integer(c_int32_t), parameter :: SYNCYTE_ERR_LIMIT = 20_c_int32_t
  ! the application ended a wait: see syncyte_interrupt_set()
  integer(c_int32_t), parameter :: SYNCYTE_ERR_INTERRUPTED = 21_c_int32_t

  !> Element types; never renumbered. Complex numbers are pairs (real, imaginary); bool is one byte, 0 or 1.
  integer(c_int32_t), parameter :: SYNCYTE_FLOAT16 = 1_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_BFLOAT16 = 2_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_FLOAT32 = 3_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_FLOAT64 = 4_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_COMPLEX64 = 5_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_COMPLEX128 = 6_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_INT8 = 7_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_INT16 = 8_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_INT32 = 9_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_INT64 = 10_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_UINT8 = 11_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_BOOL = 12_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_UINT16 = 13_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_UINT32 = 14_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_UINT64 = 15_c_int32_t

  !> Reductions; never renumbered.
  ! sum; logical or for bool
  integer(c_int32_t), parameter :: SYNCYTE_OP_SUM = 1_c_int32_t
  ! product; logical and for bool
  integer(c_int32_t), parameter :: SYNCYTE_OP_PROD = 2_c_int32_t
  ! minimum; not for complex; NaN if an operand is NaN; -0 is less than +0
  integer(c_int32_t), parameter :: SYNCYTE_OP_MIN = 3_c_int32_t
  ! maximum; not for complex; NaN if an operand is NaN; -0 is less than +0
  integer(c_int32_t), parameter :: SYNCYTE_OP_MAX = 4_c_int32_t
  ! logical and; integers and bool
  integer(c_int32_t), parameter :: SYNCYTE_OP_LAND = 5_c_int32_t
  ! logical or; integers and bool
  integer(c_int32_t), parameter :: SYNCYTE_OP_LOR = 6_c_int32_t
  ! bitwise and; integers and bool
  integer(c_int32_t), parameter :: SYNCYTE_OP_BAND = 7_c_int32_t
  ! bitwise or; integers and bool
  integer(c_int32_t), parameter :: SYNCYTE_OP_BOR = 8_c_int32_t
  ! bitwise exclusive or; integers and bool
  integer(c_int32_t), parameter :: SYNCYTE_OP_BXOR = 9_c_int32_t
  ! the new value (windows, tensor_put_signal)
  integer(c_int32_t), parameter :: SYNCYTE_OP_REPLACE = 10_c_int32_t
  ! logical exclusive or; integers and bool
  integer(c_int32_t), parameter :: SYNCYTE_OP_LXOR = 11_c_int32_t

  !> Kinds of memory; never renumbered.
  ! host memory of the process or the node
  integer(c_int32_t), parameter :: SYNCYTE_MEMORY_HOST = 0_c_int32_t
  ! memory of a CUDA device
  integer(c_int32_t), parameter :: SYNCYTE_MEMORY_CUDA = 1_c_int32_t

  !> Severities.
  ! as a threshold: no lines
  integer(c_int32_t), parameter :: SYNCYTE_LOG_OFF = 0_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_LOG_ERROR = 1_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_LOG_WARN = 2_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_LOG_INFO = 3_c_int32_t
  integer(c_int32_t), parameter :: SYNCYTE_LOG_DEBUG = 4_c_int32_t

  !> An array argument: address, element type, shape, strides and kind of memory. The memory belongs to the caller.
  !> Strides are in bytes. A buffer with the strides of a dense row-major array is *contiguous*; strides of
  !> dimensions of extent 1 and of empty arrays are ignored. A buffer with ndim 0 has one element. Every function
  !> returns SYNCYTE_ERR_SHAPE for strides whose span exceeds 64 bits. Data may have any alignment, except that
  !> reductions and lists of rows need aligned elements (complex ones aligned to their parts): SYNCYTE_ERR_SHAPE. No
  !> function waits for work that is enqueued on memory of a device: it must be complete before the call, or on the
  !> stream that the function takes (syncyte_memory_set_stream()).
  type, bind(C) :: syncyte_buffer_t
    ! sizeof(syncyte_buffer_t)
    integer(c_size_t) :: struct_size = 168_c_size_t
    ! first element; may be null when there are no elements
    type(c_ptr) :: data = c_null_ptr
    ! element type
    integer(c_int32_t) :: dtype = 0_c_int32_t
    ! number of dimensions, 0 to SYNCYTE_MAX_NDIM
    integer(c_int32_t) :: ndim = 0_c_int32_t
    ! extents, in elements
    integer(c_int64_t) :: shape(8) = 0_c_int64_t
    ! distances of neighbouring elements, in bytes
    integer(c_int64_t) :: strides(8) = 0_c_int64_t
    ! kind of memory of data
    integer(c_int32_t) :: memory = 0_c_int32_t
    ! number of the device; 0 for host memory
    integer(c_int32_t) :: device = 0_c_int32_t
    ! 1: constant memory, which no function writes to: SYNCYTE_ERR_ARGUMENT; or 0
    integer(c_int32_t) :: read_only = 0_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
  end type syncyte_buffer_t

  !> Fields of a failed call's error, beside its text. Fields that do not apply are empty, and -1 for numbers.
  type, bind(C) :: syncyte_error_fields_t
    ! sizeof(syncyte_error_fields_t)
    integer(c_size_t) :: struct_size = 80_c_size_t
    ! status of the call
    integer(c_int32_t) :: status = 0_c_int32_t
    ! rank that failed, or has died (SYNCYTE_ERR_PEER_DIED): of the communicator in a collective, otherwise of the
    ! world
    integer(c_int32_t) :: rank = 0_c_int32_t
    ! the function's name without "syncyte_"
    type(c_ptr) :: operation = c_null_ptr
    ! name of the object that the argument belongs to, or of the collective's communicator
    type(c_ptr) :: object = c_null_ptr
    ! name of the argument that is wrong, or of the fact that differs between ranks
    type(c_ptr) :: argument = c_null_ptr
    ! dimension of the argument if ndim is not 0, otherwise its position in an array
    integer(c_int64_t) :: axis = 0_c_int64_t
    ! number of dimensions of the array that the error is about; 0: not about an array. If it is not 0, lists such
    ! as [2, 3] in value and expected are extents; if the axis itself differs between ranks, value lists it counted
    ! from the end (-1 is the last)
    integer(c_int32_t) :: ndim = 0_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
    ! value of the argument; if it differs between ranks, the values and their ranks
    type(c_ptr) :: value = c_null_ptr
    ! expected value
    type(c_ptr) :: expected = c_null_ptr
    ! the message without operation and rank
    type(c_ptr) :: reason = c_null_ptr
  end type syncyte_error_fields_t

  !> An event for the trace hook: an operation has ended on this thread. The peer is - for send, recv, isend, irecv:
  !> the peer; for a receive from SYNCYTE_ANY the sender (-1 when it starts); for sendrecv the receiver; - for
  !> collectives with a root (bcast, ibcast, reduce, gather_along, scatter_along): the root, on all ranks; - for a
  !> halo's exchanges: the neighbour if there is only one, which may be the rank itself; - for window operations
  !> with a target: the target; - for a wait: the peer of the operation that was started; for a wait for several
  !> requests, their common peer; - for all others: -1. Starting an operation and waiting for it are two events. A
  !> wait is "request_wait", "request_wait_all", "request_wait_any", or the "request_test" that completes the
  !> request; other tests, and waits for null, are not events. Lookups (of a rank, a shape, a pointer) are not
  !> events, and syncyte_stats() does not count them.
  type, bind(C) :: syncyte_trace_event_t
    ! sizeof(syncyte_trace_event_t) as the library knows it
    integer(c_size_t) :: struct_size = 72_c_size_t
    ! for example "comm_allreduce"; valid during the call
    type(c_ptr) :: operation = c_null_ptr
    ! bytes of this rank's part; for a wait, those of the started operation; or 0
    integer(c_int64_t) :: bytes = 0_c_int64_t
    ! CLOCK_MONOTONIC at the start, nanoseconds
    integer(c_int64_t) :: begin_ns = 0_c_int64_t
    ! CLOCK_MONOTONIC at the end, nanoseconds
    integer(c_int64_t) :: end_ns = 0_c_int64_t
    ! status of the operation
    integer(c_int32_t) :: status = 0_c_int32_t
    ! peer, a rank of the communicator, see above; or -1
    integer(c_int32_t) :: peer = 0_c_int32_t
    ! element type of the data; for a wait, that of the started operation; or 0
    integer(c_int32_t) :: dtype = 0_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
    ! name of the communicator, valid during the call; or null
    type(c_ptr) :: comm = c_null_ptr
    ! file of a checkpoint, valid during the call; or null
    type(c_ptr) :: path = c_null_ptr
  end type syncyte_trace_event_t

  !> Counters of one operation in this process.
  type, bind(C) :: syncyte_operation_stats_t
    ! sizeof(syncyte_operation_stats_t)
    integer(c_size_t) :: struct_size = 48_c_size_t
    ! for example "comm_allreduce"; never freed
    type(c_ptr) :: operation = c_null_ptr
    ! calls that have ended, counted as trace events are, see syncyte_trace_event_t
    integer(c_int64_t) :: calls = 0_c_int64_t
    ! calls that failed
    integer(c_int64_t) :: errors = 0_c_int64_t
    ! bytes of this rank's parts
    integer(c_int64_t) :: bytes = 0_c_int64_t
    ! duration of the calls that were traced (by SYNCYTE_TRACE or a hook)
    integer(c_int64_t) :: nanoseconds = 0_c_int64_t
  end type syncyte_operation_stats_t

  interface

    !> Returns the version of the loaded library. Local; callable at any time, from any thread.
    ! major [out]: first number
    ! minor [out]: second number
    ! patch [out]: third number
    ! abi [out]: SYNCYTE_ABI_VERSION of the library
    function syncyte_version(major, minor, patch, abi) bind(C, name="syncyte_version") result(answer)
      import
      integer(c_int32_t), intent(inout), optional :: major
      integer(c_int32_t), intent(inout), optional :: minor
      integer(c_int32_t), intent(inout), optional :: patch
      integer(c_int32_t), intent(inout), optional :: abi
      integer(c_int32_t) :: answer
    end function syncyte_version

    !> Returns the message of this thread's last failed call. Local; callable at any time.
    ! Returns: a string that is valid until the thread's next failing call; empty if none failed.
    function syncyte_last_error() bind(C, name="syncyte_last_error") result(answer)
      import
      type(c_ptr) :: answer
    end function syncyte_last_error

    !> Returns the fields of this thread's last error. Local; callable at any time.
    ! fields [in,out]: struct_size set by the caller; the rest is filled; texts are valid until the thread's next
    ! failing call
    function syncyte_last_error_fields(fields) bind(C, name="syncyte_last_error_fields") result(answer)
      import
      type(syncyte_error_fields_t), intent(inout) :: fields
      integer(c_int32_t) :: answer
    end function syncyte_last_error_fields

    !> Returns the name of a status code, for example "SYNCYTE_ERR_INDEX". Local; callable at any time.
    ! status [in]: any number
    ! Returns: a constant string; "SYNCYTE_ERR_UNKNOWN" for a number that is not a status code.
    function syncyte_status_name(status) bind(C, name="syncyte_status_name") result(answer)
      import
      integer(c_int32_t), value :: status
      type(c_ptr) :: answer
    end function syncyte_status_name

    !> Sets this thread's last error, for libraries on top of Syncyte. Local; callable at any time.
    ! status [in]: code, not SYNCYTE_SUCCESS
    ! message [in]: the error, the argument, and how to correct it; the rank is prepended
    ! Returns: status, so that a caller can `return syncyte_error_set(...)`.
    function syncyte_error_set(status, message) bind(C, name="syncyte_error_set") result(answer)
      import
      integer(c_int32_t), value :: status
      character(kind=c_char), intent(in) :: message(*)
      integer(c_int32_t) :: answer
    end function syncyte_error_set

    !> Sets this thread's last error with its fields; syncyte_error_set() sets it without. Local; callable at any
    !> time.
    ! fields [in]: texts may be null; status is not SYNCYTE_SUCCESS; reason is the message; rank is not read
    ! Returns: fields->status
    function syncyte_error_set_fields(fields) bind(C, name="syncyte_error_set_fields") result(answer)
      import
      type(syncyte_error_fields_t), intent(in) :: fields
      integer(c_int32_t) :: answer
    end function syncyte_error_set_fields

    !> Reads a caller's struct by the rule of struct_size, for libraries on top. Local; callable at any time.
    ! theirs [in]: the caller's struct
    ! name [in]: name of the argument, for the message
    ! first_size [in]: its sizeof in the first release
    ! ours [in,out]: defaults and struct_size of the library on top; gets the members that the caller's struct has
    ! Returns: SYNCYTE_ERR_ARGUMENT (null, a size that no version has), SYNCYTE_ERR_VERSION (a byte set beyond
    ! ours).
    function syncyte_struct_read(theirs, name, first_size, ours) bind(C, name="syncyte_struct_read") &
        result(answer)
      import
      type(c_ptr), value :: theirs
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: first_size
      type(c_ptr), value :: ours
      integer(c_int32_t) :: answer
    end function syncyte_struct_read

    !> Returns the size of one element in bytes. Local; callable at any time.
    ! dtype [in]: element type
    ! size [out]: bytes of an element
    ! Returns: SYNCYTE_ERR_TYPE for an unknown dtype.
    function syncyte_dtype_size(dtype, size) bind(C, name="syncyte_dtype_size") result(answer)
      import
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), intent(inout) :: size
      integer(c_int32_t) :: answer
    end function syncyte_dtype_size

    !> Returns the name of an element type, for example "float32". Local; callable at any time.
    ! dtype [in]: element type
    ! Returns: a constant string; "unknown" for an unknown dtype.
    function syncyte_dtype_name(dtype) bind(C, name="syncyte_dtype_name") result(answer)
      import
      integer(c_int32_t), value :: dtype
      type(c_ptr) :: answer
    end function syncyte_dtype_name

    !> Fills a buffer for a contiguous row-major array in host memory. Local; callable at any time.
    ! data [in]: first element
    ! dtype [in]: element type
    ! ndim [in]: number of dimensions
    ! shape [in]: extents; may be null when ndim is 0
    ! buffer [in,out]: struct_size set by the caller; the rest is filled
    ! Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (ndim, a negative extent, more than 2^63 - 1 bytes).
    function syncyte_buffer_set(data, dtype, ndim, shape, buffer) bind(C, name="syncyte_buffer_set") &
        result(answer)
      import
      type(c_ptr), value :: data
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: ndim
      integer(c_int64_t), intent(in), optional :: shape(*)
      type(syncyte_buffer_t), intent(inout) :: buffer
      integer(c_int32_t) :: answer
    end function syncyte_buffer_set

    !> Writes a line with rank and severity to stderr, if SYNCYTE_LOG enables that severity. Local, thread-safe,
    !> callable at any time.
    ! level [in]: severity
    ! message [in]: text without a newline
    function syncyte_log(level, message) bind(C, name="syncyte_log") result(answer)
      import
      integer(c_int32_t), value :: level
      character(kind=c_char), intent(in) :: message(*)
      integer(c_int32_t) :: answer
    end function syncyte_log

    !> Installs the trace hook of the process; null removes it. Local; callable at any time, not during operations.
    ! hook [in]: function
    ! context [in]: passed to every call; must outlive the hook
    function syncyte_trace_set(hook, context) bind(C, name="syncyte_trace_set") result(answer)
      import
      type(c_funptr), value :: hook
      type(c_ptr), value :: context
      integer(c_int32_t) :: answer
    end function syncyte_trace_set

    !> Returns the counters of an operation. Local, thread-safe, callable at any time.
    ! index [in]: 0, 1, ... until the result is SYNCYTE_ERR_INDEX; operations that were never called are not listed
    ! stats [in,out]: struct_size set by the caller; the rest is filled
    ! Returns: SYNCYTE_ERR_INDEX beyond the last one.
    function syncyte_stats(index, stats) bind(C, name="syncyte_stats") result(answer)
      import
      integer(c_int64_t), value :: index
      type(syncyte_operation_stats_t), intent(inout) :: stats
      integer(c_int32_t) :: answer
    end function syncyte_stats

    !> Makes a request of callbacks, for libraries on top of Syncyte. Local. Until the operation has ended, every
    !> wait of Syncyte on this rank calls poll, on any thread that may call MPI. Two callbacks of one request never
    !> run at once. The thread that tests or waits for the request gets the status, and the message that poll passed
    !> to syncyte_error_set(). Callbacks may call Syncyte's local functions, but must not start or end Syncyte. poll
    !> must not wait for another rank: while it runs, its thread polls no other request. syncyte_finalize() (or
    !> MPI_Finalize) polls active requests until they have ended, and frees their contexts; Syncyte can be called
    !> meanwhile. If a request has not ended 5 s after all ranks have entered finalize, an error is logged: the
    !> request stays active, and its context is not freed.
    ! poll [in]: tests for completion
    ! wait [in]: waits; if null, poll is called until it sets *done
    ! free [in]: frees context
    ! context [in]: passed to the callbacks; owned by the request on success
    ! request [out]: the request
    ! Returns: SYNCYTE_ERR_UNSUPPORTED in a forked child.
    function syncyte_request_create(poll, wait, free, context, request) bind(C, name="syncyte_request_create") &
        result(answer)
      import
      type(c_funptr), value :: poll
      type(c_funptr), value :: wait
      type(c_funptr), value :: free
      type(c_ptr), value :: context
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_request_create

    !> Tests a request without waiting. Local. If it has ended, returns its status and nulls the handle.
    ! request [in,out]: a request; null counts as ended
    ! done [out]: 1 if it has ended
    function syncyte_request_test(request, done) bind(C, name="syncyte_request_test") result(answer)
      import
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t), intent(inout) :: done
      integer(c_int32_t) :: answer
    end function syncyte_request_test

    !> Waits for a request, returns its status, and nulls the handle. Local.
    ! request [in,out]: a request; null counts as ended
    ! Returns: SYNCYTE_ERR_INTERRUPTED if the application ended the wait (syncyte_interrupt_set()): the request
    ! stays active. syncyte_request_wait_all() and syncyte_request_wait_any() do the same.
    function syncyte_request_wait(request) bind(C, name="syncyte_request_wait") result(answer)
      import
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_request_wait

    !> Waits for all requests; returns the first status that is not success, after all have ended. Local.
    ! count [in]: number of requests
    ! requests [in,out]: requests, nulled; null ones are skipped
    function syncyte_request_wait_all(count, requests) bind(C, name="syncyte_request_wait_all") result(answer)
      import
      integer(c_int64_t), value :: count
      type(c_ptr), intent(inout) :: requests(*)
      integer(c_int32_t) :: answer
    end function syncyte_request_wait_all

    !> Waits until one of the requests ends, returns its status and nulls it. Local. The requests may be of
    !> different objects, such as a halo and a store.
    ! count [in]: number of requests
    ! requests [in,out]: requests; null ones are skipped
    ! index [out]: position of the request that ended, also if it has failed; -1 if none has: all were null, or the
    ! wait has failed
    function syncyte_request_wait_any(count, requests, index) bind(C, name="syncyte_request_wait_any") &
        result(answer)
      import
      integer(c_int64_t), value :: count
      type(c_ptr), intent(inout) :: requests(*)
      integer(c_int64_t), intent(inout) :: index
      integer(c_int32_t) :: answer
    end function syncyte_request_wait_any

    !> Frees a request that has ended, and nulls the handle; a null handle is ignored. Local.
    ! request [in,out]: a request
    ! Returns: SYNCYTE_ERR_BUSY while the operation is active.
    function syncyte_request_destroy(request) bind(C, name="syncyte_request_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_request_destroy
  end interface
end module syncyte_base_c
