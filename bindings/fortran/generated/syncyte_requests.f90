! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/requests.methods by bindings/generate; do not edit.
!> Non-blocking operations: type(syncyte_request).
module syncyte_requests
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  implicit none
  private
  public :: syncyte_wait_all, syncyte_wait_any

  !> A non-blocking operation; a new request counts as ended. Do not copy it.
  type, public :: syncyte_request
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_request_t
  contains
    procedure :: wait => request_wait
    procedure :: test => request_test
    procedure :: is_null => request_is_null
  end type syncyte_request

contains

  !> Waits until the operation has ended. Local.
  subroutine request_wait(self, stat, errmsg)
    class(syncyte_request), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_request_wait(self%handle)
    call finish(status, stat, errmsg)
  end subroutine request_wait

  !> Whether the operation has ended. Local; does not wait.
  subroutine request_test(self, done, stat, errmsg)
    class(syncyte_request), intent(inout) :: self
    logical, intent(out) :: done
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: done_c
    integer(c_int32_t) :: status

    done_c = 1
    status = syncyte_request_test(self%handle, done_c)
    done = done_c /= 0
    call finish(status, stat, errmsg)
  end subroutine request_test

  !> Whether no operation is active. Local.
  pure logical function request_is_null(self)
    class(syncyte_request), intent(in) :: self

    request_is_null = .not. c_associated(self%handle)
  end function request_is_null

  !> Waits for all requests; returns the first error, after all have ended. Local.
  subroutine syncyte_wait_all(requests, stat, errmsg)
    type(syncyte_request), intent(inout) :: requests(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: handles(size(requests))
    integer(c_int32_t) :: status

    handles = requests%handle
    status = syncyte_request_wait_all(size(requests, kind=c_int64_t), handles)
    requests%handle = handles
    call finish(status, stat, errmsg)
  end subroutine syncyte_wait_all

  !> Waits until one of the requests has ended; returns its error. Requests of different objects may be mixed. Local.
  subroutine syncyte_wait_any(requests, index, stat, errmsg)
    type(syncyte_request), intent(inout) :: requests(:)
    integer, intent(out) :: index  !! number of the request, also after its error; 0: none was active
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: handles(size(requests))
    integer(c_int64_t) :: place
    integer(c_int32_t) :: status

    handles = requests%handle
    place = -1
    status = syncyte_request_wait_any(size(requests, kind=c_int64_t), handles, place)
    requests%handle = handles
    index = int(place) + 1
    call finish(status, stat, errmsg)
  end subroutine syncyte_wait_any
end module syncyte_requests
