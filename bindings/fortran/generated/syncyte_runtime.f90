! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/runtime.methods by bindings/generate; do not edit.
!> Start and end of Syncyte, its version, its log.
!>
!> The module syncyte calls start syncyte_init and finish_all syncyte_finalize; here C's function has the second name.
module syncyte_runtime
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_comm_c, only: syncyte_finalize
  implicit none
  private

  public :: start, finish_all, syncyte_is_initialized, syncyte_knows_death, syncyte_get_version, syncyte_write_log, &
    syncyte_error_name

contains

  !> Starts Syncyte; initializes MPI if it is not initialized. Collective over MPI_COMM_WORLD; further calls do nothing.
  subroutine start(thread_level, stat, errmsg)
    ! thread level to request if this call initializes MPI: 0 single, 1 funneled, 2 serialized, 3 multiple
    integer, intent(in), optional :: thread_level
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_init_options_t) :: options
    integer(c_int32_t) :: status

    if (present(thread_level)) options%thread_level = int(thread_level, c_int32_t)
    status = syncyte_init_abi(options, SYNCYTE_ABI_VERSION)
    call finish(status, stat, errmsg)
  end subroutine start

  !> Ends Syncyte, and MPI if syncyte_init had started it. Collective over MPI_COMM_WORLD; further calls do nothing.
  subroutine finish_all(stat, errmsg)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_finalize()
    call finish(status, stat, errmsg)
  end subroutine finish_all

  !> Whether Syncyte is started. Local; callable at any time.
  logical function syncyte_is_initialized()
    integer(c_int32_t) :: flag

    flag = 0
    call finish(syncyte_initialized(flag))
    syncyte_is_initialized = flag /= 0
  end function syncyte_is_initialized

  !> Whether this rank knows that a rank has died: MPI_Finalize may then wait for ever. Local; callable at any time.
  logical function syncyte_knows_death()
    integer(c_int32_t) :: flag

    flag = 0
    call finish(syncyte_death_known(flag))
    syncyte_knows_death = flag /= 0
  end function syncyte_knows_death

  !> Version of the library. Local; callable at any time.
  subroutine syncyte_get_version(major, minor, patch, stat, errmsg)
    integer, intent(out) :: major
    integer, intent(out) :: minor
    integer, intent(out) :: patch
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: major_c
    integer(c_int32_t) :: minor_c
    integer(c_int32_t) :: patch_c
    integer(c_int32_t) :: status

    major_c = 0
    minor_c = 0
    patch_c = 0
    status = syncyte_version(major_c, minor_c, patch_c)
    major = int(major_c)
    minor = int(minor_c)
    patch = int(patch_c)
    call finish(status, stat, errmsg)
  end subroutine syncyte_get_version

  !> Writes a line to stderr, with rank and severity, if SYNCYTE_LOG enables that severity. Local; callable at any time.
  subroutine syncyte_write_log(level, message, stat, errmsg)
    integer(c_int32_t), intent(in) :: level  !! SYNCYTE_LOG_OFF, ...
    character(len=*), intent(in) :: message
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: message_c
    integer(c_int32_t) :: status

    call to_c(message, message_c)
    status = syncyte_log(level, message_c)
    call finish(status, stat, errmsg)
  end subroutine syncyte_write_log

  !> Name of a status, for example "SYNCYTE_ERR_INDEX". Local; callable at any time.
  function syncyte_error_name(status) result(name)
    integer, intent(in) :: status
    character(len=:), allocatable :: name

    name = to_fortran(syncyte_status_name(int(status, c_int32_t)))
  end function syncyte_error_name
end module syncyte_runtime
