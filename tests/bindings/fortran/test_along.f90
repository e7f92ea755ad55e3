! SPDX-License-Identifier: BSD-3-Clause
!> Collectives of arrays that are cut along a dimension, against loops: uneven and empty parts, sections, types, and a
!> mistake of one rank.
program test_along
  use, intrinsic :: iso_c_binding, only: c_bool
  use, intrinsic :: iso_fortran_env, only: int8, int16, int64, real32, real64
  use syncyte
  use checks
  implicit none
  integer, parameter :: some_lengths(5) = [2, 0, 3, 1, 4], other_lengths(5) = [1, 4, 0, 2, 3]
  type(syncyte_comm) :: world
  integer :: rank, ranks, dim
  integer, allocatable :: counts(:)
  type :: cell
    real(real64) :: height
    integer :: number
  end type cell
  real(real64), allocatable :: input(:, :, :)  ! only root's is allocated

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  counts = some_lengths(:ranks)
  do dim = 1, 3
    call gathers()
    call gathers_sections()
    call allgathers()
    call scatters()
    call reduces_and_scatters()
    call repartitions()
  end do
  call transposes()
  call last_dimension()
  call all_parts_empty()
  call types()
  call high_rank()
  call components()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  !> Shape of an array with this extent along dim.
  function shape_with(extent) result(extents)
    integer, intent(in) :: extent
    integer :: extents(3)

    extents = [3, 4, 2]
    extents(dim) = extent
  end function shape_with

  !> The part of the whole array with these extents.
  function part_of(along, extents, first) result(array)
    integer, intent(in) :: along, extents(3), first  !! first: number of elements before the part along the dimension
    real(real64), allocatable :: array(:, :, :)
    integer :: i, j, k, at(3)

    allocate (array(extents(1), extents(2), extents(3)))
    do k = 1, extents(3)
      do j = 1, extents(2)
        do i = 1, extents(1)
          at = [i, j, k]
          at(along) = at(along) + first
          array(i, j, k) = at(1) + 100*at(2) + 10000*at(3)
        end do
      end do
    end do
  end function part_of

  function whole() result(array)
    real(real64), allocatable :: array(:, :, :)

    array = part_of(dim, shape_with(sum(counts)), 0)
  end function whole

  function mine() result(array)
    real(real64), allocatable :: array(:, :, :)

    array = part_of(dim, shape_with(counts(rank + 1)), sum(counts(:rank)))
  end function mine

  subroutine gathers()
    real(real64), allocatable :: output(:, :, :)
    integer :: root, n(3)

    n = shape_with(sum(counts))
    do root = 0, ranks - 1
      allocate (output(n(1), n(2), n(3)), source=-1.0_real64)
      call world%gather_along(mine(), output, root, dim, counts)
      call check(all(output == merge(whole(), -1.0_real64, rank == root)), "gather, and nothing off root")
      deallocate (output)
      if (rank == root) allocate (output(n(1), n(2), n(3)))
      call world%gather_along(mine(), output, root, dim)
      if (rank == root) call check(all(output == whole()), "gather without counts, output on root only")
      if (rank == root) then
        output = -1
        call world%gather_along(mine(), output, root, dim, int(counts, int64))
        call check(all(output == whole()), "gather with wide counts")
        deallocate (output)
      else
        call world%gather_along(mine(), root=root, dim=dim, counts=int(counts, int16))
      end if
    end do
  end subroutine gathers

  !> Gathers sections with strides, one of them backwards, into a section of a larger array.
  subroutine gathers_sections()
    real(real64), allocatable :: memory(:, :, :), frame(:, :, :), expected(:, :, :), part(:, :, :)
    integer :: n(3), m(3)

    allocate (part, source=mine())
    m = shape(part)
    allocate (memory(2*m(1) + 1, m(2) + 2, 3*m(3)), source=-3.0_real64)
    memory(2:2*m(1):2, m(2) + 1:2:-1, 1::3) = part
    n = shape_with(sum(counts))
    allocate (frame(n(1) + 2, 2*n(2), n(3) + 1), source=-1.0_real64)
    expected = frame
    expected(2:n(1) + 1, 2::2, n(3):1:-1) = whole()
    call world%allgather_along(memory(2:2*m(1):2, m(2) + 1:2:-1, 1::3), frame(2:n(1) + 1, 2::2, n(3):1:-1), dim=dim)
    call check(all(frame == expected), "from sections into a section, and nothing beside it")
    frame = -1
    call world%gather_along(memory(2:2*m(1):2, m(2) + 1:2:-1, 1::3), frame(2:n(1) + 1, 2::2, n(3):1:-1), ranks - 1, dim, &
                      counts)
    call check(all(frame == merge(expected, -1.0_real64, rank == ranks - 1)), "gather of sections")
    memory = -3
    call world%scatter_along(expected(2:n(1) + 1, 2::2, n(3):1:-1), memory(2:2*m(1):2, m(2) + 1:2:-1, 1::3), 0, dim)
    call check(all(memory(2:2*m(1):2, m(2) + 1:2:-1, 1::3) == part), "scatter of a section into sections")
    call check_equal(count(memory == -3), size(memory) - size(part), "nothing beside the part")
  end subroutine gathers_sections

  subroutine allgathers()
    real(real64), allocatable :: output(:, :, :)
    integer :: n(3), stat
    integer :: padded(2, ranks)

    n = shape_with(sum(counts))
    allocate (output(n(1), n(2), n(3)), source=-1.0_real64)
    call world%allgather_along(mine(), output, dim=dim)
    call check(all(output == whole()), "allgather along a dimension")
    output = -1
    padded = -7
    padded(2, :) = counts
    call world%allgather_along(mine(), output, dim, padded(2, :), stat)
    call check(stat == SYNCYTE_SUCCESS .and. all(output == whole()), "allgather with a section of counts")
  end subroutine allgathers

  subroutine scatters()
    real(real64), allocatable :: output(:, :, :)
    integer :: root, m(3)

    m = shape_with(counts(rank + 1))
    allocate (output(m(1), m(2), m(3)))
    do root = 0, ranks - 1
      if (rank == root) input = whole()
      output = -1
      call world%scatter_along(input, output, root, dim, counts)
      call check(all(output == mine()), "scatter")
      output = -1
      if (rank == root) then
        call world%scatter_along(input, output, root, dim)
        deallocate (input)
      else
        call world%scatter_along(output=output, root=root, dim=dim)
      end if
      call check(all(output == mine()), "scatter without counts, input on root only")
    end do
  end subroutine scatters

  subroutine reduces_and_scatters()
    real(real64), allocatable :: output(:, :, :), signed(:, :, :)
    integer :: m(3)

    m = shape_with(counts(rank + 1))
    allocate (output(m(1), m(2), m(3)), source=-1.0_real64)
    call world%reduce_scatter_along((rank + 1)*whole(), output, SYNCYTE_OP_SUM, dim, counts)
    call check(all(output == ranks*(ranks + 1)/2*mine()), "reduce_scatter")
    signed = merge(whole(), -whole(), rank == 0)
    output = -1
    call world%reduce_scatter_along(signed, output, SYNCYTE_OP_MAX, dim)
    call check(all(output == mine()), "reduce_scatter without counts")
  end subroutine reduces_and_scatters

  !> Equal dimensions: alltoall changes only the lengths of the parts.
  subroutine repartitions()
    real(real64), allocatable :: output(:, :, :), expected(:, :, :)
    integer :: m(3), after(ranks)

    after = cshift(counts, 1)
    m = shape_with(after(rank + 1))
    allocate (output(m(1), m(2), m(3)), source=-1.0_real64)
    expected = part_of(dim, m, sum(after(:rank)))
    call world%alltoall_along(mine(), output, dim, dim, counts, after)
    call check(all(output == expected), "alltoall along one dimension")
    output = -1
    call world%alltoall_along(mine(), output, dim, dim)
    call check(all(output == expected), "alltoall along one dimension, without counts")
  end subroutine repartitions

  !> From every dimension to every other one.
  subroutine transposes()
    real(real64), allocatable :: part(:, :, :), output(:, :, :), expected(:, :, :)
    integer :: from, to, whole_shape(3), m(3), sent(ranks), received(ranks)

    sent = some_lengths(:ranks)
    received = other_lengths(:ranks)
    do from = 1, 3
      do to = 1, 3
        if (from == to) cycle
        whole_shape = 2
        whole_shape(from) = sum(sent)
        whole_shape(to) = sum(received)
        m = whole_shape
        m(from) = sent(rank + 1)
        part = part_of(from, m, sum(sent(:rank)))
        m = whole_shape
        m(to) = received(rank + 1)
        expected = part_of(to, m, sum(received(:rank)))
        output = 0*expected - 1
        call world%alltoall_along(part, output, from, to, sent, received)
        call check(all(output == expected), "alltoall")
        output = -1
        call world%alltoall_along(part, output, gather_dim=from, scatter_dim=to)
        call check(all(output == expected), "alltoall without counts")
      end do
    end do
  end subroutine transposes

  !> Without dim the parts are cut along the last dimension, like the rows of a tensor.
  subroutine last_dimension()
    integer :: part(2, rank + 1), all_parts(2, ranks*(ranks + 1)/2), i, r, n

    part(1, :) = rank
    part(2, :) = [(i, i=1, rank + 1)]
    all_parts = -1
    call world%gather_along(part, all_parts, 0)
    n = 0
    do r = 0, merge(ranks - 1, -1, rank == 0)
      do i = 1, r + 1
        n = n + 1
        call check(all(all_parts(:, n) == [r, i]), "gather along the last dimension")
      end do
    end do
    if (rank > 0) call check(all(all_parts == -1), "nothing off root")
    if (rank == 0) all_parts(1, :) = all_parts(1, :) + 10
    part = -1
    call world%scatter_along(all_parts, part, 0)
    call check(all(part(1, :) == rank + 10) .and. all(part(2, :) == [(i, i=1, rank + 1)]), "and back")
  end subroutine last_dimension

  subroutine all_parts_empty()
    real(real64) :: none(3, 0), output(3, 0), flat(0, 4), all_flat(0, 4*ranks)
    integer :: stat

    call world%allgather_along(none, output, dim=2, stat=stat)
    call check_equal(stat, SYNCYTE_SUCCESS, "no part has elements")
    call world%allgather_along(flat, all_flat, dim=2, stat=stat)
    call check_equal(stat, SYNCYTE_SUCCESS, "the other extent is 0")
    call world%alltoall_along(none, output, 2, 2, stat=stat)
    call check_equal(stat, SYNCYTE_SUCCESS, "alltoall of nothing")
  end subroutine all_parts_empty

  subroutine types()
    real(real32) :: r4(ranks)
    complex(real32) :: c4(ranks)
    complex(real64) :: c8(ranks)
    integer(int8) :: i1(ranks)
    integer(int16) :: i2(ranks)
    integer(int64) :: i8(ranks)
    logical(c_bool) :: flag(1), flags(ranks)
    integer :: i

    call world%allgather_along([real(rank, real32)], r4, dim=1)
    call check(all(r4 == [(i, i=0, ranks - 1)]), "real(4)")
    call world%allgather_along([cmplx(rank, -rank, real32)], c4, dim=1)
    call check(all(c4 == [(cmplx(i, -i, real32), i=0, ranks - 1)]), "complex(4)")
    call world%allgather_along([cmplx(rank, 1, real64)], c8, dim=1)
    call check(all(c8 == [(cmplx(i, 1, real64), i=0, ranks - 1)]), "complex(8)")
    call world%allgather_along([int(rank, int8)], i1, dim=1)
    call check(all(i1 == [(i, i=0, ranks - 1)]), "integer(1)")
    call world%allgather_along([int(-rank, int16)], i2, dim=1)
    call check(all(i2 == [(-i, i=0, ranks - 1)]), "integer(2)")
    call world%allgather_along([2_int64**40*rank], i8, dim=1)
    call check(all(i8 == [(2_int64**40*i, i=0, ranks - 1)]), "integer(8)")
    flag = logical(rank == 0, c_bool)
    call world%allgather_along(flag, flags, dim=1)
    call check(flags(1) .and. count(flags) == 1, "logical(c_bool)")
  end subroutine types

  subroutine high_rank()
    integer :: part(2, 2, 1, 2, 2, 1, 2), all_parts(2, 2, ranks, 2, 2, 1, 2), i

    part = rank
    part(1, 2, 1, 1, 1, 1, 2) = 100 + rank
    call world%allgather_along(part, all_parts, dim=3)
    do i = 1, ranks
      call check_equal(sum(all_parts(:, :, i, :, :, :, :)), 32*(i - 1) + 100, "rank 7")
      call check_equal(all_parts(1, 2, i, 1, 1, 1, 2), 99 + i, "place in an array of rank 7")
    end do
  end subroutine high_rank

  !> One component of an array of a derived type, and the real parts of complex numbers.
  subroutine components()
    type(cell) :: cells(2), all_cells(2*ranks)
    complex(real64) :: z(ranks)
    integer :: i

    cells = [(cell(10*rank + i, -i), i=1, 2)]
    all_cells = cell(0, 5)
    z = (0.0_real64, 1.0_real64)
    call world%allgather_along(cells%height, all_cells%height, dim=1)
    call check(all(all_cells%height == [(10*((i - 1)/2) + 2 - mod(i, 2), i=1, 2*ranks)]), "a component")
    call check(all(all_cells%number == 5), "the other component")
    call world%allgather_along([real(rank, real64)], z%re, dim=1)
    call check(all(z == [(cmplx(i, 1, real64), i=0, ranks - 1)]), "real parts")
    call world%scan(cells%height, SYNCYTE_OP_SUM)
    call check(all(cells%height == [(5*rank*(rank + 1) + i*(rank + 1), i=1, 2)]), "scan of a component")
    call check(all(cells%number == [-1, -2]), "nothing beside it")
  end subroutine components

end program test_along
