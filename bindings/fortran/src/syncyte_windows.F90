!> Windows: type(syncyte_window), one-sided access to memory of other ranks.
!>
!> Every rank contributes bytes of zeroed memory. Places count from 1, in elements of the array that is moved.
module syncyte_windows
  use, intrinsic :: iso_c_binding
  use syncyte_c, only: syncyte_window_destroy, syncyte_window_fence, &
    syncyte_window_flush, syncyte_window_lock, syncyte_window_options_t, syncyte_window_size, syncyte_window_unlock, &
    SYNCYTE_SUCCESS
  use syncyte_comms, only: syncyte_comm
  use syncyte_errors
  use syncyte_window_helpers
  implicit none
  private

  !> A window. A reference: assignment copies the reference; destroy drops one.
  type, public :: syncyte_window
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_window_t, for calls of syncyte_c
  contains
    procedure :: create => window_create
    procedure :: destroy => window_destroy
    procedure :: is_null => window_is_null
    procedure :: bytes => window_bytes
    procedure :: put => window_put
    procedure :: get => window_get
    procedure :: accumulate => window_accumulate
    procedure :: fetch_op => window_fetch_op
    procedure :: compare_swap => window_compare_swap
    procedure :: lock => window_lock
    procedure :: unlock => window_unlock
    procedure :: flush => window_flush
    procedure :: fence => window_fence
    !> Points to a rank's part, if it lies on this node: (:) over all of it, or of the given shape from its start.
    generic :: pointer => pointer_real4, pointer_real8, pointer_complex4, pointer_complex8, pointer_integer1, &
      pointer_integer2, pointer_integer4, pointer_integer8, pointer_logical1
    procedure, private :: pointer_real4
    procedure, private :: pointer_real8
    procedure, private :: pointer_complex4
    procedure, private :: pointer_complex8
    procedure, private :: pointer_integer1
    procedure, private :: pointer_integer2
    procedure, private :: pointer_integer4
    procedure, private :: pointer_integer8
    procedure, private :: pointer_logical1
  end type syncyte_window

