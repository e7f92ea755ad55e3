! SPDX-License-Identifier: BSD-3-Clause
!> A shallow-water solver with its own main loop and its own MPI. It uses Syncyte for its snapshots, and for the halo
!> exchange that fills its ghost rows.
program tsunami_solver
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  use mpi_f08, only: MPI_Abort, MPI_Comm, MPI_Comm_rank, MPI_COMM_WORLD, MPI_Finalize, MPI_Init
  use syncyte, only: syncyte_comm, syncyte_finalize, syncyte_init
  use tsunami_bathymetry, only: bathymetry_t, read_bathymetry
  use tsunami_grid, only: grid_t, make_grid, make_state, state_t
  use tsunami_kinds, only: int64, wp
  use tsunami_options, only: options_t, parse_options, usage
  use tsunami_ring, only: close_ring, open_ring, publish, publish_held_out, ring_t
  use tsunami_stepper, only: advance, make_workspace, workspace_t
  use tsunami_uplift, only: raise_seabed
  implicit none

  integer(int64), parameter :: first_held_out_seed = 1000000000_int64  !< above all seeds of training runs
  integer :: rank
  type(options_t) :: options
  type(bathymetry_t) :: bathymetry
  type(grid_t) :: grid
  type(state_t) :: state
  type(workspace_t) :: work
  type(syncyte_comm) :: world, solvers
  type(ring_t) :: ring
  logical :: alive
  integer(int64) :: run

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call read_input()
  call syncyte_init()
  call world%from_world()
  call world%split_program(solvers, 'tsunami_solver')
  call set_up()
  call open_ring(world, grid, options, ring)

  alive = .true.
  do run = 1, options%held_out_runs
    if (alive) call simulate(first_held_out_seed + run, run, held_out=.true.)
  end do
  run = 1
  do while (alive .and. run <= options%runs)
    call simulate(options%seed + run - 1, run, held_out=.false.)
    run = run + 1
  end do

  call close_ring(ring)
  call grid%ghost_rows%destroy()
  call solvers%destroy()
  call world%destroy()
  call syncyte_finalize()
  call MPI_Finalize()

contains

  subroutine read_input()
    character(len=:), allocatable :: error

    call parse_options(options, error)
    if (error /= '') call give_up(error)
    if (options%help) then
      if (rank == 0) call usage(output_unit)
      call MPI_Finalize()
      stop
    end if
    call read_bathymetry(options%bathymetry, bathymetry, error)
    if (error /= '') call give_up(error)
  end subroutine read_input

  subroutine set_up()
    type(MPI_Comm) :: comm
    character(len=:), allocatable :: error

    if (solvers%rank() /= rank) call give_up('the solver must be the first program of mpirun')
    comm%MPI_VAL = solvers%to_mpi()
    call make_grid(bathymetry, comm, .false., grid, error)
    if (error /= '') call give_up(error)
    call make_state(grid, state)
    call make_workspace(grid, work)
  end subroutine set_up

  !> Computes one run from the uplift to its last snapshot.
  subroutine simulate(seed, number, held_out)
    integer(int64), intent(in) :: seed, number
    logical, intent(in) :: held_out
    real(wp) :: time
    integer :: snapshot

    call raise_seabed(bathymetry, seed, grid, state)
    time = 0
    do snapshot = 0, options%snapshots - 1
      call advance(grid, options%cfl, snapshot*options%interval, time, state, work)
      if (held_out) then
        call publish_held_out(ring, grid, state, number, int(snapshot, int64), time, alive)
      else
        call publish(ring, grid, state, number, int(snapshot, int64), time, alive)
      end if
      if (.not. alive) return
    end do
  end subroutine simulate

  !> Ends the whole job with a message of rank 0.
  subroutine give_up(message)
    character(len=*), intent(in) :: message

    if (rank == 0) then
      write (error_unit, '(2a)') 'tsunami_solver: ', message
      call MPI_Abort(MPI_COMM_WORLD, 2)
    end if
    call MPI_Finalize()
    stop 2
  end subroutine give_up
end program tsunami_solver
