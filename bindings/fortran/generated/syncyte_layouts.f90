! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/layouts.methods by bindings/generate; do not edit.
!> Layouts: type(syncyte_layout), how an array is cut into the ranks' parts, and type(syncyte_bundle), the halos of
!> several fields with layouts.
!>
!> The cells of a box are divided among blocks; a block is the array of one rank, or of several with equal copies. Along
!> a shared dimension arrays hold the points on the borders of the cells: one more than cells, or as many if it is
!> periodic; two neighbouring blocks store the point between them. Cells and points count from 1.
module syncyte_layouts
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_comms, only: syncyte_comm
  use syncyte_requests, only: syncyte_request
  implicit none
  private

  !> How an array is cut. A reference: assignment copies the reference; destroy drops one.
  type, public :: syncyte_layout
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_layout_t, for calls of syncyte_c
  contains
    procedure :: mesh => layout_mesh
    procedure :: blocks => layout_blocks
    procedure :: indices => layout_indices
    procedure :: like => layout_like
    procedure :: describe => layout_describe
    procedure :: text => layout_text
    procedure :: locate => layout_locate
    procedure :: name_axes => layout_name_axes
    procedure :: relocate => layout_relocate
    procedure :: relocate_adjoint => layout_relocate_adjoint
    procedure :: is_null => layout_is_null
    procedure :: destroy => layout_destroy
  end type syncyte_layout

  !> Fields of one communicator, whose halos travel in one message to each neighbour. A reference, as a layout.
  type, public :: syncyte_bundle
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_bundle_t, for calls of syncyte_c
  contains
    procedure :: create => bundle_create
    procedure :: add => bundle_add
    procedure :: set_arrays => bundle_set_arrays
    procedure :: exchange => bundle_exchange
    procedure :: iexchange => bundle_iexchange
    procedure :: accumulate => bundle_accumulate
    procedure :: iaccumulate => bundle_iaccumulate
    procedure :: sum => bundle_sum
    procedure :: isum => bundle_isum
    procedure :: is_null => bundle_is_null
    procedure :: destroy => bundle_destroy
  end type syncyte_bundle

