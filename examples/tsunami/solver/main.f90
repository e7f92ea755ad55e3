! SPDX-License-Identifier: BSD-3-Clause
!> A shallow-water solver with its own main loop and its own MPI. It uses Syncyte for the halo exchange that fills its
!> ghost rows, for its snapshots, and for forecasts by a trained model.
program tsunami_solver
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  use mpi_f08, only: MPI_Abort, MPI_Comm, MPI_Comm_rank, MPI_COMM_WORLD, MPI_Finalize, MPI_Init, MPI_Wtime
  use syncyte, only: syncyte_comm, syncyte_finalize, syncyte_init
  use tsunami_bathymetry, only: bathymetry_t, read_bathymetry
  use tsunami_forecast, only: ask_forecast, close_forecasts, forecasts_t, open_forecasts
  use tsunami_grid, only: free_grid, free_state, grid_t, make_grid, make_state, state_t
  use tsunami_kinds, only: int64, wp
  use tsunami_options, only: options_t, parse_options, usage
  use tsunami_ring, only: asked, close_ring, open_ring, publish, publish_held_out, ring_t, time_alone, time_together, &
                          used
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
  type(forecasts_t) :: forecasts
  logical :: alive
  integer(int64) :: run
  real(wp) :: begin

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call read_input()
  call syncyte_init()
  call world%from_world()
  call world%split_program(solvers, 'tsunami_solver')
  call set_up()
  call open_ring(world, grid, options, ring)
  if (options%forecast_every > 0) call open_forecasts(world, grid, options%forecast_wait, forecasts)

  alive = .true.
  begin = MPI_Wtime()
  do run = 1, options%held_out_runs
    if (alive) call simulate(first_held_out_seed + run, run, held_out=.true.)
  end do
  if (options%forecast_every > 0) call use_forecasts(MPI_Wtime() - begin)
  run = 1
  do while (alive .and. run <= options%runs)
    call simulate(options%seed + run - 1, run, held_out=.false.)
    run = run + 1
  end do

  call close_ring(ring)
  call free_state(state)
  call free_state(work%stage)
  call free_grid(grid)
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

  !> Computes the held-out runs again, with forecasts; their snapshots go into the ring.
  subroutine use_forecasts(seconds_alone)
    real(wp), intent(in) :: seconds_alone

    begin = MPI_Wtime()
    do run = 1, options%held_out_runs
      if (alive) call simulate_with_forecasts(first_held_out_seed + run, run)
    end do
    if (grid%rank == 0) then
      call ring%counters%store(time_alone, nint(1000*seconds_alone, int64))
      call ring%counters%store(time_together, nint(1000*(MPI_Wtime() - begin), int64))
      call ring%counters%store(asked, forecasts%asked)
      call ring%counters%store(used, forecasts%used)
    end if
    call solvers%barrier()  ! the counters are stored before the learner hears of the end
    call close_forecasts(forecasts)
  end subroutine use_forecasts

  !> Computes one run. After every few snapshots a forecast takes the place of the solver's own steps, if it is in time.
  subroutine simulate_with_forecasts(seed, number)
    integer(int64), intent(in) :: seed, number
    real(wp) :: time
    integer :: snapshot, computed
    logical :: got

    call raise_seabed(bathymetry, seed, grid, state)
    snapshot = 0
    computed = 0
    time = 0
    do while (snapshot < options%snapshots)
      call advance(grid, options%cfl, snapshot*options%interval, time, state, work)
      call publish(ring, grid, state, number, int(snapshot, int64), time, alive)
      if (.not. alive) return
      computed = computed + 1
      got = .false.
      if (modulo(computed, options%forecast_every) == 0 .and. snapshot + options%forecast_lead < options%snapshots) &
        call ask_forecast(forecasts, grid, state, got)
      snapshot = snapshot + merge(options%forecast_lead, 1, got)
      if (got) time = snapshot*options%interval
    end do
  end subroutine simulate_with_forecasts

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
