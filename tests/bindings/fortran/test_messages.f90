! SPDX-License-Identifier: BSD-3-Clause
!> Messages round a ring: whole arrays and sections, blocking and non-blocking, and messages that do not match.
program test_messages
  use, intrinsic :: iso_fortran_env, only: real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  integer :: rank, ranks, next, previous

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  call exchanges()
  call sections()
  call starts()
  call blocking()
  call nobody()
  call mistakes()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  subroutine exchanges()
    integer :: sent(3), received(3)

    sent = [rank, 10 + rank, 20 + rank]
    received = -1
    call world%sendrecv(sent, next, received, previous, send_tag=5, recv_tag=5)
    call check(all(received == [previous, 10 + previous, 20 + previous]), "sendrecv")
  end subroutine exchanges

  !> Sends a row of a matrix and receives it into a column of another matrix.
  subroutine sections()
    real(real64) :: matrix(3, 4), other(4, 2)
    integer :: j

    matrix = -1
    matrix(2, :) = [(real(10*rank + j, real64), j=1, 4)]
    other = -2
    call world%sendrecv(matrix(2, :), next, other(:, 2), int(SYNCYTE_ANY))
    call check(all(nint(other(:, 2)) == [(10*previous + j, j=1, 4)]), "a row into a column")
    call check(all(nint(other(:, 1)) == -2), "beside it")
  end subroutine sections

  subroutine starts()
    type(syncyte_request) :: requests(3)
    integer, asynchronous :: sent, received(2)
    logical :: done

    sent = rank
    received = -1
    call world%irecv(received(1), previous, requests(1), tag=1)
    call world%irecv(received(2), int(SYNCYTE_ANY), requests(2), tag=2)
    call world%isend(sent, next, requests(3), tag=1)
    call check(.not. requests(3)%is_null(), "in flight")
    call world%send(-rank, next, tag=2)
    done = .false.
    do while (.not. done)
      call requests(2)%test(done)
    end do
    call check_equal(received(2), -previous, "tested")
    call syncyte_wait_all(requests)
    call check_equal(received(1), previous, "waited for")
    call check(requests(1)%is_null() .and. requests(3)%is_null(), "all have ended")
    call requests(1)%wait()
  end subroutine starts

  subroutine blocking()
    integer :: from, tag

    if (ranks == 1) return
    if (rank == 0) then
      call world%send([7, 8], ranks - 1, tag=3)
    else if (rank == ranks - 1) then
      block
        integer :: pair(2)
        call world%recv(pair, int(SYNCYTE_ANY), from=from, from_tag=tag)
        call check(all(pair == [7, 8]), "recv")
      end block
      call check_equal(from, 0, "who has sent")
      call check_equal(tag, 3, "with which tag")
    end if
    call world%barrier()  ! later messages must not match the receive from any source
  end subroutine blocking

  subroutine nobody()
    integer :: value

    value = 5
    call world%send(value, int(SYNCYTE_PROC_NULL))
    call world%recv(value, int(SYNCYTE_PROC_NULL))
    call check_equal(value, 5, "nobody changes nothing")
  end subroutine nobody

  subroutine mistakes()
    type(syncyte_request) :: request
    integer, asynchronous :: sent(2)
    integer :: stat, received(3)
    character(len=300) :: errmsg

    sent = 1
    received = -1
    call world%isend(sent, next, request)
    call world%recv(received, previous, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_MISMATCH), errmsg, "shape [2]; expected", "another shape")
    call check(all(received == -1), "nothing was written")
    call request%wait()
    call world%send(sent, ranks, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "dest is", "no such rank")
    call world%send(sent, 0, tag=-5, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "tag is -5", "no such tag")
  end subroutine mistakes

end program test_messages
