! SPDX-License-Identifier: BSD-3-Clause
!> A gas in a box, on a staggered grid of blocks. Usage: mpirun -n 4 ./staggered STEPS
program staggered
  use mpi
  use exchange, only: update_halo
  use fields
  use physics, only: accelerate, advect, find_fluxes
  implicit none
  character(len=16) :: argument
  integer :: error, last, step

  call MPI_Init(error)
  comm = MPI_COMM_WORLD
  call get_command_argument(1, argument)
  read (argument, *) last
  call decompose()
  call allocate_fields()
  do step = 1, last
    call update_halo(of_cells + of_nodes, 2)
    call accelerate()
    call update_halo(of_nodes, 1)
    call find_fluxes()
    call update_halo(of_faces, 1)
    call advect()
  end do
  call print_state()
  call MPI_Finalize(error)

contains

  subroutine print_state()
    use, intrinsic :: iso_fortran_env, only: int64
    integer(int64) :: total

    total = checksum()
    if (rank == 0) print '(a, i0, a, z16.16)', 'step ', last, ': ', total
  end subroutine print_state
end program staggered
