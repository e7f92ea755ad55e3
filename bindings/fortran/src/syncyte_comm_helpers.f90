!> Interfaces of helpers/comm.c.
module syncyte_comm_helpers
  use, intrinsic :: iso_c_binding
  use syncyte_c, only: syncyte_comm_options_t
  implicit none
  public

  interface
    function fortran_comm_from_mpi(handle, options, comm) bind(C, name="fortran_comm_from_mpi") result(status)
      import
      type(*), dimension(..), intent(in) :: handle
      type(syncyte_comm_options_t), intent(in) :: options
      type(c_ptr), intent(out) :: comm
      integer(c_int32_t) :: status
    end function fortran_comm_from_mpi

    function fortran_comm_bcast(comm, root, array) bind(C, name="fortran_comm_bcast") result(status)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: root
      type(*), dimension(..), intent(inout) :: array
      integer(c_int32_t) :: status
    end function fortran_comm_bcast

    function fortran_comm_allreduce(comm, input, op, output) bind(C, name="fortran_comm_allreduce") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), optional :: input
      integer(c_int32_t), value :: op
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_comm_allreduce

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
  end interface
end module syncyte_comm_helpers
