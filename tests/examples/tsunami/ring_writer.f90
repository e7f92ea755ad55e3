! SPDX-License-Identifier: BSD-3-Clause
!> Writes a pattern per snapshot into the ring, first in steps that ring_reader.py follows, then as fast as it can.
!> The pattern of publication p: depth p, momenta -p and 2 p in every cell.
program ring_writer
  use mpi_f08, only: MPI_Comm, MPI_Finalize, MPI_Init, MPI_Wtime
  use checks, only: check, check_below, failures
  use syncyte, only: SYNCYTE_COMPARE_GE, syncyte_comm, syncyte_finalize, syncyte_init
  use tsunami_bathymetry, only: bathymetry_t
  use tsunami_grid, only: grid_t, make_grid, make_state, state_t
  use tsunami_kinds, only: int64, wp
  use tsunami_options, only: options_t
  use tsunami_ring, only: close_ring, open_ring, overwritten, publish, ring_t, stop_wanted
  use tsunami_store, only: fill_slot, open_slot
  implicit none

  integer, parameter :: extent = 256, snapshots = 6
  integer, parameter :: step_done = 11, reader_done = 12  !< counters that the solver does not use
  type(syncyte_comm) :: world, writers
  type(options_t) :: options
  type(grid_t) :: grid
  type(state_t) :: state
  type(ring_t) :: ring
  logical :: alive

  call MPI_Init()
  call syncyte_init()
  call set_up()
  call publish_many(2*snapshots)
  call wait_for_nobody()
  call wait_for_reads()
  call leave_a_slot_open()
  call overwrite_while_it_is_read()
  alive = .true.
  do while (alive)
    call publish_next()
  end do
  call close_ring(ring)
  call syncyte_finalize()
  call MPI_Finalize()
  if (failures > 0) error stop 1

contains

  subroutine set_up()
    type(bathymetry_t) :: bathymetry
    type(MPI_Comm) :: comm
    character(len=:), allocatable :: error

    bathymetry%nx = extent
    bathymetry%ny = extent
    bathymetry%dx = 1
    bathymetry%dy = 1
    allocate (bathymetry%bed(extent, extent), source=-1.0_wp)
    options%snapshots = snapshots
    options%ring_runs = 2
    options%held_out_runs = 1
    options%reads = 2
    options%wait_limit = 0.5_wp
    call world%from_world()
    call world%split_program(writers, 'ring_writer')
    comm%MPI_VAL = writers%to_mpi()
    call make_grid(bathymetry, comm, .false., grid, error)
    call check(error == '', error)
    call make_state(grid, state)
    call open_ring(world, grid, options, ring)
  end subroutine set_up

  subroutine plant(publication)
    integer(int64), intent(in) :: publication

    state%h = real(publication, wp)
    state%hu = -real(publication, wp)
    state%hv = 2*real(publication, wp)
  end subroutine plant

  subroutine publish_next()
    integer(int64) :: run, number

    run = ring%publication/snapshots
    number = modulo(ring%publication, int(snapshots, int64))
    call plant(ring%publication)
    call publish(ring, grid, state, run, number, number*options%interval, alive)
  end subroutine publish_next

  subroutine publish_many(count)
    integer, intent(in) :: count
    integer :: i

    do i = 1, count
      call publish_next()
    end do
  end subroutine publish_many

  subroutine tell(counter_value)
    integer, intent(in) :: counter_value

    call writers%barrier()
    if (grid%rank == 0) call ring%counters%store(step_done, counter_value)
  end subroutine tell

  subroutine await(counter_value)
    integer, intent(in) :: counter_value

    call ring%counters%wait(reader_done, SYNCYTE_COMPARE_GE, counter_value)
  end subroutine await

  !> The ring is full and no learner reads: the writer sleeps for its limit, then overwrites the oldest snapshot.
  subroutine wait_for_nobody()
    real(wp) :: begin, busy_begin, busy_end

    call writers%barrier()
    begin = MPI_Wtime()
    call cpu_time(busy_begin)
    call publish_next()
    call cpu_time(busy_end)
    call check_below(0.49_wp, MPI_Wtime() - begin, 'the writer waits as long as it may')
    call check_below(busy_end - busy_begin, 0.2_wp, 'the writer sleeps while it waits')
    call check(ring%counters%load(overwritten) == 1, 'the overwritten snapshot is counted')
    call tell(1)
  end subroutine wait_for_nobody

  !> The writer does not wait once the oldest snapshot has been read often enough.
  subroutine wait_for_reads()
    call await(1)
    call publish_next()
    call check(ring%counters%load(overwritten) == 1, 'no other snapshot was overwritten unread')
  end subroutine wait_for_reads

  !> One rank writes its strip of the next snapshot; the other ranks do not.
  subroutine leave_a_slot_open()
    call plant(ring%publication)
    call writers%barrier()
    if (grid%rank == 0) then
      call open_slot(ring%training, ring%publication)
      call fill_slot(ring%training, ring%publication, grid, state)
    end if
    call tell(2)
    call await(2)
  end subroutine leave_a_slot_open

  !> The reader checks its slots, and gathers them only after all of them have been overwritten.
  subroutine overwrite_while_it_is_read()
    ring%reads_wanted = 0
    call await(3)
    call publish_many(2*snapshots)
    call tell(3)
  end subroutine overwrite_while_it_is_read
end program ring_writer
