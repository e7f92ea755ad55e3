! SPDX-License-Identifier: BSD-3-Clause
!> The command line.
module tsunami_options
  use tsunami_kinds, only: int64, wp
  implicit none
  private
  public :: options_t, parse_options, usage

  type :: options_t
    character(len=:), allocatable :: bathymetry     !< file
    integer :: held_out_runs = 12
    integer(int64) :: runs = 1000000                !< training runs at most
    integer :: snapshots = 26                       !< of one run, the first at time 0
    real(wp) :: interval = 120                      !< s between snapshots
    integer :: ring_runs = 12                       !< runs that the ring holds
    integer(int64) :: reads = 6                     !< how often a snapshot is to be read before it is overwritten
    real(wp) :: wait_limit = 2                      !< s
    real(wp) :: cfl = 0.9_wp
    integer(int64) :: seed = 1                      !< of the first training run
    integer :: forecast_every = 0                   !< snapshots between forecasts of the surrogate; 0: none is used
    integer :: forecast_lead = 5                    !< snapshots that a forecast skips
    real(wp) :: forecast_wait = 10                  !< s, the longest wait for a forecast
    logical :: help = .false.
  end type options_t

contains

  subroutine usage(unit)
    integer, intent(in) :: unit

    write (unit, '(a)') &
      'usage: tsunami_solver --bathymetry FILE [options]', &
      'Shallow-water waves after seabed uplifts; snapshots go into a ring in memory that learners share.', &
      '  --bathymetry FILE    sea bed, as written by bathymetry.py', &
      '  --held-out N         held-out runs, computed first (default 12, at least 1)', &
      '  --runs N             training runs at most; 0: held-out runs only (default 1000000)', &
      '  --snapshots N        snapshots of a run, at least 2 (default 26)', &
      '  --interval SECONDS   simulated time between snapshots (default 120)', &
      '  --ring-runs N        runs that the ring holds, at least 2 (default 12)', &
      '  --reads N            reads of a snapshot before it is overwritten (default 6)', &
      '  --wait-limit SECONDS longest wait for them, then the oldest is overwritten (default 2)', &
      '  --cfl NUMBER         Courant number, above 0, at most 1 (default 0.9)', &
      '  --seed N             seed of the first training run (default 1)', &
      '  --forecast-every N   computes the held-out runs again, and after N snapshots uses a learner''s forecast', &
      '  --forecast-lead N    snapshots that a forecast skips (default 5)', &
      '  --forecast-wait SECONDS longest wait for a forecast, then the solver computes itself (default 10)', &
      '  --help               this text'
  end subroutine usage

  !> Reads the command line. error is empty on success; otherwise it names the option, its value and what was expected.
  subroutine parse_options(options, error)
    type(options_t), intent(out) :: options
    character(len=:), allocatable, intent(out) :: error
    character(len=:), allocatable :: name, text
    integer :: i

    error = ''
    options%bathymetry = ''
    i = 1
    do while (i <= command_argument_count() .and. error == '' .and. .not. options%help)
      name = argument(i)
      options%help = name == '--help'
      if (.not. options%help) then
        text = ''
        if (i < command_argument_count()) text = argument(i + 1)
        call set_option(options, name, text, error)
      end if
      i = i + 2
    end do
    if (error == '' .and. .not. options%help .and. options%bathymetry == '') error = '--bathymetry is missing'
  end subroutine parse_options

  function argument(number) result(text)
    integer, intent(in) :: number
    character(len=:), allocatable :: text
    integer :: length

    call get_command_argument(number, length=length)
    allocate (character(len=length) :: text)
    call get_command_argument(number, text)
  end function argument

  subroutine set_option(options, name, text, error)
    type(options_t), intent(inout) :: options
    character(len=*), intent(in) :: name, text
    character(len=:), allocatable, intent(inout) :: error
    integer(int64) :: number

    number = 0
    select case (name)
    case ('--bathymetry')
      options%bathymetry = text
      if (text == '') error = '--bathymetry needs the name of a file'
    case ('--held-out')
      call get_integer(name, text, 1_int64, 100000_int64, number, error)
      options%held_out_runs = int(number)
    case ('--runs')
      call get_integer(name, text, 0_int64, 1000000000_int64, options%runs, error)
    case ('--snapshots')
      call get_integer(name, text, 2_int64, 100000_int64, number, error)
      options%snapshots = int(number)
    case ('--interval')
      call get_real(name, text, 1.0_wp, 86400.0_wp, options%interval, error)
    case ('--ring-runs')
      call get_integer(name, text, 2_int64, 100000_int64, number, error)
      options%ring_runs = int(number)
    case ('--reads')
      call get_integer(name, text, 0_int64, 1000000000_int64, options%reads, error)
    case ('--wait-limit')
      call get_real(name, text, 0.0_wp, 86400.0_wp, options%wait_limit, error)
    case ('--cfl')
      call get_real(name, text, 0.01_wp, 1.0_wp, options%cfl, error)
    case ('--seed')
      call get_integer(name, text, 0_int64, 999999999_int64, options%seed, error)
    case ('--forecast-every')
      call get_integer(name, text, 0_int64, 100000_int64, number, error)
      options%forecast_every = int(number)
    case ('--forecast-lead')
      call get_integer(name, text, 1_int64, 100000_int64, number, error)
      options%forecast_lead = int(number)
    case ('--forecast-wait')
      call get_real(name, text, 0.0_wp, 86400.0_wp, options%forecast_wait, error)
    case default
      error = 'unknown option "'//name//'"'
    end select
  end subroutine set_option

  subroutine get_integer(name, text, least, most, number, error)
    character(len=*), intent(in) :: name, text
    integer(int64), intent(in) :: least, most
    integer(int64), intent(inout) :: number
    character(len=:), allocatable, intent(inout) :: error
    character(len=80) :: range
    integer(int64) :: found
    integer :: io

    io = 1
    if (text /= '' .and. verify(text, '+-0123456789') == 0) read (text, *, iostat=io) found
    if (io == 0) then
      if (found < least .or. found > most) io = 1
    end if
    if (io == 0) then
      number = found
    else
      write (range, '(i0,a,i0)') least, ' to ', most
      error = name//' is "'//text//'"; expected a whole number, '//trim(range)
    end if
  end subroutine get_integer

  subroutine get_real(name, text, least, most, number, error)
    character(len=*), intent(in) :: name, text
    real(wp), intent(in) :: least, most
    real(wp), intent(inout) :: number
    character(len=:), allocatable, intent(inout) :: error
    character(len=80) :: range
    real(wp) :: found
    integer :: io

    io = 1
    if (text /= '' .and. verify(text, '+-.0123456789eE') == 0) read (text, *, iostat=io) found
    if (io == 0) then
      if (.not. (found >= least .and. found <= most)) io = 1
    end if
    if (io == 0) then
      number = found
    else
      write (range, '(g0.6,a,g0.6)') least, ' to ', most
      error = name//' is "'//text//'"; expected a number, '//trim(range)
    end if
  end subroutine get_real
end module tsunami_options
