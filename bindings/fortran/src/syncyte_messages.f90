!> Messages between two ranks: type(message_comm), which type(syncyte_comm) extends.
!>
!> Arrays may be sections with any strides. A message carries its type and shape; a receive into another array is an
!> error (SYNCYTE_ERR_MISMATCH) of the receiver. dest and source may be SYNCYTE_PROC_NULL, source and the tag of a receive
!> SYNCYTE_ANY. Arrays of isend and irecv belong to Syncyte until the request has ended: give them the asynchronous or
!> target attribute, and pass whole arrays or sections, no expressions.
module syncyte_messages
  use, intrinsic :: iso_c_binding
  use syncyte_c, only: SYNCYTE_ANY
  use syncyte_collectives, only: collective_comm
  use syncyte_errors
  use syncyte_message_helpers
  use syncyte_requests, only: syncyte_request
  implicit none
  private

  !> What messages need of a communicator.
  type, extends(collective_comm), public :: message_comm
  contains
    procedure :: send => comm_send
    procedure :: recv => comm_recv
    procedure :: isend => comm_isend
    procedure :: irecv => comm_irecv
    procedure :: sendrecv => comm_sendrecv
  end type message_comm

contains

  !> A tag for C; absent is what is given for that.
  integer(c_int32_t) function tag_of(tag, absent)
    integer, intent(in), optional :: tag
    integer(c_int32_t), intent(in) :: absent

    tag_of = absent
    if (present(tag)) tag_of = int(tag, c_int32_t)
  end function tag_of

  !> Sends an array; it may be used again afterwards. Local.
  subroutine comm_send(self, array, dest, tag, stat, errmsg)
    class(message_comm), intent(in) :: self
    type(*), dimension(..), intent(in) :: array
    integer, intent(in) :: dest
    integer, intent(in), optional :: tag  !! 0 if absent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_send(self%handle, array, int(dest, c_int32_t), tag_of(tag, 0_c_int32_t)), stat, errmsg)
  end subroutine comm_send

  !> Receives an array. Local; waits for the message.
  subroutine comm_recv(self, array, source, tag, from, from_tag, stat, errmsg)
    class(message_comm), intent(in) :: self
    type(*), dimension(..), intent(inout) :: array
    integer, intent(in) :: source
    integer, intent(in), optional :: tag             !! SYNCYTE_ANY if absent
    integer, intent(out), optional :: from, from_tag !! who has sent, and with which tag
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status, rank, number

    rank = -1
    number = -1
    status = fortran_comm_recv(self%handle, array, int(source, c_int32_t), tag_of(tag, SYNCYTE_ANY), rank, number)
    if (present(from)) from = int(rank)
    if (present(from_tag)) from_tag = int(number)
    call finish(status, stat, errmsg)
  end subroutine comm_recv

  !> Starts to send an array, which must stay as it is until the request has ended. Local.
  subroutine comm_isend(self, array, dest, request, tag, stat, errmsg)
    class(message_comm), intent(in) :: self
    type(*), dimension(..), intent(in), asynchronous :: array
    integer, intent(in) :: dest
    type(syncyte_request), intent(inout) :: request  !! null before
    integer, intent(in), optional :: tag             !! 0 if absent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_isend(self%handle, array, int(dest, c_int32_t), tag_of(tag, 0_c_int32_t), &
                                   request%handle), stat, errmsg)
  end subroutine comm_isend

  !> Starts to receive an array, which may not be read until the request has ended. Local.
  subroutine comm_irecv(self, array, source, request, tag, stat, errmsg)
    class(message_comm), intent(in) :: self
    type(*), dimension(..), intent(inout), asynchronous :: array
    integer, intent(in) :: source
    type(syncyte_request), intent(inout) :: request  !! null before
    integer, intent(in), optional :: tag             !! SYNCYTE_ANY if absent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_irecv(self%handle, array, int(source, c_int32_t), tag_of(tag, SYNCYTE_ANY), &
                                   request%handle), stat, errmsg)
  end subroutine comm_irecv

  !> Sends one array and receives another, whoever comes first. Local; waits for both.
  subroutine comm_sendrecv(self, sent, dest, received, source, send_tag, recv_tag, stat, errmsg)
    class(message_comm), intent(in) :: self
    type(*), dimension(..), intent(in) :: sent
    integer, intent(in) :: dest
    type(*), dimension(..), intent(inout) :: received  !! must not overlap sent
    integer, intent(in) :: source
    integer, intent(in), optional :: send_tag          !! 0 if absent
    integer, intent(in), optional :: recv_tag          !! SYNCYTE_ANY if absent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_sendrecv(self%handle, sent, int(dest, c_int32_t), tag_of(send_tag, 0_c_int32_t), &
                                      received, int(source, c_int32_t), tag_of(recv_tag, SYNCYTE_ANY)), stat, errmsg)
  end subroutine comm_sendrecv

end module syncyte_messages
