! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/nonblocking.h by bindings/generate; do not edit.
!> Non-blocking collectives: started by a call of generated/collectives.h, completed by a request.
module syncyte_nonblocking_c
  use, intrinsic :: iso_c_binding
  use syncyte_collectives_c
  implicit none
  public

  interface

    !> Takes part in the agreement of a non-blocking collective that this rank cannot start, for libraries on top
    !> whose own checks have failed: the other ranks get the error from test or wait. Collective, in place of the
    !> start; does not wait. The error is the thread's last error (syncyte_error_set()). Does nothing with
    !> SYNCYTE_CHECK=off.
    ! comm [in]: a communicator
    ! status [in]: status of the error, not SYNCYTE_SUCCESS
    ! operation [in]: for messages, for example "comm_iallreduce"
    function syncyte_comm_ifail(comm, status, operation) bind(C, name="syncyte_comm_ifail") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: status
      character(kind=c_char), intent(in) :: operation(*)
      integer(c_int32_t) :: answer
    end function syncyte_comm_ifail
  end interface
end module syncyte_nonblocking_c
