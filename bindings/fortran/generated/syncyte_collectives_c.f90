! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/collectives.h by bindings/generate; do not edit.
!> Collectives on arrays: broadcast, reductions, scans, and arrays that are cut along an axis.
module syncyte_collectives_c
  use, intrinsic :: iso_c_binding
  use syncyte_comm_c, c_syncyte_finalize => syncyte_finalize
  implicit none
  public
  private :: c_syncyte_finalize

  !> Options of a collective operation.
  type, bind(C) :: syncyte_collective_options_t
    ! sizeof(syncyte_collective_options_t)
    integer(c_size_t) :: struct_size = 40_c_size_t
    ! reserved: null. Work enqueued on a device buffer must be complete before the call
    type(c_ptr) :: stream = c_null_ptr
    ! an additional fact, equal on all ranks, for libraries on top; 0 by default
    integer(c_int64_t) :: fact = 0_c_int64_t
    ! number of facts, 0 to 24
    integer(c_int64_t) :: fact_count = 0_c_int64_t
    ! additional facts with names for the message, read during the call; null if none
    type(c_ptr) :: facts = c_null_ptr
  end type syncyte_collective_options_t

  interface

    !> Sends root's elements to all ranks. Collective; facts: dtype, number of elements, root, options->fact.
    ! comm [in]: a communicator
    ! root [in]: rank that sends its elements
    ! options [in]: null for defaults
    ! array [in,out]: contiguous; read on root, written elsewhere
    ! Returns: SYNCYTE_ERR_ARGUMENT (root), SYNCYTE_ERR_SHAPE (not contiguous), SYNCYTE_ERR_MISMATCH.
    function syncyte_comm_bcast(comm, root, options, array) bind(C, name="syncyte_comm_bcast") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: root
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: array
      integer(c_int32_t) :: answer
    end function syncyte_comm_bcast

    !> Starts syncyte_comm_bcast(), as the head of syncyte/collectives.h says. Collective; does not wait.
    ! comm [in]: a communicator; it may be destroyed before the request has ended
    ! root [in]: rank that sends its elements
    ! options [in]: null for defaults; may be re-used on return
    ! array [in,out]: contiguous; read on root, written elsewhere; must stay unchanged on root and may not be read
    ! elsewhere until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as comm_bcast, for errors that this rank finds; test and wait return the others.
    function syncyte_comm_ibcast(comm, root, options, array, request) bind(C, name="syncyte_comm_ibcast") &
        result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: root
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: array
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_ibcast

    !> Reduces element by element over all ranks; all ranks get the result. Collective; facts: dtype, number of
    !> elements, op, options->fact. float16 and bfloat16 are reduced in float32 and rounded once.
    ! comm [in]: a communicator
    ! input [in]: contiguous; null: output's contents (in place)
    ! op [in]: reduction
    ! options [in]: null for defaults
    ! output [in,out]: contiguous, of input's dtype and number of elements; must not overlap input
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE,
    ! SYNCYTE_ERR_MISMATCH.
    function syncyte_comm_allreduce(comm, input, op, options, output) bind(C, name="syncyte_comm_allreduce") &
        result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in), optional :: input
      integer(c_int32_t), value :: op
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_allreduce

    !> Starts syncyte_comm_allreduce(), as the head of syncyte/collectives.h says. Collective; does not wait.
    ! comm [in]: a communicator; it may be destroyed before the request has ended
    ! input [in]: contiguous; null: output's contents (in place); must stay unchanged until the request has ended
    ! op [in]: reduction
    ! options [in]: null for defaults; may be re-used on return
    ! output [in,out]: contiguous, of input's dtype and number of elements; must not overlap input; may be neither
    ! read nor written until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as comm_allreduce, for errors that this rank finds; test and wait return the others.
    function syncyte_comm_iallreduce(comm, input, op, options, output, request) bind(C, &
        name="syncyte_comm_iallreduce") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in), optional :: input
      integer(c_int32_t), value :: op
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_iallreduce

    !> Concatenates contributions of equal size of all ranks, in rank order. Collective; facts: dtype, number of
    !> elements, options->fact.
    ! comm [in]: a communicator
    ! input [in]: contiguous
    ! options [in]: null for defaults
    ! output [out]: contiguous, of input's dtype and size times as many elements; must not overlap input
    function syncyte_comm_allgather(comm, input, options, output) bind(C, name="syncyte_comm_allgather") &
        result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_allgather

    !> Concatenates contributions of different sizes, in rank order. Collective; facts: dtype, counts,
    !> options->fact.
    ! comm [in]: a communicator
    ! input [in]: contiguous, counts[rank] elements
    ! counts_length [in]: length of counts: comm's size
    ! counts [in]: elements of every rank, 0 or more, equal on all ranks
    ! options [in]: null for defaults
    ! output [out]: contiguous, the sum of counts elements; must not overlap input
    function syncyte_comm_allgatherv(comm, input, counts_length, counts, options, output) bind(C, &
        name="syncyte_comm_allgatherv") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in) :: counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_allgatherv

    !> Every rank sends a block to every rank. Collective; facts: dtype, options->fact, and that the count that rank
    !> i sends to j equals the count that j expects from i (compared as a 64-bit sum of hashes; with
    !> SYNCYTE_CHECK=full entry by entry).
    ! comm [in]: a communicator
    ! input [in]: contiguous, the blocks in order of target ranks
    ! send_counts_length [in]: length of send_counts: comm's size
    ! send_counts [in]: elements for every rank
    ! recv_counts_length [in]: length of recv_counts: comm's size
    ! recv_counts [in]: elements from every rank
    ! options [in]: null for defaults
    ! output [out]: contiguous, the blocks in order of source ranks; must not overlap input
    function syncyte_comm_alltoallv(comm, input, send_counts_length, send_counts, recv_counts_length, &
        recv_counts, options, output) bind(C, name="syncyte_comm_alltoallv") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int64_t), value :: send_counts_length
      integer(c_int64_t), intent(in) :: send_counts(*)
      integer(c_int64_t), value :: recv_counts_length
      integer(c_int64_t), intent(in) :: recv_counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_alltoallv

    !> Moves rows to the ranks that the caller names, such as particles that have left a rank's part of space. The
    !> rows of all arrays with one number travel together, in one message from each rank to each other. A target
    !> gets the rows that stay, then those of rank 0, 1, ..., all in their order; what it has behind them stays as
    !> it is. Collective; facts: count, element types, extents of the rows, whether there are targets.
    ! comm [in]: a communicator
    ! destinations_length [in]: number of rows of this rank
    ! destinations [in]: the rank that each row goes to; SYNCYTE_PROC_NULL: it goes nowhere
    ! count [in]: number of arrays, 1 or more
    ! arrays [in]: (rows, ...), with a row for each destination; rows behind them are not read
    ! options [in]: null for defaults
    ! targets [out]: (rows, ...), of the arrays' element types and rows, with room for the rows that this rank gets.
    ! A target may be its array itself: the same memory and strides. Null: rows are only counted
    ! rows [out]: number of rows that this rank has got
    ! Returns: SYNCYTE_ERR_ARGUMENT (a destination that is no rank; memory that overlaps), SYNCYTE_ERR_SHAPE (fewer
    ! rows than destinations; a target without room, on all ranks, before data moves), SYNCYTE_ERR_TYPE,
    ! SYNCYTE_ERR_MISMATCH.
    function syncyte_comm_relocate_rows(comm, destinations_length, destinations, count, arrays, options, &
        targets, rows) bind(C, name="syncyte_comm_relocate_rows") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), value :: destinations_length
      integer(c_int32_t), intent(in), optional :: destinations(*)
      integer(c_int64_t), value :: count
      type(syncyte_buffer_t), intent(in) :: arrays(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in), optional :: targets(*)
      integer(c_int64_t), intent(inout) :: rows
      integer(c_int32_t) :: answer
    end function syncyte_comm_relocate_rows

    !> Exchanges a block with each neighbour on a grid. Collective over a Cartesian communicator; after the
    !> agreement it waits for the neighbours only. Facts: dtype, number of elements, options->fact. A buffer has two
    !> blocks for each dimension, all of equal size: one for the neighbour below, then one for the neighbour above.
    !> The block that a rank sends up arrives in the neighbour's block "below", also if a periodic dimension has one
    !> or two ranks, so that both neighbours are one rank. Beyond an edge that is not periodic there is no
    !> neighbour: that block of input is not read, and that of output not written. The operation is its own adjoint
    !> if those blocks are 0.
    ! comm [in]: a Cartesian communicator
    ! input [in]: contiguous, a block for each neighbour
    ! options [in]: null for defaults
    ! output [out]: contiguous, of input's dtype and number of elements; must not overlap input
    ! Returns: SYNCYTE_ERR_ARGUMENT (not Cartesian), SYNCYTE_ERR_SHAPE (elements are not a multiple of 2 ndim).
    function syncyte_comm_neighbor_alltoall(comm, input, options, output) bind(C, &
        name="syncyte_comm_neighbor_alltoall") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_neighbor_alltoall

    !> Reduces element by element over all ranks, to root. Collective; facts: dtype, number of elements, op, root,
    !> options->fact. float16 and bfloat16 are reduced in float32 and rounded once.
    ! comm [in]: a communicator
    ! input [in]: contiguous; null on root: output's contents (in place)
    ! op [in]: reduction
    ! root [in]: rank that gets the result
    ! options [in]: null for defaults
    ! output [in,out]: on root: contiguous, of input's dtype and number of elements, not overlapping it; elsewhere
    ! neither read nor written, may be null
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
    function syncyte_comm_reduce(comm, input, op, root, options, output) bind(C, name="syncyte_comm_reduce") &
        result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in), optional :: input
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: root
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in), optional :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_reduce

    !> Reduces element by element over the ranks from the first (or the last) to this one, its own included.
    !> Collective; facts: dtype, number of elements, op, reverse, options->fact.
    ! comm [in]: a communicator
    ! input [in]: contiguous; null: output's contents (in place)
    ! op [in]: reduction
    ! reverse [in]: 0: from rank 0 up; 1: from the last rank down, the adjoint of the other
    ! options [in]: null for defaults
    ! output [in,out]: contiguous, of input's dtype and number of elements; must not overlap input
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
    function syncyte_comm_scan(comm, input, op, reverse, options, output) bind(C, name="syncyte_comm_scan") &
        result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in), optional :: input
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: reverse
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_scan

    !> Exclusive scan: does the same as syncyte_comm_scan(), without this rank's own elements. The rank where it
    !> begins gets the identity element of op: 0 for SUM, 1 for PROD, the highest value (or infinity) for MIN, the
    !> lowest for MAX. Collective; facts as syncyte_comm_scan().
    ! comm [in]: a communicator
    ! input [in]: contiguous; null: output's contents (in place)
    ! op [in]: reduction
    ! reverse [in]: 0: from rank 0 up; 1: from the last rank down, the adjoint of the other
    ! options [in]: null for defaults
    ! output [in,out]: contiguous, of input's dtype and number of elements; must not overlap input
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
    function syncyte_comm_exscan(comm, input, op, reverse, options, output) bind(C, name="syncyte_comm_exscan") &
        result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in), optional :: input
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: reverse
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_exscan

    !> Collects one number from each rank, usually an extent. Collective; facts: options->fact.
    ! comm [in]: a communicator
    ! count [in]: this rank's number, 0 or more
    ! options [in]: null for defaults
    ! counts_length [in]: length of counts: comm's size
    ! counts [out]: the numbers of all ranks, in rank order
    function syncyte_comm_counts(comm, count, options, counts_length, counts) bind(C, &
        name="syncyte_comm_counts") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), value :: count
      type(syncyte_collective_options_t), intent(in), optional :: options
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(inout) :: counts(*)
      integer(c_int32_t) :: answer
    end function syncyte_comm_counts

    !> Joins the ranks' parts along an axis, on root. Collective; facts: dtype, extents of the other axes, axis,
    !> counts, root, options->fact.
    ! comm [in]: a communicator
    ! input [in]: this rank's part
    ! axis [in]: dimension along which the parts are joined
    ! root [in]: rank that gets the whole array
    ! counts_length [in]: length of counts: comm's size
    ! counts [in]: extents of the parts along the axis, equal on all ranks
    ! options [in]: null for defaults
    ! output [out]: on root: the whole array, not overlapping input; elsewhere ignored, may be null
    function syncyte_comm_gather_along(comm, input, axis, root, counts_length, counts, options, output) bind(C, &
        name="syncyte_comm_gather_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int32_t), value :: axis
      integer(c_int32_t), value :: root
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in) :: counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in), optional :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_gather_along

    !> Joins the ranks' parts along an axis, on all ranks. Collective; facts as syncyte_comm_gather_along(), without
    !> root.
    ! comm [in]: a communicator
    ! input [in]: this rank's part
    ! axis [in]: dimension along which the parts are joined
    ! counts_length [in]: length of counts: comm's size
    ! counts [in]: extents of the parts along the axis, equal on all ranks
    ! options [in]: null for defaults
    ! output [out]: the whole array, not overlapping input
    function syncyte_comm_allgather_along(comm, input, axis, counts_length, counts, options, output) bind(C, &
        name="syncyte_comm_allgather_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int32_t), value :: axis
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in) :: counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_allgather_along

    !> Starts syncyte_comm_allgather_along(), as the head of syncyte/collectives.h says. Collective; does not wait.
    ! comm [in]: a communicator; it may be destroyed before the request has ended
    ! input [in]: this rank's part; must stay unchanged until the request has ended
    ! axis [in]: dimension along which the parts are joined
    ! counts_length [in]: length of counts: comm's size
    ! counts [in]: extents of the parts along the axis, equal on all ranks; may be re-used on return
    ! options [in]: null for defaults; may be re-used on return
    ! output [out]: the whole array, not overlapping input; may not be read until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as comm_allgather_along, for errors that this rank finds; test and wait return the others.
    function syncyte_comm_iallgather_along(comm, input, axis, counts_length, counts, options, output, request) &
        bind(C, name="syncyte_comm_iallgather_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int32_t), value :: axis
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in) :: counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_iallgather_along

    !> Cuts root's array along an axis, a part for every rank. Collective; facts as syncyte_comm_gather_along().
    ! comm [in]: a communicator
    ! input [in]: on root: the whole array; elsewhere ignored, may be null
    ! axis [in]: dimension to cut
    ! root [in]: rank that has the whole array
    ! counts_length [in]: length of counts: comm's size
    ! counts [in]: extents of the parts along the axis, equal on all ranks
    ! options [in]: null for defaults
    ! output [out]: this rank's part, not overlapping input
    function syncyte_comm_scatter_along(comm, input, axis, root, counts_length, counts, options, output) bind(C, &
        name="syncyte_comm_scatter_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in), optional :: input
      integer(c_int32_t), value :: axis
      integer(c_int32_t), value :: root
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in) :: counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_scatter_along

    !> Reduces the ranks' whole arrays element by element, and gives each rank its part of the result. Collective;
    !> facts: dtype, extents, axis, counts, op, options->fact. float16 and bfloat16 are reduced in float32 and
    !> rounded once.
    ! comm [in]: a communicator
    ! input [in]: a whole array
    ! axis [in]: dimension to cut
    ! op [in]: reduction
    ! counts_length [in]: length of counts: comm's size
    ! counts [in]: extents of the parts along the axis, equal on all ranks
    ! options [in]: null for defaults
    ! output [out]: this rank's part, not overlapping input
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for an op that dtype does not have.
    function syncyte_comm_reduce_scatter_along(comm, input, axis, op, counts_length, counts, options, output) &
        bind(C, name="syncyte_comm_reduce_scatter_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int32_t), value :: axis
      integer(c_int32_t), value :: op
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in) :: counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_reduce_scatter_along

    !> Starts syncyte_comm_reduce_scatter_along(), as the head of syncyte/collectives.h says. Collective; does not
    !> wait.
    ! comm [in]: a communicator; it may be destroyed before the request has ended
    ! input [in]: a whole array; must stay unchanged until the request has ended
    ! axis [in]: dimension to cut
    ! op [in]: reduction
    ! counts_length [in]: length of counts: comm's size
    ! counts [in]: extents of the parts along the axis, equal on all ranks; may be re-used on return
    ! options [in]: null for defaults; may be re-used on return
    ! output [out]: this rank's part, not overlapping input; may not be read until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as comm_reduce_scatter_along, for errors that this rank finds; test and wait return the others.
    function syncyte_comm_ireduce_scatter_along(comm, input, axis, op, counts_length, counts, options, output, &
        request) bind(C, name="syncyte_comm_ireduce_scatter_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int32_t), value :: axis
      integer(c_int32_t), value :: op
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in) :: counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_ireduce_scatter_along

    !> Changes the axis along which an array is partitioned over the ranks (a parallel transposition); with equal
    !> axes, changes the extents of its parts. Collective; facts: dtype, extents of the other axes, both axes, all
    !> counts, options->fact. Rank r passes its part of extent gather_counts[r] along gather_axis, and gets its part
    !> of extent scatter_counts[r] along scatter_axis; the extent along the other axis is that of the whole array.
    ! comm [in]: a communicator
    ! input [in]: this rank's part along gather_axis
    ! gather_axis [in]: dimension along which the inputs are parts
    ! scatter_axis [in]: dimension along which the outputs are parts
    ! gather_counts_length [in]: length of gather_counts: comm's size
    ! gather_counts [in]: their extents, equal on all ranks
    ! scatter_counts_length [in]: length of scatter_counts: comm's size
    ! scatter_counts [in]: their extents, equal on all ranks
    ! options [in]: null for defaults
    ! output [out]: this rank's part along scatter_axis, not overlapping input
    function syncyte_comm_alltoall_along(comm, input, gather_axis, scatter_axis, gather_counts_length, &
        gather_counts, scatter_counts_length, scatter_counts, options, output) bind(C, &
        name="syncyte_comm_alltoall_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int32_t), value :: gather_axis
      integer(c_int32_t), value :: scatter_axis
      integer(c_int64_t), value :: gather_counts_length
      integer(c_int64_t), intent(in) :: gather_counts(*)
      integer(c_int64_t), value :: scatter_counts_length
      integer(c_int64_t), intent(in) :: scatter_counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_comm_alltoall_along

    !> Starts syncyte_comm_alltoall_along(), as the head of syncyte/collectives.h says. Collective; does not wait.
    ! comm [in]: a communicator; it may be destroyed before the request has ended
    ! input [in]: this rank's part along gather_axis; must stay unchanged until the request has ended
    ! gather_axis [in]: dimension along which the inputs are parts
    ! scatter_axis [in]: dimension along which the outputs are parts
    ! gather_counts_length [in]: length of gather_counts: comm's size
    ! gather_counts [in]: their extents, equal on all ranks; may be re-used on return
    ! scatter_counts_length [in]: length of scatter_counts: comm's size
    ! scatter_counts [in]: their extents, equal on all ranks; may be re-used on return
    ! options [in]: null for defaults; may be re-used on return
    ! output [out]: this rank's part along scatter_axis, not overlapping input; may not be read until the request
    ! has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as comm_alltoall_along, for errors that this rank finds; test and wait return the others.
    function syncyte_comm_ialltoall_along(comm, input, gather_axis, scatter_axis, gather_counts_length, &
        gather_counts, scatter_counts_length, scatter_counts, options, output, request) bind(C, &
        name="syncyte_comm_ialltoall_along") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: input
      integer(c_int32_t), value :: gather_axis
      integer(c_int32_t), value :: scatter_axis
      integer(c_int64_t), value :: gather_counts_length
      integer(c_int64_t), intent(in) :: gather_counts(*)
      integer(c_int64_t), value :: scatter_counts_length
      integer(c_int64_t), intent(in) :: scatter_counts(*)
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in) :: output
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_comm_ialltoall_along
  end interface
end module syncyte_collectives_c
