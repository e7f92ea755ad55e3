! SPDX-License-Identifier: BSD-3-Clause
!> Compressible gas on a staggered grid, of first order: pressure accelerates nodes, fluxes through faces carry mass,
!> energy and momentum to where they go (donor cells).
module physics
  use fields
  implicit none
  private
  public :: accelerate, find_fluxes, advect

contains

  elemental real(real64) function pressure(density, energy)
    real(real64), intent(in) :: density, energy

    pressure = (gamma - 1)*density*energy
  end function pressure

  !> Needs one ghost of the cells.
  subroutine accelerate()
    real(real64) :: mass, p(0:x_max + 1, 0:y_max + 1)
    integer :: j, k

    p = pressure(density(0:x_max + 1, 0:y_max + 1), energy(0:x_max + 1, 0:y_max + 1))
    do k = 1, y_max + 1
      do j = 1, x_max + 1
        mass = 0.25d0*dx*dy*(density(j - 1, k - 1) + density(j, k - 1) + density(j - 1, k) + density(j, k))
        xvel(j, k) = xvel(j, k) - dt*0.5d0*dy*((p(j, k) - p(j - 1, k)) + (p(j, k - 1) - p(j - 1, k - 1)))/mass
        yvel(j, k) = yvel(j, k) - dt*0.5d0*dx*((p(j, k) - p(j, k - 1)) + (p(j - 1, k) - p(j - 1, k - 1)))/mass
      end do
    end do
  end subroutine accelerate

  !> Volumes that go through the block's faces in a step.
  subroutine find_fluxes()
    flux_x(1:x_max + 1, 1:y_max) = 0.5d0*dt*dy*(xvel(1:x_max + 1, 1:y_max) + xvel(1:x_max + 1, 2:y_max + 1))
    flux_y(1:x_max, 1:y_max + 1) = 0.5d0*dt*dx*(yvel(1:x_max, 1:y_max + 1) + yvel(2:x_max + 1, 1:y_max + 1))
  end subroutine find_fluxes

  !> Needs one ghost of all fields.
  subroutine advect()
    real(real64), dimension(0:x_max + 1, 0:y_max + 1) :: d, e
    real(real64), dimension(0:x_max + 2, 0:y_max + 2) :: u, v
    real(real64) :: growth, inflow, gain
    integer :: j, k

    d = density(0:x_max + 1, 0:y_max + 1)
    e = energy(0:x_max + 1, 0:y_max + 1)
    u = xvel(0:x_max + 2, 0:y_max + 2)
    v = yvel(0:x_max + 2, 0:y_max + 2)
    do k = 1, y_max
      do j = 1, x_max
        growth = flux_x(j + 1, k) - flux_x(j, k) + flux_y(j, k + 1) - flux_y(j, k)
        inflow = carried(flux_x(j, k), d(j - 1, k), d(j, k)) - carried(flux_x(j + 1, k), d(j, k), d(j + 1, k)) &
                 + carried(flux_y(j, k), d(j, k - 1), d(j, k)) - carried(flux_y(j, k + 1), d(j, k), d(j, k + 1))
        gain = carried(flux_x(j, k), d(j - 1, k)*e(j - 1, k), d(j, k)*e(j, k)) &
               - carried(flux_x(j + 1, k), d(j, k)*e(j, k), d(j + 1, k)*e(j + 1, k)) &
               + carried(flux_y(j, k), d(j, k - 1)*e(j, k - 1), d(j, k)*e(j, k)) &
               - carried(flux_y(j, k + 1), d(j, k)*e(j, k), d(j, k + 1)*e(j, k + 1))
        density(j, k) = d(j, k) + inflow/(dx*dy)
        energy(j, k) = (d(j, k)*e(j, k) + (gain - pressure(d(j, k), e(j, k))*growth)/(dx*dy))/density(j, k)
      end do
    end do
    do k = 1, y_max + 1
      do j = 1, x_max + 1
        xvel(j, k) = u(j, k) - slowed(u, j, k)
        yvel(j, k) = v(j, k) - slowed(v, j, k)
      end do
    end do
  end subroutine advect

  !> What a volume carries: of the side that it comes from.
  pure real(real64) function carried(volume, before, behind)
    real(real64), intent(in) :: volume, before, behind

    carried = merge(volume*before, volume*behind, volume > 0)
  end function carried

  !> The change of a node's velocity by the volumes that flow through its four faces.
  pure real(real64) function slowed(velocity, j, k)
    real(real64), intent(in) :: velocity(0:, 0:)
    integer, intent(in) :: j, k
    real(real64) :: along_x, along_y

    along_x = 0.25d0*(flux_x(j - 1, k - 1) + flux_x(j, k - 1) + flux_x(j - 1, k) + flux_x(j, k))/(dx*dy)
    along_y = 0.25d0*(flux_y(j - 1, k - 1) + flux_y(j, k - 1) + flux_y(j - 1, k) + flux_y(j, k))/(dx*dy)
    slowed = max(along_x, 0d0)*(velocity(j, k) - velocity(j - 1, k)) + min(along_x, 0d0)*(velocity(j + 1, k) - velocity(j, k)) &
             + max(along_y, 0d0)*(velocity(j, k) - velocity(j, k - 1)) + min(along_y, 0d0)*(velocity(j, k + 1) - velocity(j, k))
  end function slowed
end module physics
