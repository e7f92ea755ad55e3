! SPDX-License-Identifier: BSD-3-Clause
!> Second-order reconstruction inside cells: limited slopes of depth, surface and velocities; the bed at a face is the
!> surface there minus the depth there, so that a level surface stays level (Audusse et al. 2004, section 4).
module tsunami_reconstruction
  use tsunami_kinds, only: wp
  implicit none
  private
  public :: side_t, make_side, reconstruct

  !> Values of a row of cells at its faces on one side: depth, bed, and the velocities across and along the face.
  type :: side_t
    real(wp), allocatable :: h(:), bed(:), normal(:), along(:)
  end type side_t

contains

  subroutine make_side(lower, upper, side)
    integer, intent(in) :: lower, upper
    type(side_t), intent(out) :: side

    allocate (side%h(lower:upper), side%bed(lower:upper), side%normal(lower:upper), side%along(lower:upper))
  end subroutine make_side

  !> minmod: the smaller of both differences if they have the same sign, otherwise zero.
  elemental real(wp) function limited_slope(backward, forward)
    real(wp), intent(in) :: backward, forward

    limited_slope = 0.5_wp*(sign(1.0_wp, backward) + sign(1.0_wp, forward))*min(abs(backward), abs(forward))
  end function limited_slope

  !> Values at the lower and the upper face of n cells, from the cells before, the cells themselves and those after:
  !> depth, surface, velocity across the face, velocity along it.
  subroutine reconstruct(n, h0, h1, h2, e0, e1, e2, u0, u1, u2, v0, v1, v2, lower, upper)
    integer, intent(in) :: n
    real(wp), intent(in), dimension(n) :: h0, h1, h2, e0, e1, e2, u0, u1, u2, v0, v1, v2
    type(side_t), intent(inout) :: lower, upper

    call split_surface(n, h0, h1, h2, e0, e1, e2, lower%h, lower%bed, upper%h, upper%bed)
    call split(n, u0, u1, u2, lower%normal, upper%normal)
    call split(n, v0, v1, v2, lower%along, upper%along)
  end subroutine reconstruct

  pure subroutine split(n, a0, a1, a2, lower, upper)
    integer, intent(in) :: n
    real(wp), intent(in) :: a0(n), a1(n), a2(n)
    real(wp), intent(out) :: lower(n), upper(n)
    real(wp) :: half
    integer :: i

    do i = 1, n
      half = 0.5_wp*limited_slope(a1(i) - a0(i), a2(i) - a1(i))
      lower(i) = a1(i) - half
      upper(i) = a1(i) + half
    end do
  end subroutine split

  pure subroutine split_surface(n, h0, h1, h2, e0, e1, e2, lower_h, lower_bed, upper_h, upper_bed)
    integer, intent(in) :: n
    real(wp), intent(in), dimension(n) :: h0, h1, h2, e0, e1, e2
    real(wp), intent(out), dimension(n) :: lower_h, lower_bed, upper_h, upper_bed
    real(wp) :: half_h, half_e
    integer :: i

    do i = 1, n
      half_h = 0.5_wp*limited_slope(h1(i) - h0(i), h2(i) - h1(i))
      half_e = 0.5_wp*limited_slope(e1(i) - e0(i), e2(i) - e1(i))
      lower_h(i) = h1(i) - half_h
      upper_h(i) = h1(i) + half_h
      lower_bed(i) = (e1(i) - half_e) - lower_h(i)
      upper_bed(i) = (e1(i) + half_e) - upper_h(i)
    end do
  end subroutine split_surface
end module tsunami_reconstruction
