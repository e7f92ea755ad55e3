! SPDX-License-Identifier: BSD-3-Clause
!> A mesh without structure, of which each rank lists its points, and particles that go from rank to rank.
!> Run: mpirun -np 3 ./mesh_and_particles
program mesh_and_particles
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use syncyte
  implicit none
  integer, parameter :: room = 100
  type(syncyte_comm) :: world
  type(syncyte_layout) :: vertices, cells, rows
  type(syncyte_bundle) :: mesh
  real(real64), asynchronous :: mass(5)
  real(real64), asynchronous :: velocity(2, 6)
  real(real64), allocatable :: all_of_it(:)
  real(real32) :: position(room), speed(3, room)
  integer(int64) :: number(room)
  integer :: to(room), rank, ranks, n, i, count, next

  call syncyte_init()
  call world%from_world()
  rank = world%rank()
  ranks = world%size()
  next = mod(rank + 1, ranks)

  ! A ring of 4 vertices on each rank, and the first one of the next rank: each edge adds mass to its two vertices.
  n = 4*ranks
  call vertices%indices(world, whole=[n], points=[(4*rank + i, i=1, 4), 4*next + 1])
  mass = [1, 2, 2, 2, 1]
  call mesh%create(world)
  call mesh%add('mass', vertices, mass)

  ! Two numbers for each cell: 4 cells, and as ghosts the last one of the rank before and the first one of the next.
  call cells%indices(world, whole=[2, n], points=[(4*rank + i, i=1, 4), 4*mod(rank + ranks - 1, ranks) + 4, 4*next + 1], &
                     ghosts=2)
  velocity = -1
  velocity(1, 1:4) = [(4*rank + i, i=1, 4)]
  velocity(2, 1:4) = rank
  call mesh%add('velocity', cells, velocity)

  call mesh%sum(only=[.true., .false.])
  if (any(nint(mass) /= 2)) error stop "each vertex has two edges"
  call mesh%exchange()
  if (nint(velocity(1, 6)) /= 4*next + 1 .or. nint(velocity(2, 6)) /= next) error stop "ghosts"

  ! The whole ring in the order of its numbers, on rank 0
  call rows%mesh(world, [n], mesh=[1])
  if (rank == 0) then
    allocate (all_of_it(n))
    call vertices%relocate(mass, rows, all_of_it)
    if (any(nint(all_of_it) /= 2)) error stop "collected"
  else
    call vertices%relocate(mass, rows)
  end if

  ! Particles: a rank has space from its number to the next one. Those beyond the last one are lost.
  count = 10
  position(1:count) = [(rank + i*0.1 - 0.05, i=1, count)]
  speed(:, 1:count) = 0.5
  number(1:count) = [(100*rank + i, i=1, count)]
  do i = 1, count
    position(i) = position(i) + speed(1, i)
    to(i) = int(position(i))
    if (to(i) == ranks) to(i) = SYNCYTE_PROC_NULL
  end do
  call world%relocate_rows(to(1:count), count, position, speed, number)
  if (count /= merge(5, 10, rank == 0)) error stop "half of them, and half of those of the rank before"
  if (any(int(position(1:count)) /= rank)) error stop "in this rank's space"
  if (any(number(1:5) /= [(100*rank + i, i=1, 5)])) error stop "those that stay are first"
  if (rank > 0 .and. any(number(6:count) /= [(100*(rank - 1) + i, i=6, 10)])) error stop "then the others"

  call mesh%destroy()
  call rows%destroy()
  call cells%destroy()
  call vertices%destroy()
  call world%destroy()
  call syncyte_finalize()
end program mesh_and_particles
