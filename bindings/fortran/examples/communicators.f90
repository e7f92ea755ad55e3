! SPDX-License-Identifier: BSD-3-Clause
!> Communicators and collectives. Run: mpirun -np 3 ./communicators
program communicators
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  implicit none
  type(syncyte_comm) :: world, half, same, node, first, listed, again, twin, alone
  integer :: rank, ranks, nodes, major, minor, patch, stat, i
  real(real64) :: energy, energies(2)
  integer, allocatable :: everybody(:), counts(:), pieces(:)
  character(len=200) :: errmsg

  call syncyte_init(thread_level=3)
  if (.not. syncyte_is_initialized()) error stop "syncyte_init returns when all is ready"
  call syncyte_get_version(major, minor, patch)
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  if (rank == 0) print '(a, i0, 2(a, i0))', "Syncyte ", major, ".", minor, ".", patch
  call syncyte_write_log(SYNCYTE_LOG_DEBUG, "seen with SYNCYTE_LOG=debug")

  ! Parts of a communicator
  call world%split(mod(rank, 2), rank, half, name="even or odd")
  call world%split_program(same)           ! this program's ranks, in a job of several programs
  call world%split_node(node)                    ! those that share memory
  call world%split_leaders(first)                ! one of each node; the others get none: first%is_null()
  call world%create_group([(i, i=ranks - 1, 0, -1)], listed)  ! these ranks, in this order; only they call it
  if (listed%id() == world%id()) error stop "each communicator has a number of its own"
  call world%topology(nodes=nodes)
  call world%dup(twin)
  call alone%from_self()
  call again%from_mpi(world%to_mpi())      ! from an integer, or a type(MPI_Comm)
  if (again%is_null()) error stop "a communicator refers to something"

  ! Collectives on scalars and arrays of any rank; more in collectives.f90
  energy = 1.5_real64
  call world%allreduce(energy, SYNCYTE_OP_SUM)                              ! in place
  call world%allreduce(energies, SYNCYTE_OP_MAX, input=[energy, -energy])
  call world%bcast(energies, root=0)
  allocate (everybody(ranks), counts(ranks), pieces(sum([(i, i=1, ranks)])))
  call world%allgather(rank, everybody)
  counts = [(i, i=1, ranks)]
  call world%allgatherv([(rank, i=0, rank)], pieces, counts)                ! rank + 1 numbers each
  counts = 1
  call world%alltoallv(everybody, pieces(:ranks), counts, counts)
  if (any(pieces(:ranks) /= rank)) error stop "rank i sends i to all"
  call world%barrier()

  ! Errors: with stat they are the program's business, without it they end the job
  call world%bcast(energies, root=ranks, stat=stat, errmsg=errmsg)
  if (stat == SYNCYTE_SUCCESS) error stop "there is no such root"
  if (rank == 0) print '(3a)', syncyte_error_name(stat), ": ", trim(errmsg)
  call world%agree(SYNCYTE_SUCCESS, "setting up", ["cells"], [100_int64])   ! the same number on all ranks

  call half%destroy()
  call same%destroy()
  call node%destroy()
  call first%destroy()
  call listed%destroy()
  call twin%destroy()
  call alone%destroy()
  call again%destroy()
  call world%collect()                     ! frees what all ranks have dropped
  call world%destroy()
  call syncyte_finalize()
  if (syncyte_knows_death()) stop          ! a program that initialized MPI itself would leave out MPI_Finalize
end program communicators
