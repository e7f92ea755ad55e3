! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/checkpoint.h by bindings/generate; do not edit.
!> Checkpoints: named tensors in one HDF5 file, written and read by any number of ranks. Library libsyncyte_hdf5.
module syncyte_checkpoint_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  use syncyte_bundle_c
  use syncyte_comm_c, c_syncyte_finalize => syncyte_finalize
  implicit none
  public
  private :: c_syncyte_finalize

  !> File format that this library writes, and the newest that it reads; it reads all older ones.
  integer(c_int32_t), parameter :: SYNCYTE_CHECKPOINT_FORMAT = 2_c_int32_t

  !> Kinds of entries.
  ! all ranks hold equal data (compared with SYNCYTE_CHECK=full); rank 0's is saved
  integer(c_int32_t), parameter :: SYNCYTE_ENTRY_REPLICATED = 0_c_int32_t
  ! each rank holds some rows, in rank order
  integer(c_int32_t), parameter :: SYNCYTE_ENTRY_SHARDED = 1_c_int32_t

  !> One named tensor to save or load.
  type, bind(C) :: syncyte_checkpoint_entry_t
    ! sizeof(syncyte_checkpoint_entry_t)
    integer(c_size_t) :: struct_size = 32_c_size_t
    ! name, 1 to 1023 bytes; '/' is stored escaped as "%2F", '%' as "%25", and the key "." as "%2E"
    type(c_ptr) :: key = c_null_ptr
    ! contiguous, in host or CUDA memory; this rank's rows if sharded; read during the call
    type(c_ptr) :: data = c_null_ptr
    ! replicated or sharded
    integer(c_int32_t) :: kind = 0_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
  end type syncyte_checkpoint_entry_t

  !> Options of save and open.
  type, bind(C) :: syncyte_checkpoint_options_t
    ! sizeof(syncyte_checkpoint_options_t)
    integer(c_size_t) :: struct_size = 32_c_size_t
    ! bytes per checksum when saving, a power of two from 4096 to 2^30; 0: 4 MiB
    integer(c_int64_t) :: block_bytes = 0_c_int64_t
    ! stored as the attribute "step" when saving; any number
    integer(c_int64_t) :: step = 0_c_int64_t
    ! text to store in the file's attribute "attributes" when saving, up to 16 MiB: scalars, strings and small
    ! arrays, in JSON by convention; null for none; read during the call
    type(c_ptr) :: attributes = c_null_ptr
  end type syncyte_checkpoint_options_t

  interface

    !> Returns the version of the loaded libsyncyte_hdf5. Local; callable at any time, from any thread.
    ! major [out]: first number
    ! minor [out]: second number
    ! patch [out]: third number
    ! abi [out]: SYNCYTE_ABI_VERSION of the library
    function syncyte_hdf5_version(major, minor, patch, abi) bind(C, name="syncyte_hdf5_version") result(answer)
      import
      integer(c_int32_t), intent(inout), optional :: major
      integer(c_int32_t), intent(inout), optional :: minor
      integer(c_int32_t), intent(inout), optional :: patch
      integer(c_int32_t), intent(inout), optional :: abi
      integer(c_int32_t) :: answer
    end function syncyte_hdf5_version

    !> Saves entries into one file, atomically: on any error the old file is untouched. Collective; facts: path,
    !> count, keys, kinds, dtypes, extents (without the first one of sharded entries), options; with
    !> SYNCYTE_CHECK=full also the CRC32C of replicated entries. A mismatch error names the key, the property and
    !> the ranks that differ. The new file takes the permissions of the file that it replaces, and its owner and
    !> group if this process may set them (otherwise the file is this user's, and a different group gets no access).
    !> If the path is a symbolic link, the link stays and its target is replaced. Rank 0 locks the temporary file
    !> (flock). A save removes unlocked temporary files of the same target, which killed jobs have left.
    ! comm [in]: a communicator
    ! path [in]: file to write or replace; equal on all ranks, on a file system that all ranks see
    ! count [in]: number of entries
    ! entries [in]: in the same order on all ranks, keys unique
    ! options [in]: null for defaults
    ! Returns: SYNCYTE_ERR_IO (names path and reason), SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_SHAPE,
    ! SYNCYTE_ERR_MISMATCH.
    function syncyte_checkpoint_save(comm, path, count, entries, options) bind(C, &
        name="syncyte_checkpoint_save") result(answer)
      import
      type(c_ptr), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int64_t), value :: count
      type(syncyte_checkpoint_entry_t), intent(in) :: entries(*)
      type(syncyte_checkpoint_options_t), intent(in), optional :: options
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_save

    !> Opens a checkpoint: rank 0 reads and verifies the metadata and sends it to all ranks. Collective; facts:
    !> path.
    ! comm [in]: a communicator
    ! path [in]: file
    ! options [in]: null for defaults
    ! checkpoint [out]: the open file
    ! Returns: SYNCYTE_ERR_NOT_FOUND (no such file), SYNCYTE_ERR_FORMAT (not a checkpoint, or truncated),
    ! SYNCYTE_ERR_CHECKSUM (damaged metadata), SYNCYTE_ERR_VERSION (a newer format, or a feature that this library
    ! does not know), SYNCYTE_ERR_IO; each names the file.
    function syncyte_checkpoint_open(comm, path, options, checkpoint) bind(C, name="syncyte_checkpoint_open") &
        result(answer)
      import
      type(c_ptr), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(syncyte_checkpoint_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: checkpoint
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_open

    !> Closes the file and nulls the handle; a null handle is ignored. Local.
    ! checkpoint [in,out]: an open checkpoint
    function syncyte_checkpoint_close(checkpoint) bind(C, name="syncyte_checkpoint_close") result(answer)
      import
      type(c_ptr), intent(inout) :: checkpoint
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_close

    !> Returns the number of keys and the saved step. Local.
    ! checkpoint [in]: an open checkpoint
    ! count [out]: number of keys
    ! step [out]: the saved step
    function syncyte_checkpoint_count(checkpoint, count, step) bind(C, name="syncyte_checkpoint_count") &
        result(answer)
      import
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), intent(inout) :: count
      integer(c_int64_t), intent(inout), optional :: step
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_count

    !> Returns the attributes that were saved with the file. Local.
    ! checkpoint [in]: an open checkpoint
    ! attributes [out]: the text; "" if there are none. Valid until the checkpoint is closed
    function syncyte_checkpoint_attributes(checkpoint, attributes) bind(C, name="syncyte_checkpoint_attributes") &
        result(answer)
      import
      type(c_ptr), value :: checkpoint
      type(c_ptr), intent(inout) :: attributes
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_attributes

    !> Returns a key by its number in alphabetical order. Local.
    ! checkpoint [in]: an open checkpoint
    ! number [in]: 0 to count - 1
    ! key [out]: valid until the checkpoint is closed
    function syncyte_checkpoint_key(checkpoint, number, key) bind(C, name="syncyte_checkpoint_key") &
        result(answer)
      import
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), value :: number
      type(c_ptr), intent(inout) :: key
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_key

    !> Returns the element type, global shape and kind of a key. Local.
    ! checkpoint [in]: an open checkpoint
    ! key [in]: its name
    ! global [in,out]: struct_size set by the caller; the rest is filled, with data null
    ! kind [out]: kind with which it was saved
    ! Returns: SYNCYTE_ERR_NOT_FOUND, naming the key and the file.
    function syncyte_checkpoint_describe(checkpoint, key, global, kind) bind(C, &
        name="syncyte_checkpoint_describe") result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: key(*)
      type(syncyte_buffer_t), intent(inout) :: global
      integer(c_int32_t), intent(inout), optional :: kind
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_describe

    !> Reads rows [first_row, first_row + target.shape[0]) of a key and verifies their checksums. Local: each rank
    !> reads the rows that it needs. A 0-dimensional key counts as one row, read into a 0-dimensional target.
    ! checkpoint [in]: an open checkpoint
    ! key [in]: its name
    ! first_row [in]: first row to read
    ! target [out]: contiguous memory of the key's dtype; all extents but the first are the key's. Its contents are
    ! undefined after an error
    ! Returns: SYNCYTE_ERR_NOT_FOUND, SYNCYTE_ERR_INDEX, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_CHECKSUM
    ! (names file, key and block), SYNCYTE_ERR_FORMAT (truncated), SYNCYTE_ERR_IO.
    function syncyte_checkpoint_read(checkpoint, key, first_row, target) bind(C, name="syncyte_checkpoint_read") &
        result(answer)
      import
      type(c_ptr), value :: checkpoint
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int64_t), value :: first_row
      type(syncyte_buffer_t), intent(in) :: target
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_read

    !> Returns the bytes of tensor data that this rank has read from the file so far, including those read only for
    !> verification. Local.
    ! checkpoint [in]: an open checkpoint
    ! bytes [out]: the number
    function syncyte_checkpoint_bytes_read(checkpoint, bytes) bind(C, name="syncyte_checkpoint_bytes_read") &
        result(answer)
      import
      type(c_ptr), value :: checkpoint
      integer(c_int64_t), intent(inout) :: bytes
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_bytes_read

    !> Loads entries: every rank reads replicated entries whole, and its rows of sharded entries. The buffers' first
    !> extents, in rank order, partition the rows. The number of ranks may differ from that of the save. Collective;
    !> all ranks get the same status.
    ! comm [in]: a communicator
    ! path [in]: file
    ! count [in]: number of entries
    ! entries [in,out]: in the same order on all ranks; the memory they describe is filled
    ! options [in]: null for defaults
    ! Returns: as open and read; SYNCYTE_ERR_SHAPE if the rows of a sharded entry do not add up to the key's.
    function syncyte_checkpoint_load(comm, path, count, entries, options) bind(C, &
        name="syncyte_checkpoint_load") result(answer)
      import
      type(c_ptr), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int64_t), value :: count
      type(syncyte_checkpoint_entry_t), intent(in) :: entries(*)
      type(syncyte_checkpoint_options_t), intent(in), optional :: options
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_load

    !> Saves the fields of a bundle, and entries beside them, into one file, as syncyte_checkpoint_save(). Each
    !> field is a key, and its dataset the whole array, without ghosts, each point once: the right copy of those
    !> that several blocks store. Fields are collected and written slab by slab: this takes 16 MiB on each rank, and
    !> messages of 8 MiB. Collective.
    ! comm [in]: the bundle's communicator
    ! path [in]: as of syncyte_checkpoint_save()
    ! bundle [in]: a bundle without an operation in flight
    ! count [in]: number of entries, which may be 0
    ! entries [in]: further arrays, whose keys no field has: scalars as replicated entries
    ! options [in]: null for defaults
    ! Returns: as syncyte_checkpoint_save().
    function syncyte_checkpoint_save_bundle(comm, path, bundle, count, entries, options) bind(C, &
        name="syncyte_checkpoint_save_bundle") result(answer)
      import
      type(c_ptr), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: bundle
      integer(c_int64_t), value :: count
      type(syncyte_checkpoint_entry_t), intent(in), optional :: entries(*)
      type(syncyte_checkpoint_options_t), intent(in), optional :: options
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_save_bundle

    !> Loads the fields of a bundle, and entries beside them, on any number of ranks and into any layouts: every
    !> place of a block gets the value of its point. Ghosts are not written; syncyte_bundle_exchange() fills them.
    !> The file may have been written by either function of save. Collective.
    ! comm [in]: the bundle's communicator
    ! path [in]: file
    ! bundle [in]: a bundle without an operation in flight
    ! count [in]: number of entries, which may be 0
    ! entries [in,out]: as of syncyte_checkpoint_load()
    ! options [in]: null for defaults
    ! Returns: as syncyte_checkpoint_load(); SYNCYTE_ERR_SHAPE if a key has other extents than the field.
    function syncyte_checkpoint_load_bundle(comm, path, bundle, count, entries, options) bind(C, &
        name="syncyte_checkpoint_load_bundle") result(answer)
      import
      type(c_ptr), value :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: bundle
      integer(c_int64_t), value :: count
      type(syncyte_checkpoint_entry_t), intent(in), optional :: entries(*)
      type(syncyte_checkpoint_options_t), intent(in), optional :: options
      integer(c_int32_t) :: answer
    end function syncyte_checkpoint_load_bundle
  end interface
end module syncyte_checkpoint_c
