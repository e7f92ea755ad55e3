! SPDX-License-Identifier: BSD-3-Clause
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
    ! thread level to request if this call initializes MPI: 0 single, 1 funneled, 2 serialized, 3 multiple
    integer(c_int32_t) :: thread_level = 3_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
  end type syncyte_init_options_t

  !> Options of a new communicator.
  type, bind(C) :: syncyte_comm_options_t
    ! sizeof(syncyte_comm_options_t)
    integer(c_size_t) :: struct_size = 24_c_size_t
    ! for messages, ranks may differ; null: made from the parent's name
    type(c_ptr) :: name = c_null_ptr
    ! -1: as the parent (a root: SYNCYTE_CHECK); 0 off, 1 on, 2 full
    integer(c_int32_t) :: check = -1_c_int32_t
    ! 0
    integer(c_int32_t) :: reserved = 0_c_int32_t
  end type syncyte_comm_options_t

  !> A named number that all ranks must share.
  type, bind(C) :: syncyte_fact_t
    ! sizeof(syncyte_fact_t)
    integer(c_size_t) :: struct_size = 24_c_size_t
    ! for the message
    type(c_ptr) :: name = c_null_ptr
    ! must be equal on all ranks
    integer(c_int64_t) :: value = 0_c_int64_t
  end type syncyte_fact_t

  !> Topology of a communicator: its ranks on nodes. Ranks that share memory form a node.
  type, bind(C) :: syncyte_topology_t
    ! sizeof(syncyte_topology_t)
    integer(c_size_t) :: struct_size = 24_c_size_t
    ! number of nodes
    integer(c_int32_t) :: nodes = 0_c_int32_t
    ! number of this rank's node, 0 to nodes - 1, in order of the nodes' lowest ranks
    integer(c_int32_t) :: node = 0_c_int32_t
    ! number of ranks on this rank's node
    integer(c_int32_t) :: node_size = 0_c_int32_t
    ! number of this rank on its node, in rank order
    integer(c_int32_t) :: node_rank = 0_c_int32_t
  end type syncyte_topology_t

  interface

    !> Does what syncyte_init() does, for a program that was compiled for the binary interface `abi`. For languages
    !> that do not include this header.
    ! options [in]: null for defaults
    ! abi [in]: SYNCYTE_ABI_VERSION of the header or of the declarations that the program uses
    ! Returns: SYNCYTE_ERR_VERSION on all ranks if `abi` is not the library's number on one of them; otherwise as
    ! syncyte_init().
    function syncyte_init_abi(options, abi) bind(C, name="syncyte_init_abi") result(answer)
      import
      type(syncyte_init_options_t), intent(in), optional :: options
      integer(c_int32_t), value :: abi
      integer(c_int32_t) :: answer
    end function syncyte_init_abi

    !> Returns whether all ranks of a communicator got this thread's last error, which their agreement found, so
    !> that one of them can print it for all. Local; callable at any time.
    ! rank [out]: this rank's number in that communicator; -1: the error is this rank's alone
    function syncyte_last_error_agreed(rank) bind(C, name="syncyte_last_error_agreed") result(answer)
      import
      integer(c_int32_t), intent(inout) :: rank
      integer(c_int32_t) :: answer
    end function syncyte_last_error_agreed

    !> Ends Syncyte: frees all windows and communicators, and finalizes MPI if syncyte_init() had initialized it.
    !> Collective over MPI_COMM_WORLD: waits for all ranks. Memory that a view still refers to stays readable. If
    !> the application finalizes MPI first, this happens inside MPI_Finalize. If a rank has died before, the
    !> function does not wait: it logs an error, frees nothing that ranks share, and does not finalize MPI, which
    !> must not be called any more. Further calls, and calls in a forked child, do nothing.
    function syncyte_finalize() bind(C, name="syncyte_finalize") result(answer)
      import
      integer(c_int32_t) :: answer
    end function syncyte_finalize

    !> Installs the function that gives this rank's current source line to the watchdog's report; null removes it.
    !> The report says "unknown" if the function takes longer than a second. Local; callable at any time.
    ! hook [in]: function
    ! context [in]: passed to every call; must outlive the hook
    function syncyte_watchdog_line_set(hook, context) bind(C, name="syncyte_watchdog_line_set") result(answer)
      import
      type(c_funptr), value :: hook
      type(c_ptr), value :: context
      integer(c_int32_t) :: answer
    end function syncyte_watchdog_line_set

    !> Installs a function that waits of the calling thread call ten times a second, for example to check for
    !> signals; null removes it. The process has one such function: a later call replaces it. Local; callable at any
    !> time. If the function returns non-zero, the wait returns SYNCYTE_ERR_INTERRUPTED, on this rank alone: - a
    !> request stays active, and may be waited for again; - a blocking receive is cancelled, or has received a
    !> message that had already arrived; - a blocking send may still arrive: its memory must stay unchanged until
    !> syncyte_finalize(); - an access to another node's rows, keys or window may still take place, once; - a lock
    !> is not held; the function is not called while the lock's owner answers; - a halo cannot be used after an
    !> interrupted blocking exchange or accumulate; neighbours may still wait for it; - after a collective the ranks
    !> of its communicator are out of step: every later collective on it returns SYNCYTE_ERR_INTERRUPTED on this
    !> rank; after a collective of the world communicator, syncyte_finalize() frees nothing, and does not finalize
    !> MPI. With SYNCYTE_CHECK=off collectives wait inside MPI, and do not call the function; syncyte_finalize()
    !> never does.
    ! hook [in]: function; may call Syncyte, but must not wait for the same operation
    ! context [in]: passed to every call; must outlive the hook
    function syncyte_interrupt_set(hook, context) bind(C, name="syncyte_interrupt_set") result(answer)
      import
      type(c_funptr), value :: hook
      type(c_ptr), value :: context
      integer(c_int32_t) :: answer
    end function syncyte_interrupt_set

    !> Limits how long this thread waits: waits that go on `seconds` after this call end about a tenth of a second
    !> later, as by an interrupt: with SYNCYTE_ERR_INTERRUPTED, whose message says that the time has passed, and
    !> with what syncyte_interrupt_set() says of requests, communicators and the like. Local; callable at any time.
    ! seconds [in]: 0 to 1e9; 0: no limit, as at first
    ! Returns: SYNCYTE_ERR_ARGUMENT.
    function syncyte_wait_limit_set(seconds) bind(C, name="syncyte_wait_limit_set") result(answer)
      import
      real(c_double), value :: seconds
      integer(c_int32_t) :: answer
    end function syncyte_wait_limit_set

    !> Ends the whole job at once, as MPI_Abort does; does not return. Callable at any time, on any rank. In a
    !> forked child, ends only the child.
    ! exit_code [in]: what mpirun should return, 1 to 255
    function syncyte_abort(exit_code) bind(C, name="syncyte_abort") result(answer)
      import
      integer(c_int32_t), value :: exit_code
      type(c_ptr) :: answer
    end function syncyte_abort

    !> Returns whether Syncyte is initialized. Local; callable at any time.
    ! flag [out]: 1 between init and finalize, also in a child forked then; otherwise 0
    function syncyte_initialized(flag) bind(C, name="syncyte_initialized") result(answer)
      import
      integer(c_int32_t), intent(inout) :: flag
      integer(c_int32_t) :: answer
    end function syncyte_initialized

    !> Returns whether this rank knows that a rank has died. A program that initialized MPI itself asks after
    !> syncyte_finalize(), which looks for deaths: MPI_Finalize() may then wait for the dead rank for ever. Local,
    !> thread-safe; callable at any time.
    ! flag [out]: 1 or 0
    function syncyte_death_known(flag) bind(C, name="syncyte_death_known") result(answer)
      import
      integer(c_int32_t), intent(inout) :: flag
      integer(c_int32_t) :: answer
    end function syncyte_death_known

    !> Returns the thread level that MPI provides: 0 single, 1 funneled, 2 serialized, 3 multiple. Local.
    ! level [out]: the level
    function syncyte_thread_level(level) bind(C, name="syncyte_thread_level") result(answer)
      import
      integer(c_int32_t), intent(inout) :: level
      integer(c_int32_t) :: answer
    end function syncyte_thread_level

    !> Returns whether MPI accepts buffers in a kind of memory. It always accepts host memory. It accepts CUDA
    !> memory if this build has CUDA, the machine has a device, and the MPI library reports that it is CUDA-aware or
    !> SYNCYTE_CUDA_AWARE=on is set. Local. Operations that only move elements accept device buffers: messages, and
    !> blocking broadcasts, gathers, scatters and all-to-alls. The buffers must be dense, and cut along their first
    !> axis; if an operation has two buffers on a rank, both must be on devices. Work enqueued on them must be
    !> complete before the call. All other operations on a communicator return SYNCYTE_ERR_UNSUPPORTED for device
    !> memory.
    ! memory [in]: kind
    ! flag [out]: 1 or 0
    ! Returns: SYNCYTE_ERR_ARGUMENT for an unknown kind.
    function syncyte_mpi_takes(memory, flag) bind(C, name="syncyte_mpi_takes") result(answer)
      import
      integer(c_int32_t), value :: memory
      integer(c_int32_t), intent(inout) :: flag
      integer(c_int32_t) :: answer
    end function syncyte_mpi_takes

    !> Returns a reference to the communicator of all ranks. Local. All references have the same handle, in every
    !> job.
    ! comm [out]: the communicator; to be destroyed as any other handle
    function syncyte_comm_world(comm) bind(C, name="syncyte_comm_world") result(answer)
      import
      type(c_ptr), intent(inout) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_world

    !> Returns a reference to the communicator of this rank alone. Local. All references have the same handle, in
    !> every job.
    ! comm [out]: the communicator; to be destroyed as any other handle
    function syncyte_comm_self(comm) bind(C, name="syncyte_comm_self") result(answer)
      import
      type(c_ptr), intent(inout) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_self

    !> Makes a communicator from a Fortran handle (MPI_Comm_c2f, comm%MPI_VAL, mpi4py's py2f()), which is duplicated
    !> and stays the caller's. Collective over it. A Cartesian one stays Cartesian (syncyte/cart.h); other
    !> topologies of MPI are not kept.
    ! fortran_handle [in]: an intra-communicator
    ! options [in]: null for defaults; all ranks get an error in one rank's options
    ! comm [out]: the communicator
    ! Returns: SYNCYTE_ERR_ARGUMENT for a null communicator, an inter-communicator and an invalid handle, on this
    ! rank alone: it cannot notify the others.
    function syncyte_comm_from_fortran(fortran_handle, options, comm) bind(C, name="syncyte_comm_from_fortran") &
        result(answer)
      import
      integer(c_int32_t), value :: fortran_handle
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_from_fortran

    !> Returns the MPI communicator of a handle, as a Fortran handle. Local. Syncyte owns it: use it only while comm
    !> is alive, and do not free it. Messages on it are separate from Syncyte's own.
    ! comm [in]: a communicator
    ! fortran_handle [out]: for MPI_Comm_f2c
    function syncyte_comm_to_fortran(comm, fortran_handle) bind(C, name="syncyte_comm_to_fortran") &
        result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), intent(inout) :: fortran_handle
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
      type(c_ptr), intent(inout) :: duplicate
      integer(c_int32_t) :: answer
    end function syncyte_comm_dup

    !> Splits a communicator as MPI_Comm_split does. Collective; facts: options->check (colors and keys may differ).
    ! comm [in]: a communicator
    ! color [in]: ranks of the same color form a new communicator; -1: this rank gets a null handle
    ! key [in]: order within the new communicator; ties are ordered by rank
    ! options [in]: null for defaults
    ! part [out]: the communicator of this rank's color
    ! Returns: SYNCYTE_ERR_ARGUMENT for a color below -1.
    function syncyte_comm_split(comm, color, key, options, part) bind(C, name="syncyte_comm_split") &
        result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: color
      integer(c_int32_t), value :: key
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: part
      integer(c_int32_t) :: answer
    end function syncyte_comm_split

    !> Splits a communicator by program, for jobs of several programs in one mpirun: ranks that pass the same name
    !> form a part. Collective.
    ! comm [in]: a communicator
    ! name [in]: name of this rank's program, 1 to 255 bytes; null: the executable's file name
    ! options [in]: null for defaults
    ! part [out]: this program's ranks, in rank order
    function syncyte_comm_split_program(comm, name, options, part) bind(C, name="syncyte_comm_split_program") &
        result(answer)
      import
      type(c_ptr), value :: comm
      character(kind=c_char), intent(in), optional :: name(*)
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: part
      integer(c_int32_t) :: answer
    end function syncyte_comm_split_program

    !> Makes a communicator of the ranks of comm that share memory with this rank. Collective.
    ! comm [in]: a communicator
    ! options [in]: null for defaults
    ! node [out]: this node's ranks, in rank order
    function syncyte_comm_split_node(comm, options, node) bind(C, name="syncyte_comm_split_node") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: node
      integer(c_int32_t) :: answer
    end function syncyte_comm_split_node

    !> Makes a communicator of the first rank of each node (comm's ranks with node_rank 0). Collective. A reduction
    !> on each node, then among leaders, crosses the network once per node.
    ! comm [in]: a communicator
    ! options [in]: null for defaults
    ! leaders [out]: one rank per node, numbered as the nodes are; a null handle on the other ranks
    function syncyte_comm_split_leaders(comm, options, leaders) bind(C, name="syncyte_comm_split_leaders") &
        result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: leaders
      integer(c_int32_t) :: answer
    end function syncyte_comm_split_leaders

    !> Makes a communicator of some ranks of comm, in the order of the list. Collective over these ranks: only they
    !> call it, all with the same list and tag. The communicator is freed at finalize: make it once and re-use it.
    ! comm [in]: a communicator; threads that make groups of it at the same time use different tags
    ! count [in]: number of ranks, 1 or more
    ! ranks [in]: ranks of comm, each once, this rank among them
    ! tag [in]: 0 to 1023
    ! options [in]: null for defaults; all ranks get an error in one rank's options
    ! group [out]: the communicator
    ! Returns: on all ranks of the list: SYNCYTE_ERR_ARGUMENT if it names a rank twice or one that is out of range,
    ! and SYNCYTE_ERR_MISMATCH if lists differ; after that no listed rank can make a group of comm. On this rank
    ! alone, which cannot notify the others: SYNCYTE_ERR_ARGUMENT for a list without this rank, a count or a tag out
    ! of range. Different lists are detected between ranks that list each other. The call waits for a rank that does
    ! not call.
    function syncyte_comm_create_group(comm, count, ranks, tag, options, group) bind(C, &
        name="syncyte_comm_create_group") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), value :: count
      integer(c_int32_t), intent(in) :: ranks(*)
      integer(c_int32_t), value :: tag
      type(syncyte_comm_options_t), intent(in), optional :: options
      type(c_ptr), intent(inout) :: group
      integer(c_int32_t) :: answer
    end function syncyte_comm_create_group

    !> Returns the topology: the communicator's ranks on nodes. Local.
    ! comm [in]: a communicator
    ! topology [in,out]: struct_size set by the caller; the rest is filled
    function syncyte_comm_topology(comm, topology) bind(C, name="syncyte_comm_topology") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_topology_t), intent(inout) :: topology
      integer(c_int32_t) :: answer
    end function syncyte_comm_topology

    !> Returns this process's number, 0 to size - 1. Local.
    ! comm [in]: a communicator
    ! rank [out]: the rank
    function syncyte_comm_rank(comm, rank) bind(C, name="syncyte_comm_rank") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), intent(inout) :: rank
      integer(c_int32_t) :: answer
    end function syncyte_comm_rank

    !> Returns the number of ranks. Local.
    ! comm [in]: a communicator
    ! size [out]: the number
    function syncyte_comm_size(comm, size) bind(C, name="syncyte_comm_size") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), intent(inout) :: size
      integer(c_int32_t) :: answer
    end function syncyte_comm_size

    !> Returns the check level: 0 off, 1 on, 2 full (SYNCYTE_CHECK). Local.
    ! comm [in]: a communicator
    ! level [out]: the level that its ranks agreed on
    function syncyte_comm_check_level(comm, level) bind(C, name="syncyte_comm_check_level") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), intent(inout) :: level
      integer(c_int32_t) :: answer
    end function syncyte_comm_check_level

    !> Returns the number of collectives that this rank has begun on a communicator. Local. Each agreement compares
    !> it: after a successful collective it is equal on all ranks until the next one begins, and identifies that
    !> collective.
    ! comm [in]: a communicator
    ! number [out]: 0 on a new communicator
    function syncyte_comm_sequence(comm, number) bind(C, name="syncyte_comm_sequence") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), intent(inout) :: number
      integer(c_int32_t) :: answer
    end function syncyte_comm_sequence

    !> Returns the communicator's identifier: equal on all its ranks, unique among communicators of this and other
    !> jobs. Local.
    ! comm [in]: a communicator
    ! id [out]: 0 or more
    function syncyte_comm_id(comm, id) bind(C, name="syncyte_comm_id") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int64_t), intent(inout) :: id
      integer(c_int32_t) :: answer
    end function syncyte_comm_id

    !> Adds a reference. Local, thread-safe, without MPI.
    ! comm [in]: a communicator
    function syncyte_comm_retain(comm) bind(C, name="syncyte_comm_retain") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_retain

    !> Drops a reference. Local, thread-safe, without MPI. The last release makes the handle invalid. Objects made
    !> on the communicator keep it alive. It is freed at a collective point of its parent; one without a parent, at
    !> finalize.
    ! comm [in]: a communicator
    function syncyte_comm_release(comm) bind(C, name="syncyte_comm_release") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_release

    !> Drops a reference and nulls the handle; a null handle is ignored. Local, as syncyte_comm_release().
    ! comm [in,out]: a communicator
    function syncyte_comm_destroy(comm) bind(C, name="syncyte_comm_destroy") result(answer)
      import
      type(c_ptr), intent(inout) :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_destroy

    !> Counts and traces an operation of a library on top, as if it were Syncyte's own. Local, thread-safe.
    ! comm [in]: communicator whose name is stored in the event; if it is null or freed, the event keeps its own
    ! event [in]: the event; struct_size and operation are required
    ! Returns: SYNCYTE_ERR_ARGUMENT.
    function syncyte_trace_tell(comm, event) bind(C, name="syncyte_trace_tell") result(answer)
      import
      type(c_ptr), value :: comm
      type(syncyte_trace_event_t), intent(in) :: event
      integer(c_int32_t) :: answer
    end function syncyte_trace_tell

    !> Agreement: returns the same status on all ranks, from their statuses and facts. Collective; facts: operation
    !> and those given.
    ! comm [in]: a communicator
    ! status [in]: this rank's own status, one of syncyte_status_values; if it is not SYNCYTE_SUCCESS, all ranks get
    ! this thread's last error
    ! operation [in]: name for messages, equal on all ranks
    ! count [in]: number of facts, 0 to 32
    ! facts [in]: numbers that must be equal on all ranks
    ! Returns: on all ranks: SYNCYTE_SUCCESS; the highest status of any rank, with that rank's message; or
    ! SYNCYTE_ERR_MISMATCH, with a message that names the ranks that differ.
    function syncyte_comm_agree(comm, status, operation, count, facts) bind(C, name="syncyte_comm_agree") &
        result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: status
      character(kind=c_char), intent(in) :: operation(*)
      integer(c_int64_t), value :: count
      type(syncyte_fact_t), intent(in), optional :: facts(*)
      integer(c_int32_t) :: answer
    end function syncyte_comm_agree

    !> Does the same as syncyte_comm_agree(), for ranks that may arrive late because of long work, such as writing a
    !> file: the watchdog shows the wait, with the operation's name, and does not end the job for it. Collective;
    !> facts: as syncyte_comm_agree().
    ! comm [in]: a communicator
    ! status [in]: as in syncyte_comm_agree()
    ! operation [in]: name for messages and the watchdog, equal on all ranks
    ! count [in]: number of facts, 0 to 32
    ! facts [in]: numbers that must be equal on all ranks
    ! Returns: as syncyte_comm_agree().
    function syncyte_comm_agree_unlimited(comm, status, operation, count, facts) bind(C, &
        name="syncyte_comm_agree_unlimited") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t), value :: status
      character(kind=c_char), intent(in) :: operation(*)
      integer(c_int64_t), value :: count
      type(syncyte_fact_t), intent(in), optional :: facts(*)
      integer(c_int32_t) :: answer
    end function syncyte_comm_agree_unlimited

    !> Frees objects that all ranks have dropped: tensors, windows and communicators made on comm. Collective.
    !> Creation and sync free them too; call this to free memory without either.
    ! comm [in]: a communicator
    function syncyte_comm_collect(comm) bind(C, name="syncyte_comm_collect") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_collect

    !> Returns when all ranks have called it. Collective.
    ! comm [in]: a communicator
    function syncyte_comm_barrier(comm) bind(C, name="syncyte_comm_barrier") result(answer)
      import
      type(c_ptr), value :: comm
      integer(c_int32_t) :: answer
    end function syncyte_comm_barrier
  end interface
end module syncyte_comm_c
