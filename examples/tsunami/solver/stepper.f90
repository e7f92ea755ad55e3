! SPDX-License-Identifier: BSD-3-Clause
!> Time stepping: Heun's method (two stages, strong-stability preserving) with a CFL-limited step.
module tsunami_stepper
  use mpi_f08, only: MPI_Allreduce, MPI_DOUBLE_PRECISION, MPI_IN_PLACE, MPI_MAX
  use tsunami_flux, only: face_fluxes
  use tsunami_grid, only: grid_t, make_state, state_t
  use tsunami_halo, only: fill_ghosts
  use tsunami_kinds, only: dry_depth, gravity, wp
  use tsunami_reconstruction, only: make_side, reconstruct, side_t
  implicit none
  private
  public :: workspace_t, make_workspace, advance, largest_step

  !> Arrays that the steps re-use.
  type :: workspace_t
    type(state_t) :: stage                                      !< result of the first stage
    type(state_t) :: rate                                       !< time derivatives; ghost cells unused
    real(wp), allocatable :: surface(:, :), u(:, :), v(:, :)    !< of all cells, ghosts included
    type(side_t) :: west, east                                  !< of one row, columns 0 to nx + 1
    type(side_t) :: south(0:1), north(0:1)                      !< of two rows in turn, columns 1 to nx
    real(wp), allocatable :: flux(:, :)                         !< mass, left, right, along of one row's faces
  end type workspace_t

