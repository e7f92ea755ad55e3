!> Collectives that are started, and waited for later. Run: mpirun -np 3 ./nonblocking
program nonblocking
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_request) :: summing, telling, joining, reducing, turning
  integer, asynchronous :: total, told
  integer, allocatable, asynchronous :: mine(:), all_ranks(:), sums(:), column(:, :), row(:, :)
  integer, allocatable :: ones(:)
  integer :: rank, ranks
  logical :: done

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  allocate (ones(ranks), source=1)
  allocate (mine(1), source=rank)
  allocate (all_ranks(ranks), sums(1))
  allocate (column(ranks, 1), source=rank)
  allocate (row(1, ranks))

  ! All ranks start in the same order; none waits for another
  total = rank + 1
  told = merge(9, 0, rank == 0)
  call world%iallreduce(total, SYNCYTE_OP_SUM, summing)
  call world%ibcast(told, 0, telling)
  call world%iallgather(mine, all_ranks, joining, ones)
  call world%ialltoall(column, row, 2, 1, turning, ones, ones)

  ! ... and waits in any: until then the arrays are not touched
  call turning%wait()
  call joining%wait()
  call telling%wait()
  done = .false.
  do while (.not. done)
    call summing%test(done)
  end do
  call world%ireduce_scatter(all_ranks, sums, SYNCYTE_OP_SUM, reducing, ones)
  call reducing%wait()
  if (any(row(1, :) /= all_ranks)) error stop "each rank sends its number to all"
  if (sums(1) /= ranks*rank) error stop "the sum of equal numbers"
  if (rank == 0) print '(a, i0, a, i0)', "told ", told, ", total ", total
  call world%destroy()
  call syncyte_finalize()
end program nonblocking
