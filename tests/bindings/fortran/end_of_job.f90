! SPDX-License-Identifier: BSD-3-Clause
!> An error in a call without stat= ends the job on all ranks; the last line must not be reached. With the argument
!> "agreed" it is an error of all ranks, which one of them prints; with "caught" the first of them does not end the job.
program end_of_job
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: t
  real(real64) :: row(2)
  character(len=6) :: how
  integer :: stat, rank

  call get_command_argument(1, how)
  call syncyte_init()
  call world%from_world()
  call t%create(world, SYNCYTE_FLOAT64, [2, 6])
  print '(a)', "started"
  rank = world%rank()
  if (how == "caught" .and. rank == 0) then
    call world%bcast(row, world%size(), stat=stat)
    call sleep_for_seconds(8)
  else if (how /= "") then
    call world%bcast(row, world%size())
  end if
  if (world%rank() == world%size() - 1) call t%gather([7], row)
  call world%barrier()
  print '(a)', "still here"

contains

  subroutine sleep_for_seconds(seconds)
    integer, intent(in) :: seconds
    integer(int64) :: now, end, rate

    call system_clock(now, rate)
    end = now + seconds*rate
    do while (now < end)
      call system_clock(now)
    end do
  end subroutine sleep_for_seconds
end program end_of_job
