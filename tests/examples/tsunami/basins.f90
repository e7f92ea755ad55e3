! SPDX-License-Identifier: BSD-3-Clause
!> Beds and states for several tests.
module basins
  use tsunami_bathymetry, only: bathymetry_t
  use tsunami_grid, only: grid_t, state_t
  use tsunami_kinds, only: int64, wp
  use tsunami_uplift, only: draw, random_t, seed_random
  implicit none
  private
  public :: rough_sea, add_hump

contains

  !> A rough bed of deep sea, shoals, islands and a coast.
  function rough_sea(nx, ny) result(sea)
    integer, intent(in) :: nx, ny
    type(bathymetry_t) :: sea
    type(random_t) :: random
    integer :: i, j

    sea%nx = nx
    sea%ny = ny
    sea%dx = 100
    sea%dy = 120
    allocate (sea%bed(nx, ny))
    call seed_random(7_int64, random)
    do j = 1, ny
      do i = 1, nx
        sea%bed(i, j) = -60 + 90*sin(0.4_wp*i)*cos(0.3_wp*j) + 30*draw(random)
      end do
    end do
  end function rough_sea

  !> Raises the surface of wet cells, and gives the water a velocity.
  subroutine add_hump(grid, state)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(inout) :: state
    real(wp) :: hump
    integer :: i, j

    do j = grid%first, grid%last
      do i = 1, grid%nx
        hump = exp(-((i - 0.4_wp*grid%nx)**2 + (j - 0.6_wp*grid%ny)**2)/18)
        if (state%h(i, j) > 0) state%h(i, j) = state%h(i, j) + 8*hump
        state%hu(i, j) = 3*hump*state%h(i, j)
      end do
    end do
  end subroutine add_hump
end module basins
