! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/bundle.h by bindings/generate; do not edit.
!> Bundles: fields of one communicator, each with a layout, whose halos travel together.
module syncyte_bundle_c
  use, intrinsic :: iso_c_binding
  use syncyte_collectives_c
  use syncyte_layout_c
  implicit none
  public

  interface

    !> Makes a bundle without fields. Collective.
    ! comm [in]: a communicator, which the bundle keeps alive
    ! bundle [out]: the bundle
    ! Returns: SYNCYTE_ERR_MISMATCH.
    function syncyte_bundle_create(comm, bundle) bind(C, name="syncyte_bundle_create") result(answer)
      import
      type(c_ptr), value :: comm
      type(c_ptr), intent(inout) :: bundle
      integer(c_int32_t) :: answer
    end function syncyte_bundle_create

    !> Adds a reference. Local, thread-safe, without MPI.
    ! bundle [in]: a bundle
    function syncyte_bundle_retain(bundle) bind(C, name="syncyte_bundle_retain") result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int32_t) :: answer
    end function syncyte_bundle_retain

    !> Drops a reference; the last release makes the handle invalid. Local, thread-safe, without MPI: its memory is
    !> freed at once, or when its operation in flight has ended.
    ! bundle [in]: a bundle
    function syncyte_bundle_release(bundle) bind(C, name="syncyte_bundle_release") result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int32_t) :: answer
    end function syncyte_bundle_release

    !> Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_bundle_release().
    ! bundle [in,out]: a bundle
    function syncyte_bundle_destroy(bundle) bind(C, name="syncyte_bundle_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: bundle
      integer(c_int32_t) :: answer
    end function syncyte_bundle_destroy

    !> Returns the communicator of a bundle. Local.
    ! bundle [in]: a bundle
    ! comm [out]: a new reference to it, to be destroyed as any other handle
    function syncyte_bundle_comm(bundle, comm) bind(C, name="syncyte_bundle_comm") result(answer)
      import
      type(c_ptr), value :: bundle
      type(c_ptr), intent(inout) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_bundle_comm

    !> Adds a field. Collective over the bundle's communicator; facts: name, dtype, layout.
    ! bundle [in]: a bundle
    ! name [in]: name of the field, which no other field of the bundle has
    ! layout [in]: a layout of the bundle's communicator, which the bundle keeps alive; no ghosts along an axis that
    ! is dealt out in blocks
    ! dtype [in]: element type, also on ranks without a block
    ! count [in]: number of arrays: this rank's blocks
    ! arrays [in,out]: the arrays of this rank's blocks, ghosts included, with any strides, in memory that no other
    ! array of the bundle has. The memory must stay until the bundle has gone, or has other arrays
    ! Returns: SYNCYTE_ERR_ARGUMENT (a name that is taken, another communicator, number of arrays, overlapping
    ! memory), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH; SYNCYTE_ERR_BUSY while an operation is in
    ! flight.
    function syncyte_bundle_add(bundle, name, layout, dtype, count, arrays) bind(C, name="syncyte_bundle_add") &
        result(answer)
      import
      type(c_ptr), value :: bundle
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: layout
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: count
      type(syncyte_buffer_t), intent(in), optional :: arrays(*)
      integer(c_int32_t) :: answer
    end function syncyte_bundle_add

    !> Takes other arrays for a field. Local.
    ! bundle [in]: a bundle
    ! name [in]: name of the field
    ! count [in]: number of arrays: this rank's blocks
    ! arrays [in,out]: as those of syncyte_bundle_add()
    ! Returns: as syncyte_bundle_add().
    function syncyte_bundle_set_arrays(bundle, name, count, arrays) bind(C, name="syncyte_bundle_set_arrays") &
        result(answer)
      import
      type(c_ptr), value :: bundle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: count
      type(syncyte_buffer_t), intent(in), optional :: arrays(*)
      integer(c_int32_t) :: answer
    end function syncyte_bundle_set_arrays

    !> Returns the number of fields. Local.
    ! bundle [in]: a bundle
    ! count [out]: the number
    function syncyte_bundle_fields(bundle, count) bind(C, name="syncyte_bundle_fields") result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int64_t), intent(inout) :: count
      integer(c_int32_t) :: answer
    end function syncyte_bundle_fields

    !> Describes a field. Local.
    ! bundle [in]: a bundle
    ! number [in]: 0 to the number of fields - 1, in the order in which they were added
    ! name [out]: its name, valid until the bundle gets another field or is destroyed
    ! layout [out]: a new reference to its layout, to be destroyed as any other handle
    ! dtype [out]: its element type
    ! Returns: SYNCYTE_ERR_INDEX.
    function syncyte_bundle_field(bundle, number, name, layout, dtype) bind(C, name="syncyte_bundle_field") &
        result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int64_t), value :: number
      type(c_ptr), intent(inout) :: name
      type(c_ptr), intent(inout) :: layout
      integer(c_int32_t), intent(inout) :: dtype
      integer(c_int32_t) :: answer
    end function syncyte_bundle_field

    !> Returns the array of one of this rank's blocks. Local.
    ! bundle [in]: a bundle
    ! number [in]: of the field, as of syncyte_bundle_field()
    ! block [in]: 0 to the number of this rank's blocks - 1
    ! array [in,out]: struct_size set by the caller; the memory is the user's
    ! Returns: SYNCYTE_ERR_INDEX.
    function syncyte_bundle_array(bundle, number, block, array) bind(C, name="syncyte_bundle_array") &
        result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int64_t), value :: number
      integer(c_int32_t), value :: block
      type(syncyte_buffer_t), intent(inout) :: array
      integer(c_int32_t) :: answer
    end function syncyte_bundle_array

    !> Fills the ghosts. All ranks of the communicator call it; waits for the neighbours only.
    ! bundle [in]: a bundle; its arrays may not be read in their ghosts nor written until the end
    ! depth [in]: ghosts at each end of an axis, at most those of the widest field; 0: all. A field with fewer
    ! ghosts has all of them filled
    ! only_length [in]: length of only: the number of fields; ignored if only is null
    ! only [in]: 1 for each field that takes part, otherwise 0, in the order in which the fields were added; null:
    ! all
    ! Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_SHAPE; the status of a neighbour that failed; SYNCYTE_ERR_MISMATCH
    ! if a neighbour calls another operation, or with another depth or mask; SYNCYTE_ERR_BUSY while another
    ! operation of this bundle is in flight.
    function syncyte_bundle_exchange(bundle, depth, only_length, only) bind(C, name="syncyte_bundle_exchange") &
        result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int64_t), value :: depth
      integer(c_int64_t), value :: only_length
      integer(c_int32_t), intent(in), optional :: only(*)
      integer(c_int32_t) :: answer
    end function syncyte_bundle_exchange

    !> Starts syncyte_bundle_exchange(), as the head of syncyte/bundle.h says.
    ! bundle [in]: a bundle; its arrays may not be read in their ghosts nor written until the end; it may be
    ! destroyed before the request has ended
    ! depth [in]: ghosts at each end of an axis, at most those of the widest field; 0: all. A field with fewer
    ! ghosts has all of them filled
    ! only_length [in]: length of only: the number of fields; ignored if only is null
    ! only [in]: 1 for each field that takes part, otherwise 0, in the order in which the fields were added; null:
    ! all; may be re-used on return
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as bundle_exchange, for errors that this rank finds; test and wait return the others.
    function syncyte_bundle_iexchange(bundle, depth, only_length, only, request) bind(C, &
        name="syncyte_bundle_iexchange") result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int64_t), value :: depth
      integer(c_int64_t), value :: only_length
      integer(c_int32_t), intent(in), optional :: only(*)
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_bundle_iexchange

    !> Adjoint of syncyte_bundle_exchange(): adds the ghosts to the points that they copy, and sets them to 0. The
    !> order of the additions is fixed. bool is added as a logical or; 16-bit floats are rounded at every addition.
    !> All ranks of the communicator call it; waits for the neighbours only.
    ! bundle [in]: a bundle; its arrays may be neither read nor written until the end
    ! depth [in]: as of syncyte_bundle_exchange()
    ! only_length [in]: length of only: the number of fields; ignored if only is null
    ! only [in]: as of syncyte_bundle_exchange()
    ! Returns: as syncyte_bundle_exchange().
    function syncyte_bundle_accumulate(bundle, depth, only_length, only) bind(C, &
        name="syncyte_bundle_accumulate") result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int64_t), value :: depth
      integer(c_int64_t), value :: only_length
      integer(c_int32_t), intent(in), optional :: only(*)
      integer(c_int32_t) :: answer
    end function syncyte_bundle_accumulate

    !> Starts syncyte_bundle_accumulate(), as the head of syncyte/bundle.h says.
    ! bundle [in]: a bundle; its arrays may be neither read nor written until the end; it may be destroyed before
    ! the request has ended
    ! depth [in]: as of syncyte_bundle_exchange()
    ! only_length [in]: length of only: the number of fields; ignored if only is null
    ! only [in]: as of syncyte_bundle_exchange(); may be null; may be re-used on return
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as bundle_accumulate, for errors that this rank finds; test and wait return the others.
    function syncyte_bundle_iaccumulate(bundle, depth, only_length, only, request) bind(C, &
        name="syncyte_bundle_iaccumulate") result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int64_t), value :: depth
      integer(c_int64_t), value :: only_length
      integer(c_int32_t), intent(in), optional :: only(*)
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_bundle_iaccumulate

    !> Adds the copies of shared points. All ranks of the communicator call it; waits for the neighbours only. It is
    !> its own adjoint.
    ! bundle [in]: a bundle; its arrays may be neither read nor written until the end
    ! only_length [in]: length of only: the number of fields; ignored if only is null
    ! only [in]: as of syncyte_bundle_exchange()
    ! Returns: as syncyte_bundle_exchange().
    function syncyte_bundle_sum(bundle, only_length, only) bind(C, name="syncyte_bundle_sum") result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int64_t), value :: only_length
      integer(c_int32_t), intent(in), optional :: only(*)
      integer(c_int32_t) :: answer
    end function syncyte_bundle_sum

    !> Starts syncyte_bundle_sum(), as the head of syncyte/bundle.h says.
    ! bundle [in]: a bundle; its arrays may be neither read nor written until the end; it may be destroyed before
    ! the request has ended
    ! only_length [in]: length of only: the number of fields; ignored if only is null
    ! only [in]: as of syncyte_bundle_exchange(); may be null; may be re-used on return
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as bundle_sum, for errors that this rank finds; test and wait return the others.
    function syncyte_bundle_isum(bundle, only_length, only, request) bind(C, name="syncyte_bundle_isum") &
        result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int64_t), value :: only_length
      integer(c_int32_t), intent(in), optional :: only(*)
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_bundle_isum

    !> Does an operation on other arrays than the bundle's, and compares facts with the neighbours: for libraries on
    !> top, whose operation must be the same on both neighbours. All ranks of the communicator call it; waits for
    !> the neighbours only.
    ! bundle [in]: a bundle
    ! operation [in]: 0: as syncyte_bundle_exchange(), which a neighbour may call instead; 1: as
    ! syncyte_bundle_accumulate(); 2: as syncyte_bundle_sum()
    ! depth [in]: as of syncyte_bundle_exchange(); 0 for a sum
    ! only_length [in]: length of only: the number of fields; ignored if only is null
    ! only [in]: as of syncyte_bundle_exchange()
    ! options [in]: null for defaults; fact_count at most 2. Facts that a neighbour does not pass are 0
    ! count [in]: number of arrays
    ! arrays [in,out]: the arrays of this rank's blocks of the fields that take part, field by field, as those of
    ! syncyte_bundle_add(); read and written during the call
    ! Returns: as syncyte_bundle_exchange(); SYNCYTE_ERR_MISMATCH, with a message that names the fact and both
    ! ranks, if a neighbour has a different fact.
    function syncyte_bundle_transfer(bundle, operation, depth, only_length, only, options, count, arrays) &
        bind(C, name="syncyte_bundle_transfer") result(answer)
      import
      type(c_ptr), value :: bundle
      integer(c_int32_t), value :: operation
      integer(c_int64_t), value :: depth
      integer(c_int64_t), value :: only_length
      integer(c_int32_t), intent(in), optional :: only(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      integer(c_int64_t), value :: count
      type(syncyte_buffer_t), intent(in), optional :: arrays(*)
      integer(c_int32_t) :: answer
    end function syncyte_bundle_transfer
  end interface
end module syncyte_bundle_c
