! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/layout.h by bindings/generate; do not edit.
!> Layouts: how an array is cut into the ranks' parts, and relocation of an array from one layout to another.
module syncyte_layout_c
  use, intrinsic :: iso_c_binding
  use syncyte_collectives_c
  implicit none
  public

  !> Rules for points that two blocks store.
  ! all copies are equal
  integer(c_int32_t), parameter :: SYNCYTE_TRUTH_EQUAL = 0_c_int32_t
  ! the copy of the block with the lower cells
  integer(c_int32_t), parameter :: SYNCYTE_TRUTH_LOWER = 1_c_int32_t
  ! the copy of the block with the higher cells
  integer(c_int32_t), parameter :: SYNCYTE_TRUTH_UPPER = 2_c_int32_t

  !> What the arrays of a layout hold beside cells, and how a mesh divides them.
  type, bind(C) :: syncyte_layout_options_t
    ! sizeof(syncyte_layout_options_t)
    integer(c_size_t) :: struct_size = 224_c_size_t
    ! ghosts before the first point of each axis, 0 or more
    integer(c_int64_t) :: ghosts_low(8) = 0_c_int64_t
    ! ghosts behind the last point
    integer(c_int64_t) :: ghosts_high(8) = 0_c_int64_t
    ! 1: points on the borders of cells along this axis; 0: cells
    integer(c_int32_t) :: shared(8) = 0_c_int32_t
    ! 1: the axis is periodic
    integer(c_int32_t) :: periodic(8) = 0_c_int32_t
    ! rule for points that two blocks store
    integer(c_int32_t) :: truth = 0_c_int32_t
    ! of a mesh: 1: parts of ceil(cells / parts) cells, the last ones shorter or empty, as PyTorch's DTensor cuts;
    ! 0: equal parts, the first cells % parts of which have one cell more
    integer(c_int32_t) :: ceil = 0_c_int32_t
    ! of a mesh: cells that are dealt out to the parts in blocks of this length; 0: each part has consecutive cells
    integer(c_int64_t) :: block = 0_c_int64_t
    ! of a mesh: 1: lengths are weights, 0 or more, and an axis is cut in proportion to them
    integer(c_int32_t) :: weighted = 0_c_int32_t
  end type syncyte_layout_options_t

  !> Options of a relocation.
  type, bind(C) :: syncyte_relocate_options_t
    ! sizeof(syncyte_relocate_options_t)
    integer(c_size_t) :: struct_size = 32_c_size_t
    ! most memory for messages on each rank; equal on all ranks
    integer(c_int64_t) :: buffer_bytes = 8388608_c_int64_t
    ! null: both layouts are of arrays of the same extents; otherwise one array is a box of the other one, this is
    ! its first point there, for each axis, and only the box is moved
    type(c_ptr) :: first = c_null_ptr
    ! what all collectives take, read during the call; null for defaults
    type(c_ptr) :: collective = c_null_ptr
  end type syncyte_relocate_options_t

  !> A layout as a rank sees it, or one of a rank's blocks.
  type, bind(C) :: syncyte_layout_info_t
    ! sizeof(syncyte_layout_info_t)
    integer(c_size_t) :: struct_size = 216_c_size_t
    ! points of the whole array along each axis
    integer(c_int64_t) :: extents(8) = 0_c_int64_t
    ! of a block: its first point, ghosts not counted
    integer(c_int64_t) :: first(8) = 0_c_int64_t
    ! of a block: extents of its array, ghosts included
    integer(c_int64_t) :: shape(8) = 0_c_int64_t
    ! number of axes
    integer(c_int32_t) :: ndim = 0_c_int32_t
    ! number of the rank's blocks
    integer(c_int32_t) :: blocks = 0_c_int32_t
    ! 1: of listed points (syncyte_layout_create_indices())
    integer(c_int32_t) :: listed = 0_c_int32_t
  end type syncyte_layout_info_t

  !> Points of a box that one block has.
  type, bind(C) :: syncyte_layout_piece_t
    ! first point
    integer(c_int64_t) :: first(8) = 0_c_int64_t
    ! points along each axis, 1 or more
    integer(c_int64_t) :: count(8) = 0_c_int64_t
    ! place of the first point in the block's array, ghosts counted
    integer(c_int64_t) :: index(8) = 0_c_int64_t
    ! the owner: the first rank of the block with the right copy
    integer(c_int32_t) :: rank = 0_c_int32_t
    ! number of the block among the rank's
    integer(c_int32_t) :: block = 0_c_int32_t
  end type syncyte_layout_piece_t

  interface

    !> Makes a layout whose axes are cut by the dimensions of a mesh. The first ranks of comm are on the mesh in
    !> row-major order; those beyond it have no block. Collective; facts: the layout.
    ! comm [in]: a communicator, which the layout keeps alive
    ! ndim [in]: number of axes, 1 to SYNCYTE_MAX_NDIM
    ! cells [in]: cells along each axis
    ! mesh_ndim [in]: dimensions of the mesh, 1 to SYNCYTE_MAX_NDIM
    ! mesh [in]: ranks along each dimension of the mesh
    ! lengths_length [in]: length of lengths: the parts of all cut axes; ignored if lengths is null
    ! lengths [in]: cells of each part of the cut axes, axis by axis, or its weight, without ceil and block; null:
    ! as the options say
    ! axes_length [in]: length of axes: mesh_ndim
    ! axes [in]: the axis that each dimension of the mesh cuts; -1: it cuts none, and its ranks have equal copies.
    ! If several cut one axis, the parts of the first one are cut further by the next
    ! options [in]: null for defaults
    ! layout [out]: the layout
    ! Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_MISMATCH.
    function syncyte_layout_create_mesh(comm, ndim, cells, mesh_ndim, mesh, lengths_length, lengths, &
        axes_length, axes, options, layout) bind(C, name="syncyte_layout_create_mesh") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: ndim
      integer(c_int64_t), intent(in) :: cells(*)
      integer(c_int32_t), value :: mesh_ndim
      integer(c_int32_t), intent(in) :: mesh(*)
      integer(c_int64_t), value :: lengths_length
      integer(c_int64_t), intent(in), optional :: lengths(*)
      integer(c_int64_t), value :: axes_length
      integer(c_int32_t), intent(in) :: axes(*)
      type(syncyte_layout_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: layout
      integer(c_int32_t) :: answer
    end function syncyte_layout_create_mesh

    !> Makes a layout of blocks that the ranks have chosen. Each rank gives its own; together they hold each cell
    !> once. Equal blocks of several ranks are copies. Collective; facts: cells, options.
    ! comm [in]: a communicator, which the layout keeps alive
    ! ndim [in]: number of axes, 1 to SYNCYTE_MAX_NDIM
    ! cells [in]: cells of the whole array along each axis
    ! firsts_length [in]: length of firsts: ndim for each of this rank's blocks, which may be none
    ! firsts [in]: first cell of each block, counted from 0
    ! counts_length [in]: length of counts: that of firsts
    ! counts [in]: cells of each block along each axis, 0 or more
    ! options [in]: null for defaults; ceil, block and weighted are 0
    ! layout [out]: the layout
    ! Returns: SYNCYTE_ERR_ARGUMENT (a block beyond the array; overlapping blocks; cells in no block),
    ! SYNCYTE_ERR_MISMATCH.
    function syncyte_layout_create_blocks(comm, ndim, cells, firsts_length, firsts, counts_length, counts, &
        options, layout) bind(C, name="syncyte_layout_create_blocks") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: ndim
      integer(c_int64_t), intent(in) :: cells(*)
      integer(c_int64_t), value :: firsts_length
      integer(c_int64_t), intent(in), optional :: firsts(*)
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in), optional :: counts(*)
      type(syncyte_layout_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: layout
      integer(c_int32_t) :: answer
    end function syncyte_layout_create_blocks

    !> Makes a layout of arrays whose rows are points of an unstructured mesh: each rank lists the points of its own
    !> arrays along axis 0, in the order of the array and in any order of numbers. A point may be in several lists,
    !> or in one several times; `truth` says which copy is right. The last points of a list may be ghosts, which a
    !> bundle fills with the right copies. Every rank keeps all lists: 48 bytes for each run of consecutive points
    !> that the same arrays have. Collective; facts: extents, truth.
    ! comm [in]: a communicator, which the layout keeps alive
    ! ndim [in]: number of axes, 1 to SYNCYTE_MAX_NDIM
    ! extents [in]: points of the whole array along axis 0, and extents of the others, which are whole on each rank
    ! counts_length [in]: length of counts: the number of this rank's arrays, which may be 0
    ! counts [in]: extent of each array along axis 0, ghosts included
    ! ghosts_length [in]: length of ghosts: that of counts; ignored if ghosts is null
    ! ghosts [in]: number of ghosts at the end of each array; null: none
    ! points_length [in]: length of points: the sum of counts
    ! points [in]: the points, counted from 0, array after array
    ! truth [in]: SYNCYTE_TRUTH_LOWER: the copy of a point on the lowest rank is right, SYNCYTE_TRUTH_UPPER: on the
    ! highest; SYNCYTE_TRUTH_EQUAL: all copies are equal
    ! layout [out]: the layout
    ! Returns: SYNCYTE_ERR_ARGUMENT (a number that is no point; a point that no rank lists, or only as a ghost),
    ! SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.
    function syncyte_layout_create_indices(comm, ndim, extents, counts_length, counts, ghosts_length, ghosts, &
        points_length, points, truth, layout) bind(C, name="syncyte_layout_create_indices") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: ndim
      integer(c_int64_t), intent(in) :: extents(*)
      integer(c_int64_t), value :: counts_length
      integer(c_int64_t), intent(in), optional :: counts(*)
      integer(c_int64_t), value :: ghosts_length
      integer(c_int64_t), intent(in), optional :: ghosts(*)
      integer(c_int64_t), value :: points_length
      integer(c_int64_t), intent(in), optional :: points(*)
      integer(c_int32_t), value :: truth
      type(c_ptr), intent(inout) :: layout
      integer(c_int32_t) :: answer
    end function syncyte_layout_create_indices

    !> Makes a layout of the same cells and blocks for arrays of other points: nodes or faces of a grid, or with
    !> other ghosts. Axes that are periodic stay so; options may add others. Collective over the layout's
    !> communicator; facts: the layout, options.
    ! layout [in]: a layout of cells
    ! options [in]: null for cells without ghosts; ceil, block and weighted are 0
    ! result [out]: the new layout
    ! Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_MISMATCH.
    function syncyte_layout_like(layout, options, result) bind(C, name="syncyte_layout_like") result(answer)
      import
      type(c_ptr), value :: layout
      type(syncyte_layout_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: result
      integer(c_int32_t) :: answer
    end function syncyte_layout_like

    !> Adds a reference. Local, thread-safe, without MPI.
    ! layout [in]: a layout
    function syncyte_layout_retain(layout) bind(C, name="syncyte_layout_retain") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int32_t) :: answer
    end function syncyte_layout_retain

    !> Drops a reference; the last release makes the handle invalid. Local, thread-safe, without MPI.
    ! layout [in]: a layout
    function syncyte_layout_release(layout) bind(C, name="syncyte_layout_release") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int32_t) :: answer
    end function syncyte_layout_release

    !> Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_layout_release().
    ! layout [in,out]: a layout
    function syncyte_layout_destroy(layout) bind(C, name="syncyte_layout_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: layout
      integer(c_int32_t) :: answer
    end function syncyte_layout_destroy

    !> Returns the communicator of a layout. Local.
    ! layout [in]: a layout
    ! comm [out]: a new reference to it, to be destroyed as any other handle
    function syncyte_layout_comm(layout, comm) bind(C, name="syncyte_layout_comm") result(answer)
      import
      type(c_ptr), value :: layout
      type(c_ptr), intent(inout) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_layout_comm

    !> Describes a layout, and one block of a rank. Local.
    ! layout [in]: a layout
    ! rank [in]: a rank of its communicator
    ! block [in]: 0 to the number of the rank's blocks - 1; if there is no such block, first and shape are 0
    ! info [in,out]: struct_size set by the caller
    ! Returns: SYNCYTE_ERR_ARGUMENT for a number that is not a rank, or a negative block.
    function syncyte_layout_describe(layout, rank, block, info) bind(C, name="syncyte_layout_describe") &
        result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int32_t), value :: rank
      integer(c_int32_t), value :: block
      type(syncyte_layout_info_t), intent(inout) :: info
      integer(c_int32_t) :: answer
    end function syncyte_layout_describe

    !> Describes a layout as text, for people: a line for each block, with its rank, its first point and the shape
    !> of its array. Local.
    ! layout [in]: a layout
    ! text [out]: the text; valid as long as the layout
    function syncyte_layout_text(layout, text) bind(C, name="syncyte_layout_text") result(answer)
      import
      type(c_ptr), value :: layout
      type(c_ptr), intent(inout) :: text
      integer(c_int32_t) :: answer
    end function syncyte_layout_text

    !> Finds who has the points of a box, or one point: returns its pieces, which hold each point once, at the block
    !> with the right copy. Local; the time grows with the blocks that the box meets. To learn the number of pieces,
    !> pass capacity 0.
    ! layout [in]: a layout
    ! first_length [in]: length of first: the layout's axes
    ! first [in]: first point of the box
    ! count_length [in]: length of count: the layout's axes
    ! count [in]: points of the box along each axis, 0 or more
    ! capacity [in]: length of pieces; further ones are only counted
    ! pieces [out]: the pieces, block by block
    ! number [out]: number of pieces; 0 if the box has no points
    ! Returns: SYNCYTE_ERR_INDEX outside the array, SYNCYTE_ERR_SHAPE (another number of axes, a negative count),
    ! SYNCYTE_ERR_ARGUMENT (a negative capacity).
    function syncyte_layout_pieces(layout, first_length, first, count_length, count, capacity, pieces, number) &
        bind(C, name="syncyte_layout_pieces") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int64_t), value :: first_length
      integer(c_int64_t), intent(in) :: first(*)
      integer(c_int64_t), value :: count_length
      integer(c_int64_t), intent(in) :: count(*)
      integer(c_int64_t), value :: capacity
      type(syncyte_layout_piece_t), intent(inout), optional :: pieces(*)
      integer(c_int64_t), intent(inout) :: number
      integer(c_int32_t) :: answer
    end function syncyte_layout_pieces

    !> Names the axes, and the units of the coordinates along them, for people: the text of the layout has them, and
    !> the datasets of its fields in a checkpoint. Layouts made by layout_like() afterwards have them too. Local;
    !> may be called once.
    ! layout [in]: a layout
    ! names [in]: a name for each axis, with commas between: "y, x"
    ! units [in]: null, or a unit for each axis: "m, m"
    ! Returns: SYNCYTE_ERR_ARGUMENT (another number of names than axes; the axes have names already).
    function syncyte_layout_name_axes(layout, names, units) bind(C, name="syncyte_layout_name_axes") &
        result(answer)
      import
      type(c_ptr), value :: layout
      character(kind=c_char), intent(in) :: names(*)
      character(kind=c_char), intent(in) :: units(*)
      integer(c_int32_t) :: answer
    end function syncyte_layout_name_axes

    !> Returns the names of the axes and their units. Local.
    ! layout [in]: a layout
    ! names [out]: the names, with ", " between; "" if there are none; valid as long as the layout
    ! units [out]: likewise
    function syncyte_layout_axis_names(layout, names, units) bind(C, name="syncyte_layout_axis_names") &
        result(answer)
      import
      type(c_ptr), value :: layout
      type(c_ptr), intent(inout) :: names
      type(c_ptr), intent(inout) :: units
      integer(c_int32_t) :: answer
    end function syncyte_layout_axis_names

    !> Moves an array from one layout to another of the same extents and communicator: each point of a target gets
    !> the value of the right copy. Ghosts are neither read nor written. Pairs of ranks exchange messages in rounds,
    !> through buffer_bytes of memory on each rank, so that the array is whole nowhere unless `to` says so: a layout
    !> with one block collects it on one rank, or on all. Collective; facts: dtype, both layouts, options.
    ! layout [in]: the layout of the arrays
    ! dtype [in]: element type, also on ranks without a block
    ! count [in]: number of arrays: this rank's blocks
    ! arrays [in]: the arrays of this rank's blocks, ghosts included, with any strides
    ! to [in]: the layout to move to
    ! target_count [in]: number of targets: this rank's blocks in `to`
    ! options [in]: null for defaults
    ! targets [out]: the arrays to fill, ghosts included, with any strides; separate memory
    ! Returns: SYNCYTE_ERR_ARGUMENT (number of arrays, buffer_bytes, overlapping memory), SYNCYTE_ERR_TYPE,
    ! SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_MISMATCH.
    function syncyte_layout_relocate(layout, dtype, count, arrays, to, target_count, options, targets) bind(C, &
        name="syncyte_layout_relocate") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: count
      type(syncyte_buffer_t), intent(in), optional :: arrays(*)
      type(c_ptr), value :: to
      integer(c_int64_t), value :: target_count
      type(syncyte_relocate_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in), optional :: targets(*)
      integer(c_int32_t) :: answer
    end function syncyte_layout_relocate

    !> The adjoint of syncyte_layout_relocate(): <R x, y> = <x, R' y>. Each place of the arrays becomes the sum of
    !> the places of the targets that relocation fills from it, and 0 if there is none, as in ghosts and in copies
    !> that are not the right ones. Sums are the same from run to run. Collective; facts: dtype, both layouts,
    !> options.
    ! layout [in]: the layout of the arrays
    ! dtype [in]: element type, also on ranks without a block
    ! count [in]: number of arrays: this rank's blocks
    ! to [in]: the layout of the targets
    ! target_count [in]: number of targets: this rank's blocks in `to`
    ! targets [in]: what to send back, ghosts included, which are not read; any strides
    ! options [in]: null for defaults
    ! arrays [out]: the arrays to write, ghosts included, with any strides; separate memory
    ! Returns: as syncyte_layout_relocate().
    function syncyte_layout_relocate_adjoint(layout, dtype, count, to, target_count, targets, options, arrays) &
        bind(C, name="syncyte_layout_relocate_adjoint") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: count
      type(c_ptr), value :: to
      integer(c_int64_t), value :: target_count
      type(syncyte_buffer_t), intent(in), optional :: targets(*)
      type(syncyte_relocate_options_t), intent(in), optional :: options
      type(syncyte_buffer_t), intent(in), optional :: arrays(*)
      integer(c_int32_t) :: answer
    end function syncyte_layout_relocate_adjoint

    !> Collects an array on one rank, slab by slab in row-major order, such as for a file or a picture of one's own.
    !> No rank has more of the array than its own blocks and 8 MiB of messages, and root a slab. Collective; facts:
    !> dtype, the layout, root, slab_bytes.
    ! layout [in]: the layout of the arrays
    ! dtype [in]: element type, also on ranks without a block
    ! count [in]: number of arrays: this rank's blocks
    ! arrays [in]: the arrays of this rank's blocks, ghosts included, which are not read; any strides
    ! root [in]: the rank that gets the slabs
    ! slab_bytes [in]: most bytes of a slab, which has one element at least; 1 or more
    ! options [in]: null for defaults
    ! take [in]: called on root for each slab; it calls no collective
    ! context [in]: passed to it
    ! Returns: as syncyte_layout_relocate(); the status of take.
    function syncyte_layout_collect(layout, dtype, count, arrays, root, slab_bytes, options, take, context) &
        bind(C, name="syncyte_layout_collect") result(answer)
      import
      type(c_ptr), value :: layout
      integer(c_int32_t), value :: dtype
      integer(c_int64_t), value :: count
      type(syncyte_buffer_t), intent(in), optional :: arrays(*)
      integer(c_int32_t), value :: root
      integer(c_int64_t), value :: slab_bytes
      type(syncyte_collective_options_t), intent(in), optional :: options
      type(c_funptr), value :: take
      type(c_ptr), value :: context
      integer(c_int32_t) :: answer
    end function syncyte_layout_collect
  end interface
end module syncyte_layout_c
