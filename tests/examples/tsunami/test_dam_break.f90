! SPDX-License-Identifier: BSD-3-Clause
!> A dam breaks over a dry bed: Ritter's analytical solution (1892; Toro 2001, section 6.2).
module test_dam_break
  use mpi_f08, only: MPI_Allreduce, MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_SUM
  use checks, only: check, check_below
  use tsunami_bathymetry, only: bathymetry_t
  use tsunami_grid, only: grid_t, make_grid, make_state, state_t
  use tsunami_kinds, only: gravity, wp
  use tsunami_stepper, only: advance, make_workspace, workspace_t
  implicit none
  private
  public :: test_ritter

  real(wp), parameter :: length = 2000, depth = 10, duration = 40
  integer, parameter :: breadth = 12

contains

  subroutine test_ritter(along_y)
    logical, intent(in) :: along_y
    real(wp) :: coarse, middle, fine

    coarse = error_of(100, along_y)
    middle = error_of(200, along_y)
    fine = error_of(400, along_y)
    call check_below(coarse, 6e-3_wp, 'L1 error of 100 cells')
    call check_below(fine, 2e-3_wp, 'L1 error of 400 cells')
    call check_below(0.8_wp, log(coarse/middle)/log(2.0_wp), 'order of convergence from 100 to 200 cells')
    call check_below(0.8_wp, log(middle/fine)/log(2.0_wp), 'order of convergence from 200 to 400 cells')
  end subroutine test_ritter

  !> Mean absolute error of the depth, relative to the depth behind the dam.
  real(wp) function error_of(cells, along_y)
    integer, intent(in) :: cells
    logical, intent(in) :: along_y
    type(grid_t) :: grid
    type(state_t) :: state
    type(workspace_t) :: work
    real(wp) :: time, mine
    integer :: i, j

    call make_channel(cells, along_y, grid)
    call make_state(grid, state)
    call make_workspace(grid, work)
    state%h = 0
    do j = grid%first, grid%last
      do i = 1, grid%nx
        if (position(merge(j, i, along_y), cells) < 0) state%h(i, j) = depth
      end do
    end do
    time = 0
    call advance(grid, 0.45_wp, duration, time, state, work)
    mine = 0
    do j = grid%first, grid%last
      do i = 1, grid%nx
        mine = mine + abs(state%h(i, j) - ritter(position(merge(j, i, along_y), cells)))
      end do
    end do
    call MPI_Allreduce(mine, error_of, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    error_of = error_of/(grid%nx*grid%ny*depth)
  end function error_of

  subroutine make_channel(cells, along_y, grid)
    integer, intent(in) :: cells
    logical, intent(in) :: along_y
    type(grid_t), intent(out) :: grid
    type(bathymetry_t) :: channel
    character(len=:), allocatable :: error

    channel%nx = merge(breadth, cells, along_y)
    channel%ny = merge(cells, breadth, along_y)
    channel%dx = length/cells
    channel%dy = length/cells
    allocate (channel%bed(channel%nx, channel%ny), source=0.0_wp)
    call make_grid(channel, MPI_COMM_WORLD, .true., grid, error)
    call check(error == '', 'grid: '//error)
  end subroutine make_channel

  !> Metres from the dam.
  pure real(wp) function position(cell, cells)
    integer, intent(in) :: cell, cells

    position = (cell - 0.5_wp)*length/cells - 0.5_wp*length
  end function position

  pure real(wp) function ritter(x)
    real(wp), intent(in) :: x
    real(wp) :: c

    c = sqrt(gravity*depth)
    if (x < -c*duration) then
      ritter = depth
    else if (x < 2*c*duration) then
      ritter = (2*c - x/duration)**2/(9*gravity)
    else
      ritter = 0
    end if
  end function ritter
end module test_dam_break
