! SPDX-License-Identifier: BSD-3-Clause
! A user's program in Fortran: the sum over all ranks of rank + 1.
program consumer
  use, intrinsic :: iso_fortran_env, only: real64
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  real(real64) :: total(1)
  integer :: ranks

  call syncyte_init()
  call world%from_world()
  ranks = world%size()
  total = world%rank() + 1
  call world%allreduce(total, SYNCYTE_OP_SUM)
  if (abs(total(1) - ranks * (ranks + 1) / 2.0_real64) > 0) error stop 1
  if (world%rank() == 0) print '(a, i0, a, f0.1)', 'consumer: ', ranks, ' ranks, sum ', total(1)
  call world%destroy()
  call syncyte_finalize()
end program consumer
