! SPDX-License-Identifier: BSD-3-Clause
! Generated from syncyte/tensor.h by bindings/generate; do not edit.
!> Whole tensors: one N-dimensional array over the memory of all ranks, partitioned by rows (the first dimension),
!> or by a layout (layout.h).
module syncyte_tensor_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  use syncyte_comm_c, c_syncyte_finalize => syncyte_finalize
  use syncyte_layout_c
  implicit none
  public
  private :: c_syncyte_finalize

  !> Comparisons of tensor_wait().
  ! equal
  integer(c_int32_t), parameter :: SYNCYTE_COMPARE_EQ = 1_c_int32_t
  ! not equal
  integer(c_int32_t), parameter :: SYNCYTE_COMPARE_NE = 2_c_int32_t
  ! greater or equal
  integer(c_int32_t), parameter :: SYNCYTE_COMPARE_GE = 3_c_int32_t
  ! less or equal
  integer(c_int32_t), parameter :: SYNCYTE_COMPARE_LE = 4_c_int32_t

  !> Optimizers of tensor_set_optimizer(). All are lazy: an update changes only rows that have a gradient.
  ! gradient descent, as torch.optim.SGD; with momentum if options->momentum > 0
  integer(c_int32_t), parameter :: SYNCYTE_OPTIMIZER_SGD = 1_c_int32_t
  ! AdaGrad, as torch.optim.Adagrad
  integer(c_int32_t), parameter :: SYNCYTE_OPTIMIZER_ADAGRAD = 2_c_int32_t
  ! Adam, as torch.optim.SparseAdam
  integer(c_int32_t), parameter :: SYNCYTE_OPTIMIZER_ADAM = 3_c_int32_t

  !> Options of a new tensor.
  type, bind(C) :: syncyte_tensor_options_t
    ! sizeof(syncyte_tensor_options_t)
    integer(c_size_t) :: struct_size = 56_c_size_t
    ! may be null, which is a name of its own; equal on all ranks
    type(c_ptr) :: name = c_null_ptr
    ! number of this rank's rows; -1: equal parts, with the remainder on the first ranks. All ranks pass -1, or all
    ! pass numbers that add up to shape[0]
    integer(c_int64_t) :: local_rows = -1_c_int64_t
    ! where the rows lie, equal on all ranks; of SYNCYTE_MEMORY_CUDA, those of each rank on its device
    integer(c_int32_t) :: memory = 0_c_int32_t
    ! this rank's device for SYNCYTE_MEMORY_CUDA; -1: that of the thread's context, or 0. Ranks may use the same
    ! one, and see different ones
    integer(c_int32_t) :: device = -1_c_int32_t
    ! may be null; for wrap: set to 1 (a release store) when no rank uses this rank's array any more. The caller
    ! owns it; it must live as long as the array
    type(c_ptr) :: released = c_null_ptr
    ! 1: rows have locks, for tensor_lock(), of 8 bytes each; 0: no locks. Equal on all ranks
    integer(c_int32_t) :: row_locks = 0_c_int32_t
    ! 1: scatter_add, and accumulate_box with SYNCYTE_OP_SUM, of floating-point and complex numbers take effect in
    ! tensor_sync(), with the same bits for every order of the adds and for every rank that makes them; 0: they take
    ! effect at once. Equal on all ranks
    integer(c_int32_t) :: deterministic = 0_c_int32_t
    ! name for messages, if not null; ranks may differ
    type(c_ptr) :: label = c_null_ptr
  end type syncyte_tensor_options_t

  !> Hyperparameters; an optimizer ignores those that it does not have.
  type, bind(C) :: syncyte_optimizer_options_t
    ! sizeof(syncyte_optimizer_options_t)
    integer(c_size_t) :: struct_size = 40_c_size_t
    ! SGD: 0 to less than 1
    real(c_double) :: momentum = 0.0_c_double
    ! Adam: decay of the mean of gradients, 0 to less than 1
    real(c_double) :: beta1 = 0.9_c_double
    ! Adam: decay of the mean of squares, 0 to less than 1
    real(c_double) :: beta2 = 0.999_c_double
    ! AdaGrad and Adam: added to the divisor; negative: torch's default, 1e-10 for AdaGrad and 1e-8 for Adam
    real(c_double) :: eps = -1.0_c_double
  end type syncyte_optimizer_options_t

  interface

    !> Makes a tensor of zeros. Collective; facts: dtype, shape, kind of partition, options->name. Named tensors
    !> that programs make in different orders are an error.
    ! comm [in]: its ranks
    ! dtype [in]: element type
    ! ndim [in]: number of dimensions, 1 to SYNCYTE_MAX_NDIM
    ! shape [in]: global extents, in elements; 0 is allowed
    ! options [in]: null for defaults
    ! tensor [out]: the tensor
    ! Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (negative, or more than 2^63 - 1 bytes), SYNCYTE_ERR_ARGUMENT
    ! (local_rows do not add up), SYNCYTE_ERR_MEMORY (more than the node has), SYNCYTE_ERR_MISMATCH,
    ! SYNCYTE_ERR_UNSUPPORTED.
    function syncyte_tensor_create(comm, dtype, ndim, shape, options, tensor) bind(C, &
        name="syncyte_tensor_create") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: ndim
      integer(c_int64_t), intent(in) :: shape(*)
      type(syncyte_tensor_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: answer
    end function syncyte_tensor_create

    !> Makes a tensor of arrays that the ranks already have. Collective; facts: dtype, all extents but the first,
    !> options->name. The caller owns the memory, which must live until a collective point frees the tensor;
    !> options->released is set then. The memory is not shared: other ranks access it as they access other nodes'
    !> rows, on the same node too, and there is no node view.
    ! comm [in]: its ranks
    ! local [in,out]: this rank's rows, contiguous; shape[0] may differ between ranks and may be 0. In device memory
    ! only if comm has one rank
    ! options [in]: null for defaults; local_rows must be -1
    ! tensor [out]: the tensor
    function syncyte_tensor_wrap(comm, local, options, tensor) bind(C, name="syncyte_tensor_wrap") &
        result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_buffer_t), intent(in) :: local
      type(syncyte_tensor_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: answer
    end function syncyte_tensor_wrap

    !> Makes a tensor of zeros that is cut by a layout: each point is stored once, by the first rank that has its
    !> right copy, without ghosts. Collective, with tensor_open() on ranks that do not have the layout; facts:
    !> dtype, layout, options->name.
    ! comm [in]: its ranks; those of the layout may be some of them
    ! dtype [in]: element type
    ! layout [in]: the layout, of this communicator or of another one of its ranks
    ! slots [in]: number of versions of the field that the tensor keeps, for tensor_publish() and tensor_take(); it
    ! is the first extent of the tensor, before those of the layout. 0: there are no versions
    ! options [in]: null for defaults; row_locks, deterministic and local_rows have their defaults
    ! tensor [out]: the tensor
    ! Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE (more than 2^63 - 1 bytes), SYNCYTE_ERR_ARGUMENT (a block of a
    ! rank outside comm), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH, SYNCYTE_ERR_UNSUPPORTED.
    function syncyte_tensor_create_by_layout(comm, dtype, layout, slots, options, tensor) bind(C, &
        name="syncyte_tensor_create_by_layout") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: dtype
      type(c_ptr), value :: layout
      integer(c_int64_t), value :: slots
      type(syncyte_tensor_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: answer
    end function syncyte_tensor_create_by_layout

    !> Takes part in tensor_create_by_layout() of other ranks by the tensor's name alone: element type, shape and
    !> layout are theirs. Collective, with their call; facts: name.
    ! comm [in]: its ranks
    ! name [in]: the name that the others give
    ! tensor [out]: the tensor
    ! Returns: SYNCYTE_ERR_ARGUMENT (no name; no rank has a layout), SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH (the
    ! others make a tensor of another name, which the message says).
    function syncyte_tensor_open(comm, name, tensor) bind(C, name="syncyte_tensor_open") result(answer)
      import
      type(c_ptr), value :: comm
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: answer
    end function syncyte_tensor_open

    !> Cuts a tensor anew, in place: the handle and the values stay, each rank has another part. A rank may use this
    !> to balance loads, or to pass from rows to the blocks of a solver and back. Collective; facts: tensor, layout.
    !> It is a sync, too. Until it returns, a rank has the memory of both parts; that of the old one is freed at a
    !> later collective point. Wrapped arrays are released in this way. No other thread may use the tensor
    !> meanwhile, and a child that was forked before goes on reading the old memory.
    ! tensor [in]: a tensor without slots and optimizer, of which no rank has a view (tensor_local, tensor_node), a
    ! second reference, an operation in flight or a lock. Views without a reference of their own are not seen: they
    ! end
    ! layout [in]: the layout, of the tensor's shape and communicator, or of another one of its ranks; null on all
    ! ranks: the tensor is cut by rows
    ! local_rows [in]: without a layout, as syncyte_tensor_options_t::local_rows; otherwise -1
    ! Returns: SYNCYTE_ERR_BUSY (views, references, operations, locks), SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT,
    ! SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH, SYNCYTE_ERR_UNSUPPORTED (slots, an optimizer; a layout for a tensor
    ! with row_locks or deterministic), SYNCYTE_ERR_PEER_DIED; the tensor then is as before.
    function syncyte_tensor_relocate(tensor, layout, local_rows) bind(C, name="syncyte_tensor_relocate") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      type(c_ptr), value :: layout
      integer(c_int64_t), value :: local_rows
      integer(c_int32_t) :: answer
    end function syncyte_tensor_relocate

    !> Publishes this rank's part of the next version of a tensor with slots: copies the points that it owns from
    !> the arrays of its blocks. The version is complete when all ranks that own points have published it. Local;
    !> does not wait for ranks that take versions, and for those that publish only if it is slots - 1 versions ahead
    !> of them (with one slot, 1), until all other ranks have ended: all must publish equally often. Thread-safe.
    ! tensor [in]: a tensor with slots
    ! count [in]: number of arrays: this rank's blocks
    ! arrays [in]: the arrays of this rank's blocks, ghosts included, with any strides, in memory that is not the
    ! tensor's
    ! step [in]: the caller's number of the version, equal on all ranks that own points, and more than that of the
    ! last one. After an error because another rank has another one, the right one may be given
    ! Returns: SYNCYTE_ERR_ARGUMENT (step, number of arrays), SYNCYTE_ERR_TYPE, SYNCYTE_ERR_SHAPE,
    ! SYNCYTE_ERR_UNSUPPORTED (no slots), SYNCYTE_ERR_PEER_DIED.
    function syncyte_tensor_publish(tensor, count, arrays, step) bind(C, name="syncyte_tensor_publish") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: count
      type(syncyte_buffer_t), intent(in), optional :: arrays(*)
      integer(c_int64_t), value :: step
      integer(c_int32_t) :: answer
    end function syncyte_tensor_publish

    !> Reads the box [lower, lower + extent of output) of the newest complete version of a tensor with slots, after
    !> waiting, mostly asleep, for one whose step is at_least or more. All elements are of one version: if it is
    !> overwritten meanwhile, a newer one is read. With two slots or more, the newest one stays until there is
    !> another; with one slot there is none while ranks publish. Local.
    ! tensor [in]: a tensor with slots
    ! lower_length [in]: length of lower: the layout's axes
    ! lower [in]: first element of the box in the field
    ! at_least [in]: lowest step that is taken
    ! timeout [in]: seconds; less than 0: no limit
    ! output [out]: as many dimensions as the layout, any strides, the tensor's dtype, in memory that is not the
    ! tensor's; undefined after an error
    ! step [out]: the step of the version
    ! Returns: as get_box; SYNCYTE_ERR_TIMEOUT, SYNCYTE_ERR_UNSUPPORTED (no slots), SYNCYTE_ERR_PEER_DIED (a rank
    ! has died, or the first rank that publishes has ended before it has published a version that is new enough).
    function syncyte_tensor_take(tensor, lower_length, lower, at_least, timeout, output, step) bind(C, &
        name="syncyte_tensor_take") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: lower_length
      integer(c_int64_t), intent(in) :: lower(*)
      integer(c_int64_t), value :: at_least
      real(c_double), value :: timeout
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int64_t), intent(inout) :: step
      integer(c_int32_t) :: answer
    end function syncyte_tensor_take

    !> Adds a reference: every exported view holds one. Local, thread-safe, without MPI; works after finalize.
    ! tensor [in]: a tensor
    function syncyte_tensor_retain(tensor) bind(C, name="syncyte_tensor_retain") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int32_t) :: answer
    end function syncyte_tensor_retain

    !> Drops a reference. Local, thread-safe, without MPI; works after finalize. Memory is freed at a collective
    !> point once all ranks have dropped the tensor; ranks may drop tensors in any order.
    ! tensor [in]: a tensor
    function syncyte_tensor_release(tensor) bind(C, name="syncyte_tensor_release") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int32_t) :: answer
    end function syncyte_tensor_release

    !> Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_tensor_release().
    ! tensor [in,out]: a tensor
    function syncyte_tensor_destroy(tensor) bind(C, name="syncyte_tensor_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: tensor
      integer(c_int32_t) :: answer
    end function syncyte_tensor_destroy

    !> Returns element type and global shape. Local.
    ! tensor [in]: a tensor
    ! global [in,out]: struct_size set by the caller; the rest is filled, with data null
    function syncyte_tensor_describe(tensor, global) bind(C, name="syncyte_tensor_describe") result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(inout) :: global
      integer(c_int32_t) :: answer
    end function syncyte_tensor_describe

    !> Returns a new reference to the tensor's communicator. Local.
    ! tensor [in]: a tensor
    ! comm [out]: the communicator
    function syncyte_tensor_comm(tensor, comm) bind(C, name="syncyte_tensor_comm") result(answer)
      import
      type(c_ptr), value :: tensor
      type(c_ptr), intent(inout) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_tensor_comm

    !> Returns a new reference to the layout of a tensor that is cut by one, among all ranks of the tensor. Local.
    ! tensor [in]: a tensor
    ! layout [out]: the layout; null if the tensor is cut by rows
    function syncyte_tensor_layout(tensor, layout) bind(C, name="syncyte_tensor_layout") result(answer)
      import
      type(c_ptr), value :: tensor
      type(c_ptr), intent(inout) :: layout
      integer(c_int32_t) :: answer
    end function syncyte_tensor_layout

    !> Returns the rows that a rank owns. Local.
    ! tensor [in]: a tensor
    ! rank [in]: owner
    ! first [out]: its first row; if it has none, the next rank's first row
    ! count [out]: number of rows
    function syncyte_tensor_rows(tensor, rank, first, count) bind(C, name="syncyte_tensor_rows") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(inout) :: first
      integer(c_int64_t), intent(inout) :: count
      integer(c_int32_t) :: answer
    end function syncyte_tensor_rows

    !> Returns the owners of rows, in O(log P) each or better. Local.
    ! tensor [in]: a tensor
    ! count [in]: number of rows
    ! index [in]: global row numbers
    ! ranks [out]: their owners
    ! Returns: SYNCYTE_ERR_INDEX, naming index and position.
    function syncyte_tensor_owner(tensor, count, index, ranks) bind(C, name="syncyte_tensor_owner") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: index(*)
      integer(c_int32_t), intent(inout) :: ranks(*)
      integer(c_int32_t) :: answer
    end function syncyte_tensor_owner

    !> Returns the owners of a box, in ascending order, and the part of the box that each owns: all of the box's
    !> elements in rows first to first + rows - 1. Local; O(owners). To learn the number of owners, pass capacity 0.
    ! tensor [in]: a tensor
    ! lower_length [in]: length of lower: the tensor's dimensions
    ! lower [in]: first element of the box
    ! extent_length [in]: length of extent: the tensor's dimensions
    ! extent [in]: the box's shape, in elements
    ! capacity [in]: length of ranks, first and rows; further owners are only counted
    ! ranks [out]: owners
    ! first [out]: each owner's first row of the box, a global number
    ! rows [out]: number of each owner's rows of the box, 1 or more
    ! count [out]: number of owners; 0 if the box has no elements
    ! Returns: SYNCYTE_ERR_INDEX outside the tensor, SYNCYTE_ERR_SHAPE (another number of dimensions, a negative
    ! extent), SYNCYTE_ERR_ARGUMENT (a negative capacity).
    function syncyte_tensor_locate_box(tensor, lower_length, lower, extent_length, extent, capacity, ranks, &
        first, rows, count) bind(C, name="syncyte_tensor_locate_box") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: lower_length
      integer(c_int64_t), intent(in) :: lower(*)
      integer(c_int64_t), value :: extent_length
      integer(c_int64_t), intent(in) :: extent(*)
      integer(c_int64_t), value :: capacity
      integer(c_int32_t), intent(inout), optional :: ranks(*)
      integer(c_int64_t), intent(inout), optional :: first(*)
      integer(c_int64_t), intent(inout), optional :: rows(*)
      integer(c_int64_t), intent(inout) :: count
      integer(c_int32_t) :: answer
    end function syncyte_tensor_locate_box

    !> Returns a view of this rank's rows, or of its block. Local. The view is valid while there is a reference to
    !> the tensor: retain it for as long as the view lives.
    ! tensor [in]: a tensor
    ! view [in,out]: struct_size set by the caller; contiguous; shape[0] is the number of local rows. Of a block:
    ! its points without ghosts, and without shared points that another rank has; all extents are 0 if there is
    ! none. With slots, the first extent is their number
    ! Returns: SYNCYTE_ERR_UNSUPPORTED if the rank has several blocks.
    function syncyte_tensor_local(tensor, view) bind(C, name="syncyte_tensor_local") result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(inout) :: view
      integer(c_int32_t) :: answer
    end function syncyte_tensor_local

    !> Returns a view of the rows of all ranks of this node, in one address range, in rank order. Local. Lifetime as
    !> tensor_local().
    ! tensor [in]: a tensor
    ! view [in,out]: struct_size set by the caller; contiguous; shape[0] is the number of the node's rows
    ! first_row [out]: if the node's ranks are consecutive, the global number of the view's first row, so that view
    ! row i is global row first_row + i; otherwise -1: the view then holds the ranges of tensor_rows() for the
    ! node's ranks, one after another
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for a wrapped tensor of several ranks.
    function syncyte_tensor_node(tensor, view, first_row) bind(C, name="syncyte_tensor_node") result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(inout) :: view
      integer(c_int64_t), intent(inout) :: first_row
      integer(c_int32_t) :: answer
    end function syncyte_tensor_node

    !> Lets a device of this process access a tensor: kernels of that device may use the addresses of tensor_local()
    !> and tensor_node(). Local. Host memory is registered with the driver until the tensor is freed; what kernels
    !> do with it has ended before a call of the library, such as tensor_sync(), orders it for others.
    ! tensor [in]: a tensor; not a wrapped one
    ! device [in]: the device's number
    ! Returns: SYNCYTE_ERR_ARGUMENT (there is no such device), SYNCYTE_ERR_UNSUPPORTED (a wrapped tensor; the device
    ! cannot access the memory of all devices of the tensor, or host memory at the host's addresses),
    ! SYNCYTE_ERR_BUSY (the caller has registered the memory), SYNCYTE_ERR_MEMORY.
    function syncyte_tensor_allow_device(tensor, device) bind(C, name="syncyte_tensor_allow_device") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int32_t), value :: device
      integer(c_int32_t) :: answer
    end function syncyte_tensor_allow_device

    !> Reads rows: output[i] = tensor[index[i]]. Local; a forked child may call it. Rows may repeat.
    ! tensor [in]: a tensor
    ! index [in]: int32 or int64, contiguous, any number of dimensions
    ! output [out]: contiguous, of the tensor's dtype, index's elements times a row's elements
    ! Returns: SYNCYTE_ERR_INDEX (names index and position; in host memory nothing is written), SYNCYTE_ERR_TYPE,
    ! SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_ARGUMENT (output is in memory of other rows that are read, or of index).
    function syncyte_tensor_gather(tensor, index, output) bind(C, name="syncyte_tensor_gather") result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_tensor_gather

    !> Starts syncyte_tensor_gather(), as the head of syncyte/tensor.h says.
    ! tensor [in]: a tensor; it may be destroyed before the request has ended
    ! index [in]: int32 or int64, contiguous, any number of dimensions; may be re-used on return
    ! output [out]: contiguous, of the tensor's dtype, index's elements times a row's elements; may not be read
    ! until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as tensor_gather, for errors that this rank finds; test and wait return the others.
    function syncyte_tensor_igather(tensor, index, output, request) bind(C, name="syncyte_tensor_igather") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: output
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_tensor_igather

    !> Writes rows: tensor[index[i]] = source[i]. Local. If a row repeats, its last source stays. A row that two
    !> ranks write at once, or that is added to meanwhile, is undefined.
    ! tensor [in]: a tensor
    ! index [in]: int32 or int64, contiguous
    ! source [in]: contiguous, of the tensor's dtype, index's elements times a row's elements
    ! Returns: as gather; SYNCYTE_ERR_ARGUMENT if source or index is in memory of other rows that are written.
    function syncyte_tensor_scatter(tensor, index, source) bind(C, name="syncyte_tensor_scatter") result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: source
      integer(c_int32_t) :: answer
    end function syncyte_tensor_scatter

    !> Starts syncyte_tensor_scatter(), as the head of syncyte/tensor.h says.
    ! tensor [in]: a tensor; it may be destroyed before the request has ended
    ! index [in]: int32 or int64, contiguous; may be re-used on return
    ! source [in]: contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged
    ! until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as tensor_scatter, for errors that this rank finds; test and wait return the others.
    function syncyte_tensor_iscatter(tensor, index, source, request) bind(C, name="syncyte_tensor_iscatter") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: source
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_tensor_iscatter

    !> Adds to rows: tensor[index[i]] += source[i]. Local. No add is lost when several ranks add at once. A row that
    !> repeats is added to several times, in an undefined order. bool: logical or. Each element is added atomically;
    !> of a complex number, each component: a rank that reads it meanwhile may see the components of different adds.
    !> In a tensor made with options->deterministic, rows of floating-point or complex numbers change in the next
    !> tensor_sync(): the owner sums exactly what all ranks have added to a row since the last one, adds the sum to
    !> the row, and rounds once, to nearest even. The result has the same bits whatever the timing, the number of
    !> ranks, and the ranks that add. A sum of zero is +0. Until then this rank keeps the sum of each row that it
    !> has added to: usually 32 to 40 bytes for each real number, and at most 560, if the magnitudes of a row's
    !> numbers span all exponents of float64.
    ! tensor [in]: a tensor
    ! index [in]: int32 or int64, contiguous
    ! source [in]: contiguous, of the tensor's dtype, index's elements times a row's elements
    ! Returns: as scatter; SYNCYTE_ERR_PEER_DIED if a process died while it added to one of the rows (the row is
    ! damaged, the message names it; rows before it have been added), or if an owner died or is out of reach;
    ! SYNCYTE_ERR_UNSUPPORTED if a row lies on another node and there is no fabric.
    function syncyte_tensor_scatter_add(tensor, index, source) bind(C, name="syncyte_tensor_scatter_add") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: source
      integer(c_int32_t) :: answer
    end function syncyte_tensor_scatter_add

    !> Starts syncyte_tensor_scatter_add(), as the head of syncyte/tensor.h says.
    ! tensor [in]: a tensor; it may be destroyed before the request has ended
    ! index [in]: int32 or int64, contiguous; may be re-used on return
    ! source [in]: contiguous, of the tensor's dtype, index's elements times a row's elements; must stay unchanged
    ! until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as tensor_scatter_add, for errors that this rank finds; test and wait return the others.
    function syncyte_tensor_iscatter_add(tensor, index, source, request) bind(C, &
        name="syncyte_tensor_iscatter_add") result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: source
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_tensor_iscatter_add

    !> Writes rows, then signals: tensor[index[i]] = source[i], and then adds value to an element of counters, or
    !> sets it. A rank that sees the new element (by tensor_wait or tensor_load) sees all the rows, whoever owns
    !> them: the signal is given after all owners have the rows. Local.
    ! tensor [in]: a tensor
    ! index [in]: int32 or int64, contiguous; may be empty
    ! source [in]: as of scatter
    ! counters [in]: a tensor of int32 or int64, of any communicator
    ! element [in]: number of its element in row-major order
    ! value [in]: number that is added or set
    ! op [in]: SYNCYTE_OP_SUM: adds value; SYNCYTE_OP_REPLACE: sets the element to value
    ! Returns: as scatter and tensor_fetch_add, SYNCYTE_ERR_ARGUMENT for another op. After an error of the arguments
    ! neither rows nor element are changed; after another error the element is not.
    function syncyte_tensor_put_signal(tensor, index, source, counters, element, value, op) bind(C, &
        name="syncyte_tensor_put_signal") result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: source
      type(c_ptr), value :: counters
      integer(c_int64_t), value :: element
      integer(c_int64_t), value :: value
      integer(c_int32_t), value :: op
      integer(c_int32_t) :: answer
    end function syncyte_tensor_put_signal

    !> Starts syncyte_tensor_put_signal(), as the head of syncyte/tensor.h says. The signal follows when all owners
    !> have the rows, without further calls. If rows of other nodes go by the fabric and counters by MPI RMA, the
    !> start waits for the rows. If an owner of rows dies, the element is not changed.
    ! tensor [in]: a tensor; it may be destroyed before the request has ended
    ! index [in]: int32 or int64, contiguous; may be empty; may be re-used on return
    ! source [in]: as of scatter; must stay unchanged until the request has ended
    ! counters [in]: a tensor of int32 or int64, of any communicator; it may be destroyed before the request has
    ! ended
    ! element [in]: number of its element in row-major order
    ! value [in]: number that is added or set
    ! op [in]: SYNCYTE_OP_SUM: adds value; SYNCYTE_OP_REPLACE: sets the element to value
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as tensor_put_signal, for errors that this rank finds; test and wait return the others.
    function syncyte_tensor_iput_signal(tensor, index, source, counters, element, value, op, request) bind(C, &
        name="syncyte_tensor_iput_signal") result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: source
      type(c_ptr), value :: counters
      integer(c_int64_t), value :: element
      integer(c_int64_t), value :: value
      integer(c_int32_t), value :: op
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_tensor_iput_signal

    !> Gives the tensor an optimizer, which tensor_apply_gradients() uses, with a new state of zeros; an optimizer
    !> that the tensor had is dropped. Collective; facts: the tensor, optimizer, whether there is momentum. The
    !> hyperparameters are this rank's: they apply to its own gradients. No thread may call tensor_apply_gradients()
    !> meanwhile.
    ! tensor [in]: a tensor of float16, bfloat16, float32 or float64
    ! optimizer [in]: kind of optimizer
    ! lr [in]: learning rate, 0 or more
    ! options [in]: null for defaults
    ! Returns: SYNCYTE_ERR_TYPE, SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_MEMORY, SYNCYTE_ERR_MISMATCH,
    ! SYNCYTE_ERR_UNSUPPORTED (the tensor is on devices that cannot change each other's memory atomically).
    function syncyte_tensor_set_optimizer(tensor, optimizer, lr, options) bind(C, &
        name="syncyte_tensor_set_optimizer") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int32_t), value :: optimizer
      real(c_double), value :: lr
      type(syncyte_optimizer_options_t), intent(in), optional :: options
      integer(c_int32_t) :: answer
    end function syncyte_tensor_set_optimizer

    !> Changes the learning rate of this rank's later calls of tensor_apply_gradients(). Local.
    ! tensor [in]: a tensor with an optimizer
    ! lr [in]: learning rate, 0 or more
    ! Returns: SYNCYTE_ERR_ARGUMENT, SYNCYTE_ERR_UNSUPPORTED (the tensor has no optimizer).
    function syncyte_tensor_set_learning_rate(tensor, lr) bind(C, name="syncyte_tensor_set_learning_rate") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      real(c_double), value :: lr
      integer(c_int32_t) :: answer
    end function syncyte_tensor_set_learning_rate

    !> Updates rows by the tensor's optimizer: gradients[i] belongs to tensor[index[i]]. Local; rows of other nodes
    !> are updated by their owners' library. Gradients of a row that repeats are summed first, so that each call
    !> updates a row once. Calls of several ranks for the same row are separate updates, done one after another in
    !> any order, each exactly once. On return all are done; all ranks see them after tensor_sync(). An Adam
    !> update's number, which corrects the moments' bias, is the number of calls for this tensor by all ranks so
    !> far. A row that is written or added to meanwhile is undefined.
    ! tensor [in]: a tensor with an optimizer
    ! index [in]: int32 or int64, contiguous
    ! gradients [in]: contiguous, of the tensor's dtype, index's elements times a row's elements
    ! Returns: as scatter_add; SYNCYTE_ERR_ARGUMENT also if gradients lie in the optimizer's state of these rows;
    ! SYNCYTE_ERR_UNSUPPORTED also if the tensor has no optimizer. After SYNCYTE_ERR_PEER_DIED some rows may have
    ! been updated, and others not.
    function syncyte_tensor_apply_gradients(tensor, index, gradients) bind(C, &
        name="syncyte_tensor_apply_gradients") result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: gradients
      integer(c_int32_t) :: answer
    end function syncyte_tensor_apply_gradients

    !> Starts syncyte_tensor_apply_gradients(), as the head of syncyte/tensor.h says. Gradients of a row that
    !> repeats are summed, and an Adam update gets its number, in the start; if another node has the number, the
    !> start waits for the answer of that node's library. The learning rate is that of the start.
    ! tensor [in]: a tensor with an optimizer; it may be destroyed before the request has ended
    ! index [in]: int32 or int64, contiguous; may be re-used on return
    ! gradients [in]: contiguous, of the tensor's dtype, index's elements times a row's elements; must stay
    ! unchanged until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as tensor_apply_gradients, for errors that this rank finds; test and wait return the others.
    function syncyte_tensor_iapply_gradients(tensor, index, gradients, request) bind(C, &
        name="syncyte_tensor_iapply_gradients") result(answer)
      import
      type(c_ptr), value :: tensor
      type(syncyte_buffer_t), intent(in) :: index
      type(syncyte_buffer_t), intent(in) :: gradients
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_tensor_iapply_gradients

    !> Returns a new reference to the tensor that holds the optimizer's state, to save it or restore it. Local.
    ! tensor [in]: a tensor with an optimizer
    ! state [out]: float32 (float64 for float64), shape {rows, slots, elements of a row}, partitioned as the tensor:
    ! SGD's momentum; AdaGrad's sum of squares; Adam's means of gradients and of squares. Null if there is none.
    ! Rows of fewer than 16 bytes may have further, unused slots
    ! Returns: SYNCYTE_ERR_UNSUPPORTED (the tensor has no optimizer).
    function syncyte_tensor_optimizer_state(tensor, state) bind(C, name="syncyte_tensor_optimizer_state") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      type(c_ptr), intent(inout) :: state
      integer(c_int32_t) :: answer
    end function syncyte_tensor_optimizer_state

    !> Returns a new reference to the tensor that holds the optimizer's number of updates. Local.
    ! tensor [in]: a tensor with an optimizer
    ! steps [out]: int64, shape {1}. Null unless the optimizer is Adam
    ! Returns: SYNCYTE_ERR_UNSUPPORTED (the tensor has no optimizer).
    function syncyte_tensor_optimizer_steps(tensor, steps) bind(C, name="syncyte_tensor_optimizer_steps") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      type(c_ptr), intent(inout) :: steps
      integer(c_int32_t) :: answer
    end function syncyte_tensor_optimizer_steps

    !> Reads the box [lower, lower + extent of output) of the tensor. Local; a forked child may call it.
    ! tensor [in]: a tensor
    ! lower_length [in]: length of lower: the tensor's dimensions
    ! lower [in]: first element of the box
    ! output [out]: as many dimensions as the tensor, any strides, the tensor's dtype
    ! Returns: SYNCYTE_ERR_INDEX outside the tensor, SYNCYTE_ERR_SHAPE, SYNCYTE_ERR_TYPE, SYNCYTE_ERR_ARGUMENT
    ! (output is in memory of other elements of the box).
    function syncyte_tensor_get_box(tensor, lower_length, lower, output) bind(C, name="syncyte_tensor_get_box") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: lower_length
      integer(c_int64_t), intent(in) :: lower(*)
      type(syncyte_buffer_t), intent(in) :: output
      integer(c_int32_t) :: answer
    end function syncyte_tensor_get_box

    !> Starts syncyte_tensor_get_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows need
    !> packed memory of their size until the end; the test or wait that finds the end copies them to output.
    ! tensor [in]: a tensor; it may be destroyed before the request has ended
    ! lower_length [in]: length of lower: the tensor's dimensions
    ! lower [in]: first element of the box; may be re-used on return
    ! output [out]: as many dimensions as the tensor, any strides, the tensor's dtype; may not be read until the
    ! request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as tensor_get_box, for errors that this rank finds; test and wait return the others.
    function syncyte_tensor_iget_box(tensor, lower_length, lower, output, request) bind(C, &
        name="syncyte_tensor_iget_box") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: lower_length
      integer(c_int64_t), intent(in) :: lower(*)
      type(syncyte_buffer_t), intent(in) :: output
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_tensor_iget_box

    !> Writes the box [lower, lower + extent of source) of the tensor. Local. Visible to other ranks as in scatter.
    ! tensor [in]: a tensor
    ! lower_length [in]: length of lower: the tensor's dimensions
    ! lower [in]: first element of the box
    ! source [in]: as many dimensions as the tensor, any strides, the tensor's dtype
    ! Returns: as get_box, for source.
    function syncyte_tensor_put_box(tensor, lower_length, lower, source) bind(C, name="syncyte_tensor_put_box") &
        result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: lower_length
      integer(c_int64_t), intent(in) :: lower(*)
      type(syncyte_buffer_t), intent(in) :: source
      integer(c_int32_t) :: answer
    end function syncyte_tensor_put_box

    !> Starts syncyte_tensor_put_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows need
    !> packed memory of their size until the end.
    ! tensor [in]: a tensor; it may be destroyed before the request has ended
    ! lower_length [in]: length of lower: the tensor's dimensions
    ! lower [in]: first element of the box; may be re-used on return
    ! source [in]: as many dimensions as the tensor, any strides, the tensor's dtype; may be re-used on return
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as tensor_put_box, for errors that this rank finds; test and wait return the others.
    function syncyte_tensor_iput_box(tensor, lower_length, lower, source, request) bind(C, &
        name="syncyte_tensor_iput_box") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: lower_length
      integer(c_int64_t), intent(in) :: lower(*)
      type(syncyte_buffer_t), intent(in) :: source
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_tensor_iput_box

    !> Combines each element of the box [lower, lower + extent of source) with alpha * source: with SYNCYTE_OP_SUM,
    !> tensor[box] += alpha * source. Local; done at the owners on return. Each element is combined atomically, also
    !> with other ranks' accumulate_box and scatter_add, so no contribution is lost; of complex numbers, each
    !> component is added atomically. The box as a whole is not atomic. Views, put_box, scatter and counters do not
    !> take part: call sync between them and accumulates to the same elements. Sums of a tensor made with
    !> options->deterministic change in the next sync, by whole rows: there an element outside of the box that is -0
    !> becomes +0.
    ! tensor [in]: a tensor
    ! lower_length [in]: length of lower: the tensor's dimensions
    ! lower [in]: first element of the box
    ! source [in]: as many dimensions as the tensor, any strides, the tensor's dtype
    ! alpha [in]: one element of the tensor's dtype, by which source is multiplied first, in that type; null: 1
    ! op [in]: SYNCYTE_OP_SUM; for other than complex numbers also PROD, MIN and MAX; for integers and bool also
    ! LAND, LOR, LXOR, BAND, BOR and BXOR
    ! Returns: as put_box; SYNCYTE_ERR_ARGUMENT for an unknown op or SYNCYTE_OP_REPLACE, SYNCYTE_ERR_UNSUPPORTED for
    ! an op that the dtype lacks, or if a row is reached by MPI RMA; SYNCYTE_ERR_PEER_DIED as scatter_add.
    function syncyte_tensor_accumulate_box(tensor, lower_length, lower, source, alpha, op) bind(C, &
        name="syncyte_tensor_accumulate_box") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: lower_length
      integer(c_int64_t), intent(in) :: lower(*)
      type(syncyte_buffer_t), intent(in) :: source
      type(c_ptr), value :: alpha
      integer(c_int32_t), value :: op
      integer(c_int32_t) :: answer
    end function syncyte_tensor_accumulate_box

    !> Starts syncyte_tensor_accumulate_box(), as the head of syncyte/tensor.h says. Elements of other nodes' rows
    !> need packed memory of their size until the end.
    ! tensor [in]: a tensor; it may be destroyed before the request has ended
    ! lower_length [in]: length of lower: the tensor's dimensions
    ! lower [in]: first element of the box; may be re-used on return
    ! source [in]: as many dimensions as the tensor, any strides, the tensor's dtype; may be re-used on return
    ! alpha [in]: one element of the tensor's dtype, by which source is multiplied first, in that type; null: 1; may
    ! be re-used on return
    ! op [in]: SYNCYTE_OP_SUM; for other than complex numbers also PROD, MIN and MAX; for integers and bool also
    ! LAND, LOR, LXOR, BAND, BOR and BXOR
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as tensor_accumulate_box, for errors that this rank finds; test and wait return the others.
    function syncyte_tensor_iaccumulate_box(tensor, lower_length, lower, source, alpha, op, request) bind(C, &
        name="syncyte_tensor_iaccumulate_box") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: lower_length
      integer(c_int64_t), intent(in) :: lower(*)
      type(syncyte_buffer_t), intent(in) :: source
      type(c_ptr), value :: alpha
      integer(c_int32_t), value :: op
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_tensor_iaccumulate_box

    !> Adds to one element of an int32 or int64 tensor and returns its old value; atomic, acquire and release.
    !> Local.
    ! tensor [in]: a tensor of int32 or int64
    ! element [in]: number of the element in row-major order
    ! operand [in]: number to add
    ! previous [out]: the old value
    function syncyte_tensor_fetch_add(tensor, element, operand, previous) bind(C, &
        name="syncyte_tensor_fetch_add") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: element
      integer(c_int64_t), value :: operand
      integer(c_int64_t), intent(inout), optional :: previous
      integer(c_int32_t) :: answer
    end function syncyte_tensor_fetch_add

    !> Starts syncyte_tensor_fetch_add(), as the head of syncyte/tensor.h says. The test or wait that finds the end
    !> stores the old value.
    ! tensor [in]: a tensor of int32 or int64; it may be destroyed before the request has ended
    ! element [in]: number of the element in row-major order
    ! operand [in]: number to add
    ! previous [out]: the old value; may be null; may not be read until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as tensor_fetch_add, for errors that this rank finds; test and wait return the others.
    function syncyte_tensor_ifetch_add(tensor, element, operand, previous, request) bind(C, &
        name="syncyte_tensor_ifetch_add") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: element
      integer(c_int64_t), value :: operand
      integer(c_int64_t), intent(inout), target, asynchronous, optional :: previous
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_tensor_ifetch_add

    !> Writes desired to one element if it equals expected, and returns its old value; atomic, acquire and release.
    !> Local.
    ! tensor [in]: a tensor of int32 or int64
    ! element [in]: number of the element in row-major order
    ! expected [in]: value to compare with
    ! desired [in]: value to write if they are equal
    ! previous [out]: the old value
    function syncyte_tensor_compare_swap(tensor, element, expected, desired, previous) bind(C, &
        name="syncyte_tensor_compare_swap") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: element
      integer(c_int64_t), value :: expected
      integer(c_int64_t), value :: desired
      integer(c_int64_t), intent(inout), optional :: previous
      integer(c_int32_t) :: answer
    end function syncyte_tensor_compare_swap

    !> Starts syncyte_tensor_compare_swap(), as the head of syncyte/tensor.h says. The test or wait that finds the
    !> end stores the old value.
    ! tensor [in]: a tensor of int32 or int64; it may be destroyed before the request has ended
    ! element [in]: number of the element in row-major order
    ! expected [in]: value to compare with
    ! desired [in]: value to write if they are equal
    ! previous [out]: the old value; may be null; may not be read until the request has ended
    ! request [out]: ends when the operation is complete, with its status
    ! Returns: as tensor_compare_swap, for errors that this rank finds; test and wait return the others.
    function syncyte_tensor_icompare_swap(tensor, element, expected, desired, previous, request) bind(C, &
        name="syncyte_tensor_icompare_swap") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: element
      integer(c_int64_t), value :: expected
      integer(c_int64_t), value :: desired
      integer(c_int64_t), intent(inout), target, asynchronous, optional :: previous
      type(c_ptr), intent(inout) :: request
      integer(c_int32_t) :: answer
    end function syncyte_tensor_icompare_swap

    !> Reads one element of an int32 or int64 tensor; acquire. Local; a forked child may call it.
    ! tensor [in]: a tensor of int32 or int64
    ! element [in]: number of the element in row-major order
    ! value [out]: its value
    function syncyte_tensor_load(tensor, element, value) bind(C, name="syncyte_tensor_load") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: element
      integer(c_int64_t), intent(inout) :: value
      integer(c_int32_t) :: answer
    end function syncyte_tensor_load

    !> Writes one element of an int32 or int64 tensor; release: a rank that reads the new value sees all earlier
    !> writes of this rank (on the same node; on other nodes, those before a flush). Local.
    ! tensor [in]: a tensor of int32 or int64
    ! element [in]: number of the element in row-major order
    ! value [in]: its new value
    function syncyte_tensor_store(tensor, element, value) bind(C, name="syncyte_tensor_store") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: element
      integer(c_int64_t), value :: value
      integer(c_int32_t) :: answer
    end function syncyte_tensor_store

    !> Waits, mostly asleep, until a comparison of one element of an int32 or int64 tensor is true; acquire. Local;
    !> a forked child may call it.
    ! tensor [in]: a tensor of int32 or int64
    ! element [in]: number of the element in row-major order
    ! compare [in]: comparison of the element with value
    ! value [in]: value to compare with
    ! timeout [in]: seconds, 0 or more; negative: no limit
    ! found [out]: the element's value for which the comparison is true
    ! Returns: SYNCYTE_ERR_TIMEOUT after timeout seconds; SYNCYTE_ERR_PEER_DIED if any rank of the job dies
    ! meanwhile, since it may be the one that would change the element, and if all other ranks of the tensor have
    ! come to finalize: then this rank's other threads alone could change it. Ranks of other nodes are asked by the
    ! fabric, after a second.
    function syncyte_tensor_wait(tensor, element, compare, value, timeout, found) bind(C, &
        name="syncyte_tensor_wait") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: element
      integer(c_int32_t), value :: compare
      integer(c_int64_t), value :: value
      real(c_double), value :: timeout
      integer(c_int64_t), intent(inout), optional :: found
      integer(c_int32_t) :: answer
    end function syncyte_tensor_wait

    !> Waits, mostly asleep, until it has a row's lock. Local. The lock excludes other holders of it, and nothing
    !> else: operations on the row take no notice, so the holder may call all of them. Writes of earlier holders are
    !> visible to the holder. Each row has its own lock, so a rank may hold several; ranks that take them in
    !> different orders may wait for each other for ever. A second lock of the row by this rank waits too, for an
    !> unlock by another thread. There is no started form: a rank would hold a lock that it started from a moment
    !> that it does not know.
    ! tensor [in]: a tensor made with row_locks 1
    ! row [in]: a row's number
    ! Returns: SYNCYTE_ERR_UNSUPPORTED for a tensor without row_locks, SYNCYTE_ERR_INDEX, SYNCYTE_ERR_PEER_DIED if
    ! the holder or, on another node, the row's owner has died, or if the holder has come to finalize.
    function syncyte_tensor_lock(tensor, row) bind(C, name="syncyte_tensor_lock") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: row
      integer(c_int32_t) :: answer
    end function syncyte_tensor_lock

    !> Completes this rank's writes, as flush, and releases a row's lock. Local. Any thread of the rank may call it.
    ! tensor [in]: a tensor made with row_locks 1
    ! row [in]: a row's number
    ! Returns: as lock; SYNCYTE_ERR_ARGUMENT if this rank does not hold the lock.
    function syncyte_tensor_unlock(tensor, row) bind(C, name="syncyte_tensor_unlock") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int64_t), value :: row
      integer(c_int32_t) :: answer
    end function syncyte_tensor_unlock

    !> Completes this rank's writes at their owners. Local.
    ! tensor [in]: a tensor
    function syncyte_tensor_flush(tensor) bind(C, name="syncyte_tensor_flush") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int32_t) :: answer
    end function syncyte_tensor_flush

    !> Synchronizes the tensor: after it, all ranks see all earlier writes of all ranks. Collective; also frees
    !> objects that all ranks have dropped, and makes the adds of a tensor with options->deterministic. Adds that
    !> another thread makes meanwhile may wait for the next call.
    ! tensor [in]: a tensor
    ! Returns: SYNCYTE_ERR_MISMATCH if ranks pass different tensors: adds wait for the next call.
    ! SYNCYTE_ERR_MEMORY: the adds of a tensor with options->deterministic may be lost.
    function syncyte_tensor_sync(tensor) bind(C, name="syncyte_tensor_sync") result(answer)
      import
      type(c_ptr), value :: tensor
      integer(c_int32_t) :: answer
    end function syncyte_tensor_sync
  end interface
end module syncyte_tensor_c
