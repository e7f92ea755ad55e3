!> Communicators: type(syncyte_comm). Their collectives on arrays are those of collective_comm, their messages those of
!> message_comm, their questions about a grid those of cart_comm.
module syncyte_comms
  use, intrinsic :: iso_c_binding
  use syncyte_c, only: syncyte_cart_create, syncyte_comm_agree, syncyte_comm_barrier, syncyte_comm_destroy, &
    syncyte_comm_dup, syncyte_comm_leaders, &
    syncyte_comm_node, syncyte_comm_options_t, syncyte_comm_rank, syncyte_comm_self, syncyte_comm_size, &
    syncyte_comm_split, syncyte_comm_split_program, syncyte_comm_to_fortran, syncyte_comm_topology, &
    syncyte_comm_world, syncyte_collect, syncyte_error_set, syncyte_fact_t, syncyte_topology_t, &
    SYNCYTE_ERR_SHAPE, SYNCYTE_SUCCESS
  use syncyte_carts, only: cart_comm
  use syncyte_comm_helpers
  use syncyte_errors
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
    procedure :: node => comm_node
    procedure :: leaders => comm_leaders
    procedure :: cartesian => comm_cartesian
    procedure :: rank => comm_rank
    procedure :: size => comm_size
    procedure :: to_mpi => comm_to_mpi
    procedure :: is_null => comm_is_null
    procedure :: topology => comm_topology
    procedure :: barrier => comm_barrier
    procedure :: collect => comm_collect
    procedure :: destroy => comm_destroy
    procedure :: agree => comm_agree
  end type syncyte_comm

