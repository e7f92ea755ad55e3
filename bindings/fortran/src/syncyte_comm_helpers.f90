!> Interfaces of helpers/comm.c that make communicators.
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
  end interface
end module syncyte_comm_helpers
