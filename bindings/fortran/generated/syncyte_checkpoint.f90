! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/checkpoints.methods by bindings/generate; do not edit.
!> Checkpoints: named arrays in one HDF5 file, written and read by any number of ranks. Library syncyte_fortran_hdf5.
!>
!> A sharded array holds some rows (its last dimension) on each rank, in order of ranks. In the file dimensions are in
!> C's order, as h5py shows them.
module syncyte_checkpoint
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_comms, only: syncyte_comm
  use syncyte_checkpoint_entries_c
  use syncyte_layouts, only: syncyte_bundle
  use syncyte_tensors, only: syncyte_tensor
  implicit none
  private

  public :: syncyte_save, syncyte_load, syncyte_save_bundle, syncyte_load_bundle

  !> The named arrays that a save or load moves. They are not copied: their memory must stay until then.
  type, public :: syncyte_checkpoint_entries
    private
    type(syncyte_checkpoint_entry_t), allocatable :: list(:)
  contains
    procedure :: add => entries_add
    procedure :: add_tensor => entries_add_tensor
    procedure :: count => entries_count
    procedure :: clear => entries_clear
  end type syncyte_checkpoint_entries

  !> An open checkpoint.
  type, public :: syncyte_checkpoint_file
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_checkpoint_t, for calls of syncyte_checkpoint_c
  contains
    procedure :: open => file_open
    procedure :: close => file_close
    procedure :: count => file_count
    procedure :: key => file_key
    procedure :: attributes => file_attributes
    procedure :: describe => file_describe
    procedure :: read => file_read
    procedure :: bytes_read => file_bytes_read
  end type syncyte_checkpoint_file

