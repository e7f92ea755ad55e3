!> Whole tensors: type(syncyte_tensor), one array over the memory of all ranks, partitioned along its last dimension.
!>
!> C's shape {rows, ny, nx} is (nx, ny, rows) here. "any integer" below is an integer of any kind; arrays are of any
!> rank and of the types that syncyte_c's dtypes have in Fortran. The errors are those of the C functions of that name.
module syncyte_tensors
  use, intrinsic :: iso_c_binding
  use syncyte_c, only: syncyte_buffer_t, syncyte_comm_destroy, syncyte_comm_rank, syncyte_tensor_comm, &
    syncyte_tensor_describe, syncyte_tensor_destroy, syncyte_tensor_flush, syncyte_tensor_options_t, &
    syncyte_tensor_rows, syncyte_tensor_sync, syncyte_error_set, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_TIMEOUT, &
    SYNCYTE_SUCCESS
  use syncyte_comms, only: syncyte_comm
  use syncyte_errors
  use syncyte_tensor_helpers
  implicit none
  private

  !> One array over the memory of all ranks. A reference: assignment copies the reference; destroy drops one.
  type, public :: syncyte_tensor
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_tensor_t, for calls of syncyte_c
  contains
    procedure :: create => tensor_create
    procedure :: wrap => tensor_wrap
    procedure :: destroy => tensor_destroy
    procedure :: is_null => tensor_is_null
    procedure :: rank => tensor_rank
    procedure :: extent => tensor_extent
    procedure :: dtype => tensor_dtype
    procedure :: first_row => tensor_first_row
    procedure :: last_row => tensor_last_row
    procedure :: comm => tensor_comm
    procedure :: gather => tensor_gather
    procedure :: scatter => tensor_scatter
    procedure :: scatter_add => tensor_scatter_add
    procedure :: owner => tensor_owner
    procedure :: get_box => tensor_get_box
    procedure :: put_box => tensor_put_box
    procedure :: load => tensor_load
    procedure :: store => tensor_store
    procedure :: fetch_add => tensor_fetch_add
    procedure :: compare_swap => tensor_compare_swap
    procedure :: wait => tensor_wait
    procedure :: sync => tensor_sync
    procedure :: flush => tensor_flush
    !> Points to this rank's rows: (.., first_row:last_row). Valid until the tensor is destroyed here. Local.
    generic :: local => local_real4, local_real8, local_complex4, local_complex8, local_integer1, &
      local_integer2, local_integer4, local_integer8, local_logical1
    !> Points to the rows of all ranks of this node, in order of ranks; first_row 0: they are not consecutive. Local.
    generic :: node => node_real4, node_real8, node_complex4, node_complex8, node_integer1, &
      node_integer2, node_integer4, node_integer8, node_logical1
    procedure, private :: local_real4, node_real4
    procedure, private :: local_real8, node_real8
    procedure, private :: local_complex4, node_complex4
    procedure, private :: local_complex8, node_complex8
    procedure, private :: local_integer1, node_integer1
    procedure, private :: local_integer2, node_integer2
    procedure, private :: local_integer4, node_integer4
    procedure, private :: local_integer8, node_integer8
    procedure, private :: local_logical1, node_logical1
  end type syncyte_tensor

