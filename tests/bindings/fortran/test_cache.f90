! SPDX-License-Identifier: BSD-3-Clause
!> The shared cache: pointers, passing between ranks, errors.
program test_cache
  use, intrinsic :: iso_fortran_env, only: int64, int8, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_cache) :: c, received
  integer(int64) :: parameters, computation

  call c%create(8192, 4096_int64)  ! without syncyte_init
  call c%sizes(parameters, computation)
  call check(parameters == 8192 .and. computation == 4096, "sizes")
  call syncyte_init()
  call world%from_world()
  call pointing()
  call slices()
  call errors()
  call passing()
  call c%destroy()
  call check(c%is_null(), "destroy leaves nothing")
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  subroutine pointing()
    real(real64), pointer :: all(:), matrix(:, :)
    integer(int8), pointer :: bytes(:)

    call c%touch(0, 12288)
    call c%pointer(all, 1)
    call check_equal(size(all, kind=int64), 1536_int64, "all elements")
    call check(maxval(abs(all)) < tiny(1.0_real64), "zeros")
    all(11) = 3
    call c%pointer(matrix, 11, [2, 4])
    call check_equal(nint(matrix(1, 1)), 3, "from an element on")
    matrix(2, 4) = 5
    call check_equal(nint(all(18)), 5, "the same memory")
    call c%pointer(bytes, 12289)
    call check_equal(size(bytes), 0, "the end")
  end subroutine pointing

  !> Blocks of a slice, of several types and ranks.
  subroutine slices()
    real(real64), pointer :: matrix(:, :), moved(:), whole(:)
    integer(int8), pointer :: bytes(:), empty(:)
    complex(real64), pointer :: number
    real(real64) :: elsewhere(2)
    integer :: stat
    character(len=300) :: message

    nullify (matrix, moved, bytes, empty, number)
    call c%allocate(matrix, [2, 3])
    call check(.not. associated(matrix), "no slice, no block")
    call c%free(matrix)
    call c%insert(512, 2048_int64)
    call c%insert(0, 512, stat=stat)
    call check_equal(stat, SYNCYTE_SUCCESS, "another slice")
    call c%insert(0, 4096, stat=stat)
    call check_equal(stat, SYNCYTE_ERR_BUSY, "slices overlap")
    call c%insert(100, 512, stat=stat, errmsg=message)
    call check_equal(stat, SYNCYTE_ERR_ARGUMENT, "not a multiple of 512")
    call check(index(message, "offset") > 0, "names the offset")
    call c%clear()
    call c%insert(512, 2048)
    call c%allocate(matrix, [2_int64, 3_int64])
    call check(all(lbound(matrix) == 1) .and. all(shape(matrix) == [2, 3]), "bounds and shape")
    call c%allocate(bytes, [513])
    call c%allocate(number, [integer ::])
    matrix = 8
    bytes = 1
    number = (1, 2)
    call c%pointer(whole, 65)
    call check(all(nint(whole(1:6)) == 8), "the slice's first block")
    call check(c%holds(matrix), "holds the matrix")
    call check(c%holds(bytes(513)), "holds a byte")
    call check(c%holds(number), "holds the number")
    call check(.not. c%holds(elsewhere), "holds no other memory")
    call c%allocate(moved, [1], stat=stat)
    call check_equal(stat, SYNCYTE_ERR_MEMORY, "a full slice")
    call c%clear(stat=stat, errmsg=message)
    call check_equal(stat, SYNCYTE_ERR_BUSY, "blocks in use")
    moved => matrix(:, 2)
    call c%free(moved, stat=stat)
    call check_equal(stat, SYNCYTE_ERR_ARGUMENT, "not a block's begin")
    call check(associated(moved), "unchanged after an error")
    call c%free(bytes)
    call check(.not. associated(bytes), "free nulls the pointer")
    call c%allocate(empty, [0])
    call check(associated(empty) .and. size(empty) == 0, "a block without elements")
    call c%free(empty)
    call c%free(number)
    call c%free(matrix)
    call c%allocate(matrix, [5], stat=stat)
    call check_equal(stat, SYNCYTE_ERR_SHAPE, "a shape of another rank")
    call c%allocate(bytes, [-1], stat=stat)
    call check_equal(stat, SYNCYTE_ERR_SHAPE, "a negative extent")
    call c%clear()
    call check(.not. c%holds(whole), "no slices")
  end subroutine slices

  subroutine errors()
    real(real64), pointer :: array(:)
    integer :: stat
    character(len=300) :: message

    nullify (array)
    call c%pointer(array, 0, stat=stat, errmsg=message)
    call check_equal(stat, SYNCYTE_ERR_INDEX, "first is 0")
    call check(index(message, "1 to 1537") > 0, "says what was expected")
    call c%pointer(array, 1500, [100], stat=stat)
    call check_equal(stat, SYNCYTE_ERR_SHAPE, "beyond the end")
    call c%touch(1, 12288, stat=stat)
    call check_equal(stat, SYNCYTE_ERR_ARGUMENT, "touches beyond the end")
    call received%receive(name="nobody sends", timeout=0.1d0, stat=stat)
    call check_equal(stat, SYNCYTE_ERR_TIMEOUT, "nobody sends")
    call received%receive(name="nobody sends", timeout=0.1d0, nonce=[1, 2, 3], stat=stat, errmsg=message)
    call check_equal(stat, SYNCYTE_ERR_SHAPE, "three numbers of a nonce")
    call check(index(message, "nonce is of 3 elements; expected 2") > 0, "says how many")
    call received%receive(name="nobody sends", timeout=0.1d0, nonce=[1.0, 2.0], stat=stat)
    call check_equal(stat, SYNCYTE_ERR_TYPE, "a nonce of reals")
    call received%sizes(parameters, computation, stat=stat)
    call check_equal(stat, SYNCYTE_ERR_HANDLE, "no cache")
  end subroutine errors

  !> Rank 0 passes its cache to each rank in turn.
  subroutine passing()
    integer, pointer :: numbers(:)
    integer :: other, clock, stat
    character(len=64) :: name

    call system_clock(clock)
    call world%bcast(clock, 0)
    write (name, "(a, i0)") "test-fortran-", clock
    call c%pointer(numbers, 1, [world%size()])
    numbers = -1
    do other = 1, world%size() - 1
      if (world%rank() == 0) call c%send(name=name, timeout=30d0, nonce=[int(clock, int64), -1_int64])
      if (world%rank() == other) then
        call received%receive(name=name, timeout=30d0, nonce=[clock, -1], stat=stat)
        call check_equal(stat, SYNCYTE_SUCCESS, "the same nonce")
        call received%pointer(numbers, 1, [world%size()])
        numbers(other + 1) = other
        call received%destroy()
      end if
      call world%barrier()
    end do
    if (world%rank() == 0) call check(numbers(1) == -1 .and. all(numbers(2:) >= 1), "written by the others")
  end subroutine passing

end program test_cache