contains

  !> Opens a file. Collective.
  subroutine file_open(self, comm, path, stat, errmsg)
    class(syncyte_checkpoint_file), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: path_c
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    call to_c(path, path_c)
    made = c_null_ptr
    status = syncyte_checkpoint_open(comm%handle, path_c, checkpoint=made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_checkpoint_close(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine file_open

  !> Closes the file; a file that is not open is ignored. Local.
  subroutine file_close(self, stat, errmsg)
    class(syncyte_checkpoint_file), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_checkpoint_close(self%handle)
    call finish(status, stat, errmsg)
  end subroutine file_close

  !> Number of keys, and the step it was saved with. Local.
  subroutine file_count(self, keys, step, stat, errmsg)
    class(syncyte_checkpoint_file), intent(in) :: self
    type(*), dimension(..), intent(inout), target :: keys  !! any integer: number of keys
    type(*), dimension(..), intent(inout), target, optional :: step  !! any integer: the saved step
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: keys_c
    integer(c_int64_t) :: step_c
    integer(c_int32_t) :: status

    call syncyte_set_span(keys)
    call syncyte_set_span(step)
    status = syncyte_checkpoint_count(self%handle, keys_c, step_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(keys, "keys"//c_null_char, keys_c)
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integer(step, "step"//c_null_char, step_c)
    call finish(status, stat, errmsg)
  end subroutine file_count

  !> The key with a number, 1 to the number of keys, in alphabetical order. Local.
  subroutine file_key(self, number, key, stat, errmsg)
    class(syncyte_checkpoint_file), intent(in) :: self
    integer, intent(in) :: number
    character(len=:), allocatable, intent(out) :: key
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: text
    integer(c_int32_t) :: status

    text = c_null_ptr
    status = syncyte_checkpoint_key(self%handle, int(number - 1, c_int64_t), text)
    key = to_fortran(text)
    call finish(status, stat, errmsg)
  end subroutine file_key

  !> The text that was saved beside the arrays; empty if there is none. Local.
  subroutine file_attributes(self, text, stat, errmsg)
    class(syncyte_checkpoint_file), intent(in) :: self
    character(len=:), allocatable, intent(out) :: text
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: found
    integer(c_int32_t) :: status

    found = c_null_ptr
    status = syncyte_checkpoint_attributes(self%handle, found)
    text = to_fortran(found)
    call finish(status, stat, errmsg)
  end subroutine file_attributes

  !> Element type, global shape (reversed: rows last) and kind of a key. Local.
  subroutine file_describe(self, key, dtype, shape, sharded, stat, errmsg)
    class(syncyte_checkpoint_file), intent(in) :: self
    character(len=*), intent(in) :: key
    integer(c_int32_t), intent(out) :: dtype
    integer(c_int64_t), allocatable, intent(out) :: shape(:)
    logical, intent(out), optional :: sharded
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: key_c
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: kind
    integer(c_int32_t) :: status

    call to_c(key, key_c)
    kind = SYNCYTE_ENTRY_REPLICATED
    status = syncyte_checkpoint_describe(self%handle, key_c, global, kind)
    dtype = global%dtype
    shape = global%shape(global%ndim:1:-1)
    if (present(sharded)) sharded = kind == SYNCYTE_ENTRY_SHARDED
    call finish(status, stat, errmsg)
  end subroutine file_describe

  !> Reads rows first_row, first_row + 1, ... of a key, as many as array has, and verifies them. Local.
  subroutine file_read(self, key, first_row, array, stat, errmsg)
    class(syncyte_checkpoint_file), intent(in) :: self
    character(len=*), intent(in) :: key
    type(*), dimension(..), intent(in), target :: first_row  !! any integer, from 1
    type(*), dimension(..), intent(inout), target :: array  !! contiguous; all extents but the last are the key's
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: key_c
    integer(c_int32_t) :: status

    call syncyte_set_span(first_row)
    call syncyte_set_span(array)
    call to_c(key, key_c)
    status = fortran_checkpoint_read(self%handle, key_c, first_row, array)
    call finish(status, stat, errmsg)
  end subroutine file_read

  !> Bytes of tensor data that this rank has read from the file so far; -1 on an error. Local.
  function file_bytes_read(self, stat, errmsg) result(answer)
    class(syncyte_checkpoint_file), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    integer(c_int64_t) :: bytes_c
    integer(c_int32_t) :: status

    bytes_c = -1
    status = syncyte_checkpoint_bytes_read(self%handle, bytes_c)
    answer = int(bytes_c, c_int64_t)
    call finish(status, stat, errmsg)
  end function file_bytes_read

  !> Adds an array under a name; one that is not contiguous is refused. Local.
  subroutine entries_add(self, key, array, sharded, dtype, stat, errmsg)
    class(syncyte_checkpoint_entries), intent(inout) :: self
    character(len=*), intent(in) :: key
    type(*), dimension(..), intent(inout), target, asynchronous :: array  !! contiguous; give it the target attribute
    logical, intent(in), optional :: sharded  !! default: replicated, rank 0's is saved
    integer(c_int32_t), intent(in), optional :: dtype  !! SYNCYTE_BOOL, ... for bytes, 16-bit floats for integer(2)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: key_c
    integer(c_int32_t) :: dtype_c
    type(syncyte_checkpoint_entry_t) :: entry
    integer(c_int32_t) :: kind
    integer(c_int32_t) :: status

    call syncyte_set_span(array)
    call to_c(key, key_c)
    dtype_c = 0
    if (present(dtype)) dtype_c = dtype
    kind = SYNCYTE_ENTRY_REPLICATED
    if (present(sharded)) kind = merge(SYNCYTE_ENTRY_SHARDED, SYNCYTE_ENTRY_REPLICATED, sharded)
    status = fortran_entry_fill(key_c, array, kind, dtype_c, entry)
    call append(self, status, entry)
    call finish(status, stat, errmsg)
  end subroutine entries_add

  !> Adds a whole tensor, sharded as it is. It must not be destroyed before the save or load. Local.
  subroutine entries_add_tensor(self, key, tensor, stat, errmsg)
    class(syncyte_checkpoint_entries), intent(inout) :: self
    character(len=*), intent(in) :: key
    type(syncyte_tensor), intent(in) :: tensor
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: key_c
    type(syncyte_checkpoint_entry_t) :: entry
    integer(c_int32_t) :: status

    call to_c(key, key_c)
    status = fortran_entry_fill_tensor(key_c, tensor%handle, entry)
    call append(self, status, entry)
    call finish(status, stat, errmsg)
  end subroutine entries_add_tensor

  !> Appends a filled entry.
  subroutine append(self, status, entry)
    class(syncyte_checkpoint_entries), intent(inout) :: self
    integer(c_int32_t), intent(in) :: status
    type(syncyte_checkpoint_entry_t), intent(in) :: entry

    if (status /= SYNCYTE_SUCCESS) return
    if (.not. allocated(self%list)) allocate (self%list(0))
    self%list = [self%list, entry]
  end subroutine append

  !> Number of entries. Local.
  pure integer function entries_count(self)
    class(syncyte_checkpoint_entries), intent(in) :: self

    entries_count = 0
    if (allocated(self%list)) entries_count = size(self%list)
  end function entries_count

  !> Removes all entries. Local.
  subroutine entries_clear(self)
    class(syncyte_checkpoint_entries), intent(inout) :: self
    integer(c_int32_t) :: ignored
    integer :: i

    do i = 1, self%count()
      ignored = fortran_entry_clear(self%list(i))
    end do
    if (allocated(self%list)) deallocate (self%list)
  end subroutine entries_clear

  !> The entries, or none.
  function listed(entries) result(list)
    type(syncyte_checkpoint_entries), intent(in) :: entries
    type(syncyte_checkpoint_entry_t), allocatable :: list(:)

    allocate (list(0))
    if (allocated(entries%list)) list = entries%list
  end function listed

  !> Saves the entries into one file, atomically: on any error the old file is untouched. Collective.
  subroutine syncyte_save(comm, path, entries, step, block_bytes, attributes, stat, errmsg)
    type(syncyte_comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(syncyte_checkpoint_entries), intent(in) :: entries  !! the same names in the same order on all ranks
    type(*), dimension(..), intent(in), target, optional :: step  !! stored as the attribute "step" when saving; any number
    ! bytes per checksum when saving, a power of two from 4096 to 2^30; 0: 4 MiB
    type(*), dimension(..), intent(in), target, optional :: block_bytes
    character(len=*), intent(in), optional :: attributes  !! text to store beside the arrays, in JSON by convention
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: path_c
    integer(c_int64_t) :: step_c
    integer(c_int64_t) :: block_bytes_c
    type(syncyte_checkpoint_options_t) :: options
    character(kind=c_char, len=:), allocatable, target :: text
    integer(c_int32_t) :: status, local

    call syncyte_set_span(step)
    call syncyte_set_span(block_bytes)
    local = SYNCYTE_SUCCESS
    call to_c(path, path_c)
    if (present(step) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(step, "step"//c_null_char, step_c)
    if (present(step)) options%step = step_c
    if (present(block_bytes) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(block_bytes, &
        "block_bytes"//c_null_char, block_bytes_c)
    if (present(block_bytes)) options%block_bytes = block_bytes_c
    if (present(attributes)) call to_c(attributes, text)
    if (present(attributes)) options%attributes = c_loc(text)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm%handle, local, &
          "checkpoint_save"//c_null_char)
    else
      status = syncyte_checkpoint_save(comm%handle, path_c, int(entries%count(), c_int64_t), listed(entries), &
          options)
    end if
    call finish(status, stat, errmsg)
  end subroutine syncyte_save

  !> Loads the entries: replicated ones whole, sharded ones by the rows that the ranks' arrays have. Collective.
  subroutine syncyte_load(comm, path, entries, stat, errmsg)
    type(syncyte_comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(syncyte_checkpoint_entries), intent(in) :: entries
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: path_c
    integer(c_int32_t) :: status

    call to_c(path, path_c)
    status = syncyte_checkpoint_load(comm%handle, path_c, int(entries%count(), c_int64_t), listed(entries))
    call finish(status, stat, errmsg)
  end subroutine syncyte_load

  !> Saves the fields of a bundle, and entries beside them, into one file: each field is a key, without ghosts. Collective.
  subroutine syncyte_save_bundle(comm, path, bundle, entries, step, block_bytes, attributes, stat, errmsg)
    type(syncyte_comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(syncyte_bundle), intent(in) :: bundle
    type(syncyte_checkpoint_entries), intent(in), optional :: entries  !! the same names in the same order on all ranks
    type(*), dimension(..), intent(in), target, optional :: step  !! stored as the attribute "step" when saving; any number
    ! bytes per checksum when saving, a power of two from 4096 to 2^30; 0: 4 MiB
    type(*), dimension(..), intent(in), target, optional :: block_bytes
    character(len=*), intent(in), optional :: attributes
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: path_c
    integer(c_int64_t) :: step_c
    integer(c_int64_t) :: block_bytes_c
    type(syncyte_checkpoint_options_t) :: options
    type(syncyte_checkpoint_entries) :: extra
    character(kind=c_char, len=:), allocatable, target :: text
    integer(c_int32_t) :: status, local

    call syncyte_set_span(step)
    call syncyte_set_span(block_bytes)
    local = SYNCYTE_SUCCESS
    call to_c(path, path_c)
    if (present(step) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(step, "step"//c_null_char, step_c)
    if (present(step)) options%step = step_c
    if (present(block_bytes) .and. local == SYNCYTE_SUCCESS) local = fortran_integer(block_bytes, &
        "block_bytes"//c_null_char, block_bytes_c)
    if (present(block_bytes)) options%block_bytes = block_bytes_c
    if (present(attributes)) call to_c(attributes, text)
    if (present(attributes)) options%attributes = c_loc(text)
    if (present(entries)) extra = entries
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE_ALWAYS, comm%handle, local, &
          "checkpoint_save_bundle"//c_null_char)
    else
      status = syncyte_checkpoint_save_bundle(comm%handle, path_c, bundle%handle, int(extra%count(), c_int64_t), &
          listed(extra), options)
    end if
    call finish(status, stat, errmsg)
  end subroutine syncyte_save_bundle

  !> Loads the fields of a bundle, and entries, on any number of ranks and into any layouts; ghosts are not written. Collective.
  subroutine syncyte_load_bundle(comm, path, bundle, entries, stat, errmsg)
    type(syncyte_comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    type(syncyte_bundle), intent(in) :: bundle
    type(syncyte_checkpoint_entries), intent(in), optional :: entries
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: path_c
    type(syncyte_checkpoint_entries) :: extra
    integer(c_int32_t) :: status

    call to_c(path, path_c)
    if (present(entries)) extra = entries
    status = syncyte_checkpoint_load_bundle(comm%handle, path_c, bundle%handle, int(extra%count(), c_int64_t), &
        listed(extra))
    call finish(status, stat, errmsg)
  end subroutine syncyte_load_bundle
end module syncyte_checkpoint
