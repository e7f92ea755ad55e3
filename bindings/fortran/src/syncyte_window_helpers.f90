!> Interfaces of helpers/window.c.
module syncyte_window_helpers
  use, intrinsic :: iso_c_binding
  use syncyte_c, only: syncyte_window_options_t
  implicit none
  public

  interface
    function fortran_window_create(comm, bytes, options, window) bind(C, name="fortran_window_create") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: bytes
      type(syncyte_window_options_t), intent(in) :: options
      type(c_ptr), intent(out) :: window
      integer(c_int32_t) :: status
    end function fortran_window_create

    function fortran_window_put(window, source, rank, first) bind(C, name="fortran_window_put") result(status)
      import
      type(c_ptr), value :: window
      type(*), dimension(..), intent(in) :: source
      integer(c_int32_t), value :: rank
      type(*), dimension(..), intent(in) :: first
      integer(c_int32_t) :: status
    end function fortran_window_put

    function fortran_window_get(window, target, rank, first) bind(C, name="fortran_window_get") result(status)
      import
      type(c_ptr), value :: window
      type(*), dimension(..), intent(inout) :: target
      integer(c_int32_t), value :: rank
      type(*), dimension(..), intent(in) :: first
      integer(c_int32_t) :: status
    end function fortran_window_get

    function fortran_window_accumulate(window, source, rank, first, op) &
        bind(C, name="fortran_window_accumulate") result(status)
      import
      type(c_ptr), value :: window
      type(*), dimension(..), intent(in) :: source
      integer(c_int32_t), value :: rank
      type(*), dimension(..), intent(in) :: first
      integer(c_int32_t), value :: op
      integer(c_int32_t) :: status
    end function fortran_window_accumulate

    function fortran_window_fetch_op(window, operand, rank, first, op, previous) &
        bind(C, name="fortran_window_fetch_op") result(status)
      import
      type(c_ptr), value :: window
      type(*), dimension(..), intent(in) :: operand
      integer(c_int32_t), value :: rank
      type(*), dimension(..), intent(in) :: first
      integer(c_int32_t), value :: op
      type(*), dimension(..), intent(inout) :: previous
      integer(c_int32_t) :: status
    end function fortran_window_fetch_op

    function fortran_window_compare_swap(window, expected, desired, rank, first, previous) &
        bind(C, name="fortran_window_compare_swap") result(status)
      import
      type(c_ptr), value :: window
      type(*), dimension(..), intent(in) :: expected, desired
      integer(c_int32_t), value :: rank
      type(*), dimension(..), intent(in) :: first
      type(*), dimension(..), intent(inout) :: previous
      integer(c_int32_t) :: status
    end function fortran_window_compare_swap
  end interface
end module syncyte_window_helpers
