! SPDX-License-Identifier: BSD-3-Clause
!> A staggered grid: each rank says once which block of the grid it has. One bundle fills the ghosts of all fields and
!> adds what neighbours give to the nodes between them; then the density moves to another cut.
!> Run: mpirun -np 3 ./grid
program grid_example
  use, intrinsic :: iso_fortran_env, only: real32, real64, int64
  use syncyte
  implicit none
  integer, parameter :: nx = 6, rows = 4                   ! cells: a rank has all nx columns and 4 rows
  type(syncyte_comm) :: world
  type(syncyte_layout) :: cells, nodes, columns
  type(syncyte_bundle) :: all
  type(syncyte_request) :: request
  integer :: bottom, ny, i, j
  integer(int64), allocatable :: extents(:), first(:), shape(:)
  real(real64), asynchronous :: density(-1:nx + 2, -1:rows + 2)    ! two ghosts at each end
  real(real32), asynchronous :: force(0:nx, 0:rows)                ! nodes: one more than cells
  real(real64), allocatable :: strip(:, :)
  real(real64) :: back(-1:nx + 2, -1:rows + 2)

  call syncyte_init()
  call world%from_world()
  ny = rows*world%size()
  bottom = rows*world%rank()

  ! This rank's block of the grid: its first cell, and how many; and the nodes of the same blocks
  call cells%blocks(world, whole=[nx, ny], first=[1, bottom + 1], count=[nx, rows], ghosts=2)
  call nodes%like(cells, shared=[1, 2])
  call nodes%describe(world%rank(), extents=extents, first=first, shape=shape)
  if (any(extents /= [nx + 1, ny + 1])) error stop "one node more than cells"
  if (any(first /= [1, bottom + 1]) .or. any(shape /= [nx + 1, rows + 1])) error stop "the nodes of the block"

  density = -1
  do j = 1, rows
    do i = 1, nx
      density(i, j) = i + 100*(bottom + j)
    end do
  end do
  force = 1

  call all%create(world)
  call all%add('density', cells, density)
  call all%add('force', nodes, force)
  call all%exchange(depth=1, only=[.true., .false.])
  if (world%rank() > 0) then
    if (nint(density(3, 0)) /= 3 + 100*bottom .or. nint(density(3, -1)) /= -1) error stop "one row of ghosts"
  end if
  call all%iexchange(request)
  call request%wait()
  if (world%rank() > 0 .and. nint(density(3, -1)) /= 3 + 100*(bottom - 1)) error stop "both rows"
  if (nint(density(0, 1)) /= -1) error stop "ghosts beyond the edge are left alone"

  call all%sum(only=[.false., .true.])                     ! forces at the nodes between two ranks
  if (nint(force(2, 0)) /= merge(2, 1, world%rank() > 0)) error stop "the lower border"
  if (nint(force(2, rows)) /= merge(2, 1, world%rank() < world%size() - 1)) error stop "the upper border"
  call all%accumulate(only=[.true., .false.])              ! the adjoint of exchange

  ! From rows to columns: the same array, cut along its first dimension
  call columns%mesh(world, [nx, ny], axes=[1])
  call columns%describe(world%rank(), first=first, shape=shape)
  allocate (strip(shape(1), shape(2)))
  do j = 1, rows
    do i = 1, nx
      density(i, j) = i + 100*(bottom + j)
    end do
  end do
  call cells%relocate(density, columns, strip)
  call cells%relocate_adjoint(strip, columns, back)  ! each element was read once
  if (any(back(1:nx, 1:rows) /= density(1:nx, 1:rows))) error stop "sent back"
  do j = 1, int(shape(2))
    do i = 1, int(shape(1))
      if (nint(strip(i, j)) /= first(1) + i - 1 + 100*j) error stop "every column"
    end do
  end do

  call all%destroy()
  call columns%destroy()
  call nodes%destroy()
  call cells%destroy()
  if (.not. (all%is_null() .and. cells%is_null())) error stop "destroyed"
  call world%destroy()
  call syncyte_finalize()
end program grid_example
