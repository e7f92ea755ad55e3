! SPDX-License-Identifier: BSD-3-Clause
!> Non-blocking collectives: results after the wait, sections, and a mistake of one rank.
program test_nonblocking
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  integer :: rank, ranks, i
  integer, allocatable :: counts(:)

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  counts = [(modulo(i + 1, 3), i=1, ranks)]
  call contiguous_arrays()
  call along_a_dimension()
  call mistakes()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  subroutine contiguous_arrays()
    integer, asynchronous :: told(3), total(2, 2), given(2, 2), in_place
    type(syncyte_request) :: requests(3), copies(1)
    logical :: done
    integer :: stat, which

    told = merge(7, 0, rank == ranks - 1)
    given = rank + 1
    in_place = rank
    call world%ibcast(told, ranks - 1, requests(1))
    call world%iallreduce(total, SYNCYTE_OP_SUM, requests(2), input=given)
    call world%iallreduce(in_place, SYNCYTE_OP_MAX, requests(3))
    done = .false.
    do while (.not. done)
      call requests(3)%test(done)
    end do
    call requests(2)%wait()
    call requests(1)%wait()
    call requests(1)%wait()  ! a request that has ended already
    call world%ibcast(told, ranks - 1, requests(1))
    copies = requests(1)
    call requests(1)%wait()
    done = .false.
    call copies(1)%test(done, stat)
    call check(stat == SYNCYTE_ERR_HANDLE .and. done, "a test that fails says that nothing is in flight")
    which = -77
    call syncyte_wait_any(copies, which, stat)
    call check(stat == SYNCYTE_ERR_HANDLE .and. which == 0, "a wait that fails names no request")
    call check(all(told == 7), "ibcast")
    call check(all(total == ranks*(ranks + 1)/2), "iallreduce")
    call check(in_place == ranks - 1, "iallreduce in place")
  end subroutine contiguous_arrays

  !> Compares with the blocking collectives; arrays are sections of larger ones.
  subroutine along_a_dimension()
    integer, asynchronous :: part(4, counts(rank + 1)), whole(4, sum(counts)), wanted(2, sum(counts))
    integer, asynchronous :: reduced(2, counts(rank + 1)), wanted_part(2, counts(rank + 1))
    integer, asynchronous :: columns(sum(counts), 2), wanted_columns(sum(counts), 2)
    integer, asynchronous :: across(counts(rank + 1), 2)
    type(syncyte_request) :: gathering, reducing, exchanging
    integer :: ones(ranks)

    part = reshape([(100*rank + i, i=1, size(part))], shape(part))
    whole = -1
    call world%iallgather_along(part(1:3:2, :), whole(2:4:2, :), counts, gathering)
    call gathering%wait()
    call world%allgather_along(part(1:3:2, :), wanted, counts=counts)
    call check(all(whole(2:4:2, :) == wanted), "iallgather")
    call check(all(whole(1:3:2, :) == -1), "nothing beside a section")

    call world%ireduce_scatter_along(wanted, reduced, SYNCYTE_OP_SUM, counts, reducing, dim=2)
    ones = 0
    ones(1) = 2
    across = rank
    call world%ialltoall_along(across, columns(:, :merge(2, 0, rank == 0)), 1, 2, counts, ones, exchanging)
    call exchanging%wait()
    call reducing%wait()
    call world%reduce_scatter_along(wanted, wanted_part, SYNCYTE_OP_SUM, dim=2, counts=counts)
    call world%alltoall_along(across, wanted_columns(:, :merge(2, 0, rank == 0)), 1, 2, counts, ones)
    call check(all(reduced == wanted_part), "ireduce_scatter")
    if (rank == 0) call check(all(columns == wanted_columns), "ialltoall")
  end subroutine along_a_dimension

  subroutine mistakes()
    integer, asynchronous :: values(4)
    type(syncyte_request) :: request
    character(len=200) :: message
    integer :: stat

    values = 1
    message = ""
    call world%ibcast(values, merge(ranks, 0, rank == 0), request, stat, message)
    if (rank /= 0) call request%wait(stat, message)
    call check(stat == SYNCYTE_ERR_ARGUMENT, "a wrong root is every rank's error")
    call check(index(message, "root is") > 0, message)
    call world%iallreduce(values(::2), SYNCYTE_OP_SUM, request, stat=stat, errmsg=message)
    call check(stat == SYNCYTE_ERR_SHAPE, "a section is none for iallreduce")
    call world%barrier()
  end subroutine mistakes
end program test_nonblocking
