! SPDX-License-Identifier: BSD-3-Clause
program writer
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: field
  real(8), pointer, asynchronous :: mine(:, :)        ! other ranks read it
  call syncyte_init()                                ! and MPI, unless the program has called MPI_Init
  call world%from_world()
  call field%create(world, SYNCYTE_FLOAT64, [4, 6])  ! 6 rows of 4 numbers, spread over all ranks
  call field%local(mine)                             ! mine(:, first:last), in place
  mine = world%rank() + 1
  call field%sync()                                  ! from here on all ranks see it
  call syncyte_finalize()
end program
