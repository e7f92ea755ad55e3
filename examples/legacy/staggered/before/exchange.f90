! SPDX-License-Identifier: BSD-3-Clause
!> The halos: ghosts from the neighbours by packed messages, and mirrored ones at the walls.
module exchange
  use mpi
  use fields
  implicit none
  private
  public :: update_halo

contains

  !> Fills `depth` ghosts of the fields whose flag is 1.
  subroutine update_halo(flags, depth)
    integer, intent(in) :: flags(6), depth

    if (flags(1) == 1) call exchange_field(density, 0, 0, depth)
    if (flags(2) == 1) call exchange_field(energy, 0, 0, depth)
    if (flags(3) == 1) call exchange_field(xvel, 1, 1, depth)
    if (flags(4) == 1) call exchange_field(yvel, 1, 1, depth)
    if (flags(5) == 1) call exchange_field(flux_x, 1, 0, depth)
    if (flags(6) == 1) call exchange_field(flux_y, 0, 1, depth)
    call mirror(flags)
  end subroutine update_halo

  !> `ex`, `ey`: 1 if the field has one point more than cells along x, along y; that point is the neighbour's first.
  subroutine exchange_field(field, ex, ey, depth)
    integer, intent(in) :: ex, ey, depth
    real(real64), intent(inout) :: field(-1:x_max + 2 + ex, -1:y_max + 2 + ey)
    integer :: nx_all, ny_all

    nx_all = x_max + 2 + ex
    ny_all = y_max + 2 + ey
    ! to the left, from the right; to the right, from the left; then with the corners up and down
    call move(field(1 + ex:depth + ex, :), field(x_max + ex + 1:x_max + ex + depth, :), left_side, right_side)
    call move(field(x_max - depth + 1:x_max, :), field(1 - depth:0, :), right_side, left_side)
    call move(field(-1:nx_all, 1 + ey:depth + ey), field(-1:nx_all, y_max + ey + 1:y_max + ey + depth), bottom_side, top_side)
    call move(field(-1:nx_all, y_max - depth + 1:y_max), field(-1:nx_all, 1 - depth:0), top_side, bottom_side)
  end subroutine exchange_field

  subroutine move(from, to, target_side, source_side)
    real(real64), intent(in) :: from(:, :)
    real(real64), intent(inout) :: to(:, :)
    integer, intent(in) :: target_side, source_side
    real(real64), allocatable :: sent(:), received(:)
    integer :: requests(2), error

    sent = reshape(from, [size(from)])
    allocate (received(size(to)))
    call MPI_Irecv(received, size(received), MPI_DOUBLE_PRECISION, neighbour(source_side), 1, comm, requests(1), error)
    call MPI_Isend(sent, size(sent), MPI_DOUBLE_PRECISION, neighbour(target_side), 1, comm, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    if (neighbour(source_side) /= MPI_PROC_NULL) to = reshape(received, shape(to))
  end subroutine move

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
