! SPDX-License-Identifier: BSD-3-Clause
!> The part of the grid that one rank computes: a strip of whole rows with two ghost rows and columns on each side. A
!> layout says so, from which everything else follows that other ranks must know.
module tsunami_grid
  use mpi_f08, only: MPI_Comm, MPI_Comm_rank, MPI_Comm_size, MPI_PROC_NULL
  use syncyte, only: syncyte_bundle, syncyte_comm, syncyte_layout
  use tsunami_bathymetry, only: bathymetry_t
  use tsunami_kinds, only: wp
  implicit none
  private
  public :: grid_t, state_t, make_grid, make_state, set_at_rest, free_grid, free_state, halo

  integer, parameter :: halo = 2  !< ghost rows and columns, what second-order reconstruction needs

  type :: grid_t
    integer :: nx = 0, ny = 0           !< cells of the whole domain
    integer :: first = 1, last = 0      !< this rank's rows
    real(wp) :: dx = 0, dy = 0          !< metres
    logical :: walls = .false.          !< reflecting walls; otherwise open sea at rest outside
    type(MPI_Comm) :: comm              !< the solver's ranks
    integer :: rank = 0, ranks = 1
    integer :: south = MPI_PROC_NULL, north = MPI_PROC_NULL  !< ranks that own the neighbouring strips
    type(syncyte_comm) :: strips        !< the solver's ranks
    type(syncyte_layout) :: rows        !< strips with ghost rows; ghost columns count as cells
    real(wp), allocatable :: bed(:, :)  !< (1-halo:nx+halo, first-halo:last+halo), metres above the sea
  end type grid_t

  !> Depth in metres and momenta (depth times velocity) in m^2/s, bounds as the grid's bed.
  type :: state_t
    real(wp), allocatable :: h(:, :), hu(:, :), hv(:, :)
    type(syncyte_bundle) :: fields      !< all three: one message to each neighbour fills their ghost rows
  end type state_t

contains

  !> Cuts the domain into strips of nearly equal height. Collective over comm, after syncyte_init; error is the same on
  !> all ranks.
  subroutine make_grid(bathymetry, comm, walls, grid, error)
    type(bathymetry_t), intent(in) :: bathymetry
    type(MPI_Comm), intent(in) :: comm
    logical, intent(in) :: walls
    type(grid_t), intent(out) :: grid
    character(len=:), allocatable, intent(out) :: error
    integer :: rows, rest

    error = ''
    grid%comm = comm
    grid%nx = bathymetry%nx
    grid%ny = bathymetry%ny
    grid%dx = bathymetry%dx
    grid%dy = bathymetry%dy
    grid%walls = walls
    call MPI_Comm_rank(comm, grid%rank)
    call MPI_Comm_size(comm, grid%ranks)
    rows = grid%ny/grid%ranks
    rest = modulo(grid%ny, grid%ranks)
    if (rows < halo) then
      error = 'grid: too many solver ranks; every rank needs at least 2 rows of the grid'
      return
    end if
    grid%first = 1 + grid%rank*rows + min(grid%rank, rest)
    grid%last = grid%first + rows - 1 + merge(1, 0, grid%rank < rest)
    if (grid%rank > 0) grid%south = grid%rank - 1
    if (grid%rank < grid%ranks - 1) grid%north = grid%rank + 1
    call cut_bed(bathymetry, grid)
    call grid%strips%from_mpi(comm, name='strips')
    call grid%rows%blocks(grid%strips, whole=[grid%nx + 2*halo, grid%ny], first=[1, grid%first], &
                          count=[grid%nx + 2*halo, grid%last - grid%first + 1], ghosts=[0, halo])
  end subroutine make_grid

  subroutine free_grid(grid)
    type(grid_t), intent(inout) :: grid

    call grid%rows%destroy()
    call grid%strips%destroy()
  end subroutine free_grid

  subroutine cut_bed(bathymetry, grid)
    type(bathymetry_t), intent(in) :: bathymetry
    type(grid_t), intent(inout) :: grid
    integer :: i, j

    allocate (grid%bed(1 - halo:grid%nx + halo, grid%first - halo:grid%last + halo))
    do j = lbound(grid%bed, 2), ubound(grid%bed, 2)
      do i = lbound(grid%bed, 1), ubound(grid%bed, 1)
        grid%bed(i, j) = bathymetry%bed(inside(i, grid%nx, grid%walls), inside(j, grid%ny, grid%walls))
      end do
    end do
  end subroutine cut_bed

  !> Index of the cell whose bed a ghost cell copies: the mirror image at walls, the nearest cell otherwise.
  pure integer function inside(i, n, walls)
    integer, intent(in) :: i, n
    logical, intent(in) :: walls

    inside = i
    if (walls .and. i < 1) inside = 1 - i
    if (walls .and. i > n) inside = 2*n + 1 - i
    inside = min(max(inside, 1), n)
  end function inside

  !> Allocates a state at rest. Collective over the grid's ranks.
  subroutine make_state(grid, state)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(out), target :: state

    allocate (state%h, mold=grid%bed)
    allocate (state%hu, mold=grid%bed)
    allocate (state%hv, mold=grid%bed)
    call set_at_rest(grid, state)
    call state%fields%create(grid%strips)
    call state%fields%add('h', grid%rows, state%h)
    call state%fields%add('hu', grid%rows, state%hu)
    call state%fields%add('hv', grid%rows, state%hv)
  end subroutine make_state

  subroutine free_state(state)
    type(state_t), intent(inout) :: state

    call state%fields%destroy()
    deallocate (state%h, state%hu, state%hv)
  end subroutine free_state

  subroutine set_at_rest(grid, state)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(inout) :: state

    state%h = max(0.0_wp, -grid%bed)
    state%hu = 0
    state%hv = 0
  end subroutine set_at_rest
end module tsunami_grid
