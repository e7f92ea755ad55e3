! SPDX-License-Identifier: BSD-3-Clause
!> The parameter store: pull, push, set, their started forms, samples, errors.
program test_store
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_store) :: s
  type(syncyte_store_worker) :: w
  integer :: rank, ranks

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  call s%create(world, 50, 3, name="test", homes=SYNCYTE_STORE_HOMES_CYCLIC, &
      intents=SYNCYTE_STORE_INTENTS_MOVE)
  call s%worker(w)
  call check_equal(s%keys(), 50_int64, "keys")
  call moving()
  call started()
  call asking()
  call distinct_keys()
  call localizing()
  call sampling()
  call errors()
  call uneven()
  call w%destroy()
  call s%destroy()
  call check(s%is_null() .and. w%is_null(), "destroy leaves nothing")
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  !> Keys of every kind of integer, sections of them, and values of any shape.
  subroutine moving()
    real(real32) :: values(3, 2)
    integer :: keys(4), i
    integer(int64) :: wide(3)

    values(:, 1) = 1
    values(:, 2) = 2
    keys = [7, -1, 49, -1]
    if (rank == 0) call w%set([7_int64, 49_int64], values)
    call w%barrier()
    call w%push(keys(1:3:2), values)
    call w%push([7, 49], values)
    call w%push(int([7, 49], kind=1), values)
    call w%barrier()
    wide = [7_int64, 0_int64, 49_int64]
    values = -1
    call w%pull(wide(3:1:-2), values)
    do i = 1, 3
      call check(nint(values(i, 1)) == 2 + 6*ranks, "pushes of key 49")
      call check(nint(values(i, 2)) == 1 + 3*ranks, "pushes of key 7")
    end do
    values(1:3, 1) = 0
    call w%pull(7, values(:, 1))
    call check(all(nint(values(:, 1)) == 1 + 3*ranks), "one key")
    call w%barrier()
  end subroutine moving

  subroutine started()
    real(real32), asynchronous :: ones(3), found(3)
    integer, asynchronous :: total(1)
    integer :: which
    type(syncyte_request) :: requests(2)

    ones = 1
    call w%iset(20 + rank, ones, requests(1))
    call requests(1)%wait()
    call w%ipush(20 + rank, ones, requests(1))
    call w%ipush(20 + rank, ones, requests(2))
    call syncyte_wait_all(requests)
    call w%flush()
    total = 1
    call world%iallreduce(total, SYNCYTE_OP_SUM, requests(1))
    call w%ipull(20 + rank, found, requests(2))
    do
      call syncyte_wait_any(requests, which)
      if (which == 0) exit
      call check(requests(which)%is_null(), "a request that has ended is null")
    end do
    call check_equal(total(1), ranks, "a collective waited for with a store's operation")
    call check(all(nint(found) == 3), "started operations of one worker are in order")
    call s%sync()
  end subroutine started

  !> Each distinct key travels once; a prefetch gives its values to the next pull.
  subroutine distinct_keys()
    integer :: keys(4), i, count, stat
    integer(int64) :: distinct(4), inverse(4)
    real(real32) :: values(3, 4)
    real(real32), asynchronous :: found(3, 4)
    type(syncyte_request) :: request

    keys = [30, 41, 30, 32]
    do i = 1, 4
      values(:, i) = i
    end do
    call w%push_unique(keys, values)
    call w%ipush_unique(keys, values, request)
    call request%wait()
    call w%barrier()
    call w%prefetch(keys)
    call w%prefetch(keys(1:4:3))
    found = -1
    call w%pull_unique(keys, distinct, inverse, found, count)
    call check_equal(count, 3, "number of distinct keys")
    call check(all(distinct(:3) == [30, 41, 32]) .and. all(inverse == [1, 2, 1, 3]), "distinct keys, from 1")
    call check(all(nint(found(1, :)) == [8*ranks, 4*ranks, 8*ranks, -1]), "values of the distinct keys")
    call w%drop_prefetches()
    call w%ipull_unique(keys(1:4:3), distinct(1:2), inverse(1:2), found(:, 1:2), count, request)
    call request%wait()
    call check(count == 2 .and. all(inverse(1:2) == [1, 2]), "two keys")
    call check(all(nint(found(3, 1:2)) == 8*ranks), "their values")
    call w%pull_unique(keys(1:0), distinct(1:0), inverse(1:0), found(:, 1:0), count)
    call check_equal(count, 0, "no keys")
    inverse = -1
    call w%pull_unique([30, 50], distinct(1:2), inverse(1:2), found(:, 1:2), count, stat=stat)
    call check(stat == SYNCYTE_ERR_INDEX .and. all(inverse == -1), "a key that does not exist")
    call w%prefetch(50, stat=stat)
    call check_equal(stat, SYNCYTE_ERR_INDEX, "a prefetch of a key that does not exist")
    call w%barrier()
  end subroutine distinct_keys

  subroutine asking()
    integer :: owners(3)
    integer(int64) :: lengths(3), before, clock, pushed
    integer :: number, localized, intended, active, stat
    logical :: is_local
    real(real32) :: values(3)

    call s%owner([0, 1, 2], owners)
    call check(all(owners == modulo([0, 1, 2], ranks)), "home ranks")
    call s%lengths([0, 1, 2], lengths)
    call check(all(lengths == 3), "lengths")
    call w%pull_if_local(0, values, is_local)
    call check(is_local .or. ranks > 1, "keys of one rank are local")
    before = w%clock()
    call w%advance_clock()
    call check_equal(w%clock(), before + 1, "clock")
    call w%localize([1, 2])
    call w%intent([1, 2], before + 1)
    call w%intent([1, 2], before + 1, until=before + 5)
    call w%info(number, clock, localized_keys=localized, intended_keys=intended, active_intents=active)
    call check(number == 0 .and. clock == before + 1, "number and clock")
    call check(localized == 2 .and. intended == 4 .and. active == 4, "keys of localize and intent")
    call w%info(prepared_samples=number, pulled_keys=localized, pushed_keys=pushed, set_keys=intended)
    call check(number == 0 .and. pushed == 8 .and. localized > 0, "keys of the operations")
    call w%info(clock=values(1), stat=stat)
    call check_equal(stat, SYNCYTE_ERR_TYPE, "a counter that is no integer")
  end subroutine asking

  !> All ranks take a key in turn, and add to it where it is then
  subroutine localizing()
    integer :: turn, flags(1), homes(1), status
    real(real32) :: ones(3), found(3)
    type(syncyte_request) :: request

    ones = 1
    call w%barrier()
    if (rank == 0) call w%set(30, 0 * ones)
    do turn = 0, ranks - 1
      call w%barrier()
      if (turn /= rank) cycle
      call w%ilocalize([30], request)
      call request%wait()
      call s%is_local([30], flags)
      call check(flags(1) == 1, "a localized key is local")
      call w%push(30, ones)
    end do
    call w%barrier()
    call w%pull(30, found)
    call check(all(nint(found) == ranks), "no add is lost")
    call s%locate([30], homes)
    call check(homes(1) >= 0 .and. homes(1) < ranks, "a rank of its node")
    call s%adopt_last([30], flags)
    call check(flags(1) == 0, "no key is lost")
    call s%locate([-1], homes, stat=status)
    call check_equal(status, SYNCYTE_ERR_INDEX, "a key that does not exist")
    call s%sync()
  end subroutine localizing

  subroutine sampling()
    integer(int64) :: sample, keys(2)
    real(real32), asynchronous :: values(3, 2)
    type(syncyte_request) :: request

    call s%set_sampling(max_key=50, min_key=10, scheme=SYNCYTE_STORE_PREPARED, with_replacement=.false., seed=3)
    call w%prepare_sample(5, w%clock(), sample)
    call w%pull_sample(sample, keys, values)
    call check(all(keys >= 10 .and. keys < 50) .and. keys(1) /= keys(2), "a sample without replacement")
    call w%ipull_sample(sample, keys, values, request)
    call request%wait()
    call w%finish_sample(sample)
  end subroutine sampling

  subroutine errors()
    real(real32) :: values(3)
    real(real64) :: wide(3)
    integer :: stat, owners(2)
    character(len=400) :: message

    call w%pull(50, values, stat=stat, errmsg=message)
    call check_equal(stat, SYNCYTE_ERR_INDEX, "a key beyond the last")
    call check(index(message, "50") > 0, "names the key")
    call w%pull([1, 2], values, stat=stat)
    call check_equal(stat, SYNCYTE_ERR_SHAPE, "too few values")
    call w%pull(1, wide, stat=stat)
    call check_equal(stat, SYNCYTE_ERR_TYPE, "values of another type")
    call w%push([real(real32) ::], values(1:0), stat=stat)
    call check_equal(stat, SYNCYTE_ERR_TYPE, "no keys of another type")
    call w%push([integer ::], values(1:0))
    call w%push(1.5, values, stat=stat, errmsg=message)
    call check_equal(stat, SYNCYTE_ERR_TYPE, "keys that are no integers")
    call check(index(message, "keys") > 0, "names the argument")
    call s%owner([1, 2, 3], owners, stat=stat, errmsg=message)
    call check_equal(stat, SYNCYTE_ERR_SHAPE, "an output of another length")
    call check(index(message, "3 elements") > 0, "says what was expected")
    call s%owner([1, 99], owners, stat=stat)
    call check_equal(stat, SYNCYTE_ERR_INDEX, "owner of no key")
  end subroutine errors

  !> A number of values for each key; a wrong argument on one rank is an error on all.
  subroutine uneven()
    type(syncyte_store) :: other
    type(syncyte_store_worker) :: first, second
    integer :: lengths(4), stat
    integer(int64) :: found(2)

    lengths = [1, 2, 3, 4]
    call other%create(world, 4, lengths, workers=2)
    call other%lengths([3, 0], found)
    call check(all(found == [4, 1]), "a length for each key")
    call other%worker(first)
    call other%worker(second, 1)
    call first%destroy()
    call second%destroy()
    call other%create(world, 4, merge(0, 2, rank == ranks - 1), stat=stat)
    call check_equal(stat, SYNCYTE_ERR_SHAPE, "length 0 on one rank")
    call other%destroy()
  end subroutine uneven

end program test_store
