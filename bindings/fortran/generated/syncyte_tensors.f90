! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/tensors.methods by bindings/generate; do not edit.
!> Whole tensors: type(syncyte_tensor), one array over the memory of all ranks, partitioned along its last dimension, or
!> by a layout.
!>
!> C's shape {rows, ny, nx} is (nx, ny, rows) here. "any integer" below is an integer of any kind; arrays are of any
!> rank and of the types that syncyte_c's dtypes have in Fortran. The C functions of the same names document the errors.
!> Arrays of started accesses (igather and so on) must stay until the request has ended: give them the asynchronous or
!> target attribute, and pass whole arrays or contiguous sections, not expressions.
module syncyte_tensors
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_comms, only: syncyte_comm
  use syncyte_layouts, only: syncyte_layout
  use syncyte_requests, only: syncyte_request
  implicit none
  private

  !> One array over the memory of all ranks. A reference: assignment copies the reference; destroy drops one.
  type, public :: syncyte_tensor
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_tensor_t, for calls of syncyte_c
  contains
    procedure :: create => tensor_create
    procedure :: wrap => tensor_wrap
    procedure :: create_by_layout => tensor_create_by_layout
    procedure :: open => tensor_open
    procedure :: relocate => tensor_relocate
    procedure :: destroy => tensor_destroy
    procedure :: is_null => tensor_is_null
    procedure :: rank => tensor_rank
    procedure :: extent => tensor_extent
    procedure :: dtype => tensor_dtype
    procedure :: first_row => tensor_first_row
    procedure :: last_row => tensor_last_row
    procedure :: comm => tensor_comm
    procedure :: layout => tensor_layout
    procedure :: gather => tensor_gather
    procedure :: igather => tensor_igather
    procedure :: scatter => tensor_scatter
    procedure :: iscatter => tensor_iscatter
    procedure :: scatter_add => tensor_scatter_add
    procedure :: iscatter_add => tensor_iscatter_add
    procedure :: put_signal => tensor_put_signal
    procedure :: iput_signal => tensor_iput_signal
    procedure :: set_optimizer => tensor_set_optimizer
    procedure :: set_learning_rate => tensor_set_learning_rate
    procedure :: apply_gradients => tensor_apply_gradients
    procedure :: iapply_gradients => tensor_iapply_gradients
    procedure :: optimizer_state => tensor_optimizer_state
    procedure :: optimizer_steps => tensor_optimizer_steps
    procedure :: owner => tensor_owner
    procedure :: get_box => tensor_get_box
    procedure :: iget_box => tensor_iget_box
    procedure :: put_box => tensor_put_box
    procedure :: iput_box => tensor_iput_box
    procedure :: get => tensor_get
    procedure :: put => tensor_put
    procedure :: acc => tensor_acc
    procedure :: iacc => tensor_iacc
    procedure :: locate => tensor_locate
    procedure :: load => tensor_load
    procedure :: store => tensor_store
    procedure :: fetch_add => tensor_fetch_add
    procedure :: ifetch_add => tensor_ifetch_add
    procedure :: read_inc => tensor_read_inc
    procedure :: compare_swap => tensor_compare_swap
    procedure :: icompare_swap => tensor_icompare_swap
    procedure :: wait => tensor_wait
    procedure :: publish => tensor_publish
    procedure :: take => tensor_take
    procedure :: lock => tensor_lock
    procedure :: unlock => tensor_unlock
    procedure :: sync => tensor_sync
    procedure :: flush => tensor_flush
    !> Points to this rank's rows: (.., first_row:last_row), or to its block without ghosts. Valid until the tensor is
    !> destroyed here. Local.
    generic :: local => tensor_local_real4, tensor_local_real8, tensor_local_complex4, tensor_local_complex8, &
        tensor_local_integer1, tensor_local_integer2, tensor_local_integer4, tensor_local_integer8, &
        tensor_local_logical1
    procedure, private :: tensor_local_real4, tensor_local_real8, tensor_local_complex4, tensor_local_complex8, &
        tensor_local_integer1, tensor_local_integer2, tensor_local_integer4, tensor_local_integer8, &
        tensor_local_logical1
    procedure :: address => tensor_address
    !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
    generic :: node => tensor_node_real4, tensor_node_real8, tensor_node_complex4, tensor_node_complex8, &
        tensor_node_integer1, tensor_node_integer2, tensor_node_integer4, tensor_node_integer8, tensor_node_logical1
    procedure, private :: tensor_node_real4, tensor_node_real8, tensor_node_complex4, tensor_node_complex8, &
        tensor_node_integer1, tensor_node_integer2, tensor_node_integer4, tensor_node_integer8, tensor_node_logical1
  end type syncyte_tensor