contains

  !> Makes a window; sizes may differ between ranks and may be 0. Collective.
  subroutine window_create(self, comm, bytes, name, stat, errmsg)
    class(syncyte_window), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    type(*), dimension(..), intent(in) :: bytes     !! any integer: this rank's bytes
    character(len=*), intent(in), optional :: name  !! for messages
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: letters
    type(syncyte_window_options_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    call to_c(name, letters)
    if (allocated(letters)) options%name = c_loc(letters)
    made = c_null_ptr
    status = fortran_window_create(comm%handle, bytes, options, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_window_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine window_create

  !> Drops the reference; a null one is fine. Memory is freed at a collective point. Local.
  subroutine window_destroy(self, stat, errmsg)
    class(syncyte_window), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_window_destroy(self%handle), stat, errmsg)
  end subroutine window_destroy

  !> Whether it refers to nothing. Local.
  pure logical function window_is_null(self)
    class(syncyte_window), intent(in) :: self

    window_is_null = .not. c_associated(self%handle)
  end function window_is_null

  !> Bytes of a rank's part; 0 on an error. Local.
  function window_bytes(self, rank, stat, errmsg) result(bytes)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: bytes
    integer(c_size_t) :: size

    size = 0
    call finish(syncyte_window_size(self%handle, int(rank, c_int32_t), size), stat, errmsg)
    bytes = int(size, c_int64_t)
  end function window_bytes

  !> Writes elements to a rank; visible there after flush. Local.
  subroutine window_put(self, source, rank, first, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    type(*), dimension(..), intent(in) :: source  !! contiguous
    integer, intent(in) :: rank
    type(*), dimension(..), intent(in) :: first   !! any integer: where, from 1, in elements of source
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_window_put(self%handle, source, int(rank, c_int32_t), first), stat, errmsg)
  end subroutine window_put

  !> Reads elements of a rank. Local.
  subroutine window_get(self, target, rank, first, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    type(*), dimension(..), intent(inout) :: target  !! contiguous
    integer, intent(in) :: rank
    type(*), dimension(..), intent(in) :: first      !! any integer: where, from 1, in elements of target
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_window_get(self%handle, target, int(rank, c_int32_t), first), stat, errmsg)
  end subroutine window_get

  !> Combines elements with those at a rank, each atomically. Local.
  subroutine window_accumulate(self, source, rank, first, op, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    type(*), dimension(..), intent(in) :: source  !! contiguous
    integer, intent(in) :: rank
    type(*), dimension(..), intent(in) :: first   !! any integer: where, from 1, in elements of source
    integer(c_int32_t), intent(in) :: op          !! SYNCYTE_OP_SUM, ...
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_window_accumulate(self%handle, source, int(rank, c_int32_t), first, op), stat, errmsg)
  end subroutine window_accumulate

  !> Combines one element with a rank's and returns what was there before; atomic. Local.
  subroutine window_fetch_op(self, operand, rank, first, op, previous, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    type(*), dimension(..), intent(in) :: operand      !! scalar
    integer, intent(in) :: rank
    type(*), dimension(..), intent(in) :: first        !! any integer: where, from 1, in elements
    integer(c_int32_t), intent(in) :: op               !! SYNCYTE_OP_SUM, ..., SYNCYTE_OP_REPLACE
    type(*), dimension(..), intent(inout) :: previous  !! scalar of operand's type
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_window_fetch_op(self%handle, operand, int(rank, c_int32_t), first, op, previous), stat, errmsg)
  end subroutine window_fetch_op

  !> Writes desired at a rank if the element equals expected, and returns what was there before; atomic. Local.
  subroutine window_compare_swap(self, expected, desired, rank, first, previous, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    type(*), dimension(..), intent(in) :: expected, desired  !! scalars of one type
    integer, intent(in) :: rank
    type(*), dimension(..), intent(in) :: first              !! any integer: where, from 1, in elements
    type(*), dimension(..), intent(inout) :: previous        !! scalar of that type
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = fortran_window_compare_swap(self%handle, expected, desired, int(rank, c_int32_t), first, previous)
    call finish(status, stat, errmsg)
  end subroutine window_compare_swap

  !> Waits for a rank's lock, SYNCYTE_LOCK_SHARED or SYNCYTE_LOCK_EXCLUSIVE; not recursive. Local.
  subroutine window_lock(self, rank, kind, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank
    integer(c_int32_t), intent(in) :: kind
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_window_lock(self%handle, int(rank, c_int32_t), kind), stat, errmsg)
  end subroutine window_lock

  !> Completes this rank's operations on a rank, and gives its lock back. Local.
  subroutine window_unlock(self, rank, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in) :: rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_window_unlock(self%handle, int(rank, c_int32_t)), stat, errmsg)
  end subroutine window_unlock

  !> Completes this rank's operations at a rank, or at all. Local.
  subroutine window_flush(self, rank, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(in), optional :: rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: whom

    whom = -1
    if (present(rank)) whom = int(rank, c_int32_t)
    call finish(syncyte_window_flush(self%handle, whom), stat, errmsg)
  end subroutine window_flush

  !> What was written before is seen by all ranks after. Collective.
  subroutine window_fence(self, stat, errmsg)
    class(syncyte_window), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_window_fence(self%handle), stat, errmsg)
  end subroutine window_fence

#define POINTER_VIEW pointer_real4
#define ELEMENT real(c_float)
#include "window_views.inc"

#define POINTER_VIEW pointer_real8
#define ELEMENT real(c_double)
#include "window_views.inc"

#define POINTER_VIEW pointer_complex4
#define ELEMENT complex(c_float_complex)
#include "window_views.inc"

#define POINTER_VIEW pointer_complex8
#define ELEMENT complex(c_double_complex)
#include "window_views.inc"

#define POINTER_VIEW pointer_integer1
#define ELEMENT integer(c_int8_t)
#include "window_views.inc"

#define POINTER_VIEW pointer_integer2
#define ELEMENT integer(c_int16_t)
#include "window_views.inc"

#define POINTER_VIEW pointer_integer4
#define ELEMENT integer(c_int32_t)
#include "window_views.inc"

#define POINTER_VIEW pointer_integer8
#define ELEMENT integer(c_int64_t)
#include "window_views.inc"

#define POINTER_VIEW pointer_logical1
#define ELEMENT logical(c_bool)
#include "window_views.inc"

end module syncyte_windows
