! SPDX-License-Identifier: BSD-3-Clause
!> A token goes round, and columns go to the next rank while something else is computed. Run: mpirun -np 3 ./messages
program messages
  use, intrinsic :: iso_fortran_env, only: real64
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_request) :: requests(2)
  real(real64), asynchronous :: field(4, 5), column(4)
  integer :: rank, ranks, next, previous, token, from
  logical :: done

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)

  ! Each rank adds one; rank 0 begins
  token = 0
  if (rank == 0) then
    call world%isend(token, next, requests(1), tag=1)
    call world%recv(token, int(SYNCYTE_ANY), tag=1, from=from)
    call requests(1)%wait()
    if (token /= ranks - 1 .or. from /= previous) error stop "the token"
  else
    call world%recv(token, previous, tag=1)
    token = token + 1
    call world%send(token, next, tag=1)
  end if

  ! The last column to the next rank; arrays of started messages are asynchronous
  field = rank
  call world%irecv(column, previous, requests(1))
  call world%isend(field(:, 5), next, requests(2))
  call requests(1)%test(done)                              ! does not wait
  call syncyte_wait_all(requests)
  if (any(nint(column) /= previous) .or. .not. requests(1)%is_null()) error stop "the column"

  ! Both at once, in any order of arrival
  call world%sendrecv(field(1, :), next, field(2, :), previous)
  if (any(nint(field(2, :)) /= previous)) error stop "the row"
  call world%destroy()
  call syncyte_finalize()
end program messages
