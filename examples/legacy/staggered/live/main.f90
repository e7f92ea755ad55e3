! SPDX-License-Identifier: BSD-3-Clause
!> A gas in a box, on a staggered grid of blocks. Usage: mpirun -n 4 ./staggered STEPS
program staggered
  use mpi
  use syncyte
  use exchange, only: update_halo
  use fields
  use physics, only: accelerate, advect, find_fluxes
  implicit none
  character(len=16) :: argument
  type(syncyte_comm) :: world, solvers
  type(syncyte_layout) :: cells
  type(syncyte_tensor) :: live, heat
  real(real64), allocatable :: heating(:, :)
  logical :: late
  integer :: error, last, step

  call MPI_Init(error)
  call syncyte_init()
  call world%from_world()
  call world%split_program(solvers)
  comm = solvers%to_mpi()
  call get_command_argument(1, argument)
  read (argument, *) last
  call decompose()
  call allocate_fields()
  allocate (heating(x_max, y_max))
  call cells%blocks(solvers, whole=[nx, ny], first=[left, bottom], count=[x_max, y_max], ghosts=ghosts)
  call live%create_by_layout(world, SYNCYTE_FLOAT64, cells, slots=2, name='density')
  call heat%open(world, 'heat')
  do step = 1, last
    call update_halo(of_cells + of_nodes, 2)
    call accelerate()
    call update_halo(of_nodes, 1)
    call find_fluxes()
    call update_halo(of_faces, 1)
    call advect()
    call live%publish(density, step)
    call heat%take([left, bottom], heating, at_least=step, timeout=10d0, timed_out=late)
    if (.not. late) energy(1:x_max, 1:y_max) = energy(1:x_max, 1:y_max) + heating
  end do
  call print_state()
  call syncyte_finalize()
  call MPI_Finalize(error)

contains

  subroutine print_state()
    use, intrinsic :: iso_fortran_env, only: int64
    integer(int64) :: total

    total = checksum()
    if (rank == 0) print '(a, i0, a, z16.16)', 'step ', last, ': ', total
  end subroutine print_state
end program staggered