contains

  !> Keeps a new handle, if there is one, and drops what self referred to before.
  subroutine adopt(self, status, handle)
    class(syncyte_tensor), intent(inout) :: self
    integer(c_int32_t), intent(in) :: status
    type(c_ptr), intent(in) :: handle
    integer(c_int32_t) :: ignored

    if (status /= SYNCYTE_SUCCESS) return
    if (c_associated(self%handle)) ignored = syncyte_tensor_destroy(self%handle)
    self%handle = handle
  end subroutine adopt

  !> Makes a tensor of zeros. Collective.
  subroutine tensor_create(self, comm, dtype, shape, local_rows, name, stat, errmsg)
    class(syncyte_tensor), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    integer(c_int32_t), intent(in) :: dtype                    !! SYNCYTE_FLOAT64, ...
    type(*), dimension(..), intent(in) :: shape                !! vector of any integer, 1 to 8; rows last
    type(*), dimension(..), intent(in), optional :: local_rows !! any integer: own rows; absent: as equal as possible
    character(len=*), intent(in), optional :: name             !! for messages
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: letters
    type(syncyte_tensor_options_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    call to_c(name, letters)
    if (allocated(letters)) options%name = c_loc(letters)
    made = c_null_ptr
    status = fortran_tensor_create(comm%handle, dtype, shape, local_rows, options, made)
    call adopt(self, status, made)
    call finish(status, stat, errmsg)
  end subroutine tensor_create

  !> Makes a tensor of arrays that the ranks already have; they must outlive it. Collective.
  subroutine tensor_wrap(self, comm, array, name, stat, errmsg)
    class(syncyte_tensor), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    type(*), dimension(..), intent(in), target, asynchronous :: array  !! contiguous; its last dimension: own rows
    character(len=*), intent(in), optional :: name
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: letters
    type(syncyte_tensor_options_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    call to_c(name, letters)
    if (allocated(letters)) options%name = c_loc(letters)
    made = c_null_ptr
    status = fortran_tensor_wrap(comm%handle, array, options, made)
    call adopt(self, status, made)
    call finish(status, stat, errmsg)
  end subroutine tensor_wrap

  !> Drops the reference; a null one is fine. Memory is freed at a collective point. Local.
  subroutine tensor_destroy(self, stat, errmsg)
    class(syncyte_tensor), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_tensor_destroy(self%handle), stat, errmsg)
  end subroutine tensor_destroy

  !> Whether it refers to nothing. Local.
  pure logical function tensor_is_null(self)
    class(syncyte_tensor), intent(in) :: self

    tensor_is_null = .not. c_associated(self%handle)
  end function tensor_is_null

  !> Number of dimensions; 0 on an error. Local.
  function tensor_rank(self, stat, errmsg) result(rank)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: rank
    type(syncyte_buffer_t) :: global

    call finish(syncyte_tensor_describe(self%handle, global), stat, errmsg)
    rank = int(global%ndim)
  end function tensor_rank

  !> Global extent of dimension dim, 1 to rank(), in elements; the last one is the number of rows. Local.
  function tensor_extent(self, dim, stat, errmsg) result(extent)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(in) :: dim
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: extent
    type(syncyte_buffer_t) :: global
    integer(c_int32_t) :: status
    character(len=80) :: text

    extent = -1
    status = syncyte_tensor_describe(self%handle, global)
    if (status == SYNCYTE_SUCCESS .and. (dim < 1 .or. dim > global%ndim)) then
      write (text, '(a, i0, a, i0, a)') "dim = ", dim, ": the tensor has dimensions 1 to ", global%ndim, c_null_char
      status = syncyte_error_set(SYNCYTE_ERR_ARGUMENT, text)
    end if
    if (status == SYNCYTE_SUCCESS) extent = global%shape(global%ndim - dim + 1)
    call finish(status, stat, errmsg)
  end function tensor_extent

  !> Element type, SYNCYTE_FLOAT64 and so on; 0 on an error. Local.
  function tensor_dtype(self, stat, errmsg) result(dtype)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: dtype
    type(syncyte_buffer_t) :: global

    call finish(syncyte_tensor_describe(self%handle, global), stat, errmsg)
    dtype = int(global%dtype)
  end function tensor_dtype

  !> The rows of a rank (default: this one), from 0, and how many.
  function find_rows(self, rank, first, count) result(status)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(in), optional :: rank
    integer(c_int64_t), intent(out) :: first, count
    integer(c_int32_t) :: status, ignored, own
    type(c_ptr) :: comm

    first = 0
    count = 0
    if (present(rank)) then
      status = syncyte_tensor_rows(self%handle, int(rank, c_int32_t), first, count)
      return
    end if
    comm = c_null_ptr
    status = syncyte_tensor_comm(self%handle, comm)
    if (status /= SYNCYTE_SUCCESS) return
    status = syncyte_comm_rank(comm, own)
    ignored = syncyte_comm_destroy(comm)
    if (status == SYNCYTE_SUCCESS) status = syncyte_tensor_rows(self%handle, own, first, count)
  end function find_rows

  !> First row, from 1, of a rank (default: this one); where the next rank's begin if it has none. Local.
  function tensor_first_row(self, rank, stat, errmsg) result(row)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(in), optional :: rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: row, first, count

    call finish(find_rows(self, rank, first, count), stat, errmsg)
    row = first + 1
  end function tensor_first_row

  !> Last row, from 1, of a rank (default: this one); first_row - 1 if it has none. Local.
  function tensor_last_row(self, rank, stat, errmsg) result(row)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(in), optional :: rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: row, first, count

    call finish(find_rows(self, rank, first, count), stat, errmsg)
    row = first + count
  end function tensor_last_row

  !> A new reference to the tensor's communicator. Local.
  subroutine tensor_comm(self, comm, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(syncyte_comm), intent(inout) :: comm
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    made = c_null_ptr
    status = syncyte_tensor_comm(self%handle, made)
    if (status == SYNCYTE_SUCCESS) then
      call comm%destroy()
      comm%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_comm

  !> Reads rows: output(.., i) = tensor(.., index(i)). Local.
  subroutine tensor_gather(self, index, output, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in) :: index      !! integer(4) or integer(8), from 1, any rank
    type(*), dimension(..), intent(inout) :: output  !! contiguous, a row's elements times index's
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_tensor_gather(self%handle, index, output), stat, errmsg)
  end subroutine tensor_gather

  !> Writes rows: tensor(.., index(i)) = source(.., i); of rows that repeat the last one stays. Local.
  subroutine tensor_scatter(self, index, source, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in) :: index   !! integer(4) or integer(8), from 1, any rank
    type(*), dimension(..), intent(in) :: source  !! contiguous, a row's elements times index's
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_tensor_scatter(self%handle, index, source), stat, errmsg)
  end subroutine tensor_scatter

  !> Adds to rows: tensor(.., index(i)) = tensor(.., index(i)) + source(.., i), exact under contention. Local.
  subroutine tensor_scatter_add(self, index, source, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in) :: index   !! integer(4) or integer(8), from 1, any rank
    type(*), dimension(..), intent(in) :: source  !! contiguous, a row's elements times index's
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_tensor_scatter_add(self%handle, index, source), stat, errmsg)
  end subroutine tensor_scatter_add

  !> Owners of rows. Local.
  subroutine tensor_owner(self, index, ranks, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in) :: index     !! integer(4) or integer(8), from 1
    type(*), dimension(..), intent(inout) :: ranks  !! integer(4), contiguous, as many elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_tensor_owner(self%handle, index, ranks), stat, errmsg)
  end subroutine tensor_owner

  !> Reads a box: array = tensor(lower(1):, lower(2):, ...). Local.
  subroutine tensor_get_box(self, array, lower, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(inout) :: array  !! any strides; dimensions that it lacks have extent 1
    type(*), dimension(..), intent(in) :: lower     !! vector of any integer, from 1, as many as dimensions
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_tensor_get_box(self%handle, array, lower), stat, errmsg)
  end subroutine tensor_get_box

  !> Writes a box: tensor(lower(1):, lower(2):, ...) = array. Local.
  subroutine tensor_put_box(self, array, lower, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in) :: array  !! any strides; dimensions that it lacks have extent 1
    type(*), dimension(..), intent(in) :: lower  !! vector of any integer, from 1, as many as dimensions
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_tensor_put_box(self%handle, array, lower), stat, errmsg)
  end subroutine tensor_put_box

  !> Value of a counter; acquire: what its writer wrote before store or an atomic is seen after it. Local.
  function tensor_load(self, element, stat, errmsg) result(value)
    class(syncyte_tensor), intent(in) :: self           !! of integer(4) or integer(8)
    type(*), dimension(..), intent(in) :: element       !! number from 1 in array element order, or subscripts
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: value

    value = 0
    call finish(fortran_tensor_load(self%handle, element, value), stat, errmsg)
  end function tensor_load

  !> Sets a counter; release: what this rank wrote before is seen by whoever loads the new value. Local.
  subroutine tensor_store(self, element, value, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in) :: element, value
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_tensor_store(self%handle, element, value), stat, errmsg)
  end subroutine tensor_store

  !> Adds to a counter; atomic, acquire and release. Local.
  subroutine tensor_fetch_add(self, element, operand, previous, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in) :: element, operand
    type(*), dimension(..), intent(inout), optional :: previous  !! any integer: the value before
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_tensor_fetch_add(self%handle, element, operand, previous), stat, errmsg)
  end subroutine tensor_fetch_add

  !> Sets a counter to desired if it equals expected; atomic, acquire and release. Local.
  subroutine tensor_compare_swap(self, element, expected, desired, previous, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in) :: element, expected, desired
    type(*), dimension(..), intent(inout), optional :: previous  !! any integer: the value before
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_tensor_compare_swap(self%handle, element, expected, desired, previous), stat, errmsg)
  end subroutine tensor_compare_swap

  !> Waits, asleep, until a counter compares true; acquire. Local.
  subroutine tensor_wait(self, element, compare, value, timeout, found, timed_out, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    type(*), dimension(..), intent(in) :: element
    integer(c_int32_t), intent(in) :: compare                 !! SYNCYTE_COMPARE_EQ, NE, GE or LE
    type(*), dimension(..), intent(in) :: value
    real(c_double), intent(in), optional :: timeout           !! seconds; absent or negative: no limit
    type(*), dimension(..), intent(inout), optional :: found  !! any integer: the value that compared true
    logical, intent(out), optional :: timed_out               !! where present, a timeout is no error
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(c_double) :: limit
    integer(c_int32_t) :: status

    limit = -1
    if (present(timeout)) limit = timeout
    status = fortran_tensor_wait(self%handle, element, compare, value, limit, found)
    if (present(timed_out)) then
      timed_out = status == SYNCYTE_ERR_TIMEOUT
      if (timed_out) status = SYNCYTE_SUCCESS
    end if
    call finish(status, stat, errmsg)
  end subroutine tensor_wait

  !> What any rank wrote before is seen by all ranks after. Collective.
  subroutine tensor_sync(self, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_tensor_sync(self%handle), stat, errmsg)
  end subroutine tensor_sync

  !> Completes this rank's writes: they are at their owners on return. Local.
  subroutine tensor_flush(self, stat, errmsg)
    class(syncyte_tensor), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_tensor_flush(self%handle), stat, errmsg)
  end subroutine tensor_flush

#include "tensor_views_of_all_types.inc"

end module syncyte_tensors
