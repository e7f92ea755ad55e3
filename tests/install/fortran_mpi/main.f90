! SPDX-License-Identifier: BSD-3-Clause
! A user's program that initializes MPI itself: Syncyte uses that MPI, and does not finalize it.
program consumer
  use mpi
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  integer :: rank, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call syncyte_init()
  call world%from_mpi(MPI_COMM_WORLD)
  if (world%rank() /= rank) error stop 1
  call world%destroy()
  call syncyte_finalize()
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a)', 'consumer: MPI is still there'
  call MPI_Finalize(ierr)
end program consumer
