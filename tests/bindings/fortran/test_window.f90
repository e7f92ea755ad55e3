! SPDX-License-Identifier: BSD-3-Clause
!> Windows: put, get, accumulate, atomics, locks, pointers, errors.
program test_window
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_window) :: w
  integer :: rank, ranks, right

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  right = modulo(rank + 1, ranks)
  call w%create(world, int(1024 + 8*rank, int64), name="test")
  call check_equal(w%size(right), int(1024 + 8*right, int64), "bytes")
  call moving()
  call accumulating()
  call atomics()
  call started()
  call locking()
  call pointers()
  call errors()
  call w%destroy()
  call check(w%is_null(), "destroy leaves nothing")
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  subroutine moving()
    real(real64) :: sent(3, 2), received(3, 2)

    sent = rank
    call w%put(right, 3, sent)
    call w%flush(right)
    call w%fence()
    received = -1
    call w%get(rank, 3_int64, received)
    call check(all(received == modulo(rank - 1, ranks)), "put by the left neighbour")
    call w%get(right, 3, received)
    call check(all(received == rank), "get from the right neighbour")
    call w%fence()
  end subroutine moving

  subroutine accumulating()
    integer :: ones(2), total(2), i

    ones = [1, 2]
    do i = 1, 100
      call w%accumulate(0, 31, ones, SYNCYTE_OP_SUM)
    end do
    call w%flush()
    call w%fence()
    call w%get(0, 31, total)
    call check(all(total == 100*ranks*ones), "no add is lost")
    call w%fence()
  end subroutine accumulating

  subroutine atomics()
    integer(int64) :: previous

    call w%fetch_op(0, 40, 1_int64, SYNCYTE_OP_SUM, previous)
    call check(previous >= 0 .and. previous < ranks, "the value before")
    call w%fence()
    call w%compare_swap(0, 40, int(ranks, int64), -1_int64, previous)
    call check(previous == ranks .or. previous == -1, "exchanged once")
    call w%fence()
    call w%fetch_op(0, 40, 0_int64, SYNCYTE_OP_REPLACE, previous)
    call check(previous == -1 .or. previous == 0, "replaced")
    call w%fence()
  end subroutine atomics

  subroutine started()
    type(syncyte_request) :: requests(3)
    integer(int64), asynchronous :: sent(2), received(2), previous, one

    one = 1
    sent = 100*rank
    call w%iput(right, 60, sent, requests(1))
    call w%iaccumulate(0, 64, one, SYNCYTE_OP_SUM, requests(2))
    call w%ifetch_op(0, 65, 1_int64, SYNCYTE_OP_SUM, previous, requests(3))
    call syncyte_wait_all(requests)
    call check(previous >= 0 .and. previous < ranks, "ifetch_op")
    call w%fence()
    call w%iget(rank, 60, received, requests(1))
    call requests(1)%wait()
    call check(all(received == 100*modulo(rank - 1, ranks)), "iput and iget")
    call w%iget(0, 64, received, requests(1))
    call requests(1)%wait()
    call check(all(received == ranks), "iaccumulate")
    call w%fence()
    call w%icompare_swap(0, 65, int(ranks, int64), -1_int64, previous, requests(1))
    call requests(1)%wait()
    call check(previous == ranks .or. previous == -1, "icompare_swap")
    call w%fence()
  end subroutine started

  !> Increments a counter under the lock; the sum is right only if the lock excludes other ranks.
  subroutine locking()
    integer :: value, i

    do i = 1, 20
      call w%lock(0, SYNCYTE_LOCK_EXCLUSIVE)
      call w%get(0, 100, value)
      call w%put(0, 100, value + 1)
      call w%unlock(0)
    end do
    call w%fence()
    call w%lock(0, SYNCYTE_LOCK_SHARED)
    call w%get(0, 100, value)
    call w%unlock(0)
    call check_equal(value, 20*ranks, "one at a time")
    call w%fence()
  end subroutine locking

  subroutine pointers()
    real(real32), pointer, asynchronous :: all_of_it(:), part(:, :)
    integer(int64), pointer :: mine(:)
    integer :: stat
    character(len=400) :: errmsg

    call w%pointer(all_of_it, rank)
    call check_equal(size(all_of_it), 256 + 2*rank, "all elements")
    call w%pointer(part, rank, [4, 5])
    call check(all(shape(part) == [4, 5]) .and. all(lbound(part) == 1), "shape and bounds")
    part = rank
    call w%fence()
    call w%pointer(part, right, [2_int64, 10_int64])
    call check(all(part == right), "the neighbour's memory")
    call w%pointer(part, rank, [1000, 5], stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "does not fit", "too large a shape")
    call w%pointer(part, rank, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "rank 2", "rank 2 without a shape")
    call w%pointer(mine, rank, [0])
    call check(associated(mine) .and. size(mine) == 0, "no elements")
    call w%fence()
  end subroutine pointers

  subroutine errors()
    real(real64) :: x(4)
    integer :: stat, number
    integer(int64) :: long
    character(len=400) :: errmsg

    x = 0
    call w%put(rank, 126 + rank, x, stat, errmsg)
    call check(stat == SYNCYTE_ERR_INDEX, "beyond the end: "//errmsg)
    call w%get(rank, 0, x, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "first = 0", "before the start")
    call w%put(ranks, 1, x, stat, errmsg)
    call check(stat == SYNCYTE_ERR_ARGUMENT, "a rank that does not exist: "//errmsg)
    call w%put(rank, 1, x(::2), stat, errmsg)
    call check(stat == SYNCYTE_ERR_SHAPE, "not contiguous: "//errmsg)
    call w%fetch_op(rank, 1, 1, SYNCYTE_OP_SUM, long, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "previous is integer(8)", "different types")
    call w%compare_swap(rank, 1, 1, 2.0, number, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "desired is real(4)", "different types in compare_swap")
    call w%unlock(rank, stat, errmsg)
    call check(stat == SYNCYTE_ERR_ARGUMENT, "a lock that is not held: "//errmsg)
    call w%fence()
  end subroutine errors

end program test_window
