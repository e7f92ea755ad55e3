! SPDX-License-Identifier: BSD-3-Clause
!> Reductions and scans against loops over the ranks: arrays of many types, sections, and a mistake of one rank.
program test_reductions
  use, intrinsic :: iso_c_binding, only: c_bool
  use, intrinsic :: iso_fortran_env, only: int8, int16, int64, real32, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  integer :: rank, ranks

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  call reduces()
  call reduces_in_place()
  call logical_xor()
  call scans()
  call exscans()
  call exscans_of_no_rank()
  call sections()
  call collects_lengths()
  call mistakes()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  !> The element that a rank contributes at a place.
  pure integer function given(place, from)
    integer, intent(in) :: place, from

    given = 7*place + from*from + 1
  end function given

  pure function gift(from) result(values)
    integer, intent(in) :: from
    integer :: values(2, 3), i

    values = reshape([(given(i, from), i=1, 6)], [2, 3])
  end function gift

  pure function summed(first, last) result(values)
    integer, intent(in) :: first, last
    integer :: values(2, 3), from

    values = 0
    do from = first, last
      values = values + gift(from)
    end do
  end function summed

  subroutine reduces()
    integer :: output(2, 3), root
    complex(real32) :: z(2), total(2)

    do root = 0, ranks - 1
      output = -5
      call world%reduce(output, SYNCYTE_OP_SUM, root, input=gift(rank))
      call check(all(output == merge(summed(0, ranks - 1), -5, rank == root)), "sum, and nothing off root")
      z = [cmplx(rank, 1, real32), cmplx(1, rank, real32)]
      total = 0
      call world%reduce(total, SYNCYTE_OP_SUM, root, input=z)
      if (rank == root) call check(total(1) == cmplx(ranks*(ranks - 1)/2, ranks, real32), "complex sum")
    end do
  end subroutine reduces

  subroutine reduces_in_place()
    integer(int16) :: highest
    logical(c_bool) :: flag
    integer :: root

    root = ranks - 1
    highest = int(10*rank, int16)
    call world%reduce(highest, SYNCYTE_OP_MAX, root)
    call check_equal(int(highest), 10*rank, "in place: root has the maximum, others what they had")
    highest = int(-10*rank, int16)
    call world%reduce(highest, SYNCYTE_OP_MAX, root)
    call check_equal(int(highest), merge(0, -10*rank, rank == root), "maximum on the last rank")
    flag = logical(rank == 0, c_bool)
    call world%reduce(flag, SYNCYTE_OP_LOR, 0)
    call check((rank == 0) .eqv. logical(flag), "logical or")
  end subroutine reduces_in_place

  !> LXOR is true if an odd number of ranks has true; any number other than zero counts as true.
  subroutine logical_xor()
    logical(c_bool) :: flags(3)
    integer(int64) :: number
    real(real64) :: x
    integer :: stat
    character(len=400) :: errmsg

    flags = [.true._c_bool, .false._c_bool, logical(rank == ranks - 1, c_bool)]
    call world%allreduce(flags, SYNCYTE_OP_LXOR)
    call check(logical(flags(1)) .eqv. mod(ranks, 2) == 1, "all ranks are true")
    call check(.not. logical(flags(2)), "no rank is true")
    call check(logical(flags(3)), "one rank is true")
    number = 2*rank + 2
    call world%allreduce(number, SYNCYTE_OP_LXOR)
    call check((number /= 0) .eqv. mod(ranks, 2) == 1, "numbers are true where they are not zero")
    flags = .true.
    call world%scan(flags, SYNCYTE_OP_LXOR)
    call check(all(logical(flags) .eqv. mod(rank, 2) == 0), "of the ranks up to this one")
    x = 1
    call world%allreduce(x, SYNCYTE_OP_LXOR, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_UNSUPPORTED, errmsg, "op is LXOR; expected an operation", "of real numbers")
  end subroutine logical_xor

  subroutine scans()
    integer :: output(2, 3)
    real(real64) :: x

    output = -5
    call world%scan(output, SYNCYTE_OP_SUM, input=gift(rank))
    call check(all(output == summed(0, rank)), "scan")
    call world%scan(output, SYNCYTE_OP_SUM, input=gift(rank), reverse=.true.)
    call check(all(output == summed(rank, ranks - 1)), "scan from the last rank")
    output = gift(rank)
    call world%scan(output, SYNCYTE_OP_SUM, reverse=.false.)
    call check(all(output == summed(0, rank)), "scan in place")
    x = 2
    call world%scan(x, SYNCYTE_OP_PROD, reverse=.true.)
    call check_equal(x, 2.0_real64**(ranks - rank), "product of a scalar")
  end subroutine scans

  subroutine exscans()
    integer :: output(2, 3)

    output = -5
    call world%exscan(output, SYNCYTE_OP_SUM, input=gift(rank))
    call check(all(output == summed(0, rank - 1)), "exscan")
    call world%exscan(output, SYNCYTE_OP_SUM, input=gift(rank), reverse=.true.)
    call check(all(output == summed(rank + 1, ranks - 1)), "exscan from the last rank")
    output = gift(rank)
    call world%exscan(output, SYNCYTE_OP_SUM)
    call check(all(output == summed(0, rank - 1)), "exscan in place")
  end subroutine exscans

  subroutine exscans_of_no_rank()
    integer(int8) :: lowest
    integer :: product_before

    lowest = int(rank, int8)
    call world%exscan(lowest, SYNCYTE_OP_MIN)
    call check_equal(int(lowest), merge(127, 0, rank == 0), "minimum of no rank is the highest value")
    product_before = rank + 1
    call world%exscan(product_before, SYNCYTE_OP_PROD, reverse=.true.)
    if (rank == ranks - 1) call check_equal(product_before, 1, "product of no rank is 1")
  end subroutine exscans_of_no_rank

  !> Sections are read and written in place; elements between and beside them do not change.
  subroutine sections()
    integer :: memory(5, 7), source(4, 6), expected(5, 7)
    real(real64) :: row(4, 3)
    complex(real64) :: field(3)

    source = -1
    source(4:1:-2, 2::2) = gift(rank)
    memory = -9
    expected = memory
    expected(2:4:2, 6:1:-2) = summed(0, rank)
    call world%scan(memory(2:4:2, 6:1:-2), SYNCYTE_OP_SUM, input=source(4:1:-2, 2::2))
    call check(all(memory == expected), "scan from a section into a section")
    expected(2:4:2, 6:1:-2) = merge(summed(0, ranks - 1), summed(0, rank), rank == 0)
    memory(2:4:2, 6:1:-2) = merge(gift(rank), summed(0, rank), rank == 0)
    call world%reduce(memory(2:4:2, 6:1:-2), SYNCYTE_OP_SUM, 0, input=source(4:1:-2, 2::2))
    call check(all(memory == expected), "reduce from a section into a section")
    row = 1
    call world%allreduce(row(2, :), SYNCYTE_OP_SUM)
    call check(all(row(2, :) == ranks) .and. all(row([1, 3, 4], :) == 1), "allreduce of a row, in place")
    row(3, :) = rank
    call world%bcast(row(3, :), ranks - 1)
    call check(all(row(3, :) == ranks - 1) .and. all(row(4, :) == 1), "broadcast of a row")
    field = (1.0_real64, 5.0_real64)
    call world%allreduce(field(1::2), SYNCYTE_OP_SUM)
    call check(all(field == [ranks*(1, 5), (1, 5), ranks*(1, 5)]), "every other complex number")
    call world%exscan(row(1:0, :), SYNCYTE_OP_SUM)
    call gathered_sections()
  end subroutine sections

  subroutine gathered_sections()
    integer :: memory(2, ranks), sent(3, ranks), received(2, ranks), ones(ranks), i

    memory = -1
    call world%allgather(rank, memory(2, :))
    call check(all(memory(2, :) == [(i, i=0, ranks - 1)]) .and. all(memory(1, :) == -1), "allgather into a row")
    ones = 1
    memory = -1
    call world%allgatherv(rank, memory(1, :), ones)
    call check(all(memory(1, :) == [(i, i=0, ranks - 1)]) .and. all(memory(2, :) == -1), "allgatherv into a row")
    sent = -1
    sent(3, :) = [(10*rank + i, i=0, ranks - 1)]
    received = -1
    call world%alltoallv(sent(3, :), received(2, :), ones, ones)
    call check(all(received(2, :) == [(10*i + rank, i=0, ranks - 1)]), "alltoallv between rows")
    call check(all(received(1, :) == -1), "nothing beside the row")
  end subroutine gathered_sections

  subroutine collects_lengths()
    integer :: numbers(ranks), i
    integer(int64) :: wide(2*ranks)
    integer(int8) :: narrow(ranks)
    integer :: stat
    character(len=600) :: errmsg

    call world%counts(3*rank, numbers)
    call check(all(numbers == [(3*i, i=0, ranks - 1)]), "counts")
    wide = -1
    call world%counts(2_int64**40 + rank, wide(2::2))
    call check(all(wide(2::2) == [(2_int64**40 + i, i=0, ranks - 1)]) .and. all(wide(1::2) == -1), "wide counts")
    call world%counts(300, narrow, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "counts is integer(1), too small for the value 300", "narrow")
    call world%counts(merge(-4, 1, rank == 0), numbers, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "count is -4", "a negative length on rank 0")
    call world%counts(1, wide(:merge(ranks, ranks + 1, rank > 0)), stat, errmsg)
    call check(stat /= SYNCYTE_SUCCESS .and. index(errmsg, "counts is ") > 0, "room for too many: "//errmsg)
    call world%counts(1.5, numbers, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "count is real(4)", "a length that is no integer")
  end subroutine collects_lengths

  !> A mistake on one rank is an error on all ranks, and no data is moved.
  subroutine mistakes()
    real(real64) :: x(6), y(6)
    logical :: flag
    integer :: stat
    character(len=600) :: errmsg

    x = 1
    y = 2
    flag = .true.
    if (rank == ranks - 1) then
      call world%scan(flag, SYNCYTE_OP_SUM, stat=stat, errmsg=errmsg)
    else
      call world%scan(x, SYNCYTE_OP_SUM, stat=stat, errmsg=errmsg)
    end if
    call check_equal(stat, SYNCYTE_ERR_TYPE, "a default logical on the last rank: "//trim(errmsg))
    call world%reduce(y, SYNCYTE_OP_SUM, merge(ranks, 0, rank == 0), input=x, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "root is", "a root that does not exist")
    call world%exscan(y, SYNCYTE_OP_BAND, input=x, stat=stat, errmsg=errmsg)
    call check_equal(stat, SYNCYTE_ERR_UNSUPPORTED, "bits of reals: "//trim(errmsg))
    call world%scan(y(::2), SYNCYTE_OP_SUM, input=x, stat=stat, errmsg=errmsg)
    call check_equal(stat, SYNCYTE_ERR_SHAPE, "different numbers of elements: "//trim(errmsg))
    call check(all(x == 1) .and. all(y == 2), "nothing has moved")
    if (ranks == 1) return
    call world%scan(x, SYNCYTE_OP_SUM, reverse=rank == 0, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_MISMATCH, errmsg, "reverse", "different directions")
  end subroutine mistakes

end program test_reductions
