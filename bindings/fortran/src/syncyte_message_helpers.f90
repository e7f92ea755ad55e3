!> Interfaces of helpers/message.c.
module syncyte_message_helpers
  use, intrinsic :: iso_c_binding
  implicit none
  public

  interface
    function fortran_comm_send(comm, array, dest, tag) &
        bind(C, name="fortran_comm_send") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: array
      integer(c_int32_t), value :: dest, tag
      integer(c_int32_t) :: status
    end function fortran_comm_send

    function fortran_comm_recv(comm, array, source, tag, from, from_tag) &
        bind(C, name="fortran_comm_recv") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(inout) :: array
      integer(c_int32_t), value :: source, tag
      integer(c_int32_t), intent(inout) :: from, from_tag
      integer(c_int32_t) :: status
    end function fortran_comm_recv

    function fortran_comm_isend(comm, array, dest, tag, request) &
        bind(C, name="fortran_comm_isend") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), asynchronous :: array
      integer(c_int32_t), value :: dest, tag
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: status
    end function fortran_comm_isend

    function fortran_comm_irecv(comm, array, source, tag, request) &
        bind(C, name="fortran_comm_irecv") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(inout), asynchronous :: array
      integer(c_int32_t), value :: source, tag
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: status
    end function fortran_comm_irecv

    function fortran_comm_sendrecv(comm, sent, dest, send_tag, received, source, recv_tag) &
        bind(C, name="fortran_comm_sendrecv") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: sent
      integer(c_int32_t), value :: dest, send_tag
      type(*), dimension(..), intent(inout) :: received
      integer(c_int32_t), value :: source, recv_tag
      integer(c_int32_t) :: status
    end function fortran_comm_sendrecv
  end interface
end module syncyte_message_helpers
