! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/messages.h by bindings/generate; do not edit.
!> Point-to-point messages: arrays from one rank to another, with a check of dtype and shape at the receiver.
module syncyte_messages_c
  use, intrinsic :: iso_c_binding
  use syncyte_comm_c, c_syncyte_finalize => syncyte_finalize
  implicit none
  public
  private :: c_syncyte_finalize

  !> Source of a receive: any rank. Tag of a receive: any tag.
  integer(c_int32_t), parameter :: SYNCYTE_ANY = -1_c_int32_t

  !> Source or destination: no rank, as MPI_PROC_NULL; such a message completes at once and changes nothing.
  integer(c_int32_t), parameter :: SYNCYTE_PROC_NULL = -2_c_int32_t

  !> Bytes of the header that every message has in front of its elements.
  integer(c_int32_t), parameter :: SYNCYTE_MESSAGE_ROOM = 64_c_int32_t

  !> Options of a message.
  type, bind(C) :: syncyte_message_options_t
    ! sizeof(syncyte_message_options_t)
    integer(c_size_t) :: struct_size = 32_c_size_t
    ! reserved: null
    type(c_ptr) :: stream = c_null_ptr
    ! 0 to 7; a receive matches only messages of its channel. For libraries on top, whose own messages have the same
    ! tags as their users'
    integer(c_int32_t) :: channel = 0_c_int32_t
    ! SYNCYTE_MESSAGE_ROOM: so many bytes in front of the buffer's first element are free for the message's header.
    ! MPI then gets device memory itself (syncyte_mpi_takes()), without room (0) a copy on the host. Device memory
    ! is contiguous, and work enqueued on it complete
    integer(c_int32_t) :: room = 0_c_int32_t
    ! any number, which a send passes to the receiver's status; for libraries on top
    integer(c_int64_t) :: label = 0_c_int64_t
  end type syncyte_message_options_t

  !> Sender, tag and label of a received message.
  type, bind(C) :: syncyte_message_status_t
    ! sizeof(syncyte_message_status_t)
    integer(c_size_t) :: struct_size = 24_c_size_t
    ! the sender's rank
    integer(c_int32_t) :: source = 0_c_int32_t
    ! the message's tag
    integer(c_int32_t) :: tag = 0_c_int32_t
    ! the sender's options->label
    integer(c_int64_t) :: label = 0_c_int64_t
  end type syncyte_message_status_t

  interface

    !> Returns the highest tag that a message may have. Local.
    ! tag [out]: at least 4094
    function syncyte_message_highest_tag(tag) bind(C, name="syncyte_message_highest_tag") result(answer)
      import
      integer(c_int32_t), intent(inout) :: tag
      integer(c_int32_t) :: answer
    end function syncyte_message_highest_tag

    !> Sends an array. Local; returns when its memory may be used again, possibly before the receive.
    ! comm [in]: a communicator
    ! array [in]: array to send; any strides
    ! dest [in]: rank of the receiver, or SYNCYTE_PROC_NULL
    ! tag [in]: 0 to syncyte_message_highest_tag()
    ! options [in]: null for defaults
    ! Returns: SYNCYTE_ERR_ARGUMENT (dest, tag, memory of a message that was started).
    function syncyte_comm_send(comm, array, dest, tag, options) bind(C, name="syncyte_comm_send") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: array
      integer(c_int32_t), value :: dest
      integer(c_int32_t), value :: tag
      type(syncyte_message_options_t), intent(in), optional :: options
      integer(c_int32_t) :: answer
    end function syncyte_comm_send

    !> Starts syncyte_comm_send(), as the head of syncyte/messages.h says.
    ! comm [in]: a communicator; it may be destroyed before the request has ended
    ! array [in]: array to send; any strides; must stay unchanged until the request has ended
    ! dest [in]: rank of the receiver, or SYNCYTE_PROC_NULL
    ! tag [in]: 0 to syncyte_message_highest_tag()
    ! options [in]: null for defaults; may be re-used on return
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as comm_send, for errors that this rank finds; test and wait return the others.
    function syncyte_comm_isend(comm, array, dest, tag, options, request) bind(C, name="syncyte_comm_isend") &
        result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: array
      integer(c_int32_t), value :: dest
      integer(c_int32_t), value :: tag
      type(syncyte_message_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_isend

    !> Receives an array. Local; waits for the message.
    ! comm [in]: a communicator
    ! source [in]: rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
    ! tag [in]: the sender's, or SYNCYTE_ANY (in channel 0)
    ! options [in]: null for defaults
    ! array [in,out]: array to receive into; any strides, but 0 only if the extent is 1
    ! status [in,out]: struct_size set by the caller; the rest is filled
    ! Returns: SYNCYTE_ERR_ARGUMENT (source, tag, memory of a message that was started), SYNCYTE_ERR_MISMATCH
    ! (dtype, shape).
    function syncyte_comm_recv(comm, source, tag, options, array, status) bind(C, name="syncyte_comm_recv") &
        result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: source
      integer(c_int32_t), value :: tag
      type(syncyte_message_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: array
      type(syncyte_message_status_t), intent(inout), optional :: status
      integer(c_int32_t) :: answer
    end function syncyte_comm_recv

    !> Starts syncyte_comm_recv(), as the head of syncyte/messages.h says.
    ! comm [in]: a communicator; it may be destroyed before the request has ended
    ! source [in]: rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
    ! tag [in]: the sender's, or SYNCYTE_ANY (in channel 0)
    ! options [in]: null for defaults; may be re-used on return
    ! array [in,out]: array to receive into; any strides, but 0 only if the extent is 1; may be neither read nor
    ! written until the request has ended
    ! status [in,out]: struct_size set by the caller; the rest is filled; may be null; may be neither read nor
    ! written until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as comm_recv, for errors that this rank finds; test and wait return the others.
    function syncyte_comm_irecv(comm, source, tag, options, array, status, request) bind(C, &
        name="syncyte_comm_irecv") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: source
      integer(c_int32_t), value :: tag
      type(syncyte_message_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: array
      type(syncyte_message_status_t), intent(inout), optional :: status
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_irecv

    !> Sends one array and receives another, without deadlock in any order of arrival. Local; waits for both.
    ! comm [in]: a communicator
    ! send_array [in]: array to send; any strides
    ! dest [in]: rank of the receiver, or SYNCYTE_PROC_NULL
    ! send_tag [in]: 0 to syncyte_message_highest_tag()
    ! source [in]: rank of the sender, SYNCYTE_ANY or SYNCYTE_PROC_NULL
    ! recv_tag [in]: the sender's, or SYNCYTE_ANY (in channel 0)
    ! options [in]: null for defaults
    ! recv_array [in,out]: array to receive into; strides as in syncyte_comm_recv(); must not overlap send_array
    ! status [in,out]: struct_size set by the caller; the rest is filled
    ! Returns: as syncyte_comm_send() and syncyte_comm_recv(); SYNCYTE_ERR_ARGUMENT too if the two arrays share
    ! memory: pass a copy.
    function syncyte_comm_sendrecv(comm, send_array, dest, send_tag, source, recv_tag, options, recv_array, &
        status) bind(C, name="syncyte_comm_sendrecv") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: send_array
      integer(c_int32_t), value :: dest
      integer(c_int32_t), value :: send_tag
      integer(c_int32_t), value :: source
      integer(c_int32_t), value :: recv_tag
      type(syncyte_message_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: recv_array
      type(syncyte_message_status_t), intent(inout), optional :: status
      integer(c_int32_t) :: answer
    end function syncyte_comm_sendrecv
  end interface
end module syncyte_messages_c
