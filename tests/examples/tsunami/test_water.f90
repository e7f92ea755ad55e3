! SPDX-License-Identifier: BSD-3-Clause
!> A lake at rest stays at rest, no water is lost, no depth becomes negative, and the number of ranks changes no bit.
module test_water
  use mpi_f08, only: MPI_Allreduce, MPI_Comm, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_SUM
  use basins, only: add_hump, rough_sea
  use checks, only: check, check_below
  use tsunami_bathymetry, only: bathymetry_t
  use tsunami_grid, only: grid_t, make_grid, make_state, state_t
  use tsunami_kinds, only: int64, wp
  use tsunami_stepper, only: advance, make_workspace, workspace_t
  use tsunami_uplift, only: raise_seabed
  implicit none
  private
  public :: test_lake_at_rest, test_mass, test_ranks

  type :: simulation_t
    type(bathymetry_t) :: sea
    type(grid_t) :: grid
    type(state_t) :: state
    type(workspace_t) :: work
    real(wp) :: time = 0
    integer :: steps = 0
  end type simulation_t

contains

  subroutine start(comm, walls, run)
    type(MPI_Comm), intent(in) :: comm
    logical, intent(in) :: walls
    type(simulation_t), intent(out) :: run
    character(len=:), allocatable :: error

    run%sea = rough_sea(37, 29)
    call make_grid(run%sea, comm, walls, run%grid, error)
    call check(error == '', 'grid: '//error)
    call make_state(run%grid, run%state)
    call make_workspace(run%grid, run%work)
  end subroutine start

  subroutine run_until(run, target)
    type(simulation_t), intent(inout) :: run
    real(wp), intent(in) :: target

    call advance(run%grid, 0.45_wp, target, run%time, run%state, run%work, run%steps)
  end subroutine run_until

  subroutine test_lake_at_rest(walls)
    logical, intent(in) :: walls
    type(simulation_t) :: run

    call start(MPI_COMM_WORLD, walls, run)
    call check(any(run%state%h > 50) .or. run%grid%ranks > 1, 'the lake has deep water')
    call run_until(run, 200.0_wp)
    call check(run%steps > 100, 'the lake was watched for many steps')
    associate (g => run%grid, s => run%state)
      call check_below(maxval(abs(s%h - max(0.0_wp, -g%bed))), 1e-11_wp, 'depth of a lake at rest')
      call check_below(maxval(abs(s%hu)) + maxval(abs(s%hv)), 1e-9_wp, 'momentum of a lake at rest')
      call check(all(s%h(1:g%nx, g%first:g%last) > 0 .eqv. g%bed(1:g%nx, g%first:g%last) < 0), 'shores do not move')
    end associate
  end subroutine test_lake_at_rest

  subroutine test_mass()
    type(simulation_t) :: run
    real(wp) :: before, after

    call start(MPI_COMM_WORLD, .true., run)
    call add_hump(run%grid, run%state)
    before = water(run)
    call run_until(run, 300.0_wp)
    after = water(run)
    call check(run%steps > 200, 'the basin was watched for many steps')
    call check_below(abs(after - before)/before, 1e-13_wp, 'water that was lost, relative')
    associate (g => run%grid, s => run%state)
      call check(all(s%h(1:g%nx, g%first:g%last) >= 0), 'no depth is negative')
      call check(count(s%h(1:g%nx, g%first:g%last) > 1e-3_wp .and. g%bed(1:g%nx, g%first:g%last) > 0) > 0 .or. &
                 g%ranks > 1, 'the wave has flooded some land')
    end associate
  end subroutine test_mass

  real(wp) function water(run)
    type(simulation_t), intent(in) :: run
    real(wp) :: mine

    mine = sum(run%state%h(1:run%grid%nx, run%grid%first:run%grid%last))
    call MPI_Allreduce(mine, water, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end function water

  !> Every rank also computes the whole domain alone, and compares its strip with that.
  subroutine test_ranks(walls)
    logical, intent(in) :: walls
    type(simulation_t) :: together, alone

    call start(MPI_COMM_WORLD, walls, together)
    call start(MPI_COMM_SELF, walls, alone)
    if (walls) then
      call add_hump(together%grid, together%state)
      call add_hump(alone%grid, alone%state)
    else
      call raise_seabed(together%sea, 11_int64, together%grid, together%state)
      call raise_seabed(alone%sea, 11_int64, alone%grid, alone%state)
      call check(any(alone%state%h > max(0.0_wp, -alone%grid%bed)), 'the seabed was raised')
    end if
    call run_until(together, 150.0_wp)
    call run_until(alone, 150.0_wp)
    call check(together%steps == alone%steps, 'number of steps')
    associate (g => together%grid, a => alone%state, b => together%state)
      call check(same_bits(a%h(1:g%nx, g%first:g%last), b%h(1:g%nx, g%first:g%last)), 'bits of the depth')
      call check(same_bits(a%hu(1:g%nx, g%first:g%last), b%hu(1:g%nx, g%first:g%last)), 'bits of the x momentum')
      call check(same_bits(a%hv(1:g%nx, g%first:g%last), b%hv(1:g%nx, g%first:g%last)), 'bits of the y momentum')
    end associate
  end subroutine test_ranks

  logical function same_bits(a, b)
    real(wp), intent(in) :: a(:, :), b(:, :)

    same_bits = all(transfer(a, [0_int64]) == transfer(b, [0_int64]))
  end function same_bits
end module test_water
