! SPDX-License-Identifier: BSD-3-Clause
!> Started accesses to tensors and windows: they make progress while a rank computes. Run: mpirun -np 3 ./started
program started
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: table, counters
  type(syncyte_window) :: memory
  type(syncyte_request) :: requests(2)
  real(real64), asynchronous :: two(4, 2), block(2, 3), edge(8)
  integer(int64), asynchronous :: ticket
  integer :: rank, ranks, right, ended

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  right = modulo(rank + 1, ranks)

  ! Rows of a tensor; arrays stay until their request has ended
  call table%create(world, SYNCYTE_FLOAT64, [4, 10], name="table")
  two = 1
  call table%iscatter_add([3, 7], two, requests(1))
  call requests(1)%wait()
  call table%sync()                                    ! it does not wait for requests that have not ended
  call table%igather([7, 10], two, requests(1))
  block = 2
  call table%iacc([1, 4], [2, 6], block, requests(2))
  block = -1                                           ! a box that is written may be re-used at once
  do
    call syncyte_wait_any(requests, ended)             ! the number of one that has ended
    if (ended == 0) exit                               ! none is in flight
  end do
  if (any(nint(two(:, 1)) /= ranks) .or. any(nint(two(:, 2)) /= 0)) error stop "igather"
  call table%sync()

  ! Boxes
  call table%iget_box([1, 4], block, requests(1))
  call requests(1)%wait()
  if (any(nint(block) /= 2*ranks)) error stop "iget_box"
  if (rank == 0) then
    call table%iput_box([3, 8], block, requests(1))
    call table%iscatter([1], two(:, :1), requests(2))
    call syncyte_wait_all(requests)
  end if
  call table%sync()

  ! A counter, rows with a signal, and rows that an optimizer changes
  call counters%create(world, SYNCYTE_INT64, [2])
  call counters%ifetch_add(1, 1, requests(1), ticket)  ! ticket: the counter before
  call requests(1)%wait()
  if (ticket < 0 .or. ticket >= ranks) error stop "ifetch_add"
  if (rank == 0) call table%iput_signal([5, 6], two, counters, 2, requests(1))
  call counters%wait(2, SYNCYTE_COMPARE_GE, 1)         ! all ranks see the rows now
  call requests(1)%wait()
  call table%set_optimizer(SYNCYTE_OPTIMIZER_SGD, 0.5_real64)
  call table%iapply_gradients([8], two(:, :1), requests(1))
  call requests(1)%wait()
  call table%sync()

  ! A window: element 1 to 8 of the right neighbour, and numbers of rank 0
  call memory%create(world, 1024_int64)
  edge = rank
  call memory%iput(right, 1, edge, requests(1))
  call memory%ifetch_op(0, 30, 1_int64, SYNCYTE_OP_SUM, ticket, requests(2))
  call syncyte_wait_all(requests)                      ! the elements are at the neighbour
  call memory%iaccumulate(0, 20, edge(:1), SYNCYTE_OP_SUM, requests(1))
  call requests(1)%wait()
  call memory%fence()
  call memory%iget(rank, 1, edge, requests(1))
  call memory%icompare_swap(0, 30, int(ranks, int64), 0_int64, ticket, requests(2))
  call syncyte_wait_all(requests)
  if (any(nint(edge) /= modulo(rank - 1, ranks))) error stop "iput and iget"
  call memory%fence()
  call memory%destroy()
  call counters%destroy()
  call table%destroy()
  call world%destroy()
  call syncyte_finalize()
end program started
