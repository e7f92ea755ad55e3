! Generated from syncyte/halo.h by bindings/generate; do not edit.
!> Halo exchange: ghost cells of arrays that are cut along the dimensions of a Cartesian communicator.
module syncyte_halo_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  use syncyte_comm_c
  use syncyte_collectives_c
  implicit none
  public

  !> Options of a halo.
  type, bind(C) :: syncyte_halo_options_t
    ! sizeof(syncyte_halo_options_t)
    integer(c_size_t) :: struct_size = 16_c_size_t
    ! 1: corners too; 0: only ghosts that lie beyond the interior along one axis
    integer(c_int32_t) :: corners = 1_c_int32_t
  end type syncyte_halo_options_t

  interface

    !> Makes a halo. Collective over cart; facts: dtype, ndim, axes, low, high, options->corners, extents along the
    !> other axes. Extents along a cut axis may differ, but must be equal on ranks with the same place along that
    !> dimension.
    ! cart [in]: a Cartesian communicator, which the halo keeps alive
    ! dtype [in]: element type of the arrays
    ! ndim [in]: dimensions of the arrays, at least those of the grid
    ! shape [in]: extents of this rank's arrays, ghosts included
    ! axes [in]: which axis each dimension of the grid cuts, negative ones from the end; null: 0, 1, ...
    ! axes_length [in]: number of them: the grid's dimensions; ignored if axes is null
    ! low [in]: ghost cells at the low end of each of these axes, 0 or more
    ! low_length [in]: number of them: the grid's dimensions
    ! high [in]: ghost cells at the high end
    ! high_length [in]: number of them: the grid's dimensions
    ! options [in]: null for defaults
    ! halo [out]: the halo
    ! Returns: SYNCYTE_ERR_ARGUMENT (cart is not Cartesian, axes, widths), SYNCYTE_ERR_SHAPE (no room for the
    ! ghosts; an interior smaller than what a neighbour's ghosts show of it), SYNCYTE_ERR_TYPE,
    ! SYNCYTE_ERR_MISMATCH.
    function syncyte_halo_create(cart, dtype, ndim, shape, axes, axes_length, low, low_length, high, &
        high_length, options, halo) bind(C, name="syncyte_halo_create") result(answer)
      import
      type(c_ptr), value :: cart
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int32_t), intent(in), optional :: axes(*)
      integer(c_int64_t), value :: axes_length
      integer(c_int64_t), intent(in) :: low(*)
      integer(c_int64_t), value :: low_length
      integer(c_int64_t), intent(in) :: high(*)
      integer(c_int64_t), value :: high_length
      type(syncyte_halo_options_t), intent(in), optional :: options
      type(c_ptr), intent(out) :: halo
      integer(c_int32_t) :: answer
    end function syncyte_halo_create

    !> Adds a reference. Local, thread-safe, without MPI.
    ! halo [in]: a halo
    function syncyte_halo_retain(halo) bind(C, name="syncyte_halo_retain") result(answer)
      import
      type(c_ptr), value :: halo
      integer(c_int32_t) :: answer
    end function syncyte_halo_retain

    !> Drops a reference; with the last one the handle becomes an error. Local, thread-safe, without MPI: unlike a
    !> window's, a halo's memory is this rank's own and goes at once, or when its exchange under way has ended.
    ! halo [in]: a halo
    function syncyte_halo_release(halo) bind(C, name="syncyte_halo_release") result(answer)
      import
      type(c_ptr), value :: halo
      integer(c_int32_t) :: answer
    end function syncyte_halo_release

    !> Drops a reference and nulls the handle; null is fine. Local, as syncyte_halo_release().
    ! halo [in,out]: a halo
    function syncyte_halo_destroy(halo) bind(C, name="syncyte_halo_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: halo
      integer(c_int32_t) :: answer
    end function syncyte_halo_destroy

    !> The arrays a halo is for. Local.
    ! halo [in]: a halo
    ! array [out]: dtype and shape, without memory
    ! interior [out]: the interior: its shape; data is the offset of its first cell in a contiguous array, in bytes,
    ! and strides are those of a contiguous array
    function syncyte_halo_describe(halo, array, interior) bind(C, name="syncyte_halo_describe") &
        result(answer)
      import
      type(c_ptr), value :: halo
      type(syncyte_buffer_t), intent(out) :: array
      type(syncyte_buffer_t), intent(out), optional :: interior
      integer(c_int32_t) :: answer
    end function syncyte_halo_describe

    !> The communicator of a halo. Local.
    ! halo [in]: a halo
    ! cart [out]: a new reference to it, to be destroyed as any other handle
    function syncyte_halo_comm(halo, cart) bind(C, name="syncyte_halo_comm") result(answer)
      import
      type(c_ptr), value :: halo
      type(c_ptr), intent(out) :: cart
      integer(c_int32_t) :: answer
    end function syncyte_halo_comm

    !> Fills the ghosts. All ranks of the communicator call it; waits for the neighbours only.
    ! halo [in]: a halo
    ! array [in,out]: of the halo's dtype and shape; any strides, but 0 only where the extent is 1
    ! Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE; the status of a neighbour that failed; SYNCYTE_ERR_MISMATCH
    ! where a neighbour does something else with the halo; SYNCYTE_ERR_BUSY while another exchange of this halo is
    ! under way.
    function syncyte_halo_exchange(halo, array) bind(C, name="syncyte_halo_exchange") result(answer)
      import
      type(c_ptr), value :: halo
      type(syncyte_buffer_t), intent(in) :: array
      integer(c_int32_t) :: answer
    end function syncyte_halo_exchange

    !> The adjoint of syncyte_halo_exchange(): adds the ghosts to the cells they show, and sets them to 0. All ranks
    !> of the communicator call it; waits for the neighbours only. bool is added as a logical or, 16-bit floats
    !> round at every addition.
    ! halo [in]: a halo
    ! array [in,out]: of the halo's dtype and shape; any strides, but 0 only where the extent is 1
    ! Returns: as syncyte_halo_exchange().
    function syncyte_halo_accumulate(halo, array) bind(C, name="syncyte_halo_accumulate") result(answer)
      import
      type(c_ptr), value :: halo
      type(syncyte_buffer_t), intent(in) :: array
      integer(c_int32_t) :: answer
    end function syncyte_halo_accumulate

    !> Exchanges or accumulates, and compares facts with the neighbours: for libraries on top, whose operation on a
    !> neighbour must be the same one. All ranks of the communicator call it; waits for the neighbours only.
    ! halo [in]: a halo
    ! adjoint [in]: 0: as syncyte_halo_exchange(), with which it may meet; 1: as syncyte_halo_accumulate()
    ! options [in]: null for defaults; fact_count at most 5. Facts that a neighbour does not give are 0
    ! array [in,out]: of the halo's dtype and shape; any strides, but 0 only where the extent is 1
    ! Returns: as syncyte_halo_exchange(); SYNCYTE_ERR_MISMATCH on all ranks that have a neighbour with another
    ! fact, with a message that names the fact and both ranks. A rank learns of a neighbour's facts where its own
    ! ghosts show cells of that neighbour (adjoint: where that neighbour's show its own).
    function syncyte_halo_transfer(halo, adjoint, options, array) bind(C, name="syncyte_halo_transfer") &
        result(answer)
      import
      type(c_ptr), value :: halo
      integer(c_int32_t), value :: adjoint
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: array
      integer(c_int32_t) :: answer
    end function syncyte_halo_transfer

    !> Number of exchanges and accumulates that this rank has begun. Local. Neighbours compare it; so it identifies
    !> the last one.
    ! halo [in]: a halo
    ! number [out]: 0 for a new halo
    function syncyte_halo_sequence(halo, number) bind(C, name="syncyte_halo_sequence") result(answer)
      import
      type(c_ptr), value :: halo
      integer(c_int64_t), intent(out) :: number
      integer(c_int32_t) :: answer
    end function syncyte_halo_sequence

    !> Starts to fill the ghosts; does not wait. With corners, later dimensions start when the request is tested or
    !> waited for. One exchange of a halo is under way at a time.
    ! halo [in]: a halo
    ! array [in]: of the halo's dtype and shape; its memory must stay until the request has ended, and until then
    ! ghosts must not be read, nor interior cells that ghosts show be written
    ! request [out]: ends with syncyte_halo_exchange()'s status
    ! Returns: SYNCYTE_ERR_BUSY while another exchange of this halo is under way.
    function syncyte_halo_iexchange(halo, array, request) bind(C, name="syncyte_halo_iexchange") &
        result(answer)
      import
      type(c_ptr), value :: halo
      type(syncyte_buffer_t), intent(in) :: array
      type(c_ptr), intent(out) :: request
      integer(c_int32_t) :: answer
    end function syncyte_halo_iexchange

    !> Starts to accumulate; does not wait. As syncyte_halo_iexchange().
    ! halo [in]: a halo
    ! array [in]: of the halo's dtype and shape; its memory must stay, and may not be read or written, until the
    ! request has ended
    ! request [out]: ends with syncyte_halo_accumulate()'s status
    ! Returns: SYNCYTE_ERR_BUSY while another exchange of this halo is under way.
    function syncyte_halo_iaccumulate(halo, array, request) bind(C, name="syncyte_halo_iaccumulate") &
        result(answer)
      import
      type(c_ptr), value :: halo
      type(syncyte_buffer_t), intent(in) :: array
      type(c_ptr), intent(out) :: request
      integer(c_int32_t) :: answer
    end function syncyte_halo_iaccumulate
  end interface
end module syncyte_halo_c
