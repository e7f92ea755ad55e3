!> Start and end of Syncyte, its version, its log.
!>
!> The module syncyte calls start syncyte_init and finish_all syncyte_finalize; here C's functions have these names.
module syncyte_runtime
  use, intrinsic :: iso_c_binding
  use syncyte_c, only: syncyte_finalize, syncyte_init, syncyte_init_options_t, syncyte_initialized, syncyte_log, &
    syncyte_status_name, syncyte_version
  use syncyte_errors
  implicit none
  private
  public :: start, finish_all, syncyte_is_initialized, syncyte_get_version, syncyte_write_log, &
    syncyte_error_name

contains

  !> Starts Syncyte; initialises MPI if nobody has. Collective over MPI_COMM_WORLD; further calls do nothing.
  subroutine start(thread_level, stat, errmsg)
    integer, intent(in), optional :: thread_level  !! to ask MPI for: 0 single, ..., 3 multiple (default)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_init_options_t) :: options

    if (present(thread_level)) options%thread_level = int(thread_level, c_int32_t)
    call finish(syncyte_init(options), stat, errmsg)
  end subroutine start

  !> Ends Syncyte, and MPI if syncyte_init had started it. Collective over MPI_COMM_WORLD; further calls do nothing.
  subroutine finish_all(stat, errmsg)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_finalize(), stat, errmsg)
  end subroutine finish_all

  !> Whether Syncyte is started. Local; callable at any time.
  logical function syncyte_is_initialized()
    integer(c_int32_t) :: flag

    flag = 0
    call finish(syncyte_initialized(flag))
    syncyte_is_initialized = flag /= 0
  end function syncyte_is_initialized

  !> Version of the library. Local; callable at any time.
  subroutine syncyte_get_version(major, minor, patch, stat, errmsg)
    integer, intent(out) :: major, minor, patch
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: numbers(3)

    numbers = 0
    call finish(syncyte_version(numbers(1), numbers(2), numbers(3)), stat, errmsg)
    major = int(numbers(1))
    minor = int(numbers(2))
    patch = int(numbers(3))
  end subroutine syncyte_get_version

  !> Writes a line to stderr, with rank and severity, if SYNCYTE_LOG lets it through. Local; callable at any time.
  subroutine syncyte_write_log(level, message, stat, errmsg)
    integer(c_int32_t), intent(in) :: level  !! SYNCYTE_LOG_ERROR, ..., SYNCYTE_LOG_DEBUG
    character(len=*), intent(in) :: message
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_log(level, message//c_null_char), stat, errmsg)
  end subroutine syncyte_write_log

  !> Name of a stat, for example "SYNCYTE_ERR_INDEX". Local; callable at any time.
  function syncyte_error_name(status) result(name)
    integer, intent(in) :: status
    character(len=:), allocatable :: name

    name = to_fortran(syncyte_status_name(int(status, c_int32_t)))
  end function syncyte_error_name

end module syncyte_runtime
