!> Collectives on arrays: type(collective_comm), which type(syncyte_comm) extends.
!>
!> Arrays may be sections with any strides. Those that take dim work on arrays that are cut along it: each rank has a
!> part of a whole array, any extents of it there (0 too), the other extents are equal on all ranks. dim counts from
!> 1, and is the last dimension where it is absent. lengths holds the extents of the parts along dim in order of
!> ranks, equal on all ranks; where it is absent (on all ranks), they are collected first.
module syncyte_collectives
  use, intrinsic :: iso_c_binding
  use syncyte_collective_helpers
  use syncyte_errors
  use syncyte_requests, only: syncyte_request
  implicit none
  private

  !> What collectives need of a communicator.
  type, public :: collective_comm
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_comm_t
  contains
    procedure :: bcast => comm_bcast
    procedure :: allreduce => comm_allreduce
    procedure :: reduce => comm_reduce
    procedure :: scan => comm_scan
    procedure :: exscan => comm_exscan
    procedure :: lengths => comm_lengths
    procedure :: gather => comm_gather
    procedure :: allgather => comm_allgather
    procedure :: allgatherv => comm_allgatherv
    procedure :: scatter => comm_scatter
    procedure :: reduce_scatter => comm_reduce_scatter
    procedure :: alltoall => comm_alltoall
    procedure :: alltoallv => comm_alltoallv
    procedure :: ibcast => comm_ibcast
    procedure :: iallreduce => comm_iallreduce
    procedure :: iallgather => comm_iallgather
    procedure :: ireduce_scatter => comm_ireduce_scatter
    procedure :: ialltoall => comm_ialltoall
  end type collective_comm

