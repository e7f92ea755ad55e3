! SPDX-License-Identifier: BSD-3-Clause
!> Nodes between cells: two neighbours share the node on their border; it is a ghost of the lower rank.
!> Run: mpirun -np 3 ./halo_of_nodes
program halo_of_nodes
  use, intrinsic :: iso_fortran_env, only: real64
  use syncyte
  implicit none
  integer, parameter :: n = 4                              ! cells of a rank
  type(syncyte_comm) :: world, line
  type(syncyte_halo) :: halo
  real(real64), allocatable, asynchronous :: nodes(:)
  integer :: i, first, owned

  call syncyte_init()
  call world%from_world()
  call world%cartesian(line, [0], [.false.])
  owned = n
  if (line%rank() == line%size() - 1) owned = n + 1        ! the last node of all
  allocate (nodes(0:owned + 2))                            ! a ghost, nodes of this rank, the node on the border, a ghost
  call halo%create(line, nodes, low=[1], high=[2])         ! one more than for cells: the border's node
  first = n*line%rank()

  ! exchange: the next rank owns the border node and sends it, with the one after it
  nodes = -1
  nodes(1:owned) = [(real(first + i, real64), i=0, owned - 1)]
  call halo%exchange(nodes)
  if (any(nint(nodes(1:n + 1)) /= [(first + i, i=0, n)])) error stop "the border's node comes from the next rank"
  if (line%rank() > 0 .and. nint(nodes(0)) /= first - 1) error stop "the node before the border"
  if (line%rank() < line%size() - 1 .and. nint(nodes(n + 2)) /= first + n + 1) error stop "the node after the border"

  ! Each cell adds 0.5 to both its nodes. accumulate gives each owner the sum; exchange sends it back
  nodes = 0
  nodes(1:n) = nodes(1:n) + 0.5_real64
  nodes(2:n + 1) = nodes(2:n + 1) + 0.5_real64
  call halo%accumulate(nodes)
  call halo%exchange(nodes)
  if (any(nint(2*nodes(2:n)) /= 2)) error stop "inner nodes have two cells"
  if (line%rank() > 0 .and. nint(2*nodes(1)) /= 2) error stop "so do nodes on a border"
  if (line%rank() == 0 .and. nint(2*nodes(1)) /= 1) error stop "the first node has one"
  if (line%rank() < line%size() - 1 .and. nint(2*nodes(n + 1)) /= 2) error stop "the lower rank sees the sum"

  call halo%destroy()
  call line%destroy()
  call world%destroy()
  call syncyte_finalize()
end program halo_of_nodes
