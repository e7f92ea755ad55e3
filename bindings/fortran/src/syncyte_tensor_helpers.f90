!> Interfaces of helpers/tensor.c and helpers/counter.c.
module syncyte_tensor_helpers
  use, intrinsic :: iso_c_binding
  use syncyte_c, only: syncyte_tensor_options_t
  implicit none
  public

  interface
    function fortran_tensor_create(comm, dtype, shape, local_rows, options, tensor) &
        bind(C, name="fortran_tensor_create") result(status)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: dtype
      type(*), dimension(..), intent(in) :: shape
      type(*), dimension(..), intent(in), optional :: local_rows
      type(syncyte_tensor_options_t), intent(in) :: options
      type(c_ptr), intent(out) :: tensor
      integer(c_int32_t) :: status
    end function fortran_tensor_create

    function fortran_tensor_wrap(comm, array, options, tensor) bind(C, name="fortran_tensor_wrap") result(status)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in) :: array
      type(syncyte_tensor_options_t), intent(in) :: options
      type(c_ptr), intent(out) :: tensor
      integer(c_int32_t) :: status
    end function fortran_tensor_wrap

    function fortran_tensor_gather(tensor, index, output) bind(C, name="fortran_tensor_gather") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in) :: index
      type(*), dimension(..), intent(inout) :: output
      integer(c_int32_t) :: status
    end function fortran_tensor_gather

    function fortran_tensor_scatter(tensor, index, source) bind(C, name="fortran_tensor_scatter") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in) :: index, source
      integer(c_int32_t) :: status
    end function fortran_tensor_scatter

    function fortran_tensor_scatter_add(tensor, index, source) &
        bind(C, name="fortran_tensor_scatter_add") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in) :: index, source
      integer(c_int32_t) :: status
    end function fortran_tensor_scatter_add

    function fortran_tensor_owner(tensor, index, ranks) bind(C, name="fortran_tensor_owner") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in) :: index
      type(*), dimension(..), intent(inout) :: ranks
      integer(c_int32_t) :: status
    end function fortran_tensor_owner

    function fortran_tensor_get_box(tensor, array, lower) bind(C, name="fortran_tensor_get_box") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(inout) :: array
      type(*), dimension(..), intent(in) :: lower
      integer(c_int32_t) :: status
    end function fortran_tensor_get_box

    function fortran_tensor_put_box(tensor, array, lower) bind(C, name="fortran_tensor_put_box") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in) :: array, lower
      integer(c_int32_t) :: status
    end function fortran_tensor_put_box

    function fortran_tensor_load(tensor, element, value) bind(C, name="fortran_tensor_load") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in) :: element
      integer(c_int64_t), intent(inout) :: value
      integer(c_int32_t) :: status
    end function fortran_tensor_load

    function fortran_tensor_store(tensor, element, value) bind(C, name="fortran_tensor_store") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in) :: element, value
      integer(c_int32_t) :: status
    end function fortran_tensor_store

    function fortran_tensor_fetch_add(tensor, element, operand, previous) &
        bind(C, name="fortran_tensor_fetch_add") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in) :: element, operand
      type(*), dimension(..), intent(inout), optional :: previous
      integer(c_int32_t) :: status
    end function fortran_tensor_fetch_add

    function fortran_tensor_compare_swap(tensor, element, expected, desired, previous) &
        bind(C, name="fortran_tensor_compare_swap") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in) :: element, expected, desired
      type(*), dimension(..), intent(inout), optional :: previous
      integer(c_int32_t) :: status
    end function fortran_tensor_compare_swap

    function fortran_tensor_wait(tensor, element, compare, value, timeout, found) &
        bind(C, name="fortran_tensor_wait") result(status)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in) :: element
      integer(c_int32_t), value :: compare
      type(*), dimension(..), intent(in) :: value
      real(c_double), value :: timeout
      type(*), dimension(..), intent(inout), optional :: found
      integer(c_int32_t) :: status
    end function fortran_tensor_wait
  end interface
end module syncyte_tensor_helpers
