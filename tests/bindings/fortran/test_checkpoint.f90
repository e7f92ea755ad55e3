!> Checkpoints: what is saved comes back, on another partition too; errors name file and key.
program test_checkpoint
  use, intrinsic :: iso_c_binding, only: c_bool
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
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
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  subroutine save_all()
    type(syncyte_checkpoint_entries) :: entries
    type(syncyte_tensor) :: t
    integer, pointer, asynchronous :: p(:, :)
    integer :: row

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
    call syncyte_save(world, path, entries, step=42_int64, block_bytes=4096_int64)
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

  !> The tensor comes back into another partition: all rows on the last rank.
  subroutine load_all()
    type(syncyte_checkpoint_entries) :: entries
    type(syncyte_tensor) :: t
    real(real64) :: expected(3, 4)
    integer :: table(5, 7), row

    expected = field
    field = -1
    rows = -1
    flag = .false.
    call t%create(world, SYNCYTE_INT32, [5, 7], local_rows=merge(7_int64, 0_int64, rank == ranks - 1))
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
    call t%get_box(table, [1, 1])
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
    character(len=600) :: errmsg

    call file%open(world, "missing.h5", stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_NOT_FOUND, errmsg, "missing.h5", "a file that is not there")
    number = 1
    call entries%add("number", number, dtype=SYNCYTE_FLOAT16, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "float16", "an array that cannot hold its type")
    call entries%add("number", number)
    call entries%add("number", number)
    call syncyte_save(world, "twice.h5", entries, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "number", "a key twice")
    call entries%clear()
    call entries%add("absent", number)
    call syncyte_load(world, path, entries, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_NOT_FOUND, errmsg, "absent", "loading a key that is not there")
    call entries%clear()
    call world%barrier()
  end subroutine errors

end program test_checkpoint
