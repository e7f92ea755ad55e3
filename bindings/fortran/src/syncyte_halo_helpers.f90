!> Interfaces of helpers/halo.c.
module syncyte_halo_helpers
  use, intrinsic :: iso_c_binding
  implicit none
  public

  interface
    function fortran_halo_create(cart, array, low, high, dims, corners, halo) &
        bind(C, name="fortran_halo_create") result(status)
      import
      type(c_ptr), value :: cart
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in) :: low
      type(*), dimension(..), intent(in), optional :: high, dims
      integer(c_int32_t), value :: corners
      type(c_ptr), intent(inout) :: halo
      integer(c_int32_t) :: status
    end function fortran_halo_create

    function fortran_halo_exchange(halo, array) &
        bind(C, name="fortran_halo_exchange") result(status)
      import
      type(c_ptr), value :: halo
      type(*), dimension(..), intent(inout) :: array
      integer(c_int32_t) :: status
    end function fortran_halo_exchange

    function fortran_halo_accumulate(halo, array) &
        bind(C, name="fortran_halo_accumulate") result(status)
      import
      type(c_ptr), value :: halo
      type(*), dimension(..), intent(inout) :: array
      integer(c_int32_t) :: status
    end function fortran_halo_accumulate

    function fortran_halo_iexchange(halo, array, request) &
        bind(C, name="fortran_halo_iexchange") result(status)
      import
      type(c_ptr), value :: halo
      type(*), dimension(..), intent(inout), asynchronous :: array
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: status
    end function fortran_halo_iexchange

    function fortran_halo_iaccumulate(halo, array, request) &
        bind(C, name="fortran_halo_iaccumulate") result(status)
      import
      type(c_ptr), value :: halo
      type(*), dimension(..), intent(inout), asynchronous :: array
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: status
    end function fortran_halo_iaccumulate
  end interface
end module syncyte_halo_helpers