contains

  !> Cuts an array by a mesh of ranks, whose first dimension changes fastest from rank to rank. Collective.
  subroutine layout_mesh(self, comm, cells, mesh, lengths, axes, ghosts, ghosts_high, shared, periodic, truth, &
      ceil, block, weighted, stat, errmsg)
    class(syncyte_layout), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    type(*), dimension(..), intent(in), target :: cells  !! any integer: cells along each dimension of the array
    ! any integer: ranks along each dimension of the mesh; absent: all along one
    type(*), dimension(..), intent(in), target, optional :: mesh
    ! any integer: cells of each part, dimension by dimension; absent: equal parts
    type(*), dimension(..), intent(in), target, optional :: lengths
    ! any integer: the array's dimension that each dimension of the mesh cuts; 0: none, its ranks have copies
    type(*), dimension(..), intent(in), target, optional :: axes
    ! any integer: at both ends, one number or one for each dimension; 0 if absent
    type(*), dimension(..), intent(in), target, optional :: ghosts
    type(*), dimension(..), intent(in), target, optional :: ghosts_high  !! any integer: behind the last point, if they are others
    ! any integer: dimensions along which arrays hold the borders of cells
    type(*), dimension(..), intent(in), target, optional :: shared
    type(*), dimension(..), intent(in), target, optional :: periodic  !! any integer: dimensions that are periodic
    integer(c_int32_t), intent(in), optional :: truth  !! which copy of a shared point is right
    logical, intent(in), optional :: ceil  !! parts of ceiling(cells/parts) cells, the last ones shorter
    type(*), dimension(..), intent(in), target, optional :: block  !! any integer: cells are dealt out in blocks of this length
    logical, intent(in), optional :: weighted  !! lengths are weights: a dimension is cut in proportion to them
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: truth_c
    integer(c_int32_t) :: ceil_c
    integer(c_int32_t) :: weighted_c
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    call syncyte_set_span(cells)
    call syncyte_set_span(mesh)
    call syncyte_set_span(lengths)
    call syncyte_set_span(axes)
    call syncyte_set_span(ghosts)
    call syncyte_set_span(ghosts_high)
    call syncyte_set_span(shared)
    call syncyte_set_span(periodic)
    call syncyte_set_span(block)
    truth_c = SYNCYTE_TRUTH_EQUAL
    if (present(truth)) truth_c = truth
    ceil_c = 0
    if (present(ceil)) ceil_c = merge(1_c_int32_t, 0_c_int32_t, ceil)
    weighted_c = 0
    if (present(weighted)) weighted_c = merge(1_c_int32_t, 0_c_int32_t, weighted)
    made = c_null_ptr
    status = fortran_layout_mesh(comm%handle, cells, mesh, axes, lengths, ghosts, ghosts_high, shared, periodic, &
        truth_c, ceil_c, block, weighted_c, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_layout_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine layout_mesh

  !> Takes the blocks that the ranks have chosen; together they hold each cell once. Collective.
  subroutine layout_blocks(self, comm, whole, first, count, ghosts, ghosts_high, shared, periodic, truth, stat, &
      errmsg)
    class(syncyte_layout), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    type(*), dimension(..), intent(in), target :: whole  !! any integer: cells of the whole array along each dimension
    ! any integer: the first cell of this rank's block, from 1; or of each block, a column each
    type(*), dimension(..), intent(in), target, optional :: first
    ! any integer: cells of the block along each dimension; absent, with first: no block
    type(*), dimension(..), intent(in), target, optional :: count
    ! any integer: at both ends, one number or one for each dimension; 0 if absent
    type(*), dimension(..), intent(in), target, optional :: ghosts
    type(*), dimension(..), intent(in), target, optional :: ghosts_high  !! any integer: behind the last point, if they are others
    ! any integer: dimensions along which arrays hold the borders of cells
    type(*), dimension(..), intent(in), target, optional :: shared
    type(*), dimension(..), intent(in), target, optional :: periodic  !! any integer: dimensions that are periodic
    integer(c_int32_t), intent(in), optional :: truth  !! which copy of a shared point is right
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: truth_c
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    call syncyte_set_span(whole)
    call syncyte_set_span(first)
    call syncyte_set_span(count)
    call syncyte_set_span(ghosts)
    call syncyte_set_span(ghosts_high)
    call syncyte_set_span(shared)
    call syncyte_set_span(periodic)
    truth_c = SYNCYTE_TRUTH_EQUAL
    if (present(truth)) truth_c = truth
    made = c_null_ptr
    status = fortran_layout_blocks(comm%handle, whole, first, count, ghosts, ghosts_high, shared, periodic, &
        truth_c, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_layout_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine layout_blocks

  !> Takes the lists of the points that the ranks' arrays have along their last dimension: an unstructured mesh. A point may
  !> be in several lists. Every rank keeps all lists, as runs of consecutive points. Collective.
  subroutine layout_indices(self, comm, whole, points, ghosts, truth, stat, errmsg)
    class(syncyte_layout), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    ! any integer: the array's extents, the last one of which is the number of points
    type(*), dimension(..), intent(in), target :: whole
    ! any integer: the points of this rank's array, from 1, in its order; absent: no array
    type(*), dimension(..), intent(in), target, optional :: points
    ! any integer: number of the last ones, which are ghosts; 0 if absent
    type(*), dimension(..), intent(in), target, optional :: ghosts
    ! which copy is right: all, the lowest rank's (LOWER) or the highest's (UPPER)
    integer(c_int32_t), intent(in), optional :: truth
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: truth_c
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    call syncyte_set_span(whole)
    call syncyte_set_span(points)
    call syncyte_set_span(ghosts)
    truth_c = SYNCYTE_TRUTH_EQUAL
    if (present(truth)) truth_c = truth
    made = c_null_ptr
    status = fortran_layout_indices(comm%handle, whole, points, ghosts, truth_c, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_layout_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine layout_indices

  !> Takes the cells and blocks of another layout, for arrays of other points: nodes, faces, other ghosts. Collective.
  subroutine layout_like(self, grid, ghosts, ghosts_high, shared, periodic, truth, stat, errmsg)
    class(syncyte_layout), intent(inout) :: self
    type(syncyte_layout), intent(in) :: grid
    ! any integer: at both ends, one number or one for each dimension; 0 if absent
    type(*), dimension(..), intent(in), target, optional :: ghosts
    type(*), dimension(..), intent(in), target, optional :: ghosts_high  !! any integer: behind the last point, if they are others
    ! any integer: dimensions along which arrays hold the borders of cells
    type(*), dimension(..), intent(in), target, optional :: shared
    type(*), dimension(..), intent(in), target, optional :: periodic  !! any integer: dimensions that are periodic too
    integer(c_int32_t), intent(in), optional :: truth  !! which copy of a shared point is right
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: truth_c
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    call syncyte_set_span(ghosts)
    call syncyte_set_span(ghosts_high)
    call syncyte_set_span(shared)
    call syncyte_set_span(periodic)
    truth_c = SYNCYTE_TRUTH_EQUAL
    if (present(truth)) truth_c = truth
    made = c_null_ptr
    status = fortran_layout_like(grid%handle, ghosts, ghosts_high, shared, periodic, truth_c, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_layout_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine layout_like

  !> Describes a layout, and a block of a rank: its first point, and the shape of its array with ghosts. Local.
  subroutine layout_describe(self, rank, block, blocks, extents, first, shape, stat, errmsg)
    class(syncyte_layout), intent(in) :: self
    integer, intent(in) :: rank  !! a rank of its communicator
    integer, intent(in), optional :: block  !! from 1; 1 if absent
    integer, intent(out), optional :: blocks  !! number of the rank's blocks
    integer(c_int64_t), allocatable, intent(out), optional :: extents(:)  !! points of the whole array
    integer(c_int64_t), allocatable, intent(out), optional :: first(:)  !! 1 if there is no such block
    integer(c_int64_t), allocatable, intent(out), optional :: shape(:)  !! 0 if there is no such block
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_layout_info_t) :: info
    integer(c_int32_t) :: number
    integer(c_int32_t) :: status

    number = 0
    if (present(block)) number = int(block - 1, c_int32_t)
    status = syncyte_layout_describe(self%handle, int(rank, c_int32_t), number, info)
    if (present(blocks)) blocks = info%blocks
    if (present(extents)) extents = info%extents(info%ndim:1:-1)
    if (present(first)) first = info%first(info%ndim:1:-1) + 1
    if (present(shape)) shape = info%shape(info%ndim:1:-1)
    call finish(status, stat, errmsg)
  end subroutine layout_describe

  !> Describes a layout as text: a line for each block of each rank, as C counts: points from 0, dimensions reversed. Local.
  subroutine layout_text(self, lines, stat, errmsg)
    class(syncyte_layout), intent(in) :: self
    character(len=:), allocatable, intent(out) :: lines
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: found
    integer(c_int32_t) :: status

    found = c_null_ptr
    status = syncyte_layout_text(self%handle, found)
    lines = to_fortran(found)
    call finish(status, stat, errmsg)
  end subroutine layout_text

  !> Finds who has a point: the first rank of the block with the right copy, the number of the block among the rank's, and the
  !> place of the point in the block's array, ghosts counted. Boxes: syncyte_layout_pieces of syncyte_c. Local.
  subroutine layout_locate(self, point, rank, index, block, stat, errmsg)
    class(syncyte_layout), intent(in) :: self
    type(*), dimension(..), intent(in), target :: point  !! any integer: the point, from 1
    integer, intent(out) :: rank
    integer(c_int64_t), allocatable, intent(out), optional :: index(:)  !! from 1, as in array(index(1), index(2))
    integer, intent(out), optional :: block  !! from 1
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: place(SYNCYTE_MAX_NDIM)
    integer(c_int32_t) :: owner, number
    integer(c_int32_t) :: status

    call syncyte_set_span(point)
    owner = -1
    number = -1
    place = -1
    status = fortran_layout_pieces(self%handle, point, owner, place, number)
    rank = owner
    if (present(block)) block = number + 1
    if (present(index)) index = place(1:min(size(point), SYNCYTE_MAX_NDIM)) + 1  ! 0 on an error
    call finish(status, stat, errmsg)
  end subroutine layout_locate

  !> Names the dimensions, and the units along them, for people: 'x, y', units='m, m'. The text of the layout has them, and the
  !> datasets of its fields in a checkpoint, dimensions reversed. Once. Local.
  subroutine layout_name_axes(self, names, units, stat, errmsg)
    class(syncyte_layout), intent(in) :: self
    character(len=*), intent(in) :: names
    character(len=*), intent(in), optional :: units
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: names_c
    character(kind=c_char, len=:), allocatable, target :: units_c
    integer(c_int32_t) :: status

    call to_c(names, names_c)
    call to_c(units, units_c)
    status = fortran_layout_name_axes(self%handle, names_c, units_c)
    call finish(status, stat, errmsg)
  end subroutine layout_name_axes

  !> Moves an array to another layout of the same extents and communicator. Ghosts are neither read nor written. A rank
  !> with several blocks calls syncyte_layout_relocate of syncyte_c. Collective.
  subroutine layout_relocate(self, array, to, target, dtype, buffer_bytes, first, stat, errmsg)
    class(syncyte_layout), intent(in) :: self
    type(*), dimension(..), intent(in), target, optional :: array
    type(syncyte_layout), intent(in) :: to
    type(*), dimension(..), intent(inout), target, optional :: target
    integer(c_int32_t), intent(in), optional :: dtype  !! needed on a rank that has no array
    ! any integer: most memory for messages on each rank; absent: 8 MiB
    type(*), dimension(..), intent(in), target, optional :: buffer_bytes
    ! any integers: if one array is a box of the other one, its first point there, from 1
    type(*), dimension(..), intent(in), target, optional :: first
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: dtype_c
    integer(c_int32_t) :: status

    call syncyte_set_span(array)
    call syncyte_set_span(target)
    call syncyte_set_span(buffer_bytes)
    call syncyte_set_span(first)
    dtype_c = 0
    if (present(dtype)) dtype_c = dtype
    status = fortran_layout_relocate(self%handle, array, to%handle, target, dtype_c, buffer_bytes, first)
    call finish(status, stat, errmsg)
  end subroutine layout_relocate

  !> The adjoint of relocate: what target has goes back to the array, whose elements become sums, 0 in its ghosts.
  !> Collective.
  subroutine layout_relocate_adjoint(self, target, to, array, dtype, buffer_bytes, first, stat, errmsg)
    class(syncyte_layout), intent(in) :: self
    type(*), dimension(..), intent(in), target, optional :: target
    type(syncyte_layout), intent(in) :: to
    type(*), dimension(..), intent(inout), target, optional :: array
    integer(c_int32_t), intent(in), optional :: dtype  !! needed on a rank that has no array
    ! any integer: most memory for messages on each rank; absent: 8 MiB
    type(*), dimension(..), intent(in), target, optional :: buffer_bytes
    ! any integers: if one array is a box of the other one, its first point there, from 1
    type(*), dimension(..), intent(in), target, optional :: first
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: dtype_c
    integer(c_int32_t) :: status

    call syncyte_set_span(target)
    call syncyte_set_span(array)
    call syncyte_set_span(buffer_bytes)
    call syncyte_set_span(first)
    dtype_c = 0
    if (present(dtype)) dtype_c = dtype
    status = fortran_layout_relocate_adjoint(self%handle, target, to%handle, array, dtype_c, buffer_bytes, &
        first)
    call finish(status, stat, errmsg)
  end subroutine layout_relocate_adjoint

  !> Whether the handle is null. Local.
  pure logical function layout_is_null(self)
    class(syncyte_layout), intent(in) :: self

    layout_is_null = .not. c_associated(self%handle)
  end function layout_is_null

  !> Drops the reference; a null reference is ignored. Local.
  subroutine layout_destroy(self, stat, errmsg)
    class(syncyte_layout), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_layout_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine layout_destroy

  !> Makes a bundle without fields. Collective.
  subroutine bundle_create(self, comm, stat, errmsg)
    class(syncyte_bundle), intent(inout) :: self
    type(syncyte_comm), intent(in) :: comm
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    status = syncyte_bundle_create(comm%handle, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_bundle_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine bundle_create

  !> Adds a field. Its array is used in place by later calls: it must stay, and have the attribute asynchronous or target.
  !> Collective.
  subroutine bundle_add(self, name, layout, array, dtype, stat, errmsg)
    class(syncyte_bundle), intent(in) :: self
    character(len=*), intent(in) :: name
    type(syncyte_layout), intent(in) :: layout
    type(*), dimension(..), intent(inout), target, asynchronous, optional :: array  !! with its ghosts; absent: no block
    integer(c_int32_t), intent(in), optional :: dtype  !! needed on a rank that has no array
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: dtype_c
    integer(c_int32_t) :: status

    call syncyte_set_span(array)
    call to_c(name, name_c)
    dtype_c = 0
    if (present(dtype)) dtype_c = dtype
    status = fortran_bundle_add(self%handle, name_c, array, layout%handle, dtype_c)
    call finish(status, stat, errmsg)
  end subroutine bundle_add

  !> Takes another array for a field. Local.
  subroutine bundle_set_arrays(self, name, array, stat, errmsg)
    class(syncyte_bundle), intent(in) :: self
    character(len=*), intent(in) :: name
    type(*), dimension(..), intent(inout), target, asynchronous, optional :: array  !! of the same type and shape
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: name_c
    integer(c_int32_t) :: status

    call syncyte_set_span(array)
    call to_c(name, name_c)
    status = fortran_bundle_set_array(self%handle, name_c, array)
    call finish(status, stat, errmsg)
  end subroutine bundle_set_arrays

  !> A mask as C takes it: no flags if it is absent.
  subroutine read_mask(only, entries, flags)
    logical, intent(in), optional :: only(:)
    integer(c_int64_t), intent(out) :: entries
    integer(c_int32_t), allocatable, intent(out) :: flags(:)

    entries = 0
    if (.not. present(only)) return
    entries = size(only, kind=c_int64_t)
    flags = merge(1_c_int32_t, 0_c_int32_t, only)
  end subroutine read_mask

  !> Fills the ghosts, and the copies of shared points that are not right. All ranks call it; waits for the neighbours only.
  subroutine bundle_exchange(self, depth, only, stat, errmsg)
    class(syncyte_bundle), intent(in) :: self
    integer, intent(in), optional :: depth  !! ghosts at each end of a dimension; absent: all
    logical, intent(in), optional :: only(:)  !! whether each field takes part, in the order in which they were added
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: wanted, entries
    integer(c_int32_t), allocatable :: flags(:)
    integer(c_int32_t) :: status

    wanted = 0
    if (present(depth)) wanted = depth
    call read_mask(only, entries, flags)
    status = syncyte_bundle_exchange(self%handle, wanted, entries, flags)
    call finish(status, stat, errmsg)
  end subroutine bundle_exchange

  !> Starts exchange; its arguments may be re-used on return. Local.
  subroutine bundle_iexchange(self, request, depth, only, stat, errmsg)
    class(syncyte_bundle), intent(in) :: self
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(in), optional :: depth  !! ghosts at each end of a dimension; absent: all
    logical, intent(in), optional :: only(:)  !! whether each field takes part, in the order in which they were added
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: wanted, entries
    integer(c_int32_t), allocatable :: flags(:)
    integer(c_int32_t) :: status

    wanted = 0
    if (present(depth)) wanted = depth
    call read_mask(only, entries, flags)
    status = syncyte_bundle_iexchange(self%handle, wanted, entries, flags, request%handle)
    call finish(status, stat, errmsg)
  end subroutine bundle_iexchange

  !> Adjoint of exchange: adds the ghosts to the points that they copy, and sets them to 0. All ranks call it.
  subroutine bundle_accumulate(self, depth, only, stat, errmsg)
    class(syncyte_bundle), intent(in) :: self
    integer, intent(in), optional :: depth  !! as of exchange
    logical, intent(in), optional :: only(:)  !! as of exchange
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: wanted, entries
    integer(c_int32_t), allocatable :: flags(:)
    integer(c_int32_t) :: status

    wanted = 0
    if (present(depth)) wanted = depth
    call read_mask(only, entries, flags)
    status = syncyte_bundle_accumulate(self%handle, wanted, entries, flags)
    call finish(status, stat, errmsg)
  end subroutine bundle_accumulate

  !> Starts accumulate; its arguments may be re-used on return. Local.
  subroutine bundle_iaccumulate(self, request, depth, only, stat, errmsg)
    class(syncyte_bundle), intent(in) :: self
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(in), optional :: depth  !! as of exchange
    logical, intent(in), optional :: only(:)  !! as of exchange
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: wanted, entries
    integer(c_int32_t), allocatable :: flags(:)
    integer(c_int32_t) :: status

    wanted = 0
    if (present(depth)) wanted = depth
    call read_mask(only, entries, flags)
    status = syncyte_bundle_iaccumulate(self%handle, wanted, entries, flags, request%handle)
    call finish(status, stat, errmsg)
  end subroutine bundle_iaccumulate

  !> Replaces each point that several blocks store by the sum of their copies. All ranks call it.
  subroutine bundle_sum(self, only, stat, errmsg)
    class(syncyte_bundle), intent(in) :: self
    logical, intent(in), optional :: only(:)  !! as of exchange
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: entries
    integer(c_int32_t), allocatable :: flags(:)
    integer(c_int32_t) :: status

    call read_mask(only, entries, flags)
    status = syncyte_bundle_sum(self%handle, entries, flags)
    call finish(status, stat, errmsg)
  end subroutine bundle_sum

  !> Starts sum; its arguments may be re-used on return. Local.
  subroutine bundle_isum(self, request, only, stat, errmsg)
    class(syncyte_bundle), intent(in) :: self
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    logical, intent(in), optional :: only(:)  !! as of exchange
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: entries
    integer(c_int32_t), allocatable :: flags(:)
    integer(c_int32_t) :: status

    call read_mask(only, entries, flags)
    status = syncyte_bundle_isum(self%handle, entries, flags, request%handle)
    call finish(status, stat, errmsg)
  end subroutine bundle_isum

  !> Whether the handle is null. Local.
  pure logical function bundle_is_null(self)
    class(syncyte_bundle), intent(in) :: self

    bundle_is_null = .not. c_associated(self%handle)
  end function bundle_is_null

  !> Drops the reference; a null reference is ignored. Local.
  subroutine bundle_destroy(self, stat, errmsg)
    class(syncyte_bundle), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_bundle_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine bundle_destroy
end module syncyte_layouts
