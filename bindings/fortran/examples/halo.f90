! SPDX-License-Identifier: BSD-3-Clause
!> Heat that spreads on a ring of cells over the ranks: ghost cells by halo exchange, and the adjoint of a step.
!> Run: mpirun -np 3 ./halo
program halo_example
  use, intrinsic :: iso_fortran_env, only: real64
  use syncyte
  implicit none
  integer, parameter :: nx = 8, ny = 6
  type(syncyte_comm) :: world, cart
  type(syncyte_halo) :: halo
  type(syncyte_request) :: request
  integer, allocatable :: extents(:), place(:)
  logical, allocatable :: periodic(:)
  real(real64), asynchronous :: heat(0:nx + 1, 0:ny + 1)   ! one ghost cell at each end
  real(real64) :: next(nx, ny), total, before
  integer :: step, left, right, mine(4), theirs(4)

  call syncyte_init()
  call world%from_world()

  ! All ranks along the second dimension, periodic in both
  call world%cartesian(cart, [1, 0], [.true., .true.])
  call cart%grid(extents, periodic)
  if (size(extents) /= cart%ndim()) error stop "the grid has two dimensions"
  if (product(extents) /= world%size()) error stop "every rank has a place"
  if (.not. all(periodic)) error stop "both dimensions are periodic"
  call cart%coords(place)                             ! from 0
  if (cart%rank_at(place + [1, 0]) /= cart%rank()) error stop "the first dimension has one place and wraps round"
  call cart%shift(2, 1, source=left, dest=right)           ! neighbours along the second dimension

  mine = cart%rank()
  call cart%neighbor_alltoall(mine, theirs)                ! below and above along each dimension, the last one first
  if (any(theirs(1:2) /= [left, right])) error stop "every neighbour has sent its rank"

  call halo%create(cart, heat, low=1)                      ! collective; for arrays of this type and shape
  heat = 0
  if (cart%rank() == 0) heat(nx/2, ny/2) = 1
  before = sum(heat(1:nx, 1:ny))
  call cart%allreduce(before, SYNCYTE_OP_SUM)
  do step = 1, 20
    if (mod(step, 2) == 0) then
      call halo%exchange(heat)                             ! between neighbours only
    else
      call halo%iexchange(heat, request)              ! while it is in flight the interior may be read
      call request%wait()
    end if
    next = 0.2_real64*(heat(1:nx, 1:ny) + heat(0:nx - 1, 1:ny) + heat(2:nx + 1, 1:ny) &
                       + heat(1:nx, 0:ny - 1) + heat(1:nx, 2:ny + 1))
    heat(1:nx, 1:ny) = next
  end do
  total = sum(heat(1:nx, 1:ny))
  call cart%allreduce(total, SYNCYTE_OP_SUM)
  if (abs(total - before) > 1.0e-12_real64) error stop "heat was lost"

  ! The adjoint of an exchange: what lies in ghosts is added to the cells they show
  heat = 1
  call halo%accumulate(heat)
  if (nint(sum(heat)) /= (nx + 2)*(ny + 2)) error stop "accumulate moves, and loses nothing"
  call halo%iaccumulate(heat, request)
  call request%wait()
  call halo%destroy()
  if (.not. halo%is_null()) error stop "destroyed"
  call cart%destroy()
  call world%destroy()
  call syncyte_finalize()
end program halo_example