contains

  subroutine make_workspace(grid, work)
    type(grid_t), intent(in) :: grid
    type(workspace_t), intent(out) :: work
    integer :: k

    call make_state(grid, work%stage)
    allocate (work%rate%h, mold=grid%bed)
    allocate (work%rate%hu, mold=grid%bed)
    allocate (work%rate%hv, mold=grid%bed)
    allocate (work%surface, mold=grid%bed)
    allocate (work%u, mold=grid%bed)
    allocate (work%v, mold=grid%bed)
    allocate (work%flux(0:grid%nx, 4))
    call make_side(0, grid%nx + 1, work%west)
    call make_side(0, grid%nx + 1, work%east)
    do k = 0, 1
      call make_side(1, grid%nx, work%south(k))
      call make_side(1, grid%nx, work%north(k))
    end do
  end subroutine make_workspace

  !> Advances state from time to target, in steps of Courant number cfl at most. Collective over the grid's ranks.
  subroutine advance(grid, cfl, target, time, state, work, steps)
    type(grid_t), intent(in) :: grid
    real(wp), intent(in) :: cfl, target  !< Courant number; seconds
    real(wp), intent(inout) :: time      !< seconds
    type(state_t), intent(inout) :: state
    type(workspace_t), intent(inout) :: work
    integer, intent(inout), optional :: steps
    real(wp) :: dt

    do while (time < target)
      dt = cfl*largest_step(grid, state)
      if (time + 1.0001_wp*dt >= target) then
        dt = target - time
        time = target
      else
        time = time + dt
      end if
      call heun(grid, dt, state, work)
      if (present(steps)) steps = steps + 1
    end do
  end subroutine advance

  !> Time in seconds in which the fastest wave crosses a cell. A maximum has no rounding, so the number of ranks does
  !> not matter.
  real(wp) function largest_step(grid, state)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(in) :: state
    real(wp) :: rate, c, reciprocal
    integer :: i, j

    rate = tiny(1.0_wp)
    do j = grid%first, grid%last
      do i = 1, grid%nx
        c = sqrt(gravity*state%h(i, j))
        reciprocal = merge(1/max(state%h(i, j), dry_depth), 0.0_wp, state%h(i, j) > dry_depth)
        rate = max(rate, (abs(state%hu(i, j))*reciprocal + c)/grid%dx + (abs(state%hv(i, j))*reciprocal + c)/grid%dy)
      end do
    end do
    if (grid%ranks > 1) call MPI_Allreduce(MPI_IN_PLACE, rate, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid%comm)
    largest_step = 1/rate
  end function largest_step

  subroutine heun(grid, dt, state, work)
    type(grid_t), intent(in) :: grid
    real(wp), intent(in) :: dt
    type(state_t), intent(inout) :: state
    type(workspace_t), intent(inout) :: work

    call find_rate(grid, state, work)
    call move(grid, dt, state%h, work%rate%h, work%stage%h)
    call move(grid, dt, state%hu, work%rate%hu, work%stage%hu)
    call move(grid, dt, state%hv, work%rate%hv, work%stage%hv)
    call find_rate(grid, work%stage, work)
    call finish(grid, dt, work%stage%h, work%rate%h, state%h)
    call finish(grid, dt, work%stage%hu, work%rate%hu, state%hu)
    call finish(grid, dt, work%stage%hv, work%rate%hv, state%hv)
  end subroutine heun

  subroutine move(grid, dt, old, rate, new)
    type(grid_t), intent(in) :: grid
    real(wp), intent(in) :: dt
    real(wp), intent(in), dimension(-1:, grid%first - 2:) :: old, rate
    real(wp), intent(inout), dimension(-1:, grid%first - 2:) :: new
    integer :: j

    do j = grid%first, grid%last
      new(1:grid%nx, j) = old(1:grid%nx, j) + dt*rate(1:grid%nx, j)
    end do
  end subroutine move

  subroutine finish(grid, dt, stage, rate, state)
    type(grid_t), intent(in) :: grid
    real(wp), intent(in) :: dt
    real(wp), intent(in), dimension(-1:, grid%first - 2:) :: stage, rate
    real(wp), intent(inout), dimension(-1:, grid%first - 2:) :: state
    integer :: j

    do j = grid%first, grid%last
      state(1:grid%nx, j) = 0.5_wp*(state(1:grid%nx, j) + (stage(1:grid%nx, j) + dt*rate(1:grid%nx, j)))
    end do
  end subroutine finish

  !> Time derivatives of a state. Fills the state's ghost cells.
  subroutine find_rate(grid, state, work)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(inout) :: state
    type(workspace_t), intent(inout) :: work
    integer :: j

    call fill_ghosts(grid, state)
    call find_velocities(size(state%h), state%h, state%hu, state%hv, grid%bed, work%surface, work%u, work%v)
    do j = grid%first, grid%last
      call add_x_fluxes(grid, state, work, j)
    end do
    call reconstruct_y(grid, state, work, grid%first - 1)
    do j = grid%first, grid%last + 1
      call reconstruct_y(grid, state, work, j)
      call add_y_fluxes(grid, work, j)
    end do
  end subroutine find_rate

  pure subroutine find_velocities(n, h, hu, hv, bed, surface, u, v)
    integer, intent(in) :: n
    real(wp), intent(in), dimension(n) :: h, hu, hv, bed
    real(wp), intent(out), dimension(n) :: surface, u, v
    real(wp) :: reciprocal
    integer :: i

    do i = 1, n
      reciprocal = merge(1/max(h(i), dry_depth), 0.0_wp, h(i) > dry_depth)
      surface(i) = h(i) + bed(i)
      u(i) = hu(i)*reciprocal
      v(i) = hv(i)*reciprocal
    end do
  end subroutine find_velocities

  !> Sets the rates of row j to the contributions of its western and eastern faces and of its own bed.
  subroutine add_x_fluxes(grid, state, work, j)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(in) :: state
    type(workspace_t), intent(inout) :: work
    integer, intent(in) :: j
    integer :: n

    n = grid%nx
    call reconstruct(n + 2, state%h(-1:n, j), state%h(0:n + 1, j), state%h(1:n + 2, j), work%surface(-1:n, j), &
                     work%surface(0:n + 1, j), work%surface(1:n + 2, j), work%u(-1:n, j), work%u(0:n + 1, j), &
                     work%u(1:n + 2, j), work%v(-1:n, j), work%v(0:n + 1, j), work%v(1:n + 2, j), work%west, work%east)
    associate (west => work%west, east => work%east, f => work%flux)
      call face_fluxes(n + 1, east%h(0:n), east%bed(0:n), east%normal(0:n), east%along(0:n), west%h(1:n + 1), &
                       west%bed(1:n + 1), west%normal(1:n + 1), west%along(1:n + 1), f(:, 1), f(:, 2), f(:, 3), f(:, 4))
      work%rate%h(1:n, j) = (f(0:n - 1, 1) - f(1:n, 1))/grid%dx
      work%rate%hv(1:n, j) = (f(0:n - 1, 4) - f(1:n, 4))/grid%dx
      work%rate%hu(1:n, j) = (f(0:n - 1, 3) - f(1:n, 2) + 0.5_wp*gravity*(east%h(1:n) + west%h(1:n))* &
                              (west%bed(1:n) - east%bed(1:n)))/grid%dx
    end associate
  end subroutine add_x_fluxes

  subroutine reconstruct_y(grid, state, work, j)
    type(grid_t), intent(in) :: grid
    type(state_t), intent(in) :: state
    type(workspace_t), intent(inout) :: work
    integer, intent(in) :: j
    integer :: n, slot

    n = grid%nx
    slot = modulo(j, 2)
    call reconstruct(n, state%h(1:n, j - 1), state%h(1:n, j), state%h(1:n, j + 1), work%surface(1:n, j - 1), &
                     work%surface(1:n, j), work%surface(1:n, j + 1), work%v(1:n, j - 1), work%v(1:n, j), &
                     work%v(1:n, j + 1), work%u(1:n, j - 1), work%u(1:n, j), work%u(1:n, j + 1), work%south(slot), &
                     work%north(slot))
  end subroutine reconstruct_y

  !> Adds the fluxes through the faces between rows j - 1 and j to both, and the push of row j - 1's own bed.
  subroutine add_y_fluxes(grid, work, j)
    type(grid_t), intent(in) :: grid
    type(workspace_t), intent(inout) :: work
    integer, intent(in) :: j
    integer :: n

    n = grid%nx
    associate (below => work%north(modulo(j - 1, 2)), above => work%south(modulo(j, 2)), f => work%flux, r => work%rate)
      call face_fluxes(n, below%h, below%bed, below%normal, below%along, above%h, above%bed, above%normal, &
                       above%along, f(1:, 1), f(1:, 2), f(1:, 3), f(1:, 4))
      if (j > grid%first) then
        r%h(1:n, j - 1) = r%h(1:n, j - 1) - f(1:, 1)/grid%dy
        r%hu(1:n, j - 1) = r%hu(1:n, j - 1) - f(1:, 4)/grid%dy
        r%hv(1:n, j - 1) = r%hv(1:n, j - 1) - f(1:, 2)/grid%dy
      end if
      if (j <= grid%last) then
        r%h(1:n, j) = r%h(1:n, j) + f(1:, 1)/grid%dy
        r%hu(1:n, j) = r%hu(1:n, j) + f(1:, 4)/grid%dy
        r%hv(1:n, j) = r%hv(1:n, j) + f(1:, 3)/grid%dy + push(work, modulo(j, 2))/grid%dy
      end if
    end associate
  end subroutine add_y_fluxes

  !> The bed's push inside the cells of a row, between their southern and northern faces.
  pure function push(work, slot) result(force)
    type(workspace_t), intent(in) :: work
    integer, intent(in) :: slot
    real(wp) :: force(size(work%south(slot)%h))

    associate (south => work%south(slot), north => work%north(slot))
      force = 0.5_wp*gravity*(north%h + south%h)*(south%bed - north%bed)
    end associate
  end function push
end module tsunami_stepper
