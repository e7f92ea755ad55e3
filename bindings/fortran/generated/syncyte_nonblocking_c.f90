! Generated from syncyte/nonblocking.h by bindings/generate; do not edit.
!> Non-blocking collectives: started by a call, completed by a request.
module syncyte_nonblocking_c
  use, intrinsic :: iso_c_binding
  use syncyte_collectives_c
  implicit none
  public

  interface

    !> Starts syncyte_comm_bcast(). Collective; does not wait. Facts as there.
    ! comm [in]: a communicator
    ! root [in]: rank that sends its elements
    ! options [in]: null for defaults
    ! buffer [in,out]: contiguous; read on root, written elsewhere
    ! request [out]: ends when buffer may be used again
    function syncyte_comm_ibcast(comm, root, options, buffer, request) bind(C, name="syncyte_comm_ibcast") &
        result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: root
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: buffer
      type(c_ptr), intent(out) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_ibcast

    !> Starts syncyte_comm_allreduce(). Collective; does not wait. Facts as there.
    ! comm [in]: a communicator
    ! input [in]: contiguous; null: output's contents (in place)
    ! op [in]: reduction
    ! options [in]: null for defaults
    ! output [in,out]: contiguous, of input's dtype and number of elements; must not overlap input
    ! request [out]: ends when output holds the result
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
    function syncyte_comm_iallreduce(comm, input, op, options, output, request) bind(C, &
        name="syncyte_comm_iallreduce") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in), optional :: input
      integer(c_int32_t), value :: op
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      type(c_ptr), intent(out) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_iallreduce

    !> Starts syncyte_comm_allgather_along(). Collective; does not wait. Facts as there.
    ! comm [in]: a communicator
    ! input [in]: this rank's part
    ! axis [in]: dimension along which the parts are joined
    ! counts_length [in]: length of counts: comm's size
    ! counts [in]: extents of the parts along the axis, equal on all ranks
    ! options [in]: null for defaults
    ! output [out]: the whole array, not overlapping input
    ! request [out]: ends when output holds the result
    function syncyte_comm_iallgather_along(comm, input, axis, counts_length, counts, options, output, request) &
        bind(C, name="syncyte_comm_iallgather_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int32_t), value :: axis
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in) :: counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      type(c_ptr), intent(out) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_iallgather_along

    !> Starts syncyte_comm_reduce_scatter_along(). Collective; does not wait. Facts as there.
    ! comm [in]: a communicator
    ! input [in]: a whole array
    ! axis [in]: dimension to cut
    ! counts_length [in]: length of counts: comm's size
    ! counts [in]: extents of the parts along the axis, equal on all ranks
    ! op [in]: reduction
    ! options [in]: null for defaults
    ! output [out]: this rank's part, not overlapping input
    ! request [out]: ends when output holds the result
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
    function syncyte_comm_ireduce_scatter_along(comm, input, axis, counts_length, counts, op, options, output, &
        request) bind(C, name="syncyte_comm_ireduce_scatter_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int32_t), value :: axis
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in) :: counts(*)
      integer(c_int32_t), value :: op
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      type(c_ptr), intent(out) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_ireduce_scatter_along

    !> Starts syncyte_comm_alltoall_along(). Collective; does not wait. Facts as there.
    ! comm [in]: a communicator
    ! input [in]: this rank's part along gather_axis
    ! gather_axis [in]: dimension along which the inputs are parts
    ! gather_counts_length [in]: length of gather_counts: comm's size
    ! gather_counts [in]: their extents, equal on all ranks
    ! scatter_axis [in]: dimension along which the outputs are parts
    ! scatter_counts_length [in]: length of scatter_counts: comm's size
    ! scatter_counts [in]: their extents, equal on all ranks
    ! options [in]: null for defaults
    ! output [out]: this rank's part along scatter_axis, not overlapping input
    ! request [out]: ends when output holds the result
    function syncyte_comm_ialltoall_along(comm, input, gather_axis, gather_counts_length, gather_counts, &
        scatter_axis, scatter_counts_length, scatter_counts, options, output, request) bind(C, &
        name="syncyte_comm_ialltoall_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int32_t), value :: gather_axis
      integer(c_int64_t), value :: gather_counts_length
      integer(c_int64_t), intent(in) :: gather_counts(*)
      integer(c_int32_t), value :: scatter_axis
      integer(c_int64_t), value :: scatter_counts_length
      integer(c_int64_t), intent(in) :: scatter_counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      type(c_ptr), intent(out) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_ialltoall_along

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
