! SPDX-License-Identifier: BSD-3-Clause
!> Arrays without elements are accepted, although gfortran passes a null address for them; unallocated ones are refused.
program test_empty
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: t
  integer :: stat, rank, ranks
  character(len=600) :: errmsg

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  call t%create(world, SYNCYTE_FLOAT64, [4, 6])
  call rows_of_a_tensor()
  call tensors_without_rows()
  call collectives()
  call windows()
  call not_allocated()
  call t%destroy()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  subroutine well(what)
    character(len=*), intent(in) :: what

    call check(stat == SYNCYTE_SUCCESS, what//": "//errmsg)
  end subroutine well

  subroutine rows_of_a_tensor()
    real(real64) :: rows(4, 0), line(0)
    integer :: owners(0)
    logical :: hits(3)

    hits = .false.
    call t%gather([integer ::], rows, stat, errmsg)
    call well("gather of no rows")
    call t%gather(pack([1, 2, 3], hits), rows, stat, errmsg)
    call well("gather where nothing was hit")
    call t%scatter([integer(int64) ::], rows, stat, errmsg)
    call well("scatter of no rows")
    call t%scatter_add([integer ::], reshape([real(real64) ::], [4, 0]), stat, errmsg)
    call well("scatter_add of no rows")
    call t%owner([integer ::], owners, stat, errmsg)
    call well("owners of no rows")
    call t%get_box([1, 3], rows, stat, errmsg)
    call well("an empty box")
    call t%put_box([1, 1], reshape([real(real64) ::], [0, 2]), stat, errmsg)
    call well("an empty box written")
    call t%gather([1], line, stat, errmsg)
    call check(stat == SYNCYTE_ERR_SHAPE, "a row into no room: "//errmsg)
  end subroutine rows_of_a_tensor

  !> The last rank alone has rows; the others wrap an array without elements.
  subroutine tensors_without_rows()
    type(syncyte_tensor) :: wrapped
    real(real64), allocatable, target, asynchronous :: own(:, :)
    real(real64) :: row(2)

    allocate (own(2, merge(3, 0, rank == ranks - 1)))
    own = 5
    call wrapped%wrap(world, own, stat=stat, errmsg=errmsg)
    call well("a tensor of arrays of which some are empty")
    if (stat /= SYNCYTE_SUCCESS) return
    call wrapped%sync()
    call wrapped%gather(3, row)
    call check(all(row == 5), "a row of the last rank")
    call wrapped%sync()
    call wrapped%destroy()
    call world%collect()
  end subroutine tensors_without_rows

  subroutine collectives()
    integer :: counts(ranks)
    real(real64) :: output(4), none(0)
    integer :: nothing(0)

    counts = 0
    counts(1) = 4
    output = 0
    if (rank == 0) then
      call world%allgatherv([1d0, 2d0, 3d0, 4d0], output, counts, stat, errmsg)
    else
      call world%allgatherv(reshape([real(real64) ::], [4, 0]), output, counts, stat, errmsg)
    end if
    call well("allgatherv with empty contributions")
    call check(all(output == [1, 2, 3, 4]), "what the first rank gave")
    counts = 0
    call world%alltoallv(nothing, nothing, counts, counts, stat, errmsg)
    call well("alltoallv of nothing")
    call world%allreduce(none, SYNCYTE_OP_SUM, stat=stat, errmsg=errmsg)
    call well("allreduce of nothing")
    call world%allgather([real(real64) ::], none, stat, errmsg)
    call well("allgather of nothing")
    call world%bcast(none, 0, stat, errmsg)
    call well("bcast of nothing")
  end subroutine collectives

  subroutine windows()
    type(syncyte_window) :: window
    integer :: none(0)

    call window%create(world, -64, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "size is -64", "a negative number of bytes")
    call window%create(world, 64)
    call window%put(0, 1, [integer ::], stat, errmsg)
    call well("put of nothing")
    call window%get(0, 1, none, stat, errmsg)
    call well("get of nothing")
    call window%accumulate(0, 1, [integer ::], SYNCYTE_OP_SUM, stat, errmsg)
    call well("accumulate of nothing")
    call world%barrier()
    call window%destroy()
  end subroutine windows

  !> Arrays that were never allocated, or have been deallocated, are refused with a message.
  subroutine not_allocated()
    real(real64), allocatable, save :: never(:), cube(:, :, :)
    real(real64), allocatable :: gone(:), scalar
    real(real64), pointer :: nowhere(:) => null()
    integer, allocatable, save :: indices(:)

    allocate (gone(3))
    deallocate (gone)
    call world%bcast(never, 0, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "array is not allocated", "never allocated")
    call world%bcast(cube, 0, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "array is not allocated", "a cube never allocated")
    call world%bcast(gone, 0, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "array is not allocated", "deallocated")
    call world%bcast(nowhere, 0, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "or not associated", "a pointer to nothing")
    call world%bcast(scalar, 0, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "array is not allocated", "a scalar never allocated")
    call t%gather(indices, gone, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "not allocated", "indices never allocated")
  end subroutine not_allocated

end program test_empty
