! SPDX-License-Identifier: BSD-3-Clause
!> Layouts and bundles, against the points of the whole array: every value tells its indices. Mistakes of one rank.
program test_layout
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  integer :: rank, ranks

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  call meshes()
  call given_lengths()
  call several_blocks_and_none()
  call nodes_in_three_dimensions()
  call lists_and_rows()
  call mistakes()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  elemental real(real64) function value(i, j, k)
    integer(int64), intent(in) :: i, j, k

    value = real(i + 100*j + 10000*k, real64)
  end function value

  !> The points of a block, with its ghosts; those outside of 1 to extents are -1.
  subroutine fill(array, first, ghosts, extents, only_inside)
    real(real64), intent(out) :: array(:, :, :)
    integer(int64), intent(in) :: first(3), extents(3)
    integer, intent(in) :: ghosts
    logical, intent(in) :: only_inside
    integer(int64) :: at(3)
    integer :: i, j, k

    do k = 1, size(array, 3)
      do j = 1, size(array, 2)
        do i = 1, size(array, 1)
          at = first + [i, j, k] - 1 - ghosts
          array(i, j, k) = -1
          if (any(at < 1) .or. any(at > extents)) cycle
          if (only_inside .and. (any([i, j, k] <= ghosts) .or. any([i, j, k] > shape(array) - ghosts))) cycle
          array(i, j, k) = value(at(1), at(2), at(3))
        end do
      end do
    end do
  end subroutine fill

  !> The first dimension of a mesh changes fastest from rank to rank; without axes it cuts the last dimensions.
  subroutine meshes()
    type(syncyte_layout) :: layout
    type(syncyte_tensor) :: table
    integer(int64), allocatable :: extents(:), first(:), shape(:), place(:)
    character(len=:), allocatable :: lines
    integer :: block, blocks, owner, stat

    call layout%mesh(world, [3, 4*ranks])
    call layout%describe(rank, blocks=blocks, extents=extents, first=first, shape=shape)
    call check(all(extents == [3, 4*ranks]) .and. blocks == 1, "extents")
    call check(all(first == [1, 4*rank + 1]) .and. all(shape == [3, 4]), "the last dimension is cut")
    call layout%mesh(world, [2*ranks, 5], mesh=[ranks, 1], ghosts=[1, 0], ghosts_high=[2, 3])
    call layout%describe(rank, first=first, shape=shape)
    call check(all(first == [2*rank + 1, 1]) .and. all(shape == [2 + 3, 5 + 3]), "the first dimension is cut")
    call layout%mesh(world, [2*ranks, 5], axes=[1], periodic=[1], shared=[1], truth=SYNCYTE_TRUTH_LOWER)
    call layout%describe(rank, extents=extents, shape=shape)
    call check(all(extents == [2*ranks, 5]) .and. all(shape == [3, 5]), "a ring of points")
    call layout%mesh(world, [5, 4], axes=[0])
    call layout%describe(ranks - 1, shape=shape)
    call check(all(shape == [5, 4]), "copies")
    call layout%mesh(world, [5, 3*ranks], ghosts=[1, 2])
    call layout%locate([4, 3*ranks - 1], owner, place, block)
    call check(owner == ranks - 1 .and. block == 1 .and. all(place == [4 + 1, 2 + 2]), 'the owner of a point')
    call layout%locate([4, 3*ranks + 1], owner, stat=stat)
    call check(stat == SYNCYTE_ERR_INDEX, 'beyond the array')
    call layout%locate([1, 1, 1, 1, 1, 1, 1, 1, 1], owner, place, block, stat=stat)
    call check(stat == SYNCYTE_ERR_SHAPE .and. owner == -1 .and. block == 0, 'a point of nine dimensions')
    call layout%name_axes('x, height', units='m,km')
    call layout%text(lines)
    call check(index(lines, 'axes height, x, in km, m') > 0, "the axes' names, in the order of C")
    call layout%name_axes('x', stat=stat)
    call check(stat == SYNCYTE_ERR_ARGUMENT, 'one name too few')
    call table%create(world, SYNCYTE_INT32, [5, 3*ranks])
    call table%relocate(layout)
    call layout%destroy()
    call table%relocate(layout, stat=stat)
    call check(stat == SYNCYTE_ERR_HANDLE, 'a layout that was destroyed')
    call table%destroy()
    call layout%mesh(world, [2*ranks + 1], ceil=.true.)
    call layout%describe(0, first=first, shape=shape)
    call check(shape(1) == (2*ranks + ranks)/ranks .or. ranks == 1, "ceil")
    call layout%mesh(world, [4*ranks], block=2)
    call layout%describe(rank, shape=shape)
    call check(shape(1) == 4, "dealt out")
    call layout%destroy()
  end subroutine meshes

  !> Lengths are those of the first dimension, then those of the second.
  subroutine given_lengths()
    type(syncyte_layout) :: layout
    integer(int64), allocatable :: first(:), shape(:)
    integer :: i

    call layout%mesh(world, [7, ranks*(ranks + 1)/2], mesh=[1, ranks], lengths=[7, (i, i=1, ranks)])
    call layout%describe(rank, first=first, shape=shape)
    call check(all(shape == [7, rank + 1]) .and. first(2) == rank*(rank + 1)/2 + 1, "lengths")
    call layout%mesh(world, [7, ranks*(ranks + 1)], mesh=[1, ranks], lengths=[1, (i, i=1, ranks)], weighted=.true.)
    call layout%describe(rank, first=first, shape=shape)
    call check(all(shape == [7, 2*rank + 2]) .and. first(2) == rank*(rank + 1) + 1, "weights")
    call layout%destroy()
  end subroutine given_lengths

  subroutine several_blocks_and_none()
    type(syncyte_layout) :: layout, rows
    integer(int64), allocatable :: first(:)
    integer :: i, blocks, lower(2, 2), counts(2, 2), stat
    real(real64) :: whole(2, 4), one(1, 1)
    real(real64), allocatable :: part(:, :)

    lower = reshape([1, 1, 1, 3], [2, 2])
    counts = 2
    if (rank == 0) then
      call layout%blocks(world, [2, 4], lower, counts)
    else
      call layout%blocks(world, [2, 4])
    end if
    call layout%describe(0, 2, blocks, first=first)
    call check(blocks == 2 .and. all(first == [1, 3]), "two blocks")
    if (ranks > 1) then
      call layout%describe(1, blocks=blocks)
      call check_equal(blocks, 0, "no block")
    end if

    ! From rank 0 to rows, and collected there again
    if (rank == 0) then
      call layout%blocks(world, [2, 4], [1, 1], [2, 4])
    else
      call layout%blocks(world, [2, 4])
    end if
    call rows%mesh(world, [2, 4], lengths=[4, (0, i=2, ranks)])
    whole = reshape([1, 2, 3, 4, 5, 6, 7, 8], [2, 4])
    allocate (part(2, merge(4, 0, rank == 0)))
    if (rank == 0) then
      call layout%relocate(whole, rows, part, buffer_bytes=1000)
      call check(all(part == whole), "one part")
    else
      call layout%relocate(to=rows, target=part, buffer_bytes=1000)
    end if
    if (rank == 0) whole = 0
    if (rank == 0) then
      call rows%relocate(part, layout, whole)
      call check(all(whole == part), "and back")
    else
      call rows%relocate(part, layout)
    end if
    call layout%destroy()

    ! The element (2, 3) alone, in a box of one element on all ranks
    call layout%mesh(world, [1, 1], [1], axes=[0])
    if (rank == 0) then
      call rows%relocate(part, layout, one, first=[2, 3])
      call check(one(1, 1) == 6, "one element")
    else
      call rows%relocate(part, layout, first=[2, 3])
    end if
    call rows%relocate(part, layout, one, first=[2, 5], stat=stat)
    call check(stat == SYNCYTE_ERR_SHAPE, "beyond the array")
    call rows%relocate(part, layout, one, first=[2], stat=stat)
    call check(stat == SYNCYTE_ERR_SHAPE, "a point of one dimension")
    call layout%destroy()
    call rows%destroy()
  end subroutine several_blocks_and_none

  !> Ghosts of cells and nodes, of which the second dimension is periodic; blocks are cut along the third.
  subroutine nodes_in_three_dimensions()
    integer, parameter :: g = 1
    type(syncyte_layout) :: cells, nodes
    type(syncyte_bundle) :: both
    type(syncyte_request) :: request
    integer(int64), allocatable :: extents(:), first(:), s(:)
    real(real64), allocatable, asynchronous :: of_cells(:, :, :), of_nodes(:, :, :), count(:, :, :)
    real(real64), allocatable :: expected(:, :, :)

    call cells%mesh(world, [3, 4, 2*ranks], ghosts=g)
    call nodes%like(cells, ghosts=g, shared=[3, 1, 2])
    call both%create(world)
    call cells%describe(rank, first=first, shape=s)
    allocate (of_cells(s(1), s(2), s(3)), expected(s(1), s(2), s(3)))
    extents = [3, 4, 2*ranks]
    call fill(of_cells, first, g, extents, .true.)
    call both%add('cells', cells, of_cells)
    call nodes%describe(rank, first=first, shape=s)
    allocate (of_nodes(s(1), s(2), s(3)), count(s(1), s(2), s(3)))
    call fill(of_nodes, first, g, extents + 1, .true.)
    call both%add('nodes', nodes, of_nodes)
    call both%iexchange(request, depth=1)
    call request%wait()
    call cells%describe(rank, first=first)
    call fill(expected, first, g, extents, .false.)
    call check(all(of_cells == expected), "ghosts of cells")
    deallocate (expected)
    allocate (expected(s(1), s(2), s(3)))
    call nodes%describe(rank, first=first)
    call fill(expected, first, g, extents + 1, .false.)
    call check(all(of_nodes == expected), "ghosts of nodes")

    count = 1
    call both%set_arrays('nodes', count)
    call both%isum(request, only=[.false., .true.])
    call request%wait()
    call check(all(count(2:s(1) - 1, 2:s(2) - 1, 2) == merge(2, 1, rank > 0)), "the lower border")
    call check(all(count(2:s(1) - 1, 2:s(2) - 1, s(3) - 1) == merge(2, 1, rank < ranks - 1)), "the upper border")
    call both%iaccumulate(request)
    call request%wait()
    call flags_in_bytes(cells)
    call both%destroy()
    call nodes%destroy()
    call cells%destroy()
  end subroutine nodes_in_three_dimensions

  !> A field of bool, whose elements are bytes in Fortran; then another array in its place.
  subroutine flags_in_bytes(cells)
    type(syncyte_layout), intent(in) :: cells
    type(syncyte_bundle) :: bundle
    integer(int8), allocatable, asynchronous :: flags(:, :, :), others(:, :, :)
    integer(int64), allocatable :: s(:)

    call cells%describe(rank, shape=s)
    allocate (flags(s(1), s(2), s(3)), others(s(1), s(2), s(3)), source=0_int8)
    others(2:s(1) - 1, 2:s(2) - 1, 2:s(3) - 1) = 1
    call bundle%create(world)
    call bundle%add('flags', cells, flags, dtype=SYNCYTE_BOOL)
    call bundle%set_arrays('flags', others)
    call bundle%exchange()
    call check(all(others(2, 2, [1_int64, s(3)]) == merge(1, 0, [rank > 0, rank < ranks - 1])), "flags in ghosts")
    call bundle%destroy()
  end subroutine flags_in_bytes

  !> Lists of any kind, in any order, and mistakes in them; rows that move.
  subroutine lists_and_rows()
    type(syncyte_layout) :: layout, columns
    integer(int8) :: points(3)
    integer(int64), allocatable :: extents(:), shape(:)
    real(real64) :: field(2, 3), back(2, 3)
    real(real64), allocatable :: strip(:, :)
    integer :: stat, i, n, sent(4)
    integer(int8) :: small
    character(len=200) :: message

    n = 3*ranks
    points = int([3*rank + 3, 3*rank + 1, 3*rank + 2], int8)
    call layout%indices(world, [2, n], points)
    call layout%describe(rank, extents=extents, shape=shape)
    call check(all(extents == [2, n]) .and. all(shape == [2, 3]), "described")
    field = reshape([(real(10*points(i), real64), real(10*points(i) + 1, real64), i=1, 3)], [2, 3])
    call columns%mesh(world, [2, n], axes=[1])
    call columns%describe(rank, shape=shape)
    allocate (strip(shape(1), shape(2)))
    call layout%relocate(field, columns, strip)
    if (shape(1) > 0) call check(all(nint(strip(1, :)) == [(10*i + merge(1, 0, ranks > 1 .and. rank == 1), i=1, n)]), "listed")
    call columns%relocate(strip, layout, back)
    call check(all(back == field), "and back")

    call layout%indices(world, [2, n], points, ghosts=1, stat=stat, errmsg=message)
    call check(stat == SYNCYTE_ERR_ARGUMENT .and. index(message, "only as a ghost") > 0, "a ghost of nobody's")
    if (rank == ranks - 1) points(2) = int(n + 1, int8)
    call layout%indices(world, [2, n], points, stat=stat, errmsg=message)
    call check(stat == SYNCYTE_ERR_ARGUMENT .and. index(message, "points") > 0, "beyond the mesh")

    small = 0
    sent = rank
    call world%relocate_rows(sent(1:3), small, field)
    call check(small == 3 .and. all(field == back), "all stay")
    sent(2) = SYNCYTE_PROC_NULL
    call world%relocate_rows(sent(1:3), n, field)
    call check(n == 2 .and. all(field(:, 2) == back(:, 3)), "one is gone")
    call world%relocate_rows(sent, n, field, stat=stat, errmsg=message)
    call check(stat == SYNCYTE_ERR_SHAPE .and. index(message, "4 rows or more") > 0, "too few rows")
    call world%relocate_rows([1.0], n, field, stat=stat, errmsg=message)
    call check(stat == SYNCYTE_ERR_TYPE .and. index(message, "destinations") > 0, "no ranks")
    call layout%destroy()
    call columns%destroy()
  end subroutine lists_and_rows

  subroutine mistakes()
    type(syncyte_layout) :: cells, other
    type(syncyte_bundle) :: bundle
    real(real64), asynchronous :: field(3, 4), short(3, 3)
    logical, asynchronous :: flags(3, 4)
    integer :: stat
    character(len=300) :: errmsg

    call cells%mesh(world, [3, 4*ranks], shared=[1, 1], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "each dimension once", "a dimension twice")
    call cells%mesh(world, [3, 4*ranks], periodic=[3], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "expected a dimension, 1 to 2", "no such dimension")
    call cells%mesh(world, [3, 4*ranks], ghosts=[1, 1, 1], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "one for each dimension", "too many widths")
    call cells%mesh(world, [3, 4*ranks], lengths=[4], axes=[0], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "one for each part", "lengths")
    call cells%mesh(world, [3, 4*ranks], axes=[4], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "axes(1) is 4; expected a dimension of the array, or 0", "axes")
    call cells%blocks(world, [3, 4*ranks], [1, 4*rank + 1], [3], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "expected 2 for each block", "counts")
    call cells%blocks(world, [3, 4*ranks], [1, 4*rank + 1], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "as many as first", "no counts")
    call cells%blocks(world, [3, 4*ranks], [1, 1], [3, 4*ranks - 1], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "no rank has the others", "a hole")
    call cells%blocks(world, [3, 4*ranks], [0, 4*rank + 1], [3, 4], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "first(1) is 0; expected 1 or more", "counted from 0")
    call cells%mesh(world, [3, 4*ranks], [ranks, 2], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "the ranks", "more places than ranks")
    call check(cells%is_null(), "nothing was made")

    call cells%blocks(world, [3, 4*ranks], [1, 4*rank + 1], [3, 4])
    call other%like(cells, shared=[0], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "shared(1) is 0", "no flags")
    call other%like(cells, shared=[2])
    call bundle%create(world)
    call bundle%add('field', cells, short, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "expected", "another shape")
    call bundle%add('field', other, field, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "with the points that neighbours store too", "cells as nodes")
    call bundle%add('field', cells, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "dtype is absent", "no type")
    if (rank == ranks - 1) then
      call bundle%add('field', cells, flags, stat=stat, errmsg=errmsg)
    else
      call bundle%add('field', cells, field, stat=stat, errmsg=errmsg)
    end if
    call check_error(stat, int(SYNCYTE_ERR_TYPE), errmsg, "a type that Syncyte does not have", "logicals on one rank")
    call bundle%add('field', cells, field)
    call bundle%set_arrays('other', field, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "a field of the bundle", "another name")
    call bundle%exchange(only=[.true., .true.], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "one for each field", "a longer mask")
    call bundle%accumulate(depth=1, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "depth is 1; expected 0 to 0", "no ghosts")
    call cells%relocate(field, other, stat=stat, errmsg=errmsg)
    call check(stat /= 0, "other extents, and no target")
    call cells%relocate(field, cells, field, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "separate memory", "the same memory")
    call cells%relocate(to=cells, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "dtype is absent", "no array at all")
    call bundle%sum()
    call bundle%destroy()
    call cells%destroy()
    call other%destroy()
  end subroutine mistakes
end program test_layout
