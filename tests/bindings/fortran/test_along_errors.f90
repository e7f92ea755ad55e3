! SPDX-License-Identifier: BSD-3-Clause
!> Collectives along a dimension: a mistake on one rank is an error on all ranks, with a message in Fortran's terms.
program test_along_errors
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int32_t, c_int64_t, c_null_char
  use, intrinsic :: iso_fortran_env, only: real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  integer :: rank, ranks, stat
  logical :: is_last
  real(real64) :: part(2, 3), whole(2, 100)
  integer, allocatable :: counts(:)
  real(real64), allocatable :: none(:, :)
  character(len=600) :: errmsg

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  is_last = rank == ranks - 1
  allocate (counts(ranks))
  counts = 3
  part = 1
  whole = -1
  call dimensions()
  call types_and_shapes()
  call wrong_lengths()
  call wholes()
  call roots()
  call changes()
  call check(all(whole == -1) .and. all(part == 1), "nothing has moved")
  if (ranks > 1) call what_differs()
  if (ranks > 1) call errors_of_c()
  call world%barrier()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  !> Checks on every rank that the last call has failed.
  subroutine failed(expected, text)
    integer, intent(in) :: expected
    character(len=*), intent(in) :: text

    call check_error(stat, expected, errmsg, text, "on all ranks")
    call check(index(errmsg, "axis") == 0 .and. index(errmsg, "_along failed") == 0, "no C in messages: "//trim(errmsg))
    stat = -1
    errmsg = ""
  end subroutine failed

  character(len=1) function last_rank()
    write (last_rank, '(i1)') ranks - 1
  end function last_rank

  subroutine dimensions()
    interface
      integer(c_int32_t) function c_last_error_is(argument, value, expected) bind(C, name="c_last_error_is")
        import :: c_char, c_int32_t
        character(c_char), intent(in) :: argument(*), value(*), expected(*)
      end function c_last_error_is
    end interface

    call world%gather_along(part, whole(:, :3*ranks), 0, merge(3, 2, is_last), counts, stat, errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "rank "//last_rank()//": comm_gather (world): dim is 3; expected 1 to 2, the rank of input")
    call check(c_last_error_is("dim"//c_null_char, "3"//c_null_char, "1 to 2, the rank of input"//c_null_char) /= 0, "fields")
    call world%gather_along(part, whole(:, :3*ranks), 0, merge(0, 2, is_last), stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "dim is 0; expected 1 to 2")
    call world%scatter_along(whole(:, :3*ranks), part, 0, merge(-1, 2, is_last), counts, stat, errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "dim is -1; expected 1 to 2")
    call world%alltoall_along(part, part, 2, merge(huge(1), 2, is_last), stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "scatter_dim is 2147483647; expected 1 to 2")
    call world%alltoall_along(part, part, -huge(1) - merge(0, 1, is_last), 2, stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "gather_dim is -214748")
    call world%allgather_along(1.5_real64, whole(1, :ranks), dim=1, stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_SHAPE, "no dimension")
  end subroutine dimensions

  subroutine types_and_shapes()
    logical :: flags(2, 3)

    flags = .true.
    if (is_last) then
      call world%allgather_along(flags, whole(:, :3*ranks), dim=2, stat=stat, errmsg=errmsg)
    else
      call world%allgather_along(part, whole(:, :3*ranks), dim=2, stat=stat, errmsg=errmsg)
    end if
    call failed(SYNCYTE_ERR_TYPE, "input")
    call world%allgather_along(part, counts, dim=2, stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_TYPE, "comm_allgather (output): dtype is int32; expected float64")
    call world%allgather_along(part, whole(1, :6*ranks), dim=2, stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_SHAPE, "(output): shape is [")
    call world%reduce_scatter_along(whole(:, :3*ranks), part, SYNCYTE_OP_BAND, 2, counts, stat, errmsg)
    call failed(SYNCYTE_ERR_UNSUPPORTED, "BAND")
  end subroutine types_and_shapes

  subroutine wrong_lengths()
    integer :: wrong(ranks), more(ranks + 1)

    wrong = 3
    wrong(1) = merge(-1, 3, is_last)
    call world%gather_along(part, whole(:, :3*ranks), 0, 2, wrong, stat, errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "counts(1) is -1")
    wrong = 3
    wrong(ranks) = 4
    call world%gather_along(part, whole(:, :3*ranks + 1), 0, 2, wrong, stat, errmsg)
    call failed(SYNCYTE_ERR_SHAPE, "dimension 2 of input is 3; expected 4, this rank's in counts")
    wrong = 1
    call world%gather_along(part, whole(:, :3*ranks), 0, 1, wrong, stat, errmsg)
    call failed(SYNCYTE_ERR_SHAPE, "dimension 1 of input is 2; expected 1, this rank's in counts")
    more = 3
    if (is_last) then
      call world%gather_along(part, whole(:, :3*ranks), 0, 2, more, stat, errmsg)
    else
      call world%gather_along(part, whole(:, :3*ranks), 0, 2, counts, stat, errmsg)
    end if
    call check(stat /= SYNCYTE_SUCCESS .and. index(errmsg, "counts is ") > 0, "too many counts: "//trim(errmsg))
    call world%gather_along(part, whole(:, :3*ranks), 0, 2, [1.5], stat, errmsg)
    call check(stat /= SYNCYTE_SUCCESS .and. index(errmsg, "counts") > 0, "counts of reals: "//trim(errmsg))
  end subroutine wrong_lengths

  subroutine wholes()
    call world%allgather_along(part, whole(:, :3*ranks + merge(1, 0, is_last)), dim=2, stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_SHAPE, "dimension 2 of output is ")
    call world%gather_along(part, root=0, dim=2, stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "output is absent or not allocated; expected an array on root")
    call world%gather_along(part, none, 0, 2, counts, stat, errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "output is absent or not allocated; expected an array on root")
    call world%scatter_along(output=part, root=ranks - 1, counts=counts, stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "input is absent or not allocated; expected an array on root")
  end subroutine wholes

  subroutine roots()
    call world%gather_along(part, whole(:, :3*ranks), merge(ranks, 0, is_last), stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "root is")
    call world%scatter_along(whole(:, :3*ranks), part, -1, stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_ARGUMENT, "root is -1")
  end subroutine roots

  subroutine changes()
    real(real64) :: longer(2, 4)

    longer = 0
    call world%alltoall_along(part, longer, 2, 2, stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_SHAPE, ", the sum of gather_counts")
    call world%alltoall_along(part, longer, 2, 1, stat=stat, errmsg=errmsg)
    call failed(SYNCYTE_ERR_SHAPE, ", the sum of ")
    call check(all(longer == 0), "nothing has moved")
  end subroutine changes

  subroutine what_differs()
    call different_dimensions()
    call different_presence()
  end subroutine what_differs

  !> Square parts, so that only the dimension differs between ranks.
  subroutine different_dimensions()
    real(real64) :: square(3, 3), tall(3*ranks, 3), long(3, 3*ranks)
    integer :: i

    square = 1
    if (is_last) then
      call world%allgather_along(square, tall, dim=1, counts=counts, stat=stat, errmsg=errmsg)
    else
      call world%allgather_along(square, long, dim=2, counts=counts, stat=stat, errmsg=errmsg)
    end if
    call failed_with("dim is 2 on rank", "dim is 1 on rank", "but ")
    if (is_last) then
      call world%allgather_along(part, whole(:, :3*ranks), dim=2, stat=stat, errmsg=errmsg)
    else
      call world%allgather_along(square, long, dim=2, stat=stat, errmsg=errmsg)
    end if
    call failed_with("dimension 1 of shape is 3 on rank", "dimension 1 of shape is 2 on rank", "2 on rank")
    call world%allgather_along(square, long, dim=2, counts=cshift([3, (0, i=2, ranks)], merge(0, 1, is_last)), stat=stat, &
                         errmsg=errmsg)
    call check(stat /= SYNCYTE_SUCCESS, "other counts: "//trim(errmsg))
  end subroutine different_dimensions

  subroutine failed_with(one, other, both)
    character(len=*), intent(in) :: one, other, both

    call check(index(errmsg, one) > 0 .or. index(errmsg, other) > 0, "'"//trim(errmsg)//"' does not say '"//one//"'")
    call failed(SYNCYTE_ERR_MISMATCH, both)
  end subroutine failed_with

  !> One rank gives no counts, so it would first collect them: all ranks get an error.
  subroutine different_presence()
    real(real64) :: output(2, 3*ranks)

    if (is_last) then
      call world%gather_along(part, output, 0, stat=stat, errmsg=errmsg)
    else
      call world%gather_along(part, output, 0, counts=counts, stat=stat, errmsg=errmsg)
    end if
    call failed(SYNCYTE_ERR_MISMATCH, "operation is ")
  end subroutine different_presence

  !> The last rank calls the C function with a wrong axis: the other ranks get its error in Fortran's terms.
  subroutine errors_of_c()
    call error_of_c(-3_c_int32_t, "3")
    call error_of_c(2_c_int32_t, "0")
    call error_of_c(5_c_int32_t, "-3")
  end subroutine errors_of_c

  subroutine error_of_c(axis, dim)
    integer(c_int32_t), intent(in) :: axis
    character(len=*), intent(in) :: dim
    interface
      integer(c_int32_t) function c_allgather(part, whole, counts, ranks, axis) bind(C, name="c_allgather")
        import :: c_double, c_int32_t, c_int64_t
        real(c_double), intent(in) :: part(*), whole(*)
        integer(c_int64_t), intent(in) :: counts(*)
        integer(c_int32_t), value :: ranks, axis
      end function c_allgather
    end interface

    if (is_last) then
      stat = c_allgather(part, whole, int(counts, c_int64_t), ranks, axis)
      call check(stat == SYNCYTE_ERR_ARGUMENT, "a wrong axis in C")
    else
      call world%allgather_along(part, whole(:, :3*ranks), dim=2, counts=counts, stat=stat, errmsg=errmsg)
      call failed(SYNCYTE_ERR_ARGUMENT, "rank "//last_rank()//": comm_allgather (world): dim is "//dim// &
                  "; expected 1 to 2 for input of shape [2, 3]")
    end if
  end subroutine error_of_c

end program test_along_errors
