! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/windows.methods by bindings/generate; do not edit.
!> Windows: type(syncyte_window), one-sided access to memory of other ranks.
!>
!> Every rank contributes bytes of zeroed memory. first counts from 1, in elements of the array argument.
!> Arrays of started operations (iput and so on) must stay until the request has ended: give them the asynchronous or
!> target attribute, and pass whole arrays or contiguous sections, not expressions.
module syncyte_windows
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_comms, only: syncyte_comm
  use syncyte_requests, only: syncyte_request
  implicit none
  private

  !> A window. A reference: assignment copies the reference; destroy drops one.
  type, public :: syncyte_window
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_window_t, for calls of syncyte_c
  contains
    procedure :: create => window_create
    procedure :: destroy => window_destroy
    procedure :: is_null => window_is_null
    procedure :: size => window_size
    procedure :: put => window_put
    procedure :: iput => window_iput
    procedure :: get => window_get
    procedure :: iget => window_iget
    procedure :: accumulate => window_accumulate
    procedure :: iaccumulate => window_iaccumulate
    procedure :: fetch_op => window_fetch_op
    procedure :: ifetch_op => window_ifetch_op
    procedure :: compare_swap => window_compare_swap
    procedure :: icompare_swap => window_icompare_swap
    procedure :: lock => window_lock
    procedure :: unlock => window_unlock
    procedure :: flush => window_flush
    procedure :: fence => window_fence
    !> Points to a rank's part, if it lies on this node: (:) over all of it, or an array of the given shape at its start.
    generic :: pointer => window_pointer_real4, window_pointer_real8, window_pointer_complex4, &
        window_pointer_complex8, window_pointer_integer1, window_pointer_integer2, window_pointer_integer4, &
        window_pointer_integer8, window_pointer_logical1
    procedure, private :: window_pointer_real4, window_pointer_real8, window_pointer_complex4, &
        window_pointer_complex8, window_pointer_integer1, window_pointer_integer2, window_pointer_integer4, &
        window_pointer_integer8, window_pointer_logical1
  end type syncyte_window

