! SPDX-License-Identifier: BSD-3-Clause
!> Cartesian communicators and halo exchange, against the cells of the whole array; the adjoint by <H x, y> = <x, H' y>;
!> mistakes of one rank.
program test_halo
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world, ring
  integer :: rank, ranks, below, above

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  call world%cartesian(ring, [0], [.true.])
  call ring%shift(1, 1, below, above)
  call grids()
  call wrong_grids()
  call vectors()
  call matrices()
  call last_dimension_of_four()
  call starts()
  call adjoint()
  call neighbors()
  call mistakes()
  call ring%destroy()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()

contains

  subroutine neighbors()
    real(real64) :: blocks(3, 2), got(3, 2)
    integer :: stat
    character(len=200) :: errmsg

    blocks(:, 1) = rank
    blocks(:, 2) = 100 + rank
    call ring%neighbor_alltoall(blocks, got)
    call check(all(got(:, 1) == 100 + below) .and. all(got(:, 2) == above), "blocks of the neighbours")
    call ring%neighbor_alltoall(blocks(1:3:2, :), got(1:3:2, :))
    call check(all(got(1:3:2, 1) == 100 + below), "sections")
    call world%neighbor_alltoall(blocks, got, stat, errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "not Cartesian", "no grid")
  end subroutine neighbors

  !> The first coordinate changes fastest.
  subroutine grids()
    type(syncyte_comm) :: cart
    integer, allocatable :: extents(:), place(:)
    logical, allocatable :: periodic(:)
    integer :: source, dest, total

    call world%cartesian(cart, [0, 1, 0], [.true., .false., .false.], name="grid")
    call check_equal(cart%ndim(), 3, "dimensions")
    call check_equal(world%ndim(), 0, "of the world")
    call cart%grid(extents, periodic)
    call check_equal(product(extents), ranks, "places")
    call check_equal(extents(2), 1, "the second extent")
    call check(all(periodic .eqv. [.true., .false., .false.]), "periods")
    call cart%coords(place)
    call check_equal(place(1) + extents(1)*(place(2) + extents(2)*place(3)), rank, "order of ranks")
    call check_equal(cart%rank_at(place), rank, "rank at its place")
    call cart%coords(place, ranks - 1)
    call check(all(place == extents - 1), "the last rank's place")
    call check_equal(cart%rank_at([extents(1), 0, 0]), 0, "wrapped round")
    call check_equal(cart%rank_at([0, 1, 0]), int(SYNCYTE_PROC_NULL), "beyond the edge")
    call cart%shift(2, 1, source, dest)
    call check_equal(dest, int(SYNCYTE_PROC_NULL), "nobody above")
    call cart%shift(1, 1, source, dest)
    call cart%coords(place)
    call check_equal(dest, cart%rank_at(place + [1, 0, 0]), "above")
    call check_equal(source, cart%rank_at(place - [1, 0, 0]), "below")
    total = 1
    call cart%allreduce(total, SYNCYTE_OP_SUM)
    call check_equal(total, ranks, "sum on the grid")
    call world%cartesian(cart, [1])
    call check(cart%is_null() .neqv. rank == 0, "only rank 0 has a place")
    call cart%destroy()
  end subroutine grids

  subroutine wrong_grids()
    type(syncyte_comm) :: cart
    integer :: stat
    character(len=300) :: errmsg

    call world%cartesian(cart, [ranks + 1], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "; expected at most ", "too many places")
    call world%cartesian(cart, [0, 0], [.true.], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "periods is of ", "periods")
    call world%shift(1, 1, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "not Cartesian", "shift of the world")
    call ring%shift(0, 1, stat=stat, errmsg=errmsg)
    call check(index(errmsg, "dim is 0; expected 1 to 1") > 0, "shift: "//trim(errmsg))
    call check_equal(stat, int(SYNCYTE_ERR_ARGUMENT), "dimension 0")
  end subroutine wrong_grids

  !> A vector with one ghost cell before and two after, which is a section of every second element.
  subroutine vectors()
    type(syncyte_halo) :: halo
    integer :: cells(12), i

    cells = -1
    cells(1:12:2) = [(100*rank + i, i=1, 6)]
    call halo%create(ring, cells(1:12:2), low=1, high=[2])
    call halo%exchange(cells(1:12:2))
    call check(all(cells(1:12:2) == [100*below + 4, 100*rank + 2, 100*rank + 3, 100*rank + 4, &
                                     100*above + 2, 100*above + 3]), "ghosts of a vector")
    call check(all(cells(2:12:2) == -1), "between them")
    call halo%accumulate(cells(1:12:2))
    call check(all(cells(1:12:2) == [0, 2*(100*rank + 2), 2*(100*rank + 3), 2*(100*rank + 4), 0, 0]), &
               "ghosts of a vector given back")
    call halo%destroy()
    call check(halo%is_null(), "destroyed")
  end subroutine vectors

  !> A matrix whose cells have their place in the whole matrix as value. The grid's first dimension cuts the matrix's
  !> first dimension.
  subroutine matrices()
    type(syncyte_comm) :: cart
    type(syncyte_halo) :: halo
    integer, parameter :: nx = 3, ny = 2
    real(real64) :: field(0:nx + 1, 0:ny + 1)
    integer, allocatable :: extents(:), place(:)
    integer :: i, j, k, column, row
    real(real64) :: expected
    logical :: corners

    call world%cartesian(cart, [0, 0], [.true., .false.])
    call cart%grid(extents)
    call cart%coords(place)
    do i = 1, 2
      corners = i == 1
      field = -1
      field(1:nx, 1:ny) = cells([nx, ny], place, [nx, ny])
      call halo%create(cart, field, low=[1, 1], corners=corners)
      call halo%exchange(field)
      do j = 0, ny + 1
        row = place(2)*ny + j
        do k = 0, nx + 1
          column = modulo(place(1)*nx + k - 1, nx*extents(1)) + 1
          expected = 100*row + column
          if (row < 1 .or. row > ny*extents(2)) expected = -1
          if (.not. corners .and. (j < 1 .or. j > ny) .and. (k < 1 .or. k > nx)) expected = -1
          call check_equal(field(k, j), expected, "a cell of a matrix")
        end do
      end do
    end do
    call halo%destroy()
    call cart%destroy()
  end subroutine matrices

  !> Sets the cells of a part to 100 row + column.
  function cells(extents, place, parts) result(part)
    integer, intent(in) :: extents(2), place(2), parts(2)
    real(real64) :: part(extents(1), extents(2))
    integer :: i, j

    do j = 1, extents(2)
      do i = 1, extents(1)
        part(i, j) = 100*(place(2)*parts(2) + j) + place(1)*parts(1) + i
      end do
    end do
  end function cells

  !> Without axes a grid of one dimension cuts the last dimension; axes can name any other one.
  subroutine last_dimension_of_four()
    type(syncyte_halo) :: halo
    complex(real32) :: a(2, 3, 2, 4), b(2, 5, 2, 2)

    a = rank
    call halo%create(ring, a, low=1)
    call halo%exchange(a)
    call check(all(nint(real(a(:, :, :, 1))) == below), "below in the last dimension")
    call check(all(nint(real(a(:, :, :, 4))) == above), "above in the last dimension")
    call check(all(nint(real(a(:, :, :, 2:3))) == rank), "the interior")
    b = rank
    call halo%create(ring, b, low=2, high=0, axes=[2])
    call halo%exchange(b)
    call check(all(nint(real(b(:, 1:2, :, :))) == below), "below in the second dimension")
    call check(all(nint(real(b(:, 3:, :, :))) == rank), "the rest")
    call halo%destroy()
  end subroutine last_dimension_of_four

  subroutine starts()
    type(syncyte_halo) :: halo
    type(syncyte_request) :: request
    integer, asynchronous :: a(4)
    integer :: stat
    logical :: done

    a = [0, rank, rank, 0]
    call halo%create(ring, a, low=1)
    call halo%iexchange(a, request)
    call halo%exchange(a, stat=stat)
    call check_equal(stat, int(SYNCYTE_ERR_BUSY), "a second one at the same time")
    call request%wait()
    call check(all(a == [below, rank, rank, above]), "started exchange")
    call halo%iaccumulate(a, request)
    done = .false.
    do while (.not. done)
      call request%test(done)
    end do
    call check(all(a == [0, 2*rank, 2*rank, 0]), "started accumulate")
    call halo%destroy()
  end subroutine starts

  !> <H x, y> = <x, H' y> for whole numbers, on a matrix with ghost cells of different widths.
  subroutine adjoint()
    type(syncyte_comm) :: cart
    type(syncyte_halo) :: halo
    integer(int64) :: x(7, 6), y(7, 6), hx(7, 6), hy(7, 6), products(2)
    integer :: i

    call world%cartesian(cart, [0, 0], [.false., .true.])
    call halo%create(cart, x, low=[2, 0], high=[1, 2])
    x = reshape([(mod(int(i, int64)*7919_int64 + 31*rank, 19_int64) - 9, i=1, size(x))], shape(x))
    y = reshape([(mod(int(i, int64)*104729_int64 + 17*rank, 23_int64) - 11, i=1, size(y))], shape(y))
    hx = x
    hy = y
    call halo%exchange(hx)
    call halo%accumulate(hy)
    products = [sum(hx*y), sum(x*hy)]
    call world%allreduce(products, SYNCYTE_OP_SUM)
    call check_equal(products(1), products(2), "the adjoint identity")
    call check(any(hx /= x) .or. ranks < 1, "something was exchanged")
    call halo%destroy()
    call cart%destroy()
  end subroutine adjoint

  subroutine mistakes()
    type(syncyte_halo) :: halo
    integer :: a(4), b(5), stat
    real :: c(4)
    character(len=300) :: errmsg

    call halo%create(world, a, low=1, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_ARGUMENT), errmsg, "not Cartesian", "the world")
    call halo%create(ring, a, low=[1, 1], stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "low is of 2 entries; expected 1, one for each", "widths")
    call halo%create(ring, a, low=merge(9, 1, rank == 0), stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "dimension 1 of shape is 4", "too wide on one rank")
    call halo%create(ring, a, low=1, axes=[3], stat=stat)
    call check_equal(stat, int(SYNCYTE_ERR_ARGUMENT), "axes")
    call check(halo%is_null(), "nothing was made")
    call halo%create(ring, a, low=1)
    b = 0
    c = 0
    call halo%exchange(b, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_SHAPE), errmsg, "expected [4]", "another shape")
    call halo%exchange(c, stat=stat, errmsg=errmsg)
    call check_error(stat, int(SYNCYTE_ERR_TYPE), errmsg, "float32", "another type")
    call halo%destroy()
  end subroutine mistakes

end program test_halo
