! SPDX-License-Identifier: BSD-3-Clause
! Generated from helpers/checkpoint_entries.h by bindings/generate; do not edit.
!> C functions for the Fortran methods of checkpoints, besides the C interface. See fortran.h.
module syncyte_checkpoint_entries_c
  use, intrinsic :: iso_c_binding
  use syncyte_fortran_c
  use syncyte_checkpoint_c
  implicit none
  public

  interface

    !> Fills an entry with an array; fortran_entry_clear() frees its key and its buffer.
    ! key [in]: name of the array
    ! array [in]: contiguous
    ! kind [in]: replicated or sharded
    ! dtype [in]: to take the array for if it can carry that (bytes of bool, bits of 16-bit floats), or 0
    ! entry [out]: the entry
    function fortran_entry_fill(key, array, kind, dtype, entry) bind(C, name="fortran_entry_fill") &
        result(answer)
      import
      character(kind=c_char), intent(in) :: key(*)
      type(*), dimension(..), intent(in), target, asynchronous :: array
      integer(c_int32_t), value :: kind
      integer(c_int32_t), value :: dtype
      type(syncyte_checkpoint_entry_t), intent(inout) :: entry
      integer(c_int32_t) :: answer
    end function fortran_entry_fill

    !> Fills an entry with this rank's rows of a tensor.
    ! key [in]: name of the tensor
    ! tensor [in]: a tensor
    ! entry [out]: the entry
    function fortran_entry_fill_tensor(key, tensor, entry) bind(C, name="fortran_entry_fill_tensor") &
        result(answer)
      import
      character(kind=c_char), intent(in) :: key(*)
      type(c_ptr), value :: tensor
      type(syncyte_checkpoint_entry_t), intent(inout) :: entry
      integer(c_int32_t) :: answer
    end function fortran_entry_fill_tensor

    !> Frees an entry's key and buffer.
    ! entry [in,out]: the entry
    function fortran_entry_clear(entry) bind(C, name="fortran_entry_clear") result(answer)
      import
      type(syncyte_checkpoint_entry_t), intent(inout) :: entry
      integer(c_int32_t) :: answer
    end function fortran_entry_clear

    !> Reads rows of a key.
    ! checkpoint [in]: an open checkpoint
    ! key [in]: the key
    ! first_row [in]: an integer, from 1
    ! array [in,out]: of as many rows as are to be read
    function fortran_checkpoint_read(checkpoint, key, first_row, array) bind(C, name="fortran_checkpoint_read") &
        result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: key(*)
      type(*), dimension(..), intent(in), target, asynchronous :: first_row
      type(*), dimension(..), intent(inout), target, asynchronous :: array
      integer(c_int32_t) :: answer
    end function fortran_checkpoint_read
  end interface
end module syncyte_checkpoint_entries_c
