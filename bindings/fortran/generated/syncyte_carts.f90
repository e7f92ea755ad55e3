! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/carts.methods by bindings/generate; do not edit.
!> Grids of Cartesian communicators: type(cart_comm), which type(syncyte_comm) extends.
!>
!> Dimensions are in Fortran's order: the first coordinate changes fastest from rank to rank, as the first index does in
!> memory (C and MPI have the reverse order). Dimensions count from 1; coordinates count from 0, as ranks do.
module syncyte_carts
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_messages, only: message_comm
  implicit none
  private

  !> A communicator that may have a grid.
  type, extends(message_comm), public :: cart_comm
  contains
    procedure :: ndim => comm_ndim
    procedure :: grid => comm_grid
    procedure :: coords => comm_coords
    procedure :: rank_at => comm_rank_at
    procedure :: shift => comm_shift
  end type cart_comm

contains

  !> Number of dimensions of the grid; 0 for a communicator that is not Cartesian. Local.
  function comm_ndim(self, stat, errmsg) result(answer)
    class(cart_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: answer
    integer(c_int32_t) :: ndim_c
    integer(c_int32_t) :: status

    ndim_c = 0
    status = syncyte_cart_ndim(self%handle, ndim_c)
    answer = int(ndim_c)
    call finish(status, stat, errmsg)
  end function comm_ndim

  !> Places along each dimension, and which dimensions are periodic. Local.
  subroutine comm_grid(self, dims, periods, stat, errmsg)
    class(cart_comm), intent(in) :: self
    integer, allocatable, intent(out) :: dims(:)
    logical, allocatable, intent(out), optional :: periods(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t), allocatable :: places(:), flags(:)
    integer(c_int32_t) :: ndim
    integer(c_int32_t) :: status

    ndim = quiet_ndim(self)
    allocate (places(ndim), flags(ndim), source=0_c_int32_t)
    status = syncyte_cart_grid(self%handle, ndim, places, flags)
    dims = int(places(ndim:1:-1))
    if (present(periods)) periods = flags(ndim:1:-1) /= 0
    call finish(status, stat, errmsg)
  end subroutine comm_grid

  !> Coordinates of a rank, this one if rank is absent; from 0. Local.
  subroutine comm_coords(self, coords, rank, stat, errmsg)
    class(cart_comm), intent(in) :: self
    integer, allocatable, intent(out) :: coords(:)
    integer, intent(in), optional :: rank  !! one of its ranks
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: rank_c
    integer(c_int32_t), allocatable :: reversed(:)
    integer(c_int32_t) :: ndim
    integer(c_int32_t) :: status, local

    local = SYNCYTE_SUCCESS
    rank_c = 0
    if (present(rank)) rank_c = int(rank, c_int32_t)
    ndim = quiet_ndim(self)
    allocate (reversed(ndim), source=-1_c_int32_t)
    if (.not. present(rank)) local = syncyte_comm_rank(self%handle, rank_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "cart_coords"//c_null_char)
    else
      status = syncyte_cart_coords(self%handle, rank_c, ndim, reversed)
    end if
    coords = int(reversed(ndim:1:-1))
    call finish(status, stat, errmsg)
  end subroutine comm_coords

  !> Rank at some coordinates, which wrap round in periodic dimensions; SYNCYTE_PROC_NULL beyond an edge. Local.
  function comm_rank_at(self, coords, stat, errmsg) result(answer)
    class(cart_comm), intent(in) :: self
    integer, intent(in) :: coords(:)  !! one for each dimension, from 0
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: answer
    integer(c_int32_t) :: rank_c
    integer(c_int32_t) :: reversed(size(coords))
    integer(c_int32_t) :: status

    rank_c = SYNCYTE_PROC_NULL
    reversed = int(coords(size(coords):1:-1), c_int32_t)
    status = syncyte_cart_rank_at(self%handle, size(coords, kind=c_int32_t), reversed, rank_c)
    answer = int(rank_c)
    call finish(status, stat, errmsg)
  end function comm_rank_at

  !> This rank's neighbours along a dimension, where all ranks send some places up; SYNCYTE_PROC_NULL beyond an edge.
  !> Local.
  subroutine comm_shift(self, dim, displacement, source, dest, stat, errmsg)
    class(cart_comm), intent(in) :: self
    integer, intent(in) :: dim  !! from 1
    integer, intent(in) :: displacement  !! number of places; negative: down
    integer, intent(out), optional :: source
    integer, intent(out), optional :: dest
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: source_c
    integer(c_int32_t) :: dest_c
    integer(c_int32_t) :: status

    source_c = SYNCYTE_PROC_NULL
    dest_c = SYNCYTE_PROC_NULL
    status = syncyte_cart_shift(self%handle, quiet_ndim(self) - int(dim, c_int32_t), int(displacement, &
        c_int32_t), source_c, dest_c)
    if (present(source)) source = int(source_c)
    if (present(dest)) dest = int(dest_c)
    call finish(status, stat, errmsg)
  end subroutine comm_shift

  !> Number of dimensions without an error.
  integer(c_int32_t) function quiet_ndim(self) result(ndim)
    class(cart_comm), intent(in) :: self
    integer(c_int32_t) :: ignored

    ndim = 0
    ignored = syncyte_cart_ndim(self%handle, ndim)
  end function quiet_ndim
end module syncyte_carts