contains

  !> The axis of C for a dimension; the last dimension if it is absent.
  integer(c_int32_t) function axis_of(dim)
    integer, intent(in), optional :: dim

    axis_of = 0
    if (present(dim)) axis_of = fortran_axis(int(dim, c_int32_t))
  end function axis_of

  !> A flag for C; absent is false.
  integer(c_int32_t) function flag_of(flag)
    logical, intent(in), optional :: flag

    flag_of = 0
    if (present(flag)) flag_of = merge(1, 0, flag)
  end function flag_of

  !> Sends root's elements to all ranks. Collective.
  subroutine comm_bcast(self, array, root, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout) :: array  !! read on root, written elsewhere
    integer, intent(in) :: root
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_bcast(self%handle, int(root, c_int32_t), array), stat, errmsg)
  end subroutine comm_bcast

  !> Reduces element by element over all ranks; all get the same. Collective.
  subroutine comm_allreduce(self, output, op, input, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout) :: output         !! also the input if input is absent
    integer(c_int32_t), intent(in) :: op                    !! SYNCYTE_OP_SUM, ...
    type(*), dimension(..), intent(in), optional :: input   !! of output's type and number of elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_allreduce(self%handle, input, op, output), stat, errmsg)
  end subroutine comm_allreduce

  !> Reduces element by element over all ranks; root gets it. Collective.
  subroutine comm_reduce(self, output, op, root, input, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout) :: output         !! also the input if input is absent; written on root only
    integer(c_int32_t), intent(in) :: op                    !! SYNCYTE_OP_SUM, ...
    integer, intent(in) :: root
    type(*), dimension(..), intent(in), optional :: input   !! of output's type and number of elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_reduce(self%handle, input, op, int(root, c_int32_t), output), stat, errmsg)
  end subroutine comm_reduce

  !> Reduces element by element over the ranks from the first to this one, its own included. Collective.
  subroutine comm_scan(self, output, op, input, from_last, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout) :: output         !! also the input if input is absent
    integer(c_int32_t), intent(in) :: op                    !! SYNCYTE_OP_SUM, ...
    type(*), dimension(..), intent(in), optional :: input   !! of output's type and number of elements
    logical, intent(in), optional :: from_last              !! from the last rank instead; equal on all ranks
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_scan(self%handle, input, op, flag_of(from_last), output), stat, errmsg)
  end subroutine comm_scan

  !> As scan, without this rank's own; where it begins: 0 for SUM, 1 for PROD, the highest value for MIN, the lowest for
  !> MAX. Collective.
  subroutine comm_exscan(self, output, op, input, from_last, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout) :: output         !! also the input if input is absent
    integer(c_int32_t), intent(in) :: op                    !! SYNCYTE_OP_SUM, ...
    type(*), dimension(..), intent(in), optional :: input   !! of output's type and number of elements
    logical, intent(in), optional :: from_last              !! from the last rank instead; equal on all ranks
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_exscan(self%handle, input, op, flag_of(from_last), output), stat, errmsg)
  end subroutine comm_exscan

  !> Collects one number of every rank, usually an extent. Collective.
  subroutine comm_lengths(self, length, lengths, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in) :: length      !! an integer, 0 or more
    type(*), dimension(..), intent(inout) :: lengths  !! integers (size), in order of ranks
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_lengths(self%handle, length, lengths), stat, errmsg)
  end subroutine comm_lengths

  !> Joins the ranks' parts along a dimension, on root. Collective.
  subroutine comm_gather(self, input, output, root, dim, lengths, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in) :: input                !! this rank's part
    type(*), dimension(..), intent(inout), optional :: output  !! the whole; only root's counts
    integer, intent(in) :: root
    integer, intent(in), optional :: dim
    type(*), dimension(..), intent(in), optional :: lengths    !! integers (size)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_gather(self%handle, input, axis_of(dim), lengths, int(root, c_int32_t), output), &
                stat, errmsg)
  end subroutine comm_gather

  !> Concatenates equal contributions of all ranks, in order of ranks; with dim or lengths: joins the ranks' parts along
  !> a dimension, as gather, on all ranks. Collective.
  subroutine comm_allgather(self, input, output, stat, errmsg, dim, lengths)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in) :: input
    type(*), dimension(..), intent(inout) :: output          !! size times as many elements, or the whole
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer, intent(in), optional :: dim                     !! by keyword, as stat came first
    type(*), dimension(..), intent(in), optional :: lengths  !! integers (size)
    integer(c_int32_t) :: status

    if (present(dim) .or. present(lengths)) then
      status = fortran_comm_allgather_along(self%handle, input, axis_of(dim), lengths, output)
    else
      status = fortran_comm_allgather(self%handle, input, output)
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_allgather

  !> Concatenates contributions of different lengths, in order of ranks. Collective.
  subroutine comm_allgatherv(self, input, counts, output, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in) :: input      !! counts(rank + 1) elements
    type(*), dimension(..), intent(in) :: counts     !! integers: elements of every rank, equal on all ranks
    type(*), dimension(..), intent(inout) :: output  !! sum(counts) elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_allgatherv(self%handle, input, counts, output), stat, errmsg)
  end subroutine comm_allgatherv

  !> Cuts root's array along a dimension, a part for every rank. Collective.
  subroutine comm_scatter(self, input, output, root, dim, lengths, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), optional :: input    !! the whole; only root's counts
    type(*), dimension(..), intent(inout) :: output          !! this rank's part
    integer, intent(in) :: root
    integer, intent(in), optional :: dim
    type(*), dimension(..), intent(in), optional :: lengths  !! integers (size)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_scatter(self%handle, input, axis_of(dim), lengths, int(root, c_int32_t), output), &
                stat, errmsg)
  end subroutine comm_scatter

  !> Reduces the ranks' whole arrays element by element, and gives each rank its part of the result. Collective.
  subroutine comm_reduce_scatter(self, input, output, op, dim, lengths, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in) :: input              !! a whole array
    type(*), dimension(..), intent(inout) :: output          !! this rank's part
    integer(c_int32_t), intent(in) :: op                     !! SYNCYTE_OP_SUM, ...
    integer, intent(in), optional :: dim
    type(*), dimension(..), intent(in), optional :: lengths  !! integers (size)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_reduce_scatter(self%handle, input, axis_of(dim), lengths, op, output), stat, errmsg)
  end subroutine comm_reduce_scatter

  !> Changes the dimension along which a whole array is cut over the ranks (a parallel transposition); with equal
  !> dimensions, the lengths of its parts. Collective.
  subroutine comm_alltoall(self, input, output, gather_dim, scatter_dim, gather_lengths, scatter_lengths, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in) :: input       !! this rank's part along gather_dim, whole along scatter_dim
    type(*), dimension(..), intent(inout) :: output   !! this rank's part along scatter_dim, whole along gather_dim
    integer, intent(in) :: gather_dim, scatter_dim
    type(*), dimension(..), intent(in), optional :: gather_lengths   !! integers (size), of the parts of the input
    type(*), dimension(..), intent(in), optional :: scatter_lengths  !! integers (size), of the parts of the output
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_alltoall(self%handle, input, axis_of(gather_dim), gather_lengths, axis_of(scatter_dim), &
                                      scatter_lengths, output), stat, errmsg)
  end subroutine comm_alltoall

  !> Every rank sends a piece to every rank. Collective.
  subroutine comm_alltoallv(self, input, send_counts, recv_counts, output, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in) :: input        !! the pieces in order of target ranks
    type(*), dimension(..), intent(in) :: send_counts  !! integers: elements for every rank
    type(*), dimension(..), intent(in) :: recv_counts  !! integers: elements from every rank
    type(*), dimension(..), intent(inout) :: output    !! the pieces in order of source ranks
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_alltoallv(self%handle, input, send_counts, recv_counts, output), stat, errmsg)
  end subroutine comm_alltoallv

  !> Starts bcast; ends with the request. Collective, waits for nobody. The array, contiguous, must stay (asynchronous,
  !> or target) until the request has ended; so must those of the other starts.
  subroutine comm_ibcast(self, array, root, request, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout), asynchronous :: array  !! read on root, written elsewhere
    integer, intent(in) :: root
    type(syncyte_request), intent(inout) :: request               !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_ibcast(self%handle, int(root, c_int32_t), array, request%handle), stat, errmsg)
  end subroutine comm_ibcast

  !> Starts allreduce of contiguous arrays. Collective, waits for nobody.
  subroutine comm_iallreduce(self, output, op, request, input, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(inout), asynchronous :: output        !! also the input if input is absent
    integer(c_int32_t), intent(in) :: op                                 !! SYNCYTE_OP_SUM, ...
    type(syncyte_request), intent(inout) :: request
    type(*), dimension(..), intent(in), asynchronous, optional :: input  !! of output's type and number of elements
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_iallreduce(self%handle, input, op, output, request%handle), stat, errmsg)
  end subroutine comm_iallreduce

  !> Starts allgather along a dimension; lengths must be given, since a start collects nothing. Collective, waits for
  !> nobody.
  subroutine comm_iallgather(self, input, output, request, lengths, dim, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), asynchronous :: input      !! this rank's part
    type(*), dimension(..), intent(inout), asynchronous :: output  !! the whole
    type(syncyte_request), intent(inout) :: request
    type(*), dimension(..), intent(in) :: lengths                  !! integers (size)
    integer, intent(in), optional :: dim
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_iallgather(self%handle, input, axis_of(dim), lengths, output, request%handle), stat, errmsg)
  end subroutine comm_iallgather

  !> Starts reduce_scatter; lengths must be given. Collective, waits for nobody.
  subroutine comm_ireduce_scatter(self, input, output, op, request, lengths, dim, stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), asynchronous :: input      !! a whole array
    type(*), dimension(..), intent(inout), asynchronous :: output  !! this rank's part
    integer(c_int32_t), intent(in) :: op                           !! SYNCYTE_OP_SUM, ...
    type(syncyte_request), intent(inout) :: request
    type(*), dimension(..), intent(in) :: lengths                  !! integers (size)
    integer, intent(in), optional :: dim
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_ireduce_scatter(self%handle, input, axis_of(dim), lengths, op, output, request%handle), &
                stat, errmsg)
  end subroutine comm_ireduce_scatter

  !> Starts alltoall; both lengths must be given. Collective, waits for nobody.
  subroutine comm_ialltoall(self, input, output, gather_dim, scatter_dim, request, gather_lengths, scatter_lengths, &
                            stat, errmsg)
    class(collective_comm), intent(in) :: self
    type(*), dimension(..), intent(in), asynchronous :: input      !! this rank's part along gather_dim
    type(*), dimension(..), intent(inout), asynchronous :: output  !! its part along scatter_dim
    integer, intent(in) :: gather_dim
    integer, intent(in) :: scatter_dim
    type(syncyte_request), intent(inout) :: request
    type(*), dimension(..), intent(in) :: gather_lengths           !! integers (size): of the inputs
    type(*), dimension(..), intent(in) :: scatter_lengths          !! integers (size): of the outputs
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(fortran_comm_ialltoall(self%handle, input, axis_of(gather_dim), gather_lengths, axis_of(scatter_dim), &
                                       scatter_lengths, output, request%handle), stat, errmsg)
  end subroutine comm_ialltoall
end module syncyte_collectives
