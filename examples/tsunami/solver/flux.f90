! SPDX-License-Identifier: BSD-3-Clause
!> Fluxes through the faces between cells: HLL with hydrostatic reconstruction, which keeps a lake at rest over any bed
!> and never lets a depth become negative (Audusse, Bouchut, Bristeau, Klein, Perthame, SIAM J. Sci. Comput. 25 (2004)
!> 2050-2065). The momentum along the face is carried upwind by the mass flux, as in HLLC (Toro, Shock-Capturing Methods
!> for Free-Surface Shallow Flows, 2001, section 10.4).
!>
!> Every loop runs over independent faces without branches, so that it is vectorised and its results do not depend, to
!> the last bit, on where the domain is cut.
module tsunami_flux
  use tsunami_kinds, only: dry_depth, gravity, wp
  implicit none
  private
  public :: face_fluxes

contains

  !> Fluxes through n faces from their left to their right side.
  !> mass and along are the same for both cells. The momentum across the face differs by the bed's push: left is the
  !> momentum that leaves the left cell, right the momentum that enters the right cell.
  subroutine face_fluxes(n, hl, zl, ul, vl, hr, zr, ur, vr, mass, left, right, along)
    integer, intent(in) :: n
    real(wp), intent(in) :: hl(n), zl(n), ul(n), vl(n), hr(n), zr(n), ur(n), vr(n)
    real(wp), intent(out) :: mass(n), left(n), right(n), along(n)
    real(wp) :: z, a, b, ca, cb, slow, fast, width, momentum
    integer :: i

    do i = 1, n
      z = max(zl(i), zr(i))
      a = max(0.0_wp, hl(i) + zl(i) - z)
      b = max(0.0_wp, hr(i) + zr(i) - z)
      ca = sqrt(gravity*a)
      cb = sqrt(gravity*b)
      slow = min(merge(ul(i) - ca, ur(i) - 2*cb, a > dry_depth), ur(i) - cb, 0.0_wp)
      fast = max(merge(ur(i) + cb, ul(i) + 2*ca, b > dry_depth), ul(i) + ca, 0.0_wp)
      width = 1/max(fast - slow, tiny(1.0_wp)**0.25_wp)
      mass(i) = (fast*(a*ul(i)) - slow*(b*ur(i)) + fast*slow*(b - a))*width
      momentum = (fast*(a*ul(i)*ul(i) + 0.5_wp*gravity*a*a) - slow*(b*ur(i)*ur(i) + 0.5_wp*gravity*b*b) &
                  + fast*slow*(b*ur(i) - a*ul(i)))*width
      left(i) = momentum + 0.5_wp*gravity*(hl(i)*hl(i) - a*a)
      right(i) = momentum + 0.5_wp*gravity*(hr(i)*hr(i) - b*b)
      along(i) = mass(i)*merge(vl(i), vr(i), mass(i) > 0)
    end do
  end subroutine face_fluxes
end module tsunami_flux
