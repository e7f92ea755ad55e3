! SPDX-License-Identifier: BSD-3-Clause
!> Wrong use of tensors gives a status and a message in Fortran's terms, and writes nothing.
program test_tensor_errors
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world, nobody
  type(syncyte_tensor) :: t, none
  integer :: stat, rank, ranks
  character(len=600) :: errmsg
  character(len=60) :: wrong_row

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  call t%create(world, SYNCYTE_FLOAT64, [3, 2, 8])
  call wrong_creation()
  call wrong_indices()
  call wrong_arrays()
  call wrong_boxes()
  call wrong_patches()
  call wrong_locks()
  call wrong_pointers()
  call wrong_handles()
  call t%destroy()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  subroutine wrong_creation()
    type(syncyte_tensor) :: other

    call other%create(world, 99, [2, 2], stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "99", "unknown element type")
    call other%create(world, SYNCYTE_FLOAT64, [2, -2], stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "dimension 2 of shape is -2; expected 0", "negative extent")
    call other%create(world, SYNCYTE_FLOAT64, [1, 1, 1, 1, 1, 1, 1, 1, 1], stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "number of dimensions is 9; expected 1 to 8", "too many")
    call other%create(world, SYNCYTE_FLOAT64, [2.0, 2.0], stat=stat, errmsg=errmsg)
    call check(stat /= 0 .and. index(errmsg, "shape is real(4)") > 0, "real extents: "//errmsg)
    call other%create(world, SYNCYTE_FLOAT64, [2_int64**31, 2_int64**31, 2_int64], stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "more than 2^63 - 1", "more bytes than a number can say")
    call other%create(world, SYNCYTE_FLOAT64, [2_int64**20, 2_int64**30], stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_MEMORY, errmsg, "bytes", "more bytes than the machine has")
    call check(other%is_null(), "no tensor without memory")
    call other%create(world, SYNCYTE_FLOAT64, [2, 7], local_rows=8_int64, stat=stat, errmsg=errmsg)
    call check(stat == SYNCYTE_ERR_ARGUMENT, "rows that do not add up: "//errmsg)
    call other%create(world, SYNCYTE_FLOAT64, [2, 7], local_rows=-5, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, ": local_rows is -5", "a negative number of rows")
    call other%create(world, SYNCYTE_FLOAT64, [2, 7], local_rows=7.0, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "local_rows is real(4)", "rows that are no integer")
    call check(other%is_null(), "no tensor after errors")
    if (ranks == 1) return
    call other%create(world, SYNCYTE_FLOAT64, [2, 7 + merge(1, 0, rank == 1)], stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_MISMATCH, errmsg, "dimension 2 of shape is ", "different numbers of rows")
    call other%create(world, SYNCYTE_FLOAT64, [4 + merge(1, 0, rank == 1), 3, 7], stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_MISMATCH, errmsg, "dimension 1 of shape is ", "different first extents")
  end subroutine wrong_creation

  subroutine wrong_indices()
    real(real64) :: rows(3, 2, 3)
    integer :: owners(1)

    rows = 7
    call t%gather([8, 1, 9], rows, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "index 9 at position 3 is outside 1 to 8", &
                     "gather beyond the end")
    call check(all(rows == 7), "nothing is written")
    call t%gather([0_int64, 1_int64, 2_int64], rows, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "index 0 at position 1 is outside 1 to 8", &
                     "gather before the start")
    call t%scatter_add([1, -1, 1], rows, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "index -1 at position 2", "scatter_add")
    call t%owner([9], owners, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "index 9 at position 1", "owner")
    call t%gather([1.0, 2.0, 3.0], rows, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "index is real(4)", "real indices")
    call check_equal(int(t%first_row(ranks, stat, errmsg)), 1, "rows of a rank that does not exist")
    call check_equal(stat, SYNCYTE_ERR_ARGUMENT, "rows of a rank that does not exist: stat")
    call check_equal(int(t%extent(4, stat, errmsg)), -1, "extent of a dimension that does not exist")
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "tensor_describe: dim is 4; expected 1 to 3", &
                     "extent of a dimension that does not exist")
  end subroutine wrong_indices

  subroutine wrong_arrays()
    real(real64) :: rows(3, 2, 3), flat(3, 2, 4)
    real(real32) :: single(3, 2, 3)
    character(len=8) :: letters(18)

    call t%gather([1, 2], rows, stat, errmsg)
    call check(stat == SYNCYTE_ERR_SHAPE, "output too large: "//errmsg)
    call t%gather([1], flat, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "[3, 2, 4]", "extents are in Fortran's order")
    call t%gather([1, 2, 3], single, stat, errmsg)
    call check(stat == SYNCYTE_ERR_TYPE, "output of another type: "//errmsg)
    call t%gather([1], rows(:, :, 3:1:-2), stat, errmsg)
    call check(stat == SYNCYTE_ERR_SHAPE, "output not contiguous: "//errmsg)
    letters = "x"
    call t%gather([1, 2, 3], letters, stat)  ! no errmsg: gfortran 12 passes letters' length in its place
    call check_equal(stat, SYNCYTE_ERR_TYPE, "characters")
  end subroutine wrong_arrays

  subroutine wrong_boxes()
    real(real64) :: box(2, 2, 2), four(1, 1, 1, 1)

    box = 7
    call t%get_box([3, 1, 1], box, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "dimension 1 begins at 3 and has extent 2, outside 1 to 3", &
                     "first dimension beyond the end")
    call t%put_box([1, 1, 8], box, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "dimension 3 begins at 8", "last dimension beyond the end")
    call t%get_box([1, 0, 1], box, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "dimension 2 begins at 0", "before the start")
    call t%get_box([1, 1], box, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "lower is of 2 entries; expected 3", "too few bounds")
    call t%get_box([1, 1, 1], four, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "rank 4", "too many dimensions")
    call check(all(box == 7), "nothing is written")
  end subroutine wrong_boxes

  subroutine wrong_patches()
    real(real64) :: box(2, 2, 2)
    real(real64), pointer, asynchronous :: own(:, :, :)
    integer(int64) :: count, mine

    box = 7
    call t%local(own)
    mine = t%first_row(rank)
    write (wrong_row, '("row(", i0, ") is in the same memory")') mine
    call t%put([1_int64, 1_int64, mine], [2_int64, 2_int64, mine], own(2:, :, mine), stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, trim(wrong_row), "a patch from elements beside it")
    call t%get([1_int64, 1_int64, mine], [2_int64, 2_int64, mine], own(2:, :, mine), stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, trim(wrong_row), "a patch into elements beside it")
    call t%get([2, 1, 1], [4, 2, 2], box, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "dimension 1 of the patch is 2 to 4, outside 1 to 3", "get")
    call t%put([1, 1, 0], [2, 2, 1], box, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "dimension 3 of the patch is 0 to 1, outside 1 to 8", "put")
    call t%put([3, 1, 1], [1, 2, 2], box, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "dimension 1 of the patch is 3 to 1", "bounds that cross")
    call t%acc([1, 1, 1], [2, 2, 3], box, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "of extent 2 in dimension 3; expected 3", "another extent")
    call t%get([1, 1, 1], [1, 2, 2], box(:, 1, 1), stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "of extent 2 in dimension 1; expected 1", "a vector for a matrix")
    call t%get([1, 1], [2, 2, 2], box, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "lo is of 2 numbers; expected 3", "too few bounds")
    call t%get([1, 1, 1], [2.0, 2.0, 2.0], box, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "hi is real(4)", "real bounds")
    call t%acc([1, 1, 1], [2, 2, 2], box, alpha=1, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "alpha is integer(4)", "alpha of another type")
    call t%acc([1, 1, 1], [2, 2, 2], box, alpha=box(:, 1, 1), stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, "alpha is of 2 elements", "an array for alpha")
    call t%acc([1, 1, 1], [2, 2, 2], box, op=SYNCYTE_OP_BXOR, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_UNSUPPORTED, errmsg, "float64", "an op that reals lack")
    count = t%locate([1, 1, 1], [3, 2, 9], stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "dimension 3 of the patch is 1 to 9", "locate")
    call check_equal(count, 0_int64, "no owners on an error")
    call t%sync()
    call t%get([1, 1, 1], [2, 2, 2], box)
    call check(all(box == 0), "nothing is written")
    call t%sync()
  end subroutine wrong_patches

  subroutine wrong_locks()
    type(syncyte_tensor) :: other

    call t%lock(1, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_UNSUPPORTED, errmsg, "without options->row_locks", "no locks")
    call other%create(world, SYNCYTE_INT8, [2, 3], row_locks=.true.)
    call other%lock(4, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "row is 4; expected 1 to 3", "lock beyond the end")
    call other%unlock(0, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "row is 0; expected 1 to 3", "unlock before the start")
    call other%unlock(3, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "it is free", "unlock without lock")
    call other%sync()
    call other%destroy()
  end subroutine wrong_locks

  subroutine wrong_pointers()
    real(real64), pointer :: two(:, :)
    real(real32), pointer :: single(:, :, :)

    nullify (two, single)
    call t%local(two, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_SHAPE, errmsg, &
                     "the pointer is real(8) of rank 2, the tensor float64 of rank 3", "pointer of another rank")
    call t%node(single, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "real(4)", "pointer of another type")
    call check(.not. associated(two) .and. .not. associated(single), "pointers are left alone")
  end subroutine wrong_pointers

  subroutine wrong_handles()
    type(syncyte_tensor) :: copy
    real(real64), pointer :: p(:, :, :)
    integer :: value

    call none%sync(stat, errmsg)
    call check(stat == SYNCYTE_ERR_HANDLE, "sync of nothing: "//errmsg)
    call none%local(p, stat, errmsg)
    call check(stat == SYNCYTE_ERR_HANDLE, "pointer into nothing: "//errmsg)
    value = int(none%load(1, stat, errmsg))
    call check(stat == SYNCYTE_ERR_HANDLE .and. value == 0, "counter of nothing: "//errmsg)
    call none%create(nobody, SYNCYTE_FLOAT64, [2], stat=stat, errmsg=errmsg)
    call check(stat == SYNCYTE_ERR_HANDLE, "tensor on no communicator: "//errmsg)
    call copy%create(world, SYNCYTE_FLOAT64, [2, 2])
    none = copy
    call copy%destroy()
    value = none%rank(stat, errmsg)
    call check(stat == SYNCYTE_ERR_HANDLE, "a reference that was dropped: "//errmsg)
  end subroutine wrong_handles

end program test_tensor_errors
