! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/collectives.methods by bindings/generate; do not edit.
!> Collectives on arrays: type(collective_comm), which type(syncyte_comm) extends.
!>
!> Arrays may be sections with any strides. Methods with dim work on arrays that are cut along it: each rank has a part
!> of a whole array, of any extent along dim (0 too); the other extents are equal on all ranks. dim counts from 1; if
!> it is absent, it is the last dimension. counts holds the extents of the parts along dim in order of ranks, equal on all
!> ranks; if it is absent (on all ranks), it is collected first. Arrays of non-blocking collectives must stay until the
!> request has ended: give them the asynchronous or target attribute.
module syncyte_collectives
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_collective_arguments
  use syncyte_requests, only: syncyte_request
  implicit none
  private

  !> A communicator with the methods of collectives.
  type, public :: collective_comm
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_comm_t
  contains
    procedure :: bcast => comm_bcast
    procedure :: ibcast => comm_ibcast
    procedure :: allreduce => comm_allreduce
    procedure :: iallreduce => comm_iallreduce
    procedure :: reduce => comm_reduce
    procedure :: scan => comm_scan
    procedure :: exscan => comm_exscan
    procedure :: counts => comm_counts
    procedure :: gather_along => comm_gather_along
    procedure :: allgather => comm_allgather
    procedure :: allgather_along => comm_allgather_along
    procedure :: iallgather_along => comm_iallgather_along
    procedure :: allgatherv => comm_allgatherv
    procedure :: scatter_along => comm_scatter_along
    procedure :: reduce_scatter_along => comm_reduce_scatter_along
    procedure :: ireduce_scatter_along => comm_ireduce_scatter_along
    procedure :: alltoall_along => comm_alltoall_along
    procedure :: ialltoall_along => comm_ialltoall_along
    procedure :: alltoallv => comm_alltoallv
    procedure :: relocate_rows => comm_relocate_rows
    procedure :: neighbor_alltoall => comm_neighbor_alltoall
  end type collective_comm

