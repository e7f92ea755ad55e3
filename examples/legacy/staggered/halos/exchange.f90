! SPDX-License-Identifier: BSD-3-Clause
!> The halos: ghosts from the neighbours by packed messages, and mirrored ones at the walls.
module exchange
  use syncyte, only: syncyte_bundle
  use fields
  implicit none
  private
  public :: update_halo
  type(syncyte_bundle), public :: all

contains

  !> Fills `depth` ghosts of the fields whose flag is 1.
  subroutine update_halo(flags, depth)
    integer, intent(in) :: flags(6), depth

    call all%exchange(depth=depth, only=flags == 1)
    call mirror(flags)
  end subroutine update_halo

  !> Walls: cells are mirrored, nothing goes through.
  subroutine mirror(flags)
    integer, intent(in) :: flags(6)

    if (flags(1) == 1) call mirror_field(density, 0, 0, 1, 1)
    if (flags(2) == 1) call mirror_field(energy, 0, 0, 1, 1)
    if (flags(3) == 1) call mirror_field(xvel, 1, 1, -1, 1)
    if (flags(4) == 1) call mirror_field(yvel, 1, 1, 1, -1)
    if (flags(5) == 1) call mirror_field(flux_x, 1, 0, -1, 1)
    if (flags(6) == 1) call mirror_field(flux_y, 0, 1, 1, -1)
  end subroutine mirror

  !> The sign of the ghosts is x_sign at the left and right, y_sign at the bottom and top; where it is -1, points on the
  !> wall are 0.
  subroutine mirror_field(field, ex, ey, x_sign, y_sign)
    integer, intent(in) :: ex, ey, x_sign, y_sign
    real(real64), intent(inout) :: field(-1:x_max + 2 + ex, -1:y_max + 2 + ey)
    integer :: g

    do g = 1, ghosts
      if (neighbour(left_side) == MPI_PROC_NULL) field(1 - g, :) = x_sign*field(g + ex, :)
      if (neighbour(right_side) == MPI_PROC_NULL) field(x_max + ex + g, :) = x_sign*field(x_max + 1 - g, :)
    end do
    do g = 1, ghosts
      if (neighbour(bottom_side) == MPI_PROC_NULL) field(:, 1 - g) = y_sign*field(:, g + ey)
      if (neighbour(top_side) == MPI_PROC_NULL) field(:, y_max + ey + g) = y_sign*field(:, y_max + 1 - g)
    end do
    if (x_sign < 0 .and. neighbour(left_side) == MPI_PROC_NULL) field(1, :) = 0
    if (x_sign < 0 .and. neighbour(right_side) == MPI_PROC_NULL) field(x_max + 1, :) = 0
    if (y_sign < 0 .and. neighbour(bottom_side) == MPI_PROC_NULL) field(:, 1) = 0
    if (y_sign < 0 .and. neighbour(top_side) == MPI_PROC_NULL) field(:, y_max + 1) = 0
  end subroutine mirror_field
end module exchange
