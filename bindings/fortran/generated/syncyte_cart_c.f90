! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/cart.h by bindings/generate; do not edit.
!> Cartesian communicators: ranks on a grid of one or more dimensions.
module syncyte_cart_c
  use, intrinsic :: iso_c_binding
  use syncyte_messages_c
  implicit none
  public

  interface

    !> Makes a Cartesian communicator of the first ranks of a communicator. Collective; facts: ndim, dims, periods.
    ! comm [in]: a communicator
    ! ndim [in]: dimensions of the grid, 1 to SYNCYTE_MAX_NDIM
    ! dims [in]: ranks along each dimension; 0: chosen, so that the grid holds all ranks and the chosen dims are as
    ! even as possible (MPI_Dims_create)
    ! periods_length [in]: length of periods: ndim
    ! periods [in]: for each dimension 1 if it is periodic (the last rank's neighbour is the first one), otherwise
    ! 0; null: 0 for all
    ! options [in]: null for defaults
    ! cart [out]: the Cartesian communicator; a null handle on ranks beyond the grid
    ! Returns: SYNCYTE_ERR_ARGUMENT if the grid is larger than the communicator, or if dims cannot be chosen because
    ! the number of ranks is not a multiple of the given ones.
    function syncyte_cart_create(comm, ndim, dims, periods_length, periods, options, cart) bind(C, &
        name="syncyte_cart_create") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: ndim
      integer(c_int32_t), intent(in) :: dims(*)
      integer(c_int64_t), value :: periods_length
      integer(c_int32_t), intent(in), optional :: periods(*)
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: cart
      integer(c_int32_t) :: answer
    end function syncyte_cart_create

    !> Returns the number of dimensions of the grid; 0 for a communicator that is not Cartesian. Local.
    ! cart [in]: a communicator
    ! ndim [out]: the number
    function syncyte_cart_ndim(cart, ndim) bind(C, name="syncyte_cart_ndim") result(answer)
      import
      type(c_ptr), value :: cart
      integer(c_int32_t), intent(inout) :: ndim
      integer(c_int32_t) :: answer
    end function syncyte_cart_ndim

    !> Returns the grid's dims and periods. Local.
    ! cart [in]: a Cartesian communicator
    ! ndim [in]: its number of dimensions
    ! dims [out]: ranks along each dimension
    ! periods [out]: 1 for a periodic dimension, otherwise 0
    ! Returns: SYNCYTE_ERR_ARGUMENT if cart is not Cartesian or has another number of dimensions.
    function syncyte_cart_grid(cart, ndim, dims, periods) bind(C, name="syncyte_cart_grid") result(answer)
      import
      type(c_ptr), value :: cart
      integer(c_int32_t), value :: ndim
      integer(c_int32_t), intent(inout), optional :: dims(*)
      integer(c_int32_t), intent(inout), optional :: periods(*)
      integer(c_int32_t) :: answer
    end function syncyte_cart_grid

    !> Returns a rank's coordinates on the grid. Local.
    ! cart [in]: a Cartesian communicator
    ! rank [in]: one of its ranks
    ! ndim [in]: its number of dimensions
    ! coords [out]: 0 to the dims - 1
    ! Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, rank, ndim).
    function syncyte_cart_coords(cart, rank, ndim, coords) bind(C, name="syncyte_cart_coords") result(answer)
      import
      type(c_ptr), value :: cart
      integer(c_int32_t), value :: rank
      integer(c_int32_t), value :: ndim
      integer(c_int32_t), intent(inout) :: coords(*)
      integer(c_int32_t) :: answer
    end function syncyte_cart_coords

    !> Returns the rank at some coordinates. Local.
    ! cart [in]: a Cartesian communicator
    ! ndim [in]: its number of dimensions
    ! coords [in]: any numbers; they wrap round in periodic dimensions
    ! rank [out]: the rank; SYNCYTE_PROC_NULL beyond the edge of a dimension that is not periodic
    ! Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, ndim).
    function syncyte_cart_rank_at(cart, ndim, coords, rank) bind(C, name="syncyte_cart_rank_at") result(answer)
      import
      type(c_ptr), value :: cart
      integer(c_int32_t), value :: ndim
      integer(c_int32_t), intent(in) :: coords(*)
      integer(c_int32_t), intent(inout) :: rank
      integer(c_int32_t) :: answer
    end function syncyte_cart_rank_at

    !> Returns this rank's neighbours in a shift, in which all ranks send `displacement` places up along a
    !> dimension. Local.
    ! cart [in]: a Cartesian communicator
    ! dimension [in]: 0 to ndim - 1
    ! displacement [in]: number of places; negative: down
    ! source [out]: rank that sends to this rank; SYNCYTE_PROC_NULL beyond an edge
    ! dest [out]: rank that receives from this rank; SYNCYTE_PROC_NULL beyond an edge
    ! Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian, dimension).
    function syncyte_cart_shift(cart, dimension, displacement, source, dest) bind(C, name="syncyte_cart_shift") &
        result(answer)
      import
      type(c_ptr), value :: cart
      integer(c_int32_t), value :: dimension
      integer(c_int32_t), value :: displacement
      integer(c_int32_t), intent(inout), optional :: source
      integer(c_int32_t), intent(inout), optional :: dest
      integer(c_int32_t) :: answer
    end function syncyte_cart_shift
  end interface
end module syncyte_cart_c
