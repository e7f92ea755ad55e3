! SPDX-License-Identifier: BSD-3-Clause
!> A program with its own MPI_Init and `use mpi_f08`: procedures accept type(MPI_Comm).
program test_mpi_f08
  use mpi_f08
  use syncyte
  use checks
  implicit none
  type(MPI_Comm) :: half, behind, theirs
  type(syncyte_comm) :: comm
  integer :: rank, expected, have, ranks, place(2)
  integer, allocatable :: extents(:), coordinates(:)
  logical, allocatable :: periodic(:)

  call MPI_Init()
  call syncyte_init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call comm%from_mpi(MPI_COMM_WORLD)
  call check_equal(comm%rank(), rank, "rank in the world")
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half)
  call comm%from_mpi(half, name="half")
  call MPI_Comm_size(half, expected)
  call check_equal(comm%size(), expected, "size of a half")
  call MPI_Comm_free(half)
  behind%MPI_VAL = comm%to_mpi()
  call MPI_Comm_size(behind, have)
  call check_equal(have, expected, "the communicator behind it")
  call comm%destroy()

  ! A Cartesian communicator of MPI stays one; C's first dimension is the last one here.
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, [1, ranks], [.false., .true.], .true., theirs)
  call MPI_Comm_rank(theirs, rank)
  call MPI_Cart_coords(theirs, rank, 2, place)
  call comm%from_mpi(theirs)
  call comm%grid(extents, periodic)
  call comm%coords(coordinates)
  call check(all(extents == [ranks, 1]) .and. all(periodic .eqv. [.true., .false.]), "the grid of MPI's communicator")
  call check(all(coordinates == [place(2), place(1)]), "coordinates on it")
  call MPI_Comm_free(theirs)
  call comm%destroy()
  call checks_end()
  call MPI_Finalize()
  call check(.not. syncyte_is_initialized(), "MPI_Finalize ends Syncyte")
  call checks_end()
end program test_mpi_f08
