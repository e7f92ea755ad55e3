! SPDX-License-Identifier: BSD-3-Clause
!> A matrix whose columns are spread over the ranks: sums, offsets, a parallel transposition, and all of it on one rank;
!> then the same, started and waited for later.
!> Run: mpirun -np 3 ./collectives
program collectives
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  implicit none
  integer, parameter :: rows = 5
  type(syncyte_comm) :: world
  type(syncyte_request) :: summing, others(3)
  integer :: rank, ranks, mine, my_rows, before, behind, last, i
  real(real64), asynchronous :: total, norms(rows)
  integer, allocatable :: widths(:), heights(:)
  real(real64), allocatable, asynchronous :: matrix(:, :), columns(:, :), lines(:, :), everything(:, :), sums(:)

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()

  ! Every rank has some columns (rank 1 none), and learns how many the others have, and which are its own
  mine = merge(0, 2 + rank, rank == 1)
  allocate (widths(ranks))
  call world%counts(mine, widths)
  call world%exscan(before, SYNCYTE_OP_SUM, input=mine)
  call world%exscan(behind, SYNCYTE_OP_SUM, input=mine, reverse=.true.)
  last = mine
  call world%scan(last, SYNCYTE_OP_SUM)                                     ! in place
  if (last /= before + mine .or. last + behind /= sum(widths)) error stop "columns are numbered through"

  ! Rank 0 reads the matrix and deals out its columns: the parts lie along the last dimension
  allocate (columns(rows, mine))
  if (rank == 0) matrix = reshape([(real(i, real64), i=1, rows*sum(widths))], [rows, sum(widths)])
  call world%scatter_along(matrix, columns, root=0)                               ! others have no matrix

  ! Columns become rows, in parts of any heights, and again columns
  allocate (heights(ranks))
  heights = [((rows + i)/ranks, i=0, ranks - 1)]
  my_rows = heights(rank + 1)
  allocate (lines(my_rows, sum(widths)))
  call world%alltoall_along(columns, lines, gather_dim=2, scatter_dim=1)          ! counts are those of the arrays
  lines = 2*lines
  call world%alltoall_along(lines, columns, gather_dim=1, scatter_dim=2, gather_counts=heights, scatter_counts=widths)

  ! The whole on rank 0, or on all; into a section, for example
  call world%gather_along(columns, matrix, root=0)
  allocate (everything(0:rows + 1, sum(widths)), source=0.0_real64)
  call world%allgather_along(columns, everything(1:rows, :), dim=2, counts=widths)
  if (rank == 0) then
    if (any(everything(1:rows, :) /= matrix)) error stop "gather and allgather join the same parts"
  end if

  ! Sums over the ranks: on one rank, and of whole arrays where each rank gets its part
  total = sum(columns)
  call world%reduce(total, SYNCYTE_OP_SUM, root=0)
  if (rank == 0) print '(a, f0.1)', "sum of all elements: ", total
  norms = sum(columns**2, dim=2)
  allocate (sums(my_rows))
  call world%reduce_scatter_along(norms, sums, SYNCYTE_OP_SUM, dim=1, counts=int(heights, int64))
  if (any(abs(sums - sum(lines**2, dim=2)) > 1e-9*sums)) error stop "norms of this rank's rows"

  ! Started: all ranks start in the same order, and none waits for another; counts of parts must be given
  everything = 0
  total = rank + 1
  call world%iallgather_along(columns, everything(1:rows, :), widths, others(1))
  call world%ialltoall_along(columns, lines, 2, 1, widths, heights, others(2))
  call world%ireduce_scatter_along(norms, sums, SYNCYTE_OP_SUM, heights, others(3))
  call world%iallreduce(total, SYNCYTE_OP_SUM, summing)

  ! ... and waits in any order: until then the arrays are not touched
  call summing%wait()
  if (nint(total) /= ranks*(ranks + 1)/2) error stop "the sum"
  if (rank > 0) total = 0
  call world%ibcast(total, 0, summing)
  call syncyte_wait_all(others)
  call summing%wait()
  if (nint(total) /= ranks*(ranks + 1)/2) error stop "rank 0's total"
  if (rank == 0) then
    if (any(everything(1:rows, :) /= matrix)) error stop "all columns again"
  end if
  if (any(abs(sums - sum(lines**2, dim=2)) > 1e-9*sums)) error stop "norms of this rank's rows again"

  call world%destroy()
  call syncyte_finalize()
end program collectives
