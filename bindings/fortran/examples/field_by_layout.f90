! SPDX-License-Identifier: BSD-3-Clause
!> A field that solvers publish from their blocks, and a rank that knows nothing but its name: it takes the newest
!> version, and answers.
!> Run: mpirun -np 3 ./field_by_layout
program field_by_layout
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  implicit none
  integer, parameter :: nx = 6, rows = 2, steps = 3
  type(syncyte_comm) :: world, solvers
  type(syncyte_layout) :: cells, cut
  type(syncyte_tensor) :: live, answer
  real(real64) :: density(-1:nx + 2, -1:rows + 2)  ! a block of the solver's own, with two ghosts at each end
  real(real64), pointer, asynchronous :: mine(:, :)
  real(real64) :: columns(2, rows), found(1)
  integer(int64), allocatable :: extents(:)
  integer :: bottom, last, step, newest
  logical :: solves, late

  call syncyte_init()
  call world%from_world()
  last = max(world%size() - 1, 1)                  ! number of solvers
  solves = world%rank() < last
  call world%split(merge(0, 1, solves), 0, solvers)
  if (solves) then
    bottom = rows*solvers%rank()
    call cells%blocks(solvers, whole=[nx, rows*solvers%size()], first=[1, bottom + 1], count=[nx, rows], ghosts=2)
    call live%create_by_layout(world, SYNCYTE_FLOAT64, cells, slots=2, name='density')
    call answer%create_by_layout(world, SYNCYTE_FLOAT64, cells, name='answer')
    call cells%destroy()
  else
    call live%open(world, 'density')
    call answer%open(world, 'answer')
  end if

  ! each solver publishes its block; nobody waits for the other rank
  if (solves) then
    do step = 1, steps
      density = -1
      density(1:nx, 1:rows) = 100*step + solvers%rank()
      call live%publish(density, step)
    end do
    call answer%local(mine)                        ! the block itself, without ghosts
    mine = solvers%rank() + 1
  end if

  ! any rank takes a box of one version: columns 3 and 4 of the last solver's block
  call live%layout(cut)
  call cut%describe(0, extents=extents)
  call live%take([3, int(extents(2)) - rows + 1], columns, at_least=steps, step=newest)
  if (newest /= steps .or. any(nint(columns) /= 100*steps + last - 1)) error stop 'the newest version'
  call live%take([1, 1], found, at_least=steps + 1, timeout=0d0, timed_out=late)
  if (.not. late) error stop 'there is no newer one'

  ! a tensor without slots is read and written in place
  call answer%sync()
  call answer%get_box([3, int(extents(2)) - rows + 1], columns)
  if (any(nint(columns) /= last)) error stop "the last solver's block"

  ! it is cut anew: the last rank has all rows. Pointers to its old memory, such as mine, are not used any more
  call answer%relocate(local_rows=merge(answer%extent(2), 0_int64, world%rank() == world%size() - 1))
  call answer%get_box([3, int(extents(2)) - rows + 1], columns)
  if (any(nint(columns) /= last)) error stop 'relocated'
  call answer%sync()
  call cut%destroy()
  call answer%destroy()
  call live%destroy()
  call solvers%destroy()
  call world%destroy()
  call syncyte_finalize()
end program field_by_layout
