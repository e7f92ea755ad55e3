! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/comms.methods by bindings/generate; do not edit.
!> Communicators: type(syncyte_comm). It inherits collectives on arrays from collective_comm, messages from message_comm
!> and the methods of grids from cart_comm.
module syncyte_comms
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_carts, only: cart_comm
  implicit none
  private

  !> An ordered group of ranks. A reference: assignment copies the reference; destroy drops one. Its handle is a
  !> syncyte_comm_t, for calls of syncyte_c.
  type, extends(cart_comm), public :: syncyte_comm
  contains
    procedure :: from_mpi => comm_from_mpi
    procedure :: from_world => comm_from_world
    procedure :: from_self => comm_from_self
    procedure :: dup => comm_dup
    procedure :: split => comm_split
    procedure :: split_program => comm_split_program
    procedure :: split_node => comm_split_node
    procedure :: split_leaders => comm_split_leaders
    procedure :: create_group => comm_create_group
    procedure :: cartesian => comm_cartesian
    procedure :: rank => comm_rank
    procedure :: size => comm_size
    procedure :: id => comm_id
    procedure :: to_mpi => comm_to_mpi
    procedure :: is_null => comm_is_null
    procedure :: topology => comm_topology
    procedure :: barrier => comm_barrier
    procedure :: collect => comm_collect
    procedure :: destroy => comm_destroy
    procedure :: agree => comm_agree
  end type syncyte_comm

