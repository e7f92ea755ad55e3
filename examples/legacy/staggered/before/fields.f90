! SPDX-License-Identifier: BSD-3-Clause
!> This rank's block of the grid, and its fields: cells, nodes and faces, with two ghosts at each end.
module fields
  use mpi
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: nx = 48, ny = 36, ghosts = 2                 ! cells of the whole grid
  real(real64), parameter :: dx = 1, dy = 1, dt = 0.05d0, gamma = 1.4d0
  integer, parameter :: left_side = 1, right_side = 2, bottom_side = 3, top_side = 4
  integer :: comm, rank, ranks, neighbour(4)
  integer :: left, bottom                                            ! the block's first cell in the whole grid
  integer :: x_max, y_max                                            ! its cells are 1:x_max, 1:y_max
  real(real64), allocatable, dimension(:, :) :: density, energy      ! of cells
  real(real64), allocatable, dimension(:, :) :: xvel, yvel           ! of nodes: one more along x and y
  real(real64), allocatable, dimension(:, :) :: flux_x, flux_y       ! of faces: one more along x, or along y
  integer, parameter :: of_cells(6) = [1, 1, 0, 0, 0, 0], of_nodes(6) = [0, 0, 1, 1, 0, 0], of_faces(6) = [0, 0, 0, 0, 1, 1]

contains

  !> Cuts the grid into blocks, as square as the number of ranks allows.
  subroutine decompose()
    integer :: error, across, up, column, row, right, top

    call MPI_Comm_rank(comm, rank, error)
    call MPI_Comm_size(comm, ranks, error)
    across = nint(sqrt(real(ranks)))
    do while (mod(ranks, across) /= 0)
      across = across - 1
    end do
    up = ranks/across
    column = mod(rank, across)
    row = rank/across
    left = column*nx/across + 1
    bottom = row*ny/up + 1
    right = (column + 1)*nx/across
    top = (row + 1)*ny/up
    x_max = right - left + 1
    y_max = top - bottom + 1
    neighbour = MPI_PROC_NULL
    if (column > 0) neighbour(left_side) = rank - 1
    if (column < across - 1) neighbour(right_side) = rank + 1
    if (row > 0) neighbour(bottom_side) = rank - across
    if (row < up - 1) neighbour(top_side) = rank + across
  end subroutine decompose

  !> A dense, hot square in a gas at rest.
  subroutine allocate_fields()
    integer :: j, k

    allocate (density(-1:x_max + 2, -1:y_max + 2), source=1d0)
    allocate (energy(-1:x_max + 2, -1:y_max + 2), source=1d0)
    allocate (xvel(-1:x_max + 3, -1:y_max + 3), source=0d0)
    allocate (yvel(-1:x_max + 3, -1:y_max + 3), source=0d0)
    allocate (flux_x(-1:x_max + 3, -1:y_max + 2), source=0d0)
    allocate (flux_y(-1:x_max + 2, -1:y_max + 3), source=0d0)
    do k = 1, y_max
      do j = 1, x_max
        if (left + j - 1 <= nx/3 .and. bottom + k - 1 <= ny/3) then
          density(j, k) = 2
          energy(j, k) = 2.5d0
        end if
      end do
    end do
  end subroutine allocate_fields

  !> A number that depends on every bit of the state, and not on the number of ranks.
  function checksum() result(total)
    use, intrinsic :: iso_fortran_env, only: int64
    integer(int64) :: total, mine
    integer :: error, j, k

    mine = 0
    do k = 1, y_max
      do j = 1, x_max                                                ! nodes: those at the cells' lower ends
        mine = ieor(ieor(mine, turned(density(j, k), 1)), turned(energy(j, k), 2))
        mine = ieor(ieor(mine, turned(xvel(j, k), 3)), turned(yvel(j, k), 4))
      end do
    end do
    call MPI_Allreduce(mine, total, 1, MPI_INTEGER8, MPI_BXOR, comm, error)

  contains

    !> A value's bits, turned by an angle that depends on the point and the field.
    integer(int64) function turned(value, field)
      real(real64), intent(in) :: value
      integer, intent(in) :: field

      turned = ishftc(transfer(value, 0_int64), mod(7*(left + j + nx*(bottom + k)) + 16*field, 64))
    end function turned
  end function checksum
end module fields
