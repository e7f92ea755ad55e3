! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/store.h by bindings/generate; do not edit.
!> The parameter store: a vector of float32 under each key 0 to num_keys - 1, which all ranks pull, push and set.
module syncyte_store_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  use syncyte_comm_c, c_syncyte_finalize => syncyte_finalize
  implicit none
  public
  private :: c_syncyte_finalize

  !> Most prefetches of a worker that no pull has taken: a further one drops the oldest.
  integer(c_int32_t), parameter :: SYNCYTE_STORE_MAX_PREFETCHES = 16_c_int32_t

  !> Ways to divide the keys among P ranks. Each gives the ranks equal numbers of keys, or one more.
  ! k mod P, for ranks that are counted one of each node in turn
  integer(c_int32_t), parameter :: SYNCYTE_STORE_HOMES_CYCLIC = 1_c_int32_t
  ! mixed: keys of any stride, such as a power of two, are spread evenly
  integer(c_int32_t), parameter :: SYNCYTE_STORE_HOMES_HASH = 2_c_int32_t
  ! in order, as the rows of a tensor: often used keys that are neighbours share a rank
  integer(c_int32_t), parameter :: SYNCYTE_STORE_HOMES_BLOCK = 3_c_int32_t

  !> Effects of intents on a key, between nodes.
  ! it moves to the node that intends to use it; each of several gets a copy
  integer(c_int32_t), parameter :: SYNCYTE_STORE_INTENTS_MOVE_OR_COPY = 1_c_int32_t
  ! it moves to the first node, and others use it there: it is linearizable
  integer(c_int32_t), parameter :: SYNCYTE_STORE_INTENTS_MOVE = 2_c_int32_t
  ! each node gets a copy; only localize moves keys
  integer(c_int32_t), parameter :: SYNCYTE_STORE_INTENTS_COPY = 3_c_int32_t

  !> Schemes of sampling.
  ! keys are drawn when the sample is prepared
  integer(c_int32_t), parameter :: SYNCYTE_STORE_PREPARED = 1_c_int32_t
  ! as prepared, with an intent for the keys until the sample ends
  integer(c_int32_t), parameter :: SYNCYTE_STORE_INTENDED = 2_c_int32_t
  ! as intended, from a set of keys that the process's workers share
  integer(c_int32_t), parameter :: SYNCYTE_STORE_SHARED = 3_c_int32_t
  ! keys are drawn when they are pulled; then the next local key upwards is taken
  integer(c_int32_t), parameter :: SYNCYTE_STORE_LOCAL = 4_c_int32_t

  !> Distributions over a range of n keys.
  ! all keys have the same probability
  integer(c_int32_t), parameter :: SYNCYTE_STORE_UNIFORM = 1_c_int32_t
  ! the i-th key, i from 1, has the probability log((i + 1) / i) / log(n + 1)
  integer(c_int32_t), parameter :: SYNCYTE_STORE_LOG_UNIFORM = 2_c_int32_t

  !> Options of a new store.
  type, bind(C) :: syncyte_store_options_t
    ! sizeof(syncyte_store_options_t)
    integer(c_size_t) :: struct_size = 48_c_size_t
    ! may be null, which is a name of its own; equal on all ranks
    type(c_ptr) :: name = c_null_ptr
    ! number of this process's workers, 1 to 65536; ranks may differ
    integer(c_int32_t) :: workers = 1_c_int32_t
    ! home ranks of the keys; equal on all ranks
    integer(c_int32_t) :: homes = 1_c_int32_t
    ! name for messages, if not null; ranks may differ
    type(c_ptr) :: label = c_null_ptr
    ! memory on this node for keys of other nodes, as its lowest rank gives it; -1: a quarter of the node's values,
    ! at least 1 MiB, at most an eighth of the memory that is free
    integer(c_int64_t) :: foreign_bytes = -1_c_int64_t
    ! what intents do; equal on all ranks
    integer(c_int32_t) :: intents = 1_c_int32_t
  end type syncyte_store_options_t

  !> Sampling options. Only keys that have as many values as min_key are drawn. Scheme local: a key is drawn from
  !> the whole range, as by the other schemes. If it is not local, the next local key upwards is taken in its place,
  !> from min_key on after the last one; without replacement the next one that is not in the sample. If the next 256
  !> keys have none, or with SYNCYTE_STORE_HOMES_BLOCK, it is the drawn key itself.
  type, bind(C) :: syncyte_store_sampling_t
    ! sizeof(syncyte_store_sampling_t)
    integer(c_size_t) :: struct_size = 64_c_size_t
    ! when keys are drawn
    integer(c_int32_t) :: scheme = 4_c_int32_t
    ! distribution of the keys
    integer(c_int32_t) :: distribution = 1_c_int32_t
    ! 0: no key repeats in a sample; not with a shared set
    integer(c_int32_t) :: with_replacement = 1_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
    ! first key of the range
    integer(c_int64_t) :: min_key = 0_c_int64_t
    ! end of the range: its last key + 1
    integer(c_int64_t) :: max_key = 0_c_int64_t
    ! number of keys in the shared set, 1 to 2^28
    integer(c_int64_t) :: shared_keys = 250_c_int64_t
    ! how often each key of a shared set is used
    integer(c_int64_t) :: reuse = 1_c_int64_t
    ! seed; rank and worker number are mixed in
    integer(c_int64_t) :: seed = 0_c_int64_t
  end type syncyte_store_sampling_t

  !> Counters of a worker since its creation.
  type, bind(C) :: syncyte_store_worker_info_t
    ! sizeof(syncyte_store_worker_info_t)
    integer(c_size_t) :: struct_size = 88_c_size_t
    ! number of the worker
    integer(c_int64_t) :: number = 0_c_int64_t
    ! as store_worker_clock()
    integer(c_int64_t) :: clock = 0_c_int64_t
    ! by all pulls; a key that repeats counts each time, of pull_unique once
    integer(c_int64_t) :: pulled_keys = 0_c_int64_t
    ! by push, and distinct ones by push_unique
    integer(c_int64_t) :: pushed_keys = 0_c_int64_t
    ! by set
    integer(c_int64_t) :: set_keys = 0_c_int64_t
    ! by localize
    integer(c_int64_t) :: localized_keys = 0_c_int64_t
    ! by intent and prepare_sample
    integer(c_int64_t) :: intended_keys = 0_c_int64_t
    ! intended keys whose window has not ended
    integer(c_int64_t) :: active_intents = 0_c_int64_t
    ! samples that have keys left
    integer(c_int64_t) :: prepared_samples = 0_c_int64_t
    ! of pulled, pushed and set keys, those that were asked for at their home ranks
    integer(c_int64_t) :: remote_keys = 0_c_int64_t
  end type syncyte_store_worker_info_t

  interface

    !> Makes a store of zeros. Collective; facts: dtype, num_keys, lengths_length, lengths, homes, intents,
    !> options->name.
    ! comm [in]: its ranks
    ! dtype [in]: SYNCYTE_FLOAT32
    ! num_keys [in]: 1 or more
    ! lengths_length [in]: 1 if all keys have the same number of values; otherwise num_keys
    ! lengths [in]: number of values, 1 or more, of all keys or of each
    ! options [in]: null for defaults
    ! store [out]: the store
    ! Returns: SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_UNSUPPORTED (another dtype; on
    ! several nodes: a length of more than 65534, or no fabric between them, for the reason that the message names),
    ! SYNCYTE_ERR_MEMORY (more than the node has), SYNCYTE_ERR_MISMATCH.
    function syncyte_store_create(comm, dtype, num_keys, lengths_length, lengths, options, store) bind(C, &
        name="syncyte_store_create") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: num_keys
      integer(c_int64_t), value :: lengths_length
      integer(c_int64_t), intent(in) :: lengths(*)
      type(syncyte_store_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: store
      integer(c_int32_t) :: answer
    end function syncyte_store_create

    !> Adds a reference. Local, thread-safe, without MPI; works after finalize.
    ! store [in]: a store
    function syncyte_store_retain(store) bind(C, name="syncyte_store_retain") result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int32_t) :: answer
    end function syncyte_store_retain

    !> Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a collective
    !> point once all ranks have dropped the store; its workers hold references of their own.
    ! store [in]: a store
    function syncyte_store_release(store) bind(C, name="syncyte_store_release") result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int32_t) :: answer
    end function syncyte_store_release

    !> Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_store_release().
    ! store [in,out]: a store
    function syncyte_store_destroy(store) bind(C, name="syncyte_store_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: store
      integer(c_int32_t) :: answer
    end function syncyte_store_destroy

    !> Returns the number of keys. Local.
    ! store [in]: a store
    ! num_keys [out]: as given to store_create()
    function syncyte_store_keys(store, num_keys) bind(C, name="syncyte_store_keys") result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int64_t), intent(inout) :: num_keys
      integer(c_int32_t) :: answer
    end function syncyte_store_keys

    !> Returns the number of values of each key. Local.
    ! store [in]: a store
    ! count [in]: number of keys
    ! keys [in]: keys
    ! lengths [out]: number of values of each
    ! Returns: SYNCYTE_ERR_INDEX, naming key and position.
    function syncyte_store_lengths(store, count, keys, lengths) bind(C, name="syncyte_store_lengths") &
        result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: keys(*)
      integer(c_int64_t), intent(inout) :: lengths(*)
      integer(c_int32_t) :: answer
    end function syncyte_store_lengths

    !> Returns the home ranks of keys. Local.
    ! store [in]: a store
    ! count [in]: number of keys
    ! keys [in]: keys
    ! ranks [out]: the rank that knows where each key's values are; the same for ever
    ! Returns: SYNCYTE_ERR_INDEX, naming key and position.
    function syncyte_store_owner(store, count, keys, ranks) bind(C, name="syncyte_store_owner") result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: keys(*)
      integer(c_int32_t), intent(inout) :: ranks(*)
      integer(c_int32_t) :: answer
    end function syncyte_store_owner

    !> Tells which keys are local: their values are at this node now. Local.
    ! store [in]: a store
    ! count [in]: number of keys
    ! keys [in]: keys
    ! flags [out]: 1, or 0, for each key
    ! Returns: SYNCYTE_ERR_INDEX, naming key and position.
    function syncyte_store_is_local(store, count, keys, flags) bind(C, name="syncyte_store_is_local") &
        result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: keys(*)
      integer(c_int32_t), intent(inout) :: flags(*)
      integer(c_int32_t) :: answer
    end function syncyte_store_is_local

    !> Asks home ranks where the values of keys are now; no other rank has to call it.
    ! store [in]: a store
    ! count [in]: number of keys
    ! keys [in]: keys
    ! ranks [out]: for each key its home rank, or the lowest rank of the node that has localized it
    ! Returns: SYNCYTE_ERR_INDEX, naming key and position; SYNCYTE_ERR_PEER_DIED (dead home rank), SYNCYTE_ERR_IO.
    function syncyte_store_locate(store, count, keys, ranks) bind(C, name="syncyte_store_locate") result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: keys(*)
      integer(c_int32_t), intent(inout) :: ranks(*)
      integer(c_int32_t) :: answer
    end function syncyte_store_locate

    !> Gives keys their homes' last values, if they were lost with the node to which they had moved: those that they
    !> had when they left their homes. Adds and sets at that node are lost. Until then, or until a set, operations
    !> on such a key return SYNCYTE_ERR_PEER_DIED. No other rank has to call it.
    ! store [in]: a store
    ! count [in]: number of keys
    ! keys [in]: keys
    ! flags [out]: 1 for each key that was lost, 0 for others, which stay as they are
    ! Returns: as locate.
    function syncyte_store_adopt_last(store, count, keys, flags) bind(C, name="syncyte_store_adopt_last") &
        result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: keys(*)
      integer(c_int32_t), intent(inout) :: flags(*)
      integer(c_int32_t) :: answer
    end function syncyte_store_adopt_last

    !> Sets the sampling options of this process's workers; prepared samples keep theirs. Local.
    ! store [in]: a store
    ! options [in]: initialized with SYNCYTE_STORE_SAMPLING_INIT
    ! Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (a shared set without replacement).
    function syncyte_store_set_sampling(store, options) bind(C, name="syncyte_store_set_sampling") &
        result(answer)
      import
      type(c_ptr), value :: store
      type(syncyte_store_sampling_t), intent(in) :: options
      integer(c_int32_t) :: answer
    end function syncyte_store_set_sampling

    !> Synchronizes the store: after it, all ranks see all earlier writes of all ranks that were waited for.
    !> Collective, called by one thread of each process; also frees objects that all ranks have dropped.
    ! store [in]: a store
    function syncyte_store_sync(store) bind(C, name="syncyte_store_sync") result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int32_t) :: answer
    end function syncyte_store_sync

    !> Makes a worker. Local. Any thread may use it.
    ! store [in]: a store
    ! number [in]: 0 to workers - 1 (options of store_create()); no other live worker of this process may have it
    ! worker [out]: the worker
    ! Returns: SYNCYTE_ERR_ARGUMENT.
    function syncyte_store_worker_create(store, number, worker) bind(C, name="syncyte_store_worker_create") &
        result(answer)
      import
      type(c_ptr), value :: store
      integer(c_int32_t), value :: number
      type(c_ptr), intent(inout) :: worker
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_create

    !> Adds a reference. Local, thread-safe, without MPI; works after finalize.
    ! worker [in]: a worker
    function syncyte_store_worker_retain(worker) bind(C, name="syncyte_store_worker_retain") result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_retain

    !> Drops a reference. Local, thread-safe, without MPI; works after finalize. The last release ends the worker:
    !> barriers of its process no longer wait for it. Operations in flight continue: their requests stay valid.
    ! worker [in]: a worker
    function syncyte_store_worker_release(worker) bind(C, name="syncyte_store_worker_release") result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_release

    !> Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_store_worker_release().
    ! worker [in,out]: a worker
    function syncyte_store_worker_destroy(worker) bind(C, name="syncyte_store_worker_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: worker
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_destroy

    !> Reads the values of keys, concatenated in the order of the keys. A forked child may call it if all keys are
    !> local.
    ! worker [in]: a worker
    ! keys [in]: int64, contiguous, any number of dimensions
    ! values [out]: float32, contiguous, as many as the keys have
    ! Returns: SYNCYTE_ERR_INDEX (names the first key that is out of range and its position), SYNCYTE_ERR_TYPE,
    ! SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT (keys lie in the memory of values), SYNCYTE_ERR_UNSUPPORTED (device
    ! memory): nothing was written. SYNCYTE_ERR_PEER_DIED (damaged key, dead home rank), SYNCYTE_ERR_IO (no
    ! connection to a home rank).
    function syncyte_store_worker_pull(worker, keys, values) bind(C, name="syncyte_store_worker_pull") &
        result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_pull

    !> Starts syncyte_store_worker_pull(), as the head of syncyte/store.h says.
    ! worker [in]: a worker; it may be destroyed before the request has ended
    ! keys [in]: int64, contiguous, any number of dimensions; may be re-used on return
    ! values [out]: float32, contiguous, as many as the keys have; may not be read until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as store_worker_pull, for errors that this rank finds; test and wait return the others.
    function syncyte_store_worker_ipull(worker, keys, values, request) bind(C, &
        name="syncyte_store_worker_ipull") result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_ipull

    !> Adds to the values of keys; a key that repeats is added to several times. Each value is added exactly once.
    ! worker [in]: a worker
    ! keys [in]: int64, contiguous
    ! values [in]: float32, contiguous, as many as the keys have
    ! Returns: as pull.
    function syncyte_store_worker_push(worker, keys, values) bind(C, name="syncyte_store_worker_push") &
        result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_push

    !> Starts syncyte_store_worker_push(), as the head of syncyte/store.h says.
    ! worker [in]: a worker; it may be destroyed before the request has ended
    ! keys [in]: int64, contiguous; may be re-used on return
    ! values [in]: float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as store_worker_push, for errors that this rank finds; test and wait return the others.
    function syncyte_store_worker_ipush(worker, keys, values, request) bind(C, &
        name="syncyte_store_worker_ipush") result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_ipush

    !> Replaces the values of keys; if a key repeats, its last values stay. Repairs damaged keys.
    ! worker [in]: a worker
    ! keys [in]: int64, contiguous
    ! values [in]: float32, contiguous, as many as the keys have
    ! Returns: as pull, except SYNCYTE_ERR_PEER_DIED for a damaged key.
    function syncyte_store_worker_set(worker, keys, values) bind(C, name="syncyte_store_worker_set") &
        result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_set

    !> Starts syncyte_store_worker_set(), as the head of syncyte/store.h says.
    ! worker [in]: a worker; it may be destroyed before the request has ended
    ! keys [in]: int64, contiguous; may be re-used on return
    ! values [in]: float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as store_worker_set, for errors that this rank finds; test and wait return the others.
    function syncyte_store_worker_iset(worker, keys, values, request) bind(C, name="syncyte_store_worker_iset") &
        result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_iset

    !> Reads the values of keys if all of them are local; on one node they always are. Local, without requests.
    ! worker [in]: a worker
    ! keys [in]: int64, contiguous
    ! values [out]: float32, contiguous, as many as the keys have; unchanged if a key is not local
    ! is_local [out]: 1, or 0 if a key is not local
    ! Returns: as pull.
    function syncyte_store_worker_pull_if_local(worker, keys, values, is_local) bind(C, &
        name="syncyte_store_worker_pull_if_local") result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      integer(c_int32_t), intent(inout) :: is_local
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_pull_if_local

    !> Reads the values of each distinct key of a list once: key i of the list has the values of distinct key
    !> inverse[i]. Distinct keys are in the order of their first appearance. Arrays are written up to the distinct
    !> keys that there are; the rest is unchanged.
    ! worker [in]: a worker
    ! keys [in]: int64, contiguous, any number of dimensions
    ! distinct [out]: int64, contiguous, room for as many keys as the list has
    ! inverse [out]: int64, contiguous, as many elements as the list has keys
    ! values [out]: float32, contiguous, room for as many as the list's keys have; concatenated in the order of the
    ! distinct keys
    ! count [out]: number of distinct keys
    ! Returns: as pull; SYNCYTE_ERR_ARGUMENT also if two of the arrays share memory.
    function syncyte_store_worker_pull_unique(worker, keys, distinct, inverse, values, count) bind(C, &
        name="syncyte_store_worker_pull_unique") result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: distinct
      type(syncyte_buffer_t), intent(in) :: inverse
      type(syncyte_buffer_t), intent(in) :: values
      integer(c_int64_t), intent(inout) :: count
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_pull_unique

    !> Starts syncyte_store_worker_pull_unique(), as the head of syncyte/store.h says.
    ! worker [in]: a worker; it may be destroyed before the request has ended
    ! keys [in]: int64, contiguous, any number of dimensions; may be re-used on return
    ! distinct [out]: int64, contiguous, room for as many keys as the list has; complete on return
    ! inverse [out]: int64, contiguous, as many elements as the list has keys; complete on return
    ! values [out]: float32, contiguous, room for as many as the list's keys have; concatenated in the order of the
    ! distinct keys; may not be read until the request has ended
    ! count [out]: number of distinct keys; complete on return
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as store_worker_pull_unique, for errors that this rank finds; test and wait return the others.
    function syncyte_store_worker_ipull_unique(worker, keys, distinct, inverse, values, count, request) bind(C, &
        name="syncyte_store_worker_ipull_unique") result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: distinct
      type(syncyte_buffer_t), intent(in) :: inverse
      type(syncyte_buffer_t), intent(in) :: values
      integer(c_int64_t), intent(inout) :: count
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_ipull_unique

    !> Adds to the values of keys, as push, and sends each distinct key once: first the values of a key that repeats
    !> are added to each other, in the order of the list. So rounding may differ from that of push.
    ! worker [in]: a worker
    ! keys [in]: int64, contiguous
    ! values [in]: float32, contiguous, as many as the keys have
    ! Returns: as pull.
    function syncyte_store_worker_push_unique(worker, keys, values) bind(C, &
        name="syncyte_store_worker_push_unique") result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_push_unique

    !> Starts syncyte_store_worker_push_unique(), as the head of syncyte/store.h says.
    ! worker [in]: a worker; it may be destroyed before the request has ended
    ! keys [in]: int64, contiguous; may be re-used on return
    ! values [in]: float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as store_worker_push_unique, for errors that this rank finds; test and wait return the others.
    function syncyte_store_worker_ipush_unique(worker, keys, values, request) bind(C, &
        name="syncyte_store_worker_ipush_unique") result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_ipush_unique

    !> Starts a pull whose values wait in the worker: its next pull, ipull, pull_unique, or ipull_unique of exactly
    !> this list of keys takes them; so does pull_if_local, if they have come. They have the worker's own pushes and
    !> sets up to that pull, also started ones. They may miss writes of other workers after the prefetch, unless a
    !> store_worker_barrier() or store_sync() follows those: it drops the prefetches that began before. Nothing is
    !> prefetched if all keys are local, so always on one node. A worker keeps SYNCYTE_STORE_MAX_PREFETCHES
    !> prefetches, each with its values; a further one drops the oldest. Of several prefetches of one list a pull
    !> takes the oldest. A pull whose prefetch was dropped or has failed reads the values as if there had been none;
    !> an ipull that takes a prefetch in flight tells its error. Prefetches are also dropped by a push or set that
    !> fails, or if several threads start pushes, sets and prefetches of the worker at the same time. Local; it does
    !> not wait.
    ! worker [in]: a worker
    ! keys [in]: int64, contiguous; may be re-used on return
    ! Returns: as pull, for errors of arguments.
    function syncyte_store_worker_prefetch(worker, keys) bind(C, name="syncyte_store_worker_prefetch") &
        result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_prefetch

    !> Drops the worker's prefetches, so that its next pulls read the values. Local.
    ! worker [in]: a worker
    function syncyte_store_worker_drop_prefetches(worker) bind(C, name="syncyte_store_worker_drop_prefetches") &
        result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_drop_prefetches

    !> Moves the values of keys to this node, so that they are local, until another node localizes them or memory
    !> for other keys is needed (store_options_t::foreign_bytes: those that came first leave first). A key that
    !> cannot come stays where it is, and is used from there: it is damaged, a rank has died, memory is used up, or
    !> SYNCYTE_STORE_MOVES is off. On return, or at the end of the request, each key is here or cannot come. Other
    !> operations go on meanwhile, also on these keys; the order of a worker's operations is kept.
    ! worker [in]: a worker
    ! keys [in]: int64, contiguous
    ! Returns: as pull.
    function syncyte_store_worker_localize(worker, keys) bind(C, name="syncyte_store_worker_localize") &
        result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_localize

    !> Starts syncyte_store_worker_localize(), as the head of syncyte/store.h says.
    ! worker [in]: a worker; it may be destroyed before the request has ended
    ! keys [in]: int64, contiguous; may be re-used on return
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as store_worker_localize, for errors that this rank finds; test and wait return the others.
    function syncyte_store_worker_ilocalize(worker, keys, request) bind(C, &
        name="syncyte_store_worker_ilocalize") result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_ilocalize

    !> Signals that this worker will use keys while its clock is in [start, end): they come to this node shortly
    !> before, or copies of them if workers of other nodes intend to use them too (store_options_t::intents). A copy
    !> goes when no window of this node's workers needs it. A key for which there is no memory is used where it is.
    !> Local; waits for nothing.
    ! worker [in]: a worker
    ! keys [in]: int64, contiguous
    ! start [in]: 0 or more
    ! end [in]: more than start; 0: start + 1
    ! Returns: as pull; SYNCYTE_ERR_ARGUMENT.
    function syncyte_store_worker_intent(worker, keys, start, end) bind(C, name="syncyte_store_worker_intent") &
        result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_buffer_t), intent(in) :: keys
      integer(c_int64_t), value :: start
      integer(c_int64_t), value :: end
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_intent

    !> Adds 1 to the worker's clock, which begins at 0. Local.
    ! worker [in]: a worker
    ! clock [out]: its new value
    function syncyte_store_worker_advance_clock(worker, clock) bind(C, &
        name="syncyte_store_worker_advance_clock") result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int64_t), intent(inout), optional :: clock
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_advance_clock

    !> Returns the worker's clock. Local.
    ! worker [in]: a worker
    ! clock [out]: 0 or more
    function syncyte_store_worker_clock(worker, clock) bind(C, name="syncyte_store_worker_clock") result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int64_t), intent(inout) :: clock
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_clock

    !> Prepares a sample: this worker will pull its keys while its clock is in [start, end). Local.
    ! worker [in]: a worker
    ! count [in]: number of keys, 0 to 2^40
    ! start [in]: 0 or more
    ! end [in]: more than start; 0: start + 1
    ! sample [out]: the sample's number, 1 or more, for store_worker_pull_sample()
    ! Returns: SYNCYTE_ERR_ARGUMENT (store_set_sampling() was not called; more keys than there are, without
    ! replacement).
    function syncyte_store_worker_prepare_sample(worker, count, start, end, sample) bind(C, &
        name="syncyte_store_worker_prepare_sample") result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int64_t), value :: count
      integer(c_int64_t), value :: start
      integer(c_int64_t), value :: end
      integer(c_int64_t), intent(inout) :: sample
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_prepare_sample

    !> Reads the next keys of a sample and their values. A sample ends when its last key was pulled. The keys are
    !> complete on return, the values as in pull.
    ! worker [in]: the worker that has prepared it
    ! sample [in]: its number
    ! keys [out]: int64, contiguous, at most as many as the sample has left
    ! values [out]: float32, contiguous, as many as the keys have
    ! Returns: SYNCYTE_ERR_ARGUMENT (no such sample, or too few keys left), and as pull.
    function syncyte_store_worker_pull_sample(worker, sample, keys, values) bind(C, &
        name="syncyte_store_worker_pull_sample") result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int64_t), value :: sample
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_pull_sample

    !> Starts syncyte_store_worker_pull_sample(), as the head of syncyte/store.h says.
    ! worker [in]: the worker that has prepared it; it may be destroyed before the request has ended
    ! sample [in]: its number
    ! keys [out]: int64, contiguous, at most as many as the sample has left; complete on return
    ! values [out]: float32, contiguous, as many as the keys have; may not be read until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as store_worker_pull_sample, for errors that this rank finds; test and wait return the others.
    function syncyte_store_worker_ipull_sample(worker, sample, keys, values, request) bind(C, &
        name="syncyte_store_worker_ipull_sample") result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int64_t), value :: sample
      type(syncyte_buffer_t), intent(in) :: keys
      type(syncyte_buffer_t), intent(in) :: values
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_ipull_sample

    !> Ends a sample before all its keys were pulled. Local.
    ! worker [in]: the worker that has prepared it
    ! sample [in]: its number; one that has ended is ignored
    function syncyte_store_worker_finish_sample(worker, sample) bind(C, &
        name="syncyte_store_worker_finish_sample") result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int64_t), value :: sample
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_finish_sample

    !> Waits until all operations in flight of this worker have ended: its writes are where the keys are, and keys
    !> of intents for its present clock are here or cannot come. Errors of operations stay for their requests.
    !> Local.
    ! worker [in]: a worker
    function syncyte_store_worker_flush(worker) bind(C, name="syncyte_store_worker_flush") result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_flush

    !> Barrier of all workers of all ranks: after it, all workers see all earlier writes. It waits first for the
    !> worker's operations in flight, whose errors stay for their requests. Collective: each worker calls it, in a
    !> thread of its own if a process has several. One worker enters the collective for its process, so MPI's thread
    !> level must then be serialized or above. Workers that were destroyed are not waited for.
    ! worker [in]: a worker
    ! Returns: SYNCYTE_ERR_MISMATCH on all workers of all ranks if some call another collective function;
    ! SYNCYTE_ERR_BUSY if another thread is in a collective call of the same worker.
    function syncyte_store_worker_barrier(worker) bind(C, name="syncyte_store_worker_barrier") result(answer)
      import
      type(c_ptr), value :: worker
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_barrier

    !> Returns the counters of a worker. Local.
    ! worker [in]: a worker
    ! info [in,out]: struct_size is set by the caller
    function syncyte_store_worker_describe(worker, info) bind(C, name="syncyte_store_worker_describe") &
        result(answer)
      import
      type(c_ptr), value :: worker
      type(syncyte_store_worker_info_t), intent(inout) :: info
      integer(c_int32_t) :: answer
    end function syncyte_store_worker_describe
  end interface
end module syncyte_store_c
