! SPDX-License-Identifier: BSD-3-Clause
!> The bathymetry file, the generator of scenarios, and the partition of the domain.
module test_inputs
  use mpi_f08, only: MPI_Comm_rank, MPI_COMM_SELF, MPI_COMM_WORLD
  use basins, only: rough_sea
  use checks, only: check, check_below
  use tsunami_bathymetry, only: bathymetry_t, read_bathymetry
  use tsunami_grid, only: grid_t, make_grid, make_state, state_t
  use tsunami_kinds, only: int32, int64, real32, real64, wp
  use tsunami_uplift, only: draw, raise_seabed, random_t, seed_random
  implicit none
  private
  public :: test_bathymetry, test_random, test_scenarios

contains

  subroutine test_bathymetry()
    real(real32) :: bed(5, 4)
    type(bathymetry_t) :: sea
    character(len=:), allocatable :: error, path
    character(len=16) :: name
    integer :: rank, i

    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    write (name, '(a,i0)') 'bed.', rank
    path = trim(name)
    bed = reshape([(real(-i, real32), i=1, 20)], [5, 4])
    call write_file(path, 'SYBATHY1', [5, 4], 20, bed)
    call read_bathymetry(path, sea, error)
    call check(error == '', 'a good file gives no error: '//error)
    call check(sea%nx == 5 .and. sea%ny == 4 .and. sea%dx == 2400 .and. sea%dy == 2500, 'extents and sizes')
    call check(all(sea%bed == bed), 'elevations')

    call expect_error(path, 'SYBATHY1', [5, 4], 19, bed, 'truncated')
    call expect_error(path, 'FOREIGN!', [5, 4], 20, bed, 'SYBATHY1')
    call expect_error(path, 'SYBATHY1', [-5, 4], 20, bed, 'extent')
    call expect_error(path, 'SYBATHY1', [5, 4], 20, bed*1e6_real32, 'not a number')
    call read_bathymetry('no-such-file', sea, error)
    call check(index(error, 'no-such-file') > 0, 'a missing file is named: '//error)
  end subroutine test_bathymetry

  subroutine expect_error(path, magic, extents, count, bed, words)
    character(len=*), intent(in) :: path, magic, words
    integer, intent(in) :: extents(2), count
    real(real32), intent(in) :: bed(:, :)
    type(bathymetry_t) :: sea
    character(len=:), allocatable :: error

    call write_file(path, magic, extents, count, bed)
    call read_bathymetry(path, sea, error)
    call check(index(error, words) > 0 .and. index(error, path) > 0, 'error says "'//words//'": '//error)
  end subroutine expect_error

  subroutine write_file(path, magic, extents, count, bed)
    character(len=*), intent(in) :: path, magic
    integer, intent(in) :: extents(2), count
    real(real32), intent(in) :: bed(:, :)
    real(real32) :: flat(size(bed))
    integer :: unit

    flat = reshape(bed, [size(bed)])
    open (newunit=unit, file=path, access='stream', form='unformatted', status='replace', action='write')
    write (unit) magic, int(extents, int32), [2400.0_real64, 2500.0_real64], [0.0_real64, 1.0_real64], &
      [2.0_real64, 3.0_real64], flat(1:count)
    close (unit)
  end subroutine write_file

  subroutine test_random()
    type(random_t) :: random
    integer, parameter :: count = 20000
    real(wp), allocatable :: numbers(:)
    integer :: i

    call seed_random(3_int64, random)
    numbers = [(draw(random), i=1, count)]
    call check(all(numbers > 0 .and. numbers < 1), 'numbers lie in (0, 1)')
    call check_below(abs(sum(numbers)/count - 0.5_wp), 0.01_wp, 'mean of uniform numbers')
    call check_below(abs(sum((numbers - 0.5_wp)**2)/count - 1/12.0_wp), 0.003_wp, 'variance of uniform numbers')
    call check_below(abs(sum((numbers(2:) - 0.5_wp)*(numbers(:count - 1) - 0.5_wp))/count), 0.003_wp, 'correlation')
    call seed_random(3_int64, random)
    call check(numbers(1) == draw(random), 'a seed repeats its numbers')
    call seed_random(4_int64, random)
    call check(numbers(1) /= draw(random), 'another seed gives others')
  end subroutine test_random

  subroutine test_scenarios()
    type(grid_t) :: grid
    type(state_t) :: state
    character(len=:), allocatable :: error
    real(wp), allocatable :: uplift(:, :)
    integer :: seed

    call make_grid(rough_sea(60, 50), MPI_COMM_SELF, .false., grid, error)
    call make_state(grid, state)
    do seed = 1, 20
      call raise_seabed(rough_sea(60, 50), int(seed, int64), grid, state)
      uplift = state%h(1:60, 1:50) - max(0.0_wp, -grid%bed(1:60, 1:50))
      call check(maxval(uplift) > 0.4_wp .and. maxval(uplift) < 6.1_wp, 'heights of uplifts')
      call check(all(uplift == 0 .or. grid%bed(1:60, 1:50) < 0), 'only water is lifted')
    end do
  end subroutine test_scenarios
end module test_inputs
