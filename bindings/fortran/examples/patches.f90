! SPDX-License-Identifier: BSD-3-Clause
!> Patches between bounds, as in Global Arrays: get, put, acc, read_inc, locate; locks and signals.
!> Run: mpirun -np 3 ./patches
program patches
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: matrix, tasks
  real(real64) :: block(4, 6), column(12)
  integer(int64) :: task, owners, seen
  integer :: ranks(64), first(64), last(64), part, total

  call syncyte_init()
  call world%from_world()
  call matrix%create(world, SYNCYTE_FLOAT64, [12, 12], row_locks=.true.)
  call tasks%create(world, SYNCYTE_INT64, [2])

  ! Each rank takes tasks until none is left, and adds each task's block to the matrix.
  block = 1
  do
    task = tasks%read_inc(1, 1)                        ! nga_read_inc
    if (task >= 6) exit
    part = int(mod(task, 3_int64))
    call matrix%acc([4*part + 1, 4], [4*part + 4, 9], block, alpha=0.5_real64)  ! nga_acc
  end do
  call matrix%sync()                                   ! ga_sync
  call matrix%get([1, 4], [12, 4], column)             ! nga_get: matrix(1:12, 4)
  if (any(nint(column) /= 1)) error stop "acc"
  call matrix%sync()

  ! Owners of columns 2 to 11, and the columns that each of them owns
  total = world%size()
  owners = matrix%locate([1, 2], [12, 11], ranks, first, last)  ! nga_locate_region
  if (first(1) /= 2 .or. last(owners) /= 11) error stop "locate"

  ! One rank at a time changes a column.
  call matrix%lock(12_int64)                           ! ga_lock
  call matrix%get([1, 12], [12, 12], column)
  call matrix%put([1, 12], [12, 12], column + 1)       ! nga_put
  call matrix%unlock(12)
  call matrix%sync()
  call matrix%get([1, 12], [12, 12], column)
  if (any(nint(column) /= total)) error stop "lock"
  call matrix%sync()

  ! Rank 0 writes a column and says so.
  if (world%rank() == 0) then
    column = 7
    call matrix%put_signal([2], column, tasks, 2)
  end if
  call tasks%wait(2, SYNCYTE_COMPARE_EQ, 1, found=seen)
  call matrix%get([1, 2], [12, 2], column)
  if (any(nint(column) /= 7)) error stop "put_signal"

  call tasks%sync()
  call tasks%destroy()
  call matrix%destroy()
  call world%destroy()
  call syncyte_finalize()
end program patches
