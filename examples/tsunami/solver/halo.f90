! SPDX-License-Identifier: BSD-3-Clause
!> Ghost cells: copies of the neighbours' rows between ranks; walls or the sea at rest at the edge of the domain.
module tsunami_halo
  use mpi_f08, only: MPI_PROC_NULL
  use tsunami_grid, only: grid_t, halo, state_t
  use tsunami_kinds, only: wp
  implicit none
  private
  public :: fill_ghosts

contains

  !> Fills all ghost cells of a state. Collective over the grid's ranks.
  subroutine fill_ghosts(grid, state)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(inout) :: state

    call fill_west_and_east(grid, state)
    call exchange_rows(state)
    if (grid%south == MPI_PROC_NULL) call fill_south(grid, state)
    if (grid%north == MPI_PROC_NULL) call fill_north(grid, state)
  end subroutine fill_ghosts

  subroutine fill_west_and_east(grid, state)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(inout) :: state
    integer :: k, n, rows(2)

    n = grid%nx
    rows = [grid%first, grid%last]
    do k = 1, halo
      if (grid%walls) then
        call mirror_column(state, 1 - k, k, rows)
        call mirror_column(state, n + k, n + 1 - k, rows)
      else
        call rest(grid, state, 1 - k, 1 - k, rows(1), rows(2))
        call rest(grid, state, n + k, n + k, rows(1), rows(2))
      end if
    end do
  end subroutine fill_west_and_east

  subroutine fill_south(grid, state)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(inout) :: state
    integer :: k

    do k = 1, halo
      if (grid%walls) then
        call mirror_row(state, grid%first - k, grid%first - 1 + k)
      else
        call rest(grid, state, 1 - halo, grid%nx + halo, grid%first - k, grid%first - k)
      end if
    end do
  end subroutine fill_south

  subroutine fill_north(grid, state)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(inout) :: state
    integer :: k

    do k = 1, halo
      if (grid%walls) then
        call mirror_row(state, grid%last + k, grid%last + 1 - k)
      else
        call rest(grid, state, 1 - halo, grid%nx + halo, grid%last + k, grid%last + k)
      end if
    end do
  end subroutine fill_north

  subroutine mirror_column(state, ghost, cell, rows)
    type(state_t), intent(inout) :: state
    integer, intent(in) :: ghost, cell, rows(2)

    state%h(ghost, rows(1):rows(2)) = state%h(cell, rows(1):rows(2))
    state%hu(ghost, rows(1):rows(2)) = -state%hu(cell, rows(1):rows(2))
    state%hv(ghost, rows(1):rows(2)) = state%hv(cell, rows(1):rows(2))
  end subroutine mirror_column

  subroutine mirror_row(state, ghost, cell)
    type(state_t), intent(inout) :: state
    integer, intent(in) :: ghost, cell

    state%h(:, ghost) = state%h(:, cell)
    state%hu(:, ghost) = state%hu(:, cell)
    state%hv(:, ghost) = -state%hv(:, cell)
  end subroutine mirror_row

  !> Sets cells to water at rest, through which waves leave. With a zero-gradient edge waves would grow.
  subroutine rest(grid, state, west, east, south, north)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(inout) :: state
    integer, intent(in) :: west, east, south, north

    state%h(west:east, south:north) = max(0.0_wp, -grid%bed(west:east, south:north))
    state%hu(west:east, south:north) = 0
    state%hv(west:east, south:north) = 0
  end subroutine rest

  !> Exchanges rows of full width, including the ghost columns at their ends.
  subroutine exchange_rows(state)
    type(state_t), intent(inout), target :: state

    call state%fields%exchange()
  end subroutine exchange_rows
end module tsunami_halo
