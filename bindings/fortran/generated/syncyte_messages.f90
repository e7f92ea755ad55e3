! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/messages.methods by bindings/generate; do not edit.
!> Messages between two ranks: type(message_comm), which type(syncyte_comm) extends.
!>
!> Arrays may be sections with any strides. A message carries its type and shape; a receive into another array is an
!> error (SYNCYTE_ERR_MISMATCH) of the receiver. dest and source may be SYNCYTE_PROC_NULL, source and the tag of a receive
!> SYNCYTE_ANY. Arrays of isend and irecv must stay until the request has ended: give them the asynchronous or target
!> attribute, and pass whole arrays or sections, not expressions.
module syncyte_messages
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_collectives, only: collective_comm
  use syncyte_requests, only: syncyte_request
  implicit none
  private

  !> A communicator with the methods of messages.
  type, extends(collective_comm), public :: message_comm
  contains
    procedure :: send => comm_send
    procedure :: isend => comm_isend
    procedure :: recv => comm_recv
    procedure :: irecv => comm_irecv
    procedure :: sendrecv => comm_sendrecv
  end type message_comm

contains

  !> Sends an array; it may be used again afterwards. Local.
  subroutine comm_send(self, array, dest, tag, stat, errmsg)
    class(message_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: array  !! array to send; any strides
    integer, intent(in) :: dest  !! rank of the receiver, or SYNCYTE_PROC_NULL
    integer, intent(in), optional :: tag  !! 0 to syncyte_message_highest_tag(); absent: 0
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: tag_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    array_buffer%read_only = 1_c_int32_t
    tag_c = 0
    if (present(tag)) tag_c = int(tag, c_int32_t)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "comm_send"//c_null_char)
    else
      status = syncyte_comm_send(self%handle, array_buffer, int(dest, c_int32_t), tag_c)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_send

  !> Starts send; array must stay unchanged until the request has ended. Local.
  subroutine comm_isend(self, array, dest, request, tag, stat, errmsg)
    class(message_comm), intent(in) :: self
    ! array to send; any strides; must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: array
    integer, intent(in) :: dest  !! rank of the receiver, or SYNCYTE_PROC_NULL
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(in), optional :: tag  !! 0 to syncyte_message_highest_tag(); absent: 0
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: tag_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    array_buffer%read_only = 1_c_int32_t
    tag_c = 0
    if (present(tag)) tag_c = int(tag, c_int32_t)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "comm_isend"//c_null_char)
    else
      status = syncyte_comm_isend(self%handle, array_buffer, int(dest, c_int32_t), tag_c, &
          request=request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_isend

  !> Receives an array. Local; waits for the message.
  subroutine comm_recv(self, array, source, tag, from, from_tag, stat, errmsg)
    class(message_comm), intent(in) :: self
    type(*), dimension(..), intent(inout), target :: array  !! array to receive into; any strides, but 0 only if the extent is 1
    integer, intent(in) :: source  !! rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
    integer, intent(in), optional :: tag  !! the sender's, or SYNCYTE_ANY (in channel 0); absent: SYNCYTE_ANY
    integer, intent(out), optional :: from
    integer, intent(out), optional :: from_tag
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: tag_c
    type(syncyte_message_status_t) :: status_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    tag_c = SYNCYTE_ANY
    if (present(tag)) tag_c = int(tag, c_int32_t)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "comm_recv"//c_null_char)
    else
      status = syncyte_comm_recv(self%handle, int(source, c_int32_t), tag_c, array=array_buffer, &
          status=status_c)
    end if
    if (present(from)) from = int(status_c%source)
    if (present(from_tag)) from_tag = int(status_c%tag)
    call finish(status, stat, errmsg)
  end subroutine comm_recv

  !> Starts recv; array may be neither read nor written until the request has ended. Local.
  subroutine comm_irecv(self, array, source, request, tag, stat, errmsg)
    class(message_comm), intent(in) :: self
    ! array to receive into; any strides, but 0 only if the extent is 1; may be neither read nor written until the
    ! request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: array
    integer, intent(in) :: source  !! rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(in), optional :: tag  !! the sender's, or SYNCYTE_ANY (in channel 0); absent: SYNCYTE_ANY
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: tag_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    tag_c = SYNCYTE_ANY
    if (present(tag)) tag_c = int(tag, c_int32_t)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "comm_irecv"//c_null_char)
    else
      status = syncyte_comm_irecv(self%handle, int(source, c_int32_t), tag_c, array=array_buffer, &
          request=request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_irecv

  !> Sends one array and receives another, without deadlock in any order of arrival. Local; waits for both.
  subroutine comm_sendrecv(self, send_array, dest, recv_array, source, send_tag, recv_tag, stat, errmsg)
    class(message_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: send_array  !! array to send; any strides
    integer, intent(in) :: dest  !! rank of the receiver, or SYNCYTE_PROC_NULL
    type(*), dimension(..), intent(inout), target :: recv_array  !! must not overlap send_array
    integer, intent(in) :: source  !! rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
    integer, intent(in), optional :: send_tag  !! 0 to syncyte_message_highest_tag(); absent: 0
    integer, intent(in), optional :: recv_tag  !! the sender's, or SYNCYTE_ANY (in channel 0); absent: SYNCYTE_ANY
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: send_array_buffer
    type(syncyte_buffer_t), target :: recv_array_buffer
    integer(c_int32_t) :: send_tag_c
    integer(c_int32_t) :: recv_tag_c
    integer(c_int32_t) :: status, local

    call syncyte_set_span(send_array)
    call syncyte_set_span(recv_array)
    local = fortran_buffer(send_array, "send_array"//c_null_char, send_array_buffer)
    send_array_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(recv_array, "recv_array"//c_null_char, &
        recv_array_buffer)
    send_tag_c = 0
    if (present(send_tag)) send_tag_c = int(send_tag, c_int32_t)
    recv_tag_c = SYNCYTE_ANY
    if (present(recv_tag)) recv_tag_c = int(recv_tag, c_int32_t)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "comm_sendrecv"//c_null_char)
    else
      status = syncyte_comm_sendrecv(self%handle, send_array_buffer, int(dest, c_int32_t), send_tag_c, &
          int(source, c_int32_t), recv_tag_c, recv_array=recv_array_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_sendrecv
end module syncyte_messages
