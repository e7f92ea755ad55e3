! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/stores.methods by bindings/generate; do not edit.
!> The parameter store: type(syncyte_store), a vector of real(4) under each key 0 to num_keys - 1, and
!> type(syncyte_store_worker), by which a thread pulls, pushes (adds) and sets values.
!>
!> Keys are integers of any kind, and the same in all languages: they count from 0, as ranks do. Values are contiguous
!> real(4), concatenated in the order of the keys, for example (values of a key, keys). Arrays of values of started
!> operations (ipull and so on) must stay until the request has ended: give them the asynchronous or target attribute,
!> and pass whole arrays or contiguous sections, not expressions. The C functions of the same names document the errors.
module syncyte_stores
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_comms, only: syncyte_comm
  use syncyte_requests, only: syncyte_request
  implicit none
  private

  !> A parameter store. A reference: assignment copies the reference; destroy drops one.
  type, public :: syncyte_store
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_store_t, for calls of syncyte_c
  contains
    procedure :: create => store_create
    procedure :: destroy => store_destroy
    procedure :: is_null => store_is_null
    procedure :: keys => store_keys
    procedure :: lengths => store_lengths
    procedure :: owner => store_owner
    procedure :: is_local => store_is_local
    procedure :: locate => store_locate
    procedure :: adopt_last => store_adopt_last
    procedure :: set_sampling => store_set_sampling
    procedure :: sync => store_sync
    procedure :: worker => store_worker
  end type syncyte_store

  !> A user of a store within a process, usually one per thread. A reference, as syncyte_store is.
  type, public :: syncyte_store_worker
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_store_worker_t, for calls of syncyte_c
  contains
    procedure :: destroy => worker_destroy
    procedure :: is_null => worker_is_null
    procedure :: pull => worker_pull
    procedure :: ipull => worker_ipull
    procedure :: push => worker_push
    procedure :: ipush => worker_ipush
    procedure :: set => worker_set
    procedure :: iset => worker_iset
    procedure :: pull_if_local => worker_pull_if_local
    procedure :: pull_unique => worker_pull_unique
    procedure :: ipull_unique => worker_ipull_unique
    procedure :: push_unique => worker_push_unique
    procedure :: ipush_unique => worker_ipush_unique
    procedure :: prefetch => worker_prefetch
    procedure :: drop_prefetches => worker_drop_prefetches
    procedure :: localize => worker_localize
    procedure :: ilocalize => worker_ilocalize
    procedure :: intent => worker_intent
    procedure :: advance_clock => worker_advance_clock
    procedure :: info => worker_info
    procedure :: clock => worker_clock
    procedure :: prepare_sample => worker_prepare_sample
    procedure :: pull_sample => worker_pull_sample
    procedure :: ipull_sample => worker_ipull_sample
    procedure :: finish_sample => worker_finish_sample
    procedure :: flush => worker_flush
    procedure :: barrier => worker_barrier
  end type syncyte_store_worker