contains

  !> Makes a tensor of zeros. Collective.
  subroutine tensor_create(self, comm, dtype, shape, local_rows, name, row_locks, deterministic, label, memory, &
      device, stat, errmsg)
    class(syncyte_tensor), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    integer(c_int32_t), intent(in) :: dtype  !! SYNCYTE_FLOAT16, ...
    type(*), dimension(..), intent(in), target :: shape  !! vector of any integer, 1 to 8; rows last
    ! number of this rank's rows; -1: equal parts, with the remainder on the first ranks. All ranks pass -1, or all
    ! pass numbers that add up to shape[0]
    type(*), dimension(..), intent(in), target, optional :: local_rows
    character(len=*), intent(in), optional :: name  !! may be absent, which is a name of its own; equal on all ranks
    logical, intent(in), optional :: row_locks  !! true: rows have locks, of 8 bytes each; equal on all ranks
    ! true: sync makes the adds, with a result that depends on no order; equal on all ranks
    logical, intent(in), optional :: deterministic
    character(len=*), intent(in), optional :: label  !! name for messages, if not absent; ranks may differ
    ! where the rows lie, equal on all ranks; of SYNCYTE_MEMORY_CUDA, those of each rank on its device
    integer, intent(in), optional :: memory
    ! this rank's device for SYNCYTE_MEMORY_CUDA; -1: that of the thread's context, or 0. Ranks may use the same
    ! one, and see different ones
    integer, intent(in), optional :: device
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: shape_c(:)
    integer(c_int64_t) :: local_rows_c
    character(kind=c_char, len=:), allocatable, target :: name_c
    character(kind=c_char, len=:), allocatable, target :: label_c
    type(syncyte_tensor_options_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(shape)
    call syncyte_set_span(local_rows)
    local = SYNCYTE_SUCCESS
    allocate (shape_c(fortran_count(shape)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(shape, "shape"//c_null_char, 1_c_int32_t, shape_c)
    if (present(local_rows) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(local_rows, &
        "local_rows"//c_null_char, local_rows_c)
    if (present(local_rows)) options%local_rows = local_rows_c
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(row_locks)) options%row_locks = merge(1_c_int32_t, 0_c_int32_t, row_locks)
    if (present(deterministic)) options%deterministic = merge(1_c_int32_t, 0_c_int32_t, deterministic)
    call to_c(label, label_c)
    if (allocated(label_c)) options%label = c_loc(label_c)
    if (present(memory)) options%memory = int(memory, c_int32_t)
    if (present(device)) options%device = int(device, c_int32_t)
    made = c_null_ptr
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm%handle, local, "tensor_create"//c_null_char)
    else
      status = syncyte_tensor_create(comm%handle, dtype, size(shape_c, kind=c_int32_t), shape_c, options, made)
    end if
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_tensor_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_create

  !> Makes a tensor of arrays that the ranks already have; the arrays must outlive the tensor. Collective.
  subroutine tensor_wrap(self, comm, array, name, row_locks, deterministic, label, stat, errmsg)
    class(syncyte_tensor), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    type(*), dimension(..), intent(inout), target, asynchronous :: array  !! contiguous; its last dimension: own rows
    character(len=*), intent(in), optional :: name  !! may be absent, which is a name of its own; equal on all ranks
    logical, intent(in), optional :: row_locks  !! true: rows have locks, of 8 bytes each; equal on all ranks
    ! true: sync makes the adds, with a result that depends on no order; equal on all ranks
    logical, intent(in), optional :: deterministic
    character(len=*), intent(in), optional :: label  !! name for messages, if not absent; ranks may differ
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    character(kind=c_char, len=:), allocatable, target :: name_c
    character(kind=c_char, len=:), allocatable, target :: label_c
    type(syncyte_tensor_options_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(row_locks)) options%row_locks = merge(1_c_int32_t, 0_c_int32_t, row_locks)
    if (present(deterministic)) options%deterministic = merge(1_c_int32_t, 0_c_int32_t, deterministic)
    call to_c(label, label_c)
    if (allocated(label_c)) options%label = c_loc(label_c)
    made = c_null_ptr
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm%handle, local, "tensor_wrap"//c_null_char)
    else
      status = syncyte_tensor_wrap(comm%handle, array_buffer, options, made)
    end if
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_tensor_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_wrap

  !> Makes a tensor of zeros that is cut by a layout of these ranks, or of some of them. Collective, with open on ranks
  !> that do not have the layout.
  subroutine tensor_create_by_layout(self, comm, dtype, layout, slots, name, label, stat, errmsg)
    class(syncyte_tensor), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    integer(c_int32_t), intent(in) :: dtype  !! SYNCYTE_FLOAT16, ...
    type(syncyte_layout), intent(in) :: layout
    ! any integer: number of versions of the field that the tensor keeps, for tensor_publish() and tensor_take(); it
    ! is the first extent of the tensor, before those of the layout. 0: there are no versions; absent: 0
    type(*), dimension(..), intent(in), target, optional :: slots
    character(len=*), intent(in), optional :: name  !! may be absent, which is a name of its own; equal on all ranks
    character(len=*), intent(in), optional :: label  !! name for messages, if not absent; ranks may differ
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: slots_c
    character(kind=c_char, len=:), allocatable, target :: name_c
    character(kind=c_char, len=:), allocatable, target :: label_c
    type(syncyte_tensor_options_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(slots)
    local = SYNCYTE_SUCCESS
    slots_c = 0
    if (present(slots) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(slots, "slots"//c_null_char, &
        slots_c)
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    call to_c(label, label_c)
    if (allocated(label_c)) options%label = c_loc(label_c)
    made = c_null_ptr
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm%handle, local, &
          "tensor_create_by_layout"//c_null_char)
    else
      status = syncyte_tensor_create_by_layout(comm%handle, dtype, layout%handle, slots_c, options, made)
    end if
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_tensor_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_create_by_layout

  !> Takes part in create_by_layout of other ranks, and gets type, shape and layout from them. Collective.
  subroutine tensor_open(self, comm, name, stat, errmsg)
    class(syncyte_tensor), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    call to_c(name, name_c)
    made = c_null_ptr
    status = syncyte_tensor_open(comm%handle, name_c, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_tensor_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_open

  !> Cuts the tensor anew, in place: by a layout of its shape, or by rows. No rank has a view of it. Collective.
  subroutine tensor_relocate(self, layout, local_rows, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(syncyte_layout), intent(in), optional :: layout
    integer(c_int64_t), intent(in), optional :: local_rows  !! this rank's rows; absent on all ranks: equal parts
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: by
    integer(c_int64_t) :: rows
    integer(c_int32_t) :: status

    by = c_null_ptr
    rows = -1
    if (present(layout)) then
      by = layout%handle
      if (.not. c_associated(by)) by = transfer(1_c_intptr_t, by)  ! of no layout; null means rows
    end if
    if (present(local_rows)) rows = local_rows
    status = syncyte_tensor_relocate(self%handle, by, rows)
    call finish(status, stat, errmsg)
  end subroutine tensor_relocate

  !> Drops the reference; a null reference is ignored. Memory is freed at a collective point. Local.
  subroutine tensor_destroy(self, stat, errmsg)
    class(syncyte_tensor), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_tensor_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine tensor_destroy

  !> Whether the handle is null. Local.
  pure logical function tensor_is_null(self)
    class(syncyte_tensor), intent(in) :: self

    tensor_is_null = .not. c_associated(self%handle)
  end function tensor_is_null

  !> Number of dimensions; 0 on an error. Local.
  function tensor_rank(self, stat, errmsg) result(answer)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: answer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status

    status = syncyte_tensor_describe(self%handle, global)
    answer = 0
    if (status == SYNCYTE_SUCCESS) answer = int(global%ndim)
    call finish(status, stat, errmsg)
  end function tensor_rank

  !> Global extent of dimension dim, 1 to rank(), in elements; the last one is the number of rows. Local.
  function tensor_extent(self, dim, stat, errmsg) result(answer)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(in) :: dim
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: axis
    integer(c_int32_t) :: status, local

    local = SYNCYTE_SUCCESS
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) &
      local = fortran_axis(int(dim, c_int32_t), global, "dim"//c_null_char, "the tensor"//c_null_char, axis)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_describe"//c_null_char)
    else
      status = syncyte_tensor_describe(self%handle, global)
    end if
    answer = -1
    if (status == SYNCYTE_SUCCESS) answer = int(global%shape(global%ndim + axis + 1), c_int64_t)
    call finish(status, stat, errmsg)
  end function tensor_extent

  !> Element type, SYNCYTE_FLOAT64 and so on; 0 on an error. Local.
  function tensor_dtype(self, stat, errmsg) result(answer)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: answer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status

    status = syncyte_tensor_describe(self%handle, global)
    answer = 0
    if (status == SYNCYTE_SUCCESS) answer = int(global%dtype)
    call finish(status, stat, errmsg)
  end function tensor_dtype

  !> First row, from 1, of a rank (default: this one); if it has none, the next rank's first row. Local.
  function tensor_first_row(self, rank, stat, errmsg) result(answer)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(in), optional :: rank  !! owner
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    integer(c_int32_t) :: rank_c
    integer(c_int64_t) :: first, count
    integer(c_int32_t) :: status, local

    local = SYNCYTE_SUCCESS
    rank_c = 0
    if (present(rank)) rank_c = int(rank, c_int32_t)
    if (.not. present(rank)) local = fortran_own_rank(self%handle, rank_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_rows"//c_null_char)
    else
      status = syncyte_tensor_rows(self%handle, rank_c, first, count)
    end if
    answer = 1
    if (status == SYNCYTE_SUCCESS) answer = int(first + 1, c_int64_t)
    call finish(status, stat, errmsg)
  end function tensor_first_row

  !> Last row, from 1, of a rank (default: this one); first_row - 1 if it has none. Local.
  function tensor_last_row(self, rank, stat, errmsg) result(answer)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(in), optional :: rank  !! owner
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    integer(c_int32_t) :: rank_c
    integer(c_int64_t) :: first, count
    integer(c_int32_t) :: status, local

    local = SYNCYTE_SUCCESS
    rank_c = 0
    if (present(rank)) rank_c = int(rank, c_int32_t)
    if (.not. present(rank)) local = fortran_own_rank(self%handle, rank_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_rows"//c_null_char)
    else
      status = syncyte_tensor_rows(self%handle, rank_c, first, count)
    end if
    answer = 0
    if (status == SYNCYTE_SUCCESS) answer = int(first + count, c_int64_t)
    call finish(status, stat, errmsg)
  end function tensor_last_row

  !> A new reference to the tensor's communicator. Local.
  subroutine tensor_comm(self, comm, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(syncyte_comm), intent(inout) :: comm
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    status = syncyte_tensor_comm(self%handle, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(comm%handle)) ignored = syncyte_comm_destroy(comm%handle)
      comm%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_comm

  !> A new reference to the layout that the tensor is cut by; null if it is cut by rows. Local.
  subroutine tensor_layout(self, layout, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(syncyte_layout), intent(inout) :: layout
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    status = syncyte_tensor_layout(self%handle, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(layout%handle)) ignored = syncyte_layout_destroy(layout%handle)
      layout%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_layout

  !> Reads rows: output(.., i) = tensor(.., index(i)). Local.
  subroutine tensor_gather(self, index, output, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or (8), from 1, any rank
    ! contiguous, of the tensor's dtype, index's elements times a row's elements
    type(*), dimension(..), intent(inout), target :: output
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t) :: index_c
    type(syncyte_buffer_t), target :: output_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(index)
    call syncyte_set_span(output)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(output, "output"//c_null_char, global%dtype, &
        output_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_rows(index, global%shape(1), index_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_gather"//c_null_char)
    else
      status = syncyte_tensor_gather(self%handle, index_c, output_buffer)
    end if
    ignored = syncyte_memory_free(index_c%data)
    call finish(status, stat, errmsg)
  end subroutine tensor_gather

  !> Starts gather; output may not be read until the request has ended. Local.
  subroutine tensor_igather(self, index, output, request, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or (8), from 1, any rank
    ! contiguous, of the tensor's dtype, index's elements times a row's elements; may not be read until the request
    ! has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: output
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t) :: index_c
    type(syncyte_buffer_t), target :: output_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(index)
    call syncyte_set_span(output)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(output, "output"//c_null_char, global%dtype, &
        output_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_rows(index, global%shape(1), index_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_igather"//c_null_char)
    else
      status = syncyte_tensor_igather(self%handle, index_c, output_buffer, request%handle)
    end if
    ignored = syncyte_memory_free(index_c%data)
    call finish(status, stat, errmsg)
  end subroutine tensor_igather

  !> Writes rows: tensor(.., index(i)) = source(.., i); if a row repeats, its last source stays. Local.
  subroutine tensor_scatter(self, index, source, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or (8), from 1, any rank
    ! contiguous, of the tensor's dtype, index's elements times a row's elements
    type(*), dimension(..), intent(in), target :: source
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t) :: index_c
    type(syncyte_buffer_t), target :: source_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(index)
    call syncyte_set_span(source)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(source, "source"//c_null_char, global%dtype, &
        source_buffer)
    source_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_rows(index, global%shape(1), index_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_scatter"//c_null_char)
    else
      status = syncyte_tensor_scatter(self%handle, index_c, source_buffer)
    end if
    ignored = syncyte_memory_free(index_c%data)
    call finish(status, stat, errmsg)
  end subroutine tensor_scatter

  !> Starts scatter; source must stay unchanged until the request has ended. Local.
  subroutine tensor_iscatter(self, index, source, request, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or (8), from 1, any rank
    ! contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged until the
    ! request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: source
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t) :: index_c
    type(syncyte_buffer_t), target :: source_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(index)
    call syncyte_set_span(source)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(source, "source"//c_null_char, global%dtype, &
        source_buffer)
    source_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_rows(index, global%shape(1), index_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_iscatter"//c_null_char)
    else
      status = syncyte_tensor_iscatter(self%handle, index_c, source_buffer, request%handle)
    end if
    ignored = syncyte_memory_free(index_c%data)
    call finish(status, stat, errmsg)
  end subroutine tensor_iscatter

  !> Adds to rows: tensor(.., index(i)) = tensor(.., index(i)) + source(.., i); no add is lost. Local.
  subroutine tensor_scatter_add(self, index, source, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or (8), from 1, any rank
    ! contiguous, of the tensor's dtype, index's elements times a row's elements
    type(*), dimension(..), intent(in), target :: source
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t) :: index_c
    type(syncyte_buffer_t), target :: source_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(index)
    call syncyte_set_span(source)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(source, "source"//c_null_char, global%dtype, &
        source_buffer)
    source_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_rows(index, global%shape(1), index_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_scatter_add"//c_null_char)
    else
      status = syncyte_tensor_scatter_add(self%handle, index_c, source_buffer)
    end if
    ignored = syncyte_memory_free(index_c%data)
    call finish(status, stat, errmsg)
  end subroutine tensor_scatter_add

  !> Starts scatter_add; source must stay unchanged until the request has ended. Local.
  subroutine tensor_iscatter_add(self, index, source, request, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or (8), from 1, any rank
    ! contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged until the
    ! request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: source
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t) :: index_c
    type(syncyte_buffer_t), target :: source_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(index)
    call syncyte_set_span(source)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(source, "source"//c_null_char, global%dtype, &
        source_buffer)
    source_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_rows(index, global%shape(1), index_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_iscatter_add"//c_null_char)
    else
      status = syncyte_tensor_iscatter_add(self%handle, index_c, source_buffer, request%handle)
    end if
    ignored = syncyte_memory_free(index_c%data)
    call finish(status, stat, errmsg)
  end subroutine tensor_iscatter_add

  !> Writes rows, and then adds value to a counter or sets it; a rank that sees the new value sees the rows. Local.
  subroutine tensor_put_signal(self, index, source, counters, element, value, op, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or (8), from 1, any rank
    type(*), dimension(..), intent(in), target :: source  !! as of scatter
    type(syncyte_tensor), intent(in) :: counters
    type(*), dimension(..), intent(in), target :: element  !! any integer: number from 1 in array element order, or subscripts
    type(*), dimension(..), intent(in), target, optional :: value  !! any integer: number that is added or set; absent: 1
    integer(c_int32_t), intent(in), optional :: op  !! SYNCYTE_OP_SUM: adds; SYNCYTE_OP_REPLACE: sets
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t) :: index_c
    type(syncyte_buffer_t), target :: source_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int64_t) :: element_c
    integer(c_int64_t) :: value_c
    integer(c_int32_t) :: op_c
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(index)
    call syncyte_set_span(source)
    call syncyte_set_span(element)
    call syncyte_set_span(value)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(source, "source"//c_null_char, global%dtype, &
        source_buffer)
    source_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_rows(index, global%shape(1), index_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_element(counters%handle, element, element_c)
    value_c = 1
    if (present(value) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(value, "value"//c_null_char, &
        value_c)
    op_c = SYNCYTE_OP_SUM
    if (present(op)) op_c = op
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_put_signal"//c_null_char)
    else
      status = syncyte_tensor_put_signal(self%handle, index_c, source_buffer, counters%handle, element_c, &
          value_c, op_c)
    end if
    ignored = syncyte_memory_free(index_c%data)
    call finish(status, stat, errmsg)
  end subroutine tensor_put_signal

  !> Starts put_signal; source must stay unchanged until the request has ended. Local.
  subroutine tensor_iput_signal(self, index, source, counters, element, request, value, op, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or (8), from 1, any rank
    ! as of scatter; must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: source
    type(syncyte_tensor), intent(in) :: counters
    type(*), dimension(..), intent(in), target :: element  !! any integer: number from 1 in array element order, or subscripts
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    type(*), dimension(..), intent(in), target, optional :: value  !! any integer: number that is added or set; absent: 1
    integer(c_int32_t), intent(in), optional :: op  !! SYNCYTE_OP_SUM: adds; SYNCYTE_OP_REPLACE: sets
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t) :: index_c
    type(syncyte_buffer_t), target :: source_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int64_t) :: element_c
    integer(c_int64_t) :: value_c
    integer(c_int32_t) :: op_c
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(index)
    call syncyte_set_span(source)
    call syncyte_set_span(element)
    call syncyte_set_span(value)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(source, "source"//c_null_char, global%dtype, &
        source_buffer)
    source_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_rows(index, global%shape(1), index_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_element(counters%handle, element, element_c)
    value_c = 1
    if (present(value) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(value, "value"//c_null_char, &
        value_c)
    op_c = SYNCYTE_OP_SUM
    if (present(op)) op_c = op
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_iput_signal"//c_null_char)
    else
      status = syncyte_tensor_iput_signal(self%handle, index_c, source_buffer, counters%handle, element_c, &
          value_c, op_c, request%handle)
    end if
    ignored = syncyte_memory_free(index_c%data)
    call finish(status, stat, errmsg)
  end subroutine tensor_iput_signal

  !> Gives the tensor an optimizer with a new state, for apply_gradients. Collective.
  subroutine tensor_set_optimizer(self, optimizer, lr, momentum, beta1, beta2, eps, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer(c_int32_t), intent(in) :: optimizer  !! SYNCYTE_OPTIMIZER_SGD, ...
    real(c_double), intent(in) :: lr  !! learning rate, 0 or more
    real(c_double), intent(in), optional :: momentum  !! SGD: 0 to less than 1
    real(c_double), intent(in), optional :: beta1  !! Adam: decay of the mean of gradients, 0 to less than 1
    real(c_double), intent(in), optional :: beta2  !! Adam: decay of the mean of squares, 0 to less than 1
    ! AdaGrad and Adam: added to the divisor; negative: torch's default, 1e-10 for AdaGrad and 1e-8 for Adam
    real(c_double), intent(in), optional :: eps
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_optimizer_options_t) :: options
    integer(c_int32_t) :: status

    if (present(momentum)) options%momentum = momentum
    if (present(beta1)) options%beta1 = beta1
    if (present(beta2)) options%beta2 = beta2
    if (present(eps)) options%eps = eps
    status = syncyte_tensor_set_optimizer(self%handle, optimizer, lr, options)
    call finish(status, stat, errmsg)
  end subroutine tensor_set_optimizer

  !> Changes the learning rate of this rank's later calls of apply_gradients. Local.
  subroutine tensor_set_learning_rate(self, lr, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    real(c_double), intent(in) :: lr  !! learning rate, 0 or more
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_tensor_set_learning_rate(self%handle, lr)
    call finish(status, stat, errmsg)
  end subroutine tensor_set_learning_rate

  !> Updates rows by the tensor's optimizer: gradients(.., i) belongs to tensor(.., index(i)). Local.
  subroutine tensor_apply_gradients(self, index, gradients, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or (8), from 1, any rank
    ! contiguous, of the tensor's dtype, index's elements times a row's elements
    type(*), dimension(..), intent(in), target :: gradients
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t) :: index_c
    type(syncyte_buffer_t), target :: gradients_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(index)
    call syncyte_set_span(gradients)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(gradients, "gradients"//c_null_char, global%dtype, &
        gradients_buffer)
    gradients_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_rows(index, global%shape(1), index_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_apply_gradients"//c_null_char)
    else
      status = syncyte_tensor_apply_gradients(self%handle, index_c, gradients_buffer)
    end if
    ignored = syncyte_memory_free(index_c%data)
    call finish(status, stat, errmsg)
  end subroutine tensor_apply_gradients

  !> Starts apply_gradients; gradients must stay unchanged until the request has ended. Local.
  subroutine tensor_iapply_gradients(self, index, gradients, request, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or (8), from 1, any rank
    ! contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged until the
    ! request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: gradients
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t) :: index_c
    type(syncyte_buffer_t), target :: gradients_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(index)
    call syncyte_set_span(gradients)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(gradients, "gradients"//c_null_char, global%dtype, &
        gradients_buffer)
    gradients_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_rows(index, global%shape(1), index_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_iapply_gradients"//c_null_char)
    else
      status = syncyte_tensor_iapply_gradients(self%handle, index_c, gradients_buffer, request%handle)
    end if
    ignored = syncyte_memory_free(index_c%data)
    call finish(status, stat, errmsg)
  end subroutine tensor_iapply_gradients

  !> A new reference to the tensor of the optimizer's state; null if there is none. Local.
  subroutine tensor_optimizer_state(self, state, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(syncyte_tensor), intent(inout) :: state
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    status = syncyte_tensor_optimizer_state(self%handle, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(state%handle)) ignored = syncyte_tensor_destroy(state%handle)
      state%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_optimizer_state

  !> A new reference to the tensor of the optimizer's number of steps; null if it counts none. Local.
  subroutine tensor_optimizer_steps(self, steps, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(syncyte_tensor), intent(inout) :: steps
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    status = syncyte_tensor_optimizer_steps(self%handle, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(steps%handle)) ignored = syncyte_tensor_destroy(steps%handle)
      steps%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_optimizer_steps

  !> Owners of rows. Local.
  subroutine tensor_owner(self, index, ranks, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: index  !! integer(4) or integer(8), from 1
    type(*), dimension(..), intent(inout), target :: ranks  !! integer(4), contiguous, as many elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    call syncyte_set_span(index)
    call syncyte_set_span(ranks)
    status = fortran_tensor_owner(self%handle, index, ranks)
    call finish(status, stat, errmsg)
  end subroutine tensor_owner

  !> Reads a box: array = tensor(lower(1):, lower(2):, ...). Local.
  subroutine tensor_get_box(self, lower, array, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: lower  !! vector of any integer, from 1, as many as dimensions
    type(*), dimension(..), intent(inout), target :: array  !! any strides; dimensions that it lacks have extent 1
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: lower_c(:)
    type(syncyte_buffer_t), target :: array_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local

    call syncyte_set_span(lower)
    call syncyte_set_span(array)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(array, "array"//c_null_char, global%dtype, &
        array_buffer)
    allocate (lower_c(fortran_count(lower)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(lower, "lower"//c_null_char, 1_c_int32_t, lower_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_box(global, array_buffer, size(lower_c, kind=c_int64_t), &
        lower_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_get_box"//c_null_char)
    else
      status = syncyte_tensor_get_box(self%handle, size(lower_c, kind=c_int64_t), lower_c, array_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_get_box

  !> Starts get_box; array may not be read until the request has ended. Local.
  subroutine tensor_iget_box(self, lower, array, request, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: lower  !! vector of any integer, from 1, as many as dimensions
    type(*), dimension(..), intent(inout), target, asynchronous :: array  !! any strides; dimensions that it lacks have extent 1
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: lower_c(:)
    type(syncyte_buffer_t), target :: array_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local

    call syncyte_set_span(lower)
    call syncyte_set_span(array)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(array, "array"//c_null_char, global%dtype, &
        array_buffer)
    allocate (lower_c(fortran_count(lower)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(lower, "lower"//c_null_char, 1_c_int32_t, lower_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_box(global, array_buffer, size(lower_c, kind=c_int64_t), &
        lower_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_iget_box"//c_null_char)
    else
      status = syncyte_tensor_iget_box(self%handle, size(lower_c, kind=c_int64_t), lower_c, array_buffer, &
          request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_iget_box

  !> Writes a box: tensor(lower(1):, lower(2):, ...) = array. Local.
  subroutine tensor_put_box(self, lower, array, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: lower  !! vector of any integer, from 1, as many as dimensions
    type(*), dimension(..), intent(in), target :: array  !! any strides; dimensions that it lacks have extent 1
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: lower_c(:)
    type(syncyte_buffer_t), target :: array_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local

    call syncyte_set_span(lower)
    call syncyte_set_span(array)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(array, "array"//c_null_char, global%dtype, &
        array_buffer)
    array_buffer%read_only = 1_c_int32_t
    allocate (lower_c(fortran_count(lower)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(lower, "lower"//c_null_char, 1_c_int32_t, lower_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_box(global, array_buffer, size(lower_c, kind=c_int64_t), &
        lower_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_put_box"//c_null_char)
    else
      status = syncyte_tensor_put_box(self%handle, size(lower_c, kind=c_int64_t), lower_c, array_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_put_box

  !> Starts put_box; its arguments may be re-used on return. Local.
  subroutine tensor_iput_box(self, lower, array, request, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: lower  !! vector of any integer, from 1, as many as dimensions
    type(*), dimension(..), intent(in), target :: array  !! any strides; dimensions that it lacks have extent 1
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t), allocatable :: lower_c(:)
    type(syncyte_buffer_t), target :: array_buffer
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status, local

    call syncyte_set_span(lower)
    call syncyte_set_span(array)
    local = syncyte_tensor_describe(self%handle, global)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer_as(array, "array"//c_null_char, global%dtype, &
        array_buffer)
    array_buffer%read_only = 1_c_int32_t
    allocate (lower_c(fortran_count(lower)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(lower, "lower"//c_null_char, 1_c_int32_t, lower_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_box(global, array_buffer, size(lower_c, kind=c_int64_t), &
        lower_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_iput_box"//c_null_char)
    else
      status = syncyte_tensor_iput_box(self%handle, size(lower_c, kind=c_int64_t), lower_c, array_buffer, &
          request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_iput_box

  !> Reads a patch: array = tensor(lo(1):hi(1), lo(2):hi(2), ...). Local.
  subroutine tensor_get(self, lo, hi, array, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: lo  !! vector of any integer, from 1, as many as dimensions
    type(*), dimension(..), intent(in), target :: hi  !! likewise; the patch includes hi
    ! any strides; extents from lo to hi; it may lack dimensions of extent 1, as a vector does for a row
    type(*), dimension(..), intent(inout), target :: array
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    call syncyte_set_span(lo)
    call syncyte_set_span(hi)
    call syncyte_set_span(array)
    status = fortran_tensor_get(self%handle, lo, hi, array)
    call finish(status, stat, errmsg)
  end subroutine tensor_get

  !> Writes a patch: tensor(lo(1):hi(1), lo(2):hi(2), ...) = array. Local.
  subroutine tensor_put(self, lo, hi, array, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: lo  !! vector of any integer, from 1, as many as dimensions
    type(*), dimension(..), intent(in), target :: hi  !! likewise; the patch includes hi
    ! any strides; extents from lo to hi; it may lack dimensions of extent 1, as a vector does for a row
    type(*), dimension(..), intent(in), target :: array
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    call syncyte_set_span(lo)
    call syncyte_set_span(hi)
    call syncyte_set_span(array)
    status = fortran_tensor_put(self%handle, lo, hi, array)
    call finish(status, stat, errmsg)
  end subroutine tensor_put

  !> Adds to a patch, atomically for each element: tensor(lo(1):hi(1), ...) = tensor(...) + alpha*array. Local.
  subroutine tensor_acc(self, lo, hi, array, alpha, op, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: lo  !! vector of any integer, from 1, as many as dimensions
    type(*), dimension(..), intent(in), target :: hi  !! likewise; the patch includes hi
    ! any strides; extents from lo to hi; it may lack dimensions of extent 1, as a vector does for a row
    type(*), dimension(..), intent(in), target :: array
    type(*), dimension(..), intent(in), target, optional :: alpha  !! one element of the tensor's type; absent: 1
    integer(c_int32_t), intent(in), optional :: op  !! combines the elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: op_c
    integer(c_int32_t) :: status

    call syncyte_set_span(lo)
    call syncyte_set_span(hi)
    call syncyte_set_span(array)
    call syncyte_set_span(alpha)
    op_c = SYNCYTE_OP_SUM
    if (present(op)) op_c = op
    status = fortran_tensor_acc(self%handle, lo, hi, array, alpha, op_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_acc

  !> Starts acc; array may be re-used on return. Local; does not wait.
  subroutine tensor_iacc(self, lo, hi, array, request, alpha, op, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: lo  !! vector of any integer, from 1, as many as dimensions
    type(*), dimension(..), intent(in), target :: hi  !! likewise; the patch includes hi
    ! any strides; extents from lo to hi; it may lack dimensions of extent 1, as a vector does for a row
    type(*), dimension(..), intent(in), target :: array
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    type(*), dimension(..), intent(in), target, optional :: alpha  !! one element of the tensor's type; absent: 1
    integer(c_int32_t), intent(in), optional :: op  !! combines the elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: op_c
    integer(c_int32_t) :: status

    call syncyte_set_span(lo)
    call syncyte_set_span(hi)
    call syncyte_set_span(array)
    call syncyte_set_span(alpha)
    op_c = SYNCYTE_OP_SUM
    if (present(op)) op_c = op
    status = fortran_tensor_iacc(self%handle, lo, hi, array, alpha, op_c, request%handle)
    call finish(status, stat, errmsg)
  end subroutine tensor_iacc

  !> Number of owners of a patch, and for each of them, in ascending order, its rows in the patch. Local.
  function tensor_locate(self, lo, hi, ranks, first, last, stat, errmsg) result(answer)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: lo  !! vector of any integer, from 1, as many as dimensions
    type(*), dimension(..), intent(in), target :: hi  !! likewise; the patch includes hi
    type(*), dimension(..), intent(inout), target, optional :: ranks  !! any integers, of any length: owners; -1 behind the last
    ! likewise: first row, an index of the last dimension; 0 behind the last
    type(*), dimension(..), intent(inout), target, optional :: first
    type(*), dimension(..), intent(inout), target, optional :: last  !! likewise: last row
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    integer(c_int64_t) :: count_c
    integer(c_int32_t) :: status

    call syncyte_set_span(lo)
    call syncyte_set_span(hi)
    call syncyte_set_span(ranks)
    call syncyte_set_span(first)
    call syncyte_set_span(last)
    count_c = 0
    status = fortran_tensor_locate(self%handle, lo, hi, ranks, first, last, count_c)
    answer = int(count_c, c_int64_t)
    call finish(status, stat, errmsg)
  end function tensor_locate

  !> Value of a counter; acquire: what its writer wrote before store or an atomic is visible after it. Local.
  function tensor_load(self, element, stat, errmsg) result(answer)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: element  !! any integer: number from 1 in array element order, or subscripts
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    integer(c_int64_t) :: element_c
    integer(c_int64_t) :: value_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(element)
    local = fortran_element(self%handle, element, element_c)
    value_c = 0
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_load"//c_null_char)
    else
      status = syncyte_tensor_load(self%handle, element_c, value_c)
    end if
    answer = int(value_c, c_int64_t)
    call finish(status, stat, errmsg)
  end function tensor_load

  !> Sets a counter; release: a rank that loads the new value sees all earlier writes of this rank. Local.
  subroutine tensor_store(self, element, value, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: element  !! any integer: number from 1 in array element order, or subscripts
    type(*), dimension(..), intent(in), target :: value  !! any integer: its new value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: element_c
    integer(c_int64_t) :: value_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(element)
    call syncyte_set_span(value)
    local = fortran_element(self%handle, element, element_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(value, "value"//c_null_char, value_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_store"//c_null_char)
    else
      status = syncyte_tensor_store(self%handle, element_c, value_c)
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_store

  !> Adds to a counter; atomic, acquire and release. Local.
  subroutine tensor_fetch_add(self, element, operand, previous, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: element  !! any integer: number from 1 in array element order, or subscripts
    type(*), dimension(..), intent(in), target :: operand  !! any integer: number to add
    type(*), dimension(..), intent(inout), target, optional :: previous  !! any integer: the old value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: element_c
    integer(c_int64_t) :: operand_c
    integer(c_int64_t) :: previous_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(element)
    call syncyte_set_span(operand)
    call syncyte_set_span(previous)
    local = fortran_element(self%handle, element, element_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(operand, "operand"//c_null_char, operand_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_fetch_add"//c_null_char)
    else
      status = syncyte_tensor_fetch_add(self%handle, element_c, operand_c, previous_c)
    end if
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(previous, "previous"//c_null_char, previous_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_fetch_add

  !> Starts fetch_add; previous may not be read until the request has ended. Local.
  subroutine tensor_ifetch_add(self, element, operand, request, previous, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: element  !! any integer: number from 1 in array element order, or subscripts
    type(*), dimension(..), intent(in), target :: operand  !! any integer: number to add
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    ! the old value; may be absent; may not be read until the request has ended
    integer(c_int64_t), intent(inout), target, asynchronous, optional :: previous
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: element_c
    integer(c_int64_t) :: operand_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(element)
    call syncyte_set_span(operand)
    local = fortran_element(self%handle, element, element_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(operand, "operand"//c_null_char, operand_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_ifetch_add"//c_null_char)
    else
      status = syncyte_tensor_ifetch_add(self%handle, element_c, operand_c, previous, request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_ifetch_add

  !> Adds inc to a counter and returns the value before; fetch_add as a function. Local.
  function tensor_read_inc(self, element, inc, stat, errmsg) result(answer)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: element  !! any integer: number from 1 in array element order, or subscripts
    type(*), dimension(..), intent(in), target :: inc  !! any integer: number to add
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    integer(c_int64_t) :: element_c
    integer(c_int64_t) :: inc_c
    integer(c_int64_t) :: previous_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(element)
    call syncyte_set_span(inc)
    local = fortran_element(self%handle, element, element_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(inc, "inc"//c_null_char, inc_c)
    previous_c = 0
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_fetch_add"//c_null_char)
    else
      status = syncyte_tensor_fetch_add(self%handle, element_c, inc_c, previous_c)
    end if
    answer = int(previous_c, c_int64_t)
    call finish(status, stat, errmsg)
  end function tensor_read_inc

  !> Sets a counter to desired if it equals expected; atomic, acquire and release. Local.
  subroutine tensor_compare_swap(self, element, expected, desired, previous, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: element  !! any integer: number from 1 in array element order, or subscripts
    type(*), dimension(..), intent(in), target :: expected  !! any integer: value to compare with
    type(*), dimension(..), intent(in), target :: desired  !! any integer: value to write if they are equal
    type(*), dimension(..), intent(inout), target, optional :: previous  !! any integer: the old value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: element_c
    integer(c_int64_t) :: expected_c
    integer(c_int64_t) :: desired_c
    integer(c_int64_t) :: previous_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(element)
    call syncyte_set_span(expected)
    call syncyte_set_span(desired)
    call syncyte_set_span(previous)
    local = fortran_element(self%handle, element, element_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(expected, "expected"//c_null_char, expected_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(desired, "desired"//c_null_char, desired_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_compare_swap"//c_null_char)
    else
      status = syncyte_tensor_compare_swap(self%handle, element_c, expected_c, desired_c, previous_c)
    end if
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(previous, "previous"//c_null_char, previous_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_compare_swap

  !> Starts compare_swap; previous may not be read until the request has ended. Local.
  subroutine tensor_icompare_swap(self, element, expected, desired, request, previous, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: element  !! any integer: number from 1 in array element order, or subscripts
    type(*), dimension(..), intent(in), target :: expected  !! any integer: value to compare with
    type(*), dimension(..), intent(in), target :: desired  !! any integer: value to write if they are equal
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    ! the old value; may be absent; may not be read until the request has ended
    integer(c_int64_t), intent(inout), target, asynchronous, optional :: previous
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: element_c
    integer(c_int64_t) :: expected_c
    integer(c_int64_t) :: desired_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(element)
    call syncyte_set_span(expected)
    call syncyte_set_span(desired)
    local = fortran_element(self%handle, element, element_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(expected, "expected"//c_null_char, expected_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(desired, "desired"//c_null_char, desired_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_icompare_swap"//c_null_char)
    else
      status = syncyte_tensor_icompare_swap(self%handle, element_c, expected_c, desired_c, previous, &
          request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_icompare_swap

  !> Waits, mostly asleep, until a comparison of a counter is true; acquire. Local.
  subroutine tensor_wait(self, element, compare, value, timeout, found, timed_out, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: element  !! any integer: number from 1 in array element order, or subscripts
    integer(c_int32_t), intent(in) :: compare  !! SYNCYTE_COMPARE_EQ, ...
    type(*), dimension(..), intent(in), target :: value  !! any integer: value to compare with
    real(c_double), intent(in), optional :: timeout  !! seconds, 0 or more; negative: no limit; absent: -1
    type(*), dimension(..), intent(inout), target, optional :: found  !! any integer: the value that compared true
    logical, intent(out), optional :: timed_out  !! where present, a timeout is no error
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: element_c
    integer(c_int64_t) :: value_c
    real(c_double) :: timeout_c
    integer(c_int64_t) :: found_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(element)
    call syncyte_set_span(value)
    call syncyte_set_span(found)
    local = fortran_element(self%handle, element, element_c)
    if (local == SYNCYTE_SUCCESS) local = fortran_integer(value, "value"//c_null_char, value_c)
    timeout_c = -1
    if (present(timeout)) timeout_c = timeout
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_wait"//c_null_char)
    else
      status = syncyte_tensor_wait(self%handle, element_c, compare, value_c, timeout_c, found_c)
    end if
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(found, "found"//c_null_char, found_c)
    if (present(timed_out)) then
      timed_out = status == SYNCYTE_ERR_TIMEOUT
      if (timed_out) status = SYNCYTE_SUCCESS
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_wait

  !> Publishes this rank's part of the next version of a tensor with slots. Does not wait for those that take it. Local.
  subroutine tensor_publish(self, array, step, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target, optional :: array  !! this rank's array, with its ghosts; absent: no block
    type(*), dimension(..), intent(in), target :: step  !! the caller's number of the version, more than that of the last one
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: step_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    call syncyte_set_span(step)
    local = fortran_integer(step, "step"//c_null_char, step_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_publish"//c_null_char)
    else
      status = fortran_tensor_publish(self%handle, array, step_c)
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_publish

  !> Reads a box of the newest version, and waits, mostly asleep, for one whose step is at_least or more. Local.
  subroutine tensor_take(self, lower, array, at_least, timeout, step, timed_out, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: lower  !! vector of any integer, from 1, as many as the field's dimensions
    type(*), dimension(..), intent(inout), target :: array  !! any strides; dimensions that it lacks have extent 1
    type(*), dimension(..), intent(in), target, optional :: at_least  !! lowest step that is taken
    real(c_double), intent(in), optional :: timeout  !! seconds; less than 0: no limit
    type(*), dimension(..), intent(inout), target, optional :: step  !! the step of the version
    logical, intent(out), optional :: timed_out  !! where present, a timeout is no error
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: at_least_c
    real(c_double) :: timeout_c
    integer(c_int64_t) :: step_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(lower)
    call syncyte_set_span(array)
    call syncyte_set_span(at_least)
    call syncyte_set_span(step)
    local = SYNCYTE_SUCCESS
    at_least_c = -huge(1_c_int64_t)
    if (present(at_least) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(at_least, &
        "at_least"//c_null_char, at_least_c)
    timeout_c = -1.0_c_double
    if (present(timeout)) timeout_c = timeout
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_take"//c_null_char)
    else
      status = fortran_tensor_take(self%handle, lower, array, at_least_c, timeout_c, step_c)
    end if
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(step, "step"//c_null_char, step_c)
    if (present(timed_out)) then
      timed_out = status == SYNCYTE_ERR_TIMEOUT
      if (timed_out) status = SYNCYTE_SUCCESS
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_take

  !> Waits, mostly asleep, for a row's lock, which excludes other holders only. Local.
  subroutine tensor_lock(self, row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: row  !! any integer: number of the row, from 1
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: row_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(row)
    local = fortran_integer(row, "row"//c_null_char, row_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_lock"//c_null_char)
    else
      status = fortran_tensor_lock(self%handle, row_c)
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_lock

  !> Completes this rank's writes and releases a row's lock. Local.
  subroutine tensor_unlock(self, row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in), target :: row  !! any integer: number of the row, from 1
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: row_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(row)
    local = fortran_integer(row, "row"//c_null_char, row_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "tensor_unlock"//c_null_char)
    else
      status = fortran_tensor_unlock(self%handle, row_c)
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_unlock

  !> After it, all ranks see all earlier writes of all ranks. Collective.
  subroutine tensor_sync(self, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_tensor_sync(self%handle)
    call finish(status, stat, errmsg)
  end subroutine tensor_sync

  !> Completes this rank's writes at their owners. Local.
  subroutine tensor_flush(self, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_tensor_flush(self%handle)
    call finish(status, stat, errmsg)
  end subroutine tensor_flush

  !> Points to this rank's rows: (.., first_row:last_row), or to its block without ghosts. Valid until the tensor is
  !> destroyed here. Local.
  subroutine tensor_local_real4(self, pointer, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    real(c_float), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to this rank's rows of a tensor.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_tensor_local(tensor, pointer) bind(C, name="fortran_tensor_local") result(answer)
        import
        type(c_ptr), value :: tensor
        real(c_float), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_tensor_local
    end interface

    status = fortran_tensor_local(self%handle, pointer)
    call finish(status, stat, errmsg)
  end subroutine tensor_local_real4

  !> Points to this rank's rows: (.., first_row:last_row), or to its block without ghosts. Valid until the tensor is
  !> destroyed here. Local.
  subroutine tensor_local_real8(self, pointer, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    real(c_double), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to this rank's rows of a tensor.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_tensor_local(tensor, pointer) bind(C, name="fortran_tensor_local") result(answer)
        import
        type(c_ptr), value :: tensor
        real(c_double), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_tensor_local
    end interface

    status = fortran_tensor_local(self%handle, pointer)
    call finish(status, stat, errmsg)
  end subroutine tensor_local_real8

  !> Points to this rank's rows: (.., first_row:last_row), or to its block without ghosts. Valid until the tensor is
  !> destroyed here. Local.
  subroutine tensor_local_complex4(self, pointer, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    complex(c_float_complex), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to this rank's rows of a tensor.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_tensor_local(tensor, pointer) bind(C, name="fortran_tensor_local") result(answer)
        import
        type(c_ptr), value :: tensor
        complex(c_float_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_tensor_local
    end interface

    status = fortran_tensor_local(self%handle, pointer)
    call finish(status, stat, errmsg)
  end subroutine tensor_local_complex4

  !> Points to this rank's rows: (.., first_row:last_row), or to its block without ghosts. Valid until the tensor is
  !> destroyed here. Local.
  subroutine tensor_local_complex8(self, pointer, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    complex(c_double_complex), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to this rank's rows of a tensor.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_tensor_local(tensor, pointer) bind(C, name="fortran_tensor_local") result(answer)
        import
        type(c_ptr), value :: tensor
        complex(c_double_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_tensor_local
    end interface

    status = fortran_tensor_local(self%handle, pointer)
    call finish(status, stat, errmsg)
  end subroutine tensor_local_complex8

  !> Points to this rank's rows: (.., first_row:last_row), or to its block without ghosts. Valid until the tensor is
  !> destroyed here. Local.
  subroutine tensor_local_integer1(self, pointer, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer(c_int8_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to this rank's rows of a tensor.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_tensor_local(tensor, pointer) bind(C, name="fortran_tensor_local") result(answer)
        import
        type(c_ptr), value :: tensor
        integer(c_int8_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_tensor_local
    end interface

    status = fortran_tensor_local(self%handle, pointer)
    call finish(status, stat, errmsg)
  end subroutine tensor_local_integer1

  !> Points to this rank's rows: (.., first_row:last_row), or to its block without ghosts. Valid until the tensor is
  !> destroyed here. Local.
  subroutine tensor_local_integer2(self, pointer, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer(c_int16_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to this rank's rows of a tensor.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_tensor_local(tensor, pointer) bind(C, name="fortran_tensor_local") result(answer)
        import
        type(c_ptr), value :: tensor
        integer(c_int16_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_tensor_local
    end interface

    status = fortran_tensor_local(self%handle, pointer)
    call finish(status, stat, errmsg)
  end subroutine tensor_local_integer2

  !> Points to this rank's rows: (.., first_row:last_row), or to its block without ghosts. Valid until the tensor is
  !> destroyed here. Local.
  subroutine tensor_local_integer4(self, pointer, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer(c_int32_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to this rank's rows of a tensor.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_tensor_local(tensor, pointer) bind(C, name="fortran_tensor_local") result(answer)
        import
        type(c_ptr), value :: tensor
        integer(c_int32_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_tensor_local
    end interface

    status = fortran_tensor_local(self%handle, pointer)
    call finish(status, stat, errmsg)
  end subroutine tensor_local_integer4

  !> Points to this rank's rows: (.., first_row:last_row), or to its block without ghosts. Valid until the tensor is
  !> destroyed here. Local.
  subroutine tensor_local_integer8(self, pointer, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer(c_int64_t), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to this rank's rows of a tensor.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_tensor_local(tensor, pointer) bind(C, name="fortran_tensor_local") result(answer)
        import
        type(c_ptr), value :: tensor
        integer(c_int64_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_tensor_local
    end interface

    status = fortran_tensor_local(self%handle, pointer)
    call finish(status, stat, errmsg)
  end subroutine tensor_local_integer8

  !> Points to this rank's rows: (.., first_row:last_row), or to its block without ghosts. Valid until the tensor is
  !> destroyed here. Local.
  subroutine tensor_local_logical1(self, pointer, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    logical(c_bool), pointer, intent(inout) :: pointer(..)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to this rank's rows of a tensor.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      function fortran_tensor_local(tensor, pointer) bind(C, name="fortran_tensor_local") result(answer)
        import
        type(c_ptr), value :: tensor
        logical(c_bool), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_tensor_local
    end interface

    status = fortran_tensor_local(self%handle, pointer)
    call finish(status, stat, errmsg)
  end subroutine tensor_local_logical1

  !> Address of this rank's rows, in the memory of its device if the tensor is there; 0 if there are none. Local.
  function tensor_address(self, stat, errmsg) result(answer)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_intptr_t) :: answer
    type(syncyte_buffer_t) :: view
    integer(c_int32_t) :: status

    status = syncyte_tensor_local(self%handle, view)
    answer = 0
    if (status == SYNCYTE_SUCCESS) answer = int(transfer(view%data, 0_c_intptr_t), c_intptr_t)
    call finish(status, stat, errmsg)
  end function tensor_address

  !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
  subroutine tensor_node_real4(self, pointer, first_row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    real(c_float), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, or 0 if the node's ranks are not consecutive
    type(*), dimension(..), intent(inout), target, optional :: first_row
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_row_c
    integer(c_int32_t) :: status

    interface
      !> Points to the rows of a node's ranks.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      ! first_row [out]: from 1, or 0 if the node's ranks are not consecutive
      function fortran_tensor_node(tensor, pointer, first_row) bind(C, name="fortran_tensor_node") result(answer)
        import
        type(c_ptr), value :: tensor
        real(c_float), pointer, intent(inout) :: pointer(..)
        integer(c_int64_t), intent(inout) :: first_row
        integer(c_int32_t) :: answer
      end function fortran_tensor_node
    end interface

    call syncyte_set_span(first_row)
    status = fortran_tensor_node(self%handle, pointer, first_row_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(first_row, "first_row"//c_null_char, &
        first_row_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_node_real4

  !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
  subroutine tensor_node_real8(self, pointer, first_row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    real(c_double), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, or 0 if the node's ranks are not consecutive
    type(*), dimension(..), intent(inout), target, optional :: first_row
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_row_c
    integer(c_int32_t) :: status

    interface
      !> Points to the rows of a node's ranks.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      ! first_row [out]: from 1, or 0 if the node's ranks are not consecutive
      function fortran_tensor_node(tensor, pointer, first_row) bind(C, name="fortran_tensor_node") result(answer)
        import
        type(c_ptr), value :: tensor
        real(c_double), pointer, intent(inout) :: pointer(..)
        integer(c_int64_t), intent(inout) :: first_row
        integer(c_int32_t) :: answer
      end function fortran_tensor_node
    end interface

    call syncyte_set_span(first_row)
    status = fortran_tensor_node(self%handle, pointer, first_row_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(first_row, "first_row"//c_null_char, &
        first_row_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_node_real8

  !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
  subroutine tensor_node_complex4(self, pointer, first_row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    complex(c_float_complex), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, or 0 if the node's ranks are not consecutive
    type(*), dimension(..), intent(inout), target, optional :: first_row
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_row_c
    integer(c_int32_t) :: status

    interface
      !> Points to the rows of a node's ranks.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      ! first_row [out]: from 1, or 0 if the node's ranks are not consecutive
      function fortran_tensor_node(tensor, pointer, first_row) bind(C, name="fortran_tensor_node") result(answer)
        import
        type(c_ptr), value :: tensor
        complex(c_float_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int64_t), intent(inout) :: first_row
        integer(c_int32_t) :: answer
      end function fortran_tensor_node
    end interface

    call syncyte_set_span(first_row)
    status = fortran_tensor_node(self%handle, pointer, first_row_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(first_row, "first_row"//c_null_char, &
        first_row_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_node_complex4

  !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
  subroutine tensor_node_complex8(self, pointer, first_row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    complex(c_double_complex), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, or 0 if the node's ranks are not consecutive
    type(*), dimension(..), intent(inout), target, optional :: first_row
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_row_c
    integer(c_int32_t) :: status

    interface
      !> Points to the rows of a node's ranks.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      ! first_row [out]: from 1, or 0 if the node's ranks are not consecutive
      function fortran_tensor_node(tensor, pointer, first_row) bind(C, name="fortran_tensor_node") result(answer)
        import
        type(c_ptr), value :: tensor
        complex(c_double_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int64_t), intent(inout) :: first_row
        integer(c_int32_t) :: answer
      end function fortran_tensor_node
    end interface

    call syncyte_set_span(first_row)
    status = fortran_tensor_node(self%handle, pointer, first_row_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(first_row, "first_row"//c_null_char, &
        first_row_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_node_complex8

  !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
  subroutine tensor_node_integer1(self, pointer, first_row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer(c_int8_t), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, or 0 if the node's ranks are not consecutive
    type(*), dimension(..), intent(inout), target, optional :: first_row
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_row_c
    integer(c_int32_t) :: status

    interface
      !> Points to the rows of a node's ranks.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      ! first_row [out]: from 1, or 0 if the node's ranks are not consecutive
      function fortran_tensor_node(tensor, pointer, first_row) bind(C, name="fortran_tensor_node") result(answer)
        import
        type(c_ptr), value :: tensor
        integer(c_int8_t), pointer, intent(inout) :: pointer(..)
        integer(c_int64_t), intent(inout) :: first_row
        integer(c_int32_t) :: answer
      end function fortran_tensor_node
    end interface

    call syncyte_set_span(first_row)
    status = fortran_tensor_node(self%handle, pointer, first_row_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(first_row, "first_row"//c_null_char, &
        first_row_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_node_integer1

  !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
  subroutine tensor_node_integer2(self, pointer, first_row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer(c_int16_t), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, or 0 if the node's ranks are not consecutive
    type(*), dimension(..), intent(inout), target, optional :: first_row
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_row_c
    integer(c_int32_t) :: status

    interface
      !> Points to the rows of a node's ranks.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      ! first_row [out]: from 1, or 0 if the node's ranks are not consecutive
      function fortran_tensor_node(tensor, pointer, first_row) bind(C, name="fortran_tensor_node") result(answer)
        import
        type(c_ptr), value :: tensor
        integer(c_int16_t), pointer, intent(inout) :: pointer(..)
        integer(c_int64_t), intent(inout) :: first_row
        integer(c_int32_t) :: answer
      end function fortran_tensor_node
    end interface

    call syncyte_set_span(first_row)
    status = fortran_tensor_node(self%handle, pointer, first_row_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(first_row, "first_row"//c_null_char, &
        first_row_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_node_integer2

  !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
  subroutine tensor_node_integer4(self, pointer, first_row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer(c_int32_t), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, or 0 if the node's ranks are not consecutive
    type(*), dimension(..), intent(inout), target, optional :: first_row
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_row_c
    integer(c_int32_t) :: status

    interface
      !> Points to the rows of a node's ranks.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      ! first_row [out]: from 1, or 0 if the node's ranks are not consecutive
      function fortran_tensor_node(tensor, pointer, first_row) bind(C, name="fortran_tensor_node") result(answer)
        import
        type(c_ptr), value :: tensor
        integer(c_int32_t), pointer, intent(inout) :: pointer(..)
        integer(c_int64_t), intent(inout) :: first_row
        integer(c_int32_t) :: answer
      end function fortran_tensor_node
    end interface

    call syncyte_set_span(first_row)
    status = fortran_tensor_node(self%handle, pointer, first_row_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(first_row, "first_row"//c_null_char, &
        first_row_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_node_integer4

  !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
  subroutine tensor_node_integer8(self, pointer, first_row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer(c_int64_t), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, or 0 if the node's ranks are not consecutive
    type(*), dimension(..), intent(inout), target, optional :: first_row
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_row_c
    integer(c_int32_t) :: status

    interface
      !> Points to the rows of a node's ranks.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      ! first_row [out]: from 1, or 0 if the node's ranks are not consecutive
      function fortran_tensor_node(tensor, pointer, first_row) bind(C, name="fortran_tensor_node") result(answer)
        import
        type(c_ptr), value :: tensor
        integer(c_int64_t), pointer, intent(inout) :: pointer(..)
        integer(c_int64_t), intent(inout) :: first_row
        integer(c_int32_t) :: answer
      end function fortran_tensor_node
    end interface

    call syncyte_set_span(first_row)
    status = fortran_tensor_node(self%handle, pointer, first_row_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(first_row, "first_row"//c_null_char, &
        first_row_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_node_integer8

  !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
  subroutine tensor_node_logical1(self, pointer, first_row, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    logical(c_bool), pointer, intent(inout) :: pointer(..)
    ! any integer: from 1, or 0 if the node's ranks are not consecutive
    type(*), dimension(..), intent(inout), target, optional :: first_row
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_row_c
    integer(c_int32_t) :: status

    interface
      !> Points to the rows of a node's ranks.
      ! tensor [in]: a tensor
      ! pointer [in,out]: of the tensor's rank and type
      ! first_row [out]: from 1, or 0 if the node's ranks are not consecutive
      function fortran_tensor_node(tensor, pointer, first_row) bind(C, name="fortran_tensor_node") result(answer)
        import
        type(c_ptr), value :: tensor
        logical(c_bool), pointer, intent(inout) :: pointer(..)
        integer(c_int64_t), intent(inout) :: first_row
        integer(c_int32_t) :: answer
      end function fortran_tensor_node
    end interface

    call syncyte_set_span(first_row)
    status = fortran_tensor_node(self%handle, pointer, first_row_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(first_row, "first_row"//c_null_char, &
        first_row_c)
    call finish(status, stat, errmsg)
  end subroutine tensor_node_logical1
end module syncyte_tensors