contains

  !> Makes a communicator from MPI's, which is duplicated and stays the caller's; a Cartesian one keeps its grid.
  !> Collective over it.
  subroutine comm_from_mpi(self, handle, name, check, stat, errmsg)
    class(syncyte_comm), intent(inout) :: self
    type(*), dimension(..), intent(in), target :: handle  !! a default integer (use mpi) or a type(MPI_Comm) (use mpi_f08)
    character(len=*), intent(in), optional :: name  !! for messages, ranks may differ; absent: made from the parent's name
    integer, intent(in), optional :: check  !! -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: handle_c
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(syncyte_comm_options_t) :: options
    type(c_ptr) :: made
    integer(c_int32_t) :: status, local, ignored

    call syncyte_set_span(handle)
    local = fortran_handle(handle, "handle"//c_null_char, handle_c)
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(check)) options%check = int(check, c_int32_t)
    made = c_null_ptr
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_HERE, c_null_ptr, local, "comm_from_fortran"//c_null_char)
    else
      status = syncyte_comm_from_fortran(handle_c, options, made)
    end if
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_comm_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_from_mpi

  !> The communicator of all ranks. Local.
  subroutine comm_from_world(self, stat, errmsg)
    class(syncyte_comm), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    status = syncyte_comm_world(made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_comm_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_from_world

  !> The communicator of this rank alone. Local.
  subroutine comm_from_self(self, stat, errmsg)
    class(syncyte_comm), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    status = syncyte_comm_self(made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_comm_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_from_self

  !> Duplicates a communicator. Collective.
  subroutine comm_dup(self, part, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    type(syncyte_comm), intent(inout) :: part
    character(len=*), intent(in), optional :: name  !! for messages, ranks may differ; absent: made from the parent's name
    integer, intent(in), optional :: check  !! -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(syncyte_comm_options_t) :: options
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(check)) options%check = int(check, c_int32_t)
    status = syncyte_comm_dup(self%handle, options, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(part%handle)) ignored = syncyte_comm_destroy(part%handle)
      part%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_dup

  !> Splits as MPI_Comm_split does; with color -1 this rank gets a null part. Collective.
  subroutine comm_split(self, color, key, part, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(in) :: color  !! ranks of the same color form a new communicator; -1: this rank gets a absent handle
    integer, intent(in) :: key  !! order within the new communicator; ties are ordered by rank
    type(syncyte_comm), intent(inout) :: part
    character(len=*), intent(in), optional :: name  !! for messages, ranks may differ; absent: made from the parent's name
    integer, intent(in), optional :: check  !! -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(syncyte_comm_options_t) :: options
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(check)) options%check = int(check, c_int32_t)
    status = syncyte_comm_split(self%handle, int(color, c_int32_t), int(key, c_int32_t), options, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(part%handle)) ignored = syncyte_comm_destroy(part%handle)
      part%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_split

  !> The ranks that run the same program in this job: the same text in program, or the same executable. Collective.
  subroutine comm_split_program(self, part, program, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    type(syncyte_comm), intent(inout) :: part
    character(len=*), intent(in), optional :: program
    character(len=*), intent(in), optional :: name  !! for messages, ranks may differ; absent: made from the parent's name
    integer, intent(in), optional :: check  !! -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    character(kind=c_char, len=:), allocatable, target :: program_c
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(syncyte_comm_options_t) :: options
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    call to_c(program, program_c)
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(check)) options%check = int(check, c_int32_t)
    status = syncyte_comm_split_program(self%handle, program_c, options, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(part%handle)) ignored = syncyte_comm_destroy(part%handle)
      part%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_split_program

  !> The ranks that share memory with this one. Collective.
  subroutine comm_split_node(self, part, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    type(syncyte_comm), intent(inout) :: part
    character(len=*), intent(in), optional :: name  !! for messages, ranks may differ; absent: made from the parent's name
    integer, intent(in), optional :: check  !! -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(syncyte_comm_options_t) :: options
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(check)) options%check = int(check, c_int32_t)
    status = syncyte_comm_split_node(self%handle, options, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(part%handle)) ignored = syncyte_comm_destroy(part%handle)
      part%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_split_node

  !> The first rank of each node, in the order of the nodes; the other ranks get a null part. Collective.
  subroutine comm_split_leaders(self, part, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    type(syncyte_comm), intent(inout) :: part
    character(len=*), intent(in), optional :: name  !! for messages, ranks may differ; absent: made from the parent's name
    integer, intent(in), optional :: check  !! -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(syncyte_comm_options_t) :: options
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(check)) options%check = int(check, c_int32_t)
    status = syncyte_comm_split_leaders(self%handle, options, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(part%handle)) ignored = syncyte_comm_destroy(part%handle)
      part%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_split_leaders

  !> Some ranks, in the order of the list. Collective over these ranks: only they call it, all with the same list and tag.
  !> The part is freed at finalize: make it once and use it again.
  subroutine comm_create_group(self, ranks, part, tag, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(in) :: ranks(:)  !! each once, this rank among them
    type(syncyte_comm), intent(inout) :: part
    integer, intent(in), optional :: tag  !! 0 to 1023
    character(len=*), intent(in), optional :: name  !! for messages, ranks may differ; absent: made from the parent's name
    integer, intent(in), optional :: check  !! -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: tag_c
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(syncyte_comm_options_t) :: options
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    tag_c = 0
    if (present(tag)) tag_c = int(tag, c_int32_t)
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(check)) options%check = int(check, c_int32_t)
    status = syncyte_comm_create_group(self%handle, size(ranks, kind=c_int64_t), int(ranks, c_int32_t), tag_c, &
        options, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(part%handle)) ignored = syncyte_comm_destroy(part%handle)
      part%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_create_group

  !> Puts the first ranks on a grid; the first coordinate changes fastest from rank to rank. The other ranks get a null
  !> cart. Collective.
  subroutine comm_cartesian(self, cart, dims, periods, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    type(syncyte_comm), intent(inout) :: cart
    integer, intent(in) :: dims(:)                !! places along each dimension; 0: chosen
    logical, intent(in), optional :: periods(:)   !! whether each dimension is periodic; .false. if absent
    character(len=*), intent(in), optional :: name  !! for messages, ranks may differ; absent: made from the parent's name
    integer, intent(in), optional :: check  !! -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    character(kind=c_char, len=:), allocatable, target :: name_c
    type(syncyte_comm_options_t) :: options
    integer(c_int32_t) :: places(size(dims)), ndim
    integer(c_int32_t), allocatable :: flags(:)
    integer(c_int64_t) :: entries
    integer(c_int32_t) :: status, ignored

    made = c_null_ptr
    call to_c(name, name_c)
    if (allocated(name_c)) options%name = c_loc(name_c)
    if (present(check)) options%check = int(check, c_int32_t)
    ndim = size(dims, kind=c_int32_t)
    places = int(dims(ndim:1:-1), c_int32_t)
    entries = 0
    if (present(periods)) then
      entries = size(periods, kind=c_int64_t)
      flags = merge(1_c_int32_t, 0_c_int32_t, periods(entries:1:-1))
    end if
    status = syncyte_cart_create(self%handle, ndim, places, entries, flags, options, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(cart%handle)) ignored = syncyte_comm_destroy(cart%handle)
      cart%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine comm_cartesian

  !> This process's number, 0 to size - 1; -1 on an error. Local.
  function comm_rank(self, stat, errmsg) result(answer)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: answer
    integer(c_int32_t) :: rank_c
    integer(c_int32_t) :: status

    rank_c = -1
    status = syncyte_comm_rank(self%handle, rank_c)
    answer = int(rank_c)
    call finish(status, stat, errmsg)
  end function comm_rank

  !> Number of ranks; -1 on an error. Local.
  function comm_size(self, stat, errmsg) result(answer)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: answer
    integer(c_int32_t) :: size_c
    integer(c_int32_t) :: status

    size_c = -1
    status = syncyte_comm_size(self%handle, size_c)
    answer = int(size_c)
    call finish(status, stat, errmsg)
  end function comm_size

  !> A number that is equal on all ranks, and unique among communicators of this and other jobs; -1 on an error. Local.
  function comm_id(self, stat, errmsg) result(answer)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: answer
    integer(c_int64_t) :: id_c
    integer(c_int32_t) :: status

    id_c = -1
    status = syncyte_comm_id(self%handle, id_c)
    answer = int(id_c, c_int64_t)
    call finish(status, stat, errmsg)
  end function comm_id

  !> Its MPI communicator, as an integer (for mpi_f08: comm%MPI_VAL = ...). Syncyte owns it: do not free it. Local.
  function comm_to_mpi(self, stat, errmsg) result(answer)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: answer
    integer(c_int32_t) :: fortran_handle_c
    integer(c_int32_t) :: status

    fortran_handle_c = -1
    status = syncyte_comm_to_fortran(self%handle, fortran_handle_c)
    answer = int(fortran_handle_c)
    call finish(status, stat, errmsg)
  end function comm_to_mpi

  !> Whether the handle is null. Local.
  pure logical function comm_is_null(self)
    class(syncyte_comm), intent(in) :: self

    comm_is_null = .not. c_associated(self%handle)
  end function comm_is_null

  !> Topology: number of nodes, this rank's node (from 0), its number of ranks, and this rank's number there. Local.
  subroutine comm_topology(self, nodes, node, node_size, node_rank, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: nodes
    integer, intent(out), optional :: node
    integer, intent(out), optional :: node_size
    integer, intent(out), optional :: node_rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_topology_t) :: topology_c
    integer(c_int32_t) :: status

    status = syncyte_comm_topology(self%handle, topology_c)
    if (present(nodes)) nodes = int(topology_c%nodes)
    if (present(node)) node = int(topology_c%node)
    if (present(node_size)) node_size = int(topology_c%node_size)
    if (present(node_rank)) node_rank = int(topology_c%node_rank)
    call finish(status, stat, errmsg)
  end subroutine comm_topology

  !> Returns when all ranks have called it. Collective.
  subroutine comm_barrier(self, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_comm_barrier(self%handle)
    call finish(status, stat, errmsg)
  end subroutine comm_barrier

  !> Frees objects that all ranks have dropped. Collective.
  subroutine comm_collect(self, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_comm_collect(self%handle)
    call finish(status, stat, errmsg)
  end subroutine comm_collect

  !> Drops the reference; a null reference is ignored. Local.
  subroutine comm_destroy(self, stat, errmsg)
    class(syncyte_comm), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_comm_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine comm_destroy

  !> Agreement: stat is the same on all ranks, an error if one rank passes an error or values differ. Collective.
  subroutine comm_agree(self, status, operation, names, values, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(in) :: status                             !! this rank's own status, 0 for success
    character(len=*), intent(in) :: operation                 !! for messages; equal on all ranks
    character(len=*), intent(in), optional :: names(:)        !! of numbers that must be equal on all ranks
    integer(c_int64_t), intent(in), optional :: values(:)     !! these numbers; as many as names
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=128), allocatable, target :: letters(:)
    type(syncyte_fact_t), allocatable :: facts(:)
    integer(c_int32_t) :: own_status
    integer :: i, count

    own_status = int(status, c_int32_t)
    count = 0
    if (present(names)) count = size(names)
    i = 0
    if (present(values)) i = size(values)
    if (i /= count) own_status = syncyte_error_set(SYNCYTE_ERR_SHAPE, "names and values differ in size"//c_null_char)
    count = min(i, count)
    allocate (facts(count), letters(count))
    do i = 1, count
      letters(i) = trim(names(i))//c_null_char
      facts(i)%name = c_loc(letters(i))
      facts(i)%value = values(i)
    end do
    call finish(syncyte_comm_agree(self%handle, own_status, trim(operation)//c_null_char, int(count, c_int64_t), facts), &
                stat, errmsg)
  end subroutine comm_agree
end module syncyte_comms
