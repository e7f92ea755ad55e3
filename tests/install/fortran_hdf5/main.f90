! SPDX-License-Identifier: BSD-3-Clause
! A user's program in Fortran: it saves and loads a replicated array.
program consumer
  use, intrinsic :: iso_fortran_env, only: real64
  use syncyte
  use syncyte_checkpoint
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_checkpoint_entries) :: entries
  real(real64), target, asynchronous :: field(3) = [1.0_real64, 2.0_real64, 4.0_real64]

  call syncyte_init()
  call world%from_world()
  call entries%add('field', field)
  call syncyte_save(world, 'consumer.h5', entries)
  field = 0
  call syncyte_load(world, 'consumer.h5', entries)
  if (any(abs(field - [1, 2, 4]) > 0)) error stop 1
  if (world%rank() == 0) print '(a, i0, a)', 'consumer: ', world%size(), ' ranks saved and loaded'
  call world%destroy()
  call syncyte_finalize()
end program consumer
