! SPDX-License-Identifier: BSD-3-Clause
! Generated from helpers/fortran.h by bindings/generate; do not edit.
!> C functions for the Fortran methods, besides Syncyte's C interface: arrays and integers behind Fortran's
!> descriptors.
module syncyte_fortran_c
  use, intrinsic :: iso_c_binding
  use syncyte_c
  implicit none
  public

  ! this rank
  integer(c_int32_t), parameter :: FORTRAN_ERROR_HERE = 0_c_int32_t
  ! all ranks, if the communicator checks (SYNCYTE_CHECK)
  integer(c_int32_t), parameter :: FORTRAN_ERROR_EVERYWHERE = 1_c_int32_t
  ! all ranks, with SYNCYTE_CHECK=off too
  integer(c_int32_t), parameter :: FORTRAN_ERROR_EVERYWHERE_ALWAYS = 2_c_int32_t
  ! all ranks, at the end of the started operation
  integer(c_int32_t), parameter :: FORTRAN_ERROR_IN_REQUEST = 3_c_int32_t
  ! this rank and its neighbours
  integer(c_int32_t), parameter :: FORTRAN_ERROR_AT_NEIGHBOURS = 4_c_int32_t

  interface

    !> Takes part in an operation whose arguments are wrong on this rank; the thread's last error is the reason.
    ! scope [in]: the ranks that get the error
    ! comm [in]: the operation's communicator, or its halo; null for an error on this rank alone
    ! status [in]: of the error
    ! operation [in]: the C function's name without "syncyte_"
    ! Returns: the status for the caller
    function fortran_refuse(scope, comm, status, operation) bind(C, name="fortran_refuse") result(answer)
      import
      integer(c_int32_t), value :: scope
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: status
      character(kind=c_char), intent(in) :: operation(*)
      integer(c_int32_t) :: answer
    end function fortran_refuse

    !> The thread's last error in Fortran's terms, for example "rank 2: comm_gather (world): root is 3; expected 0
    !> to 2".
    ! Returns: a text that is valid until this thread's next call
    function fortran_last_error() bind(C, name="fortran_last_error") result(answer)
      import
      type(c_ptr) :: answer
    end function fortran_last_error

    !> Prints the thread's last error and a backtrace, and ends the job on all ranks.
    ! status [in]: of the error
    ! Returns: never
    function fortran_end_job(status) bind(C, name="fortran_end_job") result(answer)
      import
      integer(c_int32_t), value :: status
      integer(c_int32_t) :: answer
    end function fortran_end_job

    !> Describes an array.
    ! array [in]: any array
    ! name [in]: of the dummy argument
    ! buffer [out]: the description
    function fortran_buffer(array, name, buffer) bind(C, name="fortran_buffer") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      character(kind=c_char), intent(in) :: name(*)
      type(syncyte_buffer_t), intent(inout) :: buffer
      integer(c_int32_t) :: answer
    end function fortran_buffer

    !> Describes an array that may carry elements of another type.
    ! array [in]: any array
    ! name [in]: of the dummy argument
    ! stored [in]: element type to take it for if the array's can carry that, or 0
    ! buffer [out]: the description
    function fortran_buffer_as(array, name, stored, buffer) bind(C, name="fortran_buffer_as") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: stored
      type(syncyte_buffer_t), intent(inout) :: buffer
      integer(c_int32_t) :: answer
    end function fortran_buffer_as

    !> Describes an array, or a contiguous copy of a section, which fortran_release() frees.
    ! array [in]: any array
    ! name [in]: of the dummy argument
    ! buffer [out]: the description
    function fortran_dense_buffer(array, name, buffer) bind(C, name="fortran_dense_buffer") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      character(kind=c_char), intent(in) :: name(*)
      type(syncyte_buffer_t), intent(inout) :: buffer
      integer(c_int32_t) :: answer
    end function fortran_dense_buffer

    !> Frees the copy that fortran_dense_buffer() or fortran_integers_buffer() has made.
    ! array [in]: the array
    ! is_written [in]: 1: the copy's elements go back first
    ! buffer [in,out]: its description
    function fortran_release(array, is_written, buffer) bind(C, name="fortran_release") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      integer(c_int32_t), value :: is_written
      type(syncyte_buffer_t), intent(inout) :: buffer
      integer(c_int32_t) :: answer
    end function fortran_release

    !> Checks that two scalars have one type.
    ! array [in]: a scalar
    ! like [in]: another one
    ! name [in]: of the first
    function fortran_alike(array, like, name) bind(C, name="fortran_alike") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      type(*), dimension(..), intent(in), target, asynchronous :: like
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t) :: answer
    end function fortran_alike

    !> Reads a scalar integer of any kind.
    ! scalar [in]: an integer
    ! name [in]: of the dummy argument
    ! value [out]: its value
    function fortran_integer(scalar, name, value) bind(C, name="fortran_integer") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: scalar
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: value
      integer(c_int32_t) :: answer
    end function fortran_integer

    !> Writes a scalar integer of any kind.
    ! scalar [in,out]: an integer; absent is fine
    ! name [in]: of the dummy argument
    ! value [in]: the value
    function fortran_set_integer(scalar, name, value) bind(C, name="fortran_set_integer") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous, optional :: scalar
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
      integer(c_int32_t) :: answer
    end function fortran_set_integer

    !> Number of elements of an array.
    ! array [in]: any array
    ! Returns: 0 for one of assumed size, or with too many elements.
    function fortran_count(array) bind(C, name="fortran_count") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      integer(c_int64_t) :: answer
    end function fortran_count

    !> Reads integers of any kind, rank and strides in array element order.
    ! array [in]: integers
    ! name [in]: of the dummy argument
    ! is_reversed [in]: 1: in reverse order
    ! values [out]: the numbers
    function fortran_integers(array, name, is_reversed, values) bind(C, name="fortran_integers") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: is_reversed
      integer(c_int64_t), intent(inout) :: values(*)
      integer(c_int32_t) :: answer
    end function fortran_integers

    !> Reads a number of integers that is known; fortran_integers() reads any.
    ! array [in]: integers
    ! name [in]: of the dummy argument
    ! count [in]: expected number
    ! values [out]: the numbers
    function fortran_some_integers(array, name, count, values) bind(C, name="fortran_some_integers") &
        result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(inout) :: values(*)
      integer(c_int32_t) :: answer
    end function fortran_some_integers

    !> Describes integers as a contiguous array of int64: the array itself, or a copy that fortran_release() frees.
    ! array [in]: integers of any kind, rank and strides
    ! name [in]: of the dummy argument
    ! buffer [out]: the description
    function fortran_integers_buffer(array, name, buffer) bind(C, name="fortran_integers_buffer") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      character(kind=c_char), intent(in) :: name(*)
      type(syncyte_buffer_t), intent(inout) :: buffer
      integer(c_int32_t) :: answer
    end function fortran_integers_buffer

    !> Writes integers of any kind, rank and strides, as fortran_integers() reads them.
    ! array [in,out]: integers
    ! name [in]: of the dummy argument
    ! values [in]: the numbers
    function fortran_set_integers(array, name, values) bind(C, name="fortran_set_integers") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(in) :: values(*)
      integer(c_int32_t) :: answer
    end function fortran_set_integers

    !> MPI's handle of a communicator: an integer, or a type(MPI_Comm), which holds one by the MPI standard.
    ! handle [in]: an integer or a type(MPI_Comm)
    ! name [in]: of the dummy argument
    ! value [out]: the handle
    function fortran_handle(handle, name, value) bind(C, name="fortran_handle") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: handle
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), intent(inout) :: value
      integer(c_int32_t) :: answer
    end function fortran_handle

    !> The axis of a dimension, counted from the end.
    ! dim [in]: from 1 to the array's rank
    ! array [in]: array that has the dimension
    ! name [in]: of the dummy argument
    ! array_name [in]: of the array
    ! axis [out]: -dim
    function fortran_axis(dim, array, name, array_name, axis) bind(C, name="fortran_axis") result(answer)
      import
      integer(c_int32_t), value :: dim
      type(syncyte_buffer_t), intent(in) :: array
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: array_name(*)
      integer(c_int32_t), intent(inout) :: axis
      integer(c_int32_t) :: answer
    end function fortran_axis

    !> Row numbers of a tensor, from 0, read from numbers from 1.
    ! index [in]: integer(4) or integer(8)
    ! rows [in]: the tensor has
    ! buffer [out]: the numbers; syncyte_memory_free() frees its data
    function fortran_rows(index, rows, buffer) bind(C, name="fortran_rows") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: index
      integer(c_int64_t), value :: rows
      type(syncyte_buffer_t), intent(inout) :: buffer
      integer(c_int32_t) :: answer
    end function fortran_rows

    !> Home ranks of a store's keys.
    ! store [in]: a store
    ! keys [in]: integers of any kind, from 0
    ! ranks [in,out]: integer(4), contiguous, as many elements
    function fortran_store_owner(store, keys, ranks) bind(C, name="fortran_store_owner") result(answer)
      import
      type(c_ptr), value :: store
      type(*), dimension(..), intent(in), target, asynchronous :: keys
      type(*), dimension(..), intent(inout), target, asynchronous :: ranks
      integer(c_int32_t) :: answer
    end function fortran_store_owner

    !> Which of a store's keys are at this node.
    ! store [in]: a store
    ! keys [in]: integers of any kind, from 0
    ! flags [in,out]: integer(4), contiguous, as many elements
    function fortran_store_is_local(store, keys, flags) bind(C, name="fortran_store_is_local") result(answer)
      import
      type(c_ptr), value :: store
      type(*), dimension(..), intent(in), target, asynchronous :: keys
      type(*), dimension(..), intent(inout), target, asynchronous :: flags
      integer(c_int32_t) :: answer
    end function fortran_store_is_local

    !> Ranks at whose node the values of a store's keys are.
    ! store [in]: a store
    ! keys [in]: integers of any kind, from 0
    ! ranks [in,out]: integer(4), contiguous, as many elements
    function fortran_store_locate(store, keys, ranks) bind(C, name="fortran_store_locate") result(answer)
      import
      type(c_ptr), value :: store
      type(*), dimension(..), intent(in), target, asynchronous :: keys
      type(*), dimension(..), intent(inout), target, asynchronous :: ranks
      integer(c_int32_t) :: answer
    end function fortran_store_locate

    !> Gives keys that were lost with a node their homes' last values.
    ! store [in]: a store
    ! keys [in]: integers of any kind, from 0
    ! flags [in,out]: integer(4), contiguous, as many elements
    function fortran_store_adopt_last(store, keys, flags) bind(C, name="fortran_store_adopt_last") &
        result(answer)
      import
      type(c_ptr), value :: store
      type(*), dimension(..), intent(in), target, asynchronous :: keys
      type(*), dimension(..), intent(inout), target, asynchronous :: flags
      integer(c_int32_t) :: answer
    end function fortran_store_adopt_last

    !> Numbers of values of a store's keys.
    ! store [in]: a store
    ! keys [in]: integers of any kind, from 0
    ! lengths [in,out]: integer(8), contiguous, as many elements
    function fortran_store_lengths(store, keys, lengths) bind(C, name="fortran_store_lengths") result(answer)
      import
      type(c_ptr), value :: store
      type(*), dimension(..), intent(in), target, asynchronous :: keys
      type(*), dimension(..), intent(inout), target, asynchronous :: lengths
      integer(c_int32_t) :: answer
    end function fortran_store_lengths

    !> Owners of rows of a tensor.
    ! tensor [in]: a tensor
    ! index [in]: integer(4) or integer(8), from 1
    ! ranks [in,out]: integer(4), contiguous, as many elements
    function fortran_tensor_owner(tensor, index, ranks) bind(C, name="fortran_tensor_owner") result(answer)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in), target, asynchronous :: index
      type(*), dimension(..), intent(inout), target, asynchronous :: ranks
      integer(c_int32_t) :: answer
    end function fortran_tensor_owner

    !> Reads a patch of a tensor, the elements lo to hi.
    ! tensor [in]: a tensor
    ! lo [in]: any integers from 1, as many as dimensions
    ! hi [in]: any integers, as many as dimensions
    ! array [in,out]: any strides; its extents are those of lo to hi; it may lack dimensions of extent 1
    function fortran_tensor_get(tensor, lo, hi, array) bind(C, name="fortran_tensor_get") result(answer)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in), target, asynchronous :: lo
      type(*), dimension(..), intent(in), target, asynchronous :: hi
      type(*), dimension(..), intent(inout), target, asynchronous :: array
      integer(c_int32_t) :: answer
    end function fortran_tensor_get

    !> Writes a patch of a tensor, as fortran_tensor_get() reads it.
    ! tensor [in]: a tensor
    ! lo [in]: any integers from 1, as many as dimensions
    ! hi [in]: any integers, as many as dimensions
    ! array [in]: as of fortran_tensor_get()
    function fortran_tensor_put(tensor, lo, hi, array) bind(C, name="fortran_tensor_put") result(answer)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in), target, asynchronous :: lo
      type(*), dimension(..), intent(in), target, asynchronous :: hi
      type(*), dimension(..), intent(in), target, asynchronous :: array
      integer(c_int32_t) :: answer
    end function fortran_tensor_put

    !> Combines a patch of a tensor with alpha * array, by syncyte_tensor_accumulate_box().
    ! tensor [in]: a tensor
    ! lo [in]: any integers from 1, as many as dimensions
    ! hi [in]: any integers, as many as dimensions
    ! array [in]: as of fortran_tensor_get()
    ! alpha [in]: one element of the tensor's type
    ! op [in]: how the elements are combined
    function fortran_tensor_acc(tensor, lo, hi, array, alpha, op) bind(C, name="fortran_tensor_acc") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in), target, asynchronous :: lo
      type(*), dimension(..), intent(in), target, asynchronous :: hi
      type(*), dimension(..), intent(in), target, asynchronous :: array
      type(*), dimension(..), intent(in), target, asynchronous, optional :: alpha
      integer(c_int32_t), value :: op
      integer(c_int32_t) :: answer
    end function fortran_tensor_acc

    !> Starts fortran_tensor_acc(), by syncyte_tensor_iaccumulate_box().
    ! tensor [in]: a tensor
    ! lo [in]: any integers from 1, as many as dimensions
    ! hi [in]: any integers, as many as dimensions
    ! array [in]: as of fortran_tensor_get(); it may be re-used on return
    ! alpha [in]: one element of the tensor's type
    ! op [in]: how the elements are combined
    ! request [out]: ends when the elements are combined; needs no MPI
    function fortran_tensor_iacc(tensor, lo, hi, array, alpha, op, request) bind(C, name="fortran_tensor_iacc") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in), target, asynchronous :: lo
      type(*), dimension(..), intent(in), target, asynchronous :: hi
      type(*), dimension(..), intent(in), target, asynchronous :: array
      type(*), dimension(..), intent(in), target, asynchronous, optional :: alpha
      integer(c_int32_t), value :: op
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function fortran_tensor_iacc

    !> Owners of a patch of a tensor. Elements of longer outputs behind the owners become -1 (ranks) or 0.
    ! tensor [in]: a tensor
    ! lo [in]: any integers from 1, as many as dimensions
    ! hi [in]: any integers, as many as dimensions
    ! ranks [in,out]: any integers, at most as many as the communicator's ranks: owners
    ! first [in,out]: likewise: each owner's first row in the patch
    ! last [in,out]: likewise: its last row
    ! count [out]: number of owners
    function fortran_tensor_locate(tensor, lo, hi, ranks, first, last, count) bind(C, &
        name="fortran_tensor_locate") result(answer)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in), target, asynchronous :: lo
      type(*), dimension(..), intent(in), target, asynchronous :: hi
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: ranks
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: first
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: last
      integer(c_int64_t), intent(inout) :: count
      integer(c_int32_t) :: answer
    end function fortran_tensor_locate

    !> Number from 0 of an element of a tensor.
    ! tensor [in]: a tensor
    ! element [in]: number from 1 in array element order, or subscripts
    ! number [out]: in C's order
    function fortran_element(tensor, element, number) bind(C, name="fortran_element") result(answer)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in), target, asynchronous :: element
      integer(c_int64_t), intent(inout) :: number
      integer(c_int32_t) :: answer
    end function fortran_element

    !> Waits for a row's lock.
    ! tensor [in]: a tensor
    ! row [in]: number of the row, from 1
    function fortran_tensor_lock(tensor, row) bind(C, name="fortran_tensor_lock") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: row
      integer(c_int32_t) :: answer
    end function fortran_tensor_lock

    !> Releases a row's lock.
    ! tensor [in]: a tensor
    ! row [in]: number of the row, from 1
    function fortran_tensor_unlock(tensor, row) bind(C, name="fortran_tensor_unlock") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: row
      integer(c_int32_t) :: answer
    end function fortran_tensor_unlock

    !> Fits an array to a box of a tensor: dimensions that the array lacks have extent 1.
    ! global [in]: the tensor's shape
    ! buffer [in,out]: the array
    ! length [in]: of first
    ! first [in,out]: the box's first element in C's order; from 1, then from 0
    function fortran_box(global, buffer, length, first) bind(C, name="fortran_box") result(answer)
      import
      type(syncyte_buffer_t), intent(in) :: global
      type(syncyte_buffer_t), intent(inout) :: buffer
      integer(c_int64_t), value :: length
      integer(c_int64_t), intent(inout) :: first(*)
      integer(c_int32_t) :: answer
    end function fortran_box

    !> The place of an element in a window, in bytes.
    ! first [in]: number of the element, from 1
    ! array [in]: whose type the element has
    ! offset [out]: from the start of the part
    function fortran_place(first, array, offset) bind(C, name="fortran_place") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: first
      type(syncyte_buffer_t), intent(in) :: array
      integer(c_int64_t), intent(inout) :: offset
      integer(c_int32_t) :: answer
    end function fortran_place

    !> Makes a halo.
    ! cart [in]: a Cartesian communicator
    ! array [in]: one of the halo's arrays
    ! low [in]: integers
    ! high [in]: integers; absent: as low
    ! axes [in]: integers
    ! corners [in]: 0 or 1
    ! halo [out]: the halo
    function fortran_halo_create(cart, array, low, high, axes, corners, halo) bind(C, &
        name="fortran_halo_create") result(answer)
      import
      type(c_ptr), value :: cart
      type(*), dimension(..), intent(in), target, asynchronous :: array
      type(*), dimension(..), intent(in), target, asynchronous :: low
      type(*), dimension(..), intent(in), target, asynchronous, optional :: high
      type(*), dimension(..), intent(in), target, asynchronous, optional :: axes
      integer(c_int32_t), value :: corners
      type(c_ptr), intent(inout) :: halo
      integer(c_int32_t) :: answer
    end function fortran_halo_create

    !> Moves rows of up to 8 arrays, in place, to other ranks.
    ! comm [in]: a communicator
    ! destinations [in]: integers: the rank that each row goes to
    ! rows [in,out]: integer: number of rows of this rank then
    ! array [in,out]: any array, with at least as many rows as destinations
    ! array2 [in,out]: likewise
    ! array3 [in,out]: likewise
    ! array4 [in,out]: likewise
    ! array5 [in,out]: likewise
    ! array6 [in,out]: likewise
    ! array7 [in,out]: likewise
    ! array8 [in,out]: likewise
    function fortran_relocate_rows(comm, destinations, rows, array, array2, array3, array4, array5, array6, &
        array7, array8) bind(C, name="fortran_relocate_rows") result(answer)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), target, asynchronous :: destinations
      type(*), dimension(..), intent(inout), target, asynchronous :: rows
      type(*), dimension(..), intent(inout), target, asynchronous :: array
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array2
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array3
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array4
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array5
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array6
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array7
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array8
      integer(c_int32_t) :: answer
    end function fortran_relocate_rows

    !> Makes a layout on a mesh of ranks. Integers of any kind; dimensions are those of Fortran's arrays.
    ! comm [in]: a communicator
    ! cells [in]: integers: cells along each dimension
    ! mesh [in]: integers: ranks along each dimension of the mesh; absent: all along one
    ! axes [in]: integers: dimension of the array that each dimension of the mesh cuts, 0: none; absent: the last
    ! ones
    ! lengths [in]: integers: cells of each part, dimension by dimension
    ! ghosts [in]: integers: before the first point, one number or one for each dimension
    ! ghosts_high [in]: integers: behind the last point; absent: as ghosts
    ! shared [in]: integers: the dimensions along which arrays hold the borders of cells
    ! periodic [in]: integers: the dimensions that are periodic
    ! truth [in]: rule for points that two blocks store
    ! ceil [in]: 0 or 1, as in syncyte_layout_options_t
    ! block [in]: integer, as in syncyte_layout_options_t
    ! weighted [in]: 0 or 1, as in syncyte_layout_options_t
    ! layout [out]: the layout
    function fortran_layout_mesh(comm, cells, mesh, axes, lengths, ghosts, ghosts_high, shared, periodic, truth, &
        ceil, block, weighted, layout) bind(C, name="fortran_layout_mesh") result(answer)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), target, asynchronous :: cells
      type(*), dimension(..), intent(in), target, asynchronous, optional :: mesh
      type(*), dimension(..), intent(in), target, asynchronous, optional :: axes
      type(*), dimension(..), intent(in), target, asynchronous, optional :: lengths
      type(*), dimension(..), intent(in), target, asynchronous, optional :: ghosts
      type(*), dimension(..), intent(in), target, asynchronous, optional :: ghosts_high
      type(*), dimension(..), intent(in), target, asynchronous, optional :: shared
      type(*), dimension(..), intent(in), target, asynchronous, optional :: periodic
      integer(c_int32_t), value :: truth
      integer(c_int32_t), value :: ceil
      type(*), dimension(..), intent(in), target, asynchronous, optional :: block
      integer(c_int32_t), value :: weighted
      type(c_ptr), intent(inout) :: layout
      integer(c_int32_t) :: answer
    end function fortran_layout_mesh

    !> Makes a layout of blocks that the ranks have chosen.
    ! comm [in]: a communicator
    ! whole [in]: integers: cells along each dimension
    ! first [in]: integers: the first cell of each block, from 1: block by block; absent: no block
    ! count [in]: integers: cells of each block, as many as first
    ! ghosts [in]: as of fortran_layout_mesh()
    ! ghosts_high [in]: as of fortran_layout_mesh()
    ! shared [in]: as of fortran_layout_mesh()
    ! periodic [in]: as of fortran_layout_mesh()
    ! truth [in]: rule for points that two blocks store
    ! layout [out]: the layout
    function fortran_layout_blocks(comm, whole, first, count, ghosts, ghosts_high, shared, periodic, truth, &
        layout) bind(C, name="fortran_layout_blocks") result(answer)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), target, asynchronous :: whole
      type(*), dimension(..), intent(in), target, asynchronous, optional :: first
      type(*), dimension(..), intent(in), target, asynchronous, optional :: count
      type(*), dimension(..), intent(in), target, asynchronous, optional :: ghosts
      type(*), dimension(..), intent(in), target, asynchronous, optional :: ghosts_high
      type(*), dimension(..), intent(in), target, asynchronous, optional :: shared
      type(*), dimension(..), intent(in), target, asynchronous, optional :: periodic
      integer(c_int32_t), value :: truth
      type(c_ptr), intent(inout) :: layout
      integer(c_int32_t) :: answer
    end function fortran_layout_blocks

    !> Makes a layout of the points that the ranks have listed.
    ! comm [in]: a communicator
    ! whole [in]: integers: extents of the whole array
    ! points [in]: integers: the points of this rank's array, from 1; absent: no array
    ! ghosts [in]: integer: number of the last ones, which are ghosts
    ! truth [in]: which copy of a point is right
    ! layout [out]: the layout
    function fortran_layout_indices(comm, whole, points, ghosts, truth, layout) bind(C, &
        name="fortran_layout_indices") result(answer)
      import
      type(c_ptr), value :: comm
      type(*), dimension(..), intent(in), target, asynchronous :: whole
      type(*), dimension(..), intent(in), target, asynchronous, optional :: points
      type(*), dimension(..), intent(in), target, asynchronous, optional :: ghosts
      integer(c_int32_t), value :: truth
      type(c_ptr), intent(inout) :: layout
      integer(c_int32_t) :: answer
    end function fortran_layout_indices

    !> Makes a layout of the same blocks for arrays of other points.
    ! grid [in]: a layout
    ! ghosts [in]: as of fortran_layout_mesh()
    ! ghosts_high [in]: as of fortran_layout_mesh()
    ! shared [in]: as of fortran_layout_mesh()
    ! periodic [in]: as of fortran_layout_mesh()
    ! truth [in]: rule for points that two blocks store
    ! layout [out]: the new layout
    function fortran_layout_like(grid, ghosts, ghosts_high, shared, periodic, truth, layout) bind(C, &
        name="fortran_layout_like") result(answer)
      import
      type(c_ptr), value :: grid
      type(*), dimension(..), intent(in), target, asynchronous, optional :: ghosts
      type(*), dimension(..), intent(in), target, asynchronous, optional :: ghosts_high
      type(*), dimension(..), intent(in), target, asynchronous, optional :: shared
      type(*), dimension(..), intent(in), target, asynchronous, optional :: periodic
      integer(c_int32_t), value :: truth
      type(c_ptr), intent(inout) :: layout
      integer(c_int32_t) :: answer
    end function fortran_layout_like

    !> Finds who has a point.
    ! layout [in]: a layout
    ! point [in]: integers: the point, from 1
    ! rank [out]: the owner
    ! index [out]: place in the block's array, from 0, in Fortran's order of dimensions
    ! block [out]: number of the block among the owner's, from 0
    function fortran_layout_pieces(layout, point, rank, index, block) bind(C, name="fortran_layout_pieces") &
        result(answer)
      import
      type(c_ptr), value :: layout
      type(*), dimension(..), intent(in), target, asynchronous :: point
      integer(c_int32_t), intent(inout) :: rank
      integer(c_int64_t), intent(inout) :: index(*)
      integer(c_int32_t), intent(inout) :: block
      integer(c_int32_t) :: answer
    end function fortran_layout_pieces

    !> Names the dimensions of a layout.
    ! layout [in]: a layout
    ! names [in]: a name for each dimension, with commas between, in Fortran's order
    ! units [in]: likewise
    function fortran_layout_name_axes(layout, names, units) bind(C, name="fortran_layout_name_axes") &
        result(answer)
      import
      type(c_ptr), value :: layout
      character(kind=c_char), intent(in) :: names(*)
      character(kind=c_char), intent(in), optional :: units(*)
      integer(c_int32_t) :: answer
    end function fortran_layout_name_axes

    !> Moves an array from one layout to another.
    ! layout [in]: the array's layout
    ! array [in]: this rank's array; absent on a rank without a block
    ! to [in]: the layout to move to
    ! target [in,out]: this rank's array there
    ! dtype [in]: element type, or 0: that of the arrays
    ! buffer_bytes [in]: integer: most memory for messages; absent: the default
    ! first [in]: integers: first point of one array in the other one, of which it is a box; from 1
    function fortran_layout_relocate(layout, array, to, target, dtype, buffer_bytes, first) bind(C, &
        name="fortran_layout_relocate") result(answer)
      import
      type(c_ptr), value :: layout
      type(*), dimension(..), intent(in), target, asynchronous, optional :: array
      type(c_ptr), value :: to
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: target
      integer(c_int32_t), value :: dtype
      type(*), dimension(..), intent(in), target, asynchronous, optional :: buffer_bytes
      type(*), dimension(..), intent(in), target, asynchronous, optional :: first
      integer(c_int32_t) :: answer
    end function fortran_layout_relocate

    !> Does the adjoint of fortran_layout_relocate().
    ! layout [in]: the array's layout
    ! target [in]: this rank's array in `to`; absent on a rank without a block
    ! to [in]: the target's layout
    ! array [in,out]: this rank's array
    ! dtype [in]: element type, or 0: that of the arrays
    ! buffer_bytes [in]: integer: most memory for messages; absent: the default
    ! first [in]: integers: first point of one array in the other one, of which it is a box; from 1
    function fortran_layout_relocate_adjoint(layout, target, to, array, dtype, buffer_bytes, first) bind(C, &
        name="fortran_layout_relocate_adjoint") result(answer)
      import
      type(c_ptr), value :: layout
      type(*), dimension(..), intent(in), target, asynchronous, optional :: target
      type(c_ptr), value :: to
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array
      integer(c_int32_t), value :: dtype
      type(*), dimension(..), intent(in), target, asynchronous, optional :: buffer_bytes
      type(*), dimension(..), intent(in), target, asynchronous, optional :: first
      integer(c_int32_t) :: answer
    end function fortran_layout_relocate_adjoint

    !> Adds a field to a bundle.
    ! bundle [in]: a bundle
    ! name [in]: of the field
    ! array [in,out]: this rank's array; absent on a rank without a block
    ! layout [in]: the field's
    ! dtype [in]: element type, or 0: that of the array
    function fortran_bundle_add(bundle, name, array, layout, dtype) bind(C, name="fortran_bundle_add") &
        result(answer)
      import
      type(c_ptr), value :: bundle
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array
      type(c_ptr), value :: layout
      integer(c_int32_t), value :: dtype
      integer(c_int32_t) :: answer
    end function fortran_bundle_add

    !> Gives a field of a bundle another array.
    ! bundle [in]: a bundle
    ! name [in]: of the field
    ! array [in,out]: this rank's array; absent on a rank without a block
    function fortran_bundle_set_array(bundle, name, array) bind(C, name="fortran_bundle_set_array") &
        result(answer)
      import
      type(c_ptr), value :: bundle
      character(kind=c_char), intent(in) :: name(*)
      type(*), dimension(..), intent(inout), target, asynchronous, optional :: array
      integer(c_int32_t) :: answer
    end function fortran_bundle_set_array

    !> Publishes this rank's part of the next version, by syncyte_tensor_publish().
    ! tensor [in]: a tensor with slots
    ! array [in]: this rank's array, with its ghosts; absent on a rank without a block
    ! step [in]: the caller's number of the version
    function fortran_tensor_publish(tensor, array, step) bind(C, name="fortran_tensor_publish") result(answer)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in), target, asynchronous, optional :: array
      integer(c_int64_t), value :: step
      integer(c_int32_t) :: answer
    end function fortran_tensor_publish

    !> Reads a box of the newest version, by syncyte_tensor_take().
    ! tensor [in]: a tensor with slots
    ! lower [in]: any integers from 1, as many as the field's dimensions
    ! array [in,out]: any strides; dimensions that it lacks have extent 1
    ! at_least [in]: lowest step that is taken
    ! timeout [in]: seconds; less than 0: no limit
    ! step [out]: the step of the version
    function fortran_tensor_take(tensor, lower, array, at_least, timeout, step) bind(C, &
        name="fortran_tensor_take") result(answer)
      import
      type(c_ptr), value :: tensor
      type(*), dimension(..), intent(in), target, asynchronous :: lower
      type(*), dimension(..), intent(inout), target, asynchronous :: array
      integer(c_int64_t), value :: at_least
      real(c_double), value :: timeout
      integer(c_int64_t), intent(inout) :: step
      integer(c_int32_t) :: answer
    end function fortran_tensor_take

    !> This process's rank in a tensor's communicator.
    ! tensor [in]: a tensor
    ! rank [out]: its rank
    function fortran_own_rank(tensor, rank) bind(C, name="fortran_own_rank") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int32_t), intent(inout) :: rank
      integer(c_int32_t) :: answer
    end function fortran_own_rank

    !> Whether an array begins in a slice of a shared cache.
    ! array [in]: any array
    ! holds [out]: 1 or 0
    function fortran_cache_holds(array, holds) bind(C, name="fortran_cache_holds") result(answer)
      import
      type(*), dimension(..), intent(in), target, asynchronous :: array
      integer(c_int32_t), intent(inout) :: holds
      integer(c_int32_t) :: answer
    end function fortran_cache_holds
  end interface
end module syncyte_fortran_c
