!> An error in a call without stat= ends the job on all ranks; the last line must not be reached.
program end_of_job
  use, intrinsic :: iso_fortran_env, only: real64
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: t
  real(real64) :: row(2)

  call syncyte_init()
  call world%from_world()
  call t%create(world, SYNCYTE_FLOAT64, [2, 6])
  print '(a)', "started"
  if (world%rank() == world%size() - 1) call t%gather([7], row)
  call world%barrier()
  print '(a)', "still here"
end program end_of_job
