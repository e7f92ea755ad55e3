! SPDX-License-Identifier: BSD-3-Clause
!> Whole tensors: partition, bounds, reversed dimensions, rows by index, boxes.
program test_tensor
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  integer :: rank, ranks

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  call partition()
  call uneven_partition()
  call local_bounds()
  call node_view()
  call rows_by_index()
  call adds()
  call started_rows()
  call optimizer()
  call boxes()
  call boxes_of_fewer_dimensions()
  call patches()
  call accumulates()
  call deterministic_adds()
  call owners_of_patches()
  call locks()
  call signals()
  call wrapped()
  call many_tensors()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  !> Value that element (i, j, row) of the tests' tensors should have.
  elemental real(real64) function value(i, j, row)
    integer, intent(in) :: i, j
    integer(int64), intent(in) :: row

    value = i + 10*j + 100*row
  end function value

  !> Sets this rank's rows to value(i, j, row).
  subroutine fill(tensor)
    type(syncyte_tensor), intent(in) :: tensor
    real(real64), pointer, asynchronous :: p(:, :, :)
    integer :: i, j
    integer(int64) :: row

    call tensor%local(p)
    do row = lbound(p, 3), ubound(p, 3)
      do j = 1, size(p, 2)
        do i = 1, size(p, 1)
          p(i, j, row) = value(i, j, row)
        end do
      end do
    end do
    call tensor%sync()
  end subroutine fill

  subroutine partition()
    type(syncyte_tensor) :: t
    type(syncyte_comm) :: comm
    integer :: other, next, owners(7), stat
    character(len=400) :: errmsg

    call t%create(world, SYNCYTE_FLOAT32, [3, 7], name=merge("source     ", "temperature", rank == ranks - 1), stat=stat, &
                  errmsg=errmsg)
    if (ranks > 1) call check_error(stat, SYNCYTE_ERR_MISMATCH, errmsg, 'is "temperature" on rank', "another name")
    if (ranks == 1) call t%destroy()
    call t%create(world, SYNCYTE_FLOAT32, [3, 7], name="partition"//repeat(" ", rank), label="any label")
    call check_equal(t%rank(), 2, "dimensions")
    call check_equal(t%extent(1), 3_int64, "first extent")
    call check_equal(t%extent(2), 7_int64, "rows")
    call check_equal(t%dtype(), int(SYNCYTE_FLOAT32), "element type")
    next = 1
    do other = 0, ranks - 1
      call check_equal(t%first_row(other), int(next, int64), "first row")
      next = next + 7/ranks + merge(1, 0, other < mod(7, ranks))
      call check_equal(t%last_row(other), int(next - 1, int64), "last row")
    end do
    call check_equal(next, 8, "every row has an owner")
    call t%owner([(other, other=1, 7)], owners)
    do other = 1, 7
      call check(t%first_row(owners(other)) <= other, "owner: first row")
      call check(t%last_row(owners(other)) >= other, "owner: last row")
    end do
    call t%comm(comm)
    call check_equal(comm%size(), ranks, "its communicator")
    call comm%destroy()
    call t%destroy()
    call check(t%is_null(), "destroy leaves nothing")
  end subroutine partition

  !> Rank r has r rows, so rank 0 has none.
  subroutine uneven_partition()
    type(syncyte_tensor) :: t
    integer(int8), pointer :: p(:, :)

    call t%create(world, SYNCYTE_INT8, [2, ranks*(ranks - 1)/2], local_rows=int(rank, int64))
    call t%local(p)
    call check(associated(p), "a pointer to no rows is associated")
    call check_equal(size(p, 2), rank, "own rows")
    call check_equal(t%last_row() - t%first_row() + 1, int(rank, int64), "rows by bounds")
    if (rank > 0) call check_equal(lbound(p, 2), rank*(rank - 1)/2 + 1, "lower bound")
    call t%destroy()
  end subroutine uneven_partition

  subroutine local_bounds()
    type(syncyte_tensor) :: t
    real(real64), pointer :: p(:, :, :)
    real(real64) :: row(4, 3)

    call t%create(world, SYNCYTE_FLOAT64, [4, 3, 5*ranks])
    call t%local(p)
    call check(all(lbound(p) == [1, 1, 5*rank + 1]), "lower bounds")
    call check(all(ubound(p) == [4, 3, 5*rank + 5]), "upper bounds")
    call check(is_contiguous(p), "contiguous")
    call check(all(p == 0), "zeros")
    call fill(t)
    call t%gather(5*modulo(rank + 1, ranks) + 2, row)
    call check_equal(row(3, 2), value(3, 2, 5_int64*modulo(rank + 1, ranks) + 2), "the neighbour's second row")
    call t%sync()
    call t%destroy()
  end subroutine local_bounds

  subroutine node_view()
    type(syncyte_tensor) :: t
    real(real64), pointer, asynchronous :: p(:, :, :)
    integer(int64) :: first
    integer :: nodes

    call world%topology(nodes=nodes)
    if (nodes > 1) return
    call t%create(world, SYNCYTE_FLOAT64, [2, 2, 11])
    call fill(t)
    call t%node(p, first)
    call check_equal(first, 1_int64, "first row of the node")
    call check(all(shape(p) == [2, 2, 11]), "all rows are on this node")
    call check_equal(p(2, 1, 11), value(2, 1, 11_int64), "last row")
    call t%sync()
    call t%destroy()
  end subroutine node_view

  subroutine rows_by_index()
    type(syncyte_tensor) :: t
    real(real64) :: rows(2, 3, 4), some(2, 3, 2, 2)
    integer(int64) :: index(4)
    integer :: table(2, 2), i

    call t%create(world, SYNCYTE_FLOAT64, [2, 3, 9])
    call fill(t)
    index = [9, 1, 5, 1]
    call t%gather(index, rows)
    do i = 1, 4
      call check_equal(rows(2, 3, i), value(2, 3, index(i)), "gather, 64-bit indices")
    end do
    table = reshape([9, 1, 5, 1], [2, 2])
    call t%gather(table, some)
    call check(all(reshape(some, [2, 3, 4]) == rows), "gather, a table of 32-bit indices")
    call t%gather(index(4:2:-2), rows(:, :, :2))
    call check_equal(rows(1, 1, 1), value(1, 1, 1_int64), "gather, indices with a stride")
    call t%sync()
    if (rank == ranks - 1) then
      rows(:, :, 1) = -1
      rows(:, :, 2) = -2
      call t%scatter([2, 9], rows(:, :, :2))
    end if
    call t%sync()
    call t%gather([9, 2, 3], rows(:, :, :3))
    call check(all(rows(:, :, 1) == -2) .and. all(rows(:, :, 2) == -1), "scatter")
    call check_equal(rows(2, 2, 3), value(2, 2, 3_int64), "scatter leaves other rows alone")
    call t%sync()
    call t%destroy()
  end subroutine rows_by_index

  !> All ranks add to the same rows, many times.
  subroutine adds()
    type(syncyte_tensor) :: t
    real(real32) :: ones(32, 50), total(32, 3)
    integer :: i
    integer, parameter :: rounds = 40

    call t%create(world, SYNCYTE_FLOAT32, [32, 3])
    ones = 1
    do i = 1, rounds
      call t%scatter_add([(2, i=1, 50)], ones)
    end do
    call t%sync()
    call t%gather([1, 2, 3], total)
    call check(all(total(:, 2) == 50.0*rounds*ranks), "no add is lost")
    call check(all(total(:, 1::2) == 0), "other rows are untouched")
    call t%sync()
    call t%destroy()
  end subroutine adds

  !> Started accesses to rows: several at once, and a wrong index.
  subroutine started_rows()
    type(syncyte_tensor) :: t
    type(syncyte_request) :: requests(2)
    real(real64), asynchronous :: rows(2, 3, 4), some(2, 3, 2), one(2, 3)
    integer(int64) :: index(4)
    integer :: i, stat
    logical :: done
    character(len=400) :: errmsg

    call t%create(world, SYNCYTE_FLOAT64, [2, 3, 9])
    call fill(t)
    index = [9, 1, 5, 1]
    call t%igather(index, rows, requests(1))
    call t%igather([3, 8], some, requests(2))
    call syncyte_wait_all(requests)
    do i = 1, 4
      call check_equal(rows(2, 3, i), value(2, 3, index(i)), "igather")
    end do
    call check_equal(some(1, 2, 2), value(1, 2, 8_int64), "a second igather")
    call t%sync()
    if (rank == 0) then
      one = -1
      call t%iscatter([2], one, requests(1))
      done = .false.
      do while (.not. done)
        call requests(1)%test(done)
      end do
    end if
    call t%sync()
    some = 1
    call t%iscatter_add([2, 2], some, requests(1))
    call requests(1)%wait()
    call t%sync()
    call t%gather([2], one)
    call check(all(one == 2*ranks - 1), "iscatter and iscatter_add")
    call started_boxes(t)
    call t%igather([10], one, requests(1), stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "10", "a wrong index")
    call check(requests(1)%is_null(), "no request after an error")
    call t%sync()
    call t%destroy()
  end subroutine started_rows

  !> Every rank adds to rows 3 to 8; rank 0 writes row 9.
  subroutine started_boxes(t)
    type(syncyte_tensor), intent(inout) :: t
    type(syncyte_request) :: requests(2)
    real(real64), asynchronous :: wide(4, 3, 6)
    real(real64) :: ones(2, 3, 6)

    ones = 1
    call t%iacc([1, 1, 3], [2, 3, 8], ones, requests(1), alpha=3.0_real64)
    call t%iacc([1, 1, 3], [2, 3, 4], ones(:, :, ::3), requests(2))
    ones = 7
    call syncyte_wait_all(requests)
    if (rank == 0) then
      call t%iput_box([1, 1, 9], ones(:, :, 1), requests(1))
      ones = 0
      call requests(1)%wait()
    end if
    call t%sync()
    wide = -1
    call t%iget_box([1, 1, 3], wide(::3, :, :), requests(1))
    call requests(1)%wait()
    call check_equal(wide(1, 2, 1), value(1, 2, 3_int64) + 4*ranks, "iget_box, first row")
    call check_equal(wide(4, 3, 6), value(2, 3, 8_int64) + 3*ranks, "iget_box, last row")
    call check(all(wide(2:3, :, :) == -1), "iget_box writes the section only")
    call t%get_box([1, 1, 9], ones(:, :, 1))
    call check(all(ones(:, :, 1) == 7), "iput_box")
    call t%sync()
  end subroutine started_boxes

  !> Rank r updates row r + 1; then all ranks update row 1.
  subroutine optimizer()
    type(syncyte_tensor) :: t, state, steps
    type(syncyte_request) :: request
    real(real64), asynchronous :: ones(2)
    real(real64) :: rows(2, ranks), total(2, 1, ranks)
    integer :: i

    call t%create(world, SYNCYTE_FLOAT64, [2, ranks])
    call t%set_optimizer(SYNCYTE_OPTIMIZER_SGD, 0.5d0, momentum=0.5d0)
    ones = 1
    call t%apply_gradients(rank + 1, ones)
    call t%iapply_gradients(rank + 1, ones, request)
    call request%wait()
    call t%sync()
    call t%gather([(i, i=1, ranks)], rows)
    call check(all(rows == -0.5d0 - 0.75d0), "momentum")
    call t%optimizer_state(state)
    call state%gather([(i, i=1, ranks)], total)
    call check(all(total == 1.5d0), "state of momentum")
    call t%optimizer_steps(steps)
    call check(steps%is_null(), "only Adam counts steps")
    call t%sync()
    call t%set_optimizer(SYNCYTE_OPTIMIZER_ADAM, 0.5d0)
    call t%set_learning_rate(0.125d0)
    call t%apply_gradients(1, ones)
    call t%sync()
    call t%optimizer_steps(steps)
    call check_equal(steps%load(1), int(ranks, int64), "steps of all ranks")
    call t%sync()
    call state%destroy()
    call steps%destroy()
    call t%destroy()
  end subroutine optimizer

  subroutine boxes()
    type(syncyte_tensor) :: t
    real(real64) :: box(2, 2, 6), wide(4, 4, 12)

    call t%create(world, SYNCYTE_FLOAT64, [5, 4, 13])
    call fill(t)
    call t%get_box([3, 2, 4], box)
    call check_equal(box(1, 1, 1), value(3, 2, 4_int64), "first corner")
    call check_equal(box(2, 2, 6), value(4, 3, 9_int64), "last corner")
    wide = 0
    call t%get_box(int([3, 2, 4], int64), wide(4:2:-2, ::2, 1:6))
    call check_equal(wide(4, 3, 6), value(3, 3, 9_int64), "into a section with strides, one backwards")
    call check(all(wide(1::2, :, :) == 0), "and nothing else")
    call t%sync()
    if (rank == 0) call t%put_box([1, 1, 1], -box(:, :, ::5))
    call t%sync()
    call t%get_box([1, 1, 1], box(:, :, :2))
    call check_equal(box(2, 2, 2), -value(4, 3, 9_int64), "put of a section")
    call t%sync()
    call t%destroy()
  end subroutine boxes

  !> A snapshot with two fields per row: each rank writes its part of both, as a solver does.
  subroutine boxes_of_fewer_dimensions()
    type(syncyte_tensor) :: t
    integer, parameter :: nx = 6, rows_each = 3
    real(real32) :: depth(0:nx + 1, rows_each), whole(nx, rows_each*ranks, 2)
    integer :: slot, field

    call t%create(world, SYNCYTE_FLOAT32, [nx, rows_each*ranks, 2, 4])
    slot = 3
    do field = 1, 2
      depth = 10*field + rank
      call t%put_box([1, rows_each*rank + 1, field, slot], depth(1:nx, :))
    end do
    call t%sync()
    call t%get_box([1, 1, 1, slot], whole)
    do field = 1, 2
      call check_equal(real(sum(whole(:, :, field)), real64), &
                       real(nx*rows_each*(10*field*ranks + ranks*(ranks - 1)/2), real64), "sum of a field")
    end do
    call t%get_box([nx, rows_each*ranks, 2, slot], whole(1, 1, 1))
    call check_equal(real(whole(1, 1, 1), real64), real(20 + ranks - 1, real64), "one element")
    call t%sync()
    call t%destroy()
  end subroutine boxes_of_fewer_dimensions

  subroutine patches()
    type(syncyte_tensor) :: t
    real(real64) :: box(2, 2, 6), wide(4, 4, 12), line(6), number

    call t%create(world, SYNCYTE_FLOAT64, [5, 4, 13])
    call fill(t)
    call t%get([3, 2, 4], [4, 3, 9], box)
    call check_equal(box(1, 1, 1), value(3, 2, 4_int64), "get, first corner")
    call check_equal(box(2, 2, 6), value(4, 3, 9_int64), "get, last corner")
    wide = 0
    call t%get(int([3, 2, 4], int64), [4, 3, 9], wide(4:2:-2, ::2, 1:6))
    call check_equal(wide(4, 3, 6), value(3, 3, 9_int64), "get into a section with strides, one backwards")
    call t%get([3, 2, 4], [4, 2, 4], wide(:2, 1, 1))
    call check_equal(wide(2, 1, 1), value(4, 2, 4_int64), "get into an array of fewer dimensions")
    call t%get([3, 2, 4], [3, 2, 9], line)
    call check_equal(line(6), value(3, 2, 9_int64), "get of a row into a vector")
    call t%get([3, 2, 4], [3, 3, 4], wide(2, ::3, 7))
    call check_equal(wide(2, 4, 7), value(3, 3, 4_int64), "get of the second dimension into a vector")
    call t%get([3, 2, 4], [4, 2, 9], wide(:2, 3, 1:6))
    call check_equal(wide(2, 3, 6), value(4, 2, 9_int64), "get of dimensions 1 and 3 into a matrix")
    call t%get([5, 4, 13], [5, 4, 13], number)
    call check_equal(number, value(5, 4, 13_int64), "get of one element")
    call t%sync()
    if (rank == 0) call t%put([5, 3, 2], [5, 3, 7], -line)
    call t%sync()
    if (rank == 0) call t%acc([5, 3, 2], [5, 3, 7], line, alpha=3.0_real64)
    call t%sync()
    call t%get([5, 3, 2], [5, 3, 7], wide(1, 1, :6))
    call check(all(wide(1, 1, :6) == 2*line), "put and acc of a vector to a row")
    call t%sync()
    if (rank == 0) call t%put([1, 1, 1], [2, 2, 2], -box(:, :, ::5))
    call t%sync()
    call t%get([1, 1, 1], [2, 2, 2], box(:, :, :2))
    call check_equal(box(2, 2, 2), -value(4, 3, 9_int64), "put of a section")
    call t%sync()
    call t%destroy()
  end subroutine patches

  !> All ranks add to the same patch.
  subroutine accumulates()
    type(syncyte_tensor) :: t, counts
    real(real32) :: ones(3, 4), seen(4, 7)
    integer :: number, few(2)

    call t%create(world, SYNCYTE_FLOAT32, [4, 7])
    ones = 1
    call t%acc([2, 3], [4, 6], ones)
    call t%acc([2, 3], [4, 6], ones, alpha=0.5)
    call t%sync()
    call t%get([1, 1], [4, 7], seen)
    call check(all(seen(2:, 3:6) == 1.5*ranks), "acc with and without alpha")
    call check(all(seen(1, :) == 0) .and. all(seen(:, [1, 2, 7]) == 0), "nothing else is added to")
    call t%sync()
    call t%destroy()
    call counts%create(world, SYNCYTE_INT32, [4])
    few = [rank, 5]
    call counts%acc([2], [3], few, op=SYNCYTE_OP_MAX)
    call counts%sync()
    call counts%get([2], [2], number)
    call check_equal(number, ranks - 1, "acc of a maximum")
    call check_equal(int(counts%read_inc([3], 0)), 5, "read_inc returns the value before")
    call counts%sync()
    call counts%destroy()
  end subroutine accumulates

  !> 1e30 + 1 - 1e30 is 1 in exact arithmetic, in any order.
  subroutine deterministic_adds()
    type(syncyte_tensor) :: t
    real(real64) :: terms(1, 3), seen(1, 1)

    call t%create(world, SYNCYTE_FLOAT64, [1, 2], deterministic=.true.)
    terms(1, :) = [1e30_real64, 1.0_real64, -1e30_real64]
    call t%scatter_add([2, 2, 2], terms)
    call t%sync()
    call t%gather([2], seen)
    call check_equal(seen(1, 1), real(ranks, real64), "deterministic adds are exact")
    call t%sync()
    call t%destroy()
  end subroutine deterministic_adds

  subroutine owners_of_patches()
    type(syncyte_tensor) :: t
    integer :: owners(ranks), one(1), many(ranks + 3)
    integer(int64) :: first(ranks), last(ranks), count, i

    call t%create(world, SYNCYTE_INT8, [4, 3*ranks])
    count = t%locate([1, 2], [4, 3*ranks], owners, first, last)
    call check_equal(count, int(ranks, int64), "locate: all ranks own a part")
    do i = 1, count
      call check_equal(owners(i), int(i) - 1, "locate: owner")
      call check_equal(first(i), max(2_int64, 3*i - 2), "locate: first")
      call check_equal(last(i), 3*i, "locate: last")
    end do
    call check_equal(t%locate([1, 1], [4, 3], one), 1_int64, "locate: the first rank")
    count = t%locate([2, 3*ranks], [2, 3*ranks], owners, last=last)
    call check_equal(owners(1), ranks - 1, "locate: the last row's owner")
    call check(all(owners(2:) == -1) .and. all(last(2:) == 0), "locate: behind the last owner")
    count = t%locate([1, 2], [4, 3*ranks], many)
    call check(all(many(:ranks) == [(int(i), i=0, ranks - 1)]) .and. all(many(ranks + 1:) == -1), "locate: a long array")
    call check_equal(t%locate([1, 3], [4, 2]), 0_int64, "locate: an empty patch")
    call t%destroy()
  end subroutine owners_of_patches

  subroutine locks()
    type(syncyte_tensor) :: t
    integer(int64) :: one
    integer :: i

    call t%create(world, SYNCYTE_INT64, [2], row_locks=.true.)
    do i = 1, 20
      call t%lock(2)
      call t%get([2], [2], one)
      call t%put([2], [2], one + 1)
      call t%unlock(2_int64)
    end do
    call t%sync()
    call t%get([2], [2], one)
    call check_equal(one, int(20*ranks, int64), "no addition is lost under the lock")
    call t%sync()
    call t%destroy()
  end subroutine locks

  subroutine signals()
    type(syncyte_tensor) :: t, counters
    real(real32) :: rows(5, ranks)
    integer :: i

    call t%create(world, SYNCYTE_FLOAT32, [5, ranks])
    call counters%create(world, SYNCYTE_INT32, [2])
    rows = 3
    if (rank == ranks - 1) call t%put_signal([(i, i=1, ranks)], rows, counters, 2)
    call counters%wait(2, SYNCYTE_COMPARE_EQ, 1)
    rows = 0
    call t%gather([(i, i=1, ranks)], rows)
    call check(all(rows == 3), "who sees the signal sees the rows")
    call counters%sync()
    if (rank == 0) call t%put_signal([1], rows(:, :1), counters, [2], value=9, op=SYNCYTE_OP_REPLACE)
    call counters%wait(2, SYNCYTE_COMPARE_EQ, 9)
    call counters%sync()
    call started_signals(t, counters)
    call counters%destroy()
    call t%destroy()
  end subroutine signals

  !> Rank 0 signals without waiting for its request; then all ranks draw tickets from the counter.
  subroutine started_signals(t, counters)
    type(syncyte_tensor), intent(inout) :: t, counters
    type(syncyte_request) :: requests(2)
    real(real32), asynchronous :: rows(5, ranks)
    real(real32) :: found(5, ranks)
    integer(int64), asynchronous :: ticket
    integer :: i, stat
    character(len=400) :: errmsg

    rows = 6
    if (rank == 0) call t%iput_signal([(i, i=1, ranks)], rows, counters, 1, requests(1), value=20)
    call counters%wait(1, SYNCYTE_COMPARE_EQ, 20)
    call t%gather([(i, i=1, ranks)], found)
    call check(all(found == 6), "who sees a started signal sees the rows")
    if (rank == 0) call requests(1)%wait()
    call counters%sync()
    call counters%ifetch_add(1, 1, requests(1), ticket)
    call counters%ifetch_add([1], 2, requests(2))
    call syncyte_wait_all(requests)
    call check(ticket >= 20 .and. ticket < 20 + 3*ranks, "ifetch_add returns the value before")
    call counters%sync()
    call check_equal(counters%load(1), int(20 + 3*ranks, int64), "no started addition is lost")
    call counters%sync()
    if (rank == 0) then
      call counters%icompare_swap(1, 20 + 3*ranks, 5, requests(1), ticket)
      call requests(1)%wait()
      call check_equal(ticket, int(20 + 3*ranks, int64), "icompare_swap returns the value before")
      call check_equal(counters%load(1), 5_int64, "icompare_swap sets an equal counter")
    end if
    call counters%sync()
    call counters%ifetch_add(3, 1, requests(1), ticket, stat, errmsg)
    call check_error(stat, SYNCYTE_ERR_INDEX, errmsg, "3", "a wrong element")
    call check(requests(1)%is_null(), "no request after an error")
    call counters%sync()
  end subroutine started_signals

  subroutine wrapped()
    type(syncyte_tensor) :: t
    real(real64), target, asynchronous :: own(3, rank + 1)
    real(real64) :: row(3)
    integer(int64) :: last

    own = rank
    call t%wrap(world, own)
    last = t%extent(2)
    call check_equal(last, int(ranks*(ranks + 1)/2, int64), "rows of the wrapped arrays")
    call t%sync()
    call t%gather([last], row)
    call check(all(row == ranks - 1), "the last rank's row")
    call t%sync()
    call t%destroy()
    call world%collect()
  end subroutine wrapped

  !> A second create() on the same variable drops the first tensor.
  subroutine many_tensors()
    type(syncyte_tensor) :: t
    integer :: i

    do i = 1, 20
      call t%create(world, SYNCYTE_FLOAT64, [100, i])
      call check_equal(t%extent(2), int(i, int64), "made again")
    end do
    call t%destroy()
  end subroutine many_tensors

end program test_tensor