contains

  !> Makes a window; sizes may differ between ranks and may be 0. Collective.
  subroutine window_create(self, comm, size, name, label, stat, errmsg)
    class(syncyte_window), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    type(*), dimension(..), intent(in), target :: size  !! any integer: this rank's bytes
    character(len=*), intent(in), optional :: name  !! may be absent, which is a name of its own; equal on all ranks
    character(len=*), intent(in), optional :: label  !! name for messages, if not absent; ranks may differ
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: size_c
    character(kind=c_char, len=:), allocatable, target :: name_c
    character(kind=c_char, len=:), allocatable, target :: label_c
    type(syncyte_window_options_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(size)
    local = fortran_integer(size, "size"//c_null_char, size_c)
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    call to_c(label, label_c)
    if (allocated(label_c)) options%label = c_loc(label_c)
    made = c_null_ptr
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm%handle, local, "window_create"//c_null_char)
    else
      status = syncyte_window_create(comm%handle, size_c, options, made)
    end if
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_window_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine window_create

  !> Drops the reference; a null reference is ignored. Memory is freed at a collective point. Local.
  subroutine window_destroy(self, stat, errmsg)
    class(syncyte_window), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_window_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine window_destroy

  !> Whether the handle is null. Local.
  pure logical function window_is_null(self)
    class(syncyte_window), intent(in) :: self

    window_is_null = .not. c_associated(self%handle)
  end function window_is_null

  !> Bytes of a rank's part; 0 on an error. Local.
  function window_size(self, rank, stat, errmsg) result(answer)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! rank that contributed the part
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    integer(c_int64_t) :: size_c
    integer(c_int32_t) :: status

    size_c = 0
    status = syncyte_window_size(self%handle, int(rank, c_int32_t), size_c)
    answer = int(size_c, c_int64_t)
    call finish(status, stat, errmsg)
  end function window_size

  !> Writes elements to a rank; visible there after flush. Local.
  subroutine window_put(self, rank, first, source, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! target
    type(*), dimension(..), intent(in), target :: first  !! any integer: where, from 1, in elements
    type(*), dimension(..), intent(in), target :: source  !! contiguous
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    type(syncyte_buffer_t), target :: source_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(first)
    call syncyte_set_span(source)
    local = fortran_buffer(source, "source"//c_null_char, source_buffer)
    source_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_place(first, source_buffer, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "window_put"//c_null_char)
    else
      status = syncyte_window_put(self%handle, int(rank, c_int32_t), first_c, source_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine window_put

  !> Starts put; source must stay unchanged until the request has ended. Local.
  subroutine window_iput(self, rank, first, source, request, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! target
    type(*), dimension(..), intent(in), target :: first  !! any integer: where, from 1, in elements
    ! contiguous; must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: source
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    type(syncyte_buffer_t), target :: source_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(first)
    call syncyte_set_span(source)
    local = fortran_buffer(source, "source"//c_null_char, source_buffer)
    source_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_place(first, source_buffer, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "window_iput"//c_null_char)
    else
      status = syncyte_window_iput(self%handle, int(rank, c_int32_t), first_c, source_buffer, request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine window_iput

  !> Reads elements of a rank. Local.
  subroutine window_get(self, rank, first, target, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! target
    type(*), dimension(..), intent(in), target :: first  !! any integer: where, from 1, in elements
    type(*), dimension(..), intent(inout), target :: target  !! contiguous
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    type(syncyte_buffer_t), target :: target_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(first)
    call syncyte_set_span(target)
    local = fortran_buffer(target, "target"//c_null_char, target_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_place(first, target_buffer, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "window_get"//c_null_char)
    else
      status = syncyte_window_get(self%handle, int(rank, c_int32_t), first_c, target_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine window_get

  !> Starts get; target may not be read until the request has ended. Local.
  subroutine window_iget(self, rank, first, target, request, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! target
    type(*), dimension(..), intent(in), target :: first  !! any integer: where, from 1, in elements
    ! contiguous; may not be read until the request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: target
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    type(syncyte_buffer_t), target :: target_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(first)
    call syncyte_set_span(target)
    local = fortran_buffer(target, "target"//c_null_char, target_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_place(first, target_buffer, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "window_iget"//c_null_char)
    else
      status = syncyte_window_iget(self%handle, int(rank, c_int32_t), first_c, target_buffer, request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine window_iget

  !> Combines elements with those at a rank, each atomically. Local.
  subroutine window_accumulate(self, rank, first, source, op, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! target
    type(*), dimension(..), intent(in), target :: first  !! any integer: where, from 1, in elements
    type(*), dimension(..), intent(in), target :: source  !! contiguous
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    type(syncyte_buffer_t), target :: source_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(first)
    call syncyte_set_span(source)
    local = fortran_buffer(source, "source"//c_null_char, source_buffer)
    source_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_place(first, source_buffer, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "window_accumulate"//c_null_char)
    else
      status = syncyte_window_accumulate(self%handle, int(rank, c_int32_t), first_c, source_buffer, op)
    end if
    call finish(status, stat, errmsg)
  end subroutine window_accumulate

  !> Starts accumulate; source must stay unchanged until the request has ended. Local.
  subroutine window_iaccumulate(self, rank, first, source, op, request, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! target
    type(*), dimension(..), intent(in), target :: first  !! any integer: where, from 1, in elements
    ! contiguous; must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: source
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    type(syncyte_buffer_t), target :: source_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(first)
    call syncyte_set_span(source)
    local = fortran_buffer(source, "source"//c_null_char, source_buffer)
    source_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_place(first, source_buffer, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "window_iaccumulate"//c_null_char)
    else
      status = syncyte_window_iaccumulate(self%handle, int(rank, c_int32_t), first_c, source_buffer, op, &
          request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine window_iaccumulate

  !> Combines one element with a rank's and returns its old value; atomic. Local.
  subroutine window_fetch_op(self, rank, first, operand, op, previous, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! target
    type(*), dimension(..), intent(in), target :: first  !! any integer: where, from 1, in elements
    type(*), dimension(..), intent(in), target :: operand
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    type(*), dimension(..), intent(inout), target :: previous  !! scalar of operand's type
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    type(syncyte_buffer_t), target :: operand_buffer
    type(syncyte_buffer_t), target :: previous_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(first)
    call syncyte_set_span(operand)
    call syncyte_set_span(previous)
    local = fortran_alike(operand, operand, "operand"//c_null_char)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(operand, "operand"//c_null_char, operand_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_alike(previous, operand, "previous"//c_null_char)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(previous, "previous"//c_null_char, previous_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_place(first, operand_buffer, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "window_fetch_op"//c_null_char)
    else
      status = syncyte_window_fetch_op(self%handle, int(rank, c_int32_t), first_c, operand_buffer%dtype, &
          operand_buffer%data, op, previous_buffer%data)
    end if
    call finish(status, stat, errmsg)
  end subroutine window_fetch_op

  !> Starts fetch_op; previous may not be read until the request has ended. Local.
  subroutine window_ifetch_op(self, rank, first, operand, op, previous, request, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! target
    type(*), dimension(..), intent(in), target :: first  !! any integer: where, from 1, in elements
    type(*), dimension(..), intent(in), target :: operand
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    type(*), dimension(..), intent(inout), target, asynchronous :: previous  !! scalar of operand's type
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    type(syncyte_buffer_t), target :: operand_buffer
    type(syncyte_buffer_t), target :: previous_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(first)
    call syncyte_set_span(operand)
    call syncyte_set_span(previous)
    local = fortran_alike(operand, operand, "operand"//c_null_char)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(operand, "operand"//c_null_char, operand_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_alike(previous, operand, "previous"//c_null_char)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(previous, "previous"//c_null_char, previous_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_place(first, operand_buffer, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "window_ifetch_op"//c_null_char)
    else
      status = syncyte_window_ifetch_op(self%handle, int(rank, c_int32_t), first_c, operand_buffer%dtype, &
          operand_buffer%data, op, previous_buffer%data, request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine window_ifetch_op

  !> Writes desired at a rank if the element equals expected, and returns its old value; atomic. Local.
  subroutine window_compare_swap(self, rank, first, expected, desired, previous, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! target
    type(*), dimension(..), intent(in), target :: first  !! any integer: where, from 1, in elements
    type(*), dimension(..), intent(in), target :: expected
    type(*), dimension(..), intent(in), target :: desired  !! scalar of expected's type
    type(*), dimension(..), intent(inout), target :: previous  !! scalar of that type
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    type(syncyte_buffer_t), target :: expected_buffer
    type(syncyte_buffer_t), target :: desired_buffer
    type(syncyte_buffer_t), target :: previous_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(first)
    call syncyte_set_span(expected)
    call syncyte_set_span(desired)
    call syncyte_set_span(previous)
    local = fortran_alike(expected, expected, "expected"//c_null_char)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(expected, "expected"//c_null_char, expected_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_alike(desired, expected, "desired"//c_null_char)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(desired, "desired"//c_null_char, desired_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_alike(previous, expected, "previous"//c_null_char)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(previous, "previous"//c_null_char, previous_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_place(first, expected_buffer, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "window_compare_swap"//c_null_char)
    else
      status = syncyte_window_compare_swap(self%handle, int(rank, c_int32_t), first_c, expected_buffer%dtype, &
          expected_buffer%data, desired_buffer%data, previous_buffer%data)
    end if
    call finish(status, stat, errmsg)
  end subroutine window_compare_swap

  !> Starts compare_swap; previous may not be read until the request has ended. Local.
  subroutine window_icompare_swap(self, rank, first, expected, desired, previous, request, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! target
    type(*), dimension(..), intent(in), target :: first  !! any integer: where, from 1, in elements
    type(*), dimension(..), intent(in), target :: expected
    type(*), dimension(..), intent(in), target :: desired  !! scalar of expected's type
    type(*), dimension(..), intent(inout), target, asynchronous :: previous  !! scalar of that type
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: first_c
    type(syncyte_buffer_t), target :: expected_buffer
    type(syncyte_buffer_t), target :: desired_buffer
    type(syncyte_buffer_t), target :: previous_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(first)
    call syncyte_set_span(expected)
    call syncyte_set_span(desired)
    call syncyte_set_span(previous)
    local = fortran_alike(expected, expected, "expected"//c_null_char)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(expected, "expected"//c_null_char, expected_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_alike(desired, expected, "desired"//c_null_char)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(desired, "desired"//c_null_char, desired_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_alike(previous, expected, "previous"//c_null_char)
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(previous, "previous"//c_null_char, previous_buffer)
    if (local == SYNCYTE_SUCCESS) local = fortran_place(first, expected_buffer, first_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "window_icompare_swap"//c_null_char)
    else
      status = syncyte_window_icompare_swap(self%handle, int(rank, c_int32_t), first_c, expected_buffer%dtype, &
          expected_buffer%data, desired_buffer%data, previous_buffer%data, request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine window_icompare_swap

  !> Waits for a rank's lock, SYNCYTE_LOCK_SHARED or SYNCYTE_LOCK_EXCLUSIVE; not recursive. Local.
  subroutine window_lock(self, rank, kind, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! rank whose part is locked
    integer(c_int32_t), intent(in) :: kind  !! SYNCYTE_LOCK_SHARED, ...
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_window_lock(self%handle, int(rank, c_int32_t), kind)
    call finish(status, stat, errmsg)
  end subroutine window_lock

  !> Completes this rank's blocking operations on a rank, and releases its lock. Local.
  subroutine window_unlock(self, rank, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank  !! rank whose part is locked
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_window_unlock(self%handle, int(rank, c_int32_t))
    call finish(status, stat, errmsg)
  end subroutine window_unlock

  !> Completes this rank's blocking operations at a rank, or at all ranks. Local.
  subroutine window_flush(self, rank, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in), optional :: rank  !! target; -1: all; absent: -1
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: rank_c
    integer(c_int32_t) :: status

    rank_c = -1
    if (present(rank)) rank_c = int(rank, c_int32_t)
    status = syncyte_window_flush(self%handle, rank_c)
    call finish(status, stat, errmsg)
  end subroutine window_flush

  !> After it, all ranks see all earlier writes of all ranks. Collective.
  subroutine window_fence(self, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_window_fence(self%handle)
    call finish(status, stat, errmsg)
  end subroutine window_fence

  !> Points to a rank's part, if it lies on this node: (:) over all of it, or an array of the given shape at its start.
  subroutine window_pointer_real4(self, pointer, rank, shape, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    real(c_float), pointer, intent(inout) :: pointer(..)
    integer, intent(in) :: rank  !! rank that contributed the part
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a rank's part of a window.
      ! window [in]: a window
      ! rank [in]: rank that contributed the part
      ! shape [in]: integers; absent: all of the part
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_window_pointer(window, rank, shape, pointer) bind(C, name="fortran_window_pointer") &
          result(answer)
        import
        type(c_ptr), value :: window
        integer(c_int32_t), value :: rank
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        real(c_float), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_window_pointer
    end interface

    call syncyte_set_span(shape)
    status = fortran_window_pointer(self%handle, int(rank, c_int32_t), shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine window_pointer_real4

  !> Points to a rank's part, if it lies on this node: (:) over all of it, or an array of the given shape at its start.
  subroutine window_pointer_real8(self, pointer, rank, shape, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    real(c_double), pointer, intent(inout) :: pointer(..)
    integer, intent(in) :: rank  !! rank that contributed the part
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a rank's part of a window.
      ! window [in]: a window
      ! rank [in]: rank that contributed the part
      ! shape [in]: integers; absent: all of the part
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_window_pointer(window, rank, shape, pointer) bind(C, name="fortran_window_pointer") &
          result(answer)
        import
        type(c_ptr), value :: window
        integer(c_int32_t), value :: rank
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        real(c_double), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_window_pointer
    end interface

    call syncyte_set_span(shape)
    status = fortran_window_pointer(self%handle, int(rank, c_int32_t), shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine window_pointer_real8

  !> Points to a rank's part, if it lies on this node: (:) over all of it, or an array of the given shape at its start.
  subroutine window_pointer_complex4(self, pointer, rank, shape, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    complex(c_float_complex), pointer, intent(inout) :: pointer(..)
    integer, intent(in) :: rank  !! rank that contributed the part
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a rank's part of a window.
      ! window [in]: a window
      ! rank [in]: rank that contributed the part
      ! shape [in]: integers; absent: all of the part
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_window_pointer(window, rank, shape, pointer) bind(C, name="fortran_window_pointer") &
          result(answer)
        import
        type(c_ptr), value :: window
        integer(c_int32_t), value :: rank
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        complex(c_float_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_window_pointer
    end interface

    call syncyte_set_span(shape)
    status = fortran_window_pointer(self%handle, int(rank, c_int32_t), shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine window_pointer_complex4

  !> Points to a rank's part, if it lies on this node: (:) over all of it, or an array of the given shape at its start.
  subroutine window_pointer_complex8(self, pointer, rank, shape, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    complex(c_double_complex), pointer, intent(inout) :: pointer(..)
    integer, intent(in) :: rank  !! rank that contributed the part
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a rank's part of a window.
      ! window [in]: a window
      ! rank [in]: rank that contributed the part
      ! shape [in]: integers; absent: all of the part
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_window_pointer(window, rank, shape, pointer) bind(C, name="fortran_window_pointer") &
          result(answer)
        import
        type(c_ptr), value :: window
        integer(c_int32_t), value :: rank
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        complex(c_double_complex), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_window_pointer
    end interface

    call syncyte_set_span(shape)
    status = fortran_window_pointer(self%handle, int(rank, c_int32_t), shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine window_pointer_complex8

  !> Points to a rank's part, if it lies on this node: (:) over all of it, or an array of the given shape at its start.
  subroutine window_pointer_integer1(self, pointer, rank, shape, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer(c_int8_t), pointer, intent(inout) :: pointer(..)
    integer, intent(in) :: rank  !! rank that contributed the part
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a rank's part of a window.
      ! window [in]: a window
      ! rank [in]: rank that contributed the part
      ! shape [in]: integers; absent: all of the part
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_window_pointer(window, rank, shape, pointer) bind(C, name="fortran_window_pointer") &
          result(answer)
        import
        type(c_ptr), value :: window
        integer(c_int32_t), value :: rank
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        integer(c_int8_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_window_pointer
    end interface

    call syncyte_set_span(shape)
    status = fortran_window_pointer(self%handle, int(rank, c_int32_t), shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine window_pointer_integer1

  !> Points to a rank's part, if it lies on this node: (:) over all of it, or an array of the given shape at its start.
  subroutine window_pointer_integer2(self, pointer, rank, shape, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer(c_int16_t), pointer, intent(inout) :: pointer(..)
    integer, intent(in) :: rank  !! rank that contributed the part
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a rank's part of a window.
      ! window [in]: a window
      ! rank [in]: rank that contributed the part
      ! shape [in]: integers; absent: all of the part
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_window_pointer(window, rank, shape, pointer) bind(C, name="fortran_window_pointer") &
          result(answer)
        import
        type(c_ptr), value :: window
        integer(c_int32_t), value :: rank
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        integer(c_int16_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_window_pointer
    end interface

    call syncyte_set_span(shape)
    status = fortran_window_pointer(self%handle, int(rank, c_int32_t), shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine window_pointer_integer2

  !> Points to a rank's part, if it lies on this node: (:) over all of it, or an array of the given shape at its start.
  subroutine window_pointer_integer4(self, pointer, rank, shape, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer(c_int32_t), pointer, intent(inout) :: pointer(..)
    integer, intent(in) :: rank  !! rank that contributed the part
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a rank's part of a window.
      ! window [in]: a window
      ! rank [in]: rank that contributed the part
      ! shape [in]: integers; absent: all of the part
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_window_pointer(window, rank, shape, pointer) bind(C, name="fortran_window_pointer") &
          result(answer)
        import
        type(c_ptr), value :: window
        integer(c_int32_t), value :: rank
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        integer(c_int32_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_window_pointer
    end interface

    call syncyte_set_span(shape)
    status = fortran_window_pointer(self%handle, int(rank, c_int32_t), shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine window_pointer_integer4

  !> Points to a rank's part, if it lies on this node: (:) over all of it, or an array of the given shape at its start.
  subroutine window_pointer_integer8(self, pointer, rank, shape, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer(c_int64_t), pointer, intent(inout) :: pointer(..)
    integer, intent(in) :: rank  !! rank that contributed the part
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a rank's part of a window.
      ! window [in]: a window
      ! rank [in]: rank that contributed the part
      ! shape [in]: integers; absent: all of the part
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_window_pointer(window, rank, shape, pointer) bind(C, name="fortran_window_pointer") &
          result(answer)
        import
        type(c_ptr), value :: window
        integer(c_int32_t), value :: rank
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        integer(c_int64_t), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_window_pointer
    end interface

    call syncyte_set_span(shape)
    status = fortran_window_pointer(self%handle, int(rank, c_int32_t), shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine window_pointer_integer8

  !> Points to a rank's part, if it lies on this node: (:) over all of it, or an array of the given shape at its start.
  subroutine window_pointer_logical1(self, pointer, rank, shape, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    logical(c_bool), pointer, intent(inout) :: pointer(..)
    integer, intent(in) :: rank  !! rank that contributed the part
    type(*), dimension(..), intent(in), target, optional :: shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    interface
      !> Points to a rank's part of a window.
      ! window [in]: a window
      ! rank [in]: rank that contributed the part
      ! shape [in]: integers; absent: all of the part
      ! pointer [in,out]: as many dimensions as shape has elements
      function fortran_window_pointer(window, rank, shape, pointer) bind(C, name="fortran_window_pointer") &
          result(answer)
        import
        type(c_ptr), value :: window
        integer(c_int32_t), value :: rank
        type(*), dimension(..), intent(in), target, asynchronous, optional :: shape
        logical(c_bool), pointer, intent(inout) :: pointer(..)
        integer(c_int32_t) :: answer
      end function fortran_window_pointer
    end interface

    call syncyte_set_span(shape)
    status = fortran_window_pointer(self%handle, int(rank, c_int32_t), shape, pointer)
    call finish(status, stat, errmsg)
  end subroutine window_pointer_logical1
end module syncyte_windows