contains

  !> Makes a store of zeros. Collective.
  subroutine store_create(self, comm, num_keys, lengths, name, workers, homes, label, foreign_bytes, intents, &
      stat, errmsg)
    class(syncyte_store), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    type(*), dimension(..), intent(in), target :: num_keys  !! any integer: 1 or more
    ! any integers: number of values, 1 or more, of all keys (a scalar), or of each
    type(*), dimension(..), intent(in), target :: lengths
    character(len=*), intent(in), optional :: name  !! may be absent, which is a name of its own; equal on all ranks
    integer, intent(in), optional :: workers  !! number of this process's workers, 1 to 65536; ranks may differ
    integer, intent(in), optional :: homes  !! home ranks of the keys; equal on all ranks
    character(len=*), intent(in), optional :: label  !! name for messages, if not absent; ranks may differ
    ! memory on this node for keys of other nodes, as its lowest rank gives it; -1: a quarter of the node's values,
    ! at least 1 MiB, at most an eighth of the memory that is free
    type(*), dimension(..), intent(in), target, optional :: foreign_bytes
    integer, intent(in), optional :: intents  !! what intents do; equal on all ranks
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: num_keys_c
    integer(c_int64_t), allocatable :: lengths_c(:)
    character(kind=c_char, len=:), allocatable, target :: name_c
    character(kind=c_char, len=:), allocatable, target :: label_c
    integer(c_int64_t) :: foreign_bytes_c
    type(syncyte_store_options_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(num_keys)
    call syncyte_set_span(lengths)
    call syncyte_set_span(foreign_bytes)
    local = fortran_integer(num_keys, "num_keys"//c_null_char, num_keys_c)
    allocate (lengths_c(fortran_count(lengths)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(lengths, "lengths"//c_null_char, 0_c_int32_t, &
        lengths_c)
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(workers)) options%workers = int(workers, c_int32_t)
    if (present(homes)) options%homes = int(homes, c_int32_t)
    call to_c(label, label_c)
    if (allocated(label_c)) options%label = c_loc(label_c)
    if (present(foreign_bytes) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(foreign_bytes, &
        "foreign_bytes"//c_null_char, foreign_bytes_c)
    if (present(foreign_bytes)) options%foreign_bytes = foreign_bytes_c
    if (present(intents)) options%intents = int(intents, c_int32_t)
    made = c_null_ptr
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm%handle, local, "store_create"//c_null_char)
    else
      status = syncyte_store_create(comm%handle, SYNCYTE_FLOAT32, num_keys_c, size(lengths_c, kind=c_int64_t), &
          lengths_c, options, made)
    end if
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_store_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine store_create

  !> Drops the reference; a null reference is ignored. Memory is freed at a collective point. Local.
  subroutine store_destroy(self, stat, errmsg)
    class(syncyte_store), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_store_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine store_destroy

  !> Whether the handle is null. Local.
  pure logical function store_is_null(self)
    class(syncyte_store), intent(in) :: self

    store_is_null = .not. c_associated(self%handle)
  end function store_is_null

  !> Number of keys; 0 on an error. Local.
  function store_keys(self, stat, errmsg) result(answer)
    class(syncyte_store), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    integer(c_int64_t) :: num_keys_c
    integer(c_int32_t) :: status

    num_keys_c = 0
    status = syncyte_store_keys(self%handle, num_keys_c)
    answer = int(num_keys_c, c_int64_t)
    call finish(status, stat, errmsg)
  end function store_keys

  !> Number of values of each key. Local.
  subroutine store_lengths(self, keys, lengths, stat, errmsg)
    class(syncyte_store), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind, from 0
    type(*), dimension(..), intent(inout), target :: lengths  !! integer(8), contiguous, as many elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    call syncyte_set_span(keys)
    call syncyte_set_span(lengths)
    status = fortran_store_lengths(self%handle, keys, lengths)
    call finish(status, stat, errmsg)
  end subroutine store_lengths

  !> Home ranks of keys. Local.
  subroutine store_owner(self, keys, ranks, stat, errmsg)
    class(syncyte_store), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind, from 0
    type(*), dimension(..), intent(inout), target :: ranks  !! integer(4), contiguous, as many elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    call syncyte_set_span(keys)
    call syncyte_set_span(ranks)
    status = fortran_store_owner(self%handle, keys, ranks)
    call finish(status, stat, errmsg)
  end subroutine store_owner

  !> Which keys are local: 1 if the values are at this node now, otherwise 0. Local.
  subroutine store_is_local(self, keys, flags, stat, errmsg)
    class(syncyte_store), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind, from 0
    type(*), dimension(..), intent(inout), target :: flags  !! integer(4), contiguous, as many elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    call syncyte_set_span(keys)
    call syncyte_set_span(flags)
    status = fortran_store_is_local(self%handle, keys, flags)
    call finish(status, stat, errmsg)
  end subroutine store_is_local

  !> Ranks at whose node the values of keys are now; asks their home ranks.
  subroutine store_locate(self, keys, ranks, stat, errmsg)
    class(syncyte_store), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind, from 0
    type(*), dimension(..), intent(inout), target :: ranks  !! integer(4), contiguous, as many elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    call syncyte_set_span(keys)
    call syncyte_set_span(ranks)
    status = fortran_store_locate(self%handle, keys, ranks)
    call finish(status, stat, errmsg)
  end subroutine store_locate

  !> Gives keys that were lost with the node to which they had moved their homes' last values; flags: 1 for each such key.
  subroutine store_adopt_last(self, keys, flags, stat, errmsg)
    class(syncyte_store), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind, from 0
    type(*), dimension(..), intent(inout), target :: flags  !! integer(4), contiguous, as many elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    call syncyte_set_span(keys)
    call syncyte_set_span(flags)
    status = fortran_store_adopt_last(self%handle, keys, flags)
    call finish(status, stat, errmsg)
  end subroutine store_adopt_last

  !> Sets the sampling options of this process's workers; prepared samples keep theirs. Local.
  subroutine store_set_sampling(self, max_key, min_key, scheme, distribution, with_replacement, shared_keys, &
      reuse, seed, stat, errmsg)
    class(syncyte_store), intent(in) :: self
    type(*), dimension(..), intent(in), target :: max_key  !! end of the range: its last key + 1
    type(*), dimension(..), intent(in), target, optional :: min_key  !! first key of the range
    integer, intent(in), optional :: scheme  !! when keys are drawn
    integer, intent(in), optional :: distribution  !! distribution of the keys
    logical, intent(in), optional :: with_replacement  !! false: no key repeats in a sample; not with a shared set
    type(*), dimension(..), intent(in), target, optional :: shared_keys  !! number of keys in the shared set, 1 to 2^28
    type(*), dimension(..), intent(in), target, optional :: reuse  !! how often each key of a shared set is used
    type(*), dimension(..), intent(in), target, optional :: seed  !! seed; rank and worker number are mixed in
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: max_key_c
    integer(c_int64_t) :: min_key_c
    integer(c_int64_t) :: shared_keys_c
    integer(c_int64_t) :: reuse_c
    integer(c_int64_t) :: seed_c
    type(syncyte_store_sampling_t) :: options
    integer(c_int32_t) :: status, local

    call syncyte_set_span(max_key)
    call syncyte_set_span(min_key)
    call syncyte_set_span(shared_keys)
    call syncyte_set_span(reuse)
    call syncyte_set_span(seed)
    local = fortran_integer(max_key, "max_key"//c_null_char, max_key_c)
    options%max_key = max_key_c
    if (present(min_key) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(min_key, &
        "min_key"//c_null_char, min_key_c)
    if (present(min_key)) options%min_key = min_key_c
    if (present(scheme)) options%scheme = int(scheme, c_int32_t)
    if (present(distribution)) options%distribution = int(distribution, c_int32_t)
    if (present(with_replacement)) options%with_replacement = merge(1_c_int32_t, 0_c_int32_t, with_replacement)
    if (present(shared_keys) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(shared_keys, &
        "shared_keys"//c_null_char, shared_keys_c)
    if (present(shared_keys)) options%shared_keys = shared_keys_c
    if (present(reuse) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(reuse, "reuse"//c_null_char, &
        reuse_c)
    if (present(reuse)) options%reuse = reuse_c
    if (present(seed) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(seed, "seed"//c_null_char, seed_c)
    if (present(seed)) options%seed = seed_c
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_set_sampling"//c_null_char)
    else
      status = syncyte_store_set_sampling(self%handle, options)
    end if
    call finish(status, stat, errmsg)
  end subroutine store_set_sampling

  !> After it, all ranks see all earlier writes that were waited for. Collective.
  subroutine store_sync(self, stat, errmsg)
    class(syncyte_store), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_store_sync(self%handle)
    call finish(status, stat, errmsg)
  end subroutine store_sync

  !> Makes a worker. Local. Any thread may use it.
  subroutine store_worker(self, worker, number, stat, errmsg)
    class(syncyte_store), intent(in) :: self
    type(syncyte_store_worker), intent(inout) :: worker
    integer, intent(in), optional :: number  !! 0 to workers - 1; no other live worker of this process may have it
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: number_c
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    number_c = 0
    if (present(number)) number_c = int(number, c_int32_t)
    status = syncyte_store_worker_create(self%handle, number_c, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(worker%handle)) ignored = syncyte_store_worker_destroy(worker%handle)
      worker%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine store_worker

  !> Drops the reference; the last one ends the worker. A null reference is ignored. Local.
  subroutine worker_destroy(self, stat, errmsg)
    class(syncyte_store_worker), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_store_worker_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine worker_destroy

  !> Whether the handle is null. Local.
  pure logical function worker_is_null(self)
    class(syncyte_store_worker), intent(in) :: self

    worker_is_null = .not. c_associated(self%handle)
  end function worker_is_null

  !> Reads the values of keys.
  subroutine worker_pull(self, keys, values, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    type(*), dimension(..), intent(inout), target :: values  !! float32, contiguous, as many as the keys have
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_pull"//c_null_char)
    else
      status = syncyte_store_worker_pull(self%handle, keys_buffer, values_buffer)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_pull

  !> Starts pull; values may not be read until the request has ended. Local.
  subroutine worker_ipull(self, keys, values, request, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    ! float32, contiguous, as many as the keys have; may not be read until the request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: values
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_ipull"//c_null_char)
    else
      status = syncyte_store_worker_ipull(self%handle, keys_buffer, values_buffer, request%handle)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_ipull

  !> Adds to the values of keys; a key that repeats is added to several times.
  subroutine worker_push(self, keys, values, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    type(*), dimension(..), intent(in), target :: values  !! float32, contiguous, as many as the keys have
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    values_buffer%read_only = 1_c_int32_t
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_push"//c_null_char)
    else
      status = syncyte_store_worker_push(self%handle, keys_buffer, values_buffer)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_push

  !> Starts push; values must stay unchanged until the request has ended. Local.
  subroutine worker_ipush(self, keys, values, request, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    ! float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: values
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    values_buffer%read_only = 1_c_int32_t
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_ipush"//c_null_char)
    else
      status = syncyte_store_worker_ipush(self%handle, keys_buffer, values_buffer, request%handle)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_ipush

  !> Replaces the values of keys; if a key repeats, its last values stay.
  subroutine worker_set(self, keys, values, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    type(*), dimension(..), intent(in), target :: values  !! float32, contiguous, as many as the keys have
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    values_buffer%read_only = 1_c_int32_t
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_set"//c_null_char)
    else
      status = syncyte_store_worker_set(self%handle, keys_buffer, values_buffer)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_set

  !> Starts set; values must stay unchanged until the request has ended. Local.
  subroutine worker_iset(self, keys, values, request, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    ! float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: values
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    values_buffer%read_only = 1_c_int32_t
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_iset"//c_null_char)
    else
      status = syncyte_store_worker_iset(self%handle, keys_buffer, values_buffer, request%handle)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_iset

  !> Reads the values of keys if all of them are local. Local.
  subroutine worker_pull_if_local(self, keys, values, is_local, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    ! float32, contiguous, as many as the keys have; unchanged if a key is not local
    type(*), dimension(..), intent(inout), target :: values
    logical, intent(out) :: is_local  !! false: a key is not local, and values is unchanged
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: is_local_c
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    is_local_c = 0
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_pull_if_local"//c_null_char)
    else
      status = syncyte_store_worker_pull_if_local(self%handle, keys_buffer, values_buffer, is_local_c)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    is_local = is_local_c /= 0
    call finish(status, stat, errmsg)
  end subroutine worker_pull_if_local

  !> Reads the values of each distinct key of a list once: distinct(inverse(i)) is key i. count: number of distinct keys.
  subroutine worker_pull_unique(self, keys, distinct, inverse, values, count, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    ! integer(8), contiguous, as many elements as keys, of which count are written
    type(*), dimension(..), intent(inout), target :: distinct
    type(*), dimension(..), intent(inout), target :: inverse  !! integer(8), contiguous, as many elements as keys; from 1
    type(*), dimension(..), intent(inout), target :: values  !! as many as the keys have; those of the distinct keys are written
    type(*), dimension(..), intent(inout), target :: count  !! any integer: number of distinct keys
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: distinct_buffer
    type(syncyte_buffer_t), target :: inverse_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int64_t) :: count_c
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(distinct)
    call syncyte_set_span(inverse)
    call syncyte_set_span(values)
    call syncyte_set_span(count)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(distinct, "distinct"//c_null_char, distinct_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(inverse, "inverse"//c_null_char, inverse_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_pull_unique"//c_null_char)
    else
      status = syncyte_store_worker_pull_unique(self%handle, keys_buffer, distinct_buffer, inverse_buffer, &
          values_buffer, count_c)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(count, "count"//c_null_char, count_c)
    if (status == SYNCYTE_SUCCESS) call count_from_one(inverse_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_pull_unique

  !> Starts pull_unique; values may not be read until the request has ended. Local.
  subroutine worker_ipull_unique(self, keys, distinct, inverse, values, count, request, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    ! integer(8), contiguous, as many elements as keys, of which count are written
    type(*), dimension(..), intent(inout), target :: distinct
    type(*), dimension(..), intent(inout), target :: inverse  !! integer(8), contiguous, as many elements as keys; from 1
    ! as many as the keys have; those of the distinct keys are written
    type(*), dimension(..), intent(inout), target, asynchronous :: values
    type(*), dimension(..), intent(inout), target :: count  !! any integer: number of distinct keys; complete on return
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: distinct_buffer
    type(syncyte_buffer_t), target :: inverse_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int64_t) :: count_c
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(distinct)
    call syncyte_set_span(inverse)
    call syncyte_set_span(values)
    call syncyte_set_span(count)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(distinct, "distinct"//c_null_char, distinct_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(inverse, "inverse"//c_null_char, inverse_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_ipull_unique"//c_null_char)
    else
      status = syncyte_store_worker_ipull_unique(self%handle, keys_buffer, distinct_buffer, inverse_buffer, &
          values_buffer, count_c, request%handle)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(count, "count"//c_null_char, count_c)
    if (status == SYNCYTE_SUCCESS) call count_from_one(inverse_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_ipull_unique

  !> Adds to the values of keys; those of a key that repeats are added to each other first.
  subroutine worker_push_unique(self, keys, values, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    type(*), dimension(..), intent(in), target :: values  !! float32, contiguous, as many as the keys have
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    values_buffer%read_only = 1_c_int32_t
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_push_unique"//c_null_char)
    else
      status = syncyte_store_worker_push_unique(self%handle, keys_buffer, values_buffer)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_push_unique

  !> Starts push_unique; values must stay unchanged until the request has ended. Local.
  subroutine worker_ipush_unique(self, keys, values, request, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    ! float32, contiguous, as many as the keys have; must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: values
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    values_buffer%read_only = 1_c_int32_t
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_ipush_unique"//c_null_char)
    else
      status = syncyte_store_worker_ipush_unique(self%handle, keys_buffer, values_buffer, request%handle)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_ipush_unique

  !> Starts a pull whose values wait for this worker's next pull of this list of keys. Local.
  subroutine worker_prefetch(self, keys, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_prefetch"//c_null_char)
    else
      status = syncyte_store_worker_prefetch(self%handle, keys_buffer)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_prefetch

  !> Drops this worker's prefetches, so that its next pulls read the values. Local.
  subroutine worker_drop_prefetches(self, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_store_worker_drop_prefetches(self%handle)
    call finish(status, stat, errmsg)
  end subroutine worker_drop_prefetches

  !> Moves the values of keys to this node, until another node localizes them or memory for other keys is needed.
  subroutine worker_localize(self, keys, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_localize"//c_null_char)
    else
      status = syncyte_store_worker_localize(self%handle, keys_buffer)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_localize

  !> Starts localize; its arguments may be re-used on return. Local.
  subroutine worker_ilocalize(self, keys, request, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_ilocalize"//c_null_char)
    else
      status = syncyte_store_worker_ilocalize(self%handle, keys_buffer, request%handle)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_ilocalize

  !> Signals that this worker will use keys while its clock is in [start, until); in this version only recorded. Local.
  subroutine worker_intent(self, keys, start, until, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: keys  !! integers of any kind and rank
    type(*), dimension(..), intent(in), target :: start  !! any integer: 0 or more
    type(*), dimension(..), intent(in), target, optional :: until  !! any integer: more than start; absent: start + 1
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: keys_buffer
    integer(c_int64_t) :: start_c
    integer(c_int64_t) :: until_c
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(keys)
    call syncyte_set_span(start)
    call syncyte_set_span(until)
    local = fortran_integers_buffer(keys, "keys"//c_null_char, keys_buffer)
    keys_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(start, "start"//c_null_char, start_c)
    until_c = 0
    if (present(until) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(until, "until"//c_null_char, &
        until_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_intent"//c_null_char)
    else
      status = syncyte_store_worker_intent(self%handle, keys_buffer, start_c, until_c)
    end if
    ignored = fortran_release(keys, 0_c_int32_t, keys_buffer)
    call finish(status, stat, errmsg)
  end subroutine worker_intent

  !> Adds 1 to the worker's clock, which begins at 0. Local.
  subroutine worker_advance_clock(self, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_store_worker_advance_clock(self%handle)
    call finish(status, stat, errmsg)
  end subroutine worker_advance_clock

  !> Counters of the worker since its creation. Local.
  subroutine worker_info(self, number, clock, pulled_keys, pushed_keys, set_keys, localized_keys, intended_keys, &
      active_intents, prepared_samples, remote_keys, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(inout), target, optional :: number  !! any integer: number of the worker
    type(*), dimension(..), intent(inout), target, optional :: clock  !! any integer: as store_worker_clock()
    ! any integer: by all pulls; a key that repeats counts each time, of pull_unique once
    type(*), dimension(..), intent(inout), target, optional :: pulled_keys
    ! any integer: by push, and distinct ones by push_unique
    type(*), dimension(..), intent(inout), target, optional :: pushed_keys
    type(*), dimension(..), intent(inout), target, optional :: set_keys  !! any integer: by set
    type(*), dimension(..), intent(inout), target, optional :: localized_keys  !! any integer: by localize
    type(*), dimension(..), intent(inout), target, optional :: intended_keys  !! any integer: by intent and prepare_sample
    ! any integer: intended keys whose window has not ended
    type(*), dimension(..), intent(inout), target, optional :: active_intents
    type(*), dimension(..), intent(inout), target, optional :: prepared_samples  !! any integer: samples that have keys left
    ! any integer: of pulled, pushed and set keys, those that were asked for at their home ranks
    type(*), dimension(..), intent(inout), target, optional :: remote_keys
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_store_worker_info_t) :: info_c
    integer(c_int32_t) :: status

    call syncyte_set_span(number)
    call syncyte_set_span(clock)
    call syncyte_set_span(pulled_keys)
    call syncyte_set_span(pushed_keys)
    call syncyte_set_span(set_keys)
    call syncyte_set_span(localized_keys)
    call syncyte_set_span(intended_keys)
    call syncyte_set_span(active_intents)
    call syncyte_set_span(prepared_samples)
    call syncyte_set_span(remote_keys)
    status = syncyte_store_worker_describe(self%handle, info_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(number, "number"//c_null_char, info_c%number)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(clock, "clock"//c_null_char, info_c%clock)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(pulled_keys, "pulled_keys"//c_null_char, &
        info_c%pulled_keys)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(pushed_keys, "pushed_keys"//c_null_char, &
        info_c%pushed_keys)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(set_keys, "set_keys"//c_null_char, &
        info_c%set_keys)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(localized_keys, "localized_keys"//c_null_char, &
        info_c%localized_keys)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(intended_keys, "intended_keys"//c_null_char, &
        info_c%intended_keys)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(active_intents, "active_intents"//c_null_char, &
        info_c%active_intents)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(prepared_samples, &
        "prepared_samples"//c_null_char, info_c%prepared_samples)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(remote_keys, "remote_keys"//c_null_char, &
        info_c%remote_keys)
    call finish(status, stat, errmsg)
  end subroutine worker_info

  !> The worker's clock; -1 on an error. Local.
  function worker_clock(self, stat, errmsg) result(answer)
    class(syncyte_store_worker), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    integer(c_int64_t) :: clock_c
    integer(c_int32_t) :: status

    clock_c = -1
    status = syncyte_store_worker_clock(self%handle, clock_c)
    answer = int(clock_c, c_int64_t)
    call finish(status, stat, errmsg)
  end function worker_clock

  !> Prepares a sample of keys, which this worker will pull while its clock is in [start, until). Local.
  subroutine worker_prepare_sample(self, count, start, sample, until, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: count  !! any integer: number of keys, 0 to 2^40
    type(*), dimension(..), intent(in), target :: start  !! any integer: 0 or more
    ! any integer: the sample's number, 1 or more, for store_worker_pull_sample()
    type(*), dimension(..), intent(inout), target :: sample
    type(*), dimension(..), intent(in), target, optional :: until  !! any integer: more than start; absent: start + 1
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: count_c
    integer(c_int64_t) :: start_c
    integer(c_int64_t) :: sample_c
    integer(c_int64_t) :: until_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(count)
    call syncyte_set_span(start)
    call syncyte_set_span(sample)
    call syncyte_set_span(until)
    local = fortran_integer(count, "count"//c_null_char, count_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(start, "start"//c_null_char, start_c)
    until_c = 0
    if (present(until) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(until, "until"//c_null_char, &
        until_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_prepare_sample"//c_null_char)
    else
      status = syncyte_store_worker_prepare_sample(self%handle, count_c, start_c, until_c, sample_c)
    end if
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(sample, "sample"//c_null_char, sample_c)
    call finish(status, stat, errmsg)
  end subroutine worker_prepare_sample

  !> Reads the next keys of a sample, as many as keys has elements, and their values.
  subroutine worker_pull_sample(self, sample, keys, values, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: sample  !! any integer: its number
    type(*), dimension(..), intent(inout), target :: keys  !! integer(8), contiguous
    type(*), dimension(..), intent(inout), target :: values  !! float32, contiguous, as many as the keys have
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: sample_c
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(sample)
    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_buffer(keys, "keys"//c_null_char, keys_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(sample, "sample"//c_null_char, sample_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_pull_sample"//c_null_char)
    else
      status = syncyte_store_worker_pull_sample(self%handle, sample_c, keys_buffer, values_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine worker_pull_sample

  !> Starts pull_sample; values may not be read until the request has ended. Local.
  subroutine worker_ipull_sample(self, sample, keys, values, request, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: sample  !! any integer: its number
    type(*), dimension(..), intent(inout), target :: keys  !! integer(8), contiguous
    ! float32, contiguous, as many as the keys have; may not be read until the request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: values
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: sample_c
    type(syncyte_buffer_t), target :: keys_buffer
    type(syncyte_buffer_t), target :: values_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(sample)
    call syncyte_set_span(keys)
    call syncyte_set_span(values)
    local = fortran_buffer(keys, "keys"//c_null_char, keys_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(values, "values"//c_null_char, values_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(sample, "sample"//c_null_char, sample_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_ipull_sample"//c_null_char)
    else
      status = syncyte_store_worker_ipull_sample(self%handle, sample_c, keys_buffer, values_buffer, &
          request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine worker_ipull_sample

  !> Ends a sample before all its keys were pulled. Local.
  subroutine worker_finish_sample(self, sample, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    type(*), dimension(..), intent(in), target :: sample  !! any integer: its number; one that has ended is ignored
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: sample_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(sample)
    local = fortran_integer(sample, "sample"//c_null_char, sample_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "store_worker_finish_sample"//c_null_char)
    else
      status = syncyte_store_worker_finish_sample(self%handle, sample_c)
    end if
    call finish(status, stat, errmsg)
  end subroutine worker_finish_sample

  !> Waits until all operations in flight of this worker have ended; their errors stay for their requests. Local.
  subroutine worker_flush(self, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_store_worker_flush(self%handle)
    call finish(status, stat, errmsg)
  end subroutine worker_flush

  !> Barrier of all workers of all ranks: after it, all see all earlier writes. Collective.
  subroutine worker_barrier(self, stat, errmsg)
    class(syncyte_store_worker), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_store_worker_barrier(self%handle)
    call finish(status, stat, errmsg)
  end subroutine worker_barrier

  !> Makes places from 0, int64, places from 1.
  subroutine count_from_one(buffer)
    type(syncyte_buffer_t), intent(in) :: buffer
    integer(c_int64_t), pointer :: places(:)
    integer(c_int64_t) :: elements

    elements = product(buffer%shape(:buffer%ndim))
    if (elements == 0) return
    call c_f_pointer(buffer%data, places, [elements])
    places = places + 1
  end subroutine count_from_one
end module syncyte_stores
