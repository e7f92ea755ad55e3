! SPDX-License-Identifier: BSD-3-Clause
!> The solver uses the surrogate: it publishes its state, and takes the state of some minutes later that a learner
!> computes from it. The layout of its strips is all that it says; the learner takes the whole field.
!>
!> The solver does not depend on the learner: if an answer is late it computes that time itself, and if the learner's
!> program has ended it computes alone from then on.
module tsunami_forecast
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08, only: MPI_Allreduce, MPI_IN_PLACE, MPI_LOGICAL, MPI_LOR
  use syncyte, only: SYNCYTE_FLOAT32, SYNCYTE_SUCCESS, syncyte_comm, syncyte_layout, syncyte_tensor
  use tsunami_grid, only: grid_t, state_t
  use tsunami_kinds, only: int64, real32, wp
  implicit none
  private
  public :: forecasts_t, open_forecasts, ask_forecast, close_forecasts

  integer(int64), parameter :: last_question = 2_int64**62  !< learner/forecasts.py ends at it

  type :: forecasts_t
    type(syncyte_tensor) :: question            !< real32 (nx, ny, 3): the solver's depth and momenta
    type(syncyte_tensor) :: answer              !< the same some minutes later; a learner has made it
    real(real32), allocatable :: strip(:, :, :) !< this rank's part of both
    real(wp) :: patience = 10                   !< s
    logical :: is_alone = .false.               !< no answer will ever come
    integer(int64) :: asked = 0, used = 0
  end type forecasts_t

contains

  !> Makes the tensors. Collective over world: the learners open the one and make the other.
  subroutine open_forecasts(world, grid, patience, forecasts)
    type(syncyte_comm), intent(in) :: world
    type(grid_t), intent(in) :: grid
    real(wp), intent(in) :: patience
    type(forecasts_t), intent(out) :: forecasts
    type(syncyte_layout) :: strips

    call strips%blocks(grid%strips, whole=[grid%nx, grid%ny, 3], first=[1, grid%first, 1], &
                       count=[grid%nx, grid%last - grid%first + 1, 3])
    call forecasts%question%create_by_layout(world, SYNCYTE_FLOAT32, strips, slots=2, name='state')
    call forecasts%answer%open(world, 'forecast')
    call strips%destroy()
    allocate (forecasts%strip(grid%nx, grid%first:grid%last, 3))
    forecasts%patience = patience
  end subroutine open_forecasts

  !> Replaces the state by its forecast; got is false if there is none in time. Collective over the grid's ranks.
  subroutine ask_forecast(forecasts, grid, state, got)
    type(forecasts_t), intent(inout) :: forecasts
    type(grid_t), intent(in) :: grid
    type(state_t), intent(inout) :: state
    logical, intent(out) :: got
    logical :: is_late, fails(2)  !< this answer; this one and all later ones
    character(len=400) :: reason
    integer :: stat

    got = .false.
    if (forecasts%is_alone) return
    forecasts%asked = forecasts%asked + 1
    associate (strip => forecasts%strip, n => grid%nx, first => grid%first, last => grid%last)
      strip(:, :, 1) = real(state%h(1:n, first:last), real32)
      strip(:, :, 2) = real(state%hu(1:n, first:last), real32)
      strip(:, :, 3) = real(state%hv(1:n, first:last), real32)
      call forecasts%question%publish(strip, forecasts%asked)
      call forecasts%answer%take([1, first, 1], strip, at_least=forecasts%asked, timeout=forecasts%patience, &
                                 timed_out=is_late, stat=stat, errmsg=reason)
      fails = [is_late .or. stat /= SYNCYTE_SUCCESS, stat /= SYNCYTE_SUCCESS]
      call MPI_Allreduce(MPI_IN_PLACE, fails, 2, MPI_LOGICAL, MPI_LOR, grid%comm)
      forecasts%is_alone = fails(2)
      if (stat /= SYNCYTE_SUCCESS) write (error_unit, '(2a)') 'tsunami_solver goes on alone: ', trim(reason)
      if (fails(1)) return
      state%h(1:n, first:last) = max(0.0_wp, real(strip(:, :, 1), wp))
      state%hu(1:n, first:last) = real(strip(:, :, 2), wp)
      state%hv(1:n, first:last) = real(strip(:, :, 3), wp)
    end associate
    forecasts%used = forecasts%used + 1
    got = .true.
  end subroutine ask_forecast

  !> Tells the learner that there are no more questions.
  subroutine close_forecasts(forecasts)
    type(forecasts_t), intent(inout) :: forecasts

    if (.not. forecasts%is_alone) call forecasts%question%publish(forecasts%strip, last_question)
    call forecasts%question%destroy()
    call forecasts%answer%destroy()
  end subroutine close_forecasts
end module tsunami_forecast
