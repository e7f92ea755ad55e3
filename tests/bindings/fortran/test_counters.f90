! SPDX-License-Identifier: BSD-3-Clause
!> Counters: atomics between ranks, waiting, release and acquire.
program test_counters
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  integer :: rank, ranks

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  call adding()
  call swapping()
  call waiting()
  call publishing()
  call errors()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  subroutine adding()
    type(syncyte_tensor) :: t
    integer :: i, seen(0:200*ranks), mine
    integer(int8) :: small

    call t%create(world, SYNCYTE_INT64, [4, 2])
    seen = 0
    do i = 1, 200
      call t%fetch_add([3, 2], 1, mine)
      seen(mine) = seen(mine) + 1
    end do
    call t%sync()
    call check_equal(t%load(7), int(200*ranks, int64), "element 7 is (3, 2)")
    call world%allreduce(seen, SYNCYTE_OP_SUM)
    call check(all(seen(:200*ranks - 1) == 1), "every value is seen once")
    if (rank == 0) then
      call t%store(1, -5)
      call t%fetch_add(1, 2_int64)
      call t%fetch_add(1, 1, small)
      call check_equal(int(small), -3, "the value before, in a small integer")
    end if
    call t%sync()
    call check_equal(t%load([1, 1]), -2_int64, "stored and added")
    call t%sync()
    call t%destroy()
  end subroutine adding

  !> Each rank waits for its turn, takes the ticket and passes it on.
  subroutine swapping()
    type(syncyte_tensor) :: t
    integer :: previous

    call t%create(world, SYNCYTE_INT32, [1])
    call t%wait(1, SYNCYTE_COMPARE_EQ, rank, timeout=10.0_real64)
    call t%compare_swap(1, rank, rank + 1, previous)
    call check_equal(previous, rank, "exchanged")
    call t%wait(1, SYNCYTE_COMPARE_GE, ranks, timeout=10.0_real64)
    call t%compare_swap(1, -1, 0, previous)
    call check_equal(previous, ranks, "not exchanged")
    call check_equal(t%load(1), int(ranks, int64), "unchanged")
    call t%sync()
    call t%destroy()
  end subroutine swapping

  subroutine waiting()
    type(syncyte_tensor) :: t
    integer :: stat, found
    logical :: late
    character(len=400) :: errmsg

    call t%create(world, SYNCYTE_INT64, [ranks])
    call t%store(rank + 1, 5)
    call t%wait(rank + 1, SYNCYTE_COMPARE_GE, 4, timeout=0.0_real64, found=found)
    call check_equal(found, 5, "true at once")
    call t%wait(rank + 1, SYNCYTE_COMPARE_NE, 5, timeout=0.05_real64, timed_out=late, stat=stat)
    call check(late, "timed out")
    call check_equal(stat, SYNCYTE_SUCCESS, "no error where timed_out is asked for")
    call t%wait(rank + 1, SYNCYTE_COMPARE_LE, 4, 0.05_real64, stat=stat, errmsg=errmsg)
    call check(stat == SYNCYTE_ERR_TIMEOUT, "an error where it is not: "//errmsg)
    call t%wait(rank + 1, SYNCYTE_COMPARE_EQ, 5, timed_out=late)
    call check(.not. late, "no limit, and in time")
    call t%sync()
    call t%destroy()
  end subroutine waiting

  !> Rank 0 writes data, then a counter. A rank that has waited for the counter sees the data.
  subroutine publishing()
    type(syncyte_tensor) :: data, count
    real(real64) :: row(64)
    integer :: round

    call data%create(world, SYNCYTE_FLOAT64, [64, 2*ranks])
    call count%create(world, SYNCYTE_INT64, [2])
    do round = 1, 50
      if (rank == 0) then
        row = round
        call data%put_box([1, 2*ranks], row)
        call data%flush()
        call count%store(1, round)
        call count%wait(2, SYNCYTE_COMPARE_EQ, (ranks - 1)*round, timeout=10.0_real64)
      else
        call count%wait(1, SYNCYTE_COMPARE_GE, round, timeout=10.0_real64)
        call data%gather([2*ranks], row)
        call check(all(row == round), "data published before its counter")
        call count%fetch_add(2, 1)
      end if
    end do
    call data%sync()
    call data%destroy()
    call count%destroy()
  end subroutine publishing

  subroutine errors()
    type(syncyte_tensor) :: t, reals
    integer :: stat
    integer(int8) :: small
    integer(int64) :: value
    character(len=400) :: errmsg

    call t%create(world, SYNCYTE_INT64, [3, 4])
    call reals%create(world, SYNCYTE_FLOAT64, [3])
    value = t%load(13, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "element 13 is outside 1 to 12", "beyond the end")
    value = t%load([4, 1], stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "subscript 4 of dimension 1 is outside 1 to 3", "subscript")
    call t%store([1, 1, 1], 1, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "3 subscripts", "too many subscripts")
    call t%fetch_add(1, 1.0, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "operand is real(4)", "real operand")
    call reals%fetch_add(1, 1, stat=stat, errmsg=errmsg)
    call check(stat == SYNCYTE_ERR_TYPE, "counter in a real tensor: "//errmsg)
    call t%store(12, 1000)
    call t%fetch_add(12, 0, small, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "too small for the value 1000", "previous in a small integer")
    call t%wait(1, 77, 0, stat=stat, errmsg=errmsg)
    call check(stat == SYNCYTE_ERR_ARGUMENT, "unknown comparison: "//errmsg)
    call t%sync()
    call t%destroy()
    call reals%destroy()
  end subroutine errors

end program test_counters