contains

  !> Sends root's elements to all ranks. Collective.
  subroutine comm_bcast(self, array, root, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout), target :: array  !! read on root, written elsewhere
    integer, intent(in) :: root  !! rank that sends its elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(array)
    local = fortran_dense_buffer(array, "array"//c_null_char, array_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_bcast"//c_null_char)
    else
      status = syncyte_comm_bcast(self%handle, int(root, c_int32_t), array=array_buffer)
    end if
    ignored = fortran_release(array, merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS), array_buffer)
    call finish(status, stat, errmsg)
  end subroutine comm_bcast

  !> Starts bcast; array must stay unchanged on root and may not be read elsewhere until the request has ended.
  !> Collective; does not wait.
  subroutine comm_ibcast(self, array, root, request, stat, errmsg)
    class(collective_comm), intent(in) :: self
    ! contiguous; read on root, written elsewhere; must stay unchanged on root and may not be read elsewhere until
    ! the request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: array
    integer, intent(in) :: root  !! rank that sends its elements
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_IN_REQUEST, self%handle, local, "comm_ibcast"//c_null_char)
    else
      status = syncyte_comm_ibcast(self%handle, int(root, c_int32_t), array=array_buffer, &
          request=request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_ibcast

  !> Reduces element by element over all ranks; all ranks get the result. Collective.
  subroutine comm_allreduce(self, output, op, input, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout), target :: output  !! of input's dtype and number of elements; must not overlap input
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    type(*), dimension(..), intent(in), target, optional :: input  !! absent: output's contents (in place)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: output_buffer
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), pointer :: input_given
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(output)
    call syncyte_set_span(input)
    local = fortran_dense_buffer(output, "output"//c_null_char, output_buffer)
    nullify (input_given)
    if (present(input)) then
      if (local == SYNCYTE_SUCCESS) local = fortran_dense_buffer(input, "input"//c_null_char, input_buffer)
      input_buffer%read_only = 1_c_int32_t
      input_given => input_buffer
    end if
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_allreduce"//c_null_char)
    else
      status = syncyte_comm_allreduce(self%handle, input_given, op, output=output_buffer)
    end if
    ignored = fortran_release(output, merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS), output_buffer)
    if (present(input)) ignored = fortran_release(input, 0_c_int32_t, input_buffer)
    call finish(status, stat, errmsg)
  end subroutine comm_allreduce

  !> Starts allreduce; output may be neither read nor written and input must stay unchanged until the request has
  !> ended. Collective; does not wait.
  subroutine comm_iallreduce(self, output, op, request, input, stat, errmsg)
    class(collective_comm), intent(in) :: self
    ! contiguous, of input's dtype and number of elements; must not overlap input; may be neither read nor written
    ! until the request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: output
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    ! contiguous; absent: output's contents (in place); must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous, optional :: input
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: output_buffer
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), pointer :: input_given
    integer(c_int32_t) :: status, local

    call syncyte_set_span(output)
    call syncyte_set_span(input)
    local = fortran_buffer(output, "output"//c_null_char, output_buffer)
    nullify (input_given)
    if (present(input)) then
      if (local == SYNCYTE_SUCCESS) local = fortran_buffer(input, "input"//c_null_char, input_buffer)
      input_buffer%read_only = 1_c_int32_t
      input_given => input_buffer
    end if
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_IN_REQUEST, self%handle, local, "comm_iallreduce"//c_null_char)
    else
      status = syncyte_comm_iallreduce(self%handle, input_given, op, output=output_buffer, &
          request=request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_iallreduce

  !> Reduces element by element over all ranks; root gets the result. Collective.
  subroutine comm_reduce(self, output, op, root, input, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout), target :: output  !! also the input if input is absent; written on root only
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    integer, intent(in) :: root  !! rank that gets the result
    type(*), dimension(..), intent(in), target, optional :: input  !! absent on root: output's contents (in place)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: output_buffer
    type(syncyte_buffer_t), pointer :: output_given
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), pointer :: input_given
    type(syncyte_buffer_t), target :: contribution
    type(syncyte_buffer_t), pointer :: reduced
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(output)
    call syncyte_set_span(input)
    local = SYNCYTE_SUCCESS
    nullify (output_given)
    if (is_root(self%handle, root)) then
      if (local == SYNCYTE_SUCCESS) local = fortran_dense_buffer(output, "output"//c_null_char, output_buffer)
      output_given => output_buffer
    end if
    nullify (input_given)
    if (present(input)) then
      if (local == SYNCYTE_SUCCESS) local = fortran_dense_buffer(input, "input"//c_null_char, input_buffer)
      input_buffer%read_only = 1_c_int32_t
      input_given => input_buffer
    end if
    reduced => input_given
    if (.not. present(input) .and. .not. associated(output_given)) then
      if (local == SYNCYTE_SUCCESS) local = fortran_dense_buffer(output, "output"//c_null_char, contribution)
      reduced => contribution
    end if
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_reduce"//c_null_char)
    else
      status = syncyte_comm_reduce(self%handle, reduced, op, int(root, c_int32_t), output=output_given)
    end if
    ignored = fortran_release(output, merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS), output_buffer)
    if (present(input)) ignored = fortran_release(input, 0_c_int32_t, input_buffer)
    ignored = fortran_release(output, 0, contribution)
    call finish(status, stat, errmsg)
  end subroutine comm_reduce

  !> Reduces element by element over the ranks from the first to this one, its own included. Collective.
  subroutine comm_scan(self, output, op, input, reverse, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout), target :: output  !! of input's dtype and number of elements; must not overlap input
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    type(*), dimension(..), intent(in), target, optional :: input  !! absent: output's contents (in place)
    logical, intent(in), optional :: reverse  !! from the last rank instead; equal on all ranks
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: output_buffer
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), pointer :: input_given
    integer(c_int32_t) :: reverse_c
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(output)
    call syncyte_set_span(input)
    local = fortran_dense_buffer(output, "output"//c_null_char, output_buffer)
    nullify (input_given)
    if (present(input)) then
      if (local == SYNCYTE_SUCCESS) local = fortran_dense_buffer(input, "input"//c_null_char, input_buffer)
      input_buffer%read_only = 1_c_int32_t
      input_given => input_buffer
    end if
    reverse_c = 0
    if (present(reverse)) reverse_c = merge(1_c_int32_t, 0_c_int32_t, reverse)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_scan"//c_null_char)
    else
      status = syncyte_comm_scan(self%handle, input_given, op, reverse_c, output=output_buffer)
    end if
    ignored = fortran_release(output, merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS), output_buffer)
    if (present(input)) ignored = fortran_release(input, 0_c_int32_t, input_buffer)
    call finish(status, stat, errmsg)
  end subroutine comm_scan

  !> Exclusive scan: as scan, without this rank's own elements. The rank where it begins gets the identity element: 0 for
  !> SUM, 1 for PROD, the highest value for MIN, the lowest for MAX. Collective.
  subroutine comm_exscan(self, output, op, input, reverse, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout), target :: output  !! of input's dtype and number of elements; must not overlap input
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    type(*), dimension(..), intent(in), target, optional :: input  !! absent: output's contents (in place)
    logical, intent(in), optional :: reverse  !! from the last rank instead; equal on all ranks
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: output_buffer
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), pointer :: input_given
    integer(c_int32_t) :: reverse_c
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(output)
    call syncyte_set_span(input)
    local = fortran_dense_buffer(output, "output"//c_null_char, output_buffer)
    nullify (input_given)
    if (present(input)) then
      if (local == SYNCYTE_SUCCESS) local = fortran_dense_buffer(input, "input"//c_null_char, input_buffer)
      input_buffer%read_only = 1_c_int32_t
      input_given => input_buffer
    end if
    reverse_c = 0
    if (present(reverse)) reverse_c = merge(1_c_int32_t, 0_c_int32_t, reverse)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_exscan"//c_null_char)
    else
      status = syncyte_comm_exscan(self%handle, input_given, op, reverse_c, output=output_buffer)
    end if
    ignored = fortran_release(output, merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS), output_buffer)
    if (present(input)) ignored = fortran_release(input, 0_c_int32_t, input_buffer)
    call finish(status, stat, errmsg)
  end subroutine comm_exscan

  !> Collects one number from each rank, usually an extent. Collective.
  subroutine comm_counts(self, count, counts, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: count  !! any integer: this rank's number, 0 or more
    type(*), dimension(..), intent(inout), target :: counts
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: count_c
    integer(c_int64_t), allocatable :: counts_c(:)
    integer(c_int32_t) :: status, local

    call syncyte_set_span(count)
    call syncyte_set_span(counts)
    local = fortran_integer(count, "count"//c_null_char, count_c)
    allocate (counts_c(fortran_count(counts)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(counts, "counts"//c_null_char, 0_c_int32_t, counts_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_counts"//c_null_char)
    else
      status = syncyte_comm_counts(self%handle, count_c, counts_length=size(counts_c, kind=c_int64_t), &
          counts=counts_c)
    end if
    if (status == SYNCYTE_SUCCESS) status = fortran_set_integers(counts, "counts"//c_null_char, counts_c)
    call finish(status, stat, errmsg)
  end subroutine comm_counts

  !> Joins the ranks' parts along a dimension, on root. Collective.
  subroutine comm_gather_along(self, input, output, root, dim, counts, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: input  !! this rank's part
    type(*), dimension(..), intent(inout), target, optional :: output  !! the whole; only root's counts
    integer, intent(in) :: root  !! rank that gets the whole array
    integer, intent(in), optional :: dim
    ! any integers: extents of the parts along the axis, equal on all ranks
    type(*), dimension(..), intent(in), target, optional :: counts
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    type(syncyte_buffer_t), pointer :: output_given
    integer(c_int32_t) :: dim_c, dim_axis
    integer(c_int64_t), allocatable :: counts_c(:)
    integer(c_int32_t) :: status, local

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    call syncyte_set_span(counts)
    local = fortran_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    nullify (output_given)
    if (is_root(self%handle, root)) then
      if (present(output)) then
        if (local == SYNCYTE_SUCCESS) local = fortran_buffer(output, "output"//c_null_char, output_buffer)
        output_given => output_buffer
      end if
    end if
    dim_c = input_buffer%ndim
    if (present(dim)) dim_c = int(dim, c_int32_t)
    if (local == SYNCYTE_SUCCESS) local = fortran_axis(dim_c, input_buffer, "dim"//c_null_char, &
        "input"//c_null_char, dim_axis)
    if (present(counts)) then
      allocate (counts_c(fortran_count(counts)))
      if (local == SYNCYTE_SUCCESS) local = fortran_integers(counts, "counts"//c_null_char, 0_c_int32_t, &
          counts_c)
    end if
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_gather_along"//c_null_char)
    else
      status = local
      if (status == SYNCYTE_SUCCESS .and. .not. present(counts)) &
        status = collect_counts(self%handle, input_buffer, dim_axis, counts_c)
      if (status == SYNCYTE_SUCCESS) status = syncyte_comm_gather_along(self%handle, input_buffer, dim_axis, &
          int(root, c_int32_t), size(counts_c, kind=c_int64_t), counts_c, output=output_given)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_gather_along

  !> Concatenates equal contributions of all ranks, in order of ranks. Collective.
  subroutine comm_allgather(self, input, output, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: input
    type(*), dimension(..), intent(inout), target :: output  !! size times as many elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    local = fortran_dense_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_dense_buffer(output, "output"//c_null_char, output_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_allgather"//c_null_char)
    else
      status = syncyte_comm_allgather(self%handle, input_buffer, output=output_buffer)
    end if
    ignored = fortran_release(input, 0_c_int32_t, input_buffer)
    ignored = fortran_release(output, merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS), output_buffer)
    call finish(status, stat, errmsg)
  end subroutine comm_allgather

  !> Joins the ranks' parts along a dimension, on all ranks. Collective.
  subroutine comm_allgather_along(self, input, output, dim, counts, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: input  !! this rank's part
    type(*), dimension(..), intent(inout), target :: output  !! the whole array, not overlapping input
    integer, intent(in), optional :: dim
    ! any integers: extents of the parts along the axis, equal on all ranks
    type(*), dimension(..), intent(in), target, optional :: counts
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int32_t) :: dim_c, dim_axis
    integer(c_int64_t), allocatable :: counts_c(:)
    integer(c_int32_t) :: status, local

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    call syncyte_set_span(counts)
    local = fortran_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(output, "output"//c_null_char, output_buffer)
    dim_c = input_buffer%ndim
    if (present(dim)) dim_c = int(dim, c_int32_t)
    if (local == SYNCYTE_SUCCESS) local = fortran_axis(dim_c, input_buffer, "dim"//c_null_char, &
        "input"//c_null_char, dim_axis)
    if (present(counts)) then
      allocate (counts_c(fortran_count(counts)))
      if (local == SYNCYTE_SUCCESS) local = fortran_integers(counts, "counts"//c_null_char, 0_c_int32_t, &
          counts_c)
    end if
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_allgather_along"//c_null_char)
    else
      status = local
      if (status == SYNCYTE_SUCCESS .and. .not. present(counts)) &
        status = collect_counts(self%handle, input_buffer, dim_axis, counts_c)
      if (status == SYNCYTE_SUCCESS) status = syncyte_comm_allgather_along(self%handle, input_buffer, dim_axis, &
          size(counts_c, kind=c_int64_t), counts_c, output=output_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_allgather_along

  !> Starts allgather_along; input must stay unchanged and output may not be read until the request has ended.
  !> counts must be given. Collective; does not wait.
  subroutine comm_iallgather_along(self, input, output, counts, request, dim, stat, errmsg)
    class(collective_comm), intent(in) :: self
    ! this rank's part; must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: input
    ! the whole array, not overlapping input; may not be read until the request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: output
    ! any integers: extents of the parts along the axis, equal on all ranks; may be re-used on return
    type(*), dimension(..), intent(in), target :: counts
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(in), optional :: dim
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int64_t), allocatable :: counts_c(:)
    integer(c_int32_t) :: dim_c, dim_axis
    integer(c_int32_t) :: status, local

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    call syncyte_set_span(counts)
    local = fortran_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(output, "output"//c_null_char, output_buffer)
    allocate (counts_c(fortran_count(counts)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(counts, "counts"//c_null_char, 0_c_int32_t, counts_c)
    dim_c = input_buffer%ndim
    if (present(dim)) dim_c = int(dim, c_int32_t)
    if (local == SYNCYTE_SUCCESS) local = fortran_axis(dim_c, input_buffer, "dim"//c_null_char, &
        "input"//c_null_char, dim_axis)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_IN_REQUEST, self%handle, local, &
          "comm_iallgather_along"//c_null_char)
    else
      status = syncyte_comm_iallgather_along(self%handle, input_buffer, dim_axis, size(counts_c, &
          kind=c_int64_t), counts_c, output=output_buffer, request=request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_iallgather_along

  !> Concatenates contributions of different counts, in order of ranks. Collective.
  subroutine comm_allgatherv(self, input, output, counts, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: input  !! counts(rank + 1) elements
    type(*), dimension(..), intent(inout), target :: output  !! sum(counts) elements
    type(*), dimension(..), intent(in), target :: counts  !! any integers: elements of every rank, 0 or more, equal on all ranks
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int64_t), allocatable :: counts_c(:)
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    call syncyte_set_span(counts)
    local = fortran_dense_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_dense_buffer(output, "output"//c_null_char, output_buffer)
    allocate (counts_c(fortran_count(counts)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(counts, "counts"//c_null_char, 0_c_int32_t, counts_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_allgatherv"//c_null_char)
    else
      status = syncyte_comm_allgatherv(self%handle, input_buffer, size(counts_c, kind=c_int64_t), counts_c, &
          output=output_buffer)
    end if
    ignored = fortran_release(input, 0_c_int32_t, input_buffer)
    ignored = fortran_release(output, merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS), output_buffer)
    call finish(status, stat, errmsg)
  end subroutine comm_allgatherv

  !> Cuts root's array along a dimension, a part for every rank. Collective.
  subroutine comm_scatter_along(self, input, output, root, dim, counts, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target, optional :: input  !! the whole; only root's counts
    type(*), dimension(..), intent(inout), target :: output  !! this rank's part, not overlapping input
    integer, intent(in) :: root  !! rank that has the whole array
    integer, intent(in), optional :: dim
    ! any integers: extents of the parts along the axis, equal on all ranks
    type(*), dimension(..), intent(in), target, optional :: counts
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), pointer :: input_given
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int32_t) :: dim_c, dim_axis
    integer(c_int64_t), allocatable :: counts_c(:)
    integer(c_int32_t) :: status, local

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    call syncyte_set_span(counts)
    local = SYNCYTE_SUCCESS
    nullify (input_given)
    if (is_root(self%handle, root)) then
      if (present(input)) then
        if (local == SYNCYTE_SUCCESS) local = fortran_buffer(input, "input"//c_null_char, input_buffer)
        input_buffer%read_only = 1_c_int32_t
        input_given => input_buffer
      end if
    end if
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(output, "output"//c_null_char, output_buffer)
    dim_c = output_buffer%ndim
    if (present(dim)) dim_c = int(dim, c_int32_t)
    if (local == SYNCYTE_SUCCESS) local = fortran_axis(dim_c, output_buffer, "dim"//c_null_char, &
        "output"//c_null_char, dim_axis)
    if (present(counts)) then
      allocate (counts_c(fortran_count(counts)))
      if (local == SYNCYTE_SUCCESS) local = fortran_integers(counts, "counts"//c_null_char, 0_c_int32_t, &
          counts_c)
    end if
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_scatter_along"//c_null_char)
    else
      status = local
      if (status == SYNCYTE_SUCCESS .and. .not. present(counts)) &
        status = collect_counts(self%handle, output_buffer, dim_axis, counts_c)
      if (status == SYNCYTE_SUCCESS) status = syncyte_comm_scatter_along(self%handle, input_given, dim_axis, &
          int(root, c_int32_t), size(counts_c, kind=c_int64_t), counts_c, output=output_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_scatter_along

  !> Reduces the ranks' whole arrays element by element, and gives each rank its part of the result. Collective.
  subroutine comm_reduce_scatter_along(self, input, output, op, dim, counts, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: input  !! a whole array
    type(*), dimension(..), intent(inout), target :: output  !! this rank's part, not overlapping input
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    integer, intent(in), optional :: dim
    ! any integers: extents of the parts along the axis, equal on all ranks
    type(*), dimension(..), intent(in), target, optional :: counts
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int32_t) :: dim_c, dim_axis
    integer(c_int64_t), allocatable :: counts_c(:)
    integer(c_int32_t) :: status, local

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    call syncyte_set_span(counts)
    local = fortran_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(output, "output"//c_null_char, output_buffer)
    dim_c = output_buffer%ndim
    if (present(dim)) dim_c = int(dim, c_int32_t)
    if (local == SYNCYTE_SUCCESS) local = fortran_axis(dim_c, output_buffer, "dim"//c_null_char, &
        "output"//c_null_char, dim_axis)
    if (present(counts)) then
      allocate (counts_c(fortran_count(counts)))
      if (local == SYNCYTE_SUCCESS) local = fortran_integers(counts, "counts"//c_null_char, 0_c_int32_t, &
          counts_c)
    end if
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, &
          "comm_reduce_scatter_along"//c_null_char)
    else
      status = local
      if (status == SYNCYTE_SUCCESS .and. .not. present(counts)) &
        status = collect_counts(self%handle, output_buffer, dim_axis, counts_c)
      if (status == SYNCYTE_SUCCESS) status = syncyte_comm_reduce_scatter_along(self%handle, input_buffer, &
          dim_axis, op, size(counts_c, kind=c_int64_t), counts_c, output=output_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_reduce_scatter_along

  !> Starts reduce_scatter_along; input must stay unchanged and output may not be read until the request has ended.
  !> counts must be given. Collective; does not wait.
  subroutine comm_ireduce_scatter_along(self, input, output, op, counts, request, dim, stat, errmsg)
    class(collective_comm), intent(in) :: self
    ! a whole array; must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: input
    ! this rank's part, not overlapping input; may not be read until the request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: output
    integer(c_int32_t), intent(in) :: op  !! SYNCYTE_OP_SUM, ...
    ! any integers: extents of the parts along the axis, equal on all ranks; may be re-used on return
    type(*), dimension(..), intent(in), target :: counts
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(in), optional :: dim
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int64_t), allocatable :: counts_c(:)
    integer(c_int32_t) :: dim_c, dim_axis
    integer(c_int32_t) :: status, local

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    call syncyte_set_span(counts)
    local = fortran_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(output, "output"//c_null_char, output_buffer)
    allocate (counts_c(fortran_count(counts)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(counts, "counts"//c_null_char, 0_c_int32_t, counts_c)
    dim_c = output_buffer%ndim
    if (present(dim)) dim_c = int(dim, c_int32_t)
    if (local == SYNCYTE_SUCCESS) local = fortran_axis(dim_c, output_buffer, "dim"//c_null_char, &
        "output"//c_null_char, dim_axis)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_IN_REQUEST, self%handle, local, &
          "comm_ireduce_scatter_along"//c_null_char)
    else
      status = syncyte_comm_ireduce_scatter_along(self%handle, input_buffer, dim_axis, op, size(counts_c, &
          kind=c_int64_t), counts_c, output=output_buffer, request=request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_ireduce_scatter_along

  !> Changes the dimension along which a whole array is cut over the ranks (a parallel transposition); with equal
  !> dimensions, the counts of its parts. Collective.
  subroutine comm_alltoall_along(self, input, output, gather_dim, scatter_dim, gather_counts, scatter_counts, &
      stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: input  !! this rank's part along gather_axis
    type(*), dimension(..), intent(inout), target :: output  !! this rank's part along scatter_axis, not overlapping input
    integer, intent(in) :: gather_dim
    integer, intent(in) :: scatter_dim
    type(*), dimension(..), intent(in), target, optional :: gather_counts  !! any integers: their extents, equal on all ranks
    type(*), dimension(..), intent(in), target, optional :: scatter_counts  !! any integers: their extents, equal on all ranks
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int32_t) :: gather_dim_c, gather_dim_axis
    integer(c_int32_t) :: scatter_dim_c, scatter_dim_axis
    integer(c_int64_t), allocatable :: gather_counts_c(:)
    integer(c_int64_t), allocatable :: scatter_counts_c(:)
    integer(c_int32_t) :: status, local

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    call syncyte_set_span(gather_counts)
    call syncyte_set_span(scatter_counts)
    local = fortran_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(output, "output"//c_null_char, output_buffer)
    gather_dim_c = input_buffer%ndim
    gather_dim_c = int(gather_dim, c_int32_t)
    if (local == SYNCYTE_SUCCESS) local = fortran_axis(gather_dim_c, input_buffer, "gather_dim"//c_null_char, &
        "input"//c_null_char, gather_dim_axis)
    scatter_dim_c = output_buffer%ndim
    scatter_dim_c = int(scatter_dim, c_int32_t)
    if (local == SYNCYTE_SUCCESS) local = fortran_axis(scatter_dim_c, output_buffer, "scatter_dim"//c_null_char, &
        "output"//c_null_char, scatter_dim_axis)
    if (present(gather_counts)) then
      allocate (gather_counts_c(fortran_count(gather_counts)))
      if (local == SYNCYTE_SUCCESS) local = fortran_integers(gather_counts, "gather_counts"//c_null_char, &
          0_c_int32_t, gather_counts_c)
    end if
    if (present(scatter_counts)) then
      allocate (scatter_counts_c(fortran_count(scatter_counts)))
      if (local == SYNCYTE_SUCCESS) local = fortran_integers(scatter_counts, "scatter_counts"//c_null_char, &
          0_c_int32_t, scatter_counts_c)
    end if
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_alltoall_along"//c_null_char)
    else
      status = local
      if (status == SYNCYTE_SUCCESS .and. .not. present(gather_counts)) &
        status = collect_counts(self%handle, input_buffer, gather_dim_axis, gather_counts_c)
      if (status == SYNCYTE_SUCCESS .and. .not. present(scatter_counts)) &
        status = collect_counts(self%handle, output_buffer, scatter_dim_axis, scatter_counts_c)
      if (status == SYNCYTE_SUCCESS) status = syncyte_comm_alltoall_along(self%handle, input_buffer, &
          gather_dim_axis, scatter_dim_axis, size(gather_counts_c, kind=c_int64_t), gather_counts_c, &
          size(scatter_counts_c, kind=c_int64_t), scatter_counts_c, output=output_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_alltoall_along

  !> Starts alltoall_along; input must stay unchanged and output may not be read until the request has ended.
  !> gather_counts and scatter_counts must be given. Collective; does not wait.
  subroutine comm_ialltoall_along(self, input, output, gather_dim, scatter_dim, gather_counts, scatter_counts, &
      request, stat, errmsg)
    class(collective_comm), intent(in) :: self
    ! this rank's part along gather_axis; must stay unchanged until the request has ended
    type(*), dimension(..), intent(in), target, asynchronous :: input
    ! this rank's part along scatter_axis, not overlapping input; may not be read until the request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: output
    integer, intent(in) :: gather_dim
    integer, intent(in) :: scatter_dim
    ! any integers: their extents, equal on all ranks; may be re-used on return
    type(*), dimension(..), intent(in), target :: gather_counts
    ! any integers: their extents, equal on all ranks; may be re-used on return
    type(*), dimension(..), intent(in), target :: scatter_counts
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int32_t) :: gather_dim_c, gather_dim_axis
    integer(c_int32_t) :: scatter_dim_c, scatter_dim_axis
    integer(c_int64_t), allocatable :: gather_counts_c(:)
    integer(c_int64_t), allocatable :: scatter_counts_c(:)
    integer(c_int32_t) :: status, local

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    call syncyte_set_span(gather_counts)
    call syncyte_set_span(scatter_counts)
    local = fortran_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_buffer(output, "output"//c_null_char, output_buffer)
    gather_dim_c = input_buffer%ndim
    gather_dim_c = int(gather_dim, c_int32_t)
    if (local == SYNCYTE_SUCCESS) local = fortran_axis(gather_dim_c, input_buffer, "gather_dim"//c_null_char, &
        "input"//c_null_char, gather_dim_axis)
    scatter_dim_c = output_buffer%ndim
    scatter_dim_c = int(scatter_dim, c_int32_t)
    if (local == SYNCYTE_SUCCESS) local = fortran_axis(scatter_dim_c, output_buffer, "scatter_dim"//c_null_char, &
        "output"//c_null_char, scatter_dim_axis)
    allocate (gather_counts_c(fortran_count(gather_counts)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(gather_counts, "gather_counts"//c_null_char, &
        0_c_int32_t, gather_counts_c)
    allocate (scatter_counts_c(fortran_count(scatter_counts)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(scatter_counts, "scatter_counts"//c_null_char, &
        0_c_int32_t, scatter_counts_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_IN_REQUEST, self%handle, local, "comm_ialltoall_along"//c_null_char)
    else
      status = syncyte_comm_ialltoall_along(self%handle, input_buffer, gather_dim_axis, scatter_dim_axis, &
          size(gather_counts_c, kind=c_int64_t), gather_counts_c, size(scatter_counts_c, kind=c_int64_t), &
          scatter_counts_c, output=output_buffer, request=request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_ialltoall_along

  !> Every rank sends a block to every rank. Collective.
  subroutine comm_alltoallv(self, input, output, send_counts, recv_counts, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: input  !! the blocks in order of target ranks
    type(*), dimension(..), intent(inout), target :: output  !! the blocks in order of source ranks; must not overlap input
    type(*), dimension(..), intent(in), target :: send_counts  !! any integers: elements for every rank
    type(*), dimension(..), intent(in), target :: recv_counts  !! any integers: elements from every rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int64_t), allocatable :: send_counts_c(:)
    integer(c_int64_t), allocatable :: recv_counts_c(:)
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    call syncyte_set_span(send_counts)
    call syncyte_set_span(recv_counts)
    local = fortran_dense_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_dense_buffer(output, "output"//c_null_char, output_buffer)
    allocate (send_counts_c(fortran_count(send_counts)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(send_counts, "send_counts"//c_null_char, 0_c_int32_t, &
        send_counts_c)
    allocate (recv_counts_c(fortran_count(recv_counts)))
    if (local == SYNCYTE_SUCCESS) local = fortran_integers(recv_counts, "recv_counts"//c_null_char, 0_c_int32_t, &
        recv_counts_c)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, "comm_alltoallv"//c_null_char)
    else
      status = syncyte_comm_alltoallv(self%handle, input_buffer, size(send_counts_c, kind=c_int64_t), &
          send_counts_c, size(recv_counts_c, kind=c_int64_t), recv_counts_c, output=output_buffer)
    end if
    ignored = fortran_release(input, 0_c_int32_t, input_buffer)
    ignored = fortran_release(output, merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS), output_buffer)
    call finish(status, stat, errmsg)
  end subroutine comm_alltoallv

  !> Moves rows, such as particles, to the ranks that their entries of destinations name; SYNCYTE_PROC_NULL: the row goes
  !> nowhere. A row has one index of the last dimension of all arrays, which change in place: first come the rows that stay,
  !> then those of rank 0, 1, ... Arrays have at least as many rows as destinations has elements; the others are room.
  !> Collective.
  subroutine comm_relocate_rows(self, destinations, rows, array, array2, array3, array4, array5, array6, array7, &
      array8, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: destinations  !! any integer: the rank that each row goes to
    type(*), dimension(..), intent(inout), target :: rows  !! any integer: number of rows that this rank has then
    type(*), dimension(..), intent(inout), target :: array
    type(*), dimension(..), intent(inout), target, optional :: array2
    type(*), dimension(..), intent(inout), target, optional :: array3
    type(*), dimension(..), intent(inout), target, optional :: array4
    type(*), dimension(..), intent(inout), target, optional :: array5
    type(*), dimension(..), intent(inout), target, optional :: array6
    type(*), dimension(..), intent(inout), target, optional :: array7
    type(*), dimension(..), intent(inout), target, optional :: array8
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    call syncyte_set_span(destinations)
    call syncyte_set_span(rows)
    call syncyte_set_span(array)
    call syncyte_set_span(array2)
    call syncyte_set_span(array3)
    call syncyte_set_span(array4)
    call syncyte_set_span(array5)
    call syncyte_set_span(array6)
    call syncyte_set_span(array7)
    call syncyte_set_span(array8)
    status = fortran_relocate_rows(self%handle, destinations, rows, array, array2, array3, array4, array5, &
        array6, array7, array8)
    call finish(status, stat, errmsg)
  end subroutine comm_relocate_rows

  !> Exchanges a block with each neighbour of a Cartesian communicator; blocks of the first dimension are last. Collective.
  subroutine comm_neighbor_alltoall(self, input, output, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), target :: input  !! a block for each neighbour
    type(*), dimension(..), intent(inout), target :: output  !! of input's dtype and number of elements; must not overlap input
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: input_buffer
    type(syncyte_buffer_t), target :: output_buffer
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(input)
    call syncyte_set_span(output)
    local = fortran_dense_buffer(input, "input"//c_null_char, input_buffer)
    input_buffer%read_only = 1_c_int32_t
    if (local == SYNCYTE_SUCCESS) local = fortran_dense_buffer(output, "output"//c_null_char, output_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_EVERYWHERE, self%handle, local, &
          "comm_neighbor_alltoall"//c_null_char)
    else
      status = syncyte_comm_neighbor_alltoall(self%handle, input_buffer, output=output_buffer)
    end if
    ignored = fortran_release(input, 0_c_int32_t, input_buffer)
    ignored = fortran_release(output, merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS), output_buffer)
    call finish(status, stat, errmsg)
  end subroutine comm_neighbor_alltoall
end module syncyte_collectives
