! SPDX-License-Identifier: BSD-3-Clause
!> Scenarios: seabed uplifts drawn by our own random number generator, so that a run depends on its seed alone.
module tsunami_uplift
  use tsunami_bathymetry, only: bathymetry_t
  use tsunami_grid, only: grid_t, set_at_rest, state_t
  use tsunami_kinds, only: int64, wp
  implicit none
  private
  public :: random_t, seed_random, draw, raise_seabed

  integer, parameter :: max_sources = 3
  real(wp), parameter :: smallest_width = 10e3_wp, largest_width = 30e3_wp  !< m, standard deviation
  real(wp), parameter :: smallest_height = 0.5_wp, largest_height = 2.0_wp  !< m
  real(wp), parameter :: least_depth = 20.0_wp                              !< m of water over a source's centre

  !> L'Ecuyer's combined generator, Comm. ACM 31 (1988) 742-749.
  type :: random_t
    integer(int64) :: first = 1, second = 1
  end type random_t

contains

  subroutine seed_random(seed, random)
    integer(int64), intent(in) :: seed
    type(random_t), intent(out) :: random
    real(wp) :: unused
    integer :: i

    random%first = 1 + modulo(modulo(seed, 2147483562_int64)*69069_int64 + 362437_int64, 2147483562_int64)
    random%second = 1 + modulo(modulo(seed, 2147483398_int64)*48271_int64 + 521288_int64, 2147483398_int64)
    do i = 1, 16
      unused = draw(random)
    end do
  end subroutine seed_random

  !> The next number, uniform in (0, 1).
  real(wp) function draw(random)
    type(random_t), intent(inout) :: random
    integer(int64) :: difference

    random%first = modulo(random%first*40014_int64, 2147483563_int64)
    random%second = modulo(random%second*40692_int64, 2147483399_int64)
    difference = random%first - random%second
    if (difference < 1) difference = difference + 2147483562_int64
    draw = real(difference, wp)/2147483563.0_wp
  end function draw

  !> Sets the state to the sea at rest plus the surface after an instant uplift of the seabed: one to three Gaussians.
  subroutine raise_seabed(bathymetry, seed, grid, state)
    type(bathymetry_t), intent(in) :: bathymetry
    integer(int64), intent(in) :: seed
    type(grid_t), intent(in) :: grid
    type(state_t), intent(inout) :: state
    type(random_t) :: random
    real(wp) :: centre(2), width, height
    integer :: i

    call seed_random(seed, random)
    call set_at_rest(grid, state)
    do i = 1, 1 + int(max_sources*draw(random))
      call draw_centre(bathymetry, random, centre)
      width = smallest_width + (largest_width - smallest_width)*draw(random)
      height = smallest_height + (largest_height - smallest_height)*draw(random)
      call lift_surface(grid, centre, width, height, state)
    end do
  end subroutine raise_seabed

  !> Draws a point over deep enough water, in metres from the domain's south-western corner. After 1000 tries, in a
  !> domain with hardly any sea, the last point is used.
  subroutine draw_centre(bathymetry, random, centre)
    type(bathymetry_t), intent(in) :: bathymetry
    type(random_t), intent(inout) :: random
    real(wp), intent(out) :: centre(2)
    integer :: try, cell(2)

    do try = 1, 1000
      centre(1) = draw(random)
      centre(2) = draw(random)
      cell = 1 + int(centre*[bathymetry%nx, bathymetry%ny])
      if (bathymetry%bed(cell(1), cell(2)) < -least_depth) exit
    end do
    centre = centre*[bathymetry%nx*bathymetry%dx, bathymetry%ny*bathymetry%dy]
  end subroutine draw_centre

  subroutine lift_surface(grid, centre, width, height, state)
    type(grid_t), intent(in) :: grid
    real(wp), intent(in) :: centre(2), width, height
    type(state_t), intent(inout) :: state
    real(wp) :: x, y
    integer :: i, j

    do j = grid%first, grid%last
      y = ((j - 0.5_wp)*grid%dy - centre(2))/width
      do i = 1, grid%nx
        x = ((i - 0.5_wp)*grid%dx - centre(1))/width
        if (grid%bed(i, j) < 0) state%h(i, j) = state%h(i, j) + height*exp(-0.5_wp*(x*x + y*y))
      end do
    end do
  end subroutine lift_surface
end module tsunami_uplift
