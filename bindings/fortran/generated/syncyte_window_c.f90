! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/window.h by bindings/generate; do not edit.
!> One-sided access to memory of other ranks: put, get, accumulate, atomics, locks.
module syncyte_window_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  use syncyte_comm_c, c_syncyte_finalize => syncyte_finalize
  implicit none
  public
  private :: c_syncyte_finalize

  !> Kinds of locks.
  ! several ranks may hold it
  integer(c_int32_t), parameter :: SYNCYTE_LOCK_SHARED = 1_c_int32_t
  ! one rank may hold it
  integer(c_int32_t), parameter :: SYNCYTE_LOCK_EXCLUSIVE = 2_c_int32_t

  !> Options of a new window.
  type, bind(C) :: syncyte_window_options_t
    ! sizeof(syncyte_window_options_t)
    integer(c_size_t) :: struct_size = 32_c_size_t
    ! may be null, which is a name of its own; equal on all ranks
    type(c_ptr) :: name = c_null_ptr
    ! SYNCYTE_MEMORY_HOST; other kinds are not supported yet
    integer(c_int32_t) :: memory = 0_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
    ! name for messages, if not null; ranks may differ
    type(c_ptr) :: label = c_null_ptr
  end type syncyte_window_options_t

  interface

    !> Makes a window. Collective; fact: options->name; sizes may differ between ranks and may be 0.
    ! comm [in]: its ranks
    ! size [in]: this rank's bytes
    ! options [in]: null for defaults
    ! window [out]: the window
    ! Returns: SYNCYTE_ERR_MEMORY if the node's ranks together ask for more than the machine or its cgroup has
    ! available, SYNCYTE_ERR_UNSUPPORTED if comm spans several nodes, a rank lacks UCX, and this MPI has no one-
    ! sided communication between them.
    function syncyte_window_create(comm, size, options, window) bind(C, name="syncyte_window_create") &
        result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), value :: size
      type(syncyte_window_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: window
      integer(c_int32_t) :: answer
    end function syncyte_window_create

    !> Adds a reference. Local, thread-safe, without MPI.
    ! window [in]: a window
    function syncyte_window_retain(window) bind(C, name="syncyte_window_retain") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t) :: answer
    end function syncyte_window_retain

    !> Drops a reference. Local, thread-safe, without MPI. Memory is freed at a collective point once all ranks have
    !> dropped the window.
    ! window [in]: a window
    function syncyte_window_release(window) bind(C, name="syncyte_window_release") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t) :: answer
    end function syncyte_window_release

    !> Drops a reference and nulls the handle; a null handle is ignored. Local.
    ! window [in,out]: a window
    function syncyte_window_destroy(window) bind(C, name="syncyte_window_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: window
      integer(c_int32_t) :: answer
    end function syncyte_window_destroy

    !> Returns the size of a rank's part. Local.
    ! window [in]: a window
    ! rank [in]: rank that contributed the part
    ! size [out]: bytes of its part
    function syncyte_window_size(window, rank, size) bind(C, name="syncyte_window_size") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(inout) :: size
      integer(c_int32_t) :: answer
    end function syncyte_window_size

    !> Returns the address of a rank's part, if it lies on this node. Local. Valid while there is a reference to the
    !> window.
    ! window [in]: a window
    ! rank [in]: rank that contributed the part
    ! data [out]: its first byte
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for a rank on another node.
    function syncyte_window_pointer(window, rank, data) bind(C, name="syncyte_window_pointer") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      type(c_ptr), intent(inout) :: data
      integer(c_int32_t) :: answer
    end function syncyte_window_pointer

    !> Writes elements to a rank. The buffer may be re-used on return; visible at the target after flush.
    ! window [in]: a window
    ! rank [in]: target
    ! offset [in]: bytes from the start of its part
    ! source [in]: contiguous
    ! Returns: SYNCYTE_ERR_INDEX beyond the end, SYNCYTE_ERR_ARGUMENT (rank), SYNCYTE_ERR_SHAPE.
    function syncyte_window_put(window, rank, offset, source) bind(C, name="syncyte_window_put") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: offset
      type(syncyte_buffer_t), intent(in) :: source
      integer(c_int32_t) :: answer
    end function syncyte_window_put

    !> Starts syncyte_window_put(), as the head of syncyte/window.h says.
    ! window [in]: a window; it may be destroyed before the request has ended
    ! rank [in]: target
    ! offset [in]: bytes from the start of its part
    ! source [in]: contiguous; must stay unchanged until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as window_put, for errors that this rank finds; test and wait return the others.
    function syncyte_window_iput(window, rank, offset, source, request) bind(C, name="syncyte_window_iput") &
        result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: offset
      type(syncyte_buffer_t), intent(in) :: source
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_window_iput

    !> Reads elements of a rank; complete on return.
    ! window [in]: a window
    ! rank [in]: target
    ! offset [in]: bytes from the start of its part
    ! target [out]: contiguous
    function syncyte_window_get(window, rank, offset, target) bind(C, name="syncyte_window_get") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: offset
      type(syncyte_buffer_t), intent(in) :: target
      integer(c_int32_t) :: answer
    end function syncyte_window_get

    !> Starts syncyte_window_get(), as the head of syncyte/window.h says.
    ! window [in]: a window; it may be destroyed before the request has ended
    ! rank [in]: target
    ! offset [in]: bytes from the start of its part
    ! target [out]: contiguous; may not be read until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as window_get, for errors that this rank finds; test and wait return the others.
    function syncyte_window_iget(window, rank, offset, target, request) bind(C, name="syncyte_window_iget") &
        result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: offset
      type(syncyte_buffer_t), intent(in) :: target
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_window_iget

    !> Combines elements with those at a rank; atomic per element (a complex number as a whole) with other
    !> accumulates, fetch-ops and compare-swaps. The buffer may be re-used on return; visible at the target after
    !> flush.
    ! window [in]: a window
    ! rank [in]: target
    ! offset [in]: bytes from the start of its part; a multiple of the element's size
    ! source [in]: contiguous
    ! op [in]: SYNCYTE_OP_SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR or REPLACE
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for an op or dtype without atomics.
    function syncyte_window_accumulate(window, rank, offset, source, op) bind(C, &
        name="syncyte_window_accumulate") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: offset
      type(syncyte_buffer_t), intent(in) :: source
      integer(c_int32_t), value :: op
      integer(c_int32_t) :: answer
    end function syncyte_window_accumulate

    !> Starts syncyte_window_accumulate(), as the head of syncyte/window.h says.
    ! window [in]: a window; it may be destroyed before the request has ended
    ! rank [in]: target
    ! offset [in]: bytes from the start of its part; a multiple of the element's size
    ! source [in]: contiguous; must stay unchanged until the request has ended
    ! op [in]: SYNCYTE_OP_SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR or REPLACE
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as window_accumulate, for errors that this rank finds; test and wait return the others.
    function syncyte_window_iaccumulate(window, rank, offset, source, op, request) bind(C, &
        name="syncyte_window_iaccumulate") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: offset
      type(syncyte_buffer_t), intent(in) :: source
      integer(c_int32_t), value :: op
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_window_iaccumulate

    !> Combines one element and returns its old value; atomic, sequentially consistent on a node.
    ! window [in]: a window
    ! rank [in]: target
    ! offset [in]: bytes from the start of its part; a multiple of the element's size
    ! dtype [in]: element type
    ! operand [in]: one element
    ! op [in]: as in accumulate
    ! previous [out]: the old element
    function syncyte_window_fetch_op(window, rank, offset, dtype, operand, op, previous) bind(C, &
        name="syncyte_window_fetch_op") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: offset
      integer(c_int32_t), value :: dtype
      type(c_ptr), value :: operand
      integer(c_int32_t), value :: op
      type(c_ptr), value :: previous
      integer(c_int32_t) :: answer
    end function syncyte_window_fetch_op

    !> Starts syncyte_window_fetch_op(), as the head of syncyte/window.h says.
    ! window [in]: a window; it may be destroyed before the request has ended
    ! rank [in]: target
    ! offset [in]: bytes from the start of its part; a multiple of the element's size
    ! dtype [in]: element type
    ! operand [in]: one element; may be re-used on return
    ! op [in]: as in accumulate
    ! previous [out]: the old element; may not be read until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as window_fetch_op, for errors that this rank finds; test and wait return the others.
    function syncyte_window_ifetch_op(window, rank, offset, dtype, operand, op, previous, request) bind(C, &
        name="syncyte_window_ifetch_op") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: offset
      integer(c_int32_t), value :: dtype
      type(c_ptr), value :: operand
      integer(c_int32_t), value :: op
      type(c_ptr), value :: previous
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_window_ifetch_op

    !> Writes desired if the element equals expected, and returns its old value; atomic.
    ! window [in]: a window
    ! rank [in]: target
    ! offset [in]: bytes from the start of its part; a multiple of the element's size
    ! dtype [in]: an integer type or bool
    ! expected [in]: one element
    ! desired [in]: one element
    ! previous [out]: the old element; equal to expected if desired was written
    function syncyte_window_compare_swap(window, rank, offset, dtype, expected, desired, previous) bind(C, &
        name="syncyte_window_compare_swap") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: offset
      integer(c_int32_t), value :: dtype
      type(c_ptr), value :: expected
      type(c_ptr), value :: desired
      type(c_ptr), value :: previous
      integer(c_int32_t) :: answer
    end function syncyte_window_compare_swap

    !> Starts syncyte_window_compare_swap(), as the head of syncyte/window.h says.
    ! window [in]: a window; it may be destroyed before the request has ended
    ! rank [in]: target
    ! offset [in]: bytes from the start of its part; a multiple of the element's size
    ! dtype [in]: an integer type or bool
    ! expected [in]: one element; may be re-used on return
    ! desired [in]: one element; may be re-used on return
    ! previous [out]: the old element; equal to expected if desired was written; may not be read until the request
    ! has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as window_compare_swap, for errors that this rank finds; test and wait return the others.
    function syncyte_window_icompare_swap(window, rank, offset, dtype, expected, desired, previous, request) &
        bind(C, name="syncyte_window_icompare_swap") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: offset
      integer(c_int32_t), value :: dtype
      type(c_ptr), value :: expected
      type(c_ptr), value :: desired
      type(c_ptr), value :: previous
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_window_icompare_swap

    !> Waits for a rank's lock. Locks are advisory: they exclude only other lock calls. Not recursive. There is no
    !> queue: an exclusive lock may wait for as long as other ranks hold shared ones. If a holder of an exclusive
    !> lock dies, the wait ends with an error; a shared lock's holders are not known, so any rank's death ends it.
    ! window [in]: a window
    ! rank [in]: rank whose part is locked
    ! kind [in]: shared or exclusive
    ! Returns: SYNCYTE_ERR_PEER_DIED if a holder, or the rank itself, died or is out of reach, or if the holder of
    ! an exclusive lock has come to finalize; where the lock is shared, if all other ranks have; SYNCYTE_ERR_BUSY if
    ! this rank holds it already.
    function syncyte_window_lock(window, rank, kind) bind(C, name="syncyte_window_lock") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int32_t), value :: kind
      integer(c_int32_t) :: answer
    end function syncyte_window_lock

    !> Completes this rank's blocking operations on a rank, and releases its lock.
    ! window [in]: a window
    ! rank [in]: rank whose part is locked
    ! Returns: SYNCYTE_ERR_ARGUMENT if this rank does not hold it.
    function syncyte_window_unlock(window, rank) bind(C, name="syncyte_window_unlock") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int32_t) :: answer
    end function syncyte_window_unlock

    !> Completes this rank's blocking operations at their targets. Local. A started operation (iput and so on) is
    !> complete when its request has ended.
    ! window [in]: a window
    ! rank [in]: target; -1: all
    function syncyte_window_flush(window, rank) bind(C, name="syncyte_window_flush") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t), value :: rank
      integer(c_int32_t) :: answer
    end function syncyte_window_flush

    !> Completes all ranks' blocking operations: after it, all ranks see all earlier writes. Collective; also frees
    !> objects that all ranks have dropped.
    ! window [in]: a window
    function syncyte_window_fence(window) bind(C, name="syncyte_window_fence") result(answer)
      import
      type(c_ptr), value :: window
      integer(c_int32_t) :: answer
    end function syncyte_window_fence
  end interface
end module syncyte_window_c
