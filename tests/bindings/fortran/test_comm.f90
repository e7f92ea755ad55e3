! SPDX-License-Identifier: BSD-3-Clause
!> Communicators and collectives, with integer and type(MPI_Comm), any kind of counts, scalars and arrays.
program test_comm
  use, intrinsic :: iso_c_binding, only: c_bool
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  integer :: rank, ranks

  call check(.not. syncyte_is_initialized(), "not initialized before init")
  call check(.not. syncyte_knows_death(), "all ranks live")
  call errors_before_init()
  call syncyte_init()
  call check(syncyte_is_initialized(), "initialized after init")
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  call groups()
  call listed_ranks()
  call from_mpi_integer()
  call reductions()
  call gathering()
  call exchanges()
  call agreements()
  call wrong_arrays()
  call world%destroy()
  call check(world%is_null(), "destroy leaves nothing")
  call syncyte_finalize()
  call checks_end()

contains

  subroutine errors_before_init()
    type(syncyte_comm) :: comm
    integer :: stat
    character(len=400) :: errmsg

    errmsg = "unchanged"
    call comm%from_world(stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_NOT_INITIALIZED, errmsg, "syncyte_init", "world before init")
    call check(comm%is_null(), "no communicator after an error")
    errmsg = "unchanged"
    call comm%destroy(stat, errmsg)
    call check_error(stat, SYNCYTE_SUCCESS, errmsg, "unchanged", "destroying nothing")
    call check(syncyte_error_name(SYNCYTE_ERR_INDEX) == "SYNCYTE_ERR_INDEX", "name of a status")
  end subroutine errors_before_init

  subroutine groups()
    type(syncyte_comm) :: part, single, program, leaders
    integer :: nodes, node, node_size, node_rank

    call world%split(mod(rank, 2), -rank, part, name="halves")
    call check_equal(part%size(), (ranks + 1 - mod(rank, 2))/2, "size of a half")
    call check_equal(part%rank(), part%size() - 1 - rank/2, "reversed order by key")
    call world%split(merge(0, -1, rank == 0), 0, part)
    call check(part%is_null() .neqv. rank == 0, "only rank 0 has a part")
    call part%destroy()
    call world%split_program(program)
    call check_equal(program%size(), ranks, "one program")
    call world%split_program(program, program=merge("first", "other", rank == 0))
    call check_equal(program%size(), merge(1, ranks - 1, rank == 0), "named programs")
    call world%split_node(part)
    call world%topology(nodes, node, node_size, node_rank)
    call check_equal(part%size(), node_size, "size of the node")
    call check_equal(part%rank(), node_rank, "place on the node")
    call check(node >= 0 .and. node < nodes, "number of the node")
    call world%split_leaders(leaders, name="leaders")
    call check(leaders%is_null() .neqv. node_rank == 0, "only the first rank of a node leads")
    if (node_rank == 0) then
      call check_equal(leaders%size(), nodes, "one leader per node")
      call check_equal(leaders%rank(), node, "leaders in the order of the nodes")
    end if
    call leaders%destroy()
    call single%from_self()
    call check_equal(single%size(), 1, "size of self")
    call world%dup(part)
    call check_equal(part%size(), ranks, "size of a duplicate")
    call part%barrier()
    call part%destroy()
    call program%destroy()
    call single%destroy()
    call world%collect()
  end subroutine groups

  subroutine listed_ranks()
    type(syncyte_comm) :: group
    integer :: i, stat
    integer(int64) :: id(2)
    character(len=400) :: errmsg

    if (rank > 0 .or. ranks == 1) then
      call world%create_group([(i, i=ranks - 1, min(1, ranks - 1), -1)], group, tag=3, name="others")
      call check_equal(group%size(), max(1, ranks - 1), "size of a group")
      call check_equal(group%rank(), ranks - 1 - rank, "order of a group's list")
      id = [group%id(), world%id()]
      call check(id(1) /= id(2), "identifier of a group")
      call group%bcast(id, 0)
      call check(id(1) == group%id(), "an identifier is equal on all ranks")
    end if
    call world%create_group([integer ::], group, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "count is 0", "an empty group")
    call group%destroy()
  end subroutine listed_ranks

  subroutine from_mpi_integer()
    type(syncyte_comm) :: comm
    integer :: stat
    character(len=400) :: errmsg

    call comm%from_mpi(world%to_mpi(), name="again", check=2)
    call check_equal(comm%rank(), rank, "rank of a communicator from an integer")
    call comm%from_mpi(1.5, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "real(4)", "from a real")
    call check_equal(comm%rank(), rank, "kept after an error")
    call comm%destroy()
  end subroutine from_mpi_integer

  subroutine reductions()
    integer :: number, total
    real(real32) :: reals(3, 2)
    complex(real64) :: z
    integer(int64) :: largest(4)

    number = rank + 1
    total = ranks*(ranks + 1)/2
    call world%allreduce(number, SYNCYTE_OP_SUM)
    call check_equal(number, total, "sum in place")
    reals = real(rank)
    call world%allreduce(reals, SYNCYTE_OP_MAX, input=reals + 1)
    call check(all(reals == real(ranks)), "maximum of an expression")
    z = (1.0_real64, 2.0_real64)
    call world%allreduce(z, SYNCYTE_OP_SUM)
    call check(z == ranks*(1.0_real64, 2.0_real64), "sum of complex numbers")
    largest = [rank, -rank, 0, 2**rank]
    call world%allreduce(largest, SYNCYTE_OP_MIN)
    call check(all(largest == [0, 1 - ranks, 0, 1]), "minimum of 64-bit integers")
    number = merge(42, 0, rank == ranks - 1)
    call world%bcast(number, ranks - 1)
    call check_equal(number, 42, "broadcast")
  end subroutine reductions

  subroutine gathering()
    integer :: all_ranks(ranks), i
    integer(int64) :: counts(ranks)
    real(real64), allocatable :: mine(:), everything(:)

    call world%allgather(rank, all_ranks)
    call check(all(all_ranks == [(i, i=0, ranks - 1)]), "allgather of scalars")
    counts = [(i, i=0, ranks - 1)]
    allocate (mine(rank), everything(sum(counts)))
    mine = rank
    call world%allgatherv(mine, everything, counts)
    call check_equal(sum(everything), real(sum(counts*counts), real64), "allgatherv")
    everything = -1
    call world%allgatherv(mine, everything, int(counts))
    call check_equal(sum(everything), real(sum(counts*counts), real64), "allgatherv with default integers")
  end subroutine gathering

  subroutine exchanges()
    integer(int8) :: sent(ranks), received(ranks)
    integer :: ones(ranks), i

    ones = 1
    sent = int([(10*rank + i, i=0, ranks - 1)], int8)
    received = -1
    call world%alltoallv(sent, received, ones, ones)
    call check(all(received == [(10*i + rank, i=0, ranks - 1)]), "alltoallv")
  end subroutine exchanges

  subroutine agreements()
    integer :: stat
    character(len=600) :: errmsg

    call world%agree(0, "test", ["size", "more"], [int(ranks, int64), 7_int64])
    call world%agree(merge(SYNCYTE_ERR_IO, SYNCYTE_SUCCESS, rank == 0), "reading", stat=stat)
    call check_equal(stat, SYNCYTE_ERR_IO, "a failure of one rank is an error on all")
    if (ranks == 1) return
    call world%agree(0, "test", ["width"], [int(merge(3, 4, rank == 0), int64)], stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_MISMATCH, errmsg, "width", "different facts")
  end subroutine agreements

  subroutine wrong_arrays()
    integer :: numbers(4, 4), counts(ranks + 1), stat
    logical :: flag
    logical(c_bool) :: flags(2)
    type(syncyte_comm) :: other
    character(len=600) :: errmsg

    numbers = 1
    flag = .true.
    call world%bcast(flag, 0, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_TYPE, errmsg, "logical(c_bool)", "a default logical")
    flags = [.true._c_bool, logical(rank == 0, c_bool)]
    call world%allreduce(flags, SYNCYTE_OP_LAND)
    call check(flags(1) .and. (flags(2) .eqv. ranks == 1), "logical(c_bool) is bool")
    call other%from_mpi(world%to_mpi(), check=7, stat=stat, errmsg=errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, " check is 7", "a level of checks that does not exist")
    call check(index(errmsg, "options") == 0 .and. other%is_null(), "no C in messages: "//errmsg)
    counts = 1
    call world%allgatherv(1, counts, counts, stat, errmsg)
    call check(stat /= 0 .and. index(errmsg, "counts is ") > 0, "too many counts: "//errmsg)
    call world%bcast(numbers, ranks, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_ARGUMENT, errmsg, "root", "a root that does not exist")
    call one_rank_alone()
    call world%barrier()
  end subroutine wrong_arrays

  !> A mistake on one rank is an error on all.
  subroutine one_rank_alone()
    real(real64) :: x(6)
    logical :: flag
    integer :: stat

    x = 1
    flag = .true.
    if (rank == ranks - 1) then
      call world%allreduce(flag, SYNCYTE_OP_SUM, stat=stat)
    else
      call world%allreduce(x(:3), SYNCYTE_OP_SUM, stat=stat)
    end if
    call check(stat /= SYNCYTE_SUCCESS, "a mistake on the last rank is an error on all")
    call check(all(x == 1), "nothing has moved")
  end subroutine one_rank_alone

end program test_comm