contains

  !> Options with a name (kept alive by the caller in letters) and a level of checking.
  function make_options(letters, check) result(options)
    character(kind=c_char, len=:), allocatable, target, intent(in) :: letters
    integer, intent(in), optional :: check
    type(syncyte_comm_options_t) :: options

    if (allocated(letters)) options%name = c_loc(letters)
    if (present(check)) options%check = int(check, c_int32_t)
  end function make_options

  !> Keeps a new handle, if there is one, and drops what self referred to before.
  subroutine adopt(self, status, handle)
    class(syncyte_comm), intent(inout) :: self
    integer(c_int32_t), intent(in) :: status
    type(c_ptr), intent(in) :: handle
    integer(c_int32_t) :: ignored

    if (status /= SYNCYTE_SUCCESS) return
    if (c_associated(self%handle)) ignored = syncyte_comm_destroy(self%handle)
    self%handle = handle
  end subroutine adopt

  !> Makes a communicator from MPI's, which is duplicated and stays the caller's. Collective over it.
  !> handle: a default integer (use mpi) or a type(MPI_Comm) (use mpi_f08).
  subroutine comm_from_mpi(self, handle, name, check, stat, errmsg)
    class(syncyte_comm), intent(inout) :: self
    type(*), dimension(..), intent(in) :: handle
    character(len=*), intent(in), optional :: name      !! for messages
    integer, intent(in), optional :: check              !! -1 as SYNCYTE_CHECK says, 0 off, 1 on, 2 full
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: letters
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    call to_c(name, letters)
    made = c_null_ptr
    status = fortran_comm_from_mpi(handle, make_options(letters, check), made)
    call adopt(self, status, made)
    call finish(status, stat, errmsg)
  end subroutine comm_from_mpi

  !> The communicator of all ranks. Local.
  subroutine comm_from_world(self, stat, errmsg)
    class(syncyte_comm), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    made = c_null_ptr
    status = syncyte_comm_world(made)
    call adopt(self, status, made)
    call finish(status, stat, errmsg)
  end subroutine comm_from_world

  !> The communicator of this rank alone. Local.
  subroutine comm_from_self(self, stat, errmsg)
    class(syncyte_comm), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    made = c_null_ptr
    status = syncyte_comm_self(made)
    call adopt(self, status, made)
    call finish(status, stat, errmsg)
  end subroutine comm_from_self

  !> Duplicates a communicator. Collective.
  subroutine comm_dup(self, part, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    type(syncyte_comm), intent(inout) :: part
    character(len=*), intent(in), optional :: name
    integer, intent(in), optional :: check
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: letters
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    call to_c(name, letters)
    made = c_null_ptr
    status = syncyte_comm_dup(self%handle, make_options(letters, check), made)
    call adopt(part, status, made)
    call finish(status, stat, errmsg)
  end subroutine comm_dup

  !> Splits as MPI_Comm_split does; color -1 gives this rank none (part%is_null()). Collective.
  subroutine comm_split(self, color, key, part, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(in) :: color, key
    type(syncyte_comm), intent(inout) :: part
    character(len=*), intent(in), optional :: name
    integer, intent(in), optional :: check
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: letters
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    call to_c(name, letters)
    made = c_null_ptr
    status = syncyte_comm_split(self%handle, int(color, c_int32_t), int(key, c_int32_t), &
                                make_options(letters, check), made)
    call adopt(part, status, made)
    call finish(status, stat, errmsg)
  end subroutine comm_split

  !> The ranks that run the same program in this job: the same text in program, or the same executable. Collective.
  subroutine comm_split_program(self, part, program, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    type(syncyte_comm), intent(inout) :: part
    character(len=*), intent(in), optional :: program
    character(len=*), intent(in), optional :: name
    integer, intent(in), optional :: check
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: letters
    character(kind=c_char, len=:), allocatable :: program_letters
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    call to_c(name, letters)
    call to_c(program, program_letters)
    made = c_null_ptr
    if (present(program)) then
      status = syncyte_comm_split_program(self%handle, program_letters, make_options(letters, check), made)
    else
      status = syncyte_comm_split_program(self%handle, options=make_options(letters, check), part=made)
    end if
    call adopt(part, status, made)
    call finish(status, stat, errmsg)
  end subroutine comm_split_program

  !> The ranks that share memory with this one. Collective.
  subroutine comm_node(self, part, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    type(syncyte_comm), intent(inout) :: part
    character(len=*), intent(in), optional :: name
    integer, intent(in), optional :: check
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: letters
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    call to_c(name, letters)
    made = c_null_ptr
    status = syncyte_comm_node(self%handle, make_options(letters, check), made)
    call adopt(part, status, made)
    call finish(status, stat, errmsg)
  end subroutine comm_node

  !> The first rank of each node, in the order of the nodes; the others get none (part%is_null()). Collective.
  subroutine comm_leaders(self, part, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    type(syncyte_comm), intent(inout) :: part
    character(len=*), intent(in), optional :: name
    integer, intent(in), optional :: check
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: letters
    type(c_ptr) :: made
    integer(c_int32_t) :: status

    call to_c(name, letters)
    made = c_null_ptr
    status = syncyte_comm_leaders(self%handle, make_options(letters, check), made)
    call adopt(part, status, made)
    call finish(status, stat, errmsg)
  end subroutine comm_leaders

  !> Puts the first ranks on a grid, in their order, the first coordinate changing fastest; the others get none
  !> (cart%is_null()). Collective.
  subroutine comm_cartesian(self, cart, extents, periodic, name, check, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    type(syncyte_comm), intent(inout) :: cart
    integer, intent(in) :: extents(:)                   !! places along each dimension; 0: chosen
    logical, intent(in), optional :: periodic(:)        !! whether each dimension is; .false. if absent
    character(len=*), intent(in), optional :: name
    integer, intent(in), optional :: check
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=:), allocatable, target :: letters
    integer(c_int32_t) :: places(size(extents)), periods(size(extents)), ndim, status
    type(c_ptr) :: made
    logical :: is_right

    call to_c(name, letters)
    ndim = size(extents, kind=c_int32_t)
    places = int(extents(ndim:1:-1), c_int32_t)
    periods = 0
    is_right = .true.
    if (present(periodic)) is_right = size(periodic) == size(extents)
    if (present(periodic) .and. is_right) periods = merge(1_c_int32_t, 0_c_int32_t, periodic(ndim:1:-1))
    if (.not. is_right) ndim = -1  ! refused on all ranks
    made = c_null_ptr
    status = syncyte_cart_create(self%handle, ndim, places, periods, make_options(letters, check), made)
    if (.not. is_right) &
      status = syncyte_error_set(SYNCYTE_ERR_SHAPE, "extents and periodic differ in size"//c_null_char)
    call adopt(cart, status, made)
    call finish(status, stat, errmsg)
  end subroutine comm_cartesian

  !> This process's number, 0 to size - 1; -1 on an error. Local.
  function comm_rank(self, stat, errmsg) result(rank)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: rank
    integer(c_int32_t) :: value

    value = -1
    call finish(syncyte_comm_rank(self%handle, value), stat, errmsg)
    rank = int(value)
  end function comm_rank

  !> Number of ranks; -1 on an error. Local.
  function comm_size(self, stat, errmsg) result(size)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: size
    integer(c_int32_t) :: value

    value = -1
    call finish(syncyte_comm_size(self%handle, value), stat, errmsg)
    size = int(value)
  end function comm_size

  !> The MPI communicator behind it, as an integer (for mpi_f08: comm%MPI_VAL = ...). Syncyte's: never free it. Local.
  function comm_to_mpi(self, stat, errmsg) result(handle)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer :: handle
    integer(c_int32_t) :: value

    value = -1
    call finish(syncyte_comm_to_fortran(self%handle, value), stat, errmsg)
    handle = int(value)
  end function comm_to_mpi

  !> Whether it refers to nothing. Local.
  pure logical function comm_is_null(self)
    class(syncyte_comm), intent(in) :: self

    comm_is_null = .not. c_associated(self%handle)
  end function comm_is_null

  !> How the ranks lie on nodes: number of nodes, this rank's (from 0), its ranks, and this rank's place there. Local.
  subroutine comm_topology(self, nodes, node, node_size, node_rank, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: nodes, node, node_size, node_rank
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_topology_t) :: topology
    integer(c_int32_t) :: status

    status = syncyte_comm_topology(self%handle, topology)
    if (present(nodes)) nodes = int(topology%nodes)
    if (present(node)) node = int(topology%node)
    if (present(node_size)) node_size = int(topology%node_size)
    if (present(node_rank)) node_rank = int(topology%node_rank)
    call finish(status, stat, errmsg)
  end subroutine comm_topology

  !> Returns when all ranks have called it. Collective.
  subroutine comm_barrier(self, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_comm_barrier(self%handle), stat, errmsg)
  end subroutine comm_barrier

  !> Frees what all ranks have dropped. Collective.
  subroutine comm_collect(self, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_collect(self%handle), stat, errmsg)
  end subroutine comm_collect

  !> Drops the reference; a null one is fine. Local.
  subroutine comm_destroy(self, stat, errmsg)
    class(syncyte_comm), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg

    call finish(syncyte_comm_destroy(self%handle), stat, errmsg)
  end subroutine comm_destroy

  !> All ranks learn whether all are well and agree: stat is the same on all. Collective.
  subroutine comm_agree(self, status, operation, names, values, stat, errmsg)
    class(syncyte_comm), intent(in) :: self
    integer, intent(in) :: status                             !! this rank's own verdict, 0 for success
    character(len=*), intent(in) :: operation                 !! for messages; equal on all ranks
    character(len=*), intent(in), optional :: names(:)        !! of numbers that must be equal on all ranks
    integer(c_int64_t), intent(in), optional :: values(:)     !! these numbers; as many as names
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char, len=128), allocatable, target :: letters(:)
    character(kind=c_char, len=:), allocatable :: title
    type(syncyte_fact_t), allocatable :: facts(:)
    integer(c_int32_t) :: verdict
    integer :: i, count

    call to_c(operation, title)
    verdict = int(status, c_int32_t)
    count = 0
    if (present(names) .and. present(values)) count = min(size(names), size(values))
    if (facts_differ()) verdict = syncyte_error_set(SYNCYTE_ERR_SHAPE, "names and values differ in size"//c_null_char)
    allocate (facts(count), letters(count))
    do i = 1, count
      letters(i) = trim(names(i))//c_null_char
      facts(i)%name = c_loc(letters(i))
      facts(i)%value = values(i)
    end do
    call finish(syncyte_comm_agree(self%handle, verdict, title, int(count, c_int32_t), facts), stat, errmsg)

  contains

    logical function facts_differ()
      facts_differ = present(names) .neqv. present(values)
      if (present(names) .and. present(values)) facts_differ = size(names) /= size(values)
    end function facts_differ

  end subroutine comm_agree

end module syncyte_comms
