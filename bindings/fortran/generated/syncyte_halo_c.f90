! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/halo.h by bindings/generate; do not edit.
!> Halo exchange: ghost cells of arrays that are cut along the dimensions of a Cartesian communicator.
module syncyte_halo_c
  use, intrinsic :: iso_c_binding
  use syncyte_cart_c
  use syncyte_collectives_c
  implicit none
  public

  !> Options of a halo.
  type, bind(C) :: syncyte_halo_options_t
    ! sizeof(syncyte_halo_options_t)
    integer(c_size_t) :: struct_size = 16_c_size_t
    ! 1: include corners; 0: only ghosts beyond the interior along one axis
    integer(c_int32_t) :: corners = 1_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
  end type syncyte_halo_options_t

  interface

    !> Makes a halo. Collective over cart; facts: dtype, ndim, axes, low, high, options->corners, extents along the
    !> other axes. Extents along a cut axis may differ, but must be equal on ranks with the same place along that
    !> dimension.
    ! cart [in]: a Cartesian communicator, which the halo keeps alive
    ! dtype [in]: element type of the arrays
    ! ndim [in]: dimensions of the arrays, at least those of the grid
    ! shape [in]: extents of this rank's arrays, ghosts included
    ! low_length [in]: length of low: the grid's dimensions
    ! low [in]: ghost cells at the low end of each of these axes, 0 or more
    ! high_length [in]: length of high: the grid's dimensions
    ! high [in]: ghost cells at the high end
    ! axes_length [in]: length of axes: the grid's dimensions; ignored if axes is null
    ! axes [in]: axis that each dimension of the grid cuts; negative ones count from the end; null: 0, 1, ...
    ! options [in]: null for defaults
    ! halo [out]: the halo
    ! Returns: SYNCYTE_ERR_ARGUMENT (cart is not Cartesian, axes, widths), SYNCYTE_ERR_SHAPE (no room for the
    ! ghosts; an interior smaller than a neighbour's ghosts of it), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_MISMATCH.
    function syncyte_halo_create(cart, dtype, ndim, shape, low_length, low, high_length, high, axes_length, &
        axes, options, halo) bind(C, name="syncyte_halo_create") result(answer)
      import
      type(c_ptr), value :: cart
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int64_t), value :: low_length
      integer(c_int64_t), intent(in) :: low(*)
      integer(c_int64_t), value :: high_length
      integer(c_int64_t), intent(in) :: high(*)
      integer(c_int64_t), value :: axes_length
      integer(c_int32_t), intent(in), optional :: axes(*)
      type(syncyte_halo_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: halo
      integer(c_int32_t) :: answer
    end function syncyte_halo_create

    !> Adds a reference. Local, thread-safe, without MPI.
    ! halo [in]: a halo
    function syncyte_halo_retain(halo) bind(C, name="syncyte_halo_retain") result(answer)
      import
      type(c_ptr), value :: halo
      integer(c_int32_t) :: answer
    end function syncyte_halo_retain

    !> Drops a reference; the last release makes the handle invalid. Local, thread-safe, without MPI: a halo's
    !> memory is local, unlike a window's, and is freed at once, or when its exchange in flight has ended.
    ! halo [in]: a halo
    function syncyte_halo_release(halo) bind(C, name="syncyte_halo_release") result(answer)
      import
      type(c_ptr), value :: halo
      integer(c_int32_t) :: answer
    end function syncyte_halo_release

    !> Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_halo_release().
    ! halo [in,out]: a halo
    function syncyte_halo_destroy(halo) bind(C, name="syncyte_halo_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: halo
      integer(c_int32_t) :: answer
    end function syncyte_halo_destroy

    !> Returns the arrays that a halo is for. Local.
    ! halo [in]: a halo
    ! array [in,out]: struct_size set by the caller; dtype and shape, without memory
    ! interior [in,out]: struct_size set by the caller; the interior of a contiguous array: shape, strides, and the
    ! offset of its first cell in bytes, as data
    function syncyte_halo_describe(halo, array, interior) bind(C, name="syncyte_halo_describe") result(answer)
      import
      type(c_ptr), value :: halo
      type(syncyte_buffer_t), intent(inout) :: array
      type(syncyte_buffer_t), intent(inout), optional :: interior
      integer(c_int32_t) :: answer
    end function syncyte_halo_describe

    !> Returns the communicator of a halo. Local.
    ! halo [in]: a halo
    ! cart [out]: a new reference to it, to be destroyed as any other handle
    function syncyte_halo_comm(halo, cart) bind(C, name="syncyte_halo_comm") result(answer)
      import
      type(c_ptr), value :: halo
      type(c_ptr), intent(inout) :: cart
      integer(c_int32_t) :: answer
    end function syncyte_halo_comm

    !> Fills the ghosts. All ranks of the communicator call it; waits for the neighbours only.
    ! halo [in]: a halo
    ! array [in,out]: array of the halo's dtype and shape; any strides, but 0 only if the extent is 1
    ! Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE; the status of a neighbour that failed; SYNCYTE_ERR_MISMATCH if a
    ! neighbour calls another function of the halo; SYNCYTE_ERR_BUSY while another exchange of this halo is in
    ! flight.
    function syncyte_halo_exchange(halo, array) bind(C, name="syncyte_halo_exchange") result(answer)
      import
      type(c_ptr), value :: halo
      type(syncyte_buffer_t), intent(in) :: array
      integer(c_int32_t) :: answer
    end function syncyte_halo_exchange

    !> Starts syncyte_halo_exchange(), as the head of syncyte/halo.h says.
    ! halo [in]: a halo; it may be destroyed before the request has ended
    ! array [in,out]: array of the halo's dtype and shape; any strides, but 0 only if the extent is 1; must stay and
    ! may not be read in its ghosts nor written in cells that ghosts copy until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as halo_exchange, for errors that this rank finds; test and wait return the others.
    function syncyte_halo_iexchange(halo, array, request) bind(C, name="syncyte_halo_iexchange") result(answer)
      import
      type(c_ptr), value :: halo
      type(syncyte_buffer_t), intent(in) :: array
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_halo_iexchange

    !> Adjoint of syncyte_halo_exchange(): adds the ghosts to the cells that they copy, and sets them to 0. All
    !> ranks of the communicator call it; waits for the neighbours only. bool is added as a logical or; 16-bit
    !> floats are rounded at every addition.
    ! halo [in]: a halo
    ! array [in,out]: array of the halo's dtype and shape; any strides, but 0 only if the extent is 1
    ! Returns: as syncyte_halo_exchange().
    function syncyte_halo_accumulate(halo, array) bind(C, name="syncyte_halo_accumulate") result(answer)
      import
      type(c_ptr), value :: halo
      type(syncyte_buffer_t), intent(in) :: array
      integer(c_int32_t) :: answer
    end function syncyte_halo_accumulate

    !> Starts syncyte_halo_accumulate(), as the head of syncyte/halo.h says.
    ! halo [in]: a halo; it may be destroyed before the request has ended
    ! array [in,out]: array of the halo's dtype and shape; any strides, but 0 only if the extent is 1; may be
    ! neither read nor written until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as halo_accumulate, for errors that this rank finds; test and wait return the others.
    function syncyte_halo_iaccumulate(halo, array, request) bind(C, name="syncyte_halo_iaccumulate") &
        result(answer)
      import
      type(c_ptr), value :: halo
      type(syncyte_buffer_t), intent(in) :: array
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_halo_iaccumulate

    !> Exchanges or accumulates, and compares facts with the neighbours: for libraries on top, whose operation must
    !> be the same on both neighbours. All ranks of the communicator call it; waits for the neighbours only.
    ! halo [in]: a halo
    ! adjoint [in]: 0: as syncyte_halo_exchange(), which a neighbour may call instead; 1: as
    ! syncyte_halo_accumulate()
    ! options [in]: null for defaults; fact_count at most 7. Facts that a neighbour does not pass are 0
    ! array [in,out]: array of the halo's dtype and shape; any strides, but 0 only if the extent is 1
    ! Returns: as syncyte_halo_exchange(); SYNCYTE_ERR_MISMATCH on all ranks with a neighbour that has a different
    ! fact, with a message that names the fact and both ranks. A rank receives the facts of a neighbour if its own
    ! ghosts copy cells of that neighbour (adjoint: if the neighbour's ghosts copy its cells).
    function syncyte_halo_transfer(halo, adjoint, options, array) bind(C, name="syncyte_halo_transfer") &
        result(answer)
      import
      type(c_ptr), value :: halo
      integer(c_int32_t), value :: adjoint
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: array
      integer(c_int32_t) :: answer
    end function syncyte_halo_transfer

    !> Returns the number of exchanges and accumulates that this rank has begun. Local. Neighbours compare it; so it
    !> identifies the last one.
    ! halo [in]: a halo
    ! number [out]: 0 for a new halo
    function syncyte_halo_sequence(halo, number) bind(C, name="syncyte_halo_sequence") result(answer)
      import
      type(c_ptr), value :: halo
      integer(c_int64_t), intent(inout) :: number
      integer(c_int32_t) :: answer
    end function syncyte_halo_sequence
  end interface
end module syncyte_halo_c
