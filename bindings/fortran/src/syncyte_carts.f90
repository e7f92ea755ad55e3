!> What Cartesian communicators know of their grid: type(cart_comm), which type(syncyte_comm) extends.
!>
!> Dimensions are those of Fortran: the first coordinate changes fastest from rank to rank, as the first index does in
!> memory (C and MPI have them the other way round). Dimensions count from 1; coordinates count from 0, as ranks do.
module syncyte_carts
  use, intrinsic :: iso_c_binding
  use syncyte_c, only: syncyte_cart_coordinates, syncyte_cart_grid, syncyte_cart_ndim, syncyte_cart_rank, &
    syncyte_cart_shift, syncyte_comm_rank, SYNCYTE_PROC_NULL, SYNCYTE_SUCCESS
  use syncyte_errors
  use syncyte_messages, only: message_comm
  implicit none
  private

  !> A communicator that may have a grid.
  type, extends(message_comm), public :: cart_comm
  contains
    procedure :: dimensions => cart_dimensions
    procedure :: grid => cart_grid
    procedure :: coordinates => cart_coordinates
    procedure :: rank_at => cart_rank_at
    procedure :: shift => cart_shift
  end type cart_comm

contains

  !> Number of dimensions of the grid; 0 for a communicator that is not Cartesian. Local.
  function cart_dimensions(self, stat, errmsg) result(count)
    class(cart_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: count
    integer(c_int32_t) :: ndim

    ndim = 0
    call finish(syncyte_cart_ndim(self%handle, ndim), stat, errmsg)
    count = int(ndim)
  end function cart_dimensions

  !> The same without an error.
  integer(c_int32_t) function quiet_dimensions(self) result(ndim)
    class(cart_comm), intent(in) :: self
    integer(c_int32_t) :: ignored

    ndim = 0
    ignored = syncyte_cart_ndim(self%handle, ndim)
  end function quiet_dimensions

  !> Places along each dimension, and which dimensions are periodic. Local.
  subroutine cart_grid(self, extents, periodic, stat, errmsg)
    class(cart_comm), intent(in) :: self
    integer, allocatable, intent(out) :: extents(:)
    logical, allocatable, intent(out), optional :: periodic(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t), allocatable :: places(:), periods(:)
    integer(c_int32_t) :: ndim, status

    ndim = quiet_dimensions(self)
    allocate (places(ndim), periods(ndim), source=0_c_int32_t)
    status = syncyte_cart_grid(self%handle, ndim, places, periods)
    extents = int(places(ndim:1:-1))
    if (present(periodic)) periodic = periods(ndim:1:-1) /= 0
    call finish(status, stat, errmsg)
  end subroutine cart_grid

  !> Where a rank lies, this one if rank is absent; coordinates from 0. Local.
  subroutine cart_coordinates(self, place, rank, stat, errmsg)
    class(cart_comm), intent(in) :: self
    integer, allocatable, intent(out) :: place(:)
    integer, intent(in), optional :: rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t), allocatable :: reversed(:)
    integer(c_int32_t) :: ndim, number, status

    ndim = quiet_dimensions(self)
    allocate (reversed(ndim), source=-1_c_int32_t)
    number = -1
    status = SYNCYTE_SUCCESS
    if (present(rank)) then
      number = int(rank, c_int32_t)
    else
      status = syncyte_comm_rank(self%handle, number)
    end if
    if (status == SYNCYTE_SUCCESS) status = syncyte_cart_coordinates(self%handle, number, ndim, reversed)
    place = int(reversed(ndim:1:-1))
    call finish(status, stat, errmsg)
  end subroutine cart_coordinates

  !> Who lies at some coordinates, which wrap round in periodic dimensions; SYNCYTE_PROC_NULL beyond an edge. Local.
  function cart_rank_at(self, place, stat, errmsg) result(rank)
    class(cart_comm), intent(in) :: self
    integer, intent(in) :: place(:)  !! one for each dimension, from 0
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: rank
    integer(c_int32_t) :: reversed(size(place)), number

    reversed = int(place(size(place):1:-1), c_int32_t)
    number = SYNCYTE_PROC_NULL
    call finish(syncyte_cart_rank(self%handle, size(place, kind=c_int32_t), reversed, number), stat, errmsg)
    rank = int(number)
  end function cart_rank_at

  !> This rank's neighbours along a dimension, where all ranks send some places up; SYNCYTE_PROC_NULL beyond an edge. Local.
  subroutine cart_shift(self, dim, displacement, source, dest, stat, errmsg)
    class(cart_comm), intent(in) :: self
    integer, intent(in) :: dim                     !! from 1
    integer, intent(in) :: displacement            !! places; negative: down
    integer, intent(out), optional :: source, dest !! who sends to this rank, and who receives from it
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: from, to, status

    from = SYNCYTE_PROC_NULL
    to = SYNCYTE_PROC_NULL
    status = syncyte_cart_shift(self%handle, quiet_dimensions(self) - int(dim, c_int32_t), &
                                int(displacement, c_int32_t), from, to)
    if (present(source)) source = int(from)
    if (present(dest)) dest = int(to)
    call finish(status, stat, errmsg)
  end subroutine cart_shift

end module syncyte_carts
