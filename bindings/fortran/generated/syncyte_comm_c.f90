! Generated from syncyte/comm.h by bindings/generate; do not edit.
!> Start and end of Syncyte, communicators, and the agreement.
module syncyte_comm_c
  use, intrinsic :: iso_c_binding
  use syncyte_base_c
  implicit none
  public

  !> Options of syncyte_init().
  type, bind(C) :: syncyte_init_options_t
    ! sizeof(syncyte_init_options_t)
    integer(c_size_t) :: struct_size = 16_c_size_t
    ! MPI thread level to ask for if we initialise MPI: 0 single, 1 funneled, 2 serialized, 3 multiple
    integer(c_int32_t) :: thread_level = 3_c_int32_t
  end type syncyte_init_options_t

  !> Options of a new communicator.
  type, bind(C) :: syncyte_comm_options_t
    ! sizeof(syncyte_comm_options_t)
    integer(c_size_t) :: struct_size = 24_c_size_t
    ! for messages; null: made from the parent's name
    type(c_ptr) :: name = c_null_ptr
    ! -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
    integer(c_int32_t) :: check = -1_c_int32_t
  end type syncyte_comm_options_t

  !> A named number that all ranks must share.
  type, bind(C) :: syncyte_fact_t
    ! for the message
    type(c_ptr) :: name = c_null_ptr
    ! must be equal on all ranks
    integer(c_int64_t) :: value = 0_c_int64_t
  end type syncyte_fact_t

  !> How the ranks of a communicator lie on nodes: ranks that share memory form a node.
  type, bind(C) :: syncyte_topology_t
    ! sizeof(syncyte_topology_t)
    integer(c_size_t) :: struct_size = 24_c_size_t
    ! number of nodes
    integer(c_int32_t) :: nodes = 0_c_int32_t
    ! this rank's node, 0 to nodes - 1, in order of lowest ranks
    integer(c_int32_t) :: node = 0_c_int32_t
    ! ranks on this rank's node
    integer(c_int32_t) :: node_size = 0_c_int32_t
    ! this rank's place among them, in order of ranks
    integer(c_int32_t) :: node_rank = 0_c_int32_t
  end type syncyte_topology_t

  interface

    !> Starts Syncyte; initialises MPI if nobody has. Collective over MPI_COMM_WORLD; further calls do nothing.
    ! options [in]: null for defaults
    ! Returns: SYNCYTE_ERR_NOT_INITIALISED if MPI is already finalised. SYNCYTE_ERR_ARGUMENT on all ranks if one of
    ! them has bad options or a bad environment variable; Syncyte is then not started (MPI is), and may be once that
    ! is mended.
    function syncyte_init(options) bind(C, name="syncyte_init") result(answer)
      import
      type(syncyte_init_options_t), intent(in), optional :: options
      integer(c_int32_t) :: answer
    end function syncyte_init

    !> Ends Syncyte: frees all windows and communicators, and finalises MPI if syncyte_init() had initialised it.
    !> Collective over MPI_COMM_WORLD: waits for all ranks. Memory that a view still refers to stays readable. If
    !> the application finalises MPI first, this happens inside MPI_Finalize. Where the process of a rank of this
    !> node has ended before, nobody is waited for: an error is logged, nothing is freed, and MPI is not finalised.
    !> Further calls, and calls in a forked child, do nothing.
    function syncyte_finalize() bind(C, name="syncyte_finalize") result(answer)
      import
      integer(c_int32_t) :: answer
    end function syncyte_finalize

    !> Installs what the watchdog's report asks for the line of this rank's program; null removes it. Where no
    !> answer comes within a second the report says "unknown". Local; callable at any time.
    ! hook [in]: function
    ! context [in]: passed to every call; must outlive the hook
    function syncyte_watchdog_line_set(hook, context) bind(C, name="syncyte_watchdog_line_set") &
        result(answer)
      import
      type(c_funptr), value :: hook
      type(c_ptr), value :: context
      integer(c_int32_t) :: answer
    end function syncyte_watchdog_line_set

    !> Installs what waits of the calling thread ask ten times a second, for example whether a signal has come; null
    !> removes it. There is one for the process: a later call replaces it. Local; callable at any time. A wait that
    !> is told to end returns SYNCYTE_ERR_INTERRUPTED, on this rank alone: - a request stays active, and may be
    !> waited for again; - a blocking receive is taken back, or has received a message that was there already; - a
    !> blocking send may still arrive: its memory must stay as it is until syncyte_finalize(); - a halo can be used
    !> no longer after a blocking exchange or accumulate, which neighbours may still wait for; - a collective leaves
    !> the ranks of its communicator out of step: every later collective on it returns SYNCYTE_ERR_INTERRUPTED on
    !> this rank; after one of the world communicator syncyte_finalize() frees nothing, and does not finalise MPI.
    !> With SYNCYTE_CHECK=off collectives wait inside MPI, and do not ask; nor does syncyte_finalize().
    ! hook [in]: function; may call Syncyte, but must not wait for what the wait is for
    ! context [in]: passed to every call; must outlive the hook
    function syncyte_interrupt_set(hook, context) bind(C, name="syncyte_interrupt_set") result(answer)
      import
      type(c_funptr), value :: hook
      type(c_ptr), value :: context
      integer(c_int32_t) :: answer
    end function syncyte_interrupt_set

    !> Ends the whole job at once, as MPI_Abort does; does not return. Callable at any time, on any rank. In a
    !> forked child it ends the child only.
    ! exit_code [in]: what mpirun should return, 1 to 255
    function syncyte_abort(exit_code) bind(C, name="syncyte_abort") result(answer)
      import
      integer(c_int32_t), value :: exit_code
      type(c_ptr) :: answer
    end function syncyte_abort

    !> Whether Syncyte is started. Local; callable at any time.
    ! flag [out]: 1 between init and finalize, also in a child forked then; otherwise 0
    function syncyte_initialized(flag) bind(C, name="syncyte_initialized") result(answer)
      import
      integer(c_int32_t), intent(out) :: flag
      integer(c_int32_t) :: answer
    end function syncyte_initialized

    !> Thread level that MPI provides: 0 single, 1 funneled, 2 serialized, 3 multiple. Local.
    ! level [out]: the level
    function syncyte_thread_level(level) bind(C, name="syncyte_thread_level") result(answer)
      import
      integer(c_int32_t), intent(out) :: level
      integer(c_int32_t) :: answer
    end function syncyte_thread_level

    !> Whether MPI takes buffers in a kind of memory: host memory always; a CUDA device's where this build has CUDA,
    !> the machine a device, and the MPI library says that it is CUDA-aware, or SYNCYTE_CUDA_AWARE=on does for it.
    !> Local. Such buffers can be given to what only moves elements: messages, and broadcasts, gathers, scatters and
    !> all-to-alls that wait. They are dense, and cut along their first axis; where an operation has two on a rank,
    !> both are on devices; what was enqueued on them has ended before the call. Every other operation on a
    !> communicator answers SYNCYTE_ERR_UNSUPPORTED for device memory.
    ! memory [in]: kind
    ! flag [out]: 1 or 0
    ! Returns: SYNCYTE_ERR_ARGUMENT for an unknown kind.
    function syncyte_mpi_takes(memory, flag) bind(C, name="syncyte_mpi_takes") result(answer)
      import
      integer(c_int32_t), value :: memory
      integer(c_int32_t), intent(out) :: flag
      integer(c_int32_t) :: answer
    end function syncyte_mpi_takes

    !> A reference to the communicator of all ranks. Local. All references have one handle, the same in every job.
    ! comm [out]: the communicator; to be destroyed as any other handle
    function syncyte_comm_world(comm) bind(C, name="syncyte_comm_world") result(answer)
      import
      type(c_ptr), intent(out) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_world

    !> A reference to the communicator of this rank alone. Local. All references have one handle, the same in every
    !> job.
    ! comm [out]: the communicator; to be destroyed as any other handle
    function syncyte_comm_self(comm) bind(C, name="syncyte_comm_self") result(answer)
      import
      type(c_ptr), intent(out) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_self

    !> Makes a communicator from a Fortran handle (MPI_Comm_c2f, comm%MPI_VAL, mpi4py's py2f()), which is duplicated
    !> and stays the caller's. Collective over it.
    ! fortran_handle [in]: an intra-communicator
    ! options [in]: null for defaults; what is wrong with them on one rank is every rank's error
    ! comm [out]: the communicator
    ! Returns: SYNCYTE_ERR_ARGUMENT for a null or inter-communicator and for what MPI does not know, on this rank
    ! alone: it cannot tell the others.
    function syncyte_comm_from_fortran(fortran_handle, options, comm) bind(C, &
        name="syncyte_comm_from_fortran") result(answer)
      import
      integer(c_int32_t), value :: fortran_handle
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(out) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_from_fortran

    !> The MPI communicator behind a handle, as a Fortran handle. Local. It stays Syncyte's: use it only while comm
    !> is alive, and never free it; messages on it do not meet Syncyte's own.
    ! comm [in]: a communicator
    ! fortran_handle [out]: for MPI_Comm_f2c
    function syncyte_comm_to_fortran(comm, fortran_handle) bind(C, name="syncyte_comm_to_fortran") &
        result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), intent(out) :: fortran_handle
      integer(c_int32_t) :: answer
    end function syncyte_comm_to_fortran

    !> Duplicates a communicator. Collective.
    ! comm [in]: a communicator
    ! options [in]: null for defaults
    ! duplicate [out]: the same ranks in the same order
    function syncyte_comm_dup(comm, options, duplicate) bind(C, name="syncyte_comm_dup") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(out) :: duplicate
      integer(c_int32_t) :: answer
    end function syncyte_comm_dup

    !> Splits a communicator as MPI_Comm_split does. Collective; facts: none (colors and keys may differ).
    ! comm [in]: a communicator
    ! color [in]: ranks of one color form a new communicator; -1: this rank gets a null handle
    ! key [in]: order within the new communicator; ties by rank
    ! options [in]: null for defaults
    ! part [out]: this rank's part
    ! Returns: SYNCYTE_ERR_ARGUMENT for a color below -1.
    function syncyte_comm_split(comm, color, key, options, part) bind(C, name="syncyte_comm_split") &
        result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: color
      integer(c_int32_t), value :: key
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(out) :: part
      integer(c_int32_t) :: answer
    end function syncyte_comm_split

    !> Splits by program, for jobs of several programs in one mpirun: ranks that give the same name form a part.
    !> Collective.
    ! comm [in]: a communicator
    ! name [in]: name of this rank's program, 1 to 255 bytes; null: the executable's file name
    ! options [in]: null for defaults
    ! part [out]: this program's ranks, in order of ranks
    function syncyte_comm_split_program(comm, name, options, part) bind(C, &
        name="syncyte_comm_split_program") result(answer)
      import
      type(c_ptr), value :: comm
      character(kind=c_char), intent(in), optional :: name(*)
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(out) :: part
      integer(c_int32_t) :: answer
    end function syncyte_comm_split_program

    !> The ranks of comm that share memory with this rank, as a communicator. Collective.
    ! comm [in]: a communicator
    ! options [in]: null for defaults
    ! node [out]: this node's ranks, in order of ranks
    function syncyte_comm_node(comm, options, node) bind(C, name="syncyte_comm_node") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(out) :: node
      integer(c_int32_t) :: answer
    end function syncyte_comm_node

    !> The first rank of each node (those of comm's ranks whose node_rank is 0), as a communicator. Collective. What
    !> is reduced on the node first and then among leaders crosses the network once per node.
    ! comm [in]: a communicator
    ! options [in]: null for defaults
    ! leaders [out]: one rank per node, whose rank there is its node's number; on the other ranks a null handle, as
    ! with syncyte_comm_split()
    function syncyte_comm_leaders(comm, options, leaders) bind(C, name="syncyte_comm_leaders") &
        result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(out) :: leaders
      integer(c_int32_t) :: answer
    end function syncyte_comm_leaders

    !> A communicator of some ranks of comm, in the order of the list. Collective over these ranks, which alone
    !> call; all with the same list and tag. It is freed at finalize, so keep it where it is needed again.
    ! comm [in]: a communicator; groups of it that threads make at once have different tags
    ! ranks [in]: ranks of comm, each once, this rank among them
    ! count [in]: number of ranks, 1 or more
    ! tag [in]: 0 to 1023
    ! options [in]: null for defaults; what is wrong with them on one rank is every rank's error
    ! group [out]: the communicator
    ! Returns: on all ranks of the list: SYNCYTE_ERR_ARGUMENT where it names a rank that is out of range or twice,
    ! and SYNCYTE_ERR_MISMATCH where lists differ, after which comm makes no further group on any rank named; on
    ! this rank alone, which cannot tell the others: SYNCYTE_ERR_ARGUMENT for a list without this rank, a count or a
    ! tag out of range. Lists that differ are found between ranks that name each other; a rank that never calls is
    ! waited for.
    function syncyte_comm_group(comm, ranks, count, tag, options, group) bind(C, &
        name="syncyte_comm_group") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), intent(in) :: ranks(*)
      integer(c_int64_t), value :: count
      integer(c_int32_t), value :: tag
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(out) :: group
      integer(c_int32_t) :: answer
    end function syncyte_comm_group

    !> How the ranks lie on nodes. Local.
    ! comm [in]: a communicator
    ! topology [in,out]: struct_size set by the caller; the rest is filled
    function syncyte_comm_topology(comm, topology) bind(C, name="syncyte_comm_topology") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_topology_t), intent(inout) :: topology
      integer(c_int32_t) :: answer
    end function syncyte_comm_topology

    !> This process's number, 0 to size - 1. Local.
    ! comm [in]: a communicator
    ! rank [out]: the rank
    function syncyte_comm_rank(comm, rank) bind(C, name="syncyte_comm_rank") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), intent(out) :: rank
      integer(c_int32_t) :: answer
    end function syncyte_comm_rank

    !> Number of ranks. Local.
    ! comm [in]: a communicator
    ! size [out]: the number
    function syncyte_comm_size(comm, size) bind(C, name="syncyte_comm_size") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), intent(out) :: size
      integer(c_int32_t) :: answer
    end function syncyte_comm_size

    !> How much is compared before data moves: 0 off, 1 on, 2 full (SYNCYTE_CHECK). Local.
    ! comm [in]: a communicator
    ! level [out]: the level that its ranks agreed on
    function syncyte_comm_check_level(comm, level) bind(C, name="syncyte_comm_check_level") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), intent(out) :: level
      integer(c_int32_t) :: answer
    end function syncyte_comm_check_level

    !> Number of collectives that this rank has begun on a communicator. Local. Each agreement compares it: after a
    !> collective that succeeded it is equal on all ranks, until the next begins, and so identifies that collective.
    ! comm [in]: a communicator
    ! number [out]: 0 on a new communicator
    function syncyte_comm_sequence(comm, number) bind(C, name="syncyte_comm_sequence") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), intent(out) :: number
      integer(c_int32_t) :: answer
    end function syncyte_comm_sequence

    !> What identifies a communicator, equal on all its ranks; no other one of this job has it, nor of another job.
    !> Local.
    ! comm [in]: a communicator
    ! id [out]: 0 or more
    function syncyte_comm_id(comm, id) bind(C, name="syncyte_comm_id") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), intent(out) :: id
      integer(c_int32_t) :: answer
    end function syncyte_comm_id

    !> Adds a reference. Local, thread-safe, without MPI.
    ! comm [in]: a communicator
    function syncyte_comm_retain(comm) bind(C, name="syncyte_comm_retain") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_retain

    !> Drops a reference. Local, thread-safe, without MPI. With the last one the handle becomes an error; objects
    !> made on the communicator keep it alive, and it is freed at a collective point of its parent, roots at
    !> finalize.
    ! comm [in]: a communicator
    function syncyte_comm_release(comm) bind(C, name="syncyte_comm_release") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_release

    !> Drops a reference and nulls the handle; null is fine. Local, as syncyte_comm_release().
    ! comm [in,out]: a communicator
    function syncyte_comm_destroy(comm) bind(C, name="syncyte_comm_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_destroy

    !> Counts and traces an operation of a library on top, as if it were Syncyte's own. Local, thread-safe.
    ! comm [in]: the communicator whose name the event gets; with one that is null or freed the event keeps its own
    ! event [in]: what the trace is told; of it struct_size and operation are needed
    ! Returns: SYNCYTE_ERR_ARGUMENT.
    function syncyte_trace_tell(comm, event) bind(C, name="syncyte_trace_tell") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_trace_event_t), intent(in) :: event
      integer(c_int32_t) :: answer
    end function syncyte_trace_tell

    !> All ranks learn whether all are well and agree. Collective; facts: operation and those given.
    ! comm [in]: a communicator
    ! status [in]: this rank's own verdict, one of syncyte_status_values; if it is not SYNCYTE_SUCCESS, its last
    ! error is what all ranks are told
    ! operation [in]: name for messages, equal on all ranks
    ! count [in]: number of facts, 0 to 32
    ! facts [in]: numbers that must be equal on all ranks
    ! Returns: on all ranks: SYNCYTE_SUCCESS; the highest status of any rank, with that rank's message; or
    ! SYNCYTE_ERR_MISMATCH, with a message that names the odd ranks.
    function syncyte_comm_agree(comm, status, operation, count, facts) bind(C, name="syncyte_comm_agree") &
        result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: status
      character(kind=c_char), intent(in) :: operation(*)
      integer(c_int32_t), value :: count
      type(syncyte_fact_t), intent(in), optional :: facts(*)
      integer(c_int32_t) :: answer
    end function syncyte_comm_agree

    !> As syncyte_comm_agree(), where a rank may come late because it has long work to do, such as to write a file:
    !> the watchdog shows the wait, with the operation's name, and never ends the job for it. Collective; facts: as
    !> there.
    ! comm [in]: a communicator
    ! status [in]: as in syncyte_comm_agree()
    ! operation [in]: name for messages and the watchdog, equal on all ranks
    ! count [in]: number of facts, 0 to 32
    ! facts [in]: numbers that must be equal on all ranks
    ! Returns: as syncyte_comm_agree().
    function syncyte_comm_agree_patiently(comm, status, operation, count, facts) bind(C, &
        name="syncyte_comm_agree_patiently") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: status
      character(kind=c_char), intent(in) :: operation(*)
      integer(c_int32_t), value :: count
      type(syncyte_fact_t), intent(in), optional :: facts(*)
      integer(c_int32_t) :: answer
    end function syncyte_comm_agree_patiently

    !> Frees what all ranks have dropped: tensors, windows and communicators made on comm. Collective. Creation and
    !> sync do the same; call it where memory should go back without either.
    ! comm [in]: a communicator
    function syncyte_collect(comm) bind(C, name="syncyte_collect") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t) :: answer
    end function syncyte_collect

    !> Returns when all ranks have called it. Collective.
    ! comm [in]: a communicator
    function syncyte_comm_barrier(comm) bind(C, name="syncyte_comm_barrier") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_barrier
  end interface
end module syncyte_comm_c
