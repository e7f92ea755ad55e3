!> Interfaces of helpers/checkpoint.c.
module syncyte_checkpoint_helpers
  use, intrinsic :: iso_c_binding
  use syncyte_checkpoint_c, only: syncyte_checkpoint_entry_t
  implicit none
  public

  interface
    function fortran_entry_fill(key, array, layout, dtype, entry) bind(C, name="fortran_entry_fill") result(status)
      import
      character(kind=c_char), intent(in) :: key(*)
      type(*), dimension(..), intent(in) :: array
      integer(c_int32_t), value :: layout, dtype
      type(syncyte_checkpoint_entry_t), intent(inout) :: entry
      integer(c_int32_t) :: status
    end function fortran_entry_fill

    function fortran_entry_fill_tensor(key, tensor, entry) bind(C, name="fortran_entry_fill_tensor") result(status)
      import
      character(kind=c_char), intent(in) :: key(*)
      type(c_ptr), value :: tensor
      type(syncyte_checkpoint_entry_t), intent(inout) :: entry
      integer(c_int32_t) :: status
    end function fortran_entry_fill_tensor

    subroutine fortran_entry_clear(entry) bind(C, name="fortran_entry_clear")
      import
      type(syncyte_checkpoint_entry_t), intent(inout) :: entry
    end subroutine fortran_entry_clear

    function fortran_checkpoint_save(comm, path, count, entries, step, block_bytes) &
        bind(C, name="fortran_checkpoint_save") result(status)
      import
      type(c_ptr), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int64_t), value :: count
      type(syncyte_checkpoint_entry_t), intent(in) :: entries(*)
      type(*), dimension(..), intent(in), optional :: step, block_bytes
      integer(c_int32_t) :: status
    end function fortran_checkpoint_save

    function fortran_checkpoint_read(checkpoint, key, first_row, array) &
        bind(C, name="fortran_checkpoint_read") result(status)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: key(*)
      type(*), dimension(..), intent(in) :: first_row
      type(*), dimension(..), intent(inout) :: array
      integer(c_int32_t) :: status
    end function fortran_checkpoint_read
  end interface
end module syncyte_checkpoint_helpers
