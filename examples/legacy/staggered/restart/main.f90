! SPDX-License-Identifier: BSD-3-Clause
!> A gas in a box, on a staggered grid of blocks. Usage: mpirun -n 4 ./staggered STEPS
program staggered
  use mpi
  use syncyte
  use syncyte_checkpoint
  use exchange, only: update_halo
  use fields
  use physics, only: accelerate, advect, find_fluxes
  implicit none
  character(len=16) :: argument
  type(syncyte_comm) :: world
  type(syncyte_layout) :: cells, nodes
  type(syncyte_bundle) :: state
  type(syncyte_checkpoint_entries) :: entries
  asynchronous :: density, energy, xvel, yvel
  integer, target :: done(1) = 0                                     ! steps
  logical :: found
  integer :: error, last, step

  call MPI_Init(error)
  comm = MPI_COMM_WORLD
  call get_command_argument(1, argument)
  read (argument, *) last
  call decompose()
  call allocate_fields()
  call syncyte_init(); call world%from_world()
  call cells%blocks(world, whole=[nx, ny], first=[left, bottom], count=[x_max, y_max], ghosts=ghosts)
  call nodes%like(cells, shared=[1, 2], ghosts=ghosts)
  call state%create(world); call entries%add('step', done)
  call state%add('density', cells, density); call state%add('energy', cells, energy)
  call state%add('xvel', nodes, xvel); call state%add('yvel', nodes, yvel)
  inquire (file='state.h5', exist=found)
  if (found) call syncyte_load_bundle(world, 'state.h5', state, entries)
  do step = done(1) + 1, last
    call update_halo(of_cells + of_nodes, 2)
    call accelerate()
    call update_halo(of_nodes, 1)
    call find_fluxes()
    call update_halo(of_faces, 1)
    call advect()
  end do
  done = last; call syncyte_save_bundle(world, 'state.h5', state, entries)
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
