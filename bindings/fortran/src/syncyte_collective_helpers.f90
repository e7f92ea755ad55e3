!> Interfaces of helpers/comm.c, helpers/reductions.c, helpers/along.c, helpers/nonblocking.c and of terms.c's fortran_axis.
module syncyte_collective_helpers
  use, intrinsic :: iso_c_binding
  implicit none
  public

  interface
    pure function fortran_axis(dim) bind(C, name="fortran_axis") result(axis)
      import
      integer(c_int32_t), value :: dim
      integer(c_int32_t) :: axis
    end function fortran_axis

    function fortran_comm_bcast(comm, root, array) bind(C, name="fortran_comm_bcast") result(status)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: root
      type(*), dimension(..), intent(inout) :: array
      integer(c_int32_t) :: status
    end function fortran_comm_bcast

    function fortran_comm_allgather(comm, input, output) bind(C, name="fortran_comm_allgather") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: input
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_allgather

    function fortran_comm_allgatherv(comm, input, counts, output) &
        bind(C, name="fortran_comm_allgatherv") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: input
      type(*), dimension(..), intent(in) :: counts
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_allgatherv

    function fortran_comm_alltoallv(comm, input, send_counts, recv_counts, output) &
        bind(C, name="fortran_comm_alltoallv") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: input
      type(*), dimension(..), intent(in) :: send_counts
      type(*), dimension(..), intent(in) :: recv_counts
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_alltoallv

    function fortran_comm_lengths(comm, length, lengths) bind(C, name="fortran_comm_lengths") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: length
      type(*), dimension(..), intent(inout) :: lengths
      integer(c_int32_t) :: status
    end function fortran_comm_lengths

    function fortran_comm_allreduce(comm, input, op, output) bind(C, name="fortran_comm_allreduce") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), optional :: input
      integer(c_int32_t), value :: op
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_allreduce

    function fortran_comm_reduce(comm, input, op, root, output) bind(C, name="fortran_comm_reduce") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), optional :: input
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: root
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_reduce

    function fortran_comm_scan(comm, input, op, from_last, output) bind(C, name="fortran_comm_scan") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), optional :: input
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: from_last
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_scan

    function fortran_comm_exscan(comm, input, op, from_last, output) bind(C, name="fortran_comm_exscan") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), optional :: input
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: from_last
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_exscan

    function fortran_comm_gather(comm, input, axis, lengths, root, output) &
        bind(C, name="fortran_comm_gather") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: input
      integer(c_int32_t), value :: axis
      type(*), dimension(..), intent(in), optional :: lengths
      integer(c_int32_t), value :: root
      type(*), dimension(..), intent(inout), optional :: output
      integer(c_int32_t) :: status
    end function fortran_comm_gather

    function fortran_comm_allgather_along(comm, input, axis, lengths, output) &
        bind(C, name="fortran_comm_allgather_along") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: input
      integer(c_int32_t), value :: axis
      type(*), dimension(..), intent(in), optional :: lengths
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_allgather_along

    function fortran_comm_scatter(comm, input, axis, lengths, root, output) &
        bind(C, name="fortran_comm_scatter") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), optional :: input
      integer(c_int32_t), value :: axis
      type(*), dimension(..), intent(in), optional :: lengths
      integer(c_int32_t), value :: root
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_scatter

    function fortran_comm_reduce_scatter(comm, input, axis, lengths, op, output) &
        bind(C, name="fortran_comm_reduce_scatter") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: input
      integer(c_int32_t), value :: axis
      type(*), dimension(..), intent(in), optional :: lengths
      integer(c_int32_t), value :: op
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_reduce_scatter

    function fortran_comm_alltoall(comm, input, gather_axis, gather_lengths, scatter_axis, scatter_lengths, output) &
        bind(C, name="fortran_comm_alltoall") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: input
      integer(c_int32_t), value :: gather_axis
      type(*), dimension(..), intent(in), optional :: gather_lengths
      integer(c_int32_t), value :: scatter_axis
      type(*), dimension(..), intent(in), optional :: scatter_lengths
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_alltoall

    function fortran_comm_ibcast(comm, root, array, request) &
        bind(C, name="fortran_comm_ibcast") result(status)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: root
      type(*), dimension(..), intent(inout), asynchronous :: array
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: status
    end function fortran_comm_ibcast

    function fortran_comm_iallreduce(comm, input, op, output, request) &
        bind(C, name="fortran_comm_iallreduce") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), asynchronous, optional :: input
      integer(c_int32_t), value :: op
      type(*), dimension(..), intent(inout), asynchronous :: output
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: status
    end function fortran_comm_iallreduce

    function fortran_comm_iallgather(comm, input, axis, lengths, output, request) &
        bind(C, name="fortran_comm_iallgather") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), asynchronous :: input
      integer(c_int32_t), value :: axis
      type(*), dimension(..), intent(in) :: lengths
      type(*), dimension(..), intent(inout), asynchronous :: output
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: status
    end function fortran_comm_iallgather

    function fortran_comm_ireduce_scatter(comm, input, axis, lengths, op, output, request) &
        bind(C, name="fortran_comm_ireduce_scatter") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), asynchronous :: input
      integer(c_int32_t), value :: axis
      type(*), dimension(..), intent(in) :: lengths
      integer(c_int32_t), value :: op
      type(*), dimension(..), intent(inout), asynchronous :: output
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: status
    end function fortran_comm_ireduce_scatter

    function fortran_comm_ialltoall(comm, input, gather_axis, gather_lengths, scatter_axis, scatter_lengths, output, &
                                    request) &
        bind(C, name="fortran_comm_ialltoall") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), asynchronous :: input
      integer(c_int32_t), value :: gather_axis
      type(*), dimension(..), intent(in) :: gather_lengths
      integer(c_int32_t), value :: scatter_axis
      type(*), dimension(..), intent(in) :: scatter_lengths
      type(*), dimension(..), intent(inout), asynchronous :: output
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: status
    end function fortran_comm_ialltoall
  end interface
end module syncyte_collective_helpers
