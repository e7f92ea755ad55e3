! SPDX-License-Identifier: BSD-3-Clause
!> Checkpoints: loaded data equals saved data, also in another partition; errors name file and key.
program test_checkpoint
  use, intrinsic :: iso_c_binding, only: c_bool
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use syncyte
  use syncyte_checkpoint
  use checks
  implicit none
  type(syncyte_comm) :: world
  integer :: rank, ranks
  character(len=*), parameter :: path = "fortran.h5"
  real(real64), target, asynchronous :: field(3, 4)
  real(real32), allocatable, target, asynchronous :: rows(:, :)
  logical(c_bool), target, asynchronous :: flag

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  call save_all()
  call inspect()
  call load_all()
  call read_rows()
  call errors()
  call damaged_files()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  subroutine save_all()
    type(syncyte_checkpoint_entries) :: entries
    type(syncyte_tensor) :: t, by_columns
    type(syncyte_layout) :: columns
    integer, pointer, asynchronous :: p(:, :)
    character(len=200) :: errmsg
    integer :: row, stat

    field = reshape([(real(row, real64), row=1, 12)], [3, 4])
    allocate (rows(2, rank + 1))
    rows = real(rank)
    flag = .true.
    call t%create(world, SYNCYTE_INT32, [5, 7])
    call t%local(p)
    do row = lbound(p, 2), ubound(p, 2)
      p(:, row) = row
    end do
    call t%sync()
    call entries%add("field", field)
    call entries%add("rows", rows, sharded=.true.)
    call entries%add("flag", flag)
    call entries%add_tensor("tensor", t)
    call check_equal(entries%count(), 4, "entries")
    call columns%mesh(world, [5, 7], axes=[1])
    call by_columns%create_by_layout(world, SYNCYTE_INT32, columns)
    call entries%add_tensor("columns", by_columns, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_UNSUPPORTED, errmsg, "cut by a layout", "a tensor by a layout")
    call check_equal(entries%count(), 4, "entries after an error")
    call columns%destroy()
    call by_columns%destroy()
    call syncyte_save(world, path, entries, step=42, block_bytes=4096, attributes='{"run": "a"}')
    call entries%clear()
    call check_equal(entries%count(), 0, "cleared")
    call t%destroy()
  end subroutine save_all

  subroutine inspect()
    type(syncyte_checkpoint_file) :: file
    integer :: keys
    integer(int64) :: step
    integer(int64), allocatable :: extents(:)
    integer :: dtype
    logical :: sharded
    character(len=:), allocatable :: key

    call file%open(world, path)
    call file%count(keys, step)
    call check_equal(keys, 4, "keys")
    call check_equal(step, 42_int64, "step")
    call file%attributes(key)
    call check(key == '{"run": "a"}', "attributes: "//key)
    call file%key(1, key)
    call check(key == "field", "first key: "//key)
    call file%describe("tensor", dtype, extents, sharded)
    call check(dtype == SYNCYTE_INT32 .and. all(extents == [5, 7]) .and. sharded, "description of the tensor")
    call file%describe("field", dtype, extents, sharded)
    call check(dtype == SYNCYTE_FLOAT64 .and. all(extents == [3, 4]) .and. .not. sharded, "description of the field")
    call file%describe("flag", dtype, extents)
    call check(dtype == SYNCYTE_BOOL .and. size(extents) == 0, "description of the flag")
    call file%close()
  end subroutine inspect

  !> Loads the tensor into another partition: all rows on the last rank.
  subroutine load_all()
    type(syncyte_checkpoint_entries) :: entries
    type(syncyte_tensor) :: t
    real(real64) :: expected(3, 4)
    integer :: table(5, 7), row

    expected = field
    field = -1
    rows = -1
    flag = .false.
    call t%create(world, SYNCYTE_INT32, [5, 7], local_rows=merge(7, 0, rank == ranks - 1))
    call entries%add_tensor("tensor", t)
    call entries%add("field", field)
    call entries%add("flag", flag)
    call entries%add("rows", rows, sharded=.true.)
    call syncyte_load(world, path, entries)
    call entries%clear()
    call check(all(field == expected), "replicated")
    call check(all(rows == rank), "sharded")
    call check(logical(flag), "flag")
    call t%sync()
    call t%get_box([1, 1], table)
    do row = 1, 7
      call check(all(table(:, row) == row), "tensor")
    end do
    call t%sync()
    call t%destroy()
  end subroutine load_all

  subroutine read_rows()
    type(syncyte_checkpoint_file) :: file
    integer :: two(5, 2), stat
    character(len=600) :: errmsg

    call file%open(world, path)
    call file%read("tensor", 6, two)
    call check(all(two(:, 1) == 6) .and. all(two(:, 2) == 7), "the last two rows")
    call check(file%bytes_read() >= 40, "bytes read")
    call file%read("tensor", 7_int64, two, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "2 rows from row 7 are outside 1 to 7", "beyond the end")
    call file%read("nothing", 1, two, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_NOT_FOUND, errmsg, "nothing", "a key that is not there")
    call file%read("field", 1, two, stat, errmsg)
    call check(stat == SYNCYTE_ERR_TYPE .or. stat == SYNCYTE_ERR_SHAPE, "another type: "//errmsg)
    call file%close()
    call file%close()
  end subroutine read_rows

  subroutine errors()
    type(syncyte_checkpoint_file) :: file
    type(syncyte_checkpoint_entries) :: entries
    integer :: stat
    integer, target :: number
    integer, allocatable, target, asynchronous :: columns(:, :)
    character(len=600) :: errmsg

    allocate (columns(6, merge(7, 0, rank == 0)))
    columns = 0
    call file%open(world, "missing.h5", stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_NOT_FOUND, errmsg, "missing.h5", "a file that is not there")
    number = 1
    call entries%add("number", number, dtype=SYNCYTE_FLOAT16, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "float16", "an array that cannot hold its type")
    call entries%add("field", field(::2, :), stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "array of key field is not contiguous", "a section with gaps")
    call entries%add("field", field(1, :), stat=stat, errmsg=errmsg)
    call check(stat == SYNCYTE_ERR_SHAPE .and. entries%count() == 0, "a row of a matrix")
    call entries%add("number", number)
    call entries%add("number", number)
    call syncyte_save(world, "twice.h5", entries, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "number", "a key twice")
    call entries%clear()
    call entries%add("absent [1, 2]", number)
    call syncyte_load(world, path, entries, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_NOT_FOUND, errmsg, "'absent [1, 2]'", "loading a key that is not there")
    call entries%clear()
    call entries%add("field", field(:, :2))
    call syncyte_load(world, path, entries, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "2", "fewer rows than were saved")
    call entries%clear()
    call entries%add("field", field)
    call syncyte_save(world, "none.h5", entries, block_bytes=-1, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "block_bytes is -1", "a negative number of bytes")
    call syncyte_save(world, "none.h5", entries, block_bytes=5000_int64, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, ": block_bytes is 5000", "no power of two")
    call syncyte_save(world, "none.h5", entries, step=1.5, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "step is real(4)", "a step that is no integer")
    call entries%clear()
    call entries%add("tensor", columns, sharded=.true.)
    call syncyte_load(world, path, entries, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "array is [6, 7]; expected [5, 7]", "extents are in Fortran's order")
    call entries%clear()
    call world%barrier()
  end subroutine errors

  !> Rank 0 writes changed copies of the file; each is refused with its own status, by all ranks.
  subroutine damaged_files()
    integer(int8), allocatable :: whole(:), changed(:)
    integer :: i

    call read_bytes(whole)
    if (rank == 0) then
      call write_bytes("truncated.h5", whole(:size(whole)/2))
      call write_bytes("foreign.h5", whole(2:))
      changed = whole
      i = place_of(whole, transfer(field(1:2, 1), whole))
      changed(i) = ieor(changed(i), 4_int8)
      call write_bytes("damaged.h5", changed)
      changed = whole
      changed(9) = 3_int8  ! the format's version; the header ends with the CRC32C of its first 60 bytes
      changed(61:64) = transfer(crc32c(changed(:60)), whole)
      call write_bytes("newer.h5", changed)
    end if
    call world%barrier()
    call refused("truncated.h5", SYNCYTE_ERR_FORMAT, "truncated.h5")
    call refused("foreign.h5", SYNCYTE_ERR_FORMAT, "foreign.h5")
    call refused("damaged.h5", SYNCYTE_ERR_CHECKSUM, "key 'field' is damaged")
    call refused("newer.h5", SYNCYTE_ERR_VERSION, "newer Syncyte")
  end subroutine damaged_files

  subroutine refused(name, status, text)
    character(len=*), intent(in) :: name, text
    integer, intent(in) :: status
    type(syncyte_checkpoint_entries) :: entries
    integer :: stat
    character(len=600) :: errmsg

    call entries%add("field", field)
    call syncyte_load(world, name, entries, stat, errmsg)
    call check_error(stat, status, errmsg, text, name)
    call entries%clear()
  end subroutine refused

  subroutine read_bytes(bytes)
    integer(int8), allocatable, intent(out) :: bytes(:)
    integer :: unit, length

    open (newunit=unit, file=path, access="stream", form="unformatted", status="old", action="read")
    inquire (unit=unit, size=length)
    allocate (bytes(length))
    read (unit) bytes
    close (unit)
  end subroutine read_bytes

  subroutine write_bytes(name, bytes)
    character(len=*), intent(in) :: name
    integer(int8), intent(in) :: bytes(:)
    integer :: unit

    open (newunit=unit, file=name, access="stream", form="unformatted", status="replace", action="write")
    write (unit) bytes
    close (unit)
  end subroutine write_bytes

  !> Position of some bytes within others.
  integer function place_of(bytes, run)
    integer(int8), intent(in) :: bytes(:), run(:)

    do place_of = 1, size(bytes) - size(run) + 1
      if (all(bytes(place_of:place_of + size(run) - 1) == run)) return
    end do
    error stop "the data is not in the file"
  end function place_of

  !> CRC32C, computed one bit at a time.
  integer(int32) function crc32c(bytes)
    integer(int8), intent(in) :: bytes(:)
    integer :: i, bit

    crc32c = -1
    do i = 1, size(bytes)
      crc32c = ieor(crc32c, iand(int(bytes(i), int32), 255_int32))
      do bit = 1, 8
        crc32c = merge(ieor(shiftr(crc32c, 1), -2097792136_int32), shiftr(crc32c, 1), btest(crc32c, 0))
      end do
    end do
    crc32c = not(crc32c)
  end function crc32c

end program test_checkpoint
